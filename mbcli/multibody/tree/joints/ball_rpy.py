"""BallRpyJoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.smooth.joints import ball_rpy
from mbcli.math.quaternion import Quaternion
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.multibody.tree.joints.angles import AnglesJoint
from mbcli.multibody.tree.joints.ball import BallJoint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector


class BallRpyJoint(BallJoint, AnglesJoint):
    """Roll, pitch, yaw [rad]; velocities are w_FM in F [rad/s], not their rates; damping in N m s.

    At a pitch of 90 degrees rates of roll and yaw do not exist, and a run ends: BallQuaternionJoint goes on.
    """

    kinematics = ball_rpy
    kTypeName = "ball_rpy"

    def positions_of(self, stated: ArrayLike) -> Vector:
        """Roll, pitch, yaw (3,) [rad] of these, or of a quaternion w, x, y, z (4,)."""
        values = np.array(stated, dtype=float)
        return values if len(values) == 3 else RollPitchYaw(Quaternion(values / np.linalg.norm(values))).vector()
