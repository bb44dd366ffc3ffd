"""Positions as points of a manifold: moving along velocities, and how far two positions are from each other."""

import numpy as np

from mbcli.engine.constraints.position_differences import move_positions, position_difference
from mbcli.engine.smooth.rotations import quaternion
from mbcli.engine.smooth.rotations.registry import number_of_rotation


class PositionManifold:
    """The positions of a model of floats, see engine/constraints/position_differences.py."""

    def __init__(self, model):
        self._model = model
        with_quaternion = model.body_rotation == number_of_rotation(quaternion)
        self._quaternions = [int(model.body_q[b]) for b in np.flatnonzero(with_quaternion)]

    def moved(self, q, d):
        """q after unit time with velocities d (nv,) along which rotations do not change their axes."""
        result = np.array(q, dtype=float)
        move_positions(self._model, np.asarray(q, dtype=float), d, result)
        return self.normalized(result)

    def normalized(self, q):
        """q (nq,), or a row for each of many (n, nq), with quaternions of unit length. ValueError if one is zero."""
        q = np.array(q, dtype=float)
        for i in self._quaternions:
            w, x, y, z = np.moveaxis(q[..., i : i + 4], -1, 0)
            lengths = np.sqrt(w * w + x * x + y * y + z * z)  # for one and for many to the same bits
            if not np.all(lengths > 0.0):
                raise ValueError(f"the quaternion at position {i} has length {lengths.min()}")
            q[..., i : i + 4] /= lengths[..., np.newaxis]
        return q

    def difference(self, q, origin):
        """How far q is from `origin`, (nv,)."""
        result = np.zeros(self._model.sizes["nv"])
        position_difference(self._model, q, origin, result)
        return result
