"""Universal: q = (a, b) [rad], R_FM = Rx(a) Ry(b); v = (adot, bdot); the second axis is y of M."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import clear_rows, cross, row3, scale

NUM_POSITIONS = 2
NUM_VELOCITIES = 2
POSITION_SUFFIXES = ("qx", "qy")
VELOCITY_SUFFIXES = ("wx", "wy")
IS_ANGULAR = (True, True)
ZERO_POSITIONS = (0.0, 0.0)
ROTATION = None
HAS_AXIS = False
CARRIED = ((0, 1),)


@kernel
def pose_universal(model, data, b):
    """Row b of X_FM."""
    sin_q, cos_q, i, X = data.sin_q, data.cos_q, model.body_q[b], data.X_FM
    s1, c1, s2, c2 = sin_q[i], cos_q[i], sin_q[i + 1], cos_q[i + 1]
    X[b, 0], X[b, 1], X[b, 2] = c2, 0.0, s2
    X[b, 3], X[b, 4], X[b, 5] = s1 * s2, c1, -s1 * c2
    X[b, 6], X[b, 7], X[b, 8] = -c1 * s2, s1, c1 * c2
    X[b, 9], X[b, 10], X[b, 11] = 0.0, 0.0, 0.0


@kernel
def subspace_universal(model, data, b):
    """Its rows of S: the columns of V_FM at Mo in F."""
    cos_q, sin_q, i, H, d = data.cos_q, data.sin_q, model.body_q[b], data.S, model.body_v[b]
    clear_rows(H, d, 2)
    H[d, 0] = 1.0
    H[d + 1, 1] = cos_q[i]
    H[d + 1, 2] = sin_q[i]


@kernel
def bias_universal(model, data, b, w, v):
    """As mobilizers.joint_bias(): the second axis turns about the first one."""
    S, d = data.S, model.body_v[b]
    sign = -1.0 if model.body_reversed[b] == 1 else 1.0
    alpha = scale(sign * data.v[d] * data.v[d + 1], cross(row3(S, d, 0), row3(S, d + 1, 0)))
    return alpha, cross(row3(data.p_RoMo, b, 0), alpha)
