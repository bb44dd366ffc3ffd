"""A surface of triangles."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbcli.geometry.face_measures import FaceMeasures, bounding_box, measure_faces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, Vector3


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

    @cached_property
    def measures(self) -> FaceMeasures:
        """Areas, normals and centroids of the triangles."""
        start = np.arange(0, 3 * len(self.triangle_array) + 1, 3)
        return measure_faces(self.vertex_array, start, self.triangle_array.ravel())

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

    def element(self, e: int) -> SurfaceTriangle:
        """One triangle, as indices of vertices."""
        return SurfaceTriangle(*self.triangle_array[e])

    def vertices(self) -> list[FloatArray]:
        """(3,) [m] of each"""
        return [row.copy() for row in self.vertex_array]

    def vertex(self, v: int) -> FloatArray:
        """(3,) [m]"""
        return self.vertex_array[v].copy()

    def area(self, t: int) -> float:
        """[m^2] of one triangle."""
        return float(self.measures.area[t])

    def total_area(self) -> float:
        """[m^2]"""
        return float(self.measures.area.sum())

    def face_normal(self, t: int) -> Vector3:
        """(3,) of one triangle: of length 1, or 0 if it has no area."""
        return self.measures.normal[t].copy()

    def element_centroid(self, t: int) -> Vector3:
        """(3,) [m] of one triangle."""
        return self.measures.centroid[t].copy()

    def centroid(self) -> Vector3:
        """(3,) [m] of the surface, the origin if it has no area."""
        return self.measures.center()

    def CalcBoundingBox(self) -> tuple[Vector3, Vector3]:
        """(centre, size) [m] of the box around all vertices."""
        return bounding_box(self.vertex_array)

    def CalcBarycentric(self, p_MQ: ArrayLike, t: int) -> Vector3:
        """(3,), of sum 1: weights of the corners of a triangle at Q, projected onto its plane; NaN without area."""
        a, b, c = self.vertex_array[self.triangle_array[t]]
        u, v, r = b - a, c - a, np.asarray(p_MQ, dtype=float) - a
        uu, uv, vv, ru, rv = u @ u, u @ v, v @ v, r @ u, r @ v
        with np.errstate(invalid="ignore", divide="ignore"):
            second, third = np.array([vv * ru - uv * rv, uu * rv - uv * ru]) / (uu * vv - uv * uv)
        return np.array([1.0 - second - third, second, third])

    def CalcCartesianFromBarycentric(self, element_index: int, b_Q: ArrayLike) -> Vector3:
        """p_MQ (3,) [m] of weights of the corners of a triangle."""
        return np.asarray(b_Q, dtype=float) @ self.vertex_array[self.triangle_array[element_index]]

    def Equal(self, mesh: TriangleSurfaceMesh) -> bool:
        """Whether all vertices and triangles are the same, to the last bit."""
        return np.array_equal(self.triangle_array, mesh.triangle_array) and np.array_equal(
            self.vertex_array, mesh.vertex_array
        )
