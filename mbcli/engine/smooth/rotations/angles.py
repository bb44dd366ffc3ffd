"""Roll, pitch and yaw [rad]: R = Rz(yaw) Ry(pitch) Rx(roll).

qdot = N(q) w is undefined at pitch = 90 deg, gimbal lock; runs and queries look for it, kernels of rates do not.
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.rotations.quaternion import quaternion_product
from mbcli.engine.smooth.trigonometry import arctangent, nearest_whole, sine_cosine

NUM_POSITIONS = 3
ADVANCES_BY_RATES = True
LOCKS = True
RATES_BY_SINES = True
PI = 3.141592653589793
COSINE_AT_GIMBAL_LOCK = 0.008  # cosine of the pitch below which rates of roll and yaw are not defined


@kernel
def rotation_from_angles(sin_q, cos_q, i, X, b):
    """The rotation of row b of X from three angles starting at i."""
    sr, cr, sp, cp, sy, cy = sin_q[i], cos_q[i], sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    X[b, 0], X[b, 1], X[b, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    X[b, 3], X[b, 4], X[b, 5] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    X[b, 6], X[b, 7], X[b, 8] = -sp, cp * sr, cp * cr


@kernel
def rates_angles(q, sin_q, cos_q, i, v, d, qdot):
    """qdot[i:i+3] = N(q) w with w = v[d:d+3]."""
    sp, cp, sy, cy = sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    along = (cy * v[d] + sy * v[d + 1]) / cp
    qdot[i] = along
    qdot[i + 1] = cy * v[d + 1] - sy * v[d]
    qdot[i + 2] = sp * along + v[d + 2]


@kernel
def velocity_angles(q, sin_q, cos_q, i, qdot, d, v):
    """v[d:d+3] = N+(q) qdot[i:i+3]; defined for every angle."""
    sp, cp, sy, cy = sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    v[d] = cy * cp * qdot[i] - sy * qdot[i + 1]
    v[d + 1] = sy * cp * qdot[i] + cy * qdot[i + 1]
    v[d + 2] = qdot[i + 2] - sp * qdot[i]


@kernel
def row_angles(q, sin_q, cos_q, i, J_v, d, J_q, row):
    """J_q[row, i:i+3] = J_v[row, d:d+3] N+(q)."""
    sp, cp, sy, cy = sin_q[i + 1], cos_q[i + 1], sin_q[i + 2], cos_q[i + 2]
    a, b, c = J_v[row, d], J_v[row, d + 1], J_v[row, d + 2]
    J_q[row, i] = cp * (cy * a + sy * b) - sp * c
    J_q[row, i + 1] = cy * b - sy * a
    J_q[row, i + 2] = c


@kernel
def advance_angles(q, i, qdot, v, d, h, exact):
    """q after the time h by qdot."""
    for k in range(i, i + 3):
        q[k] += h * qdot[k]


@kernel
def normalize_angles(q, i):
    """Nothing: all angles are rotations."""


@kernel
def undefined_angles(q, i):
    """Whether there is no such rotation: there always is."""
    return False


@kernel
def locked_angles(q, i):
    """Whether rates of positions do not exist at q."""
    _, cosine = sine_cosine(q[i + 1])
    return cosine * cosine < COSINE_AT_GIMBAL_LOCK * COSINE_AT_GIMBAL_LOCK


@kernel
def orientation_angles(q, i):
    """The unit quaternion of the rotation at q."""
    sine, cosine = sine_cosine(0.5 * q[i])
    x = cosine, (sine, 0.0, 0.0)
    sine, cosine = sine_cosine(0.5 * q[i + 1])
    y = cosine, (0.0, sine, 0.0)
    sine, cosine = sine_cosine(0.5 * q[i + 2])
    z = cosine, (0.0, 0.0, sine)
    return quaternion_product(z, quaternion_product(y, x))


@kernel
def nearest_turn(angle, other):
    """The angle that differs from `angle` by whole turns and is nearest to another one."""
    return angle + 2.0 * PI * nearest_whole((other - angle) / (2.0 * PI))


@kernel
def turn_angles(turned, q, i, result):
    """Roll, pitch, yaw of a unit quaternion into result, of all that there are those nearest to the ones in q.

    Pitch and roll are those of what is left without the yaw, so that the rotation is right close to gimbal lock too.
    """
    w, (x, y, z) = turned
    forward, sideways, yaw = 1.0 - 2.0 * (y * y + z * z), 2.0 * (w * z + x * y), q[i + 2]
    if not (forward == 0.0 and sideways == 0.0):
        yaw = arctangent(sideways, forward)
    s, c = sine_cosine(yaw)
    pitch = arctangent(2.0 * (w * y - x * z), c * forward + s * sideways)
    roll_sine = 2.0 * (s * (x * z + w * y) - c * (y * z - w * x))
    roll = arctangent(roll_sine, c * (1.0 - 2.0 * (x * x + z * z)) - 2.0 * s * (x * y - w * z))
    a, b, c = nearest_turn(roll, q[i]), nearest_turn(pitch, q[i + 1]), nearest_turn(yaw, q[i + 2])
    d, e, f = nearest_turn(roll + PI, q[i]), nearest_turn(PI - pitch, q[i + 1]), nearest_turn(yaw + PI, q[i + 2])
    first = max(abs(a - q[i]), abs(b - q[i + 1]), abs(c - q[i + 2]))
    second = max(abs(d - q[i]), abs(e - q[i + 1]), abs(f - q[i + 2]))
    if first <= second:
        result[i], result[i + 1], result[i + 2] = a, b, c
    else:
        result[i], result[i + 1], result[i + 2] = d, e, f
