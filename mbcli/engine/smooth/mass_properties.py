"""Sums over sets of links: mass, centre of mass, momentum, inertia.

A set is an array (nlink,) of ones and zeros, `selected`; World's entry counts nothing, its inertia is zero.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.frame_motion import (
    components,
    frame_axes,
    frame_origin,
    from_reference_of,
    measured_in,
    velocity_at,
)
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, subtract, symmetric_times


@kernel
def center_of_link(model, data, n):
    """Centre of mass of link n from Ro of its body's tree, in world axes."""
    b = model.link_body[n]
    center = add(row3(model.link_X_BL, n, 9), rotate(model.link_X_BL, n, row3(model.link_inertia, n, 1)))
    return add(row3(data.p_RoBo, b, 0), rotate(data.X_WB, b, center))


@kernel
def mass_of_links(model, selected):
    mass = selected[0] * model.link_inertia[0, 0]
    for n in range(1, selected.shape[0]):
        mass += selected[n] * model.link_inertia[n, 0]
    return mass


@kernel
def com_position(model, data, selected, mass, p):
    """p (3,): centre of mass of the selected links in World."""
    for k in range(3):
        p[k] = 0.0
    for n in range(1, selected.shape[0]):
        b = model.link_body[n]
        center = from_reference_of(model, data, center_of_link(model, data, n), b, 0)
        for k in range(3):
            p[k] += selected[n] * model.link_inertia[n, 0] / mass * center[k]


@kernel
def com_velocity(model, data, selected, mass, v):
    """v (3,): velocity of the centre of mass of the selected links in World."""
    for k in range(3):
        v[k] = 0.0
    for n in range(1, selected.shape[0]):
        w, velocity = velocity_at(data, model.link_body[n], center_of_link(model, data, n))
        for k in range(3):
            v[k] += selected[n] * model.link_inertia[n, 0] / mass * velocity[k]


@kernel
def com_acceleration(model, data, A, selected, mass, m, e, a):
    """a (3,): acceleration of the centre of mass of the selected links in frame m along the axes of e, from rows A."""
    for k in range(3):
        a[k] = 0.0
    axes, carrier = frame_axes(model, data, e), model.frame_body[m]
    A_m = (row3(A, carrier, 0), row3(A, carrier, 3))
    for n in range(1, selected.shape[0]):
        b = model.link_body[n]
        A_b = (row3(A, b, 0), row3(A, b, 3))
        alpha, acceleration = measured_in(model, data, b, center_of_link(model, data, n), A_b, m, A_m)
        along = components(axes, acceleration)
        for k in range(3):
            a[k] += selected[n] * model.link_inertia[n, 0] / mass * along[k]


@kernel
def momentum_about(model, data, selected, p, L):
    """L (6,): angular momentum of the selected links about the point p (3,) of World, and linear momentum."""
    for k in range(6):
        L[k] = 0.0
    for n in range(1, selected.shape[0]):
        b, r = model.link_body[n], center_of_link(model, data, n)
        w, v = velocity_at(data, b, r)
        l = scale(selected[n] * model.link_inertia[n, 0], v)
        arm = subtract(from_reference_of(model, data, r, b, 0), (p[0], p[1], p[2]))
        x, y, z = link_axes(model, data, n)
        spin = symmetric_times(model.link_inertia, n, 4, components((x, y, z), w))
        h = add(add(scale(spin[0], x), scale(spin[1], y)), scale(spin[2], z))
        h = add(scale(selected[n], h), cross(arm, l))
        for k in range(3):
            L[k] += h[k]
            L[3 + k] += l[k]


@kernel
def link_axes(model, data, n):
    """The axes of link n in world axes."""
    b, X = model.link_body[n], model.link_X_BL
    x = rotate(data.X_WB, b, (X[n, 0], X[n, 3], X[n, 6]))
    y = rotate(data.X_WB, b, (X[n, 1], X[n, 4], X[n, 7]))
    z = rotate(data.X_WB, b, (X[n, 2], X[n, 5], X[n, 8]))
    return x, y, z


@kernel
def inertia_about(model, data, selected, mass, f, M):
    """M (12,): centre of mass and unit inertia (3, 3) of the selected links, of the given mass, about frame f."""
    for k in range(12):
        M[k] = 0.0
    frame, origin = frame_axes(model, data, f), frame_origin(model, data, f)
    for n in range(1, selected.shape[0]):
        r = from_reference_of(model, data, center_of_link(model, data, n), model.link_body[n], model.frame_body[f])
        c = components(frame, subtract(r, origin))
        axes = link_axes(model, data, n)
        # axes of the frame in those of the link: J_F = R J_L R^T by rows of R
        rows = (components(axes, frame[0]), components(axes, frame[1]), components(axes, frame[2]))
        m, s = selected[n] * model.link_inertia[n, 0] / mass, selected[n] / mass
        cc = dot(c, c)
        for i in range(3):
            J = symmetric_times(model.link_inertia, n, 4, rows[i])
            M[i] += m * c[i]
            M[3 + 4 * i] += s * dot(rows[i], J) + m * (cc - c[i] * c[i])
            for j in range(i + 1, 3):
                product = s * dot(rows[j], J) - m * c[i] * c[j]
                M[3 + 3 * i + j] += product
                M[3 + 3 * j + i] += product
