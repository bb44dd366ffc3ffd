"""The state of one deformable body in a context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.tree.deformable_body import DeformableBody


class DeformableState:
    """Positions, velocities and accelerations of the vertices of a body.

    Attributes:
        values: (9 n,) [q; v; a], each x, y, z of one vertex after the other.
        q, v, a: (n, 3) [m], [m/s], [m/s^2] in W, parts of values.
    """

    __slots__ = ("values", "q", "v", "a")

    values: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray

    def __init__(self, body: DeformableBody) -> None:
        n = len(body.reference)
        self.values = np.zeros(9 * n)
        self.q, self.v, self.a = self.values.reshape(3, n, 3)
        self.q[:] = body.default_positions()

    def reset(self, body: DeformableBody) -> None:
        """The reference configuration at its default pose, at rest."""
        self.values[:] = 0.0
        self.q[:] = body.default_positions()
