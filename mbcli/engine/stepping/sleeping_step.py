"""The fillers of a step in which islands may sleep: who wakes, who falls asleep, who rests. See contact/sleep.py."""

from mbcli.engine.contact.problem import clear_problem
from mbcli.engine.contact.rows import add_contact_rows, place_axes
from mbcli.engine.contact.sleep import (
    count_rest,
    fall_asleep,
    judge_islands,
    leave_falling,
    mark_bodies,
    note_sleep,
    stay_awake,
    stop_falling,
    wake_touched,
)
from mbcli.engine.contact.tree_masses import masses_of_trees
from mbcli.engine.fields.contact_fields import (
    COUNT_CONSTRAINTS,
    COUNT_STATUS,
    PROBLEM_NOT_CONVERGED,
    PROBLEM_SINGULAR,
    PROBLEM_SOLVED,
)
from mbcli.engine.fields.model_fields import CONTACT_AT_POINTS, CONTACT_AT_SLEEP, CONTACT_AT_SOLVER
from mbcli.engine.runtime.handles import points_at, sleep_at, solver_at
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.coordinates import advance_joint
from mbcli.engine.smooth.forward_dynamics import forward_dynamics, stop_locked
from mbcli.engine.smooth.kinematics import velocity_kinematics
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.stepping.contact_step import find_points, set_laws_at_points, set_velocities, solve_contact
from mbcli.engine.stepping.trees_apart import stay_at_start
from mbcli.engine.stepping.velocity_terms import note_positions


@kernel
def start_sleeping_step(model, data, h):
    """As step.start_step()."""
    note_sleep(sleep_at(data.contact[CONTACT_AT_SLEEP]))
    stop_locked(model, data.v)
    stay_at_start(data)
    note_positions(data)
    clear_problem(solver_at(data.contact[CONTACT_AT_SOLVER]))


@kernel
def wake_and_sleep(model, data, h):
    """As contact_step.settle_sleep(): then the points are those of what is awake."""
    sleep, points = sleep_at(data.contact[CONTACT_AT_SLEEP]), points_at(data.contact[CONTACT_AT_POINTS])
    if not find_points(data, h):
        return False
    while wake_touched(sleep, points):
        if not find_points(data, h):
            return False
    if not judge_islands(sleep, points):
        return True
    return put_to_sleep(model, data, points, sleep, h) and find_points(data, h)


@kernel
def put_to_sleep(model, data, points, sleep, h):
    """Trees that are FALLING sleep from now on, with their contacts at rest; whether there was room for these.

    Where no forces were found that hold them, they stay awake as they are.
    """
    solver = solver_at(data.contact[CONTACT_AT_SOLVER])
    stop_falling(data, solver, sleep)
    leave_falling(sleep)
    velocity_kinematics(model, data)
    if not find_points(data, h):
        return False
    place_axes(model, data, solver)
    add_contact_rows(model, data, solver, points)
    if solver.counts[COUNT_STATUS] != PROBLEM_SOLVED:
        return False
    forward_dynamics(model, data)
    set_velocities(model, data, solver, h)
    masses_of_trees(model, data, solver)
    for i in range(solver.counts[COUNT_CONSTRAINTS]):
        if solver.con_patch_size[i] >= 0:
            set_laws_at_points(solver, points, i, h)
    solve_contact(data, h)
    if solver.counts[COUNT_STATUS] == PROBLEM_SOLVED:
        fall_asleep(model, data, points, solver, sleep, h)
    elif solver.counts[COUNT_STATUS] == PROBLEM_NOT_CONVERGED or solver.counts[COUNT_STATUS] == PROBLEM_SINGULAR:
        stay_awake(data, solver, sleep)
        velocity_kinematics(model, data)
        solver.counts[COUNT_STATUS] = PROBLEM_SOLVED
    mark_bodies(sleep)
    return solver.counts[COUNT_STATUS] == PROBLEM_SOLVED


@kernel
def note_rest_of_trees(data, h):
    """As contact_step.note_rest()."""
    solver = solver_at(data.contact[CONTACT_AT_SOLVER])
    if solver.counts[COUNT_STATUS] == PROBLEM_SOLVED:
        count_rest(data, solver, sleep_at(data.contact[CONTACT_AT_SLEEP]), h)


@kernel
def end_sleeping_step(model, data, h):
    """As step.end_step(), for what is awake."""
    for b in range(1, model.body_parent.shape[0]):
        if is_asleep(data, b):
            continue
        for k in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
            data.v[k] += h * data.vdot[k]
        advance_joint(model, data, b, data.v, h)
