"""Areas, normals and centroids of flat convex faces, all of a mesh at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray, Vector3


@dataclass(frozen=True)
class FaceMeasures:
    """Of n faces: area (n,) [m^2], normal (n, 3), 0 for a face without area, centroid (n, 3) [m]."""

    area: FloatArray
    normal: FloatArray
    centroid: FloatArray

    def center(self) -> Vector3:
        """Centroid (3,) [m] of all faces together, the origin if they have no area."""
        total = self.area.sum()
        return self.area @ self.centroid / total if total > 0.0 else np.zeros(3)


def measure_faces(vertices: FloatArray, start: IntArray, corners: IntArray) -> FaceMeasures:
    """The FaceMeasures of convex polygons, counterclockwise about their normals.

    Args:
        vertices: (k, 3) [m]
        start: (n + 1,) first corner of each face among the corners, at least three each, then their end.
        corners: indices of vertices.
    """
    count = np.diff(start)
    face = np.repeat(np.arange(len(count)), count - 2)  # of the triangles between the first corner and each side
    first = start[:-1][face]
    second = first + 1 + np.arange(len(face)) - np.concatenate([[0], np.cumsum(count - 2)])[face]
    a, b, c = (vertices[corners[k]] for k in (first, second, second + 1))
    twice = np.cross(b - a, c - a)
    normal = _sums(face, twice, len(count))
    size = np.linalg.norm(normal, axis=1)
    there = size > 0.0
    normal[there] /= size[there, None]
    part = np.einsum("ij,ij->i", twice, normal[face])
    weight = _sums(face, part, len(count))
    centroid = _sums(np.repeat(np.arange(len(count)), count), vertices[corners], len(count)) / count[:, None]
    centroid[there] = (_sums(face, part[:, None] * (a + b + c), len(count))[there]) / (3.0 * weight[there, None])
    return FaceMeasures(0.5 * size, normal, centroid)


def _sums(groups: IntArray, values: FloatArray, count: int) -> FloatArray:
    result = np.zeros((count, *values.shape[1:]))
    np.add.at(result, groups, values)
    return result


def bounding_box(vertices: FloatArray) -> tuple[Vector3, Vector3]:
    """(centre, size) [m] of the box around vertices (k, 3), along their axes."""
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    return 0.5 * (lower + upper), upper - lower
