"""Derivatives of inverse and forward dynamics by positions, velocities and accelerations or forces.

Recursive closed forms after Carpentier and Mansard (Robotics: Science and Systems 2018) and Singh, Russell and Wensing
(IEEE Robotics and Automation Letters 7, 2022), here for all spatial quantities of a tree about one point in world axes
and for joints of several velocities whose axes may carry each other.

A derivative by q is one along the motion that one unit of a velocity k causes: bodies outboard of k move with S_k, and
so do the axes that k carries. Along it, with x the cross product of motion vectors,

    dS_j = S_k x S_j,  dV_b = P_k - V_b x S_k,  dA_b = Q_k - A_b x S_k - V_b x P_k,
    P_k = U x S_k,  Q_k = B x S_k + U x P_k

for axes j that k carries and bodies b outboard; U and B are the velocity and the acceleration of all that k does not
carry. The force F_b = I A + V x* I V of a body then changes by S_k x* F_b + I Q_k + N P_k, where N(w, v) =
(dI/dt w - L x w, -2 l x w) with the rate of the rotational inertia, the angular momentum L and the linear one l. By v_k
it changes by I (dS_k/dt + P_k) + N S_k. I, N and F add up over the bodies outboard, so each pair of velocities of which
one carries the other takes a few products.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.force_elements import add_hinge_derivatives
from mbcli.engine.smooth.forward_dynamics import forward_dynamics
from mbcli.engine.smooth.inertia import gravity_vector, inertia_times, weight_about_reference
from mbcli.engine.smooth.inverse_dynamics import newton_euler, subtract_weights
from mbcli.engine.smooth.kinematics import acceleration_kinematics
from mbcli.engine.smooth.mass_matrix import composite_inertias
from mbcli.engine.smooth.rotations.quaternion import add_rotation_vector_slopes
from mbcli.engine.smooth.spatial import (
    add,
    add_row6,
    cross,
    dot,
    row3,
    scale,
    set_row3,
    subtract,
    symmetric_times,
)
from mbcli.engine.smooth.stops import add_stop_derivatives
from mbcli.engine.smooth.tree_factorization import factorize_dense, solve_dense_rows


@kernel
def inverse_dynamics_derivatives(model, data, dtau_dq, dtau_dv, M):
    """vdot -> derivatives (nv, nv) of tau by q along each velocity and by v, and M, under gravity alone.

    After velocity_kinematics and world_inertias, with no F_applied. Elements of velocities of which neither carries
    the other stay as they are: zero.
    """
    for k in range(3):
        data.A[0, k] = 0.0
        data.A[0, 3 + k] = -model.uniform_gravity[0] * model.gravity[k]
    acceleration_kinematics(model, data)
    motion_derivatives(model, data)
    newton_euler(model, data)
    if model.uniform_gravity[0] == 0:
        subtract_weights(model, data)
    momentum_rates(model, data)
    composite_inertias(model, data)
    parent, F, rate = model.body_parent, data.F, data.momentum_rate
    for b in range(parent.shape[0] - 1, 0, -1):
        derivatives_of_joint(model, data, b, dtau_dq, dtau_dv, M)
        if model.body_nv[b] > 1:
            correct_within_joint(model, data, b, dtau_dq)
        p = parent[b]
        if p != 0:
            add_row6(F, p, b)
            for k in range(12):
                rate[p, k] += rate[b, k]
    if model.uniform_gravity[0] == 0:
        add_weight_derivatives(model, data, dtau_dq)


@kernel
def motion_derivatives(model, data):
    """After acceleration_kinematics -> psi_dot (P), psi_ddot (Q), A_by_v (dS/dt + P)."""
    parent, body_v, body_nv = model.body_parent, model.body_v, model.body_nv
    S, V, A, P, Q, T = data.S, data.V, data.A, data.psi_dot, data.psi_ddot, data.A_by_v
    for b in range(1, parent.shape[0]):
        p, first = parent[b], body_v[b]
        if body_nv[b] > 1:
            motion_derivatives_of_joint(model, data, b)
        else:
            set_motion_derivatives(P, Q, S, first, row3(V, p, 0), row3(V, p, 3), row3(A, p, 0), row3(A, p, 3))
            set_row3(T, first, 0, scale(2.0, row3(P, first, 0)))
            set_row3(T, first, 3, scale(2.0, row3(P, first, 3)))


@kernel
def set_motion_derivatives(P, Q, S, d, w_U, v_U, alpha, a):
    """Row d of psi_dot and psi_ddot from the velocity and the acceleration of what d does not carry."""
    w, v = row3(S, d, 0), row3(S, d, 3)
    w_P, v_P = cross(w_U, w), add(cross(w_U, v), cross(v_U, w))
    set_row3(P, d, 0, w_P)
    set_row3(P, d, 3, v_P)
    set_row3(Q, d, 0, add(cross(alpha, w), cross(w_U, w_P)))
    linear = add(add(cross(alpha, v), cross(a, w)), add(cross(w_U, v_P), cross(v_U, w_P)))
    set_row3(Q, d, 3, linear)


@kernel
def motion_derivatives_of_joint(model, data, b):
    """motion_derivatives() of a joint of several velocities."""
    S, V, A, T = data.S, data.V, data.A, data.A_by_v
    p, first = model.body_parent[b], model.body_v[b]
    past = first + model.body_nv[b]
    for d in range(first, past):  # T = dS/dt
        w, v = row3(V, p, 0), row3(V, p, 3)
        for e in range(first, past):
            if model.axis_rotated_by[e, d - first] == 1:
                w = add(w, scale(data.v[e], row3(S, e, 0)))
                v = add(v, scale(data.v[e], row3(S, e, 3)))
        set_row3(T, d, 0, cross(w, row3(S, d, 0)))
        set_row3(T, d, 3, add(cross(w, row3(S, d, 3)), cross(v, row3(S, d, 0))))
    for d in range(first, past):
        w, v, alpha, a = row3(V, p, 0), row3(V, p, 3), row3(A, p, 0), row3(A, p, 3)
        for e in range(first, past):
            if model.axis_rotated_by[d, e - first] == 0:
                s, s_dot = data.v[e], data.vdot[e]
                w = add(w, scale(s, row3(S, e, 0)))
                v = add(v, scale(s, row3(S, e, 3)))
                alpha = add(alpha, add(scale(s_dot, row3(S, e, 0)), scale(s, row3(T, e, 0))))
                a = add(a, add(scale(s_dot, row3(S, e, 3)), scale(s, row3(T, e, 3))))
        set_motion_derivatives(data.psi_dot, data.psi_ddot, S, d, w, v, alpha, a)
    for d in range(first, past):
        add_row6_of(T, d, data.psi_dot, d)


@kernel
def add_row6_of(A, i, B, j):
    """A[i] += B[j] for rows of 6 numbers."""
    set_row3(A, i, 0, add(row3(A, i, 0), row3(B, j, 0)))
    set_row3(A, i, 3, add(row3(A, i, 3), row3(B, j, 3)))


@kernel
def momentum_rates(model, data):
    """After velocity_kinematics, world_inertias -> momentum_rate of each body alone."""
    I, V, rate = data.inertia, data.V, data.momentum_rate
    for b in range(1, I.shape[0]):
        w, v, h = row3(V, b, 0), row3(V, b, 3), row3(I, b, 1)
        L, l = inertia_times(I, b, w, v)
        x = cross(w, (I[b, 4], I[b, 7], I[b, 8]))
        y = cross(w, (I[b, 7], I[b, 5], I[b, 9]))
        z = cross(w, (I[b, 8], I[b, 9], I[b, 6]))
        along = 2.0 * dot(v, h)
        rate[b, 0] = 2.0 * (x[0] - h[0] * v[0]) + along
        rate[b, 1] = 2.0 * (y[1] - h[1] * v[1]) + along
        rate[b, 2] = 2.0 * (z[2] - h[2] * v[2]) + along
        rate[b, 3] = y[0] + x[1] - h[0] * v[1] - h[1] * v[0]
        rate[b, 4] = z[0] + x[2] - h[0] * v[2] - h[2] * v[0]
        rate[b, 5] = z[1] + y[2] - h[1] * v[2] - h[2] * v[1]
        set_row3(rate, b, 6, L)
        set_row3(rate, b, 9, l)


@kernel
def derivatives_of_joint(model, data, b, dtau_dq, dtau_dv, M):
    """Elements of the velocities of joint b and those that carry it, by quantities of all that is outboard of it."""
    dof_parent, S, P, Q, T = model.dof_parent, data.S, data.psi_dot, data.psi_ddot, data.A_by_v
    C, rate, L, l = data.composite, data.momentum_rate, row3(data.momentum_rate, b, 6), row3(data.momentum_rate, b, 9)
    F_n, F_f = row3(data.F, b, 0), row3(data.F, b, 3)
    for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
        w, v = row3(S, d, 0), row3(S, d, 3)
        torque, force = inertia_times(C, b, w, v)
        turning = symmetric_times(rate, b, 0, w)
        bent = add(add(turning, cross(L, w)), scale(2.0, cross(l, v)))  # the transpose of N, times S
        # force outboard of b by the position, then by the velocity
        w_P = row3(P, d, 0)
        n_q, f_q = inertia_times(C, b, row3(Q, d, 0), row3(Q, d, 3))
        n_q = add(n_q, add(cross(w, F_n), cross(v, F_f)))
        n_q = add(n_q, subtract(symmetric_times(rate, b, 0, w_P), cross(L, w_P)))
        f_q = add(f_q, subtract(cross(w, F_f), scale(2.0, cross(l, w_P))))
        n_v, f_v = inertia_times(C, b, row3(T, d, 0), row3(T, d, 3))
        n_v = add(n_v, subtract(turning, cross(L, w)))
        f_v = subtract(f_v, scale(2.0, cross(l, w)))
        e = d
        while e >= 0:
            w, v = row3(S, e, 0), row3(S, e, 3)
            dtau_dq[e, d] = dot(w, n_q) + dot(v, f_q)
            dtau_dv[e, d] = dot(w, n_v) + dot(v, f_v)
            dtau_dq[d, e] = dot(torque, row3(Q, e, 0)) + dot(force, row3(Q, e, 3)) + dot(bent, row3(P, e, 0))
            dtau_dv[d, e] = dot(torque, row3(T, e, 0)) + dot(force, row3(T, e, 3)) + dot(bent, w)
            along = dot(w, torque) + dot(v, force)
            M[d, e] = along
            M[e, d] = along
            e = dof_parent[e]
        M[d, d] += model.dof_armature[d]


@kernel
def correct_within_joint(model, data, b, dtau_dq):
    """What derivatives_of_joint() takes otherwise between velocities of one joint than it is."""
    S, first = data.S, model.body_v[b]
    n, f = row3(data.F, b, 0), row3(data.F, b, 3)
    for d in range(first + 1, first + model.body_nv[b]):
        w, v = row3(S, d, 0), row3(S, d, 3)
        for e in range(first, d):
            w_e, v_e = row3(S, e, 0), row3(S, e, 3)
            across = dot(cross(w_e, w), n) + dot(add(cross(w_e, v), cross(v_e, w)), f)
            if model.axis_rotated_by[e, d - first] == 0:
                dtau_dq[d, e] -= across
            if model.axis_rotated_by[d, e - first] == 1:
                dtau_dq[e, d] -= across


@kernel
def add_weight_derivatives(model, data, dtau_dq):
    """The weights' part of dtau_dq beyond S x* F, where they are not the same acceleration of all mass.

    The weight of a body is its mass and first moment under gravity times an acceleration of World: the part A x S_k
    of Q_k with those in place of I. Uses momentum_rate.
    """
    parent, dof_parent, S, weight = model.body_parent, model.dof_parent, data.S, data.momentum_rate
    g = gravity_vector(model)
    for b in range(1, parent.shape[0]):
        weight[b, 0], h = weight_about_reference(model, data, b)
        set_row3(weight, b, 1, h)
    for b in range(parent.shape[0] - 1, 0, -1):
        m, h = weight[b, 0], row3(weight, b, 1)
        for d in range(model.body_v[b], model.body_v[b] + model.body_nv[b]):
            w, v = row3(S, d, 0), row3(S, d, 3)
            a = cross(w, g)
            torque, force = cross(h, a), scale(m, a)
            along = cross(g, subtract(scale(m, v), cross(h, w)))
            e = d
            while e >= 0:
                w, v = row3(S, e, 0), row3(S, e, 3)
                dtau_dq[e, d] += dot(w, torque) + dot(v, force)
                if e != d:
                    dtau_dq[d, e] += dot(along, w)
                e = dof_parent[e]
        p = parent[b]
        if p != 0:
            for k in range(4):
                weight[p, k] += weight[b, k]


@kernel
def add_joint_force_derivatives(model, data, dtau_dq, dtau_dv):
    """Adds what springs, damping, hinges and stops of joints add to the derivatives of tau."""
    for d in range(data.v.shape[0]):
        if model.dof_ball[d, 0] < 0:
            dtau_dq[d, d] += model.dof_stiffness[d]
        elif model.dof_ball[d, 1] == 0:
            add_rotation_vector_slopes(data.q, model.dof_ball[d, 0], model.dof_stiffness[d], dtau_dq, d)
        dtau_dv[d, d] += model.dof_damping[d]
    add_hinge_derivatives(model, data, dtau_dq, dtau_dv)
    add_stop_derivatives(model, data, dtau_dq, dtau_dv)


@kernel
def forward_dynamics_derivatives(model, data, dvdot_dq, dvdot_dv, Minv):
    """tau -> vdot and its derivatives (nv, nv) by q along each velocity, by v and by tau, under gravity and in joints.

    After velocity_kinematics, world_inertias; tau holds the forces of joints too. `diagonal` is that of
    forward_dynamics(), with no F_applied. The matrices are zero at first. With tau of inverse dynamics at vdot:
    dvdot = -Minv dtau.
    """
    M, D = data.M, data.D
    forward_dynamics(model, data)
    clear_matrix(M)
    inverse_dynamics_derivatives(model, data, dvdot_dq, dvdot_dv, M)
    add_joint_force_derivatives(model, data, dvdot_dq, dvdot_dv)
    for d in range(D.shape[0]):
        M[d, d] += data.diagonal[d] - model.dof_armature[d]
        Minv[d, d] = 1.0
    factorize_dense(model, M, D)
    solve_dense_rows(model, M, D, dvdot_dq, -1.0)
    solve_dense_rows(model, M, D, dvdot_dv, -1.0)
    solve_dense_rows(model, M, D, Minv, 1.0)


@kernel
def clear_matrix(A):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 0.0
