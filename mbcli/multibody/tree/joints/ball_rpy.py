"""BallRpyJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from mbcli.engine.smooth.joints import ball_rpy
from mbcli.multibody.tree.joints.angles import AnglesJoint
from mbcli.multibody.tree.joints.no_one_force import NoOneForce

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector3
    from mbcli.multibody.state.context import Context


class BallRpyJoint(NoOneForce, AnglesJoint):
    """Roll, pitch, yaw [rad]; velocities are w_FM in F [rad/s], not their rates; damping in N m s."""

    kinematics = ball_rpy
    kTypeName = "ball_rpy"
    damping = AnglesJoint.default_damping  # its name in earlier releases

    def get_angular_velocity(self, context: Context) -> Vector3:
        """w_FM_F (3,) [rad/s]"""
        return self.GetVelocities(context)

    def set_angular_velocity(self, context: Context, w_FM: ArrayLike) -> Self:
        """Replaces w_FM (3,) [rad/s], expressed in F, in a context; returns the joint."""
        self.SetVelocities(context, w_FM)
        return self
