"""Friction of a pair of solids, and how far outside of them they touch.

A few pairs have a law of their own. Others combine what their solids say: as Drake does it, or as MuJoCo where both
solids are of its format: the friction of the higher priority, else the larger one, and none if the contact has one
dimension, the larger of those that the solids ask for.
"""

from mbcli.engine.fields.collision_fields import (
    LAW_COVER,
    LAW_FRICTION,
    LAW_STATIC,
    MIXING_DIMENSION,
    MIXING_PRIORITY,
    MIXING_RULE,
)
from mbcli.engine.runtime.kernel import kernel


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
    if c.mixing[A, MIXING_RULE] == 1 and c.mixing[B, MIXING_RULE] == 1:
        return larger_friction(c, A, B)
    return combined_friction(c.material[A, 3], c.material[B, 3]), combined_friction(c.material[A, 4], c.material[B, 4])


@kernel
def larger_friction(c, A, B):
    """As MuJoCo combines friction."""
    priority_A, priority_B = c.mixing[A, MIXING_PRIORITY], c.mixing[B, MIXING_PRIORITY]
    first = B if priority_B > priority_A else A
    second = A if priority_A > priority_B else B
    if max(c.mixing[first, MIXING_DIMENSION], c.mixing[second, MIXING_DIMENSION]) == 1:
        return 0.0, 0.0
    return max(c.material[first, 3], c.material[second, 3]), max(c.material[first, 4], c.material[second, 4])


@kernel
def combined_friction(a, b):
    return 2.0 * a * b / (a + b) if a + b > 0.0 else 0.0
