"""Fillers for kernels of other plants if constraints act: accelerations, and steps that stay on constraints.

The arrays of the constraints hang on Data. The accelerations are those of the range-space method; a discrete step
solves the same system with another right-hand side, so that the constraints hold at the end of the step. Continuous
integration needs no stabilization: after each step positions and velocities are projected onto the constraints.

If rows depend on each other, off the constraints they do so only approximately: nothing tells there which of them
are redundant. Stages of a step are then projected too. It changes no order of convergence: what is integrated is the
field of derivatives at the projected state, which is smooth and on the constraints the same. Discrete steps, which stay
off by their second order, take out all rows that depend on others roughly.

In singular positions the constraints lose rank and branches of motion cross. At a distance d from one, errors e of
positions become e / d of the directions of motion and e / d^3 of accelerations. The motion itself is smooth through it.
So close to one, states are crossed: positions, velocities and accelerations along the way that v points come from
neighbours on both sides by interpolation. A motion that rests there has no direction, and is a fault.
"""

from mbcli.engine.constraints.constraint_errors import position_errors
from mbcli.engine.constraints.constraint_stages import (
    calc_constrained_system,
    calc_constraint_impulses,
    largest_error,
    project_positions,
    solve_constrained_system,
)
from mbcli.engine.fields.model_fields import (
    RANK_CLEAR,
    RANK_CROSSING,
    RANK_EXPECTED,
    RANK_FAULTS,
    RANK_FOUND,
    RANK_USUAL,
    SET_AT_CONSTRAINTS,
    SET_AT_CROSS,
    SET_AT_DATA,
    SET_AT_MEASURE,
    SET_AT_MODEL,
    SET_AT_PROJECT,
    SET_AT_SOLVE,
    SET_AT_STEP,
    SET_AT_WORK,
)
from mbcli.engine.runtime.addresses import address_of_function
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.smooth.coordinates import normalize_quaternions, velocity_to_qdot
from mbcli.engine.smooth.kinematics import position_kinematics
from mbcli.engine.smooth.state import SINGULAR, SINGULAR_STEP, UNMET, at_positions, at_velocities
from mbcli.engine.smooth.trigonometry import square_root

EVERY_CORRECTION = -1.0  # as REACHED: ends of steps are corrected as often as they may be, for derivatives

DEPENDENT = 1e-12  # square of the sine below which a row counts as a combination of others
CLOSE = 1e-8  # the same below which no state is taken that is not crossed
CLEARANCE = 1e-3  # part of its usual value below which the square of a sine means that a singular position is near
LESS_CLEAR = 1e-2  # the same if that holds everywhere
MOST_CHANGE, LEAST_CHANGE = 0.1, 1e-6  # of the largest velocity, and beside: the most that a projection may change

NEIGHBOURS = 4  # on either side of a state that is crossed
SHORTEST_REACH, LONGEST_REACH = 0.02, 0.16  # [rad or m] between neighbours of a state that is crossed
MOST_TURN = 0.5  # of the largest velocity: the most that it may change on the way to a neighbour
SLOWEST = 1e-8  # [rad/s or m/s] largest velocity below which there is no direction to cross in

STAGE_TOLERANCE = 1e-9  # of position errors in stages, if rows depend on each other
CROSSING_TOLERANCE = 1e-11  # the same of neighbours
ITERATIONS = 20  # of a projection; it starts close by
INFINITE = float("inf")
ATTEMPTS = 4


@kernel
def constrained_accelerations(model, data, h):
    """As forward_dynamics.accelerations(), under constraints; their forces are in `force` of the work."""
    at = data.constraint_set
    if h > 0.0:
        call_by_address(at[SET_AT_STEP], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], h)
        return
    work = work_at(at[SET_AT_WORK])
    for _ in range(ATTEMPTS):
        call_by_address(at[SET_AT_SOLVE], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], h)
        if work.ranks[RANK_CROSSING] == 0.0:
            break
        if (
            call_by_address(
                at[SET_AT_CROSS], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], 1.0
            )
            == 0.0
        ):
            break


@kernel
def constrained_step_fault(model, data):
    """As step.step_fault()."""
    return SINGULAR_STEP if take_faults(work_at(data.constraint_set[SET_AT_WORK])) != 0.0 else 0


@kernel
def project_onto_constraints(data, allowed):
    """q, v -> those nearby on the constraints; returns a negative number if there are none."""
    at = data.constraint_set
    work = work_at(at[SET_AT_WORK])
    for _ in range(ATTEMPTS):
        if (
            call_by_address(
                at[SET_AT_PROJECT], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], allowed
            )
            < 0.0
        ):
            return -1.0
        if (
            work.ranks[RANK_CROSSING] == 0.0
            or call_by_address(
                at[SET_AT_CROSS], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], 0.0
            )
            == 0.0
        ):
            return -1.0 if largest_error(work.dv) > MOST_CHANGE * largest_error(data.v) + LEAST_CHANGE else 0.0
    return -1.0


@kernel
def at_constrained_stage(model, data):
    """As state.at_stage(): if rows depend on each other, q and v are projected onto the constraints first."""
    work = work_at(data.constraint_set[SET_AT_WORK])
    if 0.0 < work.ranks[RANK_EXPECTED] < work.err.shape[0]:
        for d in range(data.v.shape[0]):
            data.diagonal[d] = model.dof_armature[d]
        if project_onto_constraints(data, STAGE_TOLERANCE) < 0.0:
            work.ranks[RANK_FAULTS] += 1.0
    at_velocities(model, data)


@kernel
def finish_constrained_step(model, data, y, tolerance):
    """As state.finish_step(). A fault leaves y as it is."""
    work = work_at(data.constraint_set[SET_AT_WORK])
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
        data.diagonal[d] = model.dof_armature[d]
    if project_onto_constraints(data, tolerance / square_root(float(nrow))) < 0.0:
        return UNMET
    if take_faults(work) != 0.0:
        return SINGULAR
    for i in range(nq):
        y[i] = data.q[i]
    for d in range(data.v.shape[0]):
        y[nq + d] = data.v[d]
    return 0


@kernel
def note_constraint_ranks(data):
    """As state.note_ranks()."""
    work = work_at(data.constraint_set[SET_AT_WORK])
    for k in range(work.ranks.shape[0]):
        work.noted_ranks[k] = work.ranks[k]


@kernel
def restore_constraint_ranks(data):
    """As state.restore_ranks()."""
    work = work_at(data.constraint_set[SET_AT_WORK])
    for k in range(work.ranks.shape[0]):
        work.ranks[k] = work.noted_ranks[k]


@kernel
def error_of_constraints(model, data):
    """As state.constraint_error()."""
    at = data.constraint_set
    return call_by_address(
        at[SET_AT_MEASURE], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], 0.0
    )


@kernel
def note_rank(data, cons, work):
    """After a factorization: the rank, whether a singular position is near, and a fault if that cannot be crossed.

    Close to a singular position errors within the tolerance are as large as the distance to it, and the directions of
    motion mean nothing: such a state is crossed, see cross_singular_position().
    """
    rank, least = find_rank(cons, work)
    work.ranks[RANK_FOUND] = rank
    expected = work.ranks[RANK_EXPECTED].real
    if expected == 0.0:
        return
    work.ranks[RANK_CROSSING] = 0.0
    is_near = rank < expected or (rank == expected and least < work.ranks[RANK_CLEAR].real)
    if is_near and largest_error(data.v) > SLOWEST:
        work.ranks[RANK_CROSSING] = 1.0
    elif rank != expected or least < CLOSE:
        work.ranks[RANK_FAULTS] += 1.0
    elif least >= work.ranks[RANK_USUAL].real:
        work.ranks[RANK_CLEAR] = work.ranks[RANK_USUAL]


@kernel
def find_rank(cons, work):
    """After a factorization -> row_sine; returns how many rows are independent, and the least square of their sines."""
    rank, least = 0.0, 1.0
    for i in range(cons.profile_start.shape[0]):
        pivot = work.K[cons.profile_start[i] + i]
        longest = work.row_longest[i].real
        sine = (pivot * pivot).real / longest if longest > 0.0 else 0.0
        work.row_sine[i] = sine
        if sine > DEPENDENT:
            rank += 1.0
            least = min(least, sine)
    return rank, least


@kernel
def take_faults(work):
    """How often there was a fault since the last call."""
    faults = work.ranks[RANK_FAULTS]
    work.ranks[RANK_FAULTS] = 0.0
    return faults


@called
def solve_motion(model, data, constraints, work, unused):
    """q, v, tau, F_applied, diagonal -> vdot of this instant, `force` of the work. Called by address, returns 0."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    calc_constrained_system(m, d, c, w)
    solve_constrained_system(m, d, c, w, DEPENDENT)
    note_rank(d, c, w)
    return 0.0


@called
def project_state(model, data, constraints, work, allowed):
    """q, v, diagonal -> q, v nearby on the constraints. Called by address; returns a negative number if it failed.

    Then q is as near to them as steps led. If a singular position is to be crossed v stays as it is.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    steps = project_positions(m, d, c, w, allowed, ITERATIONS)
    for i in range(w.v_plus.shape[0]):
        w.v_plus[i] = 0.0
    calc_constraint_impulses(m, d, c, w, DEPENDENT)
    note_rank(d, c, w)
    if w.ranks[RANK_CROSSING] == 0.0:
        for k in range(d.v.shape[0]):
            d.v[k] += w.dv[k]
    return float(steps)


@called
def cross_singular_position(model, data, constraints, work, accelerations):
    """Close to a singular position: q, v -> those on the constraints, or with `accelerations` 1, not 0, vdot.

    They are functions of the way along v that are smooth through the position, on the branch of motion that v follows:
    polynomials through four neighbours on either side, if the constraints determine them, have their values. Called by
    address. Returns 0, or 1 if there are no such neighbours: then the limit CLEAR is lowered.
    """
    d, w = data_at(data), work_at(work)
    for i in range(d.q.shape[0]):
        w.q_center[i] = d.q[i]
    for k in range(d.v.shape[0]):
        w.v_center[k] = d.v[k]
    reach, crossed = SHORTEST_REACH, False
    while not crossed and reach <= LONGEST_REACH:
        crossed = interpolate_across(model, data, constraints, work, reach, accelerations)
        reach *= 2.0
    faults = w.ranks[RANK_FAULTS]
    for i in range(d.q.shape[0]):
        d.q[i] = w.q_center[i]
    for k in range(d.v.shape[0]):
        d.v[k] = w.v_center[k]
    if not crossed:
        w.ranks[RANK_CLEAR] *= LESS_CLEAR
        at_positions(model_at(model), d)
    elif accelerations != 0.0:
        call_by_address(d.constraint_set[SET_AT_SOLVE], model, data, constraints, work, 0.0)  # the rest of the results
        for k in range(d.v.shape[0]):
            d.vdot[k] = w.vdot_sum[k]
    else:
        for i in range(d.q.shape[0]):
            d.q[i] = w.q_sum[i]
        normalize_quaternions(model_at(model), d.q)
        for k in range(d.v.shape[0]):
            w.dv[k] = w.v_sum[k] - d.v[k]
            d.v[k] = w.v_sum[k]
    w.ranks[RANK_FAULTS] = faults
    w.ranks[RANK_CROSSING] = 1.0
    return 0.0 if crossed else 1.0


@kernel
def interpolate_across(model, data, constraints, work, reach, accelerations):
    """q_center, v_center -> q_sum, v_sum, vdot_sum from neighbours `reach` apart; False if one is not usable."""
    m, d, w = model_at(model), data_at(data), work_at(work)
    faults = w.ranks[RANK_FAULTS]
    fastest = largest_error(w.v_center)
    for i in range(d.q.shape[0]):
        d.q[i] = w.q_center[i]
        w.q_sum[i] = 0.0
    velocity_to_qdot(m, d, w.v_center, w.path)
    for k in range(d.v.shape[0]):
        w.v_sum[k], w.vdot_sum[k] = 0.0, 0.0
    good, weight = True, -1.0
    for n in range(1, NEIGHBOURS + 1):
        weight *= (n - 1 - NEIGHBOURS) / (n + NEIGHBOURS)  # Lagrange's polynomials at the center
        for side in range(-1, 2, 2):
            if not good:
                continue
            for i in range(d.q.shape[0]):
                d.q[i] = w.q_center[i] + side * n * reach / fastest * w.path[i]
            normalize_quaternions(m, d.q)
            for k in range(d.v.shape[0]):
                d.v[k] = w.v_center[k]
            steps = call_by_address(
                d.constraint_set[SET_AT_PROJECT], model, data, constraints, work, CROSSING_TOLERANCE
            )
            good = steps >= 0.0 and w.ranks[RANK_CROSSING] == 0.0 and w.ranks[RANK_FAULTS] == faults
            good = good and largest_error(w.dv) <= MOST_TURN * fastest
            if good and accelerations != 0.0:
                call_by_address(d.constraint_set[SET_AT_SOLVE], model, data, constraints, work, 0.0)
            for i in range(d.q.shape[0]):
                w.q_sum[i] += weight * d.q[i]
            for k in range(d.v.shape[0]):
                w.v_sum[k] += weight * d.v[k]
                w.vdot_sum[k] += weight * d.vdot[k]
    w.ranks[RANK_FAULTS] = faults
    return good


@called
def measure_errors(model, data, constraints, work, unused):
    """q -> the norm of all position errors, of springs and within limits none. Called by address."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    position_kinematics(m, d)
    position_errors(m, d, c, w)
    total = 0.0
    for i in range(w.err.shape[0]):
        low, high = c.row_limits[i, 0], c.row_limits[i, 1]
        if c.row_spring[i, 0].real < INFINITE or low.real <= w.err[i].real <= high.real:
            continue
        error = w.err[i] - (low if w.err[i].real < low.real else high)
        total += error * error
    return square_root(total)


def expect_rank(work, rank, clearness, lengths):
    """Tells a ConstraintWork about regular positions: the rank, a least square of a sine, squares of rows' lengths."""
    usual = CLEARANCE * clearness
    work.ranks[:] = rank, 0.0, rank, usual, usual, 0.0, 0.0
    work.row_scale[:] = lengths


# functions called by address: by accelerations and continuous runs, by steps, by steps that meet contact
MOTION = ("solve_motion", "project_state", "cross_singular_position", "measure_errors")
STEPS = (*MOTION, "solve_step", "end_motion")
CONTACT_STEPS = ("measure_errors", "constraint_equations")


def constraint_addresses(kernels, compiled, called, *handles):
    """The contents of Data.constraint_set for handles of Model, Data, Constraints and ConstraintWork; compiles.

    called: MOTION, STEPS or CONTACT_STEPS; the other functions have the address 0.
    """
    names = (*STEPS, "constraint_equations")
    functions = [getattr(kernels, name) if name in called else None for name in names]
    if compiled:
        functions = [0 if function is None else address_of_function(function) for function in functions]
    return (*handles, *functions)
