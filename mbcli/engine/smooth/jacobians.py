"""Jacobians of frames, points and centres of mass: their velocities per unit of each generalized velocity.

A column is that velocity's row of S, carried to the point. Only the velocities between a body and World have one, and
those that are inboard of both frames cancel to the last bit.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import components, frame_axes, from_reference_of, point_of_frame
from mbcli.engine.smooth.mass_properties import center_of_link
from mbcli.engine.smooth.rotations.registry import NO_ROTATION, NUM_VELOCITIES, rotation_row
from mbcli.engine.smooth.spatial import add, cross, row3, scale


@kernel
def add_angular_columns(model, data, f, sign, axes, J):
    """Rows 0 to 2 of J (., nv) gain `sign` times the angular velocity of frame f per unit of v, along the axes."""
    b = model.frame_body[f]
    d = model.body_v[b] + model.body_nv[b] - 1  # -1 for World
    while d >= 0:
        w = components(axes, row3(data.S, d, 0))
        J[0, d] += sign * w[0]
        J[1, d] += sign * w[1]
        J[2, d] += sign * w[2]
        d = model.dof_parent[d]


@kernel
def add_translational_columns(model, data, f, r, sign, axes, J, row):
    """Three rows of J gain `sign` times the velocity, per unit of v, of the point of f's body at r from Ro."""
    b = model.frame_body[f]
    d = model.body_v[b] + model.body_nv[b] - 1
    while d >= 0:
        v = components(axes, add(row3(data.S, d, 3), cross(row3(data.S, d, 0), r)))
        J[row, d] += sign * v[0]
        J[row + 1, d] += sign * v[1]
        J[row + 2, d] += sign * v[2]
        d = model.dof_parent[d]


@kernel
def clear_three_rows(J, row):
    for k in range(3):
        for d in range(J.shape[1]):
            J[row + k, d] = 0.0


@kernel
def angular_jacobian(model, data, f, m, e, J):
    """Rows 0 to 2 of J: w of frame f in frame m along the axes of frame e."""
    clear_three_rows(J, 0)
    axes = frame_axes(model, data, e)
    add_angular_columns(model, data, f, 1.0, axes, J)
    add_angular_columns(model, data, m, -1.0, axes, J)


@kernel
def translational_jacobian(model, data, f, p, m, e, J, row):
    """Three rows of J: v of the point p of frame f in frame m along the axes of frame e."""
    clear_three_rows(J, row)
    axes = frame_axes(model, data, e)
    r = point_of_frame(model, data, f, p)
    r_M = from_reference_of(model, data, r, model.frame_body[f], model.frame_body[m])
    add_translational_columns(model, data, f, r, 1.0, axes, J, row)
    add_translational_columns(model, data, m, r_M, -1.0, axes, J, row)


@kernel
def com_jacobian(model, data, selected, mass, m, e, J):
    """J (3, nv): v of the centre of mass of the selected links in frame m along the axes of e.

    `selected` (nlink,) is 1 or 0, `mass` the mass of those links. Leaves in `composite` mass and first moment about Ro
    of the selected links from each body outwards, and no inertia.
    """
    C, parent = data.composite, model.body_parent
    for b in range(1, C.shape[0]):
        for k in range(10):
            C[b, k] = 0.0
    a = model.frame_body[m]
    center = row3(data.V, 0, 0)  # World's: zero
    for n in range(1, selected.shape[0]):
        b, part = model.link_body[n], selected[n] * model.link_inertia[n, 0]
        r = center_of_link(model, data, n)
        center = add(center, scale(part / mass, from_reference_of(model, data, r, b, a)))
        if b != 0:
            C[b, 0] += part
            for k in range(3):
                C[b, 1 + k] += part * r[k]
    for b in range(parent.shape[0] - 1, 0, -1):
        if parent[b] != 0:
            for k in range(4):
                C[parent[b], k] += C[b, k]
    axes = frame_axes(model, data, e)
    for d in range(data.S.shape[0]):
        b = model.dof_body[d]
        momentum = add(scale(C[b, 0], row3(data.S, d, 3)), cross(row3(data.S, d, 0), row3(C, b, 1)))
        v = components(axes, momentum)
        for k in range(3):
            J[k, d] = v[k] / mass
    add_translational_columns(model, data, m, center, -1.0, axes, J, 0)


@kernel
def jacobian_by_qdot(model, data, J_v, J_q):
    """J_q (n, nq) = J_v N+ from J_v (n, nv). After position_kinematics.

    Columns are copied in runs, but for those of rotations, whose rates are not velocities. Both vectors have the same
    order; a rotation may have more positions than velocities.
    """
    start, extra = 0, 0
    for b in range(1, model.body_parent.shape[0]):
        turning, i, d = model.body_rotation[b], model.body_q[b], model.body_v[b]
        if turning != NO_ROTATION:
            copy_columns(J_v, start, d, J_q, extra)
            start = d + NUM_VELOCITIES
            for row in range(J_v.shape[0]):
                rotation_row(turning, data.q, data.sin_q, data.cos_q, i, J_v, d, J_q, row)
            extra += model.body_rotation_nq[b] - NUM_VELOCITIES
    copy_columns(J_v, start, data.S.shape[0], J_q, extra)


@kernel
def copy_columns(J_v, start, end, J_q, shift):
    for row in range(J_v.shape[0]):
        for d in range(start, end):
            J_q[row, d + shift] = J_v[row, d]
