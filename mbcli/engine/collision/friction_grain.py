"""Anisotropic friction, which depends on the direction: the grain of a contact.

A solid may have a direction, which turns with its own or another body, and a second coefficient of friction across it.
At a contact the direction is projected onto the plane of contact. The coefficients along and across of two solids
combine as those of a pair do, each by itself; a solid without a grain has one coefficient for both. Where both have a
direction, that of the solid with the smaller coefficient along it counts, as in Gazebo. A direction along the normal
says nothing of the plane: there the smaller coefficient holds everywhere.

Pairs of MJCF state both coefficients. Their first direction is MuJoCo's: the y axis of World, its z axis where the
normal is within 60 degrees of y; of a capsule on a plane the axis of the capsule.
"""

from mbcli.engine.collision.pair_laws import coefficient_of_pair, friction_of_pair
from mbcli.engine.collision.segments import axis_of
from mbcli.engine.fields.collision_fields import (
    CAPSULE,
    GRAIN_COEFFICIENT_ACROSS,
    GRAIN_COEFFICIENT_ALONG,
    HALF_SPACE,
    LAW_ACROSS,
    LAW_FRICTION,
)
from mbcli.engine.fields.contact_fields import GRAIN_ACROSS, GRAIN_ALONG, GRAIN_TANGENT, PAIR_FRICTION, PAIR_STATIC
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import dot, row3, scale, set_row3, subtract
from mbcli.engine.smooth.trigonometry import square_root

ALONG_NORMAL = 1e-4  # sine of the angle to the normal up to which a direction has none in the plane
NEAR_Y = 0.5  # cosine of the angle between normal and y axis up to which MuJoCo takes that axis


@kernel
def set_friction_of_contact(c, points, n, A, B, own):
    """Friction of contact n, whose normal is known; own: the row of own_pairs, or -1."""
    points.law[n, PAIR_FRICTION], points.law[n, PAIR_STATIC] = friction_of_pair(c, A, B, own)
    points.grain[n, GRAIN_ALONG], points.grain[n, GRAIN_ACROSS] = 1.0, 1.0
    if has_grain(c, A, B, own):
        set_grain(c, points, n, A, B, own)


@kernel
def has_grain(c, A, B, own):
    """Whether friction of a pair depends on the direction."""
    if own >= 0:
        return c.own_laws[own, LAW_ACROSS] != c.own_laws[own, LAW_FRICTION]
    return c.grain_body[A] >= 0 or c.grain_body[B] >= 0


@kernel
def set_grain(c, points, n, A, B, own):
    """The larger coefficient as that of the law, and the shares of it along and across the direction."""
    law, grain, normal = points.law, points.grain, row3(points.normal, n, 0)
    if own >= 0:
        along, across = c.own_laws[own, LAW_FRICTION], c.own_laws[own, LAW_ACROSS]
        direction = direction_of_frame(c, A, B, normal)
    else:
        along = coefficient_of_pair(
            c, A, B, coefficient(c, A, GRAIN_COEFFICIENT_ALONG), coefficient(c, B, GRAIN_COEFFICIENT_ALONG)
        )
        across = coefficient_of_pair(
            c, A, B, coefficient(c, A, GRAIN_COEFFICIENT_ACROSS), coefficient(c, B, GRAIN_COEFFICIENT_ACROSS)
        )
        direction = row3(c.grain_W, solid_with_direction(c, A, B), 0)
    tangent = subtract(direction, scale(dot(direction, normal), normal))
    size = square_root(dot(tangent, tangent))
    most = max(along, across) if size > ALONG_NORMAL else min(along, across)
    static = law[n, PAIR_STATIC] / law[n, PAIR_FRICTION] if law[n, PAIR_FRICTION] > 0.0 else 1.0
    law[n, PAIR_FRICTION], law[n, PAIR_STATIC] = most, static * most
    if size > ALONG_NORMAL and most > 0.0:
        set_row3(grain, n, GRAIN_TANGENT, scale(1.0 / size, tangent))
        grain[n, GRAIN_ALONG], grain[n, GRAIN_ACROSS] = along / most, across / most


@kernel
def coefficient(c, A, column):
    """Of one solid along or across its direction."""
    return c.grain[A, column] if c.grain_body[A] >= 0 else c.material[A, 3]


@kernel
def solid_with_direction(c, A, B):
    """The one whose direction counts."""
    if c.grain_body[A] < 0:
        return B
    if c.grain_body[B] < 0:
        return A
    return B if c.grain[B, GRAIN_COEFFICIENT_ALONG] < c.grain[A, GRAIN_COEFFICIENT_ALONG] else A


@kernel
def direction_of_frame(c, A, B, normal):
    """In W, of a pair that states two coefficients."""
    if c.kind[A] == CAPSULE and c.kind[B] == HALF_SPACE:
        return axis_of(c, A)
    if c.kind[B] == CAPSULE and c.kind[A] == HALF_SPACE:
        return axis_of(c, B)
    return (0.0, 1.0, 0.0) if abs(normal[1]) < NEAR_Y else (0.0, 0.0, 1.0)


@kernel
def copy_grain(points, n, k):
    """That of contact k, for a contact n with the same normal."""
    for column in range(points.grain.shape[1]):
        points.grain[n, column] = points.grain[k, column]
