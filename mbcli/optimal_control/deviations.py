"""Deviations of states (q, v) of a plant from others, (2 nv,): along each velocity, and of the velocities.

A quaternion has three. To first order they are what derivatives of steps are by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.engine.smooth.rotations.registry import NO_ROTATION
from mbcli.multibody.linearization.closed_form_motion import qdot_to_velocity_map, velocity_to_qdot_map
from mbcli.multibody.state.context import Context

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Matrix, Vector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


class Deviations:
    """Those of a plant."""

    def __init__(self, plant: MultibodyPlant) -> None:
        self._plant, self._context = plant, Context(plant)
        self._rotations = set(plant.model.body_rotation.tolist()) - {NO_ROTATION}

    def maps(self, q: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """N (n, nq, nv) and its left inverse (n, nv, nq) at positions (n, nq); None where both are 1."""
        if not self._rotations:
            return None
        state = self._context.state
        nq, nv = self._plant.num_positions(), self._plant.num_velocities()
        N, back = np.empty((len(q), nq, nv)), np.empty((len(q), nv, nq))
        for k, row in enumerate(q):
            self._plant.SetPositions(self._context, row)
            N[k], back[k] = velocity_to_qdot_map(state), qdot_to_velocity_map(state)
        return N, back

    def of(self, q: FloatArray, v: FloatArray, q0: Vector, v0: Vector, back: Matrix | None) -> FloatArray:
        """(n, 2 nv) of states from (q0, v0), to first order; back: the second of maps() at q0."""
        dq = q - q0 if back is None else self._difference(q, q0) @ back.T
        return np.hstack([dq, v - v0])

    def _difference(self, q: FloatArray, q0: Vector) -> FloatArray:
        """q - q0, where of the two quaternions of a rotation the nearer one counts."""
        q = np.array(q)
        for joint in self._plant.moving_joints():
            if joint.num_positions() == joint.num_velocities() + 1:
                part = slice(joint.position_start(), joint.position_start() + 4)
                q[:, part] *= np.where(q[:, part] @ q0[part] < 0.0, -1.0, 1.0)[:, np.newaxis]
        return q - q0
