"""A surface of polygons."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbcli.geometry.face_measures import FaceMeasures, bounding_box, measure_faces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, IntArray, Vector3


class SurfacePolygon:
    """The `indices` of the vertices of a face, counterclockwise about its normal."""

    def __init__(self, indices: Iterable[int]) -> None:
        self.indices = tuple(int(v) for v in indices)

    def num_vertices(self) -> int:
        """The number of corners."""
        return len(self.indices)

    def vertex(self, i: int) -> int:
        """Index of one of the vertices."""
        return self.indices[i]


class PolygonSurfaceMesh:
    """Vertices and flat convex polygons; without arguments empty.

    vertex_array (k, 3) [m], start (n + 1,), corner_array: those of face f are corner_array[start[f]:start[f + 1]]; the
    arrays themselves, not to be written.

    Args:
        face_data: of each polygon the number of its vertices, then their indices, counterclockwise about its normal.
        vertices: (k, 3) [m]

    Raises:
        RuntimeError: face_data ends within a polygon, or a polygon has fewer than three vertices or one not given.
    """

    def __init__(self, face_data: Iterable[int] = (), vertices: Iterable[ArrayLike] = ()) -> None:
        data = np.array(list(face_data), dtype=np.int64)
        starts, place = [], 0
        while place < len(data):
            starts.append(place)
            place += int(data[place]) + 1
            if data[starts[-1]] < 3:
                raise RuntimeError(f"PolygonSurfaceMesh: polygon {len(starts) - 1} has {data[starts[-1]]} vertices")
        if place != len(data):
            raise RuntimeError(f"PolygonSurfaceMesh: face_data ends within polygon {len(starts) - 1}")
        start = np.concatenate([[0], np.cumsum(data[starts])]) if starts else np.zeros(1, dtype=np.int64)
        self.start, self.corner_array = start.astype(np.int64), np.delete(data, starts)
        self.vertex_array = np.array(vertices, dtype=float).reshape(-1, 3)
        count, corners = len(self.vertex_array), self.corner_array
        if len(corners) and not 0 <= corners.min() <= corners.max() < count:
            raise RuntimeError(f"PolygonSurfaceMesh: a polygon names a vertex beyond the {count} given")

    @classmethod
    def of_corners(cls, start: IntArray, corners: IntArray, vertices: FloatArray) -> PolygonSurfaceMesh:
        """The mesh with these arrays."""
        mesh = cls()
        mesh.start, mesh.corner_array, mesh.vertex_array = start, corners, vertices
        return mesh

    @cached_property
    def measures(self) -> FaceMeasures:
        """Areas, normals and centroids of the polygons."""
        return measure_faces(self.vertex_array, self.start, self.corner_array)

    def num_faces(self) -> int:
        """The number of polygons."""
        return len(self.start) - 1

    num_elements = num_faces

    def num_vertices(self) -> int:
        """The number of vertices."""
        return len(self.vertex_array)

    def element(self, e: int) -> SurfacePolygon:
        """One polygon, as indices of vertices."""
        return SurfacePolygon(self.corner_array[self.start[e] : self.start[e + 1]])

    def vertex(self, v: int) -> Vector3:
        """(3,) [m]"""
        return self.vertex_array[v].copy()

    def face_data(self) -> list[int]:
        """Of each polygon the number of its vertices, then their indices."""
        return np.insert(self.corner_array, self.start[:-1], np.diff(self.start)).tolist()

    def area(self, f: int) -> float:
        """[m^2] of one polygon."""
        return float(self.measures.area[f])

    def total_area(self) -> float:
        """[m^2]"""
        return float(self.measures.area.sum())

    def face_normal(self, f: int) -> Vector3:
        """(3,) of one polygon: of length 1, or 0 if it has no area."""
        return self.measures.normal[f].copy()

    def element_centroid(self, e: int) -> Vector3:
        """(3,) [m] of one polygon."""
        return self.measures.centroid[e].copy()

    def centroid(self) -> Vector3:
        """(3,) [m] of the surface, the origin if it has no area."""
        return self.measures.center()

    def CalcBoundingBox(self) -> tuple[Vector3, Vector3]:
        """(centre, size) [m] of the box around all vertices."""
        return bounding_box(self.vertex_array)

    def Equal(self, mesh: PolygonSurfaceMesh) -> bool:
        """Whether all vertices and polygons are the same, to the last bit."""
        names = ("start", "corner_array", "vertex_array")
        return all(np.array_equal(getattr(self, name), getattr(mesh, name)) for name in names)
