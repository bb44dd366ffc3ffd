"""Six degrees of freedom: q = (roll, pitch, yaw, x, y, z), v = (w_FM, v_FMo), both expressed in F, not qdot."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints import quaternion_floating
from mbcli.engine.smooth.joints.moving_origin import bias_of_moving_origin
from mbcli.engine.smooth.rotations import angles
from mbcli.engine.smooth.rotations.angles import rotation_from_angles

NUM_POSITIONS = 6
NUM_VELOCITIES = 6
POSITION_SUFFIXES = ("qx", "qy", "qz", "x", "y", "z")
VELOCITY_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")
IS_ANGULAR = (True, True, True, False, False, False)
ZERO_POSITIONS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ROTATION = angles
HAS_AXIS = False
CARRIED = quaternion_floating.CARRIED
bias_rpy_floating = bias_of_moving_origin
subspace_rpy_floating = quaternion_floating.subspace_quaternion_floating


@kernel
def pose_rpy_floating(model, data, b):
    """Row b of X_FM."""
    q, i, X = data.q, model.body_q[b], data.X_FM
    rotation_from_angles(data.sin_q, data.cos_q, i, X, b)
    X[b, 9], X[b, 10], X[b, 11] = q[i + 3], q[i + 4], q[i + 5]
