"""How far a link reaches: the box around its own geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.spec import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Sphere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.parsers.checks.flat_model import MeshBounds
    from mbcli.parsers.spec import GeometrySpec, LinkSpec, Shape

    from mbcli.math.array_types import Matrix, Vector3

DENSEST = 1e5  # [kg/m^3] of what moves together: osmium has 22,600, and shapes may show a part of it
LEAST_VOLUME = 4e-6  # [m^3] of that box: smaller ones mark a place

# half lengths along x, y, z of the box around each shape
_HALF_LENGTHS = {
    Box: lambda s: [length / 2 for length in s.size],
    Sphere: lambda s: [s.radius] * 3,
    Cylinder: lambda s: [s.radius, s.radius, s.length / 2],
    Capsule: lambda s: [s.radius, s.radius, s.length / 2 + s.radius],
    Ellipsoid: lambda s: s.radii,
    Cone: lambda s: [s.radius, s.radius, s.length / 2],
}
_SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def corners(link: LinkSpec, mesh_bounds: MeshBounds) -> Matrix | None:
    """Corners (n, 3) [m], in the link frame, of boxes around its visuals and collisions; None if any is unknown.

    mesh_bounds: {path of a mesh file: its extent}; other meshes are unknown.
    """
    return corners_of((*link.visuals, *link.collisions), mesh_bounds)


def corners_of(geometries: Sequence[GeometrySpec], mesh_bounds: MeshBounds) -> Matrix | None:
    """Corners (n, 3) [m], in the link frame, of boxes around geometries of a link; None if any is unknown."""
    found = [_shape_corners(geometry, mesh_bounds) for geometry in geometries]
    points = [corners for corners in found if corners is not None]
    if not points or len(points) < len(found):
        return None
    return np.vstack(points)


def marks_a_place(link: LinkSpec, mesh_bounds: MeshBounds) -> bool:
    """Whether what is seen of a link is too small for its mass and cannot be touched: it shows where something is, as
    the boxes of 1 cm that stand for the parts of a drive."""
    points = corners(link, mesh_bounds)
    if points is None or link.collisions or link.inertial is None:
        return False
    volume = float((points.max(axis=0) - points.min(axis=0)).prod())
    return volume <= LEAST_VOLUME and link.inertial.mass > DENSEST * volume


def half_lengths(shape: Shape, mesh_bounds: MeshBounds) -> Vector3 | None:
    """Half lengths (3,) [m] along x, y, z of the box around a shape, None if they are unknown."""
    box = _box(shape, mesh_bounds)
    return None if box is None else np.abs(box[1])


def _box(shape: Shape, mesh_bounds: MeshBounds) -> tuple[Vector3, Vector3] | None:
    """(center, half lengths) of the box around a shape in its own axes, None if it is unknown."""
    if isinstance(shape, Mesh):
        if shape.path not in mesh_bounds or shape.submesh is not None:
            return None
        extent = mesh_bounds[shape.path]
        lower, upper = (np.multiply(corner, shape.scale) for corner in (extent.lower, extent.upper))
        return (lower + upper) / 2, (upper - lower) / 2
    if type(shape) in _HALF_LENGTHS:
        return np.zeros(3), np.array(_HALF_LENGTHS[type(shape)](shape))
    return None


def _shape_corners(geometry: GeometrySpec, mesh_bounds: MeshBounds) -> Matrix | None:
    box = _box(geometry.shape, mesh_bounds)
    if box is None:
        return None
    center, half = box
    X = geometry.X_LG
    with np.errstate(over="ignore", invalid="ignore"):
        points = (center + _SIGNS * half) @ X[:3, :3].T + X[:3, 3]
    return points if np.isfinite(points).all() else None
