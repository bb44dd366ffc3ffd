"""Poses, velocities and accelerations of all bodies, from World outwards."""

from mbcli.engine.runtime.kernel import INJECTED, kernel, slot
from mbcli.engine.smooth.joints.mobilizers import joint_bias, joint_place, place_free, place_general
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import add, cross, rotate, row3, scale, set_row3
from mbcli.engine.smooth.trigonometry import sine_and_cosine


@slot(python=INJECTED)
def position_kinematics(model, data):
    """q -> sin_q, cos_q, X_WB, p_RoBo, S."""
    sine_and_cosine(data.q, data.sin_q, data.cos_q)
    parent, root, X_PF, X_WB, p_RoBo = model.body_parent, model.body_root, model.body_X_PF, data.X_WB, data.p_RoBo
    for b in range(1, parent.shape[0]):
        if is_asleep(data, b):
            continue
        joint_transform(model, data, b, parent[b], root, X_PF, X_WB, p_RoBo)


@kernel
def path_kinematics(model, data, outermost):
    """As position_kinematics(), for that body and those between it and World alone."""
    sine_and_cosine(data.q, data.sin_q, data.cos_q)
    parent, root, end = model.body_parent, model.body_root, model.body_end
    X_PF, X_WB, p_RoBo = model.body_X_PF, data.X_WB, data.p_RoBo
    b = 1
    while b <= outermost:
        if end[b] > outermost:
            joint_transform(model, data, b, parent[b], root, X_PF, X_WB, p_RoBo)
            b += 1
        else:
            b = end[b]


@kernel
def joint_transform(model, data, b, inboard, root, X_PF, X_WB, p_RoBo):
    """Rows of body b from those of its inboard body; arrays are those of model and data."""
    if model.body_free[b] == 1:
        r = place_free(model, data, b)
        set_row3(X_WB, b, 9, r)
        set_row3(p_RoBo, b, 0, scale(0.0, r))
        return
    # world axes and origin of the inboard frame F; the origin counts from Ro, at a root from World.
    # z is not x cross y: errors of length would multiply from joint to joint, and a long chain would fall apart
    x = rotate(X_WB, inboard, (X_PF[b, 0], X_PF[b, 3], X_PF[b, 6]))
    y = rotate(X_WB, inboard, (X_PF[b, 1], X_PF[b, 4], X_PF[b, 7]))
    z = rotate(X_WB, inboard, (X_PF[b, 2], X_PF[b, 5], X_PF[b, 8]))
    r = add(row3(p_RoBo, inboard, 0), rotate(X_WB, inboard, row3(X_PF, b, 9)))
    if model.body_has_axis[b] == 1:
        r = joint_place(model.body_joint_type[b], model, data, b, (x, y, z), r, inboard == 0)
    else:
        r = place_general(model, data, b, x, y, z, r, inboard == 0)
    if inboard == 0:
        set_row3(X_WB, b, 9, r)
        set_row3(p_RoBo, b, 0, scale(0.0, r))
    else:
        set_row3(X_WB, b, 9, add(row3(X_WB, root[b], 9), r))
        set_row3(p_RoBo, b, 0, r)


@kernel
def velocity_kinematics(model, data):
    """v, after position_kinematics -> V, A_bias."""
    parent, body_v, body_nv = model.body_parent, model.body_v, model.body_nv
    v, S, V, A_bias = data.v, data.S, data.V, data.A_bias
    for b in range(1, parent.shape[0]):
        if is_asleep(data, b):
            continue
        p, first = parent[b], body_v[b]
        if model.body_free[b] == 1:
            w_J, v_J = (v[first], v[first + 1], v[first + 2]), (v[first + 3], v[first + 4], v[first + 5])
            set_row3(V, b, 0, w_J)
            set_row3(V, b, 3, v_J)
            set_row3(A_bias, b, 0, scale(0.0, w_J))
            set_row3(A_bias, b, 3, cross(v_J, w_J))
            continue
        w_J = scale(v[first], row3(S, first, 0))
        v_J = scale(v[first], row3(S, first, 3))
        for d in range(first + 1, first + body_nv[b]):
            w_J = add(w_J, scale(v[d], row3(S, d, 0)))
            v_J = add(v_J, scale(v[d], row3(S, d, 3)))
        w_P, v_P = row3(V, p, 0), row3(V, p, 3)
        alpha = cross(w_P, w_J)
        a = add(cross(w_P, v_J), cross(v_P, w_J))
        if body_nv[b] > 1:
            alpha_J, a_J = joint_bias(model.body_joint_type[b], model, data, b, w_J, v_J)
            alpha, a = add(alpha, alpha_J), add(a, a_J)
        set_row3(V, b, 0, add(w_P, w_J))
        set_row3(V, b, 3, add(v_P, v_J))
        set_row3(A_bias, b, 0, alpha)
        set_row3(A_bias, b, 3, a)


@kernel
def acceleration_kinematics(model, data):
    """vdot, after velocity_kinematics -> A, from the acceleration that row 0 of A holds for World."""
    parent, body_v, body_nv = model.body_parent, model.body_v, model.body_nv
    vdot, S, A, A_bias = data.vdot, data.S, data.A, data.A_bias
    for b in range(1, parent.shape[0]):
        p, first = parent[b], body_v[b]
        alpha = add(row3(A, p, 0), row3(A_bias, b, 0))
        a = add(row3(A, p, 3), row3(A_bias, b, 3))
        for d in range(first, first + body_nv[b]):
            alpha = add(alpha, scale(vdot[d], row3(S, d, 0)))
            a = add(a, scale(vdot[d], row3(S, d, 3)))
        set_row3(A, b, 0, alpha)
        set_row3(A, b, 3, a)


@kernel
def link_poses(model, data):
    """After position_kinematics -> X_WL."""
    link_body, X_BL, X_WB, X_WL = model.link_body, model.link_X_BL, data.X_WB, data.X_WL
    for n in range(link_body.shape[0]):
        b = link_body[n]
        for j in range(3):
            column = rotate(X_WB, b, (X_BL[n, j], X_BL[n, 3 + j], X_BL[n, 6 + j]))
            X_WL[n, j], X_WL[n, 3 + j], X_WL[n, 6 + j] = column[0], column[1], column[2]
        set_row3(X_WL, n, 9, add(row3(X_WB, b, 9), rotate(X_WB, b, row3(X_BL, n, 9))))


@kernel
def link_origin(model, data, n):
    """Origin of link n from Ro of its body's tree, in world axes. After position_kinematics."""
    b = model.link_body[n]
    return add(row3(data.p_RoBo, b, 0), rotate(data.X_WB, b, row3(model.link_X_BL, n, 9)))


@kernel
def link_velocities(model, data):
    """After velocity_kinematics -> V_WL at each link's origin."""
    link_body, V = model.link_body, data.V
    for n in range(link_body.shape[0]):
        b, r = link_body[n], link_origin(model, data, n)
        w = row3(V, b, 0)
        set_row3(data.V_WL, n, 0, w)
        set_row3(data.V_WL, n, 3, add(row3(V, b, 3), cross(w, r)))
