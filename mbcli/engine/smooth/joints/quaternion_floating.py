"""Six degrees of freedom: q = (qw, qx, qy, qz, x, y, z), v = (w_FM, v_FMo), both expressed in F."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.moving_origin import bias_of_moving_origin
from mbcli.engine.smooth.rotations import quaternion
from mbcli.engine.smooth.rotations.quaternion import rotation_from_quaternion
from mbcli.engine.smooth.spatial import set_unit_rows

NUM_POSITIONS = 7
NUM_VELOCITIES = 6
POSITION_SUFFIXES = ("qw", "qx", "qy", "qz", "x", "y", "z")
VELOCITY_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")
IS_ANGULAR = (True, True, True, False, False, False)
ZERO_POSITIONS = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ROTATION = quaternion
HAS_AXIS = False
CARRIED = tuple((translation, rotation) for translation in (3, 4, 5) for rotation in (0, 1, 2))
bias_quaternion_floating = bias_of_moving_origin


@kernel
def pose_quaternion_floating(model, data, b):
    """Row b of X_FM."""
    q, i, X = data.q, model.body_q[b], data.X_FM
    rotation_from_quaternion(q, i, X, b)
    X[b, 9], X[b, 10], X[b, 11] = q[i + 4], q[i + 5], q[i + 6]


@kernel
def subspace_quaternion_floating(model, data, b):
    """Its rows of S: the columns of V_FM at Mo in F."""
    set_unit_rows(data.S, model.body_v[b], 6)
