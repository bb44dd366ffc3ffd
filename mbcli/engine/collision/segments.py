"""Balls and capsules, as points and segments with a radius, near each other, boxes and cylinders: closed forms.

Each returns the distance (negative if solids overlap) and sets c.nearest: unit normal from B into A, nearest points
of A and B. If the normal is not unique, one is chosen.
"""

from mbcli.engine.collision.shapes import rotate_back, to_world
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, subtract
from mbcli.engine.smooth.trigonometry import square_root


@kernel
def set_nearest(c, normal, point_A, point_B):
    for k in range(3):
        c.nearest[k], c.nearest[k + 3], c.nearest[k + 6] = normal[k], point_A[k], point_B[k]


@kernel
def row_of(c, k):
    """Three elements of c.nearest: 0 normal, 3 point of A, 6 point of B."""
    return (c.nearest[k], c.nearest[k + 1], c.nearest[k + 2])


@kernel
def clamp(x, low, high):
    return low if x < low else (high if x > high else x)


@kernel
def axis_of(c, g):
    """Unit vector along z of a solid."""
    return (c.X_WG[g, 2], c.X_WG[g, 5], c.X_WG[g, 8])


@kernel
def normalized(a, otherwise):
    length = square_root(dot(a, a))
    return scale(1.0 / length, a) if length > 0.0 else otherwise


@kernel
def across(u):
    """A unit vector across the unit vector u."""
    x, y, z = abs(u[0]), abs(u[1]), abs(u[2])
    if x <= y and x <= z:
        return normalized((0.0, u[2], -u[1]), u)
    if y <= z:
        return normalized((-u[2], 0.0, u[0]), u)
    return normalized((u[1], -u[0], 0.0), u)


@kernel
def segments_nearest(c, A, B):
    """A and B are balls or capsules."""
    u, w = axis_of(c, A), axis_of(c, B)
    a, b = c.size[A, 2], c.size[B, 2]
    r = subtract(row3(c.X_WG, A, 9), row3(c.X_WG, B, 9))
    s, t = segment_places(u, w, r, a, b)
    apart = add(r, subtract(scale(s, u), scale(t, w)))
    length = square_root(dot(apart, apart))
    if length > 1e-12 * (c.radius[A] + c.radius[B]):
        normal = scale(1.0 / length, apart)
    else:
        normal = normalized(cross(u, w), across(u)) if a * b > 0.0 else across(u if a > 0.0 else w)
    point_A = add(row3(c.X_WG, A, 9), subtract(scale(s, u), scale(c.rounding[A], normal)))
    point_B = add(row3(c.X_WG, B, 9), add(scale(t, w), scale(c.rounding[B], normal)))
    set_nearest(c, normal, point_A, point_B)
    return length - c.rounding[A] - c.rounding[B]


@kernel
def segment_places(u, w, r, a, b):
    """Places s in [-a, a] along u and t in [-b, b] along w where segments are nearest; r from the middle of w to u's.

    If they are parallel, the middle of the part in which they are beside each other.
    """
    uw, ur, wr = dot(u, w), dot(u, r), dot(w, r)
    sine2 = 1.0 - uw * uw
    if sine2 > 1e-12:
        s = clamp((uw * wr - ur) / sine2, -a, a)
    else:
        sign = 1.0 if uw > 0.0 else -1.0
        low, high = max(-a, -ur - b), min(a, -ur + b)
        s = clamp(0.5 * (low + high), -a, a)
        return s, clamp(wr + sign * s, -b, b)
    t = wr + uw * s
    if t < -b or t > b:
        t = clamp(t, -b, b)
        s = clamp(uw * t - ur, -a, a)
    return s, t


@kernel
def ball_to_box(c, A, B):
    """A is a ball, B a box."""
    p = rotate_back(c.X_WG, B, subtract(row3(c.X_WG, A, 9), row3(c.X_WG, B, 9)))
    h = row3(c.size, B, 0)
    q = (clamp(p[0], -h[0], h[0]), clamp(p[1], -h[1], h[1]), clamp(p[2], -h[2], h[2]))
    outside = subtract(p, q)
    distance = square_root(dot(outside, outside))
    if distance > 0.0:
        normal = scale(1.0 / distance, outside)
    else:
        x, y, z = h[0] - abs(p[0]), h[1] - abs(p[1]), h[2] - abs(p[2])
        distance = -min(x, y, z)
        if x <= y and x <= z:
            normal = (1.0 if p[0] >= 0.0 else -1.0, 0.0, 0.0)
        elif y <= z:
            normal = (0.0, 1.0 if p[1] >= 0.0 else -1.0, 0.0)
        else:
            normal = (0.0, 0.0, 1.0 if p[2] >= 0.0 else -1.0)
        q = subtract(p, scale(distance, normal))
    return ball_at(c, A, B, distance, normal, q)


@kernel
def ball_to_cylinder(c, A, B):
    """A is a ball, B a cylinder."""
    p = rotate_back(c.X_WG, B, subtract(row3(c.X_WG, A, 9), row3(c.X_WG, B, 9)))
    r, h = c.size[B, 0], c.size[B, 2]
    rho = square_root(p[0] * p[0] + p[1] * p[1])
    x, y = (p[0] / rho, p[1] / rho) if rho > 0.0 else (1.0, 0.0)
    beside, above = rho - r, abs(p[2]) - h
    up = 1.0 if p[2] >= 0.0 else -1.0
    if beside > 0.0 and above > 0.0:
        distance = square_root(beside * beside + above * above)
        normal = (beside / distance * x, beside / distance * y, above / distance * up)
    elif beside > above:
        distance, normal = beside, (x, y, 0.0)
    else:
        distance, normal = above, (0.0, 0.0, up)
    return ball_at(c, A, B, distance, normal, subtract(p, scale(distance, normal)))


@kernel
def ball_at(c, A, B, distance, normal, q):
    """The ball A whose centre is at a distance along a normal from point q of solid B; both in the frame of B."""
    n = rotate(c.X_WG, B, normal)
    set_nearest(c, n, subtract(row3(c.X_WG, A, 9), scale(c.rounding[A], n)), to_world(c, B, q))
    return distance - c.rounding[A]
