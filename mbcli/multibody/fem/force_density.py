"""Forces on each volume of elastic bodies: gravity, and fields of users."""

from __future__ import annotations

import copy
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Vector3


class ForceDensityType(IntEnum):
    """The volume that a force density [N/m^3] is about: the deformed or the undeformed one."""

    kPerCurrentVolume = 0
    kPerReferenceVolume = 1


class ForceDensityFieldBase:
    """A force density [N/m^3] at each point of the world; derive from ForceDensityField."""

    def __init__(self, density_type: ForceDensityType = ForceDensityType.kPerCurrentVolume) -> None:
        if not isinstance(density_type, ForceDensityType):
            raise TypeError(f"a force density field takes a ForceDensityType, not {density_type!r}")
        self._density_type = density_type
        self._plant: Any = None

    def density_type(self) -> ForceDensityType:
        """The volume that the density is about."""
        return self._density_type

    def EvaluateAt(self, context: Any, p_WQ: ArrayLike) -> Vector3:
        """Force density f_W (3,) [N/m^3] at a point of the world, p_WQ (3,) [m]; context is one of the plant."""
        return self.DoEvaluateAt(context, np.asarray(p_WQ))

    def DoEvaluateAt(self, context: Any, p_WQ: Vector3) -> Vector3:
        """What EvaluateAt() gives: for classes of users to override."""
        raise NotImplementedError(f"{type(self).__name__} does not say its force density: override DoEvaluateAt()")

    def DoClone(self) -> Self:
        """A copy: for classes of users whose copies need more than that of each attribute."""
        return copy.copy(self)

    def DoDeclareCacheEntries(self, plant: Any) -> None:
        """Called when the plant that owns it is finalized: for classes of users to override."""

    def DoDeclareInputPorts(self, plant: Any) -> None:
        """Called when the plant that owns it is finalized: for classes of users to override."""

    def densities_at(self, context: Any, points: Matrix) -> Matrix:
        """Force densities (n, 3) [N/m^3] at points (n, 3) [m] of the world. Override it if all can be had at once.

        ModelError for densities of another shape, or that are not finite.
        """
        found = np.empty((len(points), 3))
        for row, p_WQ in enumerate(points):
            value = np.asarray(self.EvaluateAt(context, p_WQ), dtype=float)
            if value.size != 3 or not np.isfinite(value).all():
                raise ModelError(f"{type(self).__name__}: a force density is three finite numbers, not {value}")
            found[row] = value.ravel()
        return found

    def Clone(self) -> Self:
        """A copy that no plant owns."""
        other = self.DoClone()
        vars(other)["_plant"] = None
        return other


class ForceDensityField(ForceDensityFieldBase):
    """Base of the fields of users: override DoEvaluateAt(), or EvaluateAt()."""

    def has_parent_system(self) -> bool:
        """Whether a plant owns it."""
        return self._plant is not None

    def parent_system_or_throw(self) -> Any:
        """The plant. RuntimeError if none owns it."""
        if self._plant is None:
            raise RuntimeError(f"{type(self).__name__}: no plant owns this force density field")
        return self._plant

    def join(self, plant: Any) -> None:
        """The plant owns it from now on."""
        self._plant = plant


class GravityForceField(ForceDensityField):
    """The weight of a body of even density.

    Args:
        gravity_vector: (3,) [m/s^2], in W.
        mass_density: [kg/m^3] of the reference configuration.
    """

    def __init__(self, gravity_vector: ArrayLike, mass_density: float) -> None:
        super().__init__(ForceDensityType.kPerReferenceVolume)
        vector = np.array(gravity_vector, dtype=float).ravel()
        if vector.shape != (3,) or not np.isfinite(vector).all() or not 0.0 <= float(mass_density) < np.inf:
            raise ModelError(
                f"GravityForceField takes three finite numbers and a density that is not negative, not "
                f"{np.asarray(gravity_vector).tolist()} and {mass_density}"
            )
        self._density = vector * float(mass_density)

    def EvaluateAt(self, context: Any, p_WQ: ArrayLike) -> Vector3:
        """Force density f_W (3,) [N/m^3], the same everywhere."""
        return self._density.copy()

    def densities_at(self, context: Any, points: Matrix) -> Matrix:
        """Force densities (n, 3) [N/m^3], the same everywhere."""
        return np.tile(self._density, (len(points), 1))
