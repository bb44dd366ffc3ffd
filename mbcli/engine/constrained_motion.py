"""What stands in for kernels of other plants where constraints act: accelerations, and steps that stay on constraints.

The arrays of the constraints hang on Data. The accelerations are those of the range-space method; a discrete step
solves the same system with another right-hand side, so that the constraints hold at the end of the step. Continuous
integration needs no stabilization: after each step positions and velocities are projected onto the constraints.

Where rows depend on each other, off the constraints they do so only approximately: nothing tells there which of them
say nothing new. Stages of a step are then projected too. It changes no order of convergence: what is integrated is the
field of derivatives at the projected state, which is smooth and on the constraints the same.
"""

from mbcli.engine import forward_dynamics, state
from mbcli.engine.constraint_stages import (
    calc_constrained_system,
    project_positions,
    project_velocities,
    solve_constrained_system,
)
from mbcli.engine.coordinates import normalize_quaternions
from mbcli.engine.handles import constraints_at, work_at
from mbcli.engine.jit import kernel
from mbcli.engine.state import SINGULAR, UNMET, at_velocities
from mbcli.engine.trigonometry import square_root

CONSTRAINTS, WORK = 0, 1  # elements of Data.constraint_set
EXPECTED, FAULTS, FOUND = 0, 1, 2  # elements of ConstraintWork.ranks

# squares of sines below which a row of the constraints counts as a combination of others
DEPENDENT = 1e-12  # in accelerations and impulses
DEPENDENT_IN_PROJECTION = 1e-9  # off the constraints rows differ that are the same on them

STAGE_TOLERANCE = 1e-9  # of position errors in stages, where rows depend on each other
ITERATIONS = 12  # of a projection; it starts close by


@kernel
def constrained_accelerations(model, data, h):
    """As forward_dynamics.accelerations(), under constraints; their forces are in `force` of the work.

    Over a step h, G (v + h vdot) = -err / h: at its end the errors of positions are zero to first order.
    """
    cons, work = constraints_at(data.constraint_set[CONSTRAINTS]), work_at(data.constraint_set[WORK])
    calc_constrained_system(model, data, cons, work)
    if h > 0.0:
        for i in range(work.gamma.shape[0]):
            work.gamma[i] = -(work.errd[i] + work.err[i] / h) / h
    solve_constrained_system(model, data, cons, work, DEPENDENT)
    note_rank(work)


@kernel
def note_rank(work):
    """After a factorization: the rank, and whether it is another than a run expects."""
    rank = 0.0
    for i in range(work.pivot_inverse.shape[0]):
        if work.pivot_inverse[i] != 0.0:
            rank += 1.0
    work.ranks[FOUND] = rank
    if work.ranks[EXPECTED] != 0.0 and work.ranks[EXPECTED] != rank:
        work.ranks[FAULTS] += 1.0


@kernel
def at_constrained_stage(model, data):
    """As state.at_stage(): where rows depend on each other, q and v are projected onto the constraints first."""
    cons, work = constraints_at(data.constraint_set[CONSTRAINTS]), work_at(data.constraint_set[WORK])
    redundant = 0.0 < work.ranks[EXPECTED] < work.err.shape[0]
    if redundant and project_state(model, data, cons, work, STAGE_TOLERANCE) < 0:
        work.ranks[FAULTS] += 1.0
    at_velocities(model, data)


@kernel
def project_state(model, data, cons, work, allowed):
    """q, v -> those nearby on the constraints; returns the number of steps, -1 where they did not get there."""
    for d in range(data.diagonal.shape[0]):
        data.diagonal[d] = model.dof_armature[d]
    steps = project_positions(model, data, cons, work, allowed, DEPENDENT_IN_PROJECTION, ITERATIONS)
    if steps >= 0:
        for i in range(work.v_plus.shape[0]):
            work.v_plus[i] = 0.0
        project_velocities(model, data, cons, work, DEPENDENT)
    return steps


@kernel
def finish_constrained_step(model, data, y, tolerance):
    """As state.finish_step(). A fault leaves y as it is."""
    cons, work = constraints_at(data.constraint_set[CONSTRAINTS]), work_at(data.constraint_set[WORK])
    normalize_quaternions(model, y)
    nq, nrow = data.q.shape[0], work.err.shape[0]
    if nrow == 0:
        return 0
    faults, work.ranks[FAULTS] = work.ranks[FAULTS], 0.0
    if faults != 0.0:
        return SINGULAR
    for i in range(nq):
        data.q[i] = y[i]
    for d in range(data.v.shape[0]):
        data.v[d] = y[nq + d]
    if project_state(model, data, cons, work, tolerance / square_root(float(nrow))) < 0:
        return UNMET
    note_rank(work)
    faults, work.ranks[FAULTS] = work.ranks[FAULTS], 0.0
    if faults != 0.0:
        return SINGULAR
    for i in range(nq):
        y[i] = data.q[i]
    for d in range(data.v.shape[0]):
        y[nq + d] = data.v[d]
    return 0


STAND_INS = {
    forward_dynamics.accelerations: constrained_accelerations,
    state.at_stage: at_constrained_stage,
    state.finish_step: finish_constrained_step,
}
