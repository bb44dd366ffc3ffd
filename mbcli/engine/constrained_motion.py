"""What stands in for kernels of other plants where constraints act: accelerations, and steps that stay on constraints.

The arrays of the constraints hang on Data. The accelerations are those of the range-space method; a discrete step
solves the same system with another right-hand side, so that the constraints hold at the end of the step. Continuous
integration needs no stabilization: after each step positions and velocities are projected onto the constraints.

Where rows depend on each other, off the constraints they do so only approximately: nothing tells there which of them
say nothing new. Stages of a step are then projected too. It changes no order of convergence: what is integrated is the
field of derivatives at the projected state, which is smooth and on the constraints the same.
"""

from mbcli.engine import forward_dynamics, state
from mbcli.engine.calls_by_address import address_of_function, call_by_address
from mbcli.engine.constraint_errors import position_errors
from mbcli.engine.constraint_stages import (
    calc_constrained_system,
    largest_error,
    project_positions,
    project_velocities,
    solve_constrained_system,
)
from mbcli.engine.coordinates import normalize_quaternions
from mbcli.engine.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.jit import kernel
from mbcli.engine.kinematics import position_kinematics
from mbcli.engine.state import SINGULAR, UNMET, at_velocities
from mbcli.engine.trigonometry import square_root

# elements of Data.constraint_set: what functions are called with, and those that are called by address
MODEL, DATA, CONSTRAINTS, WORK, SOLVE, PROJECT, MEASURE, ROWS = range(8)
EXPECTED, FAULTS, FOUND = 0, 1, 2  # elements of ConstraintWork.ranks

DEPENDENT = 1e-12  # square of the sine below which a row counts as a combination of others
CLOSE = 1e-8  # the same below which a run takes no state
MOST_CHANGE, LEAST_CHANGE = 0.1, 1e-6  # of the largest velocity, and beside: what a projection may change
LIGHTEST = 1e-6  # square of the length of a row relative to the longest of all, below which it is one of length zero

STAGE_TOLERANCE = 1e-9  # of position errors in stages, where rows depend on each other
ITERATIONS = 20  # of a projection; it starts close by


@kernel
def constrained_accelerations(model, data, h):
    """As forward_dynamics.accelerations(), under constraints; their forces are in `force` of the work."""
    at = data.constraint_set
    call_by_address(at[SOLVE], at[MODEL], at[DATA], at[CONSTRAINTS], at[WORK], h)


@kernel
def at_constrained_stage(model, data):
    """As state.at_stage(): where rows depend on each other, q and v are projected onto the constraints first."""
    at = data.constraint_set
    work = work_at(at[WORK])
    redundant = 0.0 < work.ranks[EXPECTED] < work.err.shape[0]
    if redundant:
        steps = call_by_address(at[PROJECT], at[MODEL], at[DATA], at[CONSTRAINTS], at[WORK], STAGE_TOLERANCE)
        if steps < 0.0:
            work.ranks[FAULTS] += 1.0
    at_velocities(model, data)


@kernel
def finish_constrained_step(model, data, y, tolerance):
    """As state.finish_step(). A fault leaves y as it is."""
    at = data.constraint_set
    work = work_at(at[WORK])
    normalize_quaternions(model, y)
    nq, nrow = data.q.shape[0], work.err.shape[0]
    if nrow == 0:
        return 0
    if take_faults(work) != 0.0:
        return SINGULAR
    for i in range(nq):
        data.q[i] = y[i]
    for d in range(data.v.shape[0]):
        data.v[d] = y[nq + d]
    allowed = tolerance / square_root(float(nrow))
    if call_by_address(at[PROJECT], at[MODEL], at[DATA], at[CONSTRAINTS], at[WORK], allowed) < 0.0:
        return UNMET
    note_rank(constraints_at(at[CONSTRAINTS]), work)
    if take_faults(work) != 0.0:
        return SINGULAR
    for i in range(nq):
        y[i] = data.q[i]
    for d in range(data.v.shape[0]):
        y[nq + d] = data.v[d]
    return 0


@kernel
def error_of_constraints(model, data):
    """As state.constraint_error()."""
    at = data.constraint_set
    return call_by_address(at[MEASURE], at[MODEL], at[DATA], at[CONSTRAINTS], at[WORK], 0.0)


@kernel
def note_rank(cons, work):
    """After a factorization: the rank, and a fault where it is another than a run expects, or nearly so.

    Close to a singular position errors within the tolerance are as large as the distance to it, and the directions of
    motion mean nothing: no stage and no end of a step is taken there, steps go past it.
    """
    rank, close = find_rank(cons, work)
    work.ranks[FOUND] = rank
    if work.ranks[EXPECTED] != 0.0 and (close > 0.0 or work.ranks[EXPECTED] != rank):
        work.ranks[FAULTS] += 1.0


@kernel
def find_rank(cons, work):
    """After a factorization -> row_square; returns the number of independent rows, and how many of them barely are.

    A row is measured by the longest one of its constraint: rows which vanish in a singular position do not count.
    """
    K, start = work.K, cons.profile_start
    largest = 0.0
    for i in range(start.shape[0]):
        square = 0.0
        for k in range(start[i] + cons.profile_first[i], start[i] + i + 1):
            square += (K[k] * K[k]).real
        work.row_square[i] = square
        largest = max(largest, square)
    rank, close = 0.0, 0.0
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        longest = LIGHTEST * largest
        for i in range(first, end):
            longest = max(longest, work.row_square[i].real)
        for i in range(first, end):
            pivot = (K[start[i] + i] * K[start[i] + i]).real
            work.row_square[i] = pivot / longest if longest > 0.0 else 0.0
            if pivot > DEPENDENT * longest:
                rank += 1.0
                if pivot < CLOSE * longest:
                    close += 1.0
    return rank, close


@kernel
def take_faults(work):
    """How often another rank was found since the last call."""
    faults = work.ranks[FAULTS]
    work.ranks[FAULTS] = 0.0
    return faults


@kernel
def solve_motion(model, data, constraints, work, h):
    """q, v, tau, F_applied, diagonal -> vdot, `force` of the work. Called by address, returns 0.

    Over a step h, G (v + h vdot) = -err / h: at its end the errors of positions are zero to first order.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    calc_constrained_system(m, d, c, w)
    if h > 0.0:
        for i in range(w.gamma.shape[0]):
            w.gamma[i] = -(w.errd[i] + w.err[i] / h) / h
    solve_constrained_system(m, d, c, w, DEPENDENT)
    note_rank(c, w)
    return 0.0


@kernel
def project_state(model, data, constraints, work, allowed):
    """q, v -> those nearby on the constraints. Called by address; returns a negative number where it failed."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    for k in range(d.diagonal.shape[0]):
        d.diagonal[k] = m.dof_armature[k]
    steps = project_positions(m, d, c, w, allowed, ITERATIONS)
    if steps >= 0:
        for i in range(w.v_plus.shape[0]):
            w.v_plus[i] = 0.0
        fastest = largest_error(d.v)
        project_velocities(m, d, c, w, DEPENDENT)
        if largest_error(w.dv) > MOST_CHANGE * fastest + LEAST_CHANGE:
            return -1.0
    return float(steps)


@kernel
def measure_errors(model, data, constraints, work, unused):
    """q -> the norm of all position errors. Called by address."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    position_kinematics(m, d)
    position_errors(m, d, c, w)
    total = 0.0
    for i in range(w.err.shape[0]):
        total += w.err[i] * w.err[i]
    return square_root(total)


STAND_INS = {
    state.constraint_error: error_of_constraints,
    forward_dynamics.accelerations: constrained_accelerations,
    state.at_stage: at_constrained_stage,
    state.finish_step: finish_constrained_step,
}


def constraint_addresses(kernels, compiled, in_steps, *handles):
    """What Data.constraint_set holds for handles of Model, Data, Constraints and ConstraintWork; compiles.

    in_steps: only what steps that meet contact call; the other functions have the address 0.
    """
    motion = [] if in_steps else ["solve_motion", "project_state"]
    steps = ["measure_errors", *(["constraint_equations"] if in_steps else [])]
    names = ("solve_motion", "project_state", "measure_errors", "constraint_equations")
    functions = [getattr(kernels, name) if name in motion + steps else None for name in names]
    if compiled:
        functions = [0 if function is None else address_of_function(function) for function in functions]
    return (*handles, *functions)
