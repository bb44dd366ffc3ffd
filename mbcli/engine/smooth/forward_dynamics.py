"""Accelerations by the articulated-body algorithm (Featherstone 2008, section 7.3), linear in the number of bodies."""

from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.element_rows import resist_with_elements
from mbcli.engine.smooth.inertia import gravity_vector, inertia_times, weight_about_reference
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import add, add_row6, clear_rows, cross, dot, row3, scale, set_row3, subtract

INFINITE = float("inf")


@slot(numbers=INJECTED)
def forward_dynamics(model, data):
    """vdot of (M + diag(diagonal)) vdot = tau + tau_g - C v + sum J^T F_applied; tau in, vdot out.

    After velocity_kinematics and world_inertias. `diagonal` holds the reflected inertias, and whatever a time step adds
    to them. A joint of several velocities is taken one velocity after another, as if massless bodies stood between
    them: the eliminations compose to that of the whole joint. The six of a body that is free in World go at once.
    """
    start_articulated(model, data)
    for k in range(3):
        data.A[0, k] = 0.0
        data.A[0, 3 + k] = -model.uniform_gravity[0] * model.gravity[k]
    parent, body_v, body_nv = model.body_parent, model.body_v, model.body_nv
    P, F, A_bias = data.articulated, data.F_articulated, data.A_bias
    for b in range(parent.shape[0] - 1, 0, -1):
        if is_asleep(data, b):
            continue
        if model.body_free[b] == 1:
            accelerate_free(model, data, b)
            continue
        for d in range(body_v[b] + body_nv[b] - 1, body_v[b] - 1, -1):
            eliminate(data, b, d)
        if parent[b] != 0:
            torque, force = articulated_times(P, b, row3(A_bias, b, 0), row3(A_bias, b, 3))
            set_row3(F, b, 0, add(row3(F, b, 0), torque))
            set_row3(F, b, 3, add(row3(F, b, 3), force))
            p = parent[b]
            for k in range(21):
                P[p, k] += P[b, k]
            add_row6(F, p, b)
    accelerate_outwards(model, data)


@slot(numbers=INJECTED)
def forward_dynamics_again(model, data):
    """After forward_dynamics(), then velocity_kinematics with other velocities: vdot, by the factors that are known."""
    start_forces(model, data)
    parent, body_v, body_nv = model.body_parent, model.body_v, model.body_nv
    P, F, A_bias, S, U = data.articulated, data.F_articulated, data.A_bias, data.S, data.U
    for b in range(parent.shape[0] - 1, 0, -1):
        if is_asleep(data, b):
            continue
        if model.body_free[b] == 1:
            accelerate_free(model, data, b)
            continue
        for d in range(body_v[b] + body_nv[b] - 1, body_v[b] - 1, -1):
            residual = data.tau[d] - dot(row3(S, d, 0), row3(F, b, 0)) - dot(row3(S, d, 3), row3(F, b, 3))
            data.tau_residual[d] = residual
            share = residual / data.D[d]
            set_row3(F, b, 0, add(row3(F, b, 0), scale(share, row3(U, d, 0))))
            set_row3(F, b, 3, add(row3(F, b, 3), scale(share, row3(U, d, 3))))
        if parent[b] != 0:
            torque, force = articulated_times(P, b, row3(A_bias, b, 0), row3(A_bias, b, 3))
            set_row3(F, b, 0, add(row3(F, b, 0), torque))
            set_row3(F, b, 3, add(row3(F, b, 3), force))
            add_row6(F, parent[b], b)
    accelerate_outwards(model, data)


@kernel
def accelerate_outwards(model, data):
    """After the articulated bodies: vdot and A from World outwards. Free bodies have theirs."""
    parent, body_v, body_nv = model.body_parent, model.body_v, model.body_nv
    A, A_bias, S, U = data.A, data.A_bias, data.S, data.U
    for b in range(1, parent.shape[0]):
        if model.body_free[b] == 1 or is_asleep(data, b):
            continue
        alpha = add(row3(A, parent[b], 0), row3(A_bias, b, 0))
        a = add(row3(A, parent[b], 3), row3(A_bias, b, 3))
        for d in range(body_v[b], body_v[b] + body_nv[b]):
            along = dot(row3(U, d, 0), alpha) + dot(row3(U, d, 3), a)
            vdot = (data.tau_residual[d] - along) / data.D[d]
            data.vdot[d] = vdot
            alpha = add(alpha, scale(vdot, row3(S, d, 0)))
            a = add(a, scale(vdot, row3(S, d, 3)))
        set_row3(A, b, 0, alpha)
        set_row3(A, b, 3, a)


@slot(constrained="constraints.constrained_motion.constrained_accelerations")
def accelerations(model, data, h):
    """As forward_dynamics(), over a step h with the changes of forces of elements, or, with h = 0, at this instant.

    In plants with constraints under these.
    """
    forward_dynamics(model, data)
    if h > 0.0:
        resist_with_elements(model, data, h)


@kernel
def apply_joint_locks(model, data):
    """Makes `diagonal` infinite if a joint is locked: forward_dynamics() then treats the joint as a weld, exactly.

    Quotients by it vanish: the accelerations, and all that eliminate() would take from the body.
    """
    for k in range(model.locked_dof.shape[0]):
        data.diagonal[model.locked_dof[k]] = INFINITE


@kernel
def stop_locked(model, v):
    """The velocities (nv,) of locked joints become 0."""
    for k in range(model.locked_dof.shape[0]):
        v[model.locked_dof[k]] = 0.0


@kernel
def start_articulated(model, data):
    """Articulated inertia and bias force of each body alone."""
    I, P = data.inertia, data.articulated
    start_forces(model, data)
    for b in range(1, I.shape[0]):
        if is_asleep(data, b):
            continue
        m, hx, hy, hz = I[b, 0], I[b, 1], I[b, 2], I[b, 3]
        # upper triangle row by row of [[I, h x], [-h x, m]]
        P[b, 0], P[b, 1], P[b, 2], P[b, 3], P[b, 4], P[b, 5] = I[b, 4], I[b, 7], I[b, 8], 0.0, -hz, hy
        P[b, 6], P[b, 7], P[b, 8], P[b, 9], P[b, 10] = I[b, 5], I[b, 9], hz, 0.0, -hx
        P[b, 11], P[b, 12], P[b, 13], P[b, 14] = I[b, 6], -hy, hx, 0.0
        P[b, 15], P[b, 16], P[b, 17] = m, 0.0, 0.0
        P[b, 18], P[b, 19], P[b, 20] = m, 0.0, m


@kernel
def start_forces(model, data):
    """Bias force of each body alone: its velocity forces and what is applied."""
    I, F, V = data.inertia, data.F_articulated, data.V
    weights = model.uniform_gravity[0] == 0
    for b in range(1, I.shape[0]):
        if is_asleep(data, b):
            continue
        w, v = row3(V, b, 0), row3(V, b, 3)
        h, l = inertia_times(I, b, w, v)
        torque = add(cross(w, h), cross(v, l))
        force = cross(w, l)
        if weights:
            m_g, h_g = weight_about_reference(model, data, b)
            torque = subtract(torque, cross(h_g, gravity_vector(model)))
            force = subtract(force, scale(m_g, gravity_vector(model)))
        set_row3(F, b, 0, subtract(torque, row3(data.F_applied, b, 0)))
        set_row3(F, b, 3, subtract(force, row3(data.F_applied, b, 3)))


@kernel
def articulated_times(P, b, w, v):
    """Row b of articulated inertias times the motion vector (w, v)."""
    torque = (
        P[b, 0] * w[0] + P[b, 1] * w[1] + P[b, 2] * w[2] + P[b, 3] * v[0] + P[b, 4] * v[1] + P[b, 5] * v[2],
        P[b, 1] * w[0] + P[b, 6] * w[1] + P[b, 7] * w[2] + P[b, 8] * v[0] + P[b, 9] * v[1] + P[b, 10] * v[2],
        P[b, 2] * w[0] + P[b, 7] * w[1] + P[b, 11] * w[2] + P[b, 12] * v[0] + P[b, 13] * v[1] + P[b, 14] * v[2],
    )
    force = (
        P[b, 3] * w[0] + P[b, 8] * w[1] + P[b, 12] * w[2] + P[b, 15] * v[0] + P[b, 16] * v[1] + P[b, 17] * v[2],
        P[b, 4] * w[0] + P[b, 9] * w[1] + P[b, 13] * w[2] + P[b, 16] * v[0] + P[b, 18] * v[1] + P[b, 19] * v[2],
        P[b, 5] * w[0] + P[b, 10] * w[1] + P[b, 14] * w[2] + P[b, 17] * v[0] + P[b, 19] * v[1] + P[b, 20] * v[2],
    )
    return torque, force


@kernel
def eliminate(data, b, d):
    """Free the articulated body b along velocity d: the rest is felt inboard of d."""
    P, F, S = data.articulated, data.F_articulated, data.S
    w, v = row3(S, d, 0), row3(S, d, 3)
    x, y = articulated_times(P, b, w, v)
    D = dot(w, x) + dot(v, y) + data.diagonal[d]
    residual = data.tau[d] - dot(w, row3(F, b, 0)) - dot(v, row3(F, b, 3))
    set_row3(data.U, d, 0, x)
    set_row3(data.U, d, 3, y)
    data.D[d] = D
    data.tau_residual[d] = residual
    s = 1.0 / D
    u0, u1, u2, u3, u4, u5 = s * x[0], s * x[1], s * x[2], s * y[0], s * y[1], s * y[2]
    P[b, 0] -= u0 * x[0]
    P[b, 1] -= u0 * x[1]
    P[b, 2] -= u0 * x[2]
    P[b, 3] -= u0 * y[0]
    P[b, 4] -= u0 * y[1]
    P[b, 5] -= u0 * y[2]
    P[b, 6] -= u1 * x[1]
    P[b, 7] -= u1 * x[2]
    P[b, 8] -= u1 * y[0]
    P[b, 9] -= u1 * y[1]
    P[b, 10] -= u1 * y[2]
    P[b, 11] -= u2 * x[2]
    P[b, 12] -= u2 * y[0]
    P[b, 13] -= u2 * y[1]
    P[b, 14] -= u2 * y[2]
    P[b, 15] -= u3 * y[0]
    P[b, 16] -= u3 * y[1]
    P[b, 17] -= u3 * y[2]
    P[b, 18] -= u4 * y[1]
    P[b, 19] -= u4 * y[2]
    P[b, 20] -= u5 * y[2]
    F[b, 0] += residual * u0
    F[b, 1] += residual * u1
    F[b, 2] += residual * u2
    F[b, 3] += residual * u3
    F[b, 4] += residual * u4
    F[b, 5] += residual * u5


@kernel
def accelerate_free(model, data, b):
    """The six vdot of a body that is free in World, and its row of A: (P + diagonal) vdot = tau - F - P A_bias.

    P = L^T D L from the last velocity to the first. What eliminate() leaves is left for others: D, and in U the rows of
    D L before the diagonal.
    """
    P, F, A, U, D, tau, diagonal = data.articulated, data.F_articulated, data.A, data.U, data.D, data.tau, data.diagonal
    d = model.body_v[b]
    alpha = add(row3(A, 0, 0), row3(data.A_bias, b, 0))
    a = add(row3(A, 0, 3), row3(data.A_bias, b, 3))
    torque, force = articulated_times(P, b, alpha, a)
    r0 = tau[d] - F[b, 0] - torque[0]
    r1 = tau[d + 1] - F[b, 1] - torque[1]
    r2 = tau[d + 2] - F[b, 2] - torque[2]
    r3 = tau[d + 3] - F[b, 3] - force[0]
    r4 = tau[d + 4] - F[b, 4] - force[1]
    r5 = tau[d + 5] - F[b, 5] - force[2]
    a00, a10, a20, a30, a40, a50 = P[b, 0] + diagonal[d], P[b, 1], P[b, 2], P[b, 3], P[b, 4], P[b, 5]
    a11, a21, a31, a41, a51 = P[b, 6] + diagonal[d + 1], P[b, 7], P[b, 8], P[b, 9], P[b, 10]
    a22, a32, a42, a52 = P[b, 11] + diagonal[d + 2], P[b, 12], P[b, 13], P[b, 14]
    a33, a43, a53 = P[b, 15] + diagonal[d + 3], P[b, 16], P[b, 17]
    a44, a54, a55 = P[b, 18] + diagonal[d + 4], P[b, 19], P[b, 20] + diagonal[d + 5]
    s5 = 1.0 / a55
    l0, l1, l2, l3, l4 = s5 * a50, s5 * a51, s5 * a52, s5 * a53, s5 * a54
    r0, r1, r2, r3, r4 = r0 - l0 * r5, r1 - l1 * r5, r2 - l2 * r5, r3 - l3 * r5, r4 - l4 * r5
    a00, a10, a20, a30, a40 = a00 - l0 * a50, a10 - l0 * a51, a20 - l0 * a52, a30 - l0 * a53, a40 - l0 * a54
    a11, a21, a31, a41 = a11 - l1 * a51, a21 - l1 * a52, a31 - l1 * a53, a41 - l1 * a54
    a22, a32, a42 = a22 - l2 * a52, a32 - l2 * a53, a42 - l2 * a54
    a33, a43, a44 = a33 - l3 * a53, a43 - l3 * a54, a44 - l4 * a54
    s4 = 1.0 / a44
    l0, l1, l2, l3 = s4 * a40, s4 * a41, s4 * a42, s4 * a43
    r0, r1, r2, r3 = r0 - l0 * r4, r1 - l1 * r4, r2 - l2 * r4, r3 - l3 * r4
    a00, a10, a20, a30 = a00 - l0 * a40, a10 - l0 * a41, a20 - l0 * a42, a30 - l0 * a43
    a11, a21, a31 = a11 - l1 * a41, a21 - l1 * a42, a31 - l1 * a43
    a22, a32, a33 = a22 - l2 * a42, a32 - l2 * a43, a33 - l3 * a43
    s3 = 1.0 / a33
    l0, l1, l2 = s3 * a30, s3 * a31, s3 * a32
    r0, r1, r2 = r0 - l0 * r3, r1 - l1 * r3, r2 - l2 * r3
    a00, a10, a20 = a00 - l0 * a30, a10 - l0 * a31, a20 - l0 * a32
    a11, a21, a22 = a11 - l1 * a31, a21 - l1 * a32, a22 - l2 * a32
    s2 = 1.0 / a22
    l0, l1 = s2 * a20, s2 * a21
    r0, r1 = r0 - l0 * r2, r1 - l1 * r2
    a00, a10, a11 = a00 - l0 * a20, a10 - l0 * a21, a11 - l1 * a21
    s1 = 1.0 / a11
    l0 = s1 * a10
    r0, a00 = r0 - l0 * r1, a00 - l0 * a10
    v0 = r0 / a00
    v1 = s1 * (r1 - a10 * v0)
    v2 = s2 * (r2 - a20 * v0 - a21 * v1)
    v3 = s3 * (r3 - a30 * v0 - a31 * v1 - a32 * v2)
    v4 = s4 * (r4 - a40 * v0 - a41 * v1 - a42 * v2 - a43 * v3)
    v5 = s5 * (r5 - a50 * v0 - a51 * v1 - a52 * v2 - a53 * v3 - a54 * v4)
    set_row3(A, b, 0, add(alpha, (v0, v1, v2)))
    set_row3(A, b, 3, add(a, (v3, v4, v5)))
    clear_rows(U, d, 6)
    U[d + 1, 0] = a10
    U[d + 2, 0], U[d + 2, 1] = a20, a21
    U[d + 3, 0], U[d + 3, 1], U[d + 3, 2] = a30, a31, a32
    U[d + 4, 0], U[d + 4, 1], U[d + 4, 2], U[d + 4, 3] = a40, a41, a42, a43
    U[d + 5, 0], U[d + 5, 1], U[d + 5, 2], U[d + 5, 3], U[d + 5, 4] = a50, a51, a52, a53, a54
    D[d], D[d + 1], D[d + 2], D[d + 3], D[d + 4], D[d + 5] = a00, a11, a22, a33, a44, a55
    data.vdot[d], data.vdot[d + 1], data.vdot[d + 2] = v0, v1, v2
    data.vdot[d + 3], data.vdot[d + 4], data.vdot[d + 5] = v3, v4, v5
    residual = data.tau_residual
    residual[d], residual[d + 1], residual[d + 2] = r0, r1, r2
    residual[d + 3], residual[d + 4], residual[d + 5] = r3, r4, r5
