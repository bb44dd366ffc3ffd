"""A surface of triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class SurfaceTriangle:
    """Three indices of vertices, counterclockwise seen from outside."""

    def __init__(self, v0: int, v1: int, v2: int) -> None:
        self._vertices = int(v0), int(v1), int(v2)
        if min(self._vertices) < 0:
            raise RuntimeError(f"SurfaceTriangle: the index of a vertex is not negative: {self._vertices}")

    def num_vertices(self) -> int:
        """3."""
        return 3

    def vertex(self, i: int) -> int:
        """Index of one of the three vertices."""
        return self._vertices[i]


class TriangleSurfaceMesh:
    """Vertices and triangles; RuntimeError for a triangle with a vertex that is not there.

    Args:
        triangles: SurfaceTriangle, or indices (m, 3).
        vertices: (n, 3) [m]
    """

    def __init__(self, triangles: Iterable[SurfaceTriangle], vertices: Iterable[ArrayLike]) -> None:
        rows = [t._vertices if isinstance(t, SurfaceTriangle) else t for t in triangles]
        self._triangles = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self._vertices = np.array(vertices, dtype=float).reshape(-1, 3)
        if not len(self._triangles):
            raise RuntimeError("TriangleSurfaceMesh: there is no triangle")
        if not 0 <= self._triangles.min() <= self._triangles.max() < len(self._vertices):
            raise RuntimeError(f"TriangleSurfaceMesh: a triangle names a vertex beyond the {len(self._vertices)} given")

    def num_triangles(self) -> int:
        """The number of triangles."""
        return len(self._triangles)

    num_elements = num_triangles

    def num_vertices(self) -> int:
        """The number of vertices."""
        return len(self._vertices)

    def triangles(self) -> list[SurfaceTriangle]:
        """All triangles, as indices of vertices."""
        return [SurfaceTriangle(*row) for row in self._triangles]

    def vertices(self) -> list[FloatArray]:
        """(3,) [m] of each"""
        return [row.copy() for row in self._vertices]

    def vertex(self, v: int) -> FloatArray:
        """(3,) [m]"""
        return self._vertices[v].copy()

    def area(self, t: int) -> float:
        """[m^2] of one triangle."""
        a, b, c = self._vertices[self._triangles[t]]
        return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a)))

    def total_area(self) -> float:
        """[m^2]"""
        return sum(self.area(t) for t in range(self.num_triangles()))
