"""Queries to constraints, each as one call: errors, Jacobians, accelerations, impulses, projections.

These take handles of Model, Data, Constraints and ConstraintWork. Reflected inertias, and what else is on the diagonal
of the mass matrix, come from `diagonal`; rows that the caller gives (CUSTOM) must be in G, err, errd and gamma before.
`tolerance` is that of factorize_multipliers.
"""

from mbcli.engine.constraints.constraint_errors import position_errors
from mbcli.engine.constraints.constraint_rows import (
    constraint_bias,
    constraint_jacobian,
    row_axes,
    stabilize,
    velocity_errors,
)
from mbcli.engine.constraints.constraint_system import (
    add_reduced,
    damp_multipliers,
    factorize_multipliers,
    measure_rows,
    multiplier_matrix,
    reduce_jacobian,
    solve_multipliers,
    subtract_reduced,
)
from mbcli.engine.runtime.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import Handle, Int, Real, entry, kernel
from mbcli.engine.smooth.coordinates import normalize_quaternions, velocity_to_qdot
from mbcli.engine.smooth.frame_motion import accelerations_by_velocities
from mbcli.engine.smooth.inertia import world_inertias
from mbcli.engine.smooth.inverse_dynamics import inverse_dynamics
from mbcli.engine.smooth.kinematics import position_kinematics, velocity_kinematics
from mbcli.engine.smooth.tree_factorization import factorize_tree, packed_mass_matrix, solve_factor, solve_transposed

FIRST_DAMPING = 1e-2  # of a projection, times the square of the errors and the diagonal of K
LEAST_DAMPING = 1e-13  # times that diagonal


@entry
def calc_constraint_positions(model: Handle, data: Handle, cons: Handle, work: Handle, exact: Int):
    """q -> err, G; with `exact` 1, not 0, G is the derivative of err off the constraints too."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    position_kinematics(m, d)
    position_errors(m, d, c, w)
    row_axes(m, d, c, w, exact)
    constraint_jacobian(d, c, w)


@entry
def calc_constraint_velocities(model: Handle, data: Handle, cons: Handle, work: Handle):
    """q, v -> err, G, errd, and gamma without stabilization."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    calc_constraint_positions(m, d, c, w, 0)
    velocity_errors(d, c, w)
    velocity_kinematics(m, d)
    accelerations_by_velocities(m, d)
    constraint_bias(m, d, c, w)


@entry
def calc_constrained_system(model: Handle, data: Handle, cons: Handle, work: Handle):
    """q, v, F_applied, diagonal -> bias, packed_H as H, err, G, errd, gamma; vdot becomes 0, tau keeps its values."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    calc_constraint_positions(m, d, c, w, 0)
    velocity_errors(d, c, w)
    world_inertias(m, d)
    velocity_kinematics(m, d)
    bias_of_motion(m, d, w)
    constraint_bias(m, d, c, w)
    stabilize(w)
    packed_mass_matrix(m, d, c, w)


@kernel
def bias_of_motion(model, data, work):
    """After velocity_kinematics, world_inertias: F_applied -> bias, A where vdot is 0; vdot becomes 0, tau stays."""
    for k in range(data.vdot.shape[0]):
        data.vdot[k] = 0.0
        work.reduced[k] = data.tau[k]
    inverse_dynamics(model, data, 1.0)
    for k in range(data.vdot.shape[0]):
        work.bias[k] = data.tau[k]
        data.tau[k] = work.reduced[k]


@kernel
def calc_constrained_dynamics(model, data, cons, work, tolerance):
    """q, v, tau, F_applied, diagonal, stabilization -> vdot, force: H vdot + bias = tau + G^T force, G vdot = gamma."""
    calc_constrained_system(model, data, cons, work)
    solve_constrained_system(model, data, cons, work, tolerance)


@entry
def solve_constrained_system(model: Handle, data: Handle, cons: Handle, work: Handle, tolerance: Real):
    """packed_H as H, G, bias, tau, gamma -> vdot, force."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    factorize_system(m, c, w, tolerance)
    solve_for_accelerations(m, d, c, w)


@kernel
def solve_for_accelerations(model, data, cons, work):
    """After factorize_system: bias, tau, gamma -> vdot, force."""
    for k in range(data.vdot.shape[0]):
        work.reduced[k] = data.tau[k] - work.bias[k]
    solve_transposed(model, cons, work, work.reduced)
    for i in range(work.force.shape[0]):
        work.force[i] = work.gamma[i]
    subtract_reduced(cons, work, work.reduced, work.force)
    solve_multipliers(cons, work, work.force)
    add_reduced(cons, work, work.force, work.reduced)
    solve_factor(model, cons, work, work.reduced)
    for k in range(data.vdot.shape[0]):
        data.vdot[k] = work.reduced[k]


@entry
def calc_constraint_impulses(model: Handle, data: Handle, cons: Handle, work: Handle, tolerance: Real):
    """q, v, v_plus, diagonal -> dv, impulse: H dv = G^T impulse, G (v + dv) = v_plus; err, G, errd too."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    calc_constraint_positions(m, d, c, w, 0)
    velocity_errors(d, c, w)
    world_inertias(m, d)
    packed_mass_matrix(m, d, c, w)
    factorize_system(m, c, w, tolerance)
    for i in range(w.impulse.shape[0]):
        w.impulse[i] = w.v_plus[i] - w.errd[i]
    change_velocities(m, c, w)


@kernel
def factorize_system(model, cons, work, tolerance):
    """packed_H as H, G -> its factor, Y, K as its factor."""
    factorize_tree(model, cons, work)
    reduce_jacobian(cons, work)
    multiplier_matrix(cons, work)
    measure_rows(cons, work)
    factorize_multipliers(cons, work, tolerance)


@kernel
def change_velocities(model, cons, work):
    """After factorize_system: impulse, wanted changes of the rows -> impulse that makes them; dv, the change of v."""
    solve_multipliers(cons, work, work.impulse)
    for k in range(work.dv.shape[0]):
        work.dv[k] = 0.0 * work.L_inverse[k]
    add_reduced(cons, work, work.impulse, work.dv)
    solve_factor(model, cons, work, work.dv)


@kernel
def cancel_errors(m, c, w, errors):
    """After factorization: dv that takes errors (nrow,) of the constraints away, and the impulses that give it."""
    for i in range(w.impulse.shape[0]):
        w.impulse[i] = -errors[i]
    change_velocities(m, c, w)


@kernel
def move_against_errors(m, d, c, w):
    """After factorization: q -> q with the position errors `err` taken away, to first order."""
    cancel_errors(m, c, w, w.err)
    velocity_to_qdot(m, d, w.dv, d.qdot)
    for i in range(d.q.shape[0]):
        d.q[i] += d.qdot[i]
    normalize_quaternions(m, d.q)


@entry
def project_positions(model: Handle, data: Handle, cons: Handle, work: Handle, allowed: Real, iterations: Int):
    """q -> the q nearby where no |err| exceeds `allowed`; returns the number of steps, -1 where `iterations` are over.

    Steps of Levenberg and Marquardt that are small in kinetic energy. Their damping goes with the square of the errors:
    it does not slow them down at last, and takes equations that depend on others, or nearly do close to a singular
    position. -1 is returned too if numbers are not finite; v stays.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    calc_constraint_positions(m, d, c, w, 1)
    damping, error, accepted = FIRST_DAMPING, sum_of_squares(w.err), True
    for step in range(iterations + 1):
        if accepted:
            if largest_error(w.err) <= allowed:
                return step
            world_inertias(m, d)
            packed_mass_matrix(m, d, c, w)
            factorize_tree(m, c, w)
            reduce_jacobian(c, w)
            for k in range(d.q.shape[0]):
                w.q_before[k] = d.q[k]
        multiplier_matrix(c, w)
        measure_rows(c, w)
        damp_multipliers(c, w, max(damping * error, LEAST_DAMPING))
        factorize_multipliers(c, w, 0.0)
        move_against_errors(m, d, c, w)
        calc_constraint_positions(m, d, c, w, 1)
        error_after = sum_of_squares(w.err)
        accepted = error_after.real < error.real
        if accepted:
            damping, error = 0.2 * damping, error_after
        else:
            damping *= 10.0
            for k in range(d.q.shape[0]):
                d.q[k] = w.q_before[k]
            calc_constraint_positions(m, d, c, w, 1)
    return -1


@entry
def project_velocities(model: Handle, data: Handle, cons: Handle, work: Handle, tolerance: Real):
    """q, v -> the v nearest in kinetic energy with G v = v_plus."""
    d, w = data_at(data), work_at(work)
    calc_constraint_impulses(model, data, cons, work, tolerance)
    for k in range(d.v.shape[0]):
        d.v[k] += w.dv[k]


@kernel
def largest_error(x):
    """The largest magnitude of x; not a number if one of them is not."""
    largest = 0.0
    for i in range(x.shape[0]):
        size = abs(x[i])
        if not size <= largest:
            largest = size
    return largest


@kernel
def sum_of_squares(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * x[i]
    return total
