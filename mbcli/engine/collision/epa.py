"""Depth of the overlap of two convex solids: a polytope in A - B grows where its surface is nearest to the origin.

Van den Bergen 2003, section 4.3.8. Rounding is left out, as in gjk.py. If the polytope stays too coarse, as of
round solids that are as deep in many directions, or is flat as far as rounding shows, its normal is only a first guess:
solids moved apart along it have a distance, whose normal is a better one (improve_overlap).
"""

from mbcli.engine.collision.boxes import column
from mbcli.engine.collision.gjk import add_support, core_distance, triangle_weights
from mbcli.engine.collision.segments import across, normalized, row_of, set_nearest
from mbcli.engine.collision.shapes import support
from mbcli.engine.fields.collision_fields import EPA_FACES, EPA_POINTS
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

TOLERANCE = 1e-10  # of the smaller solid
ROUNDING = 1e-13  # of the size: the least tolerance
APART = 0.1  # of the smaller solid: how far solids are moved apart beyond touching, to see along which normal
LEAST_APART = 1e-5  # of the size
SAME_NORMAL = 1e-11  # difference between normals
MOST_NORMALS = 200
IN_PLANE = 1e-12  # of the size: a point that far above a facet is still in its plane
SAME_PLANE = 1.0 - 1e-12  # cosine between normals


@kernel
def overlap(c, A, B, n):
    """After core_distance() has found overlap, with n points of its simplex: the depth, and c.nearest."""
    size = c.radius[A] + c.radius[B]
    tolerance = max(TOLERANCE * min(c.radius[A], c.radius[B]), ROUNDING * size)
    guess = row_of(c, 0)  # of solids that hardly overlap the normal, or close to it
    reach = overlap_along(c, A, B, guess) if dot(guess, guess) > 0.5 else 1e300  # zero: they overlap in a point of both
    if not complete_simplex(c, A, B, n, size):
        return flat_overlap(c, A, B)
    for f in range(4):
        i, j, k = (1 if f == 0 else 0), (2 if f < 2 else 1), (3 if f < 3 else 2)
        a = row3(c.points, i, 0)
        normal = cross(subtract(row3(c.points, j, 0), a), subtract(row3(c.points, k, 0), a))
        outwards = dot(normal, subtract(row3(c.points, f, 0), a)) < 0.0
        set_facet(c, f, i, j if outwards else k, k if outwards else j)
    count, points = 4, 4
    while True:
        f = nearest_facet(c, count)
        i, j, k = c.facets[f, 0], c.facets[f, 1], c.facets[f, 2]
        normal, depth = row3(c.facet_planes, f, 0), c.facet_planes[f, 3]
        add_support(c, points, A, B, normal)
        w = row3(c.points, points, 0)
        height = dot(normal, w)
        if height - depth <= tolerance or points == EPA_POINTS - 1:
            break
        count = grow(c, count, points, w, size)
        points += 1
        if count < 0:
            break
    away = set_witnesses(c, count, i, j, k, normal, depth, tolerance)
    lost = height > reach + tolerance  # the polytope has lost its way
    if not lost and height - depth <= tolerance and away <= (10.0 * tolerance) ** 2:
        return height
    return improve_overlap(c, A, B, least_overlap(c, A, B, guess, reach, height))


@kernel
def least_overlap(c, A, B, guess, reach, height):
    """Of the normal in c.nearest, along which solids overlap by a height, that of a guess and their axes: the best."""
    normal, least = row_of(c, 0), height
    if reach < least:
        normal, least = guess, reach
    for k in range(12):
        g = A if k < 6 else B
        axis = scale(1.0 if k % 2 == 0 else -1.0, column(c, g, k % 6 // 2))
        along = overlap_along(c, A, B, axis)
        if along < least:
            normal, least = axis, along
    set_nearest(c, normal, row_of(c, 3), row_of(c, 6))
    return least


@kernel
def improve_overlap(c, A, B, depth):
    """From the normal in c.nearest, along which solids overlap by a depth, to one along which they do less; the depth.

    Moved apart along a normal by more than they overlap, solids have nearest points. Along the normal through these
    they overlap no more, so that repeating it leads to where both normals are the same. Turns that are alike are
    extrapolated (Aitken), as they are small where the surface of A - B bends nearly as much as the ball that fits into
    it. A negative depth is a distance.
    """
    size = c.radius[A] + c.radius[B]
    apart = max(APART * min(c.radius[A], c.radius[B]), LEAST_APART * size)
    point_A, point_B = row_of(c, 3), row_of(c, 6)
    X_A, center = row3(c.X_WG, A, 9), row3(c.p_WC, A, 0)
    trial = row_of(c, 0)
    normal, last_turn, plain = trial, (0.0, 0.0, 0.0), False  # plain: the trial is the normal before, as it was found
    for _ in range(MOST_NORMALS):
        reach = overlap_along(c, A, B, trial)
        if reach > depth + ROUNDING * size:
            if plain:
                break
            trial, plain, last_turn = normal, True, (0.0, 0.0, 0.0)  # extrapolated too far
            continue
        shift = scale(reach + apart, trial)
        set_row3(c.X_WG, A, 9, add(X_A, shift))
        set_row3(c.p_WC, A, 0, add(center, shift))
        distance, _ = core_distance(c, A, B, 1e300)
        set_row3(c.X_WG, A, 9, X_A)
        set_row3(c.p_WC, A, 0, center)
        if distance == 0.0:
            break
        normal = row_of(c, 0)
        point_A, point_B = subtract(row_of(c, 3), shift), row_of(c, 6)
        depth = overlap_along(c, A, B, normal)
        turn = subtract(normal, trial)
        if dot(turn, turn) <= SAME_NORMAL * SAME_NORMAL:
            break
        alike, before = dot(turn, last_turn), dot(last_turn, last_turn)
        if plain and alike > 0.0 and alike < before:
            trial, plain = normalized(add(normal, scale(alike / (before - alike), turn)), normal), False
        else:
            trial, plain = normal, True
        last_turn = turn
    set_nearest(c, normal, point_A, point_B)
    return depth


@kernel
def overlap_along(c, A, B, normal):
    """How far A is to be moved along a normal until it touches B there; negative: how far it is away."""
    return dot(normal, subtract(support(c, B, normal), support(c, A, scale(-1.0, normal))))


@kernel
def set_witnesses(c, count, i, j, k, normal, depth, tolerance):
    """Points of A and B behind the foot of the origin on facet i j k, or on one in the same plane that has it.

    Returns the square of how far the foot is from that facet.
    """
    best = 1e300
    foot = scale(depth, normal)
    for f in range(-1, max(count, 0)):
        if f >= 0:
            i, j, k = c.facets[f, 0], c.facets[f, 1], c.facets[f, 2]
            same = c.facet_planes[f, 3] <= depth + 10.0 * tolerance
            if not (same and dot(row3(c.facet_planes, f, 0), normal) > SAME_PLANE):
                continue
        for m in range(3):
            place = i if m == 0 else (j if m == 1 else k)
            set_row3(c.work, m, 0, subtract(row3(c.points, place, 0), foot))
        u, v, w = triangle_weights(c.work, 0, 1, 2)
        away = add(add(scale(u, row3(c.work, 0, 0)), scale(v, row3(c.work, 1, 0))), scale(w, row3(c.work, 2, 0)))
        if dot(away, away) < best:
            best = dot(away, away)
            a, b = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            for m in range(3):
                place, weight = (i if m == 0 else (j if m == 1 else k)), (u if m == 0 else (v if m == 1 else w))
                a = add(a, scale(weight, row3(c.points, place, 3)))
                b = add(b, scale(weight, row3(c.points, place, 6)))
            set_nearest(c, scale(-1.0, normal), a, b)
    return best


@kernel
def flat_overlap(c, A, B):
    """A - B has no volume, as that of two segments: they touch."""
    a, b = row3(c.points, 0, 3), row3(c.points, 0, 6)
    set_nearest(c, across((0.0, 0.0, 1.0)), a, b)
    return 0.0


@kernel
def set_facet(c, f, i, j, k):
    """Facet f with corners counterclockwise seen from outside."""
    c.facets[f, 0], c.facets[f, 1], c.facets[f, 2] = i, j, k
    a = row3(c.points, i, 0)
    normal = cross(subtract(row3(c.points, j, 0), a), subtract(row3(c.points, k, 0), a))
    length = square_root(dot(normal, normal))
    if length > 0.0:
        normal = scale(1.0 / length, normal)
        set_row3(c.facet_planes, f, 0, normal)
        c.facet_planes[f, 3] = dot(normal, a)
    else:  # a facet without area has no place of its own
        c.facet_planes[f, 3] = 1e300


@kernel
def nearest_facet(c, count):
    best = 0
    for f in range(1, count):
        if c.facet_planes[f, 3] < c.facet_planes[best, 3]:
            best = f
    return best


@kernel
def grow(c, count, p, w, size):
    """Joins point p, w in A - B, to the rim of the facets that it sees and which go. Returns how many there are then;
    -1 if there is no room."""
    edges, f = 0, 0
    while f < count:
        normal = row3(c.facet_planes, f, 0)
        if c.facet_planes[f, 3] < 1e299 and dot(normal, w) - c.facet_planes[f, 3] <= IN_PLANE * size:
            f += 1
            continue
        for e in range(3):
            edges = toggle_edge(c, edges, c.facets[f, e], c.facets[f, (e + 1) % 3])
        count -= 1
        for k in range(3):
            c.facets[f, k] = c.facets[count, k]
        for k in range(4):
            c.facet_planes[f, k] = c.facet_planes[count, k]
    if edges < 3 or count + edges > EPA_FACES:
        return -1
    for e in range(edges):
        set_facet(c, count + e, c.horizon[e, 0], c.horizon[e, 1], p)
    return count + edges


@kernel
def toggle_edge(c, edges, i, j):
    """Keeps edge i j of a facet that goes, unless its other facet went before: then neither is on the rim."""
    for e in range(edges):
        if c.horizon[e, 0] == j and c.horizon[e, 1] == i:
            c.horizon[e, 0], c.horizon[e, 1] = c.horizon[edges - 1, 0], c.horizon[edges - 1, 1]
            return edges - 1
    if edges < EPA_FACES:
        c.horizon[edges, 0], c.horizon[edges, 1] = i, j
        return edges + 1
    return edges


@kernel
def complete_simplex(c, A, B, n, size):
    """Adds outermost points until there are four that are not in a plane; whether there are."""
    a = row3(c.points, 0, 0)
    if n < 2:
        for k in range(6):
            s = 1.0 if k < 3 else -1.0
            d = (s if k % 3 == 0 else 0.0, s if k % 3 == 1 else 0.0, s if k % 3 == 2 else 0.0)
            add_support(c, 1, A, B, d)
            w = subtract(row3(c.points, 1, 0), a)
            if dot(w, w) > (1e-6 * size) ** 2:
                n = 2
                break
    if n < 2:
        return False
    u = normalized(subtract(row3(c.points, 1, 0), a), a)
    if n < 3:
        x = across(u)
        y = cross(u, x)
        for k in range(4):
            d = x if k % 2 == 0 else y
            add_support(c, 2, A, B, d if k < 2 else scale(-1.0, d))
            w = cross(u, subtract(row3(c.points, 2, 0), a))
            if dot(w, w) > (1e-6 * size) ** 2:
                n = 3
                break
    if n < 3:
        return False
    normal = normalized(cross(u, subtract(row3(c.points, 2, 0), a)), u)
    if n == 4 and abs(dot(normal, subtract(row3(c.points, 3, 0), a))) > 1e-9 * size:
        return True
    for k in range(2):
        add_support(c, 3, A, B, normal if k == 0 else scale(-1.0, normal))
        if abs(dot(normal, subtract(row3(c.points, 3, 0), a))) > 1e-6 * size:
            return True
    return False
