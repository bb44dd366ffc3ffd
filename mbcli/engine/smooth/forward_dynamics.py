"""Accelerations by the articulated-body algorithm (Featherstone 2008, section 7.3), linear in the number of bodies."""

from mbcli.engine.runtime.kernel import kernel, slot
from mbcli.engine.smooth.inertia import gravity_vector, inertia_times, weight_about_reference
from mbcli.engine.smooth.spatial import add, add_row6, cross, dot, row3, scale, set_row3, subtract

INFINITE = float("inf")


@kernel
def forward_dynamics(model, data):
    """vdot of (M + diag(diagonal)) vdot = tau + tau_g - C v + sum J^T F_applied; tau in, vdot out.

    After velocity_kinematics and world_inertias. `diagonal` holds the reflected inertias, and whatever a time step adds
    to them. A joint of several velocities is taken one velocity after another, as if massless bodies stood between
    them: the eliminations compose to that of the whole joint.
    """
    start_articulated(model, data)
    parent, body_v, body_nv = model.body_parent, model.body_v, model.body_nv
    P, F, A, A_bias, S, U = data.articulated, data.F_articulated, data.A, data.A_bias, data.S, data.U
    for b in range(parent.shape[0] - 1, 0, -1):
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
    for k in range(3):
        A[0, k] = 0.0
        A[0, 3 + k] = -model.uniform_gravity[0] * model.gravity[k]
    for b in range(1, parent.shape[0]):
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
    """As forward_dynamics(); in plants with constraints under these, over a step h or, with h = 0, at this instant."""
    forward_dynamics(model, data)


@kernel
def hold_locked(model, data):
    """Makes `diagonal` infinite if a joint is locked: forward_dynamics() then treats the joint as a weld, exactly.

    Quotients by it vanish: the accelerations, and all that eliminate() would take from the body.
    """
    for k in range(model.locked_dof.shape[0]):
        data.diagonal[model.locked_dof[k]] = INFINITE


@kernel
def start_articulated(model, data):
    """Articulated inertia and bias force of each body alone: its own inertia, its velocity forces, applied forces."""
    I, P, F, V = data.inertia, data.articulated, data.F_articulated, data.V
    weights = model.uniform_gravity[0] == 0
    for b in range(1, I.shape[0]):
        m, hx, hy, hz = I[b, 0], I[b, 1], I[b, 2], I[b, 3]
        # upper triangle row by row of [[I, h x], [-h x, m]]
        P[b, 0], P[b, 1], P[b, 2], P[b, 3], P[b, 4], P[b, 5] = I[b, 4], I[b, 7], I[b, 8], 0.0, -hz, hy
        P[b, 6], P[b, 7], P[b, 8], P[b, 9], P[b, 10] = I[b, 5], I[b, 9], hz, 0.0, -hx
        P[b, 11], P[b, 12], P[b, 13], P[b, 14] = I[b, 6], -hy, hx, 0.0
        P[b, 15], P[b, 16], P[b, 17] = m, 0.0, 0.0
        P[b, 18], P[b, 19], P[b, 20] = m, 0.0, m
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
