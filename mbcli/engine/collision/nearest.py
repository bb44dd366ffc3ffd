"""Distance, normal and nearest points of any two solids: a closed form if there is one, else a search."""

from mbcli.engine.collision.boxes import NOT_KNOWN, boxes_nearest
from mbcli.engine.collision.convex import convex_nearest
from mbcli.engine.collision.height_fields import height_field_nearest
from mbcli.engine.collision.segments import (
    axis_of,
    ball_to_box,
    ball_to_cylinder,
    row_of,
    segments_nearest,
    set_nearest,
)
from mbcli.engine.collision.shapes import outermost, rotate_back, to_world
from mbcli.engine.fields.collision_fields import (
    BALL,
    BOX,
    CAPSULE,
    COLLISION_AT_CONVEX,
    COLLISION_AT_HEIGHTS,
    COLLISION_AT_SELF,
    COLLISION_NEEDED,
    COLLISION_NO_FUNCTION,
    COLLISION_STATUS,
    CYLINDER,
    HALF_SPACE,
    HEIGHT_FIELD,
)
from mbcli.engine.runtime.calls_by_address import call_by_address
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import dot, row3, scale, subtract

ALIGNED = 1e-7  # below this a component of a unit vector counts as 0: solids that lie flat touch in the middle


@kernel
def solids_nearest(c, A, B, limit):
    """Distance of solids A and B, negative if they overlap, with c.nearest set.

    If it is more than the limit (>= 0), any number above the limit, and c.nearest is not set.
    """
    first, second = in_order(c, A, B)
    distance = closed_nearest(c, first, second, limit)
    if distance == NOT_KNOWN and c.kind[second] == HEIGHT_FIELD:
        distance = height_field_nearest(c, first, second, limit)
    elif distance == NOT_KNOWN:
        distance = convex_nearest(c, first, second, limit)
    if distance <= limit and first != A:
        turn_nearest(c)
    return distance


@kernel
def nearest_by_address(c, A, B, limit):
    """As solids_nearest(), for which what has no closed form need not be compiled before a pair needs it."""
    first, second = in_order(c, A, B)
    distance = closed_nearest(c, first, second, limit)
    if distance == NOT_KNOWN:
        at = COLLISION_AT_HEIGHTS if c.kind[second] == HEIGHT_FIELD else COLLISION_AT_CONVEX
        if c.addresses[at] <= 0.0:
            c.addresses[at] = COLLISION_NEEDED
            c.counts[COLLISION_STATUS] |= COLLISION_NO_FUNCTION
            return limit + 1.0
        a, b = 1.0 * first, 1.0 * second
        distance = call_by_address(c.addresses[at], c.addresses[COLLISION_AT_SELF], a, b, limit, 0.0)
    if distance <= limit and first != A:
        turn_nearest(c)
    return distance


@kernel
def in_order(c, A, B):
    """The solids by their kinds."""
    if c.kind[A] <= c.kind[B]:
        return A, B
    return B, A


@kernel
def turn_nearest(c):
    """c.nearest of B and A becomes that of A and B."""
    normal, point_B, point_A = row_of(c, 0), row_of(c, 3), row_of(c, 6)
    set_nearest(c, scale(-1.0, normal), point_A, point_B)


@kernel
def closed_nearest(c, A, B, limit):
    """As solids_nearest() of solids in order, if there is a closed form, else NOT_KNOWN."""
    a, b = c.kind[A], c.kind[B]
    if b == HALF_SPACE:
        return nearest_to_plane(c, A, B)
    if b <= CAPSULE:
        return segments_nearest(c, A, B)
    if a == BALL and b == BOX:
        return ball_to_box(c, A, B)
    if a == BALL and b == CYLINDER:
        return ball_to_cylinder(c, A, B)
    if a == BOX and b == BOX:
        return boxes_nearest(c, A, B, limit)
    return NOT_KNOWN


@kernel
def nearest_to_plane(c, A, B):
    """B is a half space."""
    normal = axis_of(c, B)
    l = rotate_back(c.X_WG, A, scale(-1.0, normal))
    l = (
        l[0] if abs(l[0]) > ALIGNED else 0.0,
        l[1] if abs(l[1]) > ALIGNED else 0.0,
        l[2] if abs(l[2]) > ALIGNED else 0.0,
    )
    p = subtract(to_world(c, A, outermost(c, A, l)), scale(c.rounding[A], normal))
    distance = dot(normal, subtract(p, row3(c.X_WG, B, 9)))
    set_nearest(c, normal, p, subtract(p, scale(distance, normal)))
    return distance
