"""Planar: q = (x, y [m], angle [rad]), v = qdot; x and y along F, the rotation about z of both frames."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.joints.moving_origin import bias_of_moving_origin
from mbcli.engine.smooth.spatial import clear_rows

NUM_POSITIONS = 3
NUM_VELOCITIES = 3
POSITION_SUFFIXES = ("x", "y", "qz")
VELOCITY_SUFFIXES = ("vx", "vy", "wz")
IS_ANGULAR = (False, False, True)
ZERO_POSITIONS = (0.0, 0.0, 0.0)
ROTATION = None
HAS_AXIS = False
CARRIED = ((0, 2), (1, 2))
bias_planar = bias_of_moving_origin


@kernel
def pose_planar(model, data, b):
    """Row b of X_FM."""
    q, sin_q, cos_q, i, X = data.q, data.sin_q, data.cos_q, model.body_q[b], data.X_FM
    s, c = sin_q[i + 2], cos_q[i + 2]
    X[b, 0], X[b, 1], X[b, 2] = c, -s, 0.0
    X[b, 3], X[b, 4], X[b, 5] = s, c, 0.0
    X[b, 6], X[b, 7], X[b, 8] = 0.0, 0.0, 1.0
    X[b, 9], X[b, 10], X[b, 11] = q[i], q[i + 1], 0.0


@kernel
def subspace_planar(model, data, b):
    """Its rows of S: the columns of V_FM at Mo in F."""
    H, d = data.S, model.body_v[b]
    clear_rows(H, d, 3)
    H[d, 3] = 1.0
    H[d + 1, 4] = 1.0
    H[d + 2, 2] = 1.0
