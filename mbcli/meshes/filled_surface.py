"""Closed surfaces filled with tetrahedra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.closed_surface import closed_surface
from mbcli.meshes.hull_surface import volume_and_centroid
from mbcli.meshes.inner_corners import with_inner_corners
from mbcli.meshes.inner_points import inner_points
from mbcli.meshes.tetrahedralize import conforming_tetrahedra
from mbcli.meshes.volume_mesh import VolumeMesh, checked_mesh

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

MOST_TRIANGLES = 100_000
SAME_VOLUME = 1e-6  # share by which the tetrahedra may hold more or less than the surface


def filled_surface(vertices: FloatArray, triangles: IntArray, name: str) -> tuple[VolumeMesh, str]:
    """A VolumeMesh of what a closed surface holds, and a sentence on what it is not; '' where it is exact.

    Each edge, triangle and tetrahedron inside has a corner off the surface.

    Raises ModelError, with the name, for a surface that closed_surface() refuses, one of more than MOST_TRIANGLES
    triangles, and one that cannot be filled.
    """
    vertices, triangles = closed_surface(vertices, triangles, name)
    if len(triangles) > MOST_TRIANGLES:
        raise ModelError(f"{name}: {len(triangles)} triangles, the most that can be filled are {MOST_TRIANGLES}")
    low, size = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    unit = (vertices - low) / size
    volume, _ = volume_and_centroid(unit, triangles)
    inner = inner_points(unit, triangles, 3 * len(vertices) + 1000)
    mesh = conforming_tetrahedra(unit, triangles, inner, 6 * len(vertices) + 10_000)
    if mesh is not None:
        points, cells = with_inner_corners(*mesh)
        used, places = np.unique(cells, return_inverse=True)
        filled = checked_mesh(low + size * points[used], places.reshape(-1, 4), name)
        if abs(filled.volume / size**3 - volume) <= SAME_VOLUME * volume:
            return filled, ""
    raise ModelError(f"{name}: its surface cannot be filled with tetrahedra; its triangles may cross each other")
