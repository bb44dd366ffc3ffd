"""The regressor of inverse dynamics: tau = Y(q, v, vdot) pi, linear in the inertias of the bodies.

The ten parameters of a body are those of Pinocchio, about the origin Fo of a frame F on it and along the axes of F:
m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz. The force that moves a body is linear in them (Atkeson, An
and Hollerbach 1986); its product with the velocity that a joint gives to the body is a row of Y.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import acceleration_at, components, frame_axes, frame_origin
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract


@kernel
def motion_of_inertia(model, data, f, under_gravity):
    """Axes of frame f, its origin from Ro, and along the axes: w, alpha, acceleration of the origin less gravity.

    After acceleration_kinematics with World at rest. under_gravity is 1 or 0.
    """
    b = model.frame_body[f]
    axes, r = frame_axes(model, data, f), frame_origin(model, data, f)
    w, alpha = row3(data.V, b, 0), row3(data.A, b, 0)
    a = acceleration_at(data, b, r, alpha, row3(data.A, b, 3))
    a = subtract(a, scale(under_gravity, (model.gravity[0], model.gravity[1], model.gravity[2])))
    return axes, r, components(axes, w), components(axes, alpha), components(axes, a)


@kernel
def velocity_by(data, d, axes, r):
    """What one unit of velocity d gives to the point at r from Ro: w and v along the axes."""
    w = row3(data.S, d, 0)
    return components(axes, w), components(axes, add(row3(data.S, d, 3), cross(w, r)))


@kernel
def mass_elements(s_v, s_w, w, alpha, a):
    """Elements of Y for the mass, and for the three first moments: power of their forces along (s_w, s_v)."""
    along = dot(s_v, w)
    h = add(cross(s_v, alpha), cross(a, s_w))
    h = add(h, subtract(scale(along, w), scale(dot(w, w), s_v)))
    return dot(s_v, a), h


@kernel
def inertia_elements(s_w, w, alpha):
    """Elements of Y for I_xx, I_xy, I_yy and for I_xz, I_yz, I_zz."""
    u = cross(s_w, w)
    xx = s_w[0] * alpha[0] + u[0] * w[0]
    xy = s_w[0] * alpha[1] + s_w[1] * alpha[0] + u[0] * w[1] + u[1] * w[0]
    yy = s_w[1] * alpha[1] + u[1] * w[1]
    xz = s_w[0] * alpha[2] + s_w[2] * alpha[0] + u[0] * w[2] + u[2] * w[0]
    yz = s_w[1] * alpha[2] + s_w[2] * alpha[1] + u[1] * w[2] + u[2] * w[1]
    zz = s_w[2] * alpha[2] + u[2] * w[2]
    return (xx, xy, yy), (xz, yz, zz)
