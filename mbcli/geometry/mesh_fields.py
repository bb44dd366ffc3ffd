"""Fields that are linear on each face of a surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh
    from mbcli.geometry.surface_mesh import TriangleSurfaceMesh
    from mbcli.math.array_types import FloatArray, Vector, Vector3


class TriangleSurfaceMeshFieldLinear:
    """Values at the vertices of triangles, linear between them.

    Args:
        values: (number of vertices,); the array itself.
        mesh: TriangleSurfaceMesh.
    """

    def __init__(self, values: Vector, mesh: TriangleSurfaceMesh) -> None:
        self.values, self._mesh = values, mesh

    def Evaluate(self, e: int, b: ArrayLike) -> float:
        """The value at weights (3,) of the corners of a triangle."""
        return float(np.asarray(b, dtype=float) @ self.values[self._mesh.triangle_array[e]])

    def EvaluateAtVertex(self, v: int) -> float:
        """The value at a vertex."""
        return float(self.values[v])

    def EvaluateCartesian(self, e: int, p_MQ: ArrayLike) -> float:
        """The value at Q (3,) [m], projected onto the plane of a triangle."""
        return self.Evaluate(e, self._mesh.CalcBarycentric(p_MQ, e))


class PolygonSurfaceMeshFieldLinear:
    """Values at the vertices of polygons, and the gradient of each polygon's linear field.

    Args:
        values: (number of vertices,); the array itself.
        mesh: PolygonSurfaceMesh.
        gradients: (number of faces, 3), which need not be along the faces; the array itself.
    """

    def __init__(self, values: Vector, mesh: PolygonSurfaceMesh, gradients: FloatArray) -> None:
        self.values, self._mesh, self._gradients = values, mesh, gradients

    def EvaluateAtVertex(self, v: int) -> float:
        """The value at a vertex."""
        return float(self.values[v])

    def EvaluateGradient(self, e: int) -> Vector3:
        """(3,) [1/m] of a face's field."""
        return self._gradients[e].copy()

    def EvaluateCartesian(self, e: int, p_MQ: ArrayLike) -> float:
        """The value at Q (3,) [m] of a face's field, which is that of a solid: it also changes across the face."""
        first = self._mesh.corner_array[self._mesh.start[e]]
        r = np.asarray(p_MQ, dtype=float) - self._mesh.vertex_array[first]
        return float(self.values[first] + self._gradients[e] @ r)
