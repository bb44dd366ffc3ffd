"""How soft the contact of a pair of solids is under the law mujoco, by what both ask for, as MuJoCo mixes it."""

from mbcli.engine.collision.pair_laws import counting_solids
from mbcli.engine.collision.segments import axis_of
from mbcli.engine.fields.collision_fields import (
    CAPSULE,
    HALF_SPACE,
    SOFT_FIRST,
    SOFT_IMPRATIO,
    SOFT_LAST,
    SOFT_MIDDLE,
    SOFT_MIX,
    SOFT_POWER,
    SOFT_RATIO,
    SOFT_TIME,
    SOFT_WEIGHT,
    SOFT_WIDTH,
)
from mbcli.engine.fields.contact_fields import (
    GRAIN_ACROSS,
    GRAIN_ALONG,
    PAIR_EDGE_X,
    PAIR_EDGE_Y,
    PAIR_FRICTION,
    PAIR_IMPEDANCE,
    PAIR_IMPRATIO,
    PAIR_LAST_IMPEDANCE,
    PAIR_RATIO,
    PAIR_STIFFNESS,
    PAIR_TIME,
    PAIR_WEIGHT,
)
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.impedance import impedance, reference_numbers
from mbcli.engine.smooth.spatial import cross, dot, row3, scale, subtract, tangent_of
from mbcli.engine.smooth.trigonometry import square_root

LEAST_MIX, ENDLESS = 1e-15, 1e300


@kernel
def set_softness_of_pair(c, points, n, A, B, own):
    """What contact n of a pair has for the law mujoco; nothing under others. own: its row of own_pairs, or -1."""
    if c.soft.shape[0] == 0:
        return
    law, share = points.law, 1.0
    first, second = counting_solids(c, A, B)
    if own >= 0:
        first = second = A
    else:
        share = share_of(c.soft[first, SOFT_MIX], c.soft[second, SOFT_MIX])
    time, ratio = mixed(c, own, first, second, share, SOFT_TIME), mixed(c, own, first, second, share, SOFT_RATIO)
    if own < 0 and min(c.soft[first, SOFT_TIME], c.soft[second, SOFT_TIME]) <= 0.0:
        time = min(c.soft[first, SOFT_TIME], c.soft[second, SOFT_TIME])
        ratio = min(c.soft[first, SOFT_RATIO], c.soft[second, SOFT_RATIO])
    last = mixed(c, own, first, second, share, SOFT_LAST)
    law[n, PAIR_TIME], law[n, PAIR_RATIO], law[n, PAIR_LAST_IMPEDANCE] = time, ratio, last
    law[n, PAIR_IMPEDANCE] = impedance(
        max(0.0, -points.distance[n]),
        mixed(c, own, first, second, share, SOFT_FIRST),
        last,
        mixed(c, own, first, second, share, SOFT_WIDTH),
        mixed(c, own, first, second, share, SOFT_MIDDLE),
        mixed(c, own, first, second, share, SOFT_POWER),
    )
    law[n, PAIR_WEIGHT] = c.soft[A, SOFT_WEIGHT] + c.soft[B, SOFT_WEIGHT]
    law[n, PAIR_IMPRATIO] = c.soft[A, SOFT_IMPRATIO]
    law[n, PAIR_STIFFNESS] = stiffness_at_rest(law, n)
    law[n, PAIR_EDGE_X], law[n, PAIR_EDGE_Y] = 1.0, 0.0
    if points.grain[n, GRAIN_ALONG] == points.grain[n, GRAIN_ACROSS]:  # friction has no direction of its own
        normal = row3(points.normal, n, 0)
        edge, tangent = direction_of_edges(c, A, B, normal), tangent_of(normal)
        law[n, PAIR_EDGE_X], law[n, PAIR_EDGE_Y] = dot(edge, tangent), dot(edge, cross(normal, tangent))


@kernel
def stiffness_at_rest(law, n):
    """[N/m] The normal force of contact n at rest over its depth, which logs and the energy of compliance have."""
    d, mu, ratio = law[n, PAIR_IMPEDANCE], law[n, PAIR_FRICTION], law[n, PAIR_IMPRATIO]
    k, _ = reference_numbers(law[n, PAIR_TIME], law[n, PAIR_RATIO], law[n, PAIR_LAST_IMPEDANCE], 0.0)
    R = (1.0 - d) / d * law[n, PAIR_WEIGHT]
    if mu > 0.0 and ratio < 0.0:
        R *= 0.5 * mu * mu * (1.0 + mu * mu) / -ratio  # of four edges
    return k * d / R if R > 0.0 else law[n, PAIR_STIFFNESS]


@kernel
def direction_of_edges(c, A, B, normal):
    """A unit vector across the normal above or below which an edge of a pyramidal cone is.

    That of the axis of a capsule on a half space, else of y or, where the normal is nearer to y than 60 degrees, of z.
    """
    edge = (0.0, 1.0, 0.0) if abs(normal[1]) < 0.5 else (0.0, 0.0, 1.0)
    if min(c.kind[A], c.kind[B]) == CAPSULE and max(c.kind[A], c.kind[B]) == HALF_SPACE:
        edge = axis_of(c, A if c.kind[A] == CAPSULE else B)
    edge = subtract(edge, scale(dot(edge, normal), normal))
    size = square_root(dot(edge, edge))
    return scale(1.0 / size, edge) if size > LEAST_MIX else tangent_of(normal)


@kernel
def reach_of_softness(c, blend):
    """How much less deep than the deepest a contact point of a pair may be: without end under the law mujoco."""
    return blend if c.soft.shape[0] == 0 else ENDLESS


@kernel
def share_of(a, b):
    """Of the first of two solids with the weights a and b of `solmix`."""
    if a < LEAST_MIX and b < LEAST_MIX:
        return 0.5
    return 0.0 if a < LEAST_MIX else 1.0 if b < LEAST_MIX else a / (a + b)


@kernel
def mixed(c, own, first, second, share, column):
    """A column of soft of a pair; `share` is that of the first solid."""
    if own >= 0:
        return c.own_soft[own, column]
    return share * c.soft[first, column] + (1.0 - share) * c.soft[second, column]
