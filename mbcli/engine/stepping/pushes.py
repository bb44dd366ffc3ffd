"""Forces on links in steps of a discrete plant, each from one time to another."""

from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.frame_motion import from_components
from mbcli.engine.smooth.kinematics import link_origin, position_kinematics
from mbcli.engine.smooth.mass_properties import link_axes
from mbcli.engine.smooth.spatial import add, cross, row3, set_row3
from mbcli.engine.stepping.step import rest_of_step, start_step

SAME_TIME = 1e-9  # [s] a force that begins at the time of a step acts in it


@slot(python=INJECTED)
def step_under_pushes(model, data, actuation, t, h, implicit_damping):
    """As discrete_step(), with the forces that act at time t, at the positions at which the step takes forces."""
    start_step(model, data, h)
    times, links = actuation.push_times, actuation.push_link
    add_pushes(model, data, links, actuation.push_point, actuation.push_force, times, 0, links.shape[0], t)
    rest_of_step(model, data, h, implicit_damping)


@kernel
def acts_at(times, i, t):
    """Whether force i acts in a step from time t."""
    return times[i, 0] <= t + SAME_TIME < times[i, 1]


@kernel
def add_pushes(model, data, links, points, forces, times, first, end, t):
    """F_applied += the forces first to end - 1 that act at time t, about Ro, at points as the positions q have them."""
    placed = False
    for i in range(first, end):
        if not acts_at(times, i, t):
            continue
        if not placed:
            position_kinematics(model, data)
            placed = True
        n = links[i]
        b, moment, force = model.link_body[n], row3(forces, i, 0), row3(forces, i, 3)
        offset = from_components(link_axes(model, data, n), row3(points, i, 0))
        r = add(link_origin(model, data, n), offset)
        set_row3(data.F_applied, b, 0, add(row3(data.F_applied, b, 0), add(moment, cross(r, force))))
        set_row3(data.F_applied, b, 3, add(row3(data.F_applied, b, 3), force))
