"""Derivatives of accelerations and multipliers under constraints, by positions, velocities and forces, in closed form.

The two equations, H vdot + C = tau + G^T lambda and G vdot = gamma, are differentiated at the motion itself, by q along
each velocity as in dynamics_derivatives.py. What their parts change by goes through the factors that gave the motion:
H dvdot - G^T dlambda = -d(H vdot + C - tau - G^T lambda), G dvdot = d(gamma - G vdot), vdot and lambda fixed on the
right (implicit function theorem).

A velocity k that carries both bodies of a constraint, or neither, moves it as a whole, which changes nothing. If it
carries the successor alone, So is displaced; if it carries the predecessor alone, its axes turn, and another point of P
comes to So. A row fixed in P is one of the components in P of S's acceleration relative to P, so all such rows of a
constraint are A . (one change of that) each.
"""

from mbcli.engine.constraints.constraint_frames import (
    CONTACT,
    COUPLER,
    DISTANCE,
    PERPENDICULAR,
    separation,
    successor_origin,
)
from mbcli.engine.constraints.constraint_rows import constraint_jacobian, row_axes
from mbcli.engine.constraints.constraint_system import (
    add_reduced_rows,
    solve_multiplier_rows,
    subtract_reduced_rows,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.dynamics_derivatives import clear_matrix, inverse_dynamics_derivatives
from mbcli.engine.smooth.frame_derivatives import (
    acceleration_by_position,
    acceleration_by_velocity,
    displacement_at,
    velocity_by_position,
)
from mbcli.engine.smooth.frame_motion import (
    acceleration_at,
    axes_on_body,
    from_components,
    from_reference_of,
    velocity_at,
)
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract
from mbcli.engine.smooth.tree_factorization import solve_factor_rows, solve_transposed_rows


@kernel
def differentiate_equations(model, data, cons, work, by_q, by_v, by_tau, rows_by_q, rows_by_v, errd_by_q):
    """After calc_constrained_dynamics -> changes of H vdot + C - G^T lambda (nv, nv), of gamma - G vdot (nrow, nv).

    errd_by_q (nrow, nv): changes of G v, which by v are G. by_tau is overwritten. Rows of constraints are in the
    caller's order. Forces of joints that depend on q and v are to be added before solve_derivatives().
    """
    clear_matrix(by_q)
    clear_matrix(by_v)
    clear_matrix(by_tau)
    clear_matrix(rows_by_q)
    clear_matrix(rows_by_v)
    clear_matrix(errd_by_q)
    inverse_dynamics_derivatives(model, data, by_q, by_v, by_tau)
    differentiate_stabilization(model, data, cons, work, rows_by_q, rows_by_v)
    for c in range(cons.constraint_rows.shape[0]):
        if cons.row_kind[cons.constraint_rows[c, 0]] != COUPLER:
            differentiate_constraint(model, data, cons, work, c, by_q, rows_by_q, rows_by_v, errd_by_q)


@kernel
def solve_derivatives(model, cons, work, by_q, by_v, by_tau, force_by_q, force_by_v, force_by_tau):
    """After factorize_system, differentiate_equations: its results -> derivatives of vdot and of the multipliers."""
    for d in range(by_q.shape[0]):
        for k in range(by_q.shape[1]):
            by_q[d, k] = -by_q[d, k]
            by_v[d, k] = -by_v[d, k]
            by_tau[d, k] = 0.0
        by_tau[d, d] = 1.0
    clear_matrix(force_by_tau)
    solve_system_rows(model, cons, work, by_q, force_by_q)
    solve_system_rows(model, cons, work, by_v, force_by_v)
    solve_system_rows(model, cons, work, by_tau, force_by_tau)


@kernel
def solve_system_rows(model, cons, work, X, rows):
    """X (nv, n), rows (nrow, n) -> X, rows with H X' - G^T rows' = X, G X' = rows. After factorize_system."""
    solve_transposed_rows(model, cons, work, X)
    subtract_reduced_rows(cons, work, X, rows)
    solve_multiplier_rows(cons, work, rows)
    add_reduced_rows(cons, work, rows, X)
    solve_factor_rows(model, cons, work, X)


@kernel
def differentiate_stabilization(model, data, cons, work, rows_by_q, rows_by_v):
    """Subtracts the changes of 2 alpha errd by v and of beta^2 err by q. Leaves G as it was."""
    damp_rows(cons, work, rows_by_v)
    row_axes(model, data, cons, work, 1)  # err changes along other axes off the constraints
    constraint_jacobian(data, cons, work)
    draw_rows_back(cons, work, rows_by_q)
    row_axes(model, data, cons, work, 0)
    constraint_jacobian(data, cons, work)


@kernel
def damp_rows(cons, work, rows_by_v):
    """rows_by_v (nrow, nv) -= 2 alpha G."""
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
            for i in range(first, end):
                alpha = work.stabilization[i, 1]
                rows_by_v[cons.row_number[i], cons.support_dof[j]] -= 2.0 * alpha * work.G[entry + i - first]
            entry += end - first


@kernel
def draw_rows_back(cons, work, rows_by_q):
    """rows_by_q (nrow, nv) -= beta^2 G, but for contacts: their position error is zero everywhere."""
    for c in range(cons.constraint_rows.shape[0]):
        first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
        entry = cons.constraint_entry[c]
        if cons.row_kind[first] != CONTACT:
            for j in range(cons.constraint_support[c, 0], cons.constraint_support[c, 1]):
                for i in range(first, end):
                    beta = work.stabilization[i, 0]
                    rows_by_q[cons.row_number[i], cons.support_dof[j]] -= beta * beta * work.G[entry + i - first]
                entry += end - first


@kernel
def differentiate_constraint(model, data, cons, work, c, by_q, rows_by_q, rows_by_v, errd_by_q):
    """Subtracts the change of G^T lambda of constraint c from by_q; adds those of its rows of gamma - G vdot.

    After motion_derivatives. w, v are the relative twist at So, alpha and a its rate but for the turn of the axes.
    """
    p, s = cons.constraint_body[c, 0], cons.constraint_body[c, 1]
    first, end = cons.constraint_rows[c, 0], cons.constraint_rows[c, 1]
    r_S = successor_origin(data, cons, c)
    r_P = from_reference_of(model, data, r_S, s, p)
    w_S, v_S = velocity_at(data, s, r_S)
    w_P, v_P = velocity_at(data, p, r_P)
    w, v = subtract(w_S, w_P), subtract(v_S, v_P)
    alpha = subtract(row3(data.A, s, 0), row3(data.A, p, 0))
    a_S = acceleration_at(data, s, r_S, row3(data.A, s, 0), row3(data.A, s, 3))
    a_P = acceleration_at(data, p, r_P, row3(data.A, p, 0), row3(data.A, p, 3))
    a = subtract(subtract(a_S, a_P), cross(w_P, v))
    zero = scale(0.0, w)
    n, f, n_P, f_P = zero, zero, zero, zero  # torque and force at So: of all rows, of those that are fixed in P
    for i in range(first, end):
        n_row, f_row = (
            scale(work.force[i], row3(work.row_axis_W, i, 0)),
            scale(work.force[i], row3(work.row_axis_W, i, 3)),
        )
        n, f = add(n, n_row), add(f, f_row)
        if cons.row_kind[i] != DISTANCE and cons.row_kind[i] != PERPENDICULAR:
            n_P, f_P = add(n_P, n_row), add(f_P, f_row)
    first_place, past = cons.constraint_support[c, 0], cons.constraint_support[c, 1]
    for place in range(first_place, past):
        k, side = cons.support_dof[place], cons.support_side[place]
        if side != 1 and side != -1:
            continue
        w_k = row3(data.S, k, 0)
        if side == 1:
            moved = displacement_at(data, k, r_S)  # of So
            turn, turn_S, dw_P = zero, w_k, zero
            dw, dv = velocity_by_position(data, s, r_S, k)
            dalpha, da = acceleration_by_position(data, s, r_S, k, dw, dv)
            dv = add(dv, cross(w, moved))
            da = add(da, cross(alpha, moved))
            da = add(da, subtract(cross(w_S, cross(w_S, moved)), cross(w_P, cross(w_P, moved))))
            w_by_v, v_by_v = w_k, moved
            alpha_by_v, a_by_v = acceleration_by_velocity(data, s, r_S, k)
        else:
            moved = zero
            turn, turn_S = w_k, zero
            dw_P, dv_P = velocity_by_position(data, p, r_P, k)
            dalpha_P, da_P = acceleration_by_position(data, p, r_P, k, dw_P, dv_P)
            dw, dv, dalpha = scale(-1.0, dw_P), scale(-1.0, dv_P), scale(-1.0, dalpha_P)
            da = scale(-1.0, add(da_P, cross(dw_P, v)))
            w_by_v, v_by_v = scale(-1.0, w_k), scale(-1.0, displacement_at(data, k, r_P))
            alpha_P, acceleration_P = acceleration_by_velocity(data, p, r_P, k)
            alpha_by_v = scale(-1.0, alpha_P)
            a_by_v = scale(-1.0, add(acceleration_P, cross(w_k, v)))
        da = subtract(da, cross(w_P, dv))
        a_by_v = subtract(a_by_v, cross(w_P, v_by_v))
        # changes of the components in P, in world axes
        rate_w, rate_v = add(dw, cross(w, turn)), add(dv, cross(v, turn))
        e_w = add(add(dalpha, cross(dw, w_P)), add(cross(alpha, turn), cross(w, dw_P)))
        e_v = add(add(da, cross(dv, w_P)), add(cross(a, turn), cross(v, dw_P)))
        e_w, e_v = add(e_w, cross(cross(w, w_P), turn)), add(e_v, cross(cross(v, w_P), turn))
        h_w = add(add(alpha_by_v, cross(w_by_v, w_P)), cross(w, turn))
        h_v = add(add(a_by_v, cross(v_by_v, w_P)), cross(v, turn))
        dn, df = cross(turn, n_P), cross(turn, f_P)
        for i in range(first, end):
            kind, row = cons.row_kind[i], cons.row_number[i]
            A_w, A_v, damping = row3(work.row_axis_W, i, 0), row3(work.row_axis_W, i, 3), 2.0 * work.stabilization[i, 1]
            if kind == DISTANCE:
                r = separation(model, data, cons, c)
                dr = add(v_by_v, cross(turn, r))  # v_PS changes by the same by v
                v_PS = add(v, cross(w_P, r))
                dv_PS = add(add(dv, cross(dw_P, r)), cross(w_P, dr))
                per_length = 1.0 / cons.row_constant[i]
                change = per_length * (dot(dr, a) + dot(r, da) + dot(dv_PS, v) + dot(v_PS, dv))
                change_by_v = per_length * (dot(r, a_by_v) + dot(dr, v) + dot(v_PS, v_by_v))
                rate = per_length * (dot(dr, v) + dot(r, dv))
                df = add(df, scale(work.force[i] * per_length, dr))
            elif kind == PERPENDICULAR:
                x = from_components(axes_on_body(data, p, cons.constraint_X_BP, c), row3(cons.row_axis, i, 0))
                y = from_components(axes_on_body(data, s, cons.constraint_X_BS, c), row3(cons.row_second, i, 0))
                dx, dy, x_dot, y_dot = cross(turn, x), cross(turn_S, y), cross(w_P, x), cross(w_S, y)
                dx_dot = add(cross(dw_P, x), cross(w_P, dx))
                dy_dot = add(cross(add(dw, dw_P), y), cross(w_S, dy))
                A_dot = add(cross(y_dot, x), cross(y, x_dot))
                dA = add(cross(dy, x), cross(y, dx))
                dA_dot = add(add(cross(dy_dot, x), cross(y_dot, dx)), add(cross(dy, x_dot), cross(y, dx_dot)))
                change = dot(dA, alpha) + dot(A_w, dalpha) + dot(dA_dot, w) + dot(A_dot, dw)
                change_by_v = dot(A_w, alpha_by_v) + dot(dA, w) + dot(A_dot, w_by_v)
                rate = dot(dA, w) + dot(A_w, dw)
                dn = add(dn, scale(work.force[i], dA))
            else:
                change = dot(A_w, e_w) + dot(A_v, e_v)
                change_by_v = dot(A_w, h_w) + dot(A_v, h_v)
                rate = dot(A_w, rate_w) + dot(A_v, rate_v)
            rows_by_q[row, k] -= change + damping * rate
            rows_by_v[row, k] -= change_by_v
            errd_by_q[row, k] = rate
        dn = add(dn, cross(moved, f))
        for other in range(first_place, past):
            j, side_j = cons.support_dof[other], cons.support_side[other]
            if side_j == 1:
                by_q[j, k] -= dot(row3(data.S, j, 0), add(dn, cross(r_S, df))) + dot(row3(data.S, j, 3), df)
            elif side_j == -1:
                by_q[j, k] += dot(row3(data.S, j, 0), add(dn, cross(r_P, df))) + dot(row3(data.S, j, 3), df)
        r = r_S if side == 1 else r_P
        subtract_carried(model, data, cons, place, first_place, add(n, cross(r, f)), f, by_q)


@kernel
def subtract_carried(model, data, cons, place, first_place, n, f, by_q):
    """Subtracts what a torque n and a force f about Ro do along S_k x S_j, for all k that carry j, that at `place`."""
    j, side = cons.support_dof[place], cons.support_side[place]
    w_j, v_j = row3(data.S, j, 0), row3(data.S, j, 3)
    bent_w, bent_v = scale(1.0 * side, add(cross(w_j, n), cross(v_j, f))), scale(1.0 * side, cross(w_j, f))
    b = model.dof_body[j]
    start = model.body_v[b]
    for k in range(start, start + model.body_nv[b]):
        if model.axis_rotated_by[k, j - start] == 1:
            by_q[j, k] -= dot(row3(data.S, k, 0), bent_w) + dot(row3(data.S, k, 3), bent_v)
    at = place - (j - start)
    parent = cons.support_parent[at]
    while parent >= 0 and cons.support_side[first_place + parent] == side:
        k = cons.support_dof[first_place + parent]
        by_q[j, k] -= dot(row3(data.S, k, 0), bent_w) + dot(row3(data.S, k, 3), bent_v)
        parent = cons.support_parent[first_place + parent]
