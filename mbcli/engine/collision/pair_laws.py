"""Friction of a pair of solids, and how far outside of them they touch.

A few pairs have a law of their own. Others combine what their solids say: as Drake does it, or as MuJoCo where both
solids are of its format: the friction of the higher priority, else the larger one, and none if the contact has one
dimension, the larger of those that the solids ask for. With four dimensions it resists spinning, with six rolling too.
A solid that is not of MuJoCo's format resists both by its own coefficients; of two solids the larger one counts.
"""

from mbcli.engine.fields.collision_fields import (
    BOUNCE_RESTITUTION,
    BOUNCE_THRESHOLD,
    LAW_COVER,
    LAW_FRICTION,
    LAW_ROLLING,
    LAW_STATIC,
    LAW_TORSION,
    MIXING_DIMENSION,
    MIXING_PRIORITY,
    MIXING_RULE,
    TORSIONAL_ROLLING,
    TORSIONAL_SPIN,
)
from mbcli.engine.fields.contact_fields import PAIR_FAR, PAIR_RESTITUTION, PAIR_THRESHOLD
from mbcli.engine.runtime.kernel import kernel

INFINITE = float("inf")
FAR = 0.25  # of the thickness of both solids: an approach in a step from which on they might pass through each other
SPINS, ROLLS = 4, 6  # dimensions of a contact from which on it resists spinning, rolling


@kernel
def own_pair(c, A, B):
    """The row of own_pairs that solids A < B are; -1 if they have no law of their own."""
    low, high = 0, c.own_pairs.shape[0]
    while low < high:
        middle = (low + high) // 2
        a, b = c.own_pairs[middle, 0], c.own_pairs[middle, 1]
        if a < A or (a == A and b < B):
            low = middle + 1
        else:
            high = middle
    if low < c.own_pairs.shape[0] and c.own_pairs[low, 0] == A and c.own_pairs[low, 1] == B:
        return low
    return -1


@kernel
def cover_of_pair(c, A, B, own):
    """How far apart solids touch; own: their row of own_pairs, or -1."""
    return c.own_laws[own, LAW_COVER] if own >= 0 else c.cover[A] + c.cover[B]


@kernel
def friction_of_pair(c, A, B, own):
    """Friction when sliding and when sticking; own: the row of own_pairs, or -1."""
    if own >= 0:
        return c.own_laws[own, LAW_FRICTION], c.own_laws[own, LAW_STATIC]
    return (
        coefficient_of_pair(c, A, B, c.material[A, 3], c.material[B, 3]),
        coefficient_of_pair(c, A, B, c.material[A, 4], c.material[B, 4]),
    )


@kernel
def coefficient_of_pair(c, A, B, a, b):
    """Of the coefficients a and b of solids A and B."""
    if c.mixing[A, MIXING_RULE] == 1 and c.mixing[B, MIXING_RULE] == 1:
        return larger_friction(c, A, B, a, b)
    return combined_friction(a, b)


@kernel
def larger_friction(c, A, B, a, b):
    """As MuJoCo combines friction."""
    first, second = counting_solids(c, A, B)
    if max(c.mixing[first, MIXING_DIMENSION], c.mixing[second, MIXING_DIMENSION]) == 1:
        return 0.0
    return max(a if first == A else b, a if second == A else b)


@kernel
def counting_solids(c, A, B):
    """The solids whose friction counts: that of the higher priority, twice, else both."""
    priority_A, priority_B = c.mixing[A, MIXING_PRIORITY], c.mixing[B, MIXING_PRIORITY]
    return B if priority_B > priority_A else A, A if priority_A > priority_B else B


@kernel
def torsional_friction_of_pair(c, A, B, own):
    """Torsional and rolling friction [m]; own: the row of own_pairs, or -1."""
    if own >= 0:
        return c.own_laws[own, LAW_TORSION], c.own_laws[own, LAW_ROLLING]
    if c.mixing[A, MIXING_RULE] == 1 and c.mixing[B, MIXING_RULE] == 1:
        first, second = counting_solids(c, A, B)
        dimension = max(c.mixing[first, MIXING_DIMENSION], c.mixing[second, MIXING_DIMENSION])
        return (
            max(c.torsional[first, TORSIONAL_SPIN], c.torsional[second, TORSIONAL_SPIN]) if dimension >= SPINS else 0.0,
            max(c.torsional[first, TORSIONAL_ROLLING], c.torsional[second, TORSIONAL_ROLLING])
            if dimension >= ROLLS
            else 0.0,
        )
    return (
        max(
            torsional_friction_of_solid(c, A, TORSIONAL_SPIN, SPINS),
            torsional_friction_of_solid(c, B, TORSIONAL_SPIN, SPINS),
        ),
        max(
            torsional_friction_of_solid(c, A, TORSIONAL_ROLLING, ROLLS),
            torsional_friction_of_solid(c, B, TORSIONAL_ROLLING, ROLLS),
        ),
    )


@kernel
def torsional_friction_of_solid(c, A, column, dimension):
    """A coefficient of one solid; 0 if it is of MuJoCo's format and asks for fewer dimensions."""
    return (
        0.0 if c.mixing[A, MIXING_RULE] == 1 and c.mixing[A, MIXING_DIMENSION] < dimension else c.torsional[A, column]
    )


@kernel
def combined_friction(a, b):
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0


@kernel
def restitution_of_pair(c, A, B):
    """The product of both, as DART and Bullet have it; that of one if the other has none of its own."""
    a, b = c.bounce[A, BOUNCE_RESTITUTION], c.bounce[B, BOUNCE_RESTITUTION]
    if a < 0.0:
        return max(0.0, b)
    return a if b < 0.0 else a * b


@kernel
def threshold_of_pair(c, A, B):
    """[m/s] The larger one."""
    return max(c.bounce[A, BOUNCE_THRESHOLD], c.bounce[B, BOUNCE_THRESHOLD])


@kernel
def far_of_pair(c, A, B):
    """[m] The approach in a step from which on contact has to be seen ahead; infinite if one is a half space."""
    return FAR * (c.thickness[A] + c.thickness[B])


@kernel
def set_impact_of_pair(c, points, n, A, B):
    """What contact n of a pair has for impacts."""
    far = far_of_pair(c, A, B)
    points.law[n, PAIR_RESTITUTION], points.law[n, PAIR_THRESHOLD] = (
        restitution_of_pair(c, A, B),
        threshold_of_pair(c, A, B),
    )
    points.law[n, PAIR_FAR] = far if far < INFINITE else 0.0
