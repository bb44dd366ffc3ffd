"""RpyFloatingJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from mbcli.engine.smooth.joints import rpy_floating
from mbcli.math import RollPitchYaw, RotationMatrix
from mbcli.multibody.tree.joints.floating import FloatingJoint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector, Vector3
    from mbcli.math.quaternion import Quaternion
    from mbcli.multibody.state.context import Context


class RpyFloatingJoint(FloatingJoint):
    """Positions: roll, pitch, yaw [rad] of R_FM and p_FM [m]; velocities are not their rates."""

    kinematics = rpy_floating
    kTypeName = "rpy_floating"
    _rotation_size = 3

    @staticmethod
    def _rotation_positions(rotation: RotationMatrix | Quaternion) -> Vector:
        return RollPitchYaw(rotation).vector()

    @staticmethod
    def _rotation_of(positions: Vector) -> RotationMatrix:
        return RotationMatrix(RollPitchYaw(positions))

    def get_angles(self, context: Context) -> Vector3:
        """(3,) [rad]"""
        return self.GetPositions(context)[:3]

    def set_angles(self, context: Context, angles: ArrayLike) -> Self:
        """Replaces roll, pitch, yaw (3,) [rad] in a context; returns the joint."""
        self.SetPositions(context, [*self._sized(angles, 3, context), *self.GetPositions(context)[3:]])
        return self

    def get_default_angles(self) -> Vector3:
        """Roll, pitch, yaw (3,) [rad] in new contexts."""
        return self.default_positions()[:3]

    def set_default_angles(self, angles: ArrayLike) -> None:
        """Replaces roll, pitch, yaw (3,) [rad] of new contexts."""
        self._set_default_part(0, angles, 3)

    def set_random_angles_distribution(self, angles: Any) -> None:
        """Distribution of plant.SetRandomState() for all three; see mbcli.multibody.tree.random_distribution.

        The translation is zero then, unless it is random too. Pitch near 90 deg is a singularity of this joint.
        """
        self._set_random_parts((0, angles, 3))
