"""Contact points of two solids that overlap: one for most, up to four if a face or an edge rests on a face.

The face (or edge) of each solid that faces the other is clipped at the rim of the flatter one. What is left of it are
the corners of the area of contact, of which the deepest and those that span most are taken. The stiffness of the pair
is shared among them: equally if they are equally deep, so that a solid that lies flat sinks as much as one that
stands on a single point, less and less for points that are less deep, none from BLEND of the size on. So forces are
continuous when a solid tilts from a face over an edge onto a corner. Under the law mujoco all that overlap count, each
as soft as the pair: the depth of one says nothing of the others.
"""

from mbcli.engine.collision.friction_grain import set_friction_of_contact
from mbcli.engine.collision.pair_laws import cover_of_pair, set_impact_of_pair, torsional_friction_of_pair
from mbcli.engine.collision.segments import row_of
from mbcli.engine.collision.shapes import corner, facing, set_corner
from mbcli.engine.collision.soft_pairs import reach_of_softness, set_softness_of_pair
from mbcli.engine.fields.collision_fields import (
    COLLISION_MARGIN,
    COLLISION_SINGLE_POINTS,
    COLLISION_STATUS,
    COLLISION_TOO_MANY_POINTS,
    HALF_SPACE,
    MOST_CORNERS,
    TORSIONAL_ROLLING,
    TORSIONAL_SPIN,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, row3, scale, set_row3, subtract

FLAT = 0.98  # least cosine between the normal and that of the face of reference
PARALLEL = 0.05  # greatest sine between edges that rest on each other
BLEND = 0.1  # of the smaller bounding radius
MOST_POINTS = 4


@kernel
def add_contacts(c, points, A, B, distance, own):
    """After solids_nearest(): the contact points of a pair; own: its row of own_pairs, or -1."""
    normal, cover = row_of(c, 0), cover_of_pair(c, A, B, own)
    margin = c.settings[COLLISION_MARGIN] + cover
    count = 0
    if c.counts[COLLISION_SINGLE_POINTS] == 0:
        if c.kind[B] == HALF_SPACE:
            count = points_on_plane(c, A, B, normal, 1.0)
        elif c.kind[A] == HALF_SPACE:
            count = points_on_plane(c, B, A, scale(-1.0, normal), -1.0)
        else:
            count = points_on_face(c, A, B, normal)
    blend = reach_of_softness(c, BLEND * min(c.radius[A], c.radius[B]))
    deepest = 1e300
    for k in range(count):
        deepest = min(deepest, c.touching[k, 3])
    if count < 2 or deepest > distance + blend or deepest >= margin:
        add_contact(c, points, own, A, B, normal, row_of(c, 3), row_of(c, 6), distance - cover, 1.0)
        return
    count = spread(c.touching, 0, count, normal)
    total = 0.0
    for k in range(count):
        total += max(0.0, 1.0 - (c.touching[k, 3] - deepest) / blend)
    for k in range(count):
        gap = c.touching[k, 3]
        share = max(0.0, 1.0 - (gap - deepest) / blend) / total
        if share > 0.0 and gap < margin:
            q = row3(c.touching, k, 0)  # on B
            add_contact(c, points, own, A, B, normal, add(q, scale(gap, normal)), q, gap - cover, share)


@kernel
def add_contact(c, points, own, A, B, normal, point_A, point_B, distance, share):
    """One contact point, between the nearest points at the side of the stiffer solid; own: row of own_pairs, or -1."""
    n = points.count[0]
    if n >= points.distance.shape[0]:
        c.counts[COLLISION_STATUS] |= COLLISION_TOO_MANY_POINTS
        return
    points.count[0] = n + 1
    points.body[n, 0], points.body[n, 1] = c.body[A], c.body[B]
    points.geometry[n, 0], points.geometry[n, 1] = A, B
    k_A, k_B = c.material[A, 0], c.material[B, 0]
    weight = k_A / (k_A + k_B)
    set_row3(points.position, n, 0, add(scale(weight, point_A), scale(1.0 - weight, point_B)))
    set_row3(points.normal, n, 0, normal)
    set_row3(points.onto_B, n, 0, (0.0, 0.0, 0.0))
    points.distance[n] = distance
    points.law[n, 0] = share * weight * k_B
    points.law[n, 1] = (1.0 - weight) * c.material[A, 1] + weight * c.material[B, 1]
    points.law[n, 2] = c.material[A, 2] + c.material[B, 2]
    set_friction_of_contact(c, points, n, A, B, own)
    points.torsional[n, TORSIONAL_SPIN], points.torsional[n, TORSIONAL_ROLLING] = torsional_friction_of_pair(
        c, A, B, own
    )
    set_impact_of_pair(c, points, n, A, B)
    set_softness_of_pair(c, points, n, A, B, own)
    for column in range(points.face.shape[1]):
        points.face[n, column] = 0.0
    points.corner_start[n + 1] = points.corner_start[n]


@kernel
def set_touching(c, k, p, gap):
    set_row3(c.touching, k, 0, p)
    c.touching[k, 3] = gap


@kernel
def points_on_plane(c, A, B, normal, sign):
    """Corners of solid A over half space B, whose outward normal is given -> touching; their number.

    sign: 1 if touching is to hold points of B, -1 for those of A.
    """
    count, _ = facing(c, A, scale(-1.0, normal), 0)
    for k in range(count):
        p = corner(c, 0, k)
        gap = dot(normal, subtract(p, row3(c.X_WG, B, 9)))
        set_touching(c, k, subtract(p, scale(gap, normal)) if sign > 0.0 else p, gap)
    return count


@kernel
def points_on_face(c, A, B, normal):
    """Corners of the area where faces of A and B rest on each other -> touching; their number, 0 if none do."""
    count_A, out_A = facing(c, A, scale(-1.0, normal), 0)
    count_B, out_B = facing(c, B, normal, 1)
    if count_A == 1 or count_B == 1:
        return 0
    flat_A, flat_B = -dot(out_A, normal), dot(out_B, normal)
    if count_A == 2 and count_B == 2:
        u, w = subtract(corner(c, 0, 1), corner(c, 0, 0)), subtract(corner(c, 1, 1), corner(c, 1, 0))
        x = cross(u, w)
        if dot(x, x) > PARALLEL * PARALLEL * dot(u, u) * dot(w, w):
            return 0
    on_B = count_A == 2 or (count_B > 2 and flat_B >= flat_A - 1e-6)
    if (flat_B if on_B else flat_A) < FLAT:
        return 0
    face, count_face, out = (1, count_B, out_B) if on_B else (0, count_A, out_A)
    place, count = clip(c, 1 - face, count_A if on_B else count_B, face, count_face, out)
    origin = corner(c, face, 0)
    slope = dot(out, normal)
    for k in range(count):
        p = corner(c, place, k)
        if on_B:
            gap = dot(out, subtract(p, origin)) / slope
            set_touching(c, k, subtract(p, scale(gap, normal)), gap)
        else:
            set_touching(c, k, p, -dot(out, subtract(p, origin)) / slope)
    return count


@kernel
def clip(c, place, count, face, count_face, out):
    """Cuts polygon `place` at planes through the edges of polygon `face` along its normal; (its new place, corners).

    An edge instead of a face cuts at its ends (Sutherland and Hodgman 1974).
    """
    for k in range(count_face):
        p = corner(c, face, k)
        edge = subtract(corner(c, face, (k + 1) % count_face), p)
        side = scale(-1.0, edge) if count_face == 2 else cross(edge, out)
        into = 2 if place != 2 else 3
        count = clip_at(c, place, count, into, p, side)
        place = into
    return place, count


@kernel
def clip_at(c, place, count, into, p, side):
    """Leaves the part on the inner side of the plane through p with the outward normal `side`."""
    if count == 0:
        return 0
    kept = 0
    last = corner(c, place, count - 1)
    height_last = dot(side, subtract(last, p))
    for k in range(count):
        here = corner(c, place, k)
        height = dot(side, subtract(here, p))
        # the side between the corners of an edge is one, not two
        if height * height_last < 0.0 and (count > 2 or k == 1) and kept < MOST_CORNERS:
            t = height_last / (height_last - height)
            set_corner(c, into, kept, add(last, scale(t, subtract(here, last))))
            kept += 1
        if height <= 0.0 and kept < MOST_CORNERS:
            set_corner(c, into, kept, here)
            kept += 1
        last, height_last = here, height
    return kept


@kernel
def spread(T, first, count, normal):
    """Of rows (point, gap, ...) of T moves the deepest and those that span most to the front; how many there are then.

    Four, or all if there are not more.
    """
    if count <= MOST_POINTS:
        return count
    for place in range(MOST_POINTS):
        best, most = first + place, -1e300
        for k in range(first + place, first + count):
            r = subtract(row3(T, k, 0), row3(T, first, 0))
            value = dot(r, r) if place > 0 else -T[k, 3]
            if place > 1:
                area = dot(normal, cross(subtract(row3(T, first + 1, 0), row3(T, first, 0)), r))
                value = area if place == 2 else -area
            if value > most:
                best, most = k, value
        for n in range(T.shape[1]):
            T[first + place, n], T[best, n] = T[best, n], T[first + place, n]
    return MOST_POINTS
