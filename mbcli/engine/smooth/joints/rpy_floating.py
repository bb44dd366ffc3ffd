"""Six degrees of freedom: q = (roll, pitch, yaw, x, y, z), v = (w_FM, v_FMo), both expressed in F, not qdot."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.ball_rpy import rotation_from_rpy

NUM_POSITIONS = 6
NUM_VELOCITIES = 6
POSITION_SUFFIXES = ("qx", "qy", "qz", "x", "y", "z")
VELOCITY_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")
ZERO_POSITIONS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def pose_rpy_floating(q, sin_q, cos_q, i, X, b):
    """Row b of X becomes X_FM."""
    rotation_from_rpy(sin_q, cos_q, i, X, b)
    X[b, 9], X[b, 10], X[b, 11] = q[i + 3], q[i + 4], q[i + 5]
