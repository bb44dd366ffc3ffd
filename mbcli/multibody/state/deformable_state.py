"""The state of one deformable body in a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray


class DeformableState:
    """Positions, velocities and accelerations of the vertices of a body.

    Attributes:
        values: (9 n,) [q; v; a], each x, y, z of one vertex after the other.
        q, v, a: (n, 3) [m], [m/s], [m/s^2] in W, parts of values. All are read-only.

    Args:
        positions: (n, 3) at the start.
    """

    __slots__ = ("values", "q", "v", "a", "_values")

    values: FloatArray
    q: FloatArray
    v: FloatArray
    a: FloatArray

    def __init__(self, positions: FloatArray) -> None:
        n = len(positions)
        self._values = np.zeros((3, n, 3))
        self.values = self._values.reshape(-1)
        self.values.flags.writeable = False
        self.q, self.v, self.a = self.values.reshape(3, n, 3)
        self.set(q=positions)

    def rest(self, positions: FloatArray) -> None:
        """At rest at positions (n, 3)."""
        self.set(positions, 0.0, 0.0)

    def set(self, q: Any = None, v: Any = None, a: Any = None) -> None:
        """Those that are given, (n, 3) or one number for all."""
        for part, value in zip(self._values, (q, v, a), strict=True):
            if value is not None:
                part[:] = value

    def set_values(self, values: FloatArray) -> None:
        self._values.reshape(-1)[:] = values
