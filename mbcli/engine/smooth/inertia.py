"""Spatial inertias of the bodies in world axes about Ro: mass, first moment m c, inertia (xx, yy, zz, xy, xz, yz)."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, subtract, symmetric_times


@kernel
def world_inertias(model, data):
    """After position_kinematics -> inertia."""
    B, X, W = model.body_inertia, data.X_WB, data.inertia
    for b in range(1, B.shape[0]):
        if is_asleep(data, b):
            continue
        m = B[b, 0]
        c = add(row3(data.p_RoBo, b, 0), rotate(X, b, row3(B, b, 1)))
        # R I R^T, by columns of I R^T
        x, y, z = row3(X, b, 0), row3(X, b, 3), row3(X, b, 6)
        Ix = symmetric_times(B, b, 4, x)
        Iy = symmetric_times(B, b, 4, y)
        Iz = symmetric_times(B, b, 4, z)
        cc = m * dot(c, c)
        W[b, 0] = m
        W[b, 1], W[b, 2], W[b, 3] = m * c[0], m * c[1], m * c[2]
        W[b, 4] = dot(x, Ix) + cc - m * c[0] * c[0]
        W[b, 5] = dot(y, Iy) + cc - m * c[1] * c[1]
        W[b, 6] = dot(z, Iz) + cc - m * c[2] * c[2]
        W[b, 7] = dot(x, Iy) - m * c[0] * c[1]
        W[b, 8] = dot(x, Iz) - m * c[0] * c[2]
        W[b, 9] = dot(y, Iz) - m * c[1] * c[2]


@kernel
def inertia_times(I, b, w, v):
    """Momentum-like (h, l) of row b of inertias times the motion vector (w, v), both about the same point."""
    c = row3(I, b, 1)
    h = add(symmetric_times(I, b, 4, w), cross(c, v))
    l = subtract((I[b, 0] * v[0], I[b, 0] * v[1], I[b, 0] * v[2]), cross(c, w))
    return h, l


@kernel
def weight_about_reference(model, data, b):
    """Mass under gravity of body b and its first moment about Ro, in world axes."""
    m = model.gravitating_mass[b, 0]
    h = rotate(data.X_WB, b, row3(model.gravitating_mass, b, 1))
    r = row3(data.p_RoBo, b, 0)
    return m, (h[0] + m * r[0], h[1] + m * r[1], h[2] + m * r[2])


@kernel
def gravity_vector(model):
    return (model.gravity[0], model.gravity[1], model.gravity[2])
