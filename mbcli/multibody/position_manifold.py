"""Positions as points of a manifold: moving along velocities, and how far two positions are from each other."""

import numpy as np

from mbcli.engine.joints import BALL_RPY, QUATERNION_FLOATING, RPY_FLOATING


class PositionManifold:
    """The positions of a model of floats. A ConstrainedModel computes; its q, v and qdot change.

    Differences are measured per velocity: those of coordinates, where these have rates of their own, and rotation
    vectors where a quaternion describes a rotation.
    """

    def __init__(self, constrained):
        self._constrained = constrained
        m = constrained.model
        self._quaternions, self._rpy, plain_q, plain_v = [], [], [], []
        for b in range(1, m.sizes["nbody"]):
            i, d, nv, kind = m.body_q[b], m.body_v[b], m.body_nv[b], m.body_joint_type[b]
            skipped = 0
            if kind == QUATERNION_FLOATING:
                self._quaternions.append((i, d))
                skipped = 3
            elif kind in (BALL_RPY, RPY_FLOATING):
                self._rpy.append(d)
            plain_v += range(d + skipped, d + nv)
            plain_q += range(i + skipped + (skipped > 0), i + nv + (skipped > 0))
        self._plain_q, self._plain_v = np.array(plain_q, dtype=int), np.array(plain_v, dtype=int)

    def moved(self, q, d):
        """q + N(q) d, with quaternions of unit length."""
        data = self._constrained.data
        data.q[:], data.v[:] = q, d
        self._constrained.run_stage("position_stage")
        self._constrained.run_stage("calc_qdot")
        return self.normalized(q + data.qdot)

    def normalized(self, q):
        q = np.array(q, dtype=float)
        for i, _ in self._quaternions:
            length = np.linalg.norm(q[i : i + 4])
            if not length > 0.0:
                raise ValueError(f"the quaternion at position {i} has length {length}")
            q[i : i + 4] /= length
        return q

    def difference(self, q, origin):
        """How far q is from `origin`, (nv,)."""
        result = np.zeros(self._constrained.model.sizes["nv"])
        result[self._plain_v] = q[self._plain_q] - origin[self._plain_q]
        for i, d in self._quaternions:
            result[d : d + 3] = _rotation_vector(q[i : i + 4], origin[i : i + 4])
        return result

    def difference_rate(self, q, origin):
        """B (nv, nv): difference() changes by B d as q moves along d."""
        B = np.eye(self._constrained.model.sizes["nv"])
        for i, d in self._quaternions:
            B[d : d + 3, d : d + 3] = _rotation_vector_rate(_rotation_vector(q[i : i + 4], origin[i : i + 4]))
        if self._rpy:
            constrained, data = self._constrained, self._constrained.data
            data.q[:] = q
            constrained.run_stage("position_stage")
            starts = constrained.model.body_q[constrained.model.dof_body[self._rpy]]
            for k in range(3):
                data.v[:] = 0.0
                data.v[np.array(self._rpy) + k] = 1.0
                constrained.run_stage("calc_qdot")
                for i, d in zip(starts, self._rpy, strict=True):
                    B[d : d + 3, d + k] = data.qdot[i : i + 3]
        return B


def _rotation_vector(q, origin):
    """Of the shortest rotation from one unit quaternion to another, in the frame that both are given in."""
    w = q @ origin
    u = -q[0] * origin[1:] + origin[0] * q[1:] - np.cross(q[1:], origin[1:])
    if w < 0.0:
        w, u = -w, -u
    sine = np.linalg.norm(u)
    return u * (2.0 if sine < 1e-12 else 2.0 * np.arctan2(sine, w) / sine)


def _rotation_vector_rate(e):
    """J (3, 3): the rotation vector e changes by J w as the rotated frame turns with w, in the fixed frame."""
    angle = np.linalg.norm(e)
    E = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
    factor = 1.0 / 12.0
    if angle > 1e-4:
        factor = (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    return np.eye(3) - 0.5 * E + factor * E @ E
