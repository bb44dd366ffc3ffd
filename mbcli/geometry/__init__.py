"""Shapes, under the names of pydrake.geometry."""

from mbcli.geometry.shapes import (
    Box,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    Mesh,
    MeshcatCone,
    Shape,
    Sphere,
)
from mbcli.geometry.surface_mesh import SurfaceTriangle, TriangleSurfaceMesh

__all__ = [
    "Box",
    "Capsule",
    "Convex",
    "Cylinder",
    "Ellipsoid",
    "HalfSpace",
    "Mesh",
    "MeshcatCone",
    "Shape",
    "Sphere",
    "SurfaceTriangle",
    "TriangleSurfaceMesh",
]
