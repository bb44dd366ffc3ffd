"""Ball: q = (roll, pitch, yaw) [rad], R_FM = Rz(yaw) Ry(pitch) Rx(roll); v = w_FM expressed in F, not qdot.

qdot = N(q) v is undefined at pitch = 90 deg; the plant refuses it within the gimbal tolerance, kernels do not look.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import set_unit_rows

NUM_POSITIONS = 3
NUM_VELOCITIES = 3
POSITION_SUFFIXES = ("qx", "qy", "qz")
VELOCITY_SUFFIXES = ("wx", "wy", "wz")
ZERO_POSITIONS = (0.0, 0.0, 0.0)


@kernel
def rotation_from_rpy(sin_q, cos_q, i, X, b):
    """The rotation of row b of X from three angles starting at i."""
    sr, cr, sp, cp, sy, cy = sin_q[i], cos_q[i], sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    X[b, 0], X[b, 1], X[b, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    X[b, 3], X[b, 4], X[b, 5] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    X[b, 6], X[b, 7], X[b, 8] = -sp, cp * sr, cp * cr


@kernel
def pose_ball_rpy(sin_q, cos_q, i, X, b):
    """Row b of X becomes X_FM."""
    rotation_from_rpy(sin_q, cos_q, i, X, b)
    X[b, 9], X[b, 10], X[b, 11] = 0.0, 0.0, 0.0


@kernel
def subspace_ball_rpy(H, d):
    """Rows d to d+2 of H become the columns of V_FM at Mo in F."""
    set_unit_rows(H, d, 3)


@kernel
def rpy_rates_from_velocity(sin_q, cos_q, i, v, d, qdot):
    """qdot[i:i+3] = N(q) w with w = v[d:d+3]."""
    sp, cp, sy, cy = sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    along = (cy * v[d] + sy * v[d + 1]) / cp
    qdot[i] = along
    qdot[i + 1] = cy * v[d + 1] - sy * v[d]
    qdot[i + 2] = sp * along + v[d + 2]


@kernel
def velocity_from_rpy_rates(sin_q, cos_q, i, qdot, d, v):
    """v[d:d+3] = N+(q) qdot[i:i+3]; defined for every angle."""
    sp, cp, sy, cy = sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    v[d] = cy * cp * qdot[i] - sy * qdot[i + 1]
    v[d + 1] = sy * cp * qdot[i] + cy * qdot[i + 1]
    v[d + 2] = qdot[i + 2] - sp * qdot[i]


@kernel
def row_by_rpy_rates(sin_q, cos_q, i, J_v, d, J_q, row):
    """J_q[row, i:i+3] = J_v[row, d:d+3] N+(q)."""
    sp, cp, sy, cy = sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    a, b, c = J_v[row, d], J_v[row, d + 1], J_v[row, d + 2]
    J_q[row, i] = cp * (cy * a + sy * b) - sp * c
    J_q[row, i + 1] = cy * b - sy * a
    J_q[row, i + 2] = c
