"""Solid: a part of a link that displaces a fluid, and how much of it is below a level.

Ellipsoids are cut exactly: a plane through one is a plane through the unit sphere. All else is a closed surface of
triangles, which are cut one by one: what is below is the sum of the tetrahedra from a point of the plane to what is
left of each triangle, as the cap in the plane holds none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Matrix3, Vector3


class Solid(NamedTuple):
    """A solid in the frame L of its link.

    p: (3,) [m] its centre. triangles: (m, 3 corners, 3) [m] of its surface, outwards, from p in the axes of L; None: it
    is an ellipsoid with these semi-axes (3, 3) [m], the columns, in the axes of L.
    """

    p: Vector3
    semi_axes: Matrix3 | None = None
    triangles: FloatArray | None = None

    def below(self, up: Vector3, level: float) -> tuple[float, Vector3]:
        """(volume [m^3], first moment about Lo (3,) [m^4]) of the part where up . x < level [m].

        up: (3,) unit vector in L. level: inf for all of it.
        """
        d = level - float(up @ self.p)
        volume, moment = self._cap(up, d) if self.triangles is None else _cut(self.triangles, up, d)
        return volume, moment + volume * self.p

    def _cap(self, up: Vector3, d: float) -> tuple[float, Vector3]:
        assert self.semi_axes is not None
        normal = self.semi_axes.T @ up
        reach = float(np.linalg.norm(normal))
        s = min(max(d / reach, -1.0), 1.0)
        size = abs(float(np.linalg.det(self.semi_axes)))
        volume = math.pi * (2.0 / 3.0 + s - s**3 / 3.0)
        moment = -0.25 * math.pi * (1.0 - s * s) ** 2
        return size * volume, size * moment * (self.semi_axes @ normal) / reach


def _cut(triangles: FloatArray, up: Vector3, d: float) -> tuple[float, Vector3]:
    """What of the solid in a closed surface is where up . x < d, as Solid.below() about the origin."""
    apex = d * up if math.isfinite(d) else np.zeros(3)
    corners = triangles - apex
    heights = triangles @ up - d
    above = heights > 0.0
    count = above.sum(axis=1)
    whole = _tetrahedra(corners[count <= 1])
    one = count == 1
    gone = _tetrahedra(_tips(corners[one], heights[one], above[one]))
    two = count == 2
    left = _tetrahedra(_tips(corners[two], heights[two], ~above[two]))
    volume = whole[0] - gone[0] + left[0]
    return volume, whole[1] - gone[1] + left[1] + volume * apex


def _tips(corners: FloatArray, heights: FloatArray, alone: FloatArray) -> FloatArray:
    """Of triangles (k, 3, 3) with one corner on one side of height 0, `alone` (k, 3), the part on that side."""
    first = alone.argmax(axis=1)
    order = (first[:, None] + np.arange(3)) % 3
    rows = np.arange(len(corners))[:, None]
    corners, heights = corners[rows, order], heights[rows, order]
    share = heights[:, :1] / (heights[:, :1] - heights[:, 1:])
    tip = corners[:, :1]
    return np.concatenate([tip, tip + share[:, :, None] * (corners[:, 1:] - tip)], axis=1)


def _tetrahedra(corners: FloatArray) -> tuple[float, Vector3]:
    """Volume and first moment of the tetrahedra from the origin to triangles (k, 3, 3)."""
    volumes = np.linalg.det(corners) / 6.0
    return float(volumes.sum()), volumes @ corners.sum(axis=1) / 4.0
