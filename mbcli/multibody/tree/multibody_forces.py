"""A set of forces on a plant: one spatial force per body and one generalized force per velocity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import Matrix, Vector
    from mbcli.multibody.state.owning_plant import OwningPlant


class MultibodyForces:
    """Body forces F_Bo_W at body origins expressed in World and generalized forces, zero at first.

    Args:
        plant: finalized; or the number of bodies (World counts) with nv, the number of velocities.
    """

    def __init__(self, plant: OwningPlant | int | None = None, nv: int | None = None, *, nb: int | None = None) -> None:
        if plant is None or isinstance(plant, int):
            dtype, nb = np.dtype(float), nb if plant is None else plant
            if nb is None or nv is None:
                raise TypeError("MultibodyForces takes a plant, or the numbers of bodies and velocities")
            self.sizes = nb, nv
        else:
            plant.require_finalized("MultibodyForces")
            dtype = plant.scalar.dtype
            self.sizes = plant.sizes_of_forces  # that very tuple: whether forces are for a plant is asked in every call
        num_bodies, num_velocities = self.sizes
        self.F_Bo_W: Matrix = np.zeros((num_bodies, 6), dtype)
        self.tau: Vector = np.zeros(num_velocities, dtype)

    def num_bodies(self) -> int:
        """The number of bodies, World among them."""
        return self.F_Bo_W.shape[0]

    def num_velocities(self) -> int:
        """The number of generalized forces."""
        return self.tau.shape[0]

    def SetZero(self) -> Self:
        """Sets all forces to zero; returns this object."""
        self.F_Bo_W[...] = 0.0
        self.tau[...] = 0.0
        return self

    def generalized_forces(self) -> Vector:
        """(nv,) [N m or N]"""
        return self.tau.copy()

    def mutable_generalized_forces(self) -> Vector:
        """(nv,): writing to it changes these forces."""
        return self.tau

    def AddInForces(self, addend: MultibodyForces) -> None:
        """Adds other forces to these. RuntimeError for forces of a plant of another size."""
        if addend.F_Bo_W.shape != self.F_Bo_W.shape or addend.num_velocities() != self.num_velocities():
            raise RuntimeError("forces of different plants cannot be added")
        self.F_Bo_W += addend.F_Bo_W
        self.tau += addend.tau
