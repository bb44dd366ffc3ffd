"""Distance of two convex solids by their outermost points (Gilbert, Johnson and Keerthi 1988).

The nearest point of A - B to the origin is found on simplices of at most four points of it. Rounding is left out: the
point of a ball, the segment of a capsule.
"""

from mbcli.engine.collision.segments import clamp, normalized, set_nearest
from mbcli.engine.collision.shapes import support
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

MOST_STEPS = 64
RELATIVE = 1e-13  # of the squared distance: where it can hardly become less
ROUNDING = 1e-14  # of the size
FLAT = 1e-24  # squared sine below which a triangle is a line, a tetrahedron a triangle
TOUCHING = 1e-6  # of the size: nearer than this, gjk knows no normal and the polytope of epa.py takes over


@kernel
def add_support(c, k, A, B, d):
    """Row k of points: the outermost point of A - B towards d."""
    a, b = support(c, A, d), support(c, B, scale(-1.0, d))
    set_row3(c.points, k, 0, subtract(a, b))
    set_row3(c.points, k, 3, a)
    set_row3(c.points, k, 6, b)


@kernel
def core_distance(c, A, B, limit):
    """Distance without rounding, the points behind it in c.nearest; 0 if they overlap or touch; one above the limit
    where it is above. Returns it and how many points of the simplex are left."""
    size = c.radius[A] + c.radius[B]
    apart = subtract(row3(c.p_WC, A, 0), row3(c.p_WC, B, 0))
    add_support(c, 0, A, B, scale(-1.0, apart) if dot(apart, apart) > 0.0 else (1.0, 0.0, 0.0))
    c.weights[0] = 1.0
    n = 1
    v = row3(c.points, 0, 0)
    vv = dot(v, v)
    set_nearest(c, normalized(v, v), row3(c.points, 0, 3), row3(c.points, 0, 6))
    for _ in range(MOST_STEPS):
        if vv <= (TOUCHING * size) ** 2:
            return 0.0, n
        add_support(c, n, A, B, scale(-1.0, v))
        w = row3(c.points, n, 0)
        along = dot(v, w)
        if along > 0.0 and along * along > limit * limit * vv:
            return along / square_root(vv), n
        if vv - along <= RELATIVE * vv + ROUNDING * size * square_root(vv) or is_known(c, n, w, size):
            break
        n = reduce_simplex(c, n + 1)
        if n == 4:
            return 0.0, n
        nearer = weighted(c, n, 0)
        if not dot(nearer, nearer) < vv:
            break
        v = nearer
        vv = dot(v, v)
        set_nearest(c, normalized(v, v), weighted(c, n, 3), weighted(c, n, 6))
    return square_root(vv), n


@kernel
def is_known(c, n, w, size):
    """Whether w is one of the first n points, which may have been rounded in another way."""
    known = False
    for k in range(n):
        r = subtract(row3(c.points, k, 0), w)
        known = known or dot(r, r) <= (ROUNDING * size) ** 2
    return known


@kernel
def weighted(c, n, column):
    """The weighted sum of points."""
    total = (0.0, 0.0, 0.0)
    for k in range(n):
        total = add(total, scale(c.weights[k], row3(c.points, k, column)))
    return total


@kernel
def reduce_simplex(c, n):
    """Leaves the points whose convex combination is nearest to the origin, with their weights; 4: it is inside."""
    P = c.points
    if n == 2:
        t = segment_weight(row3(P, 0, 0), row3(P, 1, 0))
        return keep(c, 0, 1.0 - t, 1, t, 1, 0.0)
    if n == 3:
        u, v, w = triangle_weights(P, 0, 1, 2)
        return keep(c, 0, u, 1, v, 2, w)
    best, kept = 1e300, 0
    i_best, j_best, k_best = 0, 1, 2
    u_best, v_best, w_best = 1.0, 0.0, 0.0
    for f in range(4):
        i, j, k = (1 if f == 0 else 0), (2 if f < 2 else 1), (3 if f < 3 else 2)
        a = row3(P, i, 0)
        normal = cross(subtract(row3(P, j, 0), a), subtract(row3(P, k, 0), a))
        fourth = subtract(row3(P, f, 0), a)
        inner = dot(normal, fourth)
        is_flat = inner * inner <= FLAT * dot(normal, normal) * dot(fourth, fourth)
        if inner * dot(normal, a) < 0.0 and not is_flat:  # the origin is on the side of the fourth point
            continue
        kept = 1
        u, v, w = triangle_weights(P, i, j, k)
        p = add(scale(u, a), add(scale(v, row3(P, j, 0)), scale(w, row3(P, k, 0))))
        if dot(p, p) < best:
            best = dot(p, p)
            i_best, j_best, k_best, u_best, v_best, w_best = i, j, k, u, v, w
    if kept == 0:
        return 4
    return keep(c, i_best, u_best, j_best, v_best, k_best, w_best)


@kernel
def keep(c, i, u, j, v, k, w):
    """Moves points i < j <= k of positive weights to the front; returns their number."""
    n = keep_one(c, 0, i, u)
    n = keep_one(c, n, j, v)
    return keep_one(c, n, k, w)


@kernel
def keep_one(c, n, place, weight):
    if not weight > 0.0:
        return n
    for x in range(9):
        c.points[n, x] = c.points[place, x]
    c.weights[n] = weight
    return n + 1


@kernel
def segment_weight(a, b):
    """Weight of b in the point of a segment nearest to the origin."""
    u = subtract(b, a)
    uu = dot(u, u)
    return clamp(-dot(a, u) / uu, 0.0, 1.0) if uu > 0.0 else 0.0


@kernel
def line_weights(a, b, c):
    """triangle_weights of corners on a line: the sides are tried one by one."""
    t, s, r = segment_weight(a, b), segment_weight(b, c), segment_weight(a, c)
    p, q = add(a, scale(t, subtract(b, a))), add(b, scale(s, subtract(c, b)))
    o = add(a, scale(r, subtract(c, a)))
    if dot(p, p) <= dot(q, q) and dot(p, p) <= dot(o, o):
        return 1.0 - t, t, 0.0
    if dot(q, q) <= dot(o, o):
        return 0.0, 1.0 - s, s
    return 1.0 - r, 0.0, r


@kernel
def triangle_weights(P, i, j, k):
    """Weights of the corners in the point of a triangle nearest to the origin (Ericson 2005, section 5.1.5)."""
    a, b, c = row3(P, i, 0), row3(P, j, 0), row3(P, k, 0)
    ab, ac = subtract(b, a), subtract(c, a)
    normal = cross(ab, ac)
    if dot(normal, normal) <= FLAT * dot(ab, ab) * dot(ac, ac):
        return line_weights(a, b, c)
    d1, d2 = -dot(ab, a), -dot(ac, a)
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0
    d3, d4 = -dot(ab, b), -dot(ac, b)
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = d1 / (d1 - d3)
        return 1.0 - v, v, 0.0
    d5, d6 = -dot(ab, c), -dot(ac, c)
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        w = d2 / (d2 - d6)
        return 1.0 - w, 0.0, w
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        w = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return 0.0, 1.0 - w, w
    # areas beside the foot of the origin, from sides rather than places: corners may be much nearer to each other
    nn = dot(normal, normal)
    u = dot(normal, cross(subtract(c, b), scale(-1.0, b))) / nn
    v = dot(normal, cross(scale(-1.0, ac), scale(-1.0, c))) / nn
    return u, v, 1.0 - u - v
