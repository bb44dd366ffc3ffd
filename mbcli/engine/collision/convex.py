"""Distance of two convex solids that has no closed form, by gjk.py and epa.py."""

from mbcli.engine.collision.epa import improve_overlap, overlap
from mbcli.engine.collision.gjk import core_distance
from mbcli.engine.collision.segments import row_of, set_nearest
from mbcli.engine.runtime.handles import collision_at
from mbcli.engine.runtime.kernel import called, kernel
from mbcli.engine.smooth.spatial import add, scale, subtract

NEARLY_TOUCHING = 1e-3  # of the size: nearer than this, rounding shows in the normal of a distance


@kernel
def convex_nearest(c, A, B, limit):
    """As solids_nearest()."""
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


@called
def convex_nearest_called(collision, A, B, limit, number):
    """convex_nearest(), called by address."""
    return convex_nearest(collision_at(collision), int(A), int(B), limit)
