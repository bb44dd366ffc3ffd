"""Distance of two convex solids that has no closed form, by gjk.py and epa.py."""

from mbcli.engine.collision.epa import improve_overlap, overlap, overlap_along
from mbcli.engine.collision.gjk import core_distance
from mbcli.engine.collision.segments import row_of, set_nearest
from mbcli.engine.collision.shapes import support
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
    else:
        distance = improved_distance(c, A, B, distance)
    return rounded_distance(c, A, B, distance)


@kernel
def nearest_by_normal(c, A, B, limit, normal):
    """As convex_nearest(); of solids whose cores overlap, the least overlap that a search from a normal leads to."""
    rounding = c.rounding[A] + c.rounding[B]
    distance, _ = core_distance(c, A, B, limit + rounding)
    if distance > limit + rounding:
        return distance - rounding
    if distance == 0.0:
        set_nearest(c, normal, support(c, A, scale(-1.0, normal)), support(c, B, normal))
        distance = -improve_overlap(c, A, B, overlap_along(c, A, B, normal))
    else:
        distance = improved_distance(c, A, B, distance)
    return rounded_distance(c, A, B, distance)


@kernel
def improved_distance(c, A, B, distance):
    """After core_distance(), which is not 0: the distance, with its normal improved where rounding shows in it."""
    if distance < NEARLY_TOUCHING * (c.radius[A] + c.radius[B]):
        return -improve_overlap(c, A, B, -distance)
    return distance


@kernel
def rounded_distance(c, A, B, distance):
    """From nearest and the distance of the cores to those of the solids."""
    normal, p, q = row_of(c, 0), row_of(c, 3), row_of(c, 6)
    set_nearest(c, normal, subtract(p, scale(c.rounding[A], normal)), add(q, scale(c.rounding[B], normal)))
    return distance - c.rounding[A] - c.rounding[B]


@called
def convex_nearest_called(collision, A, B, limit, number):
    """convex_nearest(), called by address."""
    return convex_nearest(collision_at(collision), int(A), int(B), limit)
