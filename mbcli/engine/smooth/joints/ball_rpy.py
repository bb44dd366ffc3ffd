"""Ball: q = (roll, pitch, yaw) [rad], R_FM = Rz(yaw) Ry(pitch) Rx(roll); v = w_FM expressed in F, not qdot."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.moving_origin import bias_of_moving_origin
from mbcli.engine.smooth.rotations import angles
from mbcli.engine.smooth.rotations.angles import rotation_from_angles
from mbcli.engine.smooth.spatial import set_unit_rows

NUM_POSITIONS = 3
NUM_VELOCITIES = 3
POSITION_SUFFIXES = ("qx", "qy", "qz")
VELOCITY_SUFFIXES = ("wx", "wy", "wz")
IS_ANGULAR = (True, True, True)
ZERO_POSITIONS = (0.0, 0.0, 0.0)
ROTATION = angles
HAS_AXIS = False
CARRIED = ()
bias_ball_rpy = bias_of_moving_origin


@kernel
def pose_ball_rpy(model, data, b):
    """Row b of X_FM."""
    X = data.X_FM
    rotation_from_angles(data.sin_q, data.cos_q, model.body_q[b], X, b)
    X[b, 9], X[b, 10], X[b, 11] = 0.0, 0.0, 0.0


@kernel
def subspace_ball_rpy(model, data, b):
    """Its rows of S: the columns of V_FM at Mo in F."""
    set_unit_rows(data.S, model.body_v[b], 3)
