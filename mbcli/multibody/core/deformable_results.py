"""Contacts of deformable bodies, under the names of pydrake.multibody.plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh
from mbcli.multibody.math import SpatialForce

if TYPE_CHECKING:
    from mbcli.geometry.identifiers import GeometryId


class DeformableContactInfo:
    """Contact of a deformable body, with geometry A, and another body, with geometry B.

    Args:
        id_A, id_B: GeometryId.
        contact_mesh: the triangles of A's surface that touch, in W. Its elements are whole: the area is that of the
            contact to the size of a triangle.
        F_Ac_W: SpatialForce on A at the centroid of these.
    """

    def __init__(
        self, id_A: GeometryId, id_B: GeometryId, contact_mesh: PolygonSurfaceMesh, F_Ac_W: SpatialForce
    ) -> None:
        self._id_A, self._id_B, self._mesh, self._F_Ac_W = id_A, id_B, contact_mesh, F_Ac_W

    def id_A(self) -> GeometryId:
        """GeometryId of A, which is deformable."""
        return self._id_A

    def id_B(self) -> GeometryId:
        """GeometryId of B."""
        return self._id_B

    def contact_mesh(self) -> PolygonSurfaceMesh:
        """The PolygonSurfaceMesh in W."""
        return self._mesh

    def F_Ac_W(self) -> SpatialForce:
        """Spatial force on A at the centroid C of the mesh, in W [N m, N]."""
        return self._F_Ac_W


def deformable_contacts(contact: Any) -> list[DeformableContactInfo]:
    """DeformableContactInfo of each pair that touches in the step computed last.

    contact: ElasticStep. Forces are the mean of the step. Of two deformable bodies A is that registered first.
    """
    made = []
    for pair in contact.touching_pairs():
        faces = np.hstack([np.full((len(pair.triangles), 1), 3), pair.triangles])
        used, index = np.unique(pair.triangles, return_inverse=True)
        faces[:, 1:] = index.reshape(-1, 3)
        mesh = PolygonSurfaceMesh(faces.ravel(), pair.vertices[used])
        C = mesh.centroid()
        moment = np.cross(pair.points - C, pair.forces).sum(axis=0)
        F = SpatialForce(tau=moment, f=pair.forces.sum(axis=0))
        made.append(DeformableContactInfo(pair.id_A, pair.id_B, mesh, F))
    return made
