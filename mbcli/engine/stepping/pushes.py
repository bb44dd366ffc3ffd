"""Forces on links in steps of a discrete plant, each from one time to another."""

from mbcli.engine.runtime.kernel import CALLER, kernel, slot
from mbcli.engine.smooth.frame_motion import from_components
from mbcli.engine.smooth.kinematics import link_origin, position_kinematics
from mbcli.engine.smooth.mass_properties import link_axes
from mbcli.engine.smooth.spatial import add, cross, row3, set_row3
from mbcli.engine.stepping.step import rest_of_step, start_step

SAME_TIME = 1e-9  # [s] a force that begins at the time of a step acts in it


@slot(python=CALLER)
def step_under_pushes(model, data, actuation, t, h, implicit_damping):
    """As discrete_step(), with the forces that act at time t, at the positions at which the step takes forces."""
    start_step(model, data, h)
    add_pushes(model, data, actuation, t)
    rest_of_step(model, data, h, implicit_damping)


@kernel
def add_pushes(model, data, actuation, t):
    """F_applied += the forces that act at time t, about Ro, at points as the positions q have them."""
    placed = False
    for i in range(actuation.push_link.shape[0]):
        if not actuation.push_times[i, 0] <= t + SAME_TIME < actuation.push_times[i, 1]:
            continue
        if not placed:
            position_kinematics(model, data)
            placed = True
        n = actuation.push_link[i]
        b, force = model.link_body[n], row3(actuation.push_force, i, 0)
        offset = from_components(link_axes(model, data, n), row3(actuation.push_point, i, 0))
        r = add(link_origin(model, data, n), offset)
        set_row3(data.F_applied, b, 0, add(row3(data.F_applied, b, 0), cross(r, force)))
        set_row3(data.F_applied, b, 3, add(row3(data.F_applied, b, 3), force))
