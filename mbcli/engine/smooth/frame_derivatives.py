"""Derivatives of the motion of a frame in World by positions, velocities and accelerations.

By q along each velocity, as dynamics_derivatives.py has them: the frame's origin moves with S as well. By v (velocity)
and by vdot (acceleration) they are the Jacobian.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import frame_origin, velocity_at
from mbcli.engine.smooth.spatial import add, cross, row3, subtract


@kernel
def clear_six_rows(J):
    for k in range(6):
        for d in range(J.shape[1]):
            J[k, d] = 0.0


@kernel
def set_column(J, d, a, b):
    """Column d of J (6, nv) becomes a and b, three numbers each."""
    for k in range(3):
        J[k, d] = a[k]
        J[3 + k, d] = b[k]


@kernel
def frame_velocity_derivatives(model, data, f, dV_dq):
    """dV_dq (6, nv): spatial velocity of frame f in World by q along each velocity. After motion_derivatives."""
    clear_six_rows(dV_dq)
    b, r = model.frame_body[f], frame_origin(model, data, f)
    d = model.body_v[b] + model.body_nv[b] - 1  # -1 for World
    while d >= 0:
        dw, dv = velocity_by_position(data, b, r, d)
        dv = add(dv, cross(row3(data.V, b, 0), displacement_at(data, d, r)))
        set_column(dV_dq, d, dw, dv)
        d = model.dof_parent[d]


@kernel
def displacement_at(data, d, r):
    """Velocity of the point at r from Ro by one unit of velocity d, if that carries it."""
    return add(row3(data.S, d, 3), cross(row3(data.S, d, 0), r))


@kernel
def velocity_by_position(data, b, r, d):
    """Change of w and v of body b at r from Ro, a point of space, by the position that velocity d moves."""
    w, v, w_S, v_S = row3(data.V, b, 0), row3(data.V, b, 3), row3(data.S, d, 0), row3(data.S, d, 3)
    dw = subtract(row3(data.psi_dot, d, 0), cross(w, w_S))
    at_Ro = subtract(row3(data.psi_dot, d, 3), add(cross(w, v_S), cross(v, w_S)))
    return dw, add(at_Ro, cross(dw, r))


@kernel
def acceleration_by_position(data, b, r, d, dw, dv):
    """As velocity_by_position(), which gives dw and dv, of the angular and the classical acceleration."""
    w, v_r = velocity_at(data, b, r)
    v, alpha, a = row3(data.V, b, 3), row3(data.A, b, 0), row3(data.A, b, 3)
    w_S, v_S = row3(data.S, d, 0), row3(data.S, d, 3)
    w_P, v_P = row3(data.psi_dot, d, 0), row3(data.psi_dot, d, 3)
    # Q - A x S - V x P, then at r
    dalpha = subtract(row3(data.psi_ddot, d, 0), add(cross(alpha, w_S), cross(w, w_P)))
    at_Ro = subtract(row3(data.psi_ddot, d, 3), add(cross(alpha, v_S), cross(a, w_S)))
    at_Ro = subtract(at_Ro, add(cross(w, v_P), cross(v, w_P)))
    return dalpha, add(add(at_Ro, cross(dalpha, r)), add(cross(dw, v_r), cross(w, dv)))


@kernel
def acceleration_by_velocity(data, b, r, d):
    """Change of the angular and the classical acceleration of body b at r from Ro by velocity d, which carries b."""
    w, v_r = velocity_at(data, b, r)
    v, w_S, v_S = row3(data.V, b, 3), row3(data.S, d, 0), row3(data.S, d, 3)
    # dS/dt + P - V x S, likewise
    dalpha = subtract(row3(data.A_by_v, d, 0), cross(w, w_S))
    at_Ro = subtract(row3(data.A_by_v, d, 3), add(cross(w, v_S), cross(v, w_S)))
    return dalpha, add(add(at_Ro, cross(dalpha, r)), add(cross(w_S, v_r), cross(w, displacement_at(data, d, r))))


@kernel
def frame_acceleration_derivatives(model, data, f, dA_dq, dA_dv):
    """dA_dq, dA_dv (6, nv): classical acceleration of frame f in World by q along each velocity, and by v.

    After motion_derivatives at accelerations without gravity.
    """
    clear_six_rows(dA_dq)
    clear_six_rows(dA_dv)
    b, r = model.frame_body[f], frame_origin(model, data, f)
    w, alpha = row3(data.V, b, 0), row3(data.A, b, 0)
    d = model.body_v[b] + model.body_nv[b] - 1
    while d >= 0:
        dw, dv = velocity_by_position(data, b, r, d)
        dalpha, da = acceleration_by_position(data, b, r, d, dw, dv)
        moved = displacement_at(data, d, r)
        da = add(da, add(cross(alpha, moved), cross(w, cross(w, moved))))
        set_column(dA_dq, d, dalpha, da)
        dalpha, da = acceleration_by_velocity(data, b, r, d)
        set_column(dA_dv, d, dalpha, da)
        d = model.dof_parent[d]
