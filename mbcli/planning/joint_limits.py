"""JointLimits: limits of positions, velocities and accelerations of a plant, or of some of its degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.planning.dof_mask import DofMask

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector

WHAT, SIDES = ("position", "velocity", "acceleration"), ("Lower", "Upper")


class JointLimits:
    """Lower and upper limits (n,) of positions, velocities and accelerations.

    Args:
        limits: nothing, for none; a finalized plant or other JointLimits; one of these and a DofMask of those that are
            taken; or six arrays: lower and upper ones of positions, velocities and accelerations.
        require_finite_positions, require_finite_velocities, require_finite_accelerations: whether limits that are not
            finite are an error.

    RuntimeError: the plant is not finalized, sizes differ, a limit is NaN or not finite where it has to be, or an upper
    one is below its lower one.

    Example:
        >>> JointLimits([-1.0], [1.0], [-2.0], [2.0], [-3.0], [3.0]).CheckInPositionLimits([1.5])
        False
    """

    def __init__(
        self,
        *limits: Any,
        require_finite_positions: bool = False,
        require_finite_velocities: bool = False,
        require_finite_accelerations: bool = False,
    ) -> None:
        self._limits = _limits_of(limits)
        required = (require_finite_positions, require_finite_velocities, require_finite_accelerations)
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


def _limits_of(given: Sequence[Any]) -> list[tuple[Vector, Vector]]:
    """(lower, upper) of positions, velocities and accelerations."""
    if len(given) == 6:
        arrays = [np.array(each, dtype=float, ndmin=1) for each in given]
        return list(zip(arrays[::2], arrays[1::2], strict=True))
    if not given:
        return [(np.zeros(0), np.zeros(0)) for _ in WHAT]
    source, *mask = given
    if len(mask) > 1 or not all(isinstance(each, DofMask) for each in mask):
        raise TypeError("JointLimits: expected a plant or JointLimits, perhaps with a DofMask, or six arrays")
    if isinstance(source, JointLimits):
        low = [source.position_lower(), source.velocity_lower(), source.acceleration_lower()]
        high = [source.position_upper(), source.velocity_upper(), source.acceleration_upper()]
    else:
        if not source.is_finalized():
            raise RuntimeError("JointLimits: the plant is not finalized")
        low, high = (
            [np.array(getattr(source, f"Get{what.capitalize()}{side}Limits")()) for what in WHAT] for side in SIDES
        )
    found = list(zip(low, high, strict=True))
    if mask and any(len(low) != mask[0].size() for low, _ in found):
        raise RuntimeError(f"JointLimits: a mask of {mask[0].size()} for {[len(low) for low, _ in found]} limits")
    return [(low[mask[0].selected], high[mask[0].selected]) for low, high in found] if mask else found
