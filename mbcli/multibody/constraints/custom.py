"""Constraints that a user writes in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class Constraint:
    """Rows of a constraint set whose equations a subclass computes; `model` is the plant, `time` is 0.

    At the position level they say phi(q) = 0, at the velocity level G v + (what does not depend on v) = 0, at the
    acceleration level G vdot = gamma. A constraint that exists at the velocity or acceleration level only leaves the
    errors above it zero.

    Args:
        size: number of rows.
        name, userDefinedId: unique within a constraint set, or None.
        enableBaumgarteStabilization, stabilizationTimeConstant: whether errors decay, with which time constant [s].
    """

    def __init__(
        self,
        size: int,
        name: str | None = None,
        userDefinedId: Any = None,
        enableBaumgarteStabilization: bool = False,
        stabilizationTimeConstant: float = 0.1,
    ) -> None:
        self.size, self.name, self.userDefinedId = int(size), name, userDefinedId
        self.enableBaumgarteStabilization = enableBaumgarteStabilization
        self.stabilizationTimeConstant = stabilizationTimeConstant

    def bind(self, model: MultibodyPlant) -> None:
        """Called when the constraint set is bound; may raise."""

    def jacobian(self, model: MultibodyPlant, time: float, Q: Vector, QDot: Vector | None) -> Matrix:
        """G (size, nv); QDot is None if positions are asked for."""
        raise NotImplementedError

    def gamma(self, model: MultibodyPlant, time: float, Q: Vector, QDot: Vector, G: Matrix) -> Vector:
        """(size,): the required G vdot, without stabilization."""
        raise NotImplementedError

    def position_error(self, model: MultibodyPlant, time: float, Q: Vector) -> Vector:
        """phi (size,)"""
        return np.zeros(self.size)

    def velocity_error(self, model: MultibodyPlant, time: float, Q: Vector, QDot: Vector, G: Matrix) -> Vector:
        """(size,)"""
        return G @ QDot

    def forces(
        self, model: MultibodyPlant, time: float, Q: Vector, QDot: Vector, multipliers: Vector
    ) -> tuple[Any, Any, Any]:
        """Bodies, frames on them and spatial forces (6,) in these frames, for multipliers (size,)."""
        raise NotImplementedError(f"custom constraint {self.name!r} does not define its forces on bodies")
