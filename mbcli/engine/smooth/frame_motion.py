"""Motions of frames and of points fixed to them, relative to other frames.

Points count from the reference point Ro of a tree, in world axes. Two frames of one tree share that point, so nothing
is lost between them far from the world's origin.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, subtract


@kernel
def frame_axes(model, data, f):
    """The axes of frame f in world axes."""
    return axes_on_body(data, model.frame_body[f], model.frame_X_BF, f)


@kernel
def axes_on_body(data, b, X, i):
    """The axes, in world axes, of the frame on body b at pose row i of X."""
    x = rotate(data.X_WB, b, (X[i, 0], X[i, 3], X[i, 6]))
    y = rotate(data.X_WB, b, (X[i, 1], X[i, 4], X[i, 7]))
    z = rotate(data.X_WB, b, (X[i, 2], X[i, 5], X[i, 8]))
    return x, y, z


@kernel
def origin_on_body(data, b, X, i):
    """Origin of the frame on body b at pose row i of X, from Ro of the body's tree."""
    return add(row3(data.p_RoBo, b, 0), rotate(data.X_WB, b, row3(X, i, 9)))


@kernel
def components(axes, a):
    """A vector in world axes -> along the given axes."""
    return (dot(axes[0], a), dot(axes[1], a), dot(axes[2], a))


@kernel
def from_components(axes, a):
    """A vector along the given axes -> in world axes."""
    return add(add(scale(a[0], axes[0]), scale(a[1], axes[1])), scale(a[2], axes[2]))


@kernel
def frame_origin(model, data, f):
    """Origin of frame f from Ro of its body's tree."""
    return origin_on_body(data, model.frame_body[f], model.frame_X_BF, f)


@kernel
def point_of_frame(model, data, f, p):
    """The point at p in frame f, from Ro of its body's tree."""
    return add(frame_origin(model, data, f), rotate(data.X_WB, model.frame_body[f], rotate(model.frame_X_BF, f, p)))


@kernel
def from_reference_of(model, data, r, b, a):
    """A point that counts from Ro of body b's tree, from Ro of body a's."""
    root, other = model.body_root[b], model.body_root[a]
    if root != other:
        r = add(r, subtract(row3(data.X_WB, root, 9), row3(data.X_WB, other, 9)))
    return r


@kernel
def velocity_at(data, b, r):
    """w, v of the point of body b at r from Ro."""
    w = row3(data.V, b, 0)
    return w, add(row3(data.V, b, 3), cross(w, r))


@kernel
def acceleration_at(data, b, r, alpha, a):
    """Classical acceleration of the point of body b at r from Ro.

    (alpha, a) is the body's row of A: the rate of a spatial velocity about the fixed point at Ro. The point of the
    body moves on: add w x v.
    """
    w, v = velocity_at(data, b, r)
    return add(add(a, cross(alpha, r)), cross(w, v))


@kernel
def acceleration_by_velocities(model, data, f):
    """(alpha, a) as in A of the body of frame f for constant velocities."""
    b = model.frame_body[f]
    alpha, a = row3(data.V, 0, 0), row3(data.V, 0, 3)  # World's: zero
    while b != 0:
        alpha, a = add(alpha, row3(data.A_bias, b, 0)), add(a, row3(data.A_bias, b, 3))
        b = model.body_parent[b]
    return alpha, a


@kernel
def accelerations_by_velocities(model, data):
    """A for constant velocities and World at rest. After velocity_kinematics."""
    parent, A, A_bias = model.body_parent, data.A, data.A_bias
    for k in range(6):
        A[0, k] = 0.0
    for b in range(1, parent.shape[0]):
        for k in range(6):
            A[b, k] = A[parent[b], k] + A_bias[b, k]


@kernel
def pose_in(model, data, f, m):
    """Axes x, y, z and origin of frame f in frame m."""
    b, a = model.frame_body[f], model.frame_body[m]
    axes = frame_axes(model, data, m)
    r = from_reference_of(model, data, frame_origin(model, data, f), b, a)
    x, y, z = frame_axes(model, data, f)
    p = components(axes, subtract(r, frame_origin(model, data, m)))
    return components(axes, x), components(axes, y), components(axes, z), p


@kernel
def relative_pose(model, data, f, m, X, i):
    """Pose of frame f in frame m -> X[i] (4, 3): rows of R, and p."""
    x, y, z, origin = pose_in(model, data, f, m)
    for k in range(3):
        X[i, k, 0], X[i, k, 1], X[i, k, 2] = x[k], y[k], z[k]
        X[i, 3, k] = origin[k]


@kernel
def relative_points(model, data, f, points, m):
    """Points (3, n) of frame f -> the same in frame m, in the same array."""
    b, a = model.frame_body[f], model.frame_body[m]
    axes, origin = frame_axes(model, data, m), frame_origin(model, data, m)
    for i in range(points.shape[1]):
        r = point_of_frame(model, data, f, (points[0, i], points[1, i], points[2, i]))
        p = components(axes, subtract(from_reference_of(model, data, r, b, a), origin))
        for k in range(3):
            points[k, i] = p[k]


@kernel
def relative_velocity(model, data, f, p, m):
    """w, v of the point p of frame f measured in frame m, in world axes."""
    b, a = model.frame_body[f], model.frame_body[m]
    r = point_of_frame(model, data, f, p)
    w, v = velocity_at(data, b, r)
    w_M, v_M = velocity_at(data, a, from_reference_of(model, data, r, b, a))
    return subtract(w, w_M), subtract(v, v_M)


@kernel
def measured_in(model, data, b, r, A_b, m, A_m):
    """alpha, a of the point of body b at r from Ro, measured in frame m, in world axes; A_b, A_m: rows of A.

    From the acceleration in World goes that of the point of m which is there now, and twice w x v of the motion in m.
    """
    a = model.frame_body[m]
    r_M = from_reference_of(model, data, r, b, a)
    w, v = velocity_at(data, b, r)
    w_M, v_M = velocity_at(data, a, r_M)
    acceleration = acceleration_at(data, b, r, A_b[0], A_b[1])
    carried = acceleration_at(data, a, r_M, A_m[0], A_m[1])
    alpha = subtract(subtract(A_b[0], A_m[0]), cross(w_M, subtract(w, w_M)))
    coriolis = scale(2.0, cross(w_M, subtract(v, v_M)))
    return alpha, subtract(subtract(acceleration, carried), coriolis)


@kernel
def relative_acceleration(model, data, A, f, p, m):
    """alpha, a of the point p of frame f measured in frame m, in world axes, from rows A (nbody, 6)."""
    b, a = model.frame_body[f], model.frame_body[m]
    r = point_of_frame(model, data, f, p)
    A_f, A_m = (row3(A, b, 0), row3(A, b, 3)), (row3(A, a, 0), row3(A, a, 3))
    return measured_in(model, data, b, r, A_f, m, A_m)


@kernel
def relative_bias(model, data, f, p, m):
    """alpha, a of the point p of frame f measured in frame m for constant velocities, in world axes."""
    A_f, A_m = acceleration_by_velocities(model, data, f), acceleration_by_velocities(model, data, m)
    return measured_in(model, data, model.frame_body[f], point_of_frame(model, data, f, p), A_f, m, A_m)
