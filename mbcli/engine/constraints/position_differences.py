"""Positions as points of a manifold: motion along velocities, and how far positions are from others.

Rotations of joints (engine/smooth/rotations) are moved by rotation vectors, so that gimbal lock does not matter, and
their difference is a rotation vector; all other coordinates have rates of their own. A quaternion is (w, (x, y, z)).
"""

from mbcli.engine.runtime.kernel import kernel
from mbcli.engine.smooth.rotations.quaternion import quaternion_of_vector, quaternion_product
from mbcli.engine.smooth.rotations.registry import NO_ROTATION, NUM_VELOCITIES, rotation_orientation, rotation_turn
from mbcli.engine.smooth.spatial import add, cross, dot, scale, subtract
from mbcli.engine.smooth.trigonometry import arctangent, sine_cosine, square_root

LEAST_TURN = 1e-12  # sine of half an angle below which it is that half
SMALL_TURN = 1e-4  # [rad] below which the rate of a rotation vector is a series


@kernel
def move_positions(model, q, d, moved):
    """q -> moved (nq,): after unit time with velocities d (nv,) along which rotations do not change their axes."""
    for b in range(1, model.body_parent.shape[0]):
        i, k, turning = model.body_q[b], model.body_v[b], model.body_rotation[b]
        end = k + model.body_nv[b]
        if turning != NO_ROTATION:
            vector = quaternion_of_vector((d[k], d[k + 1], d[k + 2]))
            rotation_turn(turning, quaternion_product(vector, rotation_orientation(turning, q, i)), q, i, moved)
            i, k = i + model.body_rotation_nq[b], k + NUM_VELOCITIES
        for n in range(end - k):
            moved[i + n] = q[i + n] + d[k + n]


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
def position_difference(model, q, origin, difference):
    """difference (nv,): how far q is from origin."""
    for b in range(1, model.body_parent.shape[0]):
        i, k, turning = model.body_q[b], model.body_v[b], model.body_rotation[b]
        end = k + model.body_nv[b]
        if turning != NO_ROTATION:
            e = turn_between(rotation_orientation(turning, q, i), rotation_orientation(turning, origin, i))
            difference[k], difference[k + 1], difference[k + 2] = e[0], e[1], e[2]
            i, k = i + model.body_rotation_nq[b], k + NUM_VELOCITIES
        for n in range(end - k):
            difference[k + n] = q[i + n] - origin[i + n]


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
        k = model.body_v[b]
        if model.body_rotation[b] != NO_ROTATION:
            e = difference[k], difference[k + 1], difference[k + 2]
            f = turn_rate_transposed(e, (slope[k], slope[k + 1], slope[k + 2]))
            slope[k], slope[k + 1], slope[k + 2] = f[0], f[1], f[2]
