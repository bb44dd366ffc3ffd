"""Queries of the search to a solid: its place, its outermost point in a direction, the face or edge that is there."""

from mbcli.engine.fields.collision_fields import (
    BOX,
    CAPSULE,
    CONVEX,
    CYLINDER,
    ELLIPSOID,
    GRAIN_DIRECTION,
    HEIGHT_FIELD,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.sleep import is_asleep
from mbcli.engine.smooth.spatial import add, dot, rotate, row3, scale, set_row3
from mbcli.engine.smooth.trigonometry import square_root

LEANING = 0.7071067811865476  # cosine between a cylinder's axis and a direction, from which its cap faces there
# cosines and sines of the corners of the polygon that stands for the rim of a cylinder
RIM = (
    (1.0, 0.0),
    (0.7071067811865476, 0.7071067811865476),
    (0.0, 1.0),
    (-0.7071067811865476, 0.7071067811865476),
    (-1.0, 0.0),
    (-0.7071067811865476, -0.7071067811865476),
    (0.0, -1.0),
    (0.7071067811865476, -0.7071067811865476),
)


@kernel
def rotate_back(X, i, a):
    """R^T a, with R the rotation of pose row i."""
    return (
        X[i, 0] * a[0] + X[i, 3] * a[1] + X[i, 6] * a[2],
        X[i, 1] * a[0] + X[i, 4] * a[1] + X[i, 7] * a[2],
        X[i, 2] * a[0] + X[i, 5] * a[1] + X[i, 8] * a[2],
    )


@kernel
def to_world(c, g, p):
    return add(row3(c.X_WG, g, 9), rotate(c.X_WG, g, p))


@kernel
def place_solids(model, data, c):
    """After position_kinematics -> X_WG, p_WC, grain_W."""
    X_WB, X_BG, X_WG = data.X_WB, c.X_BG, c.X_WG
    for g in range(c.kind.shape[0]):
        b = c.body[g]
        if b > 0 and is_asleep(data, b):
            continue
        for k in range(3):
            column = rotate(X_WB, b, (X_BG[g, k], X_BG[g, k + 3], X_BG[g, k + 6]))
            X_WG[g, k], X_WG[g, k + 3], X_WG[g, k + 6] = column[0], column[1], column[2]
        set_row3(X_WG, g, 9, add(row3(X_WB, b, 9), rotate(X_WB, b, row3(X_BG, g, 9))))
        set_row3(c.p_WC, g, 0, to_world(c, g, row3(c.center, g, 0)))
    for k in range(c.grained.shape[0]):
        g = c.grained[k]
        set_row3(c.grain_W, g, 0, rotate(X_WB, c.grain_body[g], row3(c.grain, g, GRAIN_DIRECTION)))


@kernel
def sided(h, x):
    """h with the sign of x; 0 if x is 0."""
    return h if x > 0.0 else (-h if x < 0.0 else 0.0)


@kernel
def support(c, g, d):
    """The outermost point towards d (any length, in W) of solid g without its rounding."""
    return to_world(c, g, outermost(c, g, rotate_back(c.X_WG, g, d)))


@kernel
def outermost(c, g, l):
    """The same in the frame of g. Of several points, the middle of them, except of a convex hull.

    That of a height field is the prism at work, see height_prisms.py.
    """
    kind = c.kind[g]
    a, b, h = c.size[g, 0], c.size[g, 1], c.size[g, 2]
    if kind == BOX:
        return (sided(a, l[0]), sided(b, l[1]), sided(h, l[2]))
    if kind <= CAPSULE:
        return (0.0, 0.0, sided(h, l[2]))
    if kind == CYLINDER:
        across = square_root(l[0] * l[0] + l[1] * l[1])
        s = a / across if across > 0.0 else 0.0
        return (s * l[0], s * l[1], sided(h, l[2]))
    if kind == ELLIPSOID:
        p = (a * a * l[0], b * b * l[1], h * h * l[2])
        length = square_root(p[0] * l[0] + p[1] * l[1] + p[2] * l[2])
        return scale(1.0 / length if length > 0.0 else 0.0, p)
    return row3(c.vertices, outermost_vertex(c, g, l), 0)


@kernel
def outermost_vertex(c, g, l):
    """Vertex of a convex hull that is outermost towards l (in G): from the one of l's octant uphill along edges."""
    octant = (1 if l[0] > 0.0 else 0) + (2 if l[1] > 0.0 else 0) + (4 if l[2] > 0.0 else 0)
    best = c.climb_start[g, octant]
    height = dot(row3(c.vertices, best, 0), l)
    start = -1
    while start != best:
        start = best
        for e in range(c.edge_start[start], c.edge_start[start + 1]):
            along = dot(row3(c.vertices, c.edges[e], 0), l)
            if along > height:
                best, height = c.edges[e], along
    return best


@kernel
def facing(c, g, d, k):
    """Face, edge or point of solid g that is outermost towards the unit vector d (in W).

    Its corners go to polygons[k], rounding included, counterclockwise seen from outside. Returns their number and the
    outward normal.
    """
    kind = c.kind[g]
    l = rotate_back(c.X_WG, g, d)
    if kind == BOX:
        return facing_box(c, g, l, k)
    if kind == CYLINDER:
        return facing_cylinder(c, g, l, k)
    if kind == CAPSULE and abs(l[2]) < LEANING:
        radial = scale(c.rounding[g], d)
        for n in range(2):
            z = (1.0 - 2.0 * n) * c.size[g, 2]
            set_corner(c, k, n, add(to_world(c, g, (0.0, 0.0, z)), radial))
        return 2, d
    if kind in (CONVEX, HEIGHT_FIELD):
        return facing_hull(c, g, l, k)
    set_corner(c, k, 0, add(support(c, g, d), scale(c.rounding[g], d)))
    return 1, d


@kernel
def set_corner(c, k, n, p):
    c.polygons[k, n, 0] = p[0]
    c.polygons[k, n, 1] = p[1]
    c.polygons[k, n, 2] = p[2]


@kernel
def corner(c, k, n):
    return (c.polygons[k, n, 0], c.polygons[k, n, 1], c.polygons[k, n, 2])


@kernel
def facing_box(c, g, l, k):
    x, y, z = abs(l[0]), abs(l[1]), abs(l[2])
    a, b, h = c.size[g, 0], c.size[g, 1], c.size[g, 2]
    for n in range(4):
        u = 1.0 if n == 0 or n == 3 else -1.0
        w = 1.0 if n < 2 else -1.0
        if x >= y and x >= z:
            s = 1.0 if l[0] > 0.0 else -1.0
            p, normal = (s * a, s * u * b, w * h), (s, 0.0, 0.0)
        elif y >= z:
            s = 1.0 if l[1] > 0.0 else -1.0
            p, normal = (w * a, s * b, s * u * h), (0.0, s, 0.0)
        else:
            s = 1.0 if l[2] > 0.0 else -1.0
            p, normal = (s * u * a, w * b, s * h), (0.0, 0.0, s)
        set_corner(c, k, n, to_world(c, g, p))
    return 4, rotate(c.X_WG, g, normal)


@kernel
def facing_cylinder(c, g, l, k):
    """A cap as an octagon whose first corner is the outermost point, or the line of the side."""
    r, h = c.size[g, 0], c.size[g, 2]
    across = square_root(l[0] * l[0] + l[1] * l[1])
    x, y = (l[0] / across, l[1] / across) if across > 1e-9 else (1.0, 0.0)
    if abs(l[2]) < LEANING:
        set_corner(c, k, 0, to_world(c, g, (r * x, r * y, h)))
        set_corner(c, k, 1, to_world(c, g, (r * x, r * y, -h)))
        return 2, rotate(c.X_WG, g, (x, y, 0.0))
    s = 1.0 if l[2] > 0.0 else -1.0
    for n in range(8):
        u, w = RIM[n][0], s * RIM[n][1]
        set_corner(c, k, n, to_world(c, g, (r * (u * x - w * y), r * (u * y + w * x), s * h)))
    return 8, rotate(c.X_WG, g, (0.0, 0.0, s))


@kernel
def facing_hull(c, g, l, k):
    best, most = c.face_start[g], -2.0
    for f in range(c.face_start[g], c.face_start[g + 1]):
        along = dot(row3(c.face_normal, f, 0), l)
        if along > most:
            best, most = f, along
    first = c.corner_start[best]
    count = c.corner_start[best + 1] - first
    for n in range(count):
        set_corner(c, k, n, to_world(c, g, row3(c.vertices, c.corners[first + n], 0)))
    return count, rotate(c.X_WG, g, row3(c.face_normal, best, 0))
