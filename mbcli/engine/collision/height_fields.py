"""Where a convex solid is near a height field: candidates for contact points, of the triangles below its bounds.

A triangle is touched by the corners of the solid's face towards it, or by the outermost point, where the foot is in the
triangle. So it acts as its plane does, and on a flat field all triangles act as one plane: sides of triangles do not
matter. What stands out, the ridges and ends of the field, touches the solid where it is nearest to their prism
(gjk.py, epa.py), if the normal leads out of the field there, and along a ridge below the solid's face.
"""

from mbcli.engine.collision.broad_phase import cell_along
from mbcli.engine.collision.convex import convex_nearest, nearest_by_normal
from mbcli.engine.collision.height_prisms import grid_vertex, leads_out, leads_out_of_wall, set_prism, set_triangle
from mbcli.engine.collision.manifold import BLEND, FLAT
from mbcli.engine.collision.segments import row_of, set_nearest
from mbcli.engine.collision.shapes import corner, facing, rotate_back, set_corner, support
from mbcli.engine.fields.collision_fields import (
    BOX,
    CANDIDATE_GAP,
    CANDIDATE_NORMAL,
    CANDIDATE_POINT,
    COLLISION_CANDIDATES,
    COLLISION_STATUS,
    COLLISION_TOO_MANY_CANDIDATES,
    CONVEX,
    CYLINDER,
    GRID_COLUMNS,
    GRID_ROWS,
    OVER_ACROSS,
    OVER_BEFORE,
    OVER_BEYOND,
    OVER_EXIT,
    OVER_HIGH,
    OVER_LAST,
    OVER_LEAST,
    OVER_LOW,
    TRIANGLE_RIDGES,
)
from mbcli.engine.runtime.handles import collision_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.smooth.spatial import add, cross, dot, rotate, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

SURE = 0.05  # of a cell: what is deeper below a plane counts if it has to go that way to leave the prism
MEANT = 0.5  # of the depth: how far it has to go at least
INSIDE = 1e-9  # of a side: how far out of it a foot is still in a triangle
SAME_POINT = 1e-4  # of the radius
SAME_NORMAL = 1.0 - 1e-6  # cosine
FAR_AWAY = 1e300


@kernel
def height_field_nearest(c, A, g, limit):
    """As solids_nearest() of a convex solid A and height field g.

    -> candidates: all within the limit, and beyond it those that share the stiffness.
    """
    place, radius = row3(c.p_WC, g, 0), c.radius[g]
    c.counts[COLLISION_CANDIDATES] = 0
    set_bounds(c, A, g)
    rows, columns = c.grid[g, GRID_ROWS] - 1, c.grid[g, GRID_COLUMNS] - 1
    reach = limit + BLEND * c.radius[A]
    first_row, end_row = cells_below(c, g, 1, rows, reach)
    first_column, end_column = cells_below(c, g, 0, columns, reach)
    for row in range(first_row, end_row):
        for column in range(first_column, end_column):
            touch_triangle(c, A, g, row, column + 1, 1, reach)
            touch_triangle(c, A, g, row + 1, column, -1, reach)
    set_row3(c.p_WC, g, 0, place)
    c.radius[g] = radius
    if c.over[OVER_LAST] < 0.0 <= c.over[OVER_LEAST] or c.over[OVER_LAST] < c.over[OVER_LEAST] == FAR_AWAY:
        add_candidate(c, A, row3_of(c.over, OVER_LAST + 1), c.over[OVER_LAST], row3_of(c.over, OVER_LAST + 4))
    return nearest_candidate(c, A, limit)


@called
def height_field_nearest_called(collision, A, B, limit, number):
    """height_field_nearest(), called by address."""
    return height_field_nearest(collision_at(collision), int(A), int(B), limit)


@kernel
def row3_of(a, k):
    return (a[k], a[k + 1], a[k + 2])


@kernel
def set_bounds(c, A, g):
    """-> over: the bounds of A in the frame of g, and how far it is to go to leave the field by a side or the base."""
    for k in range(3):
        axis = (c.X_WG[g, k], c.X_WG[g, k + 3], c.X_WG[g, k + 6])
        origin = dot(axis, row3(c.X_WG, g, 9))
        c.over[OVER_HIGH + k] = dot(axis, support(c, A, axis)) - origin + c.rounding[A]
        c.over[OVER_LOW + k] = dot(axis, support(c, A, scale(-1.0, axis))) - origin - c.rounding[A]
    legs = (-c.size[g, 1] / (c.grid[g, GRID_ROWS] - 1), c.size[g, 0] / (c.grid[g, GRID_COLUMNS] - 1), 0.0)
    across = scale(1.0 / square_root(dot(legs, legs)), legs)
    axis = rotate(c.X_WG, g, across)
    origin = dot(axis, row3(c.X_WG, g, 9))
    c.over[OVER_ACROSS], c.over[OVER_ACROSS + 1] = across[0], across[1]
    c.over[OVER_BEFORE] = dot(axis, support(c, A, scale(-1.0, axis))) - origin - c.rounding[A]
    c.over[OVER_BEYOND] = dot(axis, support(c, A, axis)) - origin + c.rounding[A]
    x = min(c.size[g, 0] - c.over[OVER_LOW], c.over[OVER_HIGH] + c.size[g, 0])
    y = min(c.size[g, 1] - c.over[OVER_LOW + 1], c.over[OVER_HIGH + 1] + c.size[g, 1])
    c.over[OVER_EXIT] = min(min(x, y), c.over[OVER_HIGH + 2] + c.size[g, 2])
    c.over[OVER_LEAST] = c.over[OVER_LAST] = FAR_AWAY


@kernel
def is_beyond_diagonal(c, g, row, column, s, limit):
    """Whether the bounds in c.over are farther than a limit from a triangle across the diagonal of its cell."""
    p = grid_vertex(c, g, row + s, column)
    place = c.over[OVER_ACROSS] * p[0] + c.over[OVER_ACROSS + 1] * p[1]
    return (c.over[OVER_BEFORE] - place if s > 0 else place - c.over[OVER_BEYOND]) > limit


@kernel
def cells_below(c, g, k, count, limit):
    """(first, end) of the cells along axis k, of a number of them, that the bounds in c.over reach within a limit."""
    half, per_length = c.size[g, k], 0.5 * count / c.size[g, k]
    low, high = c.over[OVER_LOW + k] - limit, c.over[OVER_HIGH + k] + limit
    if high < -half or low > half:
        return 0, 0
    first = cell_along(max(low, -half) + half, per_length)
    last = cell_along(min(high, half) + half, per_length)
    return max(0, min(first, count - 1)), min(count, last + 1)


@kernel
def touch_triangle(c, A, g, row, column, s, limit):
    """Candidates of one triangle, see height_prisms.py."""
    if is_beyond_diagonal(c, g, row, column, s, limit):
        return
    reach = min(limit, c.over[OVER_LEAST] + 2.0 * c.radius[A]) if c.radius[A] > 0.0 else limit
    if set_triangle(c, g, row, column, s) + reach < c.over[OVER_LOW + 2]:
        return
    set_prism(c, g, c.over[OVER_LOW + 2] - 2.0 * c.radius[A])
    normal = rotate(c.X_WG, g, row3(c.face_normal, c.face_start[g], 0))
    tip = subtract(support(c, A, scale(-1.0, normal)), scale(c.rounding[A], normal))
    gap = dot(normal, subtract(tip, corner(c, 1, 0)))
    if gap > reach:
        return
    meet_face(c, A, g, normal, tip, gap, reach)
    if c.triangle[TRIANGLE_RIDGES] != 0 or -gap > c.over[OVER_EXIT]:
        meet_ridges(c, A, g, normal, tip, gap, reach)


@kernel
def meet_face(c, A, g, normal, tip, gap, reach):
    """Where corners of A, or its outermost point, are over the triangle; where its face is over a ridge."""
    count, out = facing(c, A, scale(-1.0, normal), 0)
    origin = corner(c, 1, 0)
    lowest = FAR_AWAY
    for k in range(count):
        lowest = min(lowest, dot(normal, subtract(corner(c, 0, k), origin)))
    if count == 1 or lowest > gap + BLEND * c.radius[A]:
        set_corner(c, 0, 0, tip)
        count = 1
    for k in range(count):
        p = corner(c, 0, k)
        height = dot(normal, subtract(p, origin))
        if height > reach or not is_over_polygon(c, 1, 3, normal, p):
            continue
        if is_meant(c, A, g, normal, height):
            add_candidate(c, A, subtract(p, scale(height, normal)), height, normal)
        elif -height <= c.over[OVER_EXIT]:
            keep_last(c, subtract(p, scale(height, normal)), height, normal)
    if count > 2 and -dot(out, normal) > FLAT:
        meet_along_ridges(c, A, g, normal, out, count, reach)


@kernel
def is_over_polygon(c, k, count, normal, p):
    """Whether the foot of p along a normal is in polygons[k], counterclockwise about it."""
    for n in range(count):
        a = corner(c, k, n)
        side = cross(subtract(corner(c, k, (n + 1) % count), a), normal)
        if dot(side, subtract(p, a)) > INSIDE * dot(side, side):
            return False
    return True


@kernel
def is_meant(c, A, g, normal, height):
    """Whether what is at a height over the triangle, or a ridge of it, is to leave by the normal there.

    It is not if the end of the field is nearer, or if the solid is nearly out of the prism already, as behind a ridge.
    """
    if -height > c.over[OVER_EXIT]:
        return False
    cell = min(c.size[g, 0] / (c.grid[g, GRID_COLUMNS] - 1), c.size[g, 1] / (c.grid[g, GRID_ROWS] - 1))
    return -height <= 2.0 * SURE * cell or nearest_by_normal(c, A, g, 0.0, normal) <= MEANT * height


@kernel
def meet_along_ridges(c, A, g, normal, out, count, reach):
    """Where ridges of the triangle pass below A's face: polygons[0], of a number of corners, its normal outwards."""
    for k in range(3):
        if c.triangle[TRIANGLE_RIDGES] >> k & 1 == 0:
            continue
        a, b = corner(c, 1, (k + 1) % 3), corner(c, 1, (k + 2) % 3)
        start, end = part_over_cap(c, A, a, b) if c.kind[A] == CYLINDER else part_over_polygon(c, count, out, a, b)
        for n in range(2 if start <= end else 0):
            q = add(a, scale(start if n == 0 else end, subtract(b, a)))
            gap = dot(out, subtract(corner(c, 0, 0), q)) / dot(out, normal)
            if gap <= reach and is_meant(c, A, g, normal, gap):
                add_candidate(c, A, q, gap, normal)


@kernel
def part_over_polygon(c, count, out, a, b):
    """From where to where, of 0 at a to 1 at b, a line is before polygons[0]; more, less if it is not."""
    start, end = 0.0, 1.0
    for n in range(count):
        p = corner(c, 0, n)
        side = cross(subtract(corner(c, 0, (n + 1) % count), p), out)
        from_a, from_b = dot(side, subtract(a, p)), dot(side, subtract(b, p))
        if from_a > 0.0 and from_b > 0.0:
            return 1.0, 0.0
        if from_a > 0.0:
            start = max(start, from_a / (from_a - from_b))
        elif from_b > 0.0:
            end = min(end, from_a / (from_a - from_b))
    return start, end


@kernel
def part_over_cap(c, A, a, b):
    """The same before a cap of cylinder A, for which polygons[0] stands only nearly."""
    p = rotate_back(c.X_WG, A, subtract(a, row3(c.X_WG, A, 9)))
    r, radius = rotate_back(c.X_WG, A, subtract(b, a)), c.size[A, 0]
    square, along, outside = (
        r[0] * r[0] + r[1] * r[1],
        p[0] * r[0] + p[1] * r[1],
        p[0] * p[0] + p[1] * p[1] - radius * radius,
    )
    left = along * along - square * outside
    if left < 0.0 or square == 0.0:
        return (0.0, 1.0) if outside <= 0.0 and square == 0.0 else (1.0, 0.0)
    root = square_root(left)
    return max(0.0, (-along - root) / square), min(1.0, (root - along) / square)


@kernel
def meet_ridges(c, A, g, normal, tip, gap, reach):
    """Where A is nearest to the prism, if that is on the field's surface, and where its face is over a ridge."""
    if -gap <= c.over[OVER_EXIT] and c.kind[A] in (BOX, CONVEX):  # of round solids the search takes many steps
        distance = nearest_by_normal(c, A, g, max(0.0, reach), normal)
    else:
        distance = convex_nearest(c, A, g, max(0.0, reach))
    if distance > reach:
        return
    n, q = row_of(c, 0), row_of(c, 6)
    if not leads_out(c, g, n, q):
        if distance <= 0.0:
            distance, n, q = gap, normal, subtract(tip, scale(gap, normal))
        keep_last(c, q, distance, n)
        return
    add_candidate(c, A, q, distance, n)
    count, out = facing(c, A, scale(-1.0, n), 0)
    if count > 2 and -dot(out, n) > FLAT:
        meet_along_ridges(c, A, g, n, out, count, reach)
        meet_wall(c, A, g, n, count, reach)


@kernel
def keep_last(c, q, gap, normal):
    """-> over: a candidate if there is no other: whatever overlaps the field has to leave it.

    The least overlap counts, else the least distance.
    """
    last = c.over[OVER_LAST]
    if (gap < last) if last >= 0.0 else (last < gap < 0.0):
        c.over[OVER_LAST] = gap
        for k in range(3):
            c.over[OVER_LAST + 1 + k], c.over[OVER_LAST + 4 + k] = q[k], normal[k]


@kernel
def meet_wall(c, A, g, normal, count, reach):
    """Where corners of A's face, polygons[0], are over a face of the prism at the end or the base of the field."""
    count_B, out = facing(c, g, normal, 1)
    if dot(out, normal) < FLAT or not leads_out_of_wall(c, g, rotate_back(c.X_WG, g, out), 0.0, 0.0):
        return
    origin = corner(c, 1, 0)
    for k in range(count):
        p = corner(c, 0, k)
        height = dot(out, subtract(p, origin))
        is_least = -height <= c.over[OVER_EXIT] + SAME_POINT * c.radius[A]
        if height <= reach and is_least and is_over_polygon(c, 1, count_B, out, p):
            add_candidate(c, A, subtract(p, scale(height, out)), height, out)


@kernel
def add_candidate(c, A, q, gap, normal):
    """Keeps a point of the field, the gap between it and A, and the normal from it to A, unless it is known."""
    count = c.counts[COLLISION_CANDIDATES]
    c.over[OVER_LEAST] = min(c.over[OVER_LEAST], gap)
    same = SAME_POINT * c.radius[A]
    for k in range(count):
        r = subtract(row3(c.candidates, k, CANDIDATE_POINT), q)
        if dot(r, r) <= same * same and dot(row3(c.candidates, k, CANDIDATE_NORMAL), normal) >= SAME_NORMAL:
            c.candidates[k, CANDIDATE_GAP] = min(c.candidates[k, CANDIDATE_GAP], gap)
            return
    place = count
    if count == c.candidates.shape[0]:  # in place of what matters least
        c.counts[COLLISION_STATUS] |= COLLISION_TOO_MANY_CANDIDATES
        place = 0
        for k in range(count):
            if c.candidates[k, CANDIDATE_GAP] > c.candidates[place, CANDIDATE_GAP]:
                place = k
        if c.candidates[place, CANDIDATE_GAP] <= gap:
            return
    else:
        c.counts[COLLISION_CANDIDATES] = count + 1
    set_row3(c.candidates, place, CANDIDATE_POINT, q)
    c.candidates[place, CANDIDATE_GAP] = gap
    set_row3(c.candidates, place, CANDIDATE_NORMAL, normal)


@kernel
def nearest_candidate(c, A, limit):
    """-> nearest: the candidate of the least gap, which is returned; more than the limit if there is none."""
    best, least, is_point = -1, limit, c.radius[A] == 0.0
    for k in range(c.counts[COLLISION_CANDIDATES]):
        gap = c.candidates[k, CANDIDATE_GAP]
        inside = is_point and gap < 0.0 and least < 0.0  # the way out of a point is the shortest
        if gap > least if inside else gap <= least:
            best, least = k, gap
    if best < 0:
        return limit + 1.0
    q, normal = row3(c.candidates, best, CANDIDATE_POINT), row3(c.candidates, best, CANDIDATE_NORMAL)
    set_nearest(c, normal, add(q, scale(least, normal)), q)
    return least
