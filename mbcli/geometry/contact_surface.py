"""ContactSurface: where two solids with pressure fields, or one of them and a rigid one, press on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.geometry.contact_representation import HydroelasticContactRepresentation
from mbcli.geometry.mesh_fields import PolygonSurfaceMeshFieldLinear, TriangleSurfaceMeshFieldLinear
from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh
from mbcli.geometry.surface_mesh import TriangleSurfaceMesh

if TYPE_CHECKING:
    from mbcli.geometry.identifiers import GeometryId
    from mbcli.math.array_types import FloatArray, Vector, Vector3


class ContactSurface:
    """The surface between geometries M and N in W. Its normals are out of N into M.

    Args:
        id_M, id_N: GeometryId, the first one smaller.
        mesh_W: TriangleSurfaceMesh or PolygonSurfaceMesh in W.
        pressures: (number of vertices,) [Pa]
        grad_eM_W, grad_eN_W: (number of faces, 3) [Pa/m], gradients of the pressure of M and of N on each face; None
            for a rigid one. Not both may be None.

    ids, mesh, field, grad_M and grad_N are what the methods give, not to be written.
    """

    def __init__(
        self,
        id_M: GeometryId,
        id_N: GeometryId,
        mesh_W: TriangleSurfaceMesh | PolygonSurfaceMesh,
        pressures: Vector,
        grad_eM_W: FloatArray | None,
        grad_eN_W: FloatArray | None,
    ) -> None:
        if not id_M < id_N:
            raise RuntimeError(f"ContactSurface: the identifier of M must be less than that of N: {id_M}, {id_N}")
        self.ids, self.mesh = (id_M, id_N), mesh_W
        self.grad_M, self.grad_N = grad_eM_W, grad_eN_W
        gradients = grad_eN_W if grad_eM_W is None else grad_eM_W
        self.field: TriangleSurfaceMeshFieldLinear | PolygonSurfaceMeshFieldLinear
        if isinstance(mesh_W, TriangleSurfaceMesh):
            self.field = TriangleSurfaceMeshFieldLinear(pressures, mesh_W)
        elif gradients is not None:
            self.field = PolygonSurfaceMeshFieldLinear(pressures, mesh_W, gradients)
        else:
            raise RuntimeError("ContactSurface: one of the geometries must have a gradient of its pressure")

    def id_M(self) -> GeometryId:
        """GeometryId of M."""
        return self.ids[0]

    def id_N(self) -> GeometryId:
        """GeometryId of N, greater than that of M."""
        return self.ids[1]

    def num_faces(self) -> int:
        """The number of faces."""
        return self.mesh.num_elements()

    def num_vertices(self) -> int:
        """The number of vertices."""
        return self.mesh.num_vertices()

    def area(self, face_index: int) -> float:
        """[m^2] of one face."""
        return self.mesh.area(face_index)

    def total_area(self) -> float:
        """[m^2]"""
        return self.mesh.total_area()

    def face_normal(self, face_index: int) -> Vector3:
        """(3,) of one face in W, out of N into M."""
        return self.mesh.face_normal(face_index)

    def centroid(self, face_index: int | None = None) -> Vector3:
        """(3,) [m] in W of one face; without an index of all of them, weighted with their areas."""
        return self.mesh.centroid() if face_index is None else self.mesh.element_centroid(face_index)

    def is_triangle(self) -> bool:
        """Whether the faces are triangles."""
        return isinstance(self.mesh, TriangleSurfaceMesh)

    def representation(self) -> HydroelasticContactRepresentation:
        """kTriangle or kPolygon."""
        kinds = HydroelasticContactRepresentation
        return kinds.kTriangle if self.is_triangle() else kinds.kPolygon

    def tri_mesh_W(self) -> TriangleSurfaceMesh:
        """The mesh in W. RuntimeError if its faces are polygons."""
        if isinstance(self.mesh, TriangleSurfaceMesh):
            return self.mesh
        raise RuntimeError("ContactSurface.tri_mesh_W: the faces are polygons, see poly_mesh_W()")

    def tri_e_MN(self) -> TriangleSurfaceMeshFieldLinear:
        """The pressure [Pa] on the mesh. RuntimeError if its faces are polygons."""
        if isinstance(self.field, TriangleSurfaceMeshFieldLinear):
            return self.field
        raise RuntimeError("ContactSurface.tri_e_MN: the faces are polygons, see poly_e_MN()")

    def poly_mesh_W(self) -> PolygonSurfaceMesh:
        """The mesh in W. RuntimeError if its faces are triangles."""
        if isinstance(self.mesh, PolygonSurfaceMesh):
            return self.mesh
        raise RuntimeError("ContactSurface.poly_mesh_W: the faces are triangles, see tri_mesh_W()")

    def poly_e_MN(self) -> PolygonSurfaceMeshFieldLinear:
        """The pressure [Pa] on the mesh. RuntimeError if its faces are triangles."""
        if isinstance(self.field, PolygonSurfaceMeshFieldLinear):
            return self.field
        raise RuntimeError("ContactSurface.poly_e_MN: the faces are triangles, see tri_e_MN()")

    def HasGradE_M(self) -> bool:
        """Whether M has a pressure field."""
        return self.grad_M is not None

    def HasGradE_N(self) -> bool:
        """Whether N has a pressure field."""
        return self.grad_N is not None

    def EvaluateGradE_M_W(self, index: int) -> Vector3:
        """(3,) [Pa/m] in W, gradient of the pressure of M on a face. RuntimeError if M is rigid."""
        return _row(self.grad_M, index, "M")

    def EvaluateGradE_N_W(self, index: int) -> Vector3:
        """(3,) [Pa/m] in W, gradient of the pressure of N on a face. RuntimeError if N is rigid."""
        return _row(self.grad_N, index, "N")

    def Equal(self, surface: ContactSurface) -> bool:
        """Whether geometries, mesh, pressures and gradients are the same, to the last bit."""
        mine, other = self.mesh, surface.mesh
        if isinstance(mine, TriangleSurfaceMesh):
            same = isinstance(other, TriangleSurfaceMesh) and mine.Equal(other)
        else:
            same = isinstance(other, PolygonSurfaceMesh) and mine.Equal(other)
        return (
            same
            and self.ids == surface.ids
            and np.array_equal(self.field.values, surface.field.values)
            and _are_same(self.grad_M, surface.grad_M)
            and _are_same(self.grad_N, surface.grad_N)
        )


def _row(gradients: FloatArray | None, index: int, name: str) -> Vector3:
    if gradients is None:
        raise RuntimeError(f"ContactSurface.EvaluateGradE_{name}_W: geometry {name} is rigid")
    return gradients[index].copy()


def _are_same(a: FloatArray | None, b: FloatArray | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)
