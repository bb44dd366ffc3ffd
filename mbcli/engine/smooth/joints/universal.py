"""Universal: q = (a, b) [rad], R_FM = Rx(a) Ry(b); v = (adot, bdot); the second axis is y of M."""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import clear_rows

NUM_POSITIONS = 2
NUM_VELOCITIES = 2
POSITION_SUFFIXES = ("qx", "qy")
VELOCITY_SUFFIXES = ("wx", "wy")
ZERO_POSITIONS = (0.0, 0.0)


@kernel
def pose_universal(sin_q, cos_q, i, X, b):
    """Row b of X becomes X_FM."""
    s1, c1, s2, c2 = sin_q[i], cos_q[i], sin_q[i + 1], cos_q[i + 1]
    X[b, 0], X[b, 1], X[b, 2] = c2, 0.0, s2
    X[b, 3], X[b, 4], X[b, 5] = s1 * s2, c1, -s1 * c2
    X[b, 6], X[b, 7], X[b, 8] = -c1 * s2, s1, c1 * c2
    X[b, 9], X[b, 10], X[b, 11] = 0.0, 0.0, 0.0


@kernel
def subspace_universal(sin_q, cos_q, i, H, d):
    """Rows d, d+1 of H become the columns of V_FM at Mo in F."""
    clear_rows(H, d, 2)
    H[d, 0] = 1.0
    H[d + 1, 1] = cos_q[i]
    H[d + 1, 2] = sin_q[i]
