"""A solid of tetrahedra, under the names of pydrake.geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from mbcli.meshes.volume_mesh import FACES, signed_volumes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, Vector3, Vector4
    from mbcli.meshes.volume_mesh import VolumeMesh as Tetrahedra


class VolumeElement:
    """Four `indices` of vertices: seen from the fourth, the others are counterclockwise."""

    def __init__(self, v0: int, v1: int, v2: int, v3: int) -> None:
        self.indices = int(v0), int(v1), int(v2), int(v3)
        if min(self.indices) < 0:
            raise RuntimeError(f"VolumeElement: the index of a vertex is not negative: {self.indices}")

    def num_vertices(self) -> int:
        """4."""
        return 4

    def vertex(self, i: int) -> int:
        """Index of one of the four vertices."""
        return self.indices[i]


class VolumeMesh:
    """Vertices and tetrahedra; RuntimeError for a tetrahedron with a vertex that is not there.

    vertex_array (n, 3) [m] and tetrahedron_array (m, 4) are the arrays themselves, not to be written.

    Args:
        elements: VolumeElement, or indices (m, 4).
        vertices: (n, 3) [m]
    """

    def __init__(self, elements: Iterable[VolumeElement], vertices: Iterable[ArrayLike]) -> None:
        rows = [e.indices if isinstance(e, VolumeElement) else e for e in elements]
        self.tetrahedron_array = np.array(rows, dtype=np.int64).reshape(-1, 4)
        self.vertex_array = np.array(vertices, dtype=float).reshape(-1, 3)
        if not len(self.tetrahedron_array):
            raise RuntimeError("VolumeMesh: there is no tetrahedron")
        count = len(self.vertex_array)
        if not 0 <= self.tetrahedron_array.min() <= self.tetrahedron_array.max() < count:
            raise RuntimeError(f"VolumeMesh: a tetrahedron names a vertex beyond the {count} given")

    @classmethod
    def of(cls, mesh: Tetrahedra) -> Self:
        """The mesh of tetrahedra that were made or read."""
        return cls(mesh.tetrahedra, mesh.vertices)

    def num_elements(self) -> int:
        """The number of tetrahedra."""
        return len(self.tetrahedron_array)

    def num_vertices(self) -> int:
        """The number of vertices."""
        return len(self.vertex_array)

    def element(self, e: int) -> VolumeElement:
        """One tetrahedron, as indices of vertices."""
        return VolumeElement(*self.tetrahedron_array[e])

    def tetrahedra(self) -> list[VolumeElement]:
        """All tetrahedra, as indices of vertices."""
        return [VolumeElement(*row) for row in self.tetrahedron_array]

    def vertex(self, v: int) -> FloatArray:
        """(3,) [m]"""
        return self.vertex_array[v].copy()

    def vertices(self) -> list[FloatArray]:
        """(3,) [m] of each"""
        return [row.copy() for row in self.vertex_array]

    def CalcTetrahedronVolume(self, e: int) -> float:
        """[m^3], negative for one that is inside out."""
        return float(signed_volumes(self.vertex_array, self.tetrahedron_array[e : e + 1])[0])

    def CalcVolume(self) -> float:
        """[m^3]"""
        return float(signed_volumes(self.vertex_array, self.tetrahedron_array).sum())

    def inward_normal(self, e: int, f: int) -> Vector3:
        """(3,) of length 1: of the face of a tetrahedron without its vertex f, inwards."""
        a, b, c = self.vertex_array[self.tetrahedron_array[e][FACES[f]]]
        outward = np.cross(b - a, c - a)
        return -outward / np.linalg.norm(outward)

    def edge_vector(self, e: int, a: int, b: int) -> Vector3:
        """(3,) [m] from vertex a to vertex b of a tetrahedron."""
        corners = self.vertex_array[self.tetrahedron_array[e]]
        return corners[b] - corners[a]

    def CalcBarycentric(self, p_MQ: ArrayLike, e: int) -> Vector4:
        """(4,), of sum 1: weights of the corners of a tetrahedron at Q."""
        corners = self.vertex_array[self.tetrahedron_array[e]]
        rest = np.linalg.solve((corners[1:] - corners[0]).T, np.asarray(p_MQ, dtype=float) - corners[0])
        return np.array([1.0 - rest.sum(), *rest])

    def Equal(self, mesh: VolumeMesh, vertex_tolerance: float = 0.0) -> bool:
        """Whether the tetrahedra are the same, and no vertex is further from its counterpart than the tolerance [m]."""
        return (
            np.array_equal(self.tetrahedron_array, mesh.tetrahedron_array)
            and self.vertex_array.shape == mesh.vertex_array.shape
            and bool((np.linalg.norm(self.vertex_array - mesh.vertex_array, axis=1) <= vertex_tolerance).all())
        )
