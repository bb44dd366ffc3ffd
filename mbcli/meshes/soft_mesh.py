"""Pressure fields of meshes: of volume meshes as they are, of closed surfaces that are filled."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.meshes.closed_surface import closed_surface
from mbcli.meshes.filled_surface import filled_surface
from mbcli.meshes.hull_surface import area, hull_surface, volume_and_centroid
from mbcli.meshes.inner_corners import flat_inside, with_inner_corners
from mbcli.meshes.kept_arrays import keep_arrays, key_of, read_arrays
from mbcli.meshes.soft_shapes import soft_hull
from mbcli.meshes.soft_solid import MOST_TETRAHEDRA, SoftSolid
from mbcli.meshes.surface_distance import nearest_triangles
from mbcli.meshes.volume_mesh import VolumeMesh, checked_mesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mbcli.math.array_types import FloatArray, IntArray

VERSION = 2  # of the meshes that are made of a surface; raise it when the tetrahedra change
MOST_REMEMBERED = 64
PARTS = ("vertices", "tetrahedra", "extent")
_REMEMBERED: dict[str, SoftSolid] = {}
SAME_VOLUME, SAME_AREA = 1e-6, 1e-3  # shares by which a convex surface may differ from its hull


def soft_surface(vertices: FloatArray, triangles: IntArray, name: str) -> SoftSolid:
    """Of what a closed surface holds: vertices (n, 3) and triangles (m, 3).

    A convex one has its largest extent at its centroid, as soft_hull() has it. Others are filled with tetrahedra; the
    extent of a vertex inside is its distance from the surface over the largest one.

    Raises ModelError, with the name, as filled_surface() does.
    """
    vertices, triangles = closed_surface(vertices, triangles, name)
    if _is_convex(vertices, triangles, name):
        return soft_hull(vertices, name)
    mesh, finding = filled_surface(vertices, triangles, name)
    return _with_distances(mesh, finding)


def _is_convex(vertices: FloatArray, triangles: IntArray, name: str) -> bool:
    """Whether a closed surface is its own hull: of the same volume and area. Two that overlap have more of both."""
    hull, hull_triangles = hull_surface(vertices, name)
    volume, hull_volume = volume_and_centroid(vertices, triangles)[0], volume_and_centroid(hull, hull_triangles)[0]
    if abs(volume - hull_volume) > SAME_VOLUME * hull_volume:
        return False
    return area(vertices, triangles) <= (1.0 + SAME_AREA) * area(hull, hull_triangles)


def kept_soft_surface(vertices: FloatArray, triangles: IntArray, name: str) -> SoftSolid:
    """What soft_surface() gives, made once for equal surfaces and kept on disk for the next run."""
    digests = [hashlib.blake2b(array.tobytes()).hexdigest() for array in (vertices, triangles)]
    key = key_of("soft surface", VERSION, vertices.shape, triangles.shape, digests)
    if key not in _REMEMBERED:
        solid = _from_arrays(read_arrays(key), name)
        if solid is None:
            solid = soft_surface(vertices, triangles, name)
            if not solid.finding:
                keep_arrays(key, {part: getattr(solid, part) for part in PARTS})
        while len(_REMEMBERED) >= MOST_REMEMBERED:
            _REMEMBERED.pop(next(iter(_REMEMBERED)))
        _REMEMBERED[key] = solid
    return _REMEMBERED[key]


def _from_arrays(arrays: dict[str, NDArray[Any]] | None, name: str) -> SoftSolid | None:
    """The SoftSolid of arrays that were kept; None if something is not as it must be."""
    if arrays is None or set(arrays) != set(PARTS):
        return None
    try:
        mesh = checked_mesh(arrays["vertices"], arrays["tetrahedra"], name)
    except ModelError:
        return None
    extent = arrays["extent"]
    if extent.shape != (len(mesh.vertices),) or not ((extent >= 0.0) & (extent <= 1.0)).all():
        return None
    return SoftSolid(mesh.vertices, mesh.tetrahedra, extent)


def soft_volume(vertices: FloatArray, tetrahedra: IntArray, name: str) -> SoftSolid:
    """Of a volume mesh as it is, with extents from the distance of its vertices from its surface.

    Tetrahedra with all corners on the surface have no pressure, which the finding tells. If all are such ones, they are
    cut until none is.

    Raises ModelError, with the name, as checked_mesh() does, and for more than MOST_TETRAHEDRA.
    """
    if len(tetrahedra) > MOST_TETRAHEDRA:
        raise ModelError(f"{name}: {len(tetrahedra)} tetrahedra, the most are {MOST_TETRAHEDRA}")
    mesh = checked_mesh(vertices, tetrahedra, name)
    flat = flat_inside(mesh.tetrahedra)
    if flat.all():
        return _with_distances(VolumeMesh(*with_inner_corners(mesh.vertices, mesh.tetrahedra)), "")
    finding = f"{name}: {int(flat.sum())} of {len(flat)} tetrahedra have all corners on the surface and no pressure"
    return _with_distances(mesh, finding if flat.any() else "")


def _with_distances(mesh: VolumeMesh, finding: str) -> SoftSolid:
    inside = np.ones(len(mesh.vertices), dtype=bool)
    inside[mesh.outer_triangles] = False
    inside[np.setdiff1d(np.arange(len(mesh.vertices)), mesh.tetrahedra)] = False  # vertices of no tetrahedron
    extent = np.zeros(len(mesh.vertices))
    extent[inside], _ = nearest_triangles(mesh.vertices[inside], mesh.vertices, mesh.outer_triangles)
    return SoftSolid(mesh.vertices, mesh.tetrahedra, extent / extent.max(), finding)
