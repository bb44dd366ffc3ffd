"""Joints whose velocities are not the rates of coordinates take no force along one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.multibody.tree.joint import Joint

if TYPE_CHECKING:
    from mbcli.math.array_types import Scalar
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.multibody_forces import MultibodyForces


class NoOneForce(Joint):
    """A joint that takes none; to be named first among the bases."""

    def AddInOneForce(self, context: Context, joint_dof: int, joint_tau: Scalar, forces: MultibodyForces) -> None:
        """Not for a joint of these coordinates: raises RuntimeError."""
        raise RuntimeError(f"joint '{self._name}' of type {self.kTypeName} takes no force along one coordinate")
