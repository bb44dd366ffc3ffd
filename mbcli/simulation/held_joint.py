"""How a joint is held or driven in a run."""

from __future__ import annotations

from mbcli.common.fast_dataclass import dataclass


@dataclass(frozen=True)
class Held:
    """What a controller aims at: position [rad or m] and velocity [rad/s or m/s], with its gains p and d.

    rate: [1/s] at which it learns to feed its effort forward; 0: it does not.
    """

    position: float
    velocity: float
    p: float
    d: float
    rate: float = 0.0
