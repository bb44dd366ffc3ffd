"""Two boxes: the least overlap over the fifteen axes that can separate them (Gottschalk et al. 1996)."""

from mbcli.engine.collision.segments import clamp, set_nearest
from mbcli.engine.collision.shapes import rotate_back, support
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, subtract
from mbcli.engine.smooth.trigonometry import square_root

NOT_KNOWN = -1e300
PREFER_FACE = 1e-9  # [of the size] by which the overlap along edges must be less than along faces to count


@kernel
def column(c, g, k):
    return (c.X_WG[g, k], c.X_WG[g, k + 3], c.X_WG[g, k + 6])


@kernel
def reach(c, g, axis):
    """Half the length of box g along a direction."""
    l = rotate_back(c.X_WG, g, axis)
    return c.size[g, 0] * abs(l[0]) + c.size[g, 1] * abs(l[1]) + c.size[g, 2] * abs(l[2])


@kernel
def boxes_nearest(c, A, B, limit):
    """Distance of overlapping boxes, negative, with c.nearest set; of others a lower bound above the limit >= 0.

    NOT_KNOWN where neither is known.
    """
    r = subtract(row3(c.X_WG, A, 9), row3(c.X_WG, B, 9))
    best, normal, i_best, j_best = -1e300, r, -1, -1
    for i in range(6):
        axis = column(c, A, i) if i < 3 else column(c, B, i - 3)
        along = dot(axis, r)
        gap = abs(along) - reach(c, A, axis) - reach(c, B, axis)
        if gap > limit:
            return gap
        if gap > best:
            best, normal = gap, axis if along >= 0.0 else scale(-1.0, axis)
    bias = PREFER_FACE * (c.radius[A] + c.radius[B])
    for i in range(3):
        for j in range(3):
            axis = cross(column(c, A, i), column(c, B, j))
            length = square_root(dot(axis, axis))
            if length < 1e-6:
                continue
            axis = scale(1.0 / length, axis)
            along = dot(axis, r)
            gap = abs(along) - reach(c, A, axis) - reach(c, B, axis)
            if gap > limit:
                return gap
            if gap > best + bias:
                best, normal = gap, axis if along >= 0.0 else scale(-1.0, axis)
                i_best, j_best = i, j
    if best > 0.0:
        return NOT_KNOWN
    if i_best >= 0:
        edges_nearest(c, A, B, i_best, j_best, normal)
        return best
    return best if vertex_nearest(c, A, B, normal) else NOT_KNOWN


@kernel
def edges_nearest(c, A, B, i, j, normal):
    """Edge i of A and edge j of B touch along the normal."""
    u, w = column(c, A, i), column(c, B, j)
    p, q = support(c, A, scale(-1.0, normal)), support(c, B, normal)
    # the middles of the edges: the support is somewhere on the edge
    p = subtract(p, scale(dot(u, subtract(p, row3(c.X_WG, A, 9))), u))
    q = subtract(q, scale(dot(w, subtract(q, row3(c.X_WG, B, 9))), w))
    r, uw = subtract(p, q), dot(u, w)
    s = (uw * dot(w, r) - dot(u, r)) / (1.0 - uw * uw)
    p = add(p, scale(clamp(s, -c.size[A, i], c.size[A, i]), u))
    t = clamp(dot(w, subtract(p, q)), -c.size[B, j], c.size[B, j])
    set_nearest(c, normal, p, add(q, scale(t, w)))


@kernel
def vertex_nearest(c, A, B, normal):
    """Whether the outermost point of one box is across from a point of the other, on a face; these are the nearest."""
    p, q = support(c, A, scale(-1.0, normal)), support(c, B, normal)
    depth = dot(normal, subtract(q, p))
    on_B = add(p, scale(depth, normal))
    if inside(c, B, on_B):
        set_nearest(c, normal, p, on_B)
        return True
    on_A = subtract(q, scale(depth, normal))
    set_nearest(c, normal, on_A, q)
    return inside(c, A, on_A)


@kernel
def inside(c, g, p):
    l = rotate_back(c.X_WG, g, subtract(p, row3(c.X_WG, g, 9)))
    slack = 1e-9 * c.radius[g]
    return abs(l[0]) <= c.size[g, 0] + slack and abs(l[1]) <= c.size[g, 1] + slack and abs(l[2]) <= c.size[g, 2] + slack
