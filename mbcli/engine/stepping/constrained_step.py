"""Fillers for kernels of other plants if constraints act: discrete steps that end on the constraints.

    q_m = q + h/2 N(q) v                                      the middle of the step
    M(q_m) vdot = tau(q_m) - C(q_m, v_m) v_m + G(q_m)^T lambda,   G(q_m) vdot = gamma(q_m, v_m),   v_m = v + h/2 vdot
    q' = q + h N(q_m) v_m,   v' = v + h vdot                  and both onto the constraints

of second order, and without friction all but reversible, so that energy does not drift;
docs/explanation/discrete_constraints.md compares it with others. The equations for vdot are solved by substitution of
v_m with one factorization. It serves as well to bring q' and v' onto the constraints (a simplified Newton method): they
are off by the third order of h.

Damping, controllers, dry friction and limits of joints are those of a plant without constraints (step.py).
A coordinate that comes to a limit goes with its velocity at the end, so that the stop of joint_limits.py does not let
it through. A singular position is crossed as in constrained_motion.py.
"""

from mbcli.engine.constraints.constrained_motion import ATTEMPTS, DEPENDENT, EVERY_CORRECTION, note_rank
from mbcli.engine.constraints.constraint_errors import position_errors
from mbcli.engine.constraints.constraint_rows import constraint_bias, constraint_jacobian, row_axes, velocity_errors
from mbcli.engine.constraints.constraint_stages import (
    bias_of_motion,
    cancel_errors,
    factorize_system,
    largest_error,
    move_against_errors,
    solve_for_accelerations,
)
from mbcli.engine.constraints.constraint_system import add_reduced, solve_multipliers, subtract_reduced
from mbcli.engine.fields.model_fields import (
    RANK_CLEAR,
    RANK_CROSSING,
    RANK_FAULTS,
    RANK_REACHED,
    SCHEME_MIDDLE,
    SET_AT_CONSTRAINTS,
    SET_AT_CROSS,
    SET_AT_DATA,
    SET_AT_END,
    SET_AT_MODEL,
    SET_AT_PROJECT,
    SET_AT_WORK,
)
from mbcli.engine.limits.dry_friction import finish_friction
from mbcli.engine.limits.joint_limits import leave_out_stops
from mbcli.engine.limits.limited_dynamics import limited_dynamics
from mbcli.engine.limits.pd_control import finish_controllers
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import called, kernel, slot
from mbcli.engine.smooth.coordinates import advance_positions
from mbcli.engine.smooth.element_rows import (
    add_element_changes,
    factorize_elements,
    number_of_rows,
    take_element_changes,
)
from mbcli.engine.smooth.forward_dynamics import apply_joint_locks, stop_locked
from mbcli.engine.smooth.inverse_dynamics import apply_link_forces
from mbcli.engine.smooth.kinematics import position_kinematics, velocity_kinematics
from mbcli.engine.smooth.state import at_velocities
from mbcli.engine.smooth.tree_factorization import packed_mass_matrix, solve_factor, solve_transposed
from mbcli.engine.stepping.step import gather_forces, go_with_set_velocities, stay_within_limits
from mbcli.engine.stepping.velocity_terms import SUBSTITUTIONS

ROUGHLY_DEPENDENT = 1e-2  # square of a sine as part of what is clear: in the middle rows depend on others only roughly
AS_BEFORE = -1.0  # tolerance of factorize_multipliers with which the rows are taken out that were before
STIFF = 10.0  # share of controllers, limits and damping in an inertia, as part of it
INFINITE = float("inf")
CLOSED = 1e-11  # position error [m or 1] at the end of a step, and part of the largest velocity there
CORRECTIONS = 5  # with the factorization of the middle
SLOWEST_DECREASE = 0.3  # of errors by such a correction
STUCK = 2.0  # times an error that no projection could lower: allowed from then on


@kernel
def part_before_forces(model, work):
    """The part of a step after which its forces are taken; if no constraint is active, as in other plants."""
    return 0.5 if work.err.shape[0] > 0 or model.step_scheme[SCHEME_MIDDLE] == 1 else 0.0


@kernel
def start_constrained_step(model, data, h):
    """As step.start_step(): q becomes that in the middle of the step."""
    work = work_at(data.constraint_set[SET_AT_WORK])
    stop_locked(model, data.v)
    part = part_before_forces(model, work)
    position_kinematics(model, data)
    for d in range(data.v.shape[0]):
        work.v_start[d] = data.v[d]
    for i in range(data.q.shape[0]):
        work.q_start[i] = data.q[i]
    if part > 0.0:
        advance_positions(model, data, data.v, part * h)
    for i in range(data.q.shape[0]):
        work.q_middle[i] = data.q[i]


@kernel
def accelerate_under_constraints(model, data, h):
    """As step.accelerate(), in the middle of the step; controllers and limits see its start."""
    work = work_at(data.constraint_set[SET_AT_WORK])
    go_to(data, work.q_start, work.v_start)
    limited_dynamics(model, data, h)


@kernel
def end_constrained_step(model, data, h):
    """As step.end_step(): onto the constraints."""
    at = data.constraint_set
    call_by_address(at[SET_AT_END], at[SET_AT_MODEL], at[SET_AT_DATA], at[SET_AT_CONSTRAINTS], at[SET_AT_WORK], h)


@kernel
def at_forces_under_constraints(model, data, h):
    """As balance.at_forces_of_step()."""
    go_to(data, work_at(data.constraint_set[SET_AT_WORK]).q_middle, data.v_terms)
    at_velocities(model, data)


@kernel
def wrenches_in_last_step(model, data, wrenches):
    """As step_loads.wrenches_of_constraints()."""
    cons, work = constraints_at(data.constraint_set[SET_AT_CONSTRAINTS]), work_at(data.constraint_set[SET_AT_WORK])
    row_axes(model, data, cons, work, 0)
    for i in range(work.force.shape[0]):
        for k in range(6):
            wrenches[cons.row_number[i], k] = work.force[i] * work.row_axis_W[i, k]


@kernel
def accelerations_of_constrained_step(model, data, F_link, h, implicit_damping):
    """As step.accelerations_of_step(); the axes of constraints are those of the start again.

    v_start of the step has zeros for locked joints, where the state may have none; crossings use other arrays.
    """
    work = work_at(data.constraint_set[SET_AT_WORK])
    for d in range(data.v.shape[0]):
        work.v_asked[d] = data.v[d]
    start_constrained_step(model, data, h)
    at_velocities(model, data)
    apply_link_forces(model, data, F_link)
    gather_forces(model, data, h, implicit_damping)
    accelerate_under_constraints(model, data, h)
    end_constrained_step(model, data, h)
    for d in range(data.v.shape[0]):
        data.vdot[d] = (data.v[d] - work.v_start[d]) / h
    go_to(data, work.q_start, work.v_asked)
    at_velocities(model, data)
    row_axes(model, data, constraints_at(data.constraint_set[SET_AT_CONSTRAINTS]), work, 0)


@kernel
def go_to(data, q, v):
    for i in range(data.q.shape[0]):
        data.q[i] = q[i]
    for d in range(data.v.shape[0]):
        data.v[d] = v[d]


@called
def solve_step(model, data, constraints, work, h):
    """q_start, v_start, q_middle, tau, F_applied, diagonal -> vdot over a step h, `force` of the work.

    After world_inertias in the middle; sin_q and cos_q stay those. q and v are q_start, v_start then. Called by
    address, returns 0.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    go_to(d, w.q_middle, w.v_start)
    for _ in range(ATTEMPTS):
        solve_in_middle(m, d, c, w, h)
        if w.ranks[RANK_CROSSING] == 0.0:
            break
        cross = d.constraint_set[SET_AT_CROSS]
        go_to(d, w.q_middle, w.v_start)
        if call_by_address(cross, model, data, constraints, work, 1.0) == 0.0:
            for k in range(d.v.shape[0]):
                d.v[k] = w.v_start[k] + part_before_forces(m, w) * h * d.vdot[k]
            if call_by_address(cross, model, data, constraints, work, 1.0) == 0.0:
                break
            go_to(d, w.q_middle, w.v_start)
    go_to(d, w.q_start, w.v_start)
    return 0.0


@kernel
def solve_in_middle(m, d, c, w, h):
    """After world_inertias: q, v_start, tau, F_applied, diagonal -> vdot over a step h, `force`."""
    row_axes(m, d, c, w, 0)
    constraint_jacobian(d, c, w)
    factorize_in_middle(m, d, c, w)
    respond_to_elements(m, d, c, w, h)
    part = part_before_forces(m, w) * h
    for k in range(d.v.shape[0]):
        d.v[k] = w.v_start[k]
    for n in range(SUBSTITUTIONS if part > 0.0 else 1):
        if n > 0:
            for k in range(d.v.shape[0]):
                d.v[k] = w.v_start[k] + part * d.vdot[k]
        for k in range(d.v.shape[0]):
            d.v_terms[k] = d.v[k]
        velocity_kinematics(m, d)
        bias_of_motion(m, d, w)
        constraint_bias(m, d, c, w)
        solve_for_accelerations(m, d, c, w)
        resist_under_constraints(m, d, c, w)


@slot(plain="stepping.plain.respond_to_elements")
def respond_to_elements(m, d, c, w, h):
    """After factorize_in_middle: element_y, what the rows of force elements do under constraints, and their factor."""
    for i in range(number_of_rows(m, d)):
        for k in range(d.v.shape[0]):
            w.reduced[k] = d.element_J[i, k]
        solve_transposed(m, c, w, w.reduced)
        for k in range(w.force.shape[0]):
            w.force[k] = 0.0 * w.gamma[k]
        subtract_reduced(c, w, w.reduced, w.force)
        solve_multipliers(c, w, w.force)
        add_reduced(c, w, w.force, w.reduced)
        solve_factor(m, c, w, w.reduced)
        for k in range(d.v.shape[0]):
            d.element_y[i, k] = w.reduced[k]
    factorize_elements(m, d, h)


@slot(plain="stepping.plain.resist_under_constraints")
def resist_under_constraints(m, d, c, w):
    """After solve_for_accelerations: vdot, `force` without the changes of forces of elements -> with them."""
    if number_of_rows(m, d) == 0:
        return
    take_element_changes(m, d)
    for k in range(d.v.shape[0]):
        w.dv[k] = d.tau[k]
    add_element_changes(m, d, d.tau)
    solve_for_accelerations(m, d, c, w)
    for k in range(d.v.shape[0]):
        d.tau[k] = w.dv[k]


@kernel
def factorize_in_middle(m, d, c, w):
    """After constraint_jacobian: diagonal -> factors, rank.

    If controllers, limits or damping outweigh inertia, rows are long and independent as they are without them.
    """
    dependent = max(DEPENDENT, ROUGHLY_DEPENDENT * w.ranks[RANK_CLEAR].real)
    packed_mass_matrix(m, d, c, w)
    if not is_stiff(m, d, c, w):
        factorize_system(m, c, w, dependent)
        note_rank(d, c, w)
        return
    for k in range(d.v.shape[0]):
        w.stiff_diagonal[k] = d.diagonal[k]
        d.diagonal[k] = m.dof_armature[k]
    apply_joint_locks(m, d)
    packed_mass_matrix(m, d, c, w)
    factorize_system(m, c, w, dependent)
    note_rank(d, c, w)
    for k in range(d.v.shape[0]):
        d.diagonal[k] = w.stiff_diagonal[k]
    packed_mass_matrix(m, d, c, w)
    factorize_system(m, c, w, AS_BEFORE)


@kernel
def is_stiff(m, d, c, w):
    """After packed_mass_matrix: whether some velocity is held by more than inertia. Locked ones are not asked."""
    for k in range(d.v.shape[0]):
        total = w.packed_H[c.dof_packed[k] + c.dof_level[k]].real
        added = d.diagonal[k].real - m.dof_armature[k].real
        if added < INFINITE and added > STIFF * (total - added):
            return True
    return False


@called
def end_motion(model, data, constraints, work, h):
    """After solve_step: q_start, v_start, vdot -> q, v at the end of the step. Called by address, returns 0."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(constraints), work_at(work)
    part = part_before_forces(m, w)
    for k in range(d.v.shape[0]):
        d.v[k] = w.v_start[k] + (1.0 - part) * h * d.vdot[k]
    for i in range(d.q.shape[0]):
        d.q[i] = w.q_start[i]
    advance_positions(m, d, d.v, h)
    for k in range(d.v.shape[0]):
        d.v[k] = w.v_start[k] + h * d.vdot[k]
    if part == 0.0 or w.ranks[RANK_FAULTS] != 0.0:
        return 0.0
    go_with_set_velocities(m, d, h)
    stay_within_limits(m, d, w.q_start, h)
    if leave_out_stops(m, d):
        packed_mass_matrix(m, d, c, w)
        factorize_system(m, c, w, AS_BEFORE)
    if w.ranks[RANK_CROSSING] != 0.0 or not correct_positions(m, d, c, w) or not correct_velocities(m, d, c, w, h):
        project_end(model, data, constraints, work)
    for k in range(d.v.shape[0]):
        d.vdot[k] = (d.v[k] - w.v_start[k]) / h
    finish_controllers(m, d)
    finish_friction(m, d)
    return 0.0


@kernel
def is_corrected(work, n, error, allowed):
    """Whether an error is as small as allowed after n corrections. Derivatives take more: they converge one by one."""
    if work.ranks[RANK_REACHED].real == EVERY_CORRECTION and n < CORRECTIONS:
        return False
    return error <= allowed


@kernel
def is_stuck(n, error, before):
    """Whether no correction is left, or the last one lowered an error too little that is more than rounding."""
    return n == CORRECTIONS or (n > 0 and error > CLOSED and not error < SLOWEST_DECREASE * before)


@kernel
def correct_positions(m, d, c, w):
    """q -> q on the constraints, with the factors of the middle; False if these do not lead there. G of q too."""
    before = 0.0
    for n in range(CORRECTIONS + 1):
        position_kinematics(m, d)
        position_errors(m, d, c, w)
        row_axes(m, d, c, w, 0)
        constraint_jacobian(d, c, w)
        error = largest_error(w.err)
        if is_corrected(w, n, error, max(CLOSED, w.ranks[RANK_REACHED].real)):
            return True
        if is_stuck(n, error, before):
            return False
        before = error
        move_against_errors(m, d, c, w)
    return False


@kernel
def correct_velocities(m, d, c, w, h):
    """After correct_positions: v -> v that keeps to the constraints; False if the factors do not lead there."""
    before = 0.0
    for n in range(CORRECTIONS + 1):
        velocity_errors(d, c, w)
        error = largest_error(w.errd)
        if is_corrected(w, n, error, CLOSED * max(1.0, largest_error(d.v))):
            return True
        if is_stuck(n, error, before):
            return False
        before = error
        cancel_errors(m, c, w, w.errd)
        for k in range(d.v.shape[0]):
            d.v[k] += w.dv[k]
        for i in range(w.force.shape[0]):
            w.force[i] += w.impulse[i] / h
    return False


@kernel
def project_end(model, data, constraints, work):
    """q, v -> those nearby on the constraints, across a singular position too.

    If constraints contradict each other, errors stay as small as they become, and are allowed from then on.
    """
    m, d, w = model_at(model), data_at(data), work_at(work)
    at = d.constraint_set
    for k in range(d.v.shape[0]):
        d.diagonal[k] = m.dof_armature[k]
    apply_joint_locks(m, d)
    for _ in range(ATTEMPTS):
        allowed = max(CLOSED, w.ranks[RANK_REACHED].real)
        if call_by_address(at[SET_AT_PROJECT], model, data, constraints, work, allowed) < 0.0:
            w.ranks[RANK_REACHED] = STUCK * largest_error(w.err)
        if (
            w.ranks[RANK_CROSSING] == 0.0
            or call_by_address(at[SET_AT_CROSS], model, data, constraints, work, 0.0) == 0.0
        ):
            break
