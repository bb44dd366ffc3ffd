"""A surface of triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class SurfaceTriangle:
    """Three `indices` of vertices, counterclockwise seen from outside."""

    def __init__(self, v0: int, v1: int, v2: int) -> None:
        self.indices = int(v0), int(v1), int(v2)
        if min(self.indices) < 0:
            raise RuntimeError(f"SurfaceTriangle: the index of a vertex is not negative: {self.indices}")

    def num_vertices(self) -> int:
        """3."""
        return 3

    def vertex(self, i: int) -> int:
        """Index of one of the three vertices."""
        return self.indices[i]


class TriangleSurfaceMesh:
    """Vertices and triangles; RuntimeError for a triangle with a vertex that is not there.

    vertex_array (n, 3) [m] and triangle_array (m, 3) are the arrays themselves, not to be written.

    Args:
        triangles: SurfaceTriangle, or indices (m, 3).
        vertices: (n, 3) [m]
    """

    def __init__(self, triangles: Iterable[SurfaceTriangle], vertices: Iterable[ArrayLike]) -> None:
        rows = [t.indices if isinstance(t, SurfaceTriangle) else t for t in triangles]
        self.triangle_array = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self.vertex_array = np.array(vertices, dtype=float).reshape(-1, 3)
        if not len(self.triangle_array):
            raise RuntimeError("TriangleSurfaceMesh: there is no triangle")
        count = len(self.vertex_array)
        if not 0 <= self.triangle_array.min() <= self.triangle_array.max() < count:
            raise RuntimeError(f"TriangleSurfaceMesh: a triangle names a vertex beyond the {count} given")

    def num_triangles(self) -> int:
        """The number of triangles."""
        return len(self.triangle_array)

    num_elements = num_triangles

    def num_vertices(self) -> int:
        """The number of vertices."""
        return len(self.vertex_array)

    def triangles(self) -> list[SurfaceTriangle]:
        """All triangles, as indices of vertices."""
        return [SurfaceTriangle(*row) for row in self.triangle_array]

    def vertices(self) -> list[FloatArray]:
        """(3,) [m] of each"""
        return [row.copy() for row in self.vertex_array]

    def vertex(self, v: int) -> FloatArray:
        """(3,) [m]"""
        return self.vertex_array[v].copy()

    def area(self, t: int) -> float:
        """[m^2] of one triangle."""
        a, b, c = self.vertex_array[self.triangle_array[t]]
        return 0.5 * float(np.linalg.norm(np.cross(b - a, c - a)))

    def total_area(self) -> float:
        """[m^2]"""
        return sum(self.area(t) for t in range(self.num_triangles()))
