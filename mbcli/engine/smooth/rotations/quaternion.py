"""A quaternion (w, x, y, z): the rotation is that of the normalised one.

qdot = 1/2 w q (quaternion product, q as it is), whose left inverse is w = 2 qdot q* / |q|^2. Kernels that take a
quaternion apart from positions have it as (w, (x, y, z)).
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, scale
from mbcli.engine.smooth.trigonometry import arctangent, sign_of, sine_cosine, square_root

NUM_POSITIONS = 4
ADVANCES_BY_RATES = False  # whether q + h qdot is where a step h leads to
LOCKS = False  # whether rates of positions do not exist somewhere
RATES_BY_SINES = False  # whether N(q) is taken by sin_q and cos_q
SMALLEST = 1e-30  # of a square: its root is divided by


@kernel
def rotation_from_quaternion(q, i, X, b):
    """The rotation of row b of X from the quaternion q[i:i+4]."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    t = 2.0 / (w * w + x * x + y * y + z * z)
    X[b, 0], X[b, 1], X[b, 2] = 1.0 - t * (y * y + z * z), t * (x * y - w * z), t * (x * z + w * y)
    X[b, 3], X[b, 4], X[b, 5] = t * (x * y + w * z), 1.0 - t * (x * x + z * z), t * (y * z - w * x)
    X[b, 6], X[b, 7], X[b, 8] = t * (x * z - w * y), t * (y * z + w * x), 1.0 - t * (x * x + y * y)


@kernel
def rates_quaternion(q, sin_q, cos_q, i, v, d, qdot):
    """qdot[i:i+4] = N(q) w with w = v[d:d+3]."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    qdot[i] = -0.5 * (x * v[d] + y * v[d + 1] + z * v[d + 2])
    qdot[i + 1] = 0.5 * (w * v[d] + z * v[d + 1] - y * v[d + 2])
    qdot[i + 2] = 0.5 * (w * v[d + 1] - z * v[d] + x * v[d + 2])
    qdot[i + 3] = 0.5 * (y * v[d] - x * v[d + 1] + w * v[d + 2])


@kernel
def velocity_quaternion(q, sin_q, cos_q, i, qdot, d, v):
    """v[d:d+3] = N+(q) qdot[i:i+4]."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    t = 2.0 / (w * w + x * x + y * y + z * z)
    v[d] = t * (w * qdot[i + 1] - x * qdot[i] - z * qdot[i + 2] + y * qdot[i + 3])
    v[d + 1] = t * (w * qdot[i + 2] - y * qdot[i] + z * qdot[i + 1] - x * qdot[i + 3])
    v[d + 2] = t * (w * qdot[i + 3] - z * qdot[i] - y * qdot[i + 1] + x * qdot[i + 2])


@kernel
def row_quaternion(q, sin_q, cos_q, i, J_v, d, J_q, row):
    """J_q[row, i:i+4] = J_v[row, d:d+3] N+(q)."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    t = 2.0 / (w * w + x * x + y * y + z * z)
    a, b, c = J_v[row, d], J_v[row, d + 1], J_v[row, d + 2]
    J_q[row, i] = -t * (x * a + y * b + z * c)
    J_q[row, i + 1] = t * (w * a + z * b - y * c)
    J_q[row, i + 2] = t * (w * b - z * a + x * c)
    J_q[row, i + 3] = t * (y * a - x * b + w * c)


@kernel
def advance_quaternion(q, i, qdot, v, d, h, exact):
    """q after the time h, of unit length: with `exact` 1 as by the constant angular velocity v[d:d+3], else by qdot."""
    old, turned = 1.0, h
    if exact == 1:
        old, turned = cosine_and_quotient(0.25 * h * h * (v[d] * v[d] + v[d + 1] * v[d + 1] + v[d + 2] * v[d + 2]))
        turned = h * turned
    for k in range(i, i + 4):
        q[k] = old * q[k] + turned * qdot[k]
    normalize_quaternion(q, i)


# 1 / (n (n - 1)), by which a term of a series follows from the one before
OF_3, OF_4, OF_5, OF_6, OF_7, OF_8 = 1.0 / 6.0, 1.0 / 12.0, 1.0 / 20.0, 1.0 / 30.0, 1.0 / 42.0, 1.0 / 56.0
OF_9, OF_10, OF_11, OF_12, OF_13 = 1.0 / 72.0, 1.0 / 90.0, 1.0 / 110.0, 1.0 / 132.0, 1.0 / 156.0
OF_14, OF_15 = 1.0 / 182.0, 1.0 / 210.0


@kernel
def cosine_and_quotient(y):
    """cos(x) and sin(x) / x of x^2 = y, half the angle [rad] of a step: 1e-15 up to x = 1, 1e-4 up to x = 3."""
    cosine, quotient = 1.0 - OF_14 * y, 1.0 - OF_15 * y
    cosine, quotient = 1.0 - OF_12 * y * cosine, 1.0 - OF_13 * y * quotient
    cosine, quotient = 1.0 - OF_10 * y * cosine, 1.0 - OF_11 * y * quotient
    cosine, quotient = 1.0 - OF_8 * y * cosine, 1.0 - OF_9 * y * quotient
    cosine, quotient = 1.0 - OF_6 * y * cosine, 1.0 - OF_7 * y * quotient
    cosine, quotient = 1.0 - OF_4 * y * cosine, 1.0 - OF_5 * y * quotient
    return 1.0 - 0.5 * y * cosine, 1.0 - OF_3 * y * quotient


@kernel
def normalize_quaternion(q, i):
    """Scales the quaternion q[i:i+4] to unit length."""
    s = 1.0 / square_root(q[i] * q[i] + q[i + 1] * q[i + 1] + q[i + 2] * q[i + 2] + q[i + 3] * q[i + 3])
    for k in range(4):
        q[i + k] = s * q[i + k]


@kernel
def undefined_quaternion(q, i):
    """Whether there is no such rotation: all of the quaternion is zero."""
    return q[i] == 0.0 and q[i + 1] == 0.0 and q[i + 2] == 0.0 and q[i + 3] == 0.0


@kernel
def locked_quaternion(q, i):
    """Whether rates of positions do not exist at q: they always do."""
    return False


@kernel
def orientation_quaternion(q, i):
    """The unit quaternion of the rotation at q."""
    return q[i], (q[i + 1], q[i + 2], q[i + 3])


@kernel
def turn_quaternion(turned, q, i, result):
    """A unit quaternion, but for rounding, into the positions of result."""
    length = square_root(turned[0] * turned[0] + dot(turned[1], turned[1]))
    result[i] = turned[0] / length
    for n in range(3):
        result[i + 1 + n] = turned[1][n] / length


@kernel
def quaternion_product(a, b):
    w = a[0] * b[0] - dot(a[1], b[1])
    return w, add(add(scale(a[0], b[1]), scale(b[0], a[1])), cross(a[1], b[1]))


@kernel
def quaternion_of_vector(e):
    """Of the rotation by a rotation vector [rad]."""
    angle = square_root(dot(e, e))
    sine, cosine = sine_cosine(0.5 * angle)
    return cosine, scale(sine / angle if angle > 0.0 else 0.5, e)


@kernel
def rotation_vector(q, i):
    """Angle times axis [rad], at most half a turn, of the rotation of the quaternion q[i:i+4]."""
    half, s = half_angle(q, i)
    return scale(2.0 * half / s, (q[i + 1], q[i + 2], q[i + 3]))


@kernel
def half_angle(q, i):
    """Half of the angle of the quaternion q[i:i+4], which is at most half a turn, over the length of its vector part.

    The length has the sign of the scalar part: it is that of the same rotation by less than half a turn.
    """
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    sign = sign_of(w)
    s = square_root(x * x + y * y + z * z + SMALLEST)
    return arctangent(s, sign * w), sign * s


@kernel
def add_rotation_vector_slopes(q, i, factor, slopes, d):
    """slopes[d:d+3, d:d+3] += factor times the derivatives of rotation_vector() by turns about the outer axes.

    1 - [r]/2 + c [r]^2 with c = (1 - (|r| / 2) cot(|r| / 2)) / |r|^2, [r] the matrix of the cross product.
    """
    half, s = half_angle(q, i)
    r = rotation_vector(q, i)
    c = (1.0 - half * q[i] / s) / (4.0 * half * half)
    for k in range(3):
        unit = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[k]
        across = cross(r, unit)
        twice = cross(r, across)
        for j in range(3):
            slopes[d + j, d + k] += factor * (unit[j] - 0.5 * across[j] + c * twice[j])
