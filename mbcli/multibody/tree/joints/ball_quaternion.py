"""BallQuaternionJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from mbcli.engine.smooth.joints import ball_quaternion
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.multibody.tree.joints.ball import BallJoint
from mbcli.multibody.tree.joints.with_quaternion import WithQuaternion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector
    from mbcli.math.quaternion import Quaternion
    from mbcli.multibody.state.context import Context


class BallQuaternionJoint(BallJoint, WithQuaternion):
    """A unit quaternion (w, x, y, z) of R_FM; velocities are w_FM in F [rad/s]; damping in N m s.

    The ball joint of model files. It passes every orientation, and pydrake has none with these coordinates.
    """

    kinematics = ball_quaternion
    kTypeName = "ball_quaternion"

    def SetQuaternion(self, context: Context, q_FM: Quaternion) -> Self:
        """Replaces the orientation by q_FM in a context; returns the joint."""
        self.SetPositions(context, q_FM.wxyz())
        return self

    def positions_of(self, stated: ArrayLike) -> Vector:
        """w, x, y, z (4,) of a quaternion as it is, or of roll, pitch, yaw (3,) [rad]."""
        values = np.array(stated, dtype=float)
        return values if len(values) == 4 else RollPitchYaw(values).ToQuaternion().wxyz()
