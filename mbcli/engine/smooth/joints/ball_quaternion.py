"""Ball: q = (qw, qx, qy, qz), the quaternion of R_FM; v = w_FM expressed in F, not qdot. It is singular nowhere."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.ball_rpy import subspace_ball_rpy
from mbcli.engine.smooth.joints.moving_origin import bias_of_moving_origin
from mbcli.engine.smooth.rotations import quaternion
from mbcli.engine.smooth.rotations.quaternion import rotation_from_quaternion

NUM_POSITIONS = 4
NUM_VELOCITIES = 3
POSITION_SUFFIXES = ("qw", "qx", "qy", "qz")
VELOCITY_SUFFIXES = ("wx", "wy", "wz")
IS_ANGULAR = (True, True, True)
ZERO_POSITIONS = (1.0, 0.0, 0.0, 0.0)
ROTATION = quaternion
HAS_AXIS = False
CARRIED = ()
bias_ball_quaternion = bias_of_moving_origin
subspace_ball_quaternion = subspace_ball_rpy


@kernel
def pose_ball_quaternion(model, data, b):
    """Row b of X_FM."""
    X = data.X_FM
    rotation_from_quaternion(data.q, model.body_q[b], X, b)
    X[b, 9], X[b, 10], X[b, 11] = 0.0, 0.0, 0.0
