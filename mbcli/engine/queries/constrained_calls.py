"""Calculations with constraints at a state that the call brings: from the caller's arrays to the caller's arrays.

Each has one vector of results, which has the arrays that it names one behind the other, matrices row by row; rows of
constraints are in the caller's order. Rows that the caller gives (CUSTOM) must be in the work before. Each returns 1 if
an array that is given has another length than the model asks for or a number that is not finite, else 0, or what it
says.
"""

from mbcli.engine.constraints.constrained_motion import DEPENDENT
from mbcli.engine.constraints.constraint_derivatives import differentiate_equations, solve_derivatives
from mbcli.engine.constraints.constraint_stages import (
    calc_constrained_system,
    calc_constraint_impulses,
    calc_constraint_positions,
    calc_constraint_velocities,
    solve_constrained_system,
)
from mbcli.engine.constraints.contact_response import calc_contact_responses, calc_dynamics_with_contacts
from mbcli.engine.runtime.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import Handle, Int, Matrix, Vector, entry, kernel
from mbcli.engine.smooth.dynamics_derivatives import add_joint_force_derivatives
from mbcli.engine.smooth.force_elements import add_element_forces
from mbcli.engine.smooth.forward_dynamics import apply_joint_locks
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.joint_forces import add_joint_forces
from mbcli.engine.smooth.kinematics import position_kinematics
from mbcli.engine.smooth.mass_matrix import mass_matrix
from mbcli.engine.smooth.spatial import cross, row3
from mbcli.engine.smooth.state import at_positions, at_velocities

REFUSED, SINGULAR_MASS, DEPENDENT_ROWS = 1, 2, 3  # answers but for 0
LEAST_PIVOT = 1e-13  # of H, relative to its diagonal: what rounding leaves of zero
TINY, LARGEST = 2.2250738585072014e-308, 1.7976931348623157e308


@kernel
def take_numbers(source, target):
    """Copies a vector; False if it has another length or a number that is not finite."""
    if source.shape[0] != target.shape[0]:
        return False
    finite = True
    for k in range(target.shape[0]):
        target[k] = source[k]
        finite = finite and -LARGEST <= source[k] <= LARGEST
    return finite


@kernel
def give_vector(values, results, at):
    """Puts a vector into results from `at` on; returns where it ends."""
    for i in range(values.shape[0]):
        results[at + i] = values[i]
    return at + values.shape[0]


@kernel
def give_rows(cons, values, results, at):
    """As give_vector(), of a number for each row of the constraints."""
    for i in range(values.shape[0]):
        results[at + cons.row_number[i]] = values[i]
    return at + values.shape[0]


@kernel
def give_jacobian(model, cons, work, results, at):
    """As give_vector(), of G (nrow, nv)."""
    nv = model.dof_parent.shape[0]
    end_of_G = at + nv * cons.row_number.shape[0]
    for k in range(at, end_of_G):
        results[k] = 0.0
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            for i in range(first, end):
                results[at + nv * cons.row_number[i] + cons.support_dof[j]] = work.G[entry + i - first]
            entry += end - first
    return end_of_G


@kernel
def give_mass_matrix(model, cons, work, results, at):
    """As give_vector(), of H (nv, nv), which is packed_H."""
    nv = model.dof_parent.shape[0]
    for k in range(at, at + nv * nv):
        results[k] = 0.0
    for d in range(nv):
        k, e = cons.dof_packed[d] + cons.dof_level[d], d
        while e >= 0:
            results[at + nv * d + e] = work.packed_H[k]
            results[at + nv * e + d] = work.packed_H[k]
            k -= 1
            e = model.dof_parent[e]
    return at + nv * nv


@kernel
def apply_forces_about_origin(model, data, F):
    """After position_kinematics: F (nlink, 6) about World's origin, or no rows -> F_applied."""
    clear_applied_forces(data)
    for n in range(F.shape[0]):
        b, f = model.link_body[n], row3(F, n, 3)
        moment = cross(row3(data.X_WB, model.body_root[b], 9), f)
        for k in range(3):
            data.F_applied[b, k] += F[n, k] - moment[k]
            data.F_applied[b, 3 + k] += f[k]


@entry
def evaluate_constraint_positions(model: Handle, data: Handle, cons: Handle, work: Handle, q: Vector, results: Vector):
    """q -> err (nrow,), G (nrow, nv)."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    if not take_numbers(q, d.q):
        return REFUSED
    calc_constraint_positions(model, data, cons, work, 0)
    at = give_rows(c, w.err, results, 0)
    give_jacobian(m, c, w, results, at)
    return 0


@entry
def evaluate_constraint_velocities(
    model: Handle, data: Handle, cons: Handle, work: Handle, q: Vector, v: Vector, results: Vector
):
    """q, v -> errd (nrow,), G (nrow, nv)."""
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v)):
        return REFUSED
    calc_constraint_velocities(model, data, cons, work)
    at = give_rows(c, w.errd, results, 0)
    give_jacobian(m, c, w, results, at)
    return 0


@entry
def evaluate_constrained_system(
    model: Handle,
    data: Handle,
    cons: Handle,
    work: Handle,
    q: Vector,
    v: Vector,
    tau: Vector,
    F: Matrix,
    solve: Int,
    results: Vector,
):
    """q, v, tau, F -> H (nv, nv), C (nv,), G (nrow, nv), err, errd, gamma (nrow,), vdot (nv,), force (nrow,).

    The last two only with `solve` 1, not 0, by the range-space method. SINGULAR_MASS: H is singular; DEPENDENT_ROWS:
    rows were taken out as combinations of others, and may contradict them.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v) and take_numbers(tau, d.tau)):
        return REFUSED
    if F.shape[0] > 0:
        position_kinematics(m, d)
    apply_forces_about_origin(m, d, F)
    calc_constrained_system(model, data, cons, work)
    at = give_mass_matrix(m, c, w, results, 0)
    at = give_vector(w.bias, results, at)
    at = give_jacobian(m, c, w, results, at)
    at = give_rows(c, w.err, results, at)
    at = give_rows(c, w.errd, results, at)
    at = give_rows(c, w.gamma, results, at)
    if solve == 0:
        return 0
    solve_constrained_system(model, data, cons, work, DEPENDENT)
    at = give_vector(d.vdot, results, at)
    give_rows(c, w.force, results, at)
    return state_of_solution(w, results, d.v.shape[0] + 1)


@kernel
def state_of_solution(work, H, step):
    """After a factorization: 0, SINGULAR_MASS or DEPENDENT_ROWS; H has the diagonal of that matrix every `step`."""
    nv = work.L_inverse.shape[0]
    for k in range(nv):
        pivot = 1.0 / (work.L_inverse[k] * work.L_inverse[k])
        if not LEAST_PIVOT * max(H[k * step], TINY) < pivot <= LARGEST:
            return SINGULAR_MASS
    for i in range(work.pivot_inverse.shape[0]):
        if work.pivot_inverse[i] == 0.0:
            return DEPENDENT_ROWS
    return 0


@entry
def evaluate_constrained_derivatives(
    model: Handle,
    data: Handle,
    cons: Handle,
    work: Handle,
    q: Vector,
    v: Vector,
    tau: Vector,
    joint_forces: Int,
    found: Matrix,
    results: Vector,
):
    """q, v, tau -> vdot (nv,), force (nrow,), diagonal of H (nv,), gamma (nrow,) in results; derivatives in `found`.

    found: rows of nv elements: vdot (nv,) by q along each velocity, by v, by tau, then force (nrow,) by these, then
    errd (nrow,) by q. Answers as evaluate_constrained_system(). With `joint_forces` 1, not 0, springs, hinges and
    damping of joints act besides, joints may be locked, and the answer is 0.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    nv, nrow = d.v.shape[0], c.row_number.shape[0]
    if not (take_numbers(q, d.q) and take_numbers(v, d.v) and take_numbers(tau, d.tau)):
        return REFUSED
    if found.shape[0] != 3 * nv + 4 * nrow or found.shape[1] != nv:
        return REFUSED
    by_q, by_v, by_tau, rows = found[:nv], found[nv : 2 * nv], found[2 * nv : 3 * nv], found[3 * nv :]
    force_by_q, force_by_v, force_by_tau = rows[:nrow], rows[nrow : 2 * nrow], rows[2 * nrow : 3 * nrow]
    clear_applied_forces(d)
    for k in range(nv):
        d.diagonal[k] = m.dof_armature[k]
    if joint_forces == 1:
        at_velocities(m, d)
        add_joint_forces(m, d)
        add_element_forces(m, d, d.F_applied, 0)
        apply_joint_locks(m, d)
    calc_constrained_system(model, data, cons, work)
    for k in range(nv):
        w.dv[k] = w.packed_H[c.dof_packed[k] + c.dof_level[k]]
    solve_constrained_system(model, data, cons, work, DEPENDENT)
    answer = 0 if joint_forces == 1 else state_of_solution(w, w.dv, 1)
    at = give_vector(d.vdot, results, 0)
    at = give_rows(c, w.force, results, at)
    at = give_vector(w.dv, results, at)
    give_rows(c, w.gamma, results, at)
    differentiate_equations(m, d, c, w, by_q, by_v, by_tau, force_by_q, force_by_v, rows[3 * nrow :])
    if joint_forces == 1:
        add_joint_force_derivatives(m, d, by_q, by_v)
    solve_derivatives(m, c, w, by_q, by_v, by_tau, force_by_q, force_by_v, force_by_tau)
    return answer


@entry
def evaluate_impulses(
    model: Handle,
    data: Handle,
    cons: Handle,
    work: Handle,
    q: Vector,
    v: Vector,
    v_plus: Vector,
    solve: Int,
    results: Vector,
):
    """q, v, v_plus -> H (nv, nv), G (nrow, nv), err, errd (nrow,), dv (nv,), impulse (nrow,).

    The last two only with `solve` 1. Answers as evaluate_constrained_system(), dv the change of v.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v)):
        return REFUSED
    for i in range(c.row_number.shape[0]):
        w.v_plus[i] = v_plus[c.row_number[i]]
    at_positions(m, d)
    mass_matrix(m, d)
    nv = d.v.shape[0]
    for i in range(nv):
        for j in range(nv):
            results[i * nv + j] = d.M[i, j]
    if solve == 0:
        calc_constraint_velocities(model, data, cons, work)
    else:
        calc_constraint_impulses(model, data, cons, work, DEPENDENT)
    at = give_jacobian(m, c, w, results, nv * nv)
    at = give_rows(c, w.err, results, at)
    at = give_rows(c, w.errd, results, at)
    if solve == 0:
        return 0
    at = give_vector(w.dv, results, at)
    give_rows(c, w.impulse, results, at)
    return state_of_solution(w, results, d.v.shape[0] + 1)


@entry
def evaluate_contact_responses(
    model: Handle,
    data: Handle,
    cons: Handle,
    work: Handle,
    q: Vector,
    v: Vector,
    tau: Vector,
    responses: Matrix,
    results: Vector,
):
    """q, v, tau -> K (nrow, nrow), a (nrow,) of the system of the contacts; responses: K in the engine's order."""
    d, c, w = data_at(data), constraints_at(cons), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v) and take_numbers(tau, d.tau)):
        return REFUSED
    clear_applied_forces(d)
    calc_contact_responses(model, data, cons, work, responses)
    nrow = c.row_number.shape[0]
    for i in range(nrow):
        for j in range(nrow):
            results[nrow * c.row_number[i] + c.row_number[j]] = responses[i, j]
    give_rows(c, w.gamma, results, nrow * nrow)
    return 0


@entry
def evaluate_contact_dynamics(model: Handle, data: Handle, cons: Handle, work: Handle, force: Vector, vdot: Vector):
    """After evaluate_contact_responses: force (nrow,) -> vdot (nv,)."""
    d, c, w = data_at(data), constraints_at(cons), work_at(work)
    for i in range(c.row_number.shape[0]):
        w.force[i] = force[c.row_number[i]]
    clear_applied_forces(d)
    calc_dynamics_with_contacts(model, data, cons, work)
    give_vector(d.vdot, vdot, 0)
    return 0
