"""Positions as points of a manifold: moving along velocities, and how far two positions are from each other."""

import numpy as np

from mbcli.engine.fields.joint_types import BALL_RPY, QUATERNION_FLOATING, RPY_FLOATING


class PositionManifold:
    """The positions of a model of floats.

    Rotations of joints with a quaternion or roll-pitch-yaw angles are moved by rotation vectors, so that gimbal lock
    does not matter, and their difference is a rotation vector; all other coordinates have rates of their own.
    """

    def __init__(self, model):
        self._nv = model.sizes["nv"]
        self._quaternions, self._angles, plain_q, plain_v = [], [], [], []
        for b in range(1, model.sizes["nbody"]):
            i, d, nv, kind = (int(a[b]) for a in (model.body_q, model.body_v, model.body_nv, model.body_joint_type))
            turning = 0
            if kind == QUATERNION_FLOATING:
                self._quaternions.append((i, d))
                turning, i = 3, i + 1
            elif kind in (BALL_RPY, RPY_FLOATING):
                self._angles.append((i, d))
                turning = 3
            plain_q += range(i + turning, i + nv)
            plain_v += range(d + turning, d + nv)
        self._plain_q, self._plain_v = np.array(plain_q, dtype=int), np.array(plain_v, dtype=int)

    def moved(self, q, d):
        """q after unit time with velocities d (nv,) along which rotations do not change their axes."""
        result = np.array(q, dtype=float)
        result[self._plain_q] += d[self._plain_v]
        for i, k in self._quaternions:
            result[i : i + 4] = _product(_quaternion_of_vector(d[k : k + 3]), q[i : i + 4])
        for i, k in self._angles:
            turned = _product(_quaternion_of_vector(d[k : k + 3]), _quaternion_of_angles(q[i : i + 3]))
            result[i : i + 3] = _nearest_angles(turned, q[i : i + 3])
        return self.normalized(result)

    def normalized(self, q):
        """q with quaternions of unit length. ValueError if one is zero."""
        q = np.array(q, dtype=float)
        for i, _ in self._quaternions:
            length = np.linalg.norm(q[i : i + 4])
            if not length > 0.0:
                raise ValueError(f"the quaternion at position {i} has length {length}")
            q[i : i + 4] /= length
        return q

    def difference(self, q, origin):
        """How far q is from `origin`, (nv,)."""
        result = np.zeros(self._nv)
        result[self._plain_v] = q[self._plain_q] - origin[self._plain_q]
        for k, turn in self._turns(q, origin):
            result[k : k + 3] = turn
        return result

    def difference_rate(self, q, origin):
        """B (nv, nv): difference() changes by B d as q moves along d."""
        B = np.eye(self._nv)
        for k, turn in self._turns(q, origin):
            B[k : k + 3, k : k + 3] = rotation_vector_rate(turn)
        return B

    def _turns(self, q, origin):
        """First velocity and rotation vector of each rotation, in the frame that both are given in."""
        for i, k in self._quaternions:
            yield k, rotation_vector(q[i : i + 4], origin[i : i + 4])
        for i, k in self._angles:
            yield k, rotation_vector(*(_quaternion_of_angles(a[i : i + 3]) for a in (q, origin)))


def _product(a, b):
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.array([w, *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def _quaternion_of_vector(e):
    angle = np.linalg.norm(e)
    return np.array([np.cos(0.5 * angle), *(0.5 * np.sinc(0.5 * angle / np.pi) * e)])


def _quaternion_of_angles(angles):
    roll, pitch, yaw = (np.array([np.cos(0.5 * a), np.sin(0.5 * a)]) for a in angles)
    turns = ([roll[0], roll[1], 0, 0], [pitch[0], 0, pitch[1], 0], [yaw[0], 0, 0, yaw[1]])
    x, y, z = (np.array(turn) for turn in turns)
    return _product(z, _product(y, x))


def _nearest_angles(q, angles):
    """Roll, pitch, yaw of a quaternion, of all that there are those nearest to other ones."""
    w, x, y, z = q / np.linalg.norm(q)
    pitch = np.arcsin(np.clip(2.0 * (w * y - x * z), -1.0, 1.0))
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    both = np.array([[roll, pitch, yaw], [roll + np.pi, np.pi - pitch, yaw + np.pi]])
    both += 2.0 * np.pi * np.round((angles - both) / (2.0 * np.pi))
    return min(both, key=lambda candidate: np.abs(candidate - angles).max())


def rotation_vector(q, origin):
    """Of the shortest rotation from one unit quaternion to another."""
    w = q @ origin
    u = origin[0] * q[1:] - q[0] * origin[1:] - np.cross(q[1:], origin[1:])
    if w < 0.0:
        w, u = -w, -u
    sine = np.linalg.norm(u)
    return u * (2.0 if sine < 1e-12 else 2.0 * np.arctan2(sine, w) / sine)


def rotation_vector_rate(e):
    """J (3, 3): the rotation vector e changes by J w as the rotated frame turns with w, in the fixed frame."""
    angle = np.linalg.norm(e)
    E = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
    factor = 1.0 / 12.0
    if angle > 1e-4:
        factor = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    return np.eye(3) - 0.5 * E + factor * E @ E
