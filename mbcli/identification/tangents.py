"""Starts of rollouts as small changes of a state: of trees any, under constraints those that satisfy them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.assembly.closed_chains import ClosedChains

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

CLOSED = 1e-12  # norm of the position errors, that is none
MOST_STEPS = 20  # of Newton, to close a loop that is nearly closed
FAR = 1e-2  # norm of the position errors of measured positions, beyond which they are not of this model
RANK = 1e-8  # of the largest singular value: what is smaller is none


class Tangents:
    """States (q, v) of a plant and their changes.

    Args:
        plant: finalized. context: one of its contexts, which is changed.

    Attributes:
        quaternions: first positions of quaternions, and one past their last.

    ModelError for tendons with limits, which act at some positions only.
    """

    def __init__(self, plant: Any, context: Any) -> None:
        self._plant, self._context = plant, context
        self._chains: Any = None
        if plant.elements.constraints:
            self._chains = ClosedChains(context, held={})
            if self._chains.has_limits():
                raise ModelError("rollouts are fitted to trees and closed chains: this model has tendons with limits")
        self.quaternions = [
            (j.position_start(), j.position_start() + 4)
            for j in plant.moving_joints()
            if j.num_positions() > j.num_velocities()
        ]

    def _slopes(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """phi (rows,) and G (rows, nv)."""
        errors, G = self._chains.position_errors(q)
        return np.array(errors), np.array(G)

    def closed(self, q: FloatArray, v: FloatArray, source: str) -> tuple[FloatArray, FloatArray]:
        """The state next to a measured one that satisfies the constraints.

        ModelError if the positions are far from that.
        """
        if self._chains is None:
            return q, v
        error = float(np.linalg.norm(self._slopes(q)[0]))
        if not error < FAR:
            raise ModelError(
                f"{source}: error: the positions do not satisfy the constraints of the model (by {error:.2g} m or rad)"
            )
        q = self._onto(q)
        return q, self._along(q, v)

    def basis(self, q: FloatArray) -> FloatArray:
        """(nv, d) orthonormal: the velocities that the constraints allow at q."""
        nv = self._plant.num_velocities()
        if self._chains is None:
            return np.eye(nv)
        _, sizes, Vt = np.linalg.svd(self._slopes(q)[1])
        rank = int(np.count_nonzero(sizes > RANK * sizes.max(initial=0.0)))
        return np.array(Vt[rank:].T)

    def moved(
        self, q: FloatArray, v: FloatArray, basis: FloatArray, change: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The state (q, v) changed by (2 d,) along a basis (nv, d)."""
        d = basis.shape[1]
        self._plant.SetPositions(self._context, q)
        q = q + np.array(self._plant.MapVelocityToQDot(self._context, basis @ change[:d]))
        for a, b in self.quaternions:
            q[a:b] /= np.linalg.norm(q[a:b])
        v = v + basis @ change[d:]
        if self._chains is None:
            return q, v
        q = self._onto(q)
        return q, self._along(q, v)

    def _onto(self, q: FloatArray) -> FloatArray:
        for _ in range(MOST_STEPS):
            errors, G = self._slopes(q)
            if np.linalg.norm(errors) < CLOSED:
                return q
            q = self._chains.manifold.moved(q, -np.linalg.lstsq(G, errors, rcond=RANK)[0])
        if np.linalg.norm(self._slopes(q)[0]) < 1e3 * CLOSED:
            return q
        raise NumericalError("the constraints cannot be satisfied near a start of a stretch")

    def _along(self, q: FloatArray, v: FloatArray) -> FloatArray:
        G = self._slopes(q)[1]
        return np.array(v - np.linalg.lstsq(G, G @ v, rcond=RANK)[0])
