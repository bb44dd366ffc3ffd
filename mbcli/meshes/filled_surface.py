"""Closed surfaces filled with tetrahedra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.closed_surface import closed_surface
from mbcli.meshes.hull_surface import area, volume_and_centroid
from mbcli.meshes.inner_corners import with_inner_corners
from mbcli.meshes.inner_points import inner_points
from mbcli.meshes.soft_solid import check_count
from mbcli.meshes.stuffed_lattice import stuffed_lattice
from mbcli.meshes.surface_distance import nearest_on_triangles, nearest_triangles
from mbcli.meshes.tetrahedralize import conforming_tetrahedra
from mbcli.meshes.volume_mesh import VolumeMesh, checked_mesh
from mbcli.meshes.winding import winding_numbers

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

MOST_TRIANGLES = 100_000
LEAST_ACROSS, MOST_ACROSS = 12, 32  # cubes of a lattice along the largest extent of a solid
SAME_VOLUME = 1e-6  # share by which the tetrahedra may hold more or less than the surface


def filled_surface(vertices: FloatArray, triangles: IntArray, name: str) -> tuple[VolumeMesh, str]:
    """A VolumeMesh of what a closed surface holds, and a sentence on what it is not; '' where it is exact.

    Each edge, triangle and tetrahedron inside has a corner off the surface.

    A surface whose triangles cross each other is filled by a lattice, which bevels its edges.

    Raises ModelError, with the name, for a surface that closed_surface() refuses, one of more than MOST_TRIANGLES
    triangles, and one that cannot be filled.
    """
    vertices, triangles = closed_surface(vertices, triangles, name)
    if len(triangles) > MOST_TRIANGLES:
        raise ModelError(f"{name}: {len(triangles)} triangles, the most that can be filled are {MOST_TRIANGLES}")
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    unit = (vertices - low) / size
    volume, _ = volume_and_centroid(unit, triangles)
    inner = inner_points(unit, triangles, 3 * len(vertices) + 500)
    mesh = conforming_tetrahedra(unit, triangles, inner, 8 * len(vertices) + 500)
    if mesh is not None:
        points, cells = with_inner_corners(*mesh)
        used, places = np.unique(cells, return_inverse=True)
        filled = checked_mesh(low + size * points[used], places.reshape(-1, 4), name)
        if abs(filled.volume / size**3 - volume) <= SAME_VOLUME * volume:
            return filled, ""
    return _bevelled(vertices, triangles, name)


class _Enclosed:
    """What a closed surface winds about, as stuffed_lattice() asks for it."""

    def __init__(self, vertices: FloatArray, triangles: IntArray) -> None:
        self.vertices, self.triangles = vertices, triangles

    def is_inside(self, points: FloatArray) -> BoolArray:
        return winding_numbers(points, self.vertices, self.triangles) > 0

    def distance(self, points: FloatArray) -> FloatArray:
        return nearest_triangles(points, self.vertices, self.triangles)[0]

    def on_surface(self, points: FloatArray) -> FloatArray:
        _, nearest = nearest_triangles(points, self.vertices, self.triangles)
        return nearest_on_triangles(points, self.vertices[self.triangles[nearest]])


def lattice_in_surface(vertices: FloatArray, triangles: IntArray, width: float, name: str) -> VolumeMesh:
    """What a closed surface holds, as tetrahedra of good shape from a lattice of a width [m], which bevels edges.

    Raises ModelError, with the name, as closed_surface() does, for too many tetrahedra, and for a solid too thin.
    """
    vertices, triangles = closed_surface(vertices, triangles, name)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    check_count(12.0 * float(np.prod((high - low) / width + 2.0)), name, width)
    points, cells = stuffed_lattice(_Enclosed(vertices, triangles), low, high, width)
    if not len(cells):
        raise ModelError(f"{name}: its surface cannot be filled with tetrahedra: it is too thin, or crosses itself")
    return checked_mesh(points, cells, name)


def _bevelled(vertices: FloatArray, triangles: IntArray, name: str) -> tuple[VolumeMesh, str]:
    """Filled with a lattice, which keeps the surface but not its edges, and a sentence that says so."""
    size, thickness = float(np.ptp(vertices, axis=0).max()), _thickness(vertices, triangles)
    width = float(np.clip(thickness, size / MOST_ACROSS, size / LEAST_ACROSS))
    mesh = lattice_in_surface(vertices, triangles, width, name)
    finding = (
        f"{name}: its triangles cross each other or are too thin, so that it is filled by a lattice of {width:.3g} m "
        "that bevels its edges"
    )
    return mesh, finding


def _thickness(vertices: FloatArray, triangles: IntArray) -> float:
    """Twice the volume over the area: of a plate its own."""
    return 2.0 * volume_and_centroid(vertices, triangles)[0] / area(vertices, triangles)
