"""A set of forces on a plant: one spatial force per body and one generalized force per velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class MultibodyForces:
    """Body forces F_Bo_W at body origins expressed in World and generalized forces, zero at first.

    Args:
        plant: finalized; or the number of bodies (World counts) with nv, the number of velocities.
    """

    def __init__(
        self, plant: MultibodyPlant | int | None = None, nv: int | None = None, *, nb: int | None = None
    ) -> None:
        sizes: Any
        dtype: Any
        sizes, dtype = (plant if isinstance(plant, int) else nb, nv), float
        if sizes[0] is None:
            plant._require_finalized("MultibodyForces")
            sizes, dtype = plant._sizes_of_forces, plant._scalar.dtype
        self._sizes = sizes  # that very tuple of the plant: whether forces are for a plant is asked in every call
        num_bodies, num_velocities = sizes
        self._body_forces = np.zeros((num_bodies, 6), dtype)
        self._generalized_forces = np.zeros(num_velocities, dtype)

    def num_bodies(self) -> int:
        """The number of bodies, World among them."""
        return self._body_forces.shape[0]

    def num_velocities(self) -> int:
        """The number of generalized forces."""
        return self._generalized_forces.shape[0]

    def SetZero(self) -> Self:
        """Sets all forces to zero; returns this object."""
        self._body_forces[...] = 0.0
        self._generalized_forces[...] = 0.0
        return self

    def generalized_forces(self) -> Vector:
        """(nv,) [N m or N]"""
        return self._generalized_forces.copy()

    def mutable_generalized_forces(self) -> Vector:
        """(nv,): writing to it changes these forces."""
        return self._generalized_forces

    def AddInForces(self, addend: MultibodyForces) -> None:
        """Adds other forces to these. RuntimeError for forces of a plant of another size."""
        if addend._body_forces.shape != self._body_forces.shape or addend.num_velocities() != self.num_velocities():
            raise RuntimeError("forces of different plants cannot be added")
        self._body_forces += addend._body_forces
        self._generalized_forces += addend._generalized_forces
