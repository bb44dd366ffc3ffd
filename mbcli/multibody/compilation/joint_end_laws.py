"""What acts where positions and velocities of joints end in runs, for the arrays of a plant."""

from __future__ import annotations

from typing import NamedTuple


class PositionStop(NamedTuple):
    """A stop of a joint with one velocity: velocity d, the side 1 (lower) or -1, the limit [rad or m], the law.

    stiffness: [N m/rad or N/m]. dissipation: [s/rad or s/m].
    """

    d: int
    side: float
    limit: float
    stiffness: float
    dissipation: float


class VelocityLimit(NamedTuple):
    """Limits of a velocity d: lower, upper [rad/s or m/s], -inf and inf where there are none.

    damping: [N m s or N s/m] of the brake that a continuous plant has there.
    """

    d: int
    lower: float
    upper: float
    damping: float
