"""Positions from which a run starts outside of their limits: the stops of a discrete plant bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.coordinate_names import MOST_LISTED
from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context

ROUNDING = 1e-6  # [m or rad]: rounding of numbers in files


@dataclass(frozen=True)
class Outside:
    """A position outside of its limits: value, the limit that it passes, and by how much [m or rad]."""

    name: str
    index: int
    value: float
    limit: float

    @property
    def by(self) -> float:
        return abs(self.value - self.limit)

    def __str__(self) -> str:
        side = "upper" if self.value > self.limit else "lower"
        return f"{self.name} is {self.value:.6g}, {self.by:.3g} beyond its {side} limit {self.limit:.6g}"


def positions_outside_limits(plant: MultibodyPlant, context: Context) -> list[Outside]:
    """The positions of a context that are outside of their limits, as Outside; those of locked joints do not count."""
    q, lower, upper = plant.GetPositions(context), plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    outside = (q < lower - ROUNDING) | (q > upper + ROUNDING)
    if not outside.any():
        return []
    for joint in plant.moving_joints():
        start = joint.position_start()
        outside[start : start + joint.num_positions()] &= not joint.is_locked(context)
    names = plant.GetPositionNames()
    return [
        Outside(names[k], int(k), float(q[k]), float(lower[k] if q[k] < lower[k] else upper[k]))
        for k in np.flatnonzero(outside)
    ]


def clamp_positions(plant: MultibodyPlant, context: Context) -> list[Outside]:
    """Moves positions that are outside of their limits to them; returns the moved ones, as Outside."""
    moved = positions_outside_limits(plant, context)
    q = plant.GetPositions(context)
    for position in moved:
        q[position.index] = position.limit
    if moved:
        plant.SetPositions(context, q)
    return moved


def in_words(positions: Sequence[Outside]) -> str:
    """The positions of positions_outside_limits() in a message."""
    more = f", and {len(positions) - MOST_LISTED} more" if len(positions) > MOST_LISTED else ""
    return "; ".join(map(str, positions[:MOST_LISTED])) + more


def what_limits_do(plant: MultibodyPlant) -> str:
    """The effect of a run on a position outside of its limits."""
    if plant.is_discrete():
        return "the stops bring them back slowly, at 0.001 rad/s or m/s"
    if plant.position_stops:
        return "the stops push them back"
    return "a continuous plant does not enforce limits"
