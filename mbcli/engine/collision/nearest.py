"""Distance, normal and nearest points of any two solids: a closed form if there is one, else gjk.py and epa.py."""

from mbcli.engine.collision.boxes import NOT_KNOWN, boxes_nearest
from mbcli.engine.collision.epa import improve_overlap, overlap
from mbcli.engine.collision.gjk import core_distance
from mbcli.engine.collision.segments import (
    axis_of,
    ball_to_box,
    ball_to_cylinder,
    row_of,
    segments_nearest,
    set_nearest,
)
from mbcli.engine.collision.shapes import outermost, rotate_back, to_world
from mbcli.engine.fields.collision_fields import BALL, BOX, CAPSULE, CYLINDER, HALF_SPACE
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, dot, row3, scale, subtract

NEARLY_TOUCHING = 1e-3  # of the size: nearer than this, rounding shows in the normal of a distance
ALIGNED = 1e-7  # below this a component of a unit vector counts as 0: solids that lie flat touch in the middle


@kernel
def solids_nearest(c, A, B, limit):
    """Distance of solids A and B, negative if they overlap, with c.nearest set.

    If it is more than the limit (>= 0), any number above the limit, and c.nearest is not set.
    """
    if c.kind[A] <= c.kind[B]:
        return ordered_nearest(c, A, B, limit)
    distance = ordered_nearest(c, B, A, limit)
    if distance <= limit:
        normal, point_B, point_A = row_of(c, 0), row_of(c, 3), row_of(c, 6)
        set_nearest(c, scale(-1.0, normal), point_A, point_B)
    return distance


@kernel
def ordered_nearest(c, A, B, limit):
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
        distance = boxes_nearest(c, A, B, limit)
        if distance != NOT_KNOWN:
            return distance
    return convex_nearest(c, A, B, limit)


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


@kernel
def convex_nearest(c, A, B, limit):
    rounding = c.rounding[A] + c.rounding[B]
    distance, n = core_distance(c, A, B, limit + rounding)
    if distance > limit + rounding:
        return distance - rounding
    if distance == 0.0:
        distance = -overlap(c, A, B, n)
    elif distance < NEARLY_TOUCHING * (c.radius[A] + c.radius[B]):
        distance = -improve_overlap(c, A, B, -distance)
    normal, p, q = row_of(c, 0), row_of(c, 3), row_of(c, 6)
    set_nearest(c, normal, subtract(p, scale(c.rounding[A], normal)), add(q, scale(c.rounding[B], normal)))
    return distance - rounding
