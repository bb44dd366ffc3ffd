"""Positions from which a run starts outside of their limits: the stops of a discrete plant bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.coordinate_names import MOST_LISTED
from mbcli.common.fast_dataclass import dataclass
from mbcli.models.units import angular_positions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mbcli.math.array_types import BoolArray, Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.joint import Joint

ROUNDING = 1e-6  # [m or rad]: rounding of numbers in files


@dataclass(frozen=True)
class Outside:
    """A position outside of its limits: value, the limit that it passes, and by how much [m or rad].

    Of a ball joint its turn, and the index of the first of its positions.
    """

    name: str
    index: int
    value: float
    limit: float
    is_turn: bool = False
    may_be_degrees: bool = False  # an angle of more than a turn that would be within the limits in degrees

    @property
    def by(self) -> float:
        return abs(self.value - self.limit)

    def __str__(self) -> str:
        side = "upper" if self.value > self.limit else "lower"
        line = f"{self.name} is {self.value:.6g}, {self.by:.3g} beyond its {side} limit {self.limit:.6g}"
        as_degrees = f" (if these are degrees: {np.radians(self.value):.6g} rad)"
        return line + as_degrees * self.may_be_degrees


def positions_outside_limits(plant: MultibodyPlant, context: Context) -> list[Outside]:
    """The positions of a context that are outside of their limits, as Outside; those of locked joints do not count."""
    q, lower, upper = plant.GetPositions(context), plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    outside = (q < lower - ROUNDING) | (q > upper + ROUNDING)
    turned = [joint for joint in _limited_turns(plant) if turn_of(joint, q) > joint.turn_limit + ROUNDING]
    if not outside.any() and not turned:
        return []
    for joint in plant.moving_joints():
        start = joint.position_start()
        outside[start : start + joint.num_positions()] &= not joint.is_locked(context)
    names, turned_round = plant.GetPositionNames(), (np.abs(q) > 2.0 * np.pi) & angular_positions(plant)
    as_degrees = turned_round & (lower <= np.radians(q)) & (np.radians(q) <= upper)
    return [
        Outside(
            names[k],
            int(k),
            float(q[k]),
            float(lower[k] if q[k] < lower[k] else upper[k]),
            may_be_degrees=bool(as_degrees[k]),
        )
        for k in np.flatnonzero(outside)
    ] + [
        Outside(f"the turn of {joint.name()}", joint.position_start(), float(turn_of(joint, q)), joint.turn_limit, True)
        for joint in turned
        if not joint.is_locked(context)
    ]


def rows_outside_limits(plant: MultibodyPlant, q: Matrix) -> BoolArray:
    """(n,) whether positions (n, nq) are outside of their limits."""
    lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
    outside = [((q < lower - ROUNDING) | (q > upper + ROUNDING)).any(axis=1)]
    outside += [turn_of(joint, q) > joint.turn_limit + ROUNDING for joint in _limited_turns(plant)]
    return np.any(outside, axis=0)


def clamp_rows(plant: MultibodyPlant, q: Matrix) -> Matrix:
    """Positions (n, nq), those outside of their limits at them."""
    q = np.clip(q, plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits())
    for joint in _limited_turns(plant):
        for row in np.flatnonzero(turn_of(joint, q) > joint.turn_limit + ROUNDING):
            _turn_back(q[row], joint.position_start(), joint.turn_limit)
    return q


def turn_of(joint: Joint, q: Any) -> Any:
    """[rad] by which a ball joint is turned about any axis at positions (nq,), or (n, nq); at most half a turn."""
    start = joint.position_start()
    four = q[..., start : start + 4]
    return 2.0 * np.arctan2(np.linalg.norm(four[..., 1:], axis=-1), np.abs(four[..., 0]))


def _limited_turns(plant: MultibodyPlant) -> list[Joint]:
    return [joint for joint in plant.joints_by_place if joint.turn_limit < np.inf]


def _turn_back(q: Vector, start: int, limit: float) -> None:
    """The quaternion at `start` of positions q becomes that of a smaller turn about its axis."""
    w, vector = q[start], q[start + 1 : start + 4]
    axis = vector / np.linalg.norm(vector) * (1.0 if w >= 0.0 else -1.0)
    q[start], q[start + 1 : start + 4] = np.cos(0.5 * limit), np.sin(0.5 * limit) * axis


def clamp_positions(plant: MultibodyPlant, context: Context) -> list[Outside]:
    """Moves positions that are outside of their limits to them; returns the moved ones, as Outside."""
    moved = positions_outside_limits(plant, context)
    q = plant.GetPositions(context)
    for position in moved:
        if position.is_turn:
            _turn_back(q, position.index, position.limit)
        else:
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
        return "the stops push them back" + ", but not ball joints" * bool(_limited_turns(plant))
    return "a continuous plant does not enforce limits"
