"""JointLimits: limits of positions, velocities and accelerations of a plant, or of some of its degrees of freedom."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.planning.dof_mask import DofMask

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector

WHAT, SIDES = ("position", "velocity", "acceleration"), ("Lower", "Upper")
FLAGS = tuple(f"require_finite_{what}" for what in ("positions", "velocities", "accelerations"))
ARRAYS = tuple(f"{what}_{side.lower()}" for what in WHAT for side in SIDES)
OVERLOADS = [
    Signature(
        [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        + [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=False) for name in FLAGS]
    )
    for names in ((), ("other", "active_dof"), ("plant",), ("plant", "active_dof"), ARRAYS)
]


class JointLimits:
    """Lower and upper limits (n,) of positions, velocities and accelerations.

    Made of nothing, for none; of a finalized `plant`; of one and a DofMask `active_dof` of those that are taken; of
    `other` limits and such a mask; or of six arrays: `position_lower`, `position_upper`, and so on. Each takes
    `require_finite_positions`, `require_finite_velocities` and `require_finite_accelerations` after that: whether
    limits that are not finite are an error.

    RuntimeError: the plant is not finalized, sizes differ, a limit is NaN or not finite where it has to be, or an upper
    one is below its lower one.

    Example:
        >>> JointLimits([-1.0], [1.0], [-2.0], [2.0], [-3.0], [3.0]).CheckInPositionLimits([1.5])
        False
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        chosen = _overload(given, named)
        self._limits = _limits_of(chosen)
        required = [chosen[name] for name in FLAGS]
        for what, (low, high), is_required in zip(WHAT, self._limits, required, strict=True):
            if low.shape != high.shape or low.ndim != 1:
                raise RuntimeError(f"{what} limits have shapes {low.shape} and {high.shape}")
            if np.isnan([low, high]).any() or (is_required and not np.isfinite([low, high]).all()):
                raise RuntimeError(f"{what} limits are not {'finite' if is_required else 'numbers'}: {low}, {high}")
            if (high < low).any():
                raise RuntimeError(f"{what} limits: an upper one is below its lower one: {low}, {high}")
        if self.num_velocities() != self.num_accelerations():
            raise RuntimeError(
                f"limits of {self.num_velocities()} velocities, {self.num_accelerations()} accelerations"
            )

    def num_positions(self) -> int:
        """How many positions there are."""
        return len(self._limits[0][0])

    def num_velocities(self) -> int:
        """How many velocities there are."""
        return len(self._limits[1][0])

    def num_accelerations(self) -> int:
        """How many accelerations there are."""
        return len(self._limits[2][0])

    def position_lower(self) -> Vector:
        """(n,) [rad or m]"""
        return self._limits[0][0].copy()

    def position_upper(self) -> Vector:
        """(n,) [rad or m]"""
        return self._limits[0][1].copy()

    def velocity_lower(self) -> Vector:
        """(n,) [rad/s or m/s]"""
        return self._limits[1][0].copy()

    def velocity_upper(self) -> Vector:
        """(n,) [rad/s or m/s]"""
        return self._limits[1][1].copy()

    def acceleration_lower(self) -> Vector:
        """(n,) [rad/s^2 or m/s^2]"""
        return self._limits[2][0].copy()

    def acceleration_upper(self) -> Vector:
        """(n,) [rad/s^2 or m/s^2]"""
        return self._limits[2][1].copy()

    def CheckInPositionLimits(self, position: ArrayLike, tolerance: float = 0.0) -> bool:
        """Whether positions (n,) are within limits that are wider by a tolerance; RuntimeError for another size, NaN
        or a negative tolerance."""
        return self._check(0, position, tolerance)

    def CheckInVelocityLimits(self, velocity: ArrayLike, tolerance: float = 0.0) -> bool:
        """The same of velocities."""
        return self._check(1, velocity, tolerance)

    def CheckInAccelerationLimits(self, acceleration: ArrayLike, tolerance: float = 0.0) -> bool:
        """The same of accelerations."""
        return self._check(2, acceleration, tolerance)

    def _check(self, which: int, values: ArrayLike, tolerance: float) -> bool:
        (low, high), given = self._limits[which], np.ravel(np.asarray(values, dtype=float))
        if given.shape != low.shape:
            raise RuntimeError(f"{WHAT[which]}: {len(given)} values, {len(low)} limits")
        if np.isnan(given).any() or not tolerance >= 0.0:
            raise RuntimeError(
                f"{WHAT[which]} {given} within a tolerance of {tolerance}: expected numbers, not below 0"
            )
        return bool(((given >= low - tolerance) & (given <= high + tolerance)).all())


def _overload(given: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name, of the first overload that they fit; TypeError for none."""
    kinds = {"active_dof": DofMask, "other": JointLimits, **dict.fromkeys(FLAGS, bool)}
    for overload in OVERLOADS:
        try:
            bound = overload.bind(*given, **named)
        except TypeError:
            continue
        bound.apply_defaults()
        if all(isinstance(value, kinds.get(name, object)) for name, value in bound.arguments.items()):
            return bound.arguments
    raise TypeError("JointLimits: expected a plant, a plant or JointLimits and a DofMask, or six arrays, and flags")


def _limits_of(chosen: dict[str, Any]) -> list[tuple[Vector, Vector]]:
    """(lower, upper) of positions, velocities and accelerations."""
    if ARRAYS[0] in chosen:
        arrays = [np.array(chosen[name], dtype=float, ndmin=1) for name in ARRAYS]
        return list(zip(arrays[::2], arrays[1::2], strict=True))
    if "other" in chosen:
        other = chosen["other"]
        arrays = [getattr(other, name)() for name in ARRAYS]
    elif "plant" in chosen:
        plant = chosen["plant"]
        if not plant.is_finalized():
            raise RuntimeError("JointLimits: the plant is not finalized")
        arrays = [np.array(getattr(plant, f"Get{w.capitalize()}{side}Limits")()) for w in WHAT for side in SIDES]
    else:
        arrays = [np.zeros(0) for _ in ARRAYS]
    if "active_dof" in chosen:
        mask = chosen["active_dof"]
        if any(len(each) != mask.size() for each in arrays):
            raise RuntimeError(f"JointLimits: a mask of {mask.size()} for {[len(each) for each in arrays[::2]]} limits")
        arrays = [each[mask.selected] for each in arrays]
    return list(zip(arrays[::2], arrays[1::2], strict=True))
