"""How far a link reaches: the box around its own geometry."""

import numpy as np
from mbcli.parsers.spec import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Sphere

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


def corners(link, mesh_bounds):
    """Corners (n, 3) [m], in the link frame, of boxes around its visuals and collisions; None if any is unknown.

    mesh_bounds: {path of a mesh file: its (lower, upper) corner}; other meshes are unknown.
    """
    points = [_shape_corners(geometry, mesh_bounds) for geometry in (*link.visuals, *link.collisions)]
    if not points or any(p is None for p in points):
        return None
    return np.vstack(points)


def _shape_corners(geometry, mesh_bounds):
    shape = geometry.shape
    if isinstance(shape, Mesh):
        if shape.path not in mesh_bounds or shape.submesh is not None:
            return None
        lower, upper = (np.multiply(corner, shape.scale) for corner in mesh_bounds[shape.path])
        center, half = (lower + upper) / 2, (upper - lower) / 2
    elif type(shape) in _HALF_LENGTHS:
        center, half = np.zeros(3), np.array(_HALF_LENGTHS[type(shape)](shape))
    else:
        return None
    X = geometry.X_LG
    with np.errstate(over="ignore", invalid="ignore"):
        points = (center + _SIGNS * half) @ X[:3, :3].T + X[:3, 3]
    return points if np.isfinite(points).all() else None
