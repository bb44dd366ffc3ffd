"""Plane sections of tetrahedra, and convex polygons cut at planes. A plane is a unit normal n and an offset o, n x = o.

Polygons are rows of `polygons`, places 2 and 3 of it. A point on an edge is found from its end below the plane to the
one above, so that elements that share the edge get the same point to the last bit.
"""

from mbcli.engine.collision.shapes import corner, set_corner
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, dot, row3, scale, subtract

CLEAR = 1e-9  # of the largest height of a corner: a height that is no rounding


@kernel
def heights_of_corners(c, t, n, o):
    """Of the four corners of tetrahedron t above a plane."""
    X = c.tetrahedra
    return (
        dot(n, row3(X, t, 0)) - o,
        dot(n, row3(X, t, 3)) - o,
        dot(n, row3(X, t, 6)) - o,
        dot(n, row3(X, t, 9)) - o,
    )


@kernel
def is_cut(h):
    """Whether heights h of corners are on both sides of a plane; what is on it counts as above."""
    return 0 < count_below(h) < 4


@kernel
def is_clear(h):
    """Whether heights h are all on one side of a plane by more than rounding; they may be of a normal of any length."""
    low, high = min(min(h[0], h[1]), min(h[2], h[3])), max(max(h[0], h[1]), max(h[2], h[3]))
    return low > CLEAR * high or high < CLEAR * low


@kernel
def count_below(h):
    """How many of four heights are negative."""
    count = 0
    for k in range(4):
        if h[k] < 0.0:
            count += 1
    return count


@kernel
def section(c, t, h):
    """The section of tetrahedron t with a plane that cuts it, heights h above it -> polygons[2]; its corners."""
    below = count_below(h)
    if below == 2:
        a = 0 if h[0] < 0.0 else (1 if h[1] < 0.0 else 2)
        b = 3 if h[3] < 0.0 else (2 if h[2] < 0.0 else 1)
        first = 0 if a > 0 else (1 if b > 1 else 2)
        second = 3 if b < 3 else (2 if a < 2 else 1)
        set_crossing(c, t, h, a, first, 0)
        set_crossing(c, t, h, a, second, 1)
        set_crossing(c, t, h, b, second, 2)
        set_crossing(c, t, h, b, first, 3)
        return 4
    alone = 0  # the corner that is on its side alone
    for i in range(1, 4):
        if (h[i] < 0.0) == (below == 1):
            alone = i
    k = 0
    for i in range(4):
        if i != alone:
            set_crossing(c, t, h, alone if below == 1 else i, i if below == 1 else alone, k)
            k += 1
    return 3


@kernel
def set_crossing(c, t, h, below, above, k):
    p, q = row3(c.tetrahedra, t, 3 * below), row3(c.tetrahedra, t, 3 * above)
    share = h[below] / (h[below] - h[above])
    set_corner(c, 2, k, add(p, scale(share, subtract(q, p))))


@kernel
def cut_below(c, place, count, n, o):
    """Leaves the part of a polygon below a plane; (its new place, its corners)."""
    lowest, highest = heights_of_polygon(c, place, count, n, o)
    if highest <= 0.0:
        return place, count
    if lowest >= 0.0:
        return place, 0
    return cut_across(c, place, count, n, o)


@kernel
def heights_of_polygon(c, place, count, n, o):
    """The lowest and the highest of the corners of a polygon above a plane."""
    lowest, highest = 1e300, -1e300
    for k in range(count):
        h = dot(n, corner(c, place, k)) - o
        lowest, highest = min(lowest, h), max(highest, h)
    return lowest, highest


@kernel
def cut_across(c, place, count, n, o):
    """As cut_below(), of a polygon that is on both sides."""
    into, kept = 5 - place, 0
    last = corner(c, place, count - 1)
    height_last = dot(n, last) - o
    for k in range(count):
        here = corner(c, place, k)
        height = dot(n, here) - o
        if height_last < 0.0 < height:
            set_corner(c, into, kept, add(last, scale(height_last / (height_last - height), subtract(here, last))))
            kept += 1
        elif height < 0.0 < height_last:
            set_corner(c, into, kept, add(here, scale(height / (height - height_last), subtract(last, here))))
            kept += 1
        if height <= 0.0:
            set_corner(c, into, kept, here)
            kept += 1
        last, height_last = here, height
    return into, kept


@kernel
def cut_to_tetrahedron(c, place, count, t, normal):
    """Leaves the part of a polygon with a normal that is in tetrahedron t; (its new place, its corners).

    A polygon in a side belongs to the tetrahedron that the normal points into, so that it counts once.
    """
    for side in range(4):
        if count < 3:
            return place, 0
        n, o = row3(c.tetrahedron_planes, t, 4 * side), c.tetrahedron_planes[t, 4 * side + 3]
        lowest, highest = heights_of_polygon(c, place, count, n, o)
        is_in_plane = lowest == 0.0 and highest == 0.0
        if lowest >= 0.0 and (not is_in_plane or dot(n, normal) > 0.0):
            return place, 0
        if highest > 0.0:
            place, count = cut_across(c, place, count, n, o)
    return place, count
