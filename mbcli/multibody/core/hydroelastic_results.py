"""Contact surfaces and their forces from the faces of a ContactRecord, under the names of pydrake.multibody.plant."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.contact_surface import ContactSurface
from mbcli.geometry.polygon_mesh import PolygonSurfaceMesh
from mbcli.geometry.surface_mesh import TriangleSurfaceMesh
from mbcli.multibody.contact.contact_groups import ContactGroups, grouped_contacts
from mbcli.multibody.math import SpatialForce

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.geometry.identifiers import GeometryId
    from mbcli.math.array_types import FloatArray, IntArray, Vector3

NEAR = 1e-9  # of the size of a surface: corners so near to each other are one vertex


class HydroelasticContactInfo:
    """Contact of two bodies, A with geometry M and B with geometry N, on a surface.

    Args:
        record: ContactRecord.
        groups: its ContactGroups.
        k: which of the groups.
        ids: GeometryId of each solid.
        shares_vertices: whether faces have the vertices in common at which they meet.
        triangles: whether faces are triangles, each of which has the centroid of a polygon as its first corner.
    """

    def __init__(
        self,
        record: Any,
        groups: ContactGroups,
        k: int,
        ids: Sequence[GeometryId],
        shares_vertices: bool,
        triangles: bool,
    ) -> None:
        self._record, self._groups, self._k = record, groups, k
        first = int(groups.first[k])
        self._faces = slice(first, first + int(groups.faces[k]))
        pair = [ids[solid] for solid in groups.solid[k]]
        self._is_turned = not pair[0] < pair[1]  # M is B of the record
        self._ids = (pair[1], pair[0]) if self._is_turned else (pair[0], pair[1])
        self._shares_vertices, self._triangles = shares_vertices, triangles

    def id_M(self) -> GeometryId:
        """GeometryId of M."""
        return self._ids[0]

    def id_N(self) -> GeometryId:
        """GeometryId of N, greater than that of M."""
        return self._ids[1]

    def contact_surface(self) -> ContactSurface:
        """The ContactSurface in W."""
        return self._surface

    def F_Ac_W(self) -> SpatialForce:
        """Spatial force on body A, that of M, at the centroid of the surface, in W [N m, N]."""
        sign = -1.0 if self._is_turned else 1.0
        return SpatialForce(tau=sign * self._groups.moment[self._k], f=sign * self._groups.force[self._k])

    def area(self) -> float:
        """[m^2] of the surface."""
        return float(self._groups.area[self._k])

    def centroid(self) -> Vector3:
        """(3,) [m] of the surface in W."""
        return self._groups.position[self._k].copy()

    def mean_pressure(self) -> float:
        """[Pa], weighted with the areas of the faces."""
        return float(self._groups.mean_pressure[self._k])

    def largest_pressure(self) -> float:
        """[Pa] at a corner of a face."""
        return float(self._groups.largest_pressure[self._k])

    def num_faces(self) -> int:
        """The number of faces."""
        return self._faces.stop - self._faces.start

    def polygons(self) -> list[FloatArray]:
        """(k, 4) of each face: its corners in W [m], counterclockwise about the normal out of N into M, and the
        pressure there [Pa]."""
        start, corners = self._corners()
        return [corners[start[f] : start[f + 1]] for f in range(len(start) - 1)]

    def _corners(self) -> tuple[IntArray, FloatArray]:
        """(first corner of each face and their end, corners with pressures), about the normal into M."""
        start = self._record.corner_start[self._faces.start : self._faces.stop + 1]
        corners = self._record.corners[start[0] : start[-1]]
        start = start - start[0]
        if self._is_turned:
            face = np.repeat(np.arange(len(start) - 1), np.diff(start))
            corners = corners[start[face] + start[face + 1] - 1 - np.arange(len(corners))]
        return start, corners

    @cached_property
    def _surface(self) -> ContactSurface:
        start, corners = self._corners()
        if self._shares_vertices:
            vertices, index = _joined(corners[:, :3], np.zeros(len(corners)))
        elif self._triangles:
            vertices, index = _joined(corners[:, :3], np.repeat(self._polygon_of_each_triangle(corners), 3))
        else:
            vertices, index = corners[:, :3].copy(), np.arange(len(corners))
        pressures = np.zeros(len(vertices))
        pressures[index] = corners[:, 3]
        mesh: TriangleSurfaceMesh | PolygonSurfaceMesh
        if self._triangles:
            mesh = TriangleSurfaceMesh(index.reshape(-1, 3), vertices)
        else:
            mesh = PolygonSurfaceMesh.of_corners(start, index, vertices)
        gradients: list[FloatArray | None] = [
            self._record.field_gradients[self._faces, 3 * side : 3 * side + 3] for side in (0, 1)
        ]
        gradients = [g if g is not None and g.any() else None for g in gradients]
        if self._is_turned:
            gradients.reverse()
        return ContactSurface(*self._ids, mesh, pressures, *gradients)

    def _polygon_of_each_triangle(self, corners: FloatArray) -> IntArray:
        """A number for each triangle, the same for those about one centroid."""
        center = corners[2 if self._is_turned else 0 :: 3, :3]
        return np.concatenate([[0], np.cumsum((center[1:] != center[:-1]).any(axis=1))])


def _joined(points: FloatArray, groups: FloatArray | IntArray) -> tuple[FloatArray, IntArray]:
    """(vertices, index of each point among them): points of one group that are in one place are one vertex."""
    from scipy.spatial import cKDTree

    size = float(np.ptp(points, axis=0).max()) or 1.0
    pairs = cKDTree(np.column_stack([points / size, groups])).query_pairs(NEAR, output_type="ndarray")
    first = np.arange(len(points))
    np.minimum.at(first, pairs.max(axis=1, initial=0), pairs.min(axis=1, initial=len(points)))
    kept, index = np.unique(first, return_inverse=True)
    return points[kept], index


def hydroelastic_contacts(
    record: Any, ids: Sequence[GeometryId], planes: Any, triangles: bool
) -> list[HydroelasticContactInfo]:
    """HydroelasticContactInfo of each pair of solids with faces in a ContactRecord, in the order of identifiers.

    Args:
        record: the faces of a pair follow each other.
        ids: GeometryId of each solid.
        planes: whether each solid is a half space; surfaces with these share vertices, others do not, as in pydrake.
        triangles: whether faces are triangles about the centroids of polygons.
    """
    groups = grouped_contacts(record)
    made = [
        HydroelasticContactInfo(record, groups, int(k), ids, bool(np.any(planes[groups.solid[k]])), triangles)
        for k in np.flatnonzero(groups.faces)
    ]
    return sorted(made, key=lambda info: (info.id_M().get_value(), info.id_N().get_value()))
