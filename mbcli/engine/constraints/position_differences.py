"""Positions as points of a manifold: motion along velocities, and how far positions are from others.

Rotations of joints with a quaternion or roll-pitch-yaw angles are moved by rotation vectors, so that gimbal lock does
not matter, and their difference is a rotation vector; all other coordinates have rates of their own. A quaternion is
(w, (x, y, z)).
"""

from mbcli.engine.fields.joint_types import BALL_RPY, QUATERNION_FLOATING, RPY_FLOATING
from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.spatial import add, cross, dot, scale, subtract
from mbcli.engine.smooth.trigonometry import arctangent, nearest_whole, sine_cosine, square_root

PI = 3.141592653589793
LEAST_TURN = 1e-12  # sine of half an angle below which it is that half
SMALL_TURN = 1e-4  # [rad] below which the rate of a rotation vector is a series


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
def quaternion_at(q, i):
    return q[i], (q[i + 1], q[i + 2], q[i + 3])


@kernel
def quaternion_of_angles(q, i):
    """Of roll, pitch and yaw from element i on."""
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
def set_nearest_angles(turned, q, i, result):
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


@kernel
def move_positions(model, q, d, moved):
    """q -> moved (nq,): after unit time with velocities d (nv,) along which rotations do not change their axes."""
    for b in range(1, model.body_parent.shape[0]):
        kind, i, k = model.body_joint_type[b], model.body_q[b], model.body_v[b]
        turning, shift = 0, i - k
        if kind == QUATERNION_FLOATING:
            turned = quaternion_product(quaternion_of_vector((d[k], d[k + 1], d[k + 2])), quaternion_at(q, i))
            length = square_root(turned[0] * turned[0] + dot(turned[1], turned[1]))
            moved[i] = turned[0] / length
            for n in range(3):
                moved[i + 1 + n] = turned[1][n] / length
            turning, shift = 3, shift + 1
        elif kind in (BALL_RPY, RPY_FLOATING):
            turned = quaternion_product(quaternion_of_vector((d[k], d[k + 1], d[k + 2])), quaternion_of_angles(q, i))
            set_nearest_angles(turned, q, i, moved)
            turning = 3
        for n in range(k + turning, k + model.body_nv[b]):
            moved[n + shift] = q[n + shift] + d[n]


@kernel
def turn_between(q, origin):
    """Rotation vector of the shortest rotation from a unit quaternion `origin` to q, in the frame of both."""
    w = q[0] * origin[0] + dot(q[1], origin[1])
    u = subtract(subtract(scale(origin[0], q[1]), scale(q[0], origin[1])), cross(q[1], origin[1]))
    if w < 0.0:
        w, u = -w, scale(-1.0, u)
    sine = square_root(dot(u, u))
    return scale(2.0 if sine < LEAST_TURN else 2.0 * arctangent(sine, w) / sine, u)


@kernel
def turn_of_joint(model, b, q, origin):
    """(whether the joint of a body has a rotation with three velocities, its rotation vector from origin to q)."""
    kind, i = model.body_joint_type[b], model.body_q[b]
    if kind == QUATERNION_FLOATING:
        return True, turn_between(quaternion_at(q, i), quaternion_at(origin, i))
    if kind in (BALL_RPY, RPY_FLOATING):
        return True, turn_between(quaternion_of_angles(q, i), quaternion_of_angles(origin, i))
    return False, (0.0, 0.0, 0.0)


@kernel
def position_difference(model, q, origin, difference):
    """difference (nv,): how far q is from origin."""
    for b in range(1, model.body_parent.shape[0]):
        i, k = model.body_q[b], model.body_v[b]
        turns, e = turn_of_joint(model, b, q, origin)
        turning, shift = 0, i - k
        if turns:
            difference[k], difference[k + 1], difference[k + 2] = e[0], e[1], e[2]
            turning = 3
            if model.body_joint_type[b] == QUATERNION_FLOATING:
                shift += 1
        for n in range(k + turning, k + model.body_nv[b]):
            difference[n] = q[n + shift] - origin[n + shift]


@kernel
def turn_rate_transposed(e, f):
    """J^T f, where the rotation vector e changes by J w as the rotated frame turns with w, in the fixed frame."""
    square = dot(e, e)
    angle = square_root(square)
    factor = 1.0 / 12.0
    if angle > SMALL_TURN:
        sine, cosine = sine_cosine(0.5 * angle)
        factor = (1.0 - 0.5 * angle * cosine / sine) / square
    return add(add(f, scale(0.5, cross(e, f))), scale(factor, cross(e, cross(e, f))))


@kernel
def pull_back_difference(model, difference, slope):
    """slope (nv,) by a position_difference() -> slope by velocities, in its place."""
    for b in range(1, model.body_parent.shape[0]):
        kind, k = model.body_joint_type[b], model.body_v[b]
        if kind in (QUATERNION_FLOATING, BALL_RPY, RPY_FLOATING):
            e = difference[k], difference[k + 1], difference[k + 2]
            f = turn_rate_transposed(e, (slope[k], slope[k + 1], slope[k + 2]))
            slope[k], slope[k + 1], slope[k + 2] = f[0], f[1], f[2]
