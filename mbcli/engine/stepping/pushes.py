"""Forces on links in steps of a discrete plant, each from one time to another."""

from mbcli.engine.fields.model_fields import MIDDLE_REFUSED
from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.frame_motion import from_components
from mbcli.engine.smooth.kinematics import link_origin, position_kinematics
from mbcli.engine.smooth.mass_properties import link_axes
from mbcli.engine.smooth.spatial import add, cross, row3, scale, set_row3
from mbcli.engine.stepping.step import rest_of_step, start_step

FROM_EVER = -1e300  # [s] the start of a force of a plugin is before it
SAME_TIME = 1e-9  # [s] of a step in which a force does not count: its times and those of steps are rounded


@slot(python=INJECTED)
def step_under_pushes(model, data, actuation, t, h, implicit_damping):
    """As discrete_step(), with the forces that act from time t on, at the positions at which the step takes forces."""
    times, links = actuation.push_times, actuation.push_link
    note_forces_of_start(data, times, 0, links.shape[0])
    start_step(model, data, h)
    add_pushes(model, data, links, actuation.push_point, actuation.push_force, times, 0, links.shape[0], t, h)
    rest_of_step(model, data, h, implicit_damping)


@kernel
def note_forces_of_start(data, times, first, end):
    """MIDDLE_REFUSED: 1 if some of these forces are of plugins: in plants that can touch, those of the start."""
    data.middle_counts[MIDDLE_REFUSED] = 0
    for i in range(first, end):
        if times[i, 0] <= FROM_EVER:
            data.middle_counts[MIDDLE_REFUSED] = 1


@kernel
def share_of_step(times, i, t, h):
    """The part of a step from time t during which force i acts, from 0 to 1: so much of it acts in the whole step.

    A step that a force begins or ends in has its impulse then.
    """
    since, until = times[i, 0] - t, times[i, 1] - t
    if since <= SAME_TIME:
        since = 0.0 * h
    if until >= h - SAME_TIME:
        until = h
    if until - since <= SAME_TIME:
        return 0.0 * h
    return (until - since) / h


@kernel
def add_pushes(model, data, links, points, forces, times, first, end, t, h):
    """F_applied += forces first to end - 1 as they act in a step from t, about Ro; points are as positions q have them.

    Each by the part of the step during which it acts.
    """
    placed = False
    for i in range(first, end):
        share = share_of_step(times, i, t, h)
        if share == 0.0:
            continue
        if not placed:
            position_kinematics(model, data)
            placed = True
        b = model.link_body[links[i]]
        moment, force = push_about_root(model, data, links, points, forces, i, share)
        set_row3(data.F_applied, b, 0, add(row3(data.F_applied, b, 0), moment))
        set_row3(data.F_applied, b, 3, add(row3(data.F_applied, b, 3), force))


@kernel
def push_about_root(model, data, links, points, forces, i, share):
    """After position_kinematics: (moment about Ro, force) in World of so much of force i."""
    n = links[i]
    moment, force = scale(share, row3(forces, i, 0)), scale(share, row3(forces, i, 3))
    offset = from_components(link_axes(model, data, n), row3(points, i, 0))
    r = add(link_origin(model, data, n), offset)
    return add(moment, cross(r, force)), force
