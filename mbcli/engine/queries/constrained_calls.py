"""Calculations with constraints at a state that the call brings: from the caller's arrays to the caller's arrays.

Rows of results are in the caller's order: `order` has the caller's number of each row. Rows that the caller gives
(CUSTOM) must be in the work before. Each returns 1 if an array has another length than the model asks for or a number
that is not finite, else 0, or what it says.
"""

from mbcli.engine.constraints.constrained_motion import DEPENDENT
from mbcli.engine.constraints.constraint_stages import (
    calc_constrained_system,
    calc_constraint_impulses,
    calc_constraint_positions,
    calc_constraint_velocities,
    solve_constrained_system,
)
from mbcli.engine.constraints.contact_response import calc_contact_responses, calc_dynamics_with_contacts
from mbcli.engine.runtime.handles import constraints_at, data_at, model_at, work_at
from mbcli.engine.runtime.kernel import Indices, Int, Matrix, Vector, entry, kernel
from mbcli.engine.smooth.inverse_dynamics import clear_applied_forces
from mbcli.engine.smooth.kinematics import position_kinematics
from mbcli.engine.smooth.mass_matrix import mass_matrix
from mbcli.engine.smooth.spatial import cross, row3
from mbcli.engine.smooth.state import at_positions

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
def give_rows(order, values, result):
    for i in range(order.shape[0]):
        result[order[i]] = values[i]


@kernel
def give_jacobian(cons, work, order, G):
    """G of the work -> G (nrow, nv)."""
    for i in range(G.shape[0]):
        for k in range(G.shape[1]):
            G[i, k] = 0.0
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            for i in range(first, end):
                G[order[i], cons.support_dof[j]] = work.G[entry + i - first]
            entry += end - first


@kernel
def give_mass_matrix(model, cons, work, H):
    """packed_H -> H (nv, nv)."""
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            H[i, j] = 0.0
    for d in range(H.shape[0]):
        k, e = cons.dof_packed[d] + cons.dof_level[d], d
        while e >= 0:
            H[d, e] = work.packed_H[k]
            H[e, d] = work.packed_H[k]
            k -= 1
            e = model.dof_parent[e]


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
def evaluate_constraint_positions(model, data, cons, work, order: Indices, q: Vector, err: Vector, G: Matrix):
    """q -> err (nrow,), G (nrow, nv)."""
    d, c, w = data_at(data), constraints_at(cons), work_at(work)
    if not take_numbers(q, d.q):
        return REFUSED
    calc_constraint_positions(model, data, cons, work, 0)
    give_rows(order, w.err, err)
    give_jacobian(c, w, order, G)
    return 0


@entry
def evaluate_constraint_velocities(
    model, data, cons, work, order: Indices, q: Vector, v: Vector, errd: Vector, G: Matrix
):
    """q, v -> errd (nrow,), G (nrow, nv)."""
    d, c, w = data_at(data), constraints_at(cons), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v)):
        return REFUSED
    calc_constraint_velocities(model, data, cons, work)
    give_rows(order, w.errd, errd)
    give_jacobian(c, w, order, G)
    return 0


@entry
def evaluate_constrained_system(
    model,
    data,
    cons,
    work,
    order: Indices,
    q: Vector,
    v: Vector,
    tau: Vector,
    F: Matrix,
    H: Matrix,
    C: Vector,
    G: Matrix,
    rows: Matrix,
    solve: Int,
    vdot: Vector,
    force: Vector,
):
    """q, v, tau, F -> H (nv, nv), C (nv,), G (nrow, nv), rows (3, nrow): err, errd, gamma.

    With `solve` 1, not 0, vdot (nv,) and force (nrow,) too, by the range-space method. SINGULAR_MASS: H is singular;
    DEPENDENT_ROWS: rows were taken out as combinations of others, and may contradict them.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v) and take_numbers(tau, d.tau)):
        return REFUSED
    if F.shape[0] > 0:
        position_kinematics(m, d)
    apply_forces_about_origin(m, d, F)
    calc_constrained_system(model, data, cons, work)
    give_mass_matrix(m, c, w, H)
    give_jacobian(c, w, order, G)
    give_rows(order, w.err, rows[0])
    give_rows(order, w.errd, rows[1])
    give_rows(order, w.gamma, rows[2])
    for k in range(C.shape[0]):
        C[k] = w.bias[k]
    if solve == 0:
        return 0
    solve_constrained_system(model, data, cons, work, DEPENDENT)
    for k in range(vdot.shape[0]):
        vdot[k] = d.vdot[k]
    give_rows(order, w.force, force)
    return state_of_solution(w, H)


@kernel
def state_of_solution(work, H):
    """After a factorization: 0, SINGULAR_MASS or DEPENDENT_ROWS."""
    for k in range(H.shape[0]):
        pivot = 1.0 / (work.L_inverse[k] * work.L_inverse[k])
        if not LEAST_PIVOT * max(H[k, k], TINY) < pivot <= LARGEST:
            return SINGULAR_MASS
    for i in range(work.pivot_inverse.shape[0]):
        if work.pivot_inverse[i] == 0.0:
            return DEPENDENT_ROWS
    return 0


@entry
def evaluate_impulses(
    model,
    data,
    cons,
    work,
    order: Indices,
    q: Vector,
    v: Vector,
    v_plus: Vector,
    H: Matrix,
    G: Matrix,
    rows: Matrix,
    solve: Int,
    dv: Vector,
    impulse: Vector,
):
    """q, v, v_plus -> H (nv, nv), G (nrow, nv), rows (2, nrow): err, errd; with `solve` 1 dv (nv,), impulse (nrow,).

    Answers as evaluate_constrained_system(), dv the change of v.
    """
    m, d, c, w = model_at(model), data_at(data), constraints_at(cons), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v)):
        return REFUSED
    for i in range(order.shape[0]):
        w.v_plus[i] = v_plus[order[i]]
    at_positions(m, d)
    mass_matrix(m, d)
    for i in range(H.shape[0]):
        for j in range(H.shape[1]):
            H[i, j] = d.M[i, j]
    if solve == 0:
        calc_constraint_velocities(model, data, cons, work)
    else:
        calc_constraint_impulses(model, data, cons, work, DEPENDENT)
    give_jacobian(c, w, order, G)
    give_rows(order, w.err, rows[0])
    give_rows(order, w.errd, rows[1])
    if solve == 0:
        return 0
    for k in range(dv.shape[0]):
        dv[k] = w.dv[k]
    give_rows(order, w.impulse, impulse)
    return state_of_solution(w, H)


@entry
def evaluate_contact_responses(
    model, data, cons, work, order: Indices, q: Vector, v: Vector, tau: Vector, K: Matrix, a: Vector, responses: Matrix
):
    """q, v, tau -> K (nrow, nrow), a (nrow,) of the system of the contacts; responses: K in the engine's order."""
    d, w = data_at(data), work_at(work)
    if not (take_numbers(q, d.q) and take_numbers(v, d.v) and take_numbers(tau, d.tau)):
        return REFUSED
    clear_applied_forces(d)
    calc_contact_responses(model, data, cons, work, responses)
    give_rows(order, w.gamma, a)
    for i in range(order.shape[0]):
        for j in range(order.shape[0]):
            K[order[i], order[j]] = responses[i, j]
    return 0


@entry
def evaluate_contact_dynamics(model, data, cons, work, order: Indices, force: Vector, vdot: Vector):
    """After evaluate_contact_responses: force (nrow,) -> vdot (nv,)."""
    d, w = data_at(data), work_at(work)
    for i in range(order.shape[0]):
        w.force[i] = force[order[i]]
    clear_applied_forces(d)
    calc_dynamics_with_contacts(model, data, cons, work)
    for k in range(vdot.shape[0]):
        vdot[k] = d.vdot[k]
    return 0
