"""Six degrees of freedom: q = (qw, qx, qy, qz, x, y, z), v = (w_FM, v_FMo), both expressed in F.

The rotation is that of the normalised quaternion. qdot = 1/2 w q (quaternion product, q as it is), whose left inverse
is w = 2 qdot q* / |q|^2.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import set_unit_rows

NUM_POSITIONS = 7
NUM_VELOCITIES = 6
POSITION_SUFFIXES = ("qw", "qx", "qy", "qz", "x", "y", "z")
VELOCITY_SUFFIXES = ("wx", "wy", "wz", "vx", "vy", "vz")
ZERO_POSITIONS = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def pose_quaternion_floating(q, i, X, b):
    """Row b of X becomes X_FM."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    t = 2.0 / (w * w + x * x + y * y + z * z)
    X[b, 0], X[b, 1], X[b, 2] = 1.0 - t * (y * y + z * z), t * (x * y - w * z), t * (x * z + w * y)
    X[b, 3], X[b, 4], X[b, 5] = t * (x * y + w * z), 1.0 - t * (x * x + z * z), t * (y * z - w * x)
    X[b, 6], X[b, 7], X[b, 8] = t * (x * z - w * y), t * (y * z + w * x), 1.0 - t * (x * x + y * y)
    X[b, 9], X[b, 10], X[b, 11] = q[i + 4], q[i + 5], q[i + 6]


@kernel
def subspace_floating(H, d):
    """Rows d to d+5 of H become the columns of V_FM at Mo in F."""
    set_unit_rows(H, d, 6)


@kernel
def quaternion_rates_from_velocity(q, i, v, d, qdot):
    """qdot[i:i+4] = N(q) w with w = v[d:d+3]."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    qdot[i] = -0.5 * (x * v[d] + y * v[d + 1] + z * v[d + 2])
    qdot[i + 1] = 0.5 * (w * v[d] + z * v[d + 1] - y * v[d + 2])
    qdot[i + 2] = 0.5 * (w * v[d + 1] - z * v[d] + x * v[d + 2])
    qdot[i + 3] = 0.5 * (y * v[d] - x * v[d + 1] + w * v[d + 2])


@kernel
def velocity_from_quaternion_rates(q, i, qdot, d, v):
    """v[d:d+3] = N+(q) qdot[i:i+4]."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    t = 2.0 / (w * w + x * x + y * y + z * z)
    v[d] = t * (w * qdot[i + 1] - x * qdot[i] - z * qdot[i + 2] + y * qdot[i + 3])
    v[d + 1] = t * (w * qdot[i + 2] - y * qdot[i] + z * qdot[i + 1] - x * qdot[i + 3])
    v[d + 2] = t * (w * qdot[i + 3] - z * qdot[i] - y * qdot[i + 1] + x * qdot[i + 2])


@kernel
def row_by_quaternion_rates(q, i, J_v, d, J_q, row):
    """J_q[row, i:i+4] = J_v[row, d:d+3] N+(q)."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    t = 2.0 / (w * w + x * x + y * y + z * z)
    a, b, c = J_v[row, d], J_v[row, d + 1], J_v[row, d + 2]
    J_q[row, i] = -t * (x * a + y * b + z * c)
    J_q[row, i + 1] = t * (w * a + z * b - y * c)
    J_q[row, i + 2] = t * (w * b - z * a + x * c)
    J_q[row, i + 3] = t * (y * a - x * b + w * c)
