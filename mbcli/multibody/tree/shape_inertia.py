"""The spatial inertia of a shape filled with one material."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry import Box, Capsule, Convex, Cylinder, Ellipsoid, Mesh, Sphere, TriangleSurfaceMesh
from mbcli.meshes.triangles import convex_hull, load_triangles
from mbcli.multibody.inertia.rotational_inertia import RotationalInertia
from mbcli.multibody.inertia.spatial_inertia import SpatialInertia
from mbcli.parsers.geometry_inertia import mass_properties_of_triangles

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.geometry.shapes import Shape

Z = (0.0, 0.0, 1.0)
SOLIDS: dict[type, Callable[[Any, Any], SpatialInertia]] = {
    Box: lambda density, s: SpatialInertia.SolidBoxWithDensity(density, *s.size()),
    Sphere: lambda density, s: SpatialInertia.SolidSphereWithDensity(density, s.radius()),
    Ellipsoid: lambda density, s: SpatialInertia.SolidEllipsoidWithDensity(density, s.a(), s.b(), s.c()),
    Cylinder: lambda density, s: SpatialInertia.SolidCylinderWithDensity(density, s.radius(), s.length(), Z),
    Capsule: lambda density, s: SpatialInertia.SolidCapsuleWithDensity(density, s.radius(), s.length(), Z),
}


def CalcSpatialInertia(
    shape: Shape | TriangleSurfaceMesh | None = None,
    density: float | None = None,
    *,
    mesh: TriangleSurfaceMesh | None = None,
) -> SpatialInertia:
    """M_SSo_S of a shape in its own frame S, or of a closed mesh, filled with a density [kg/m^3].

    Args:
        shape: Box, Sphere, Ellipsoid, Cylinder, Capsule, Mesh or Convex of mbcli.geometry, or a TriangleSurfaceMesh.
            The triangles of a mesh enclose a volume and turn counterclockwise seen from outside; this is not checked
            beyond what follows. A Convex holds the hull of its vertices.
        density: positive.

    Raises RuntimeError for other shapes, and if a mesh holds no positive volume or an impossible inertia.
    """
    shape = mesh if shape is None else shape
    if density is None or not 0.0 < density < np.inf:
        raise RuntimeError(f"CalcSpatialInertia: the density must be finite and positive, it is {density}")
    if type(shape) in SOLIDS:
        return SOLIDS[type(shape)](density, shape)
    if isinstance(shape, TriangleSurfaceMesh):
        return _of_triangles(shape.vertex_array, shape.triangle_array, density)
    if isinstance(shape, Mesh):
        vertices, triangles = load_triangles(shape.filename(), shape.scale3())
        if isinstance(shape, Convex):
            triangles = convex_hull(vertices, repr(shape))
        return _of_triangles(vertices, triangles, density)
    raise RuntimeError(f"CalcSpatialInertia: {shape!r} has no volume to fill, or none that is known")


def _of_triangles(vertices, triangles, density):
    mass, com, six = mass_properties_of_triangles(vertices, triangles, density)
    return SpatialInertia.MakeFromCentralInertia(mass, com, RotationalInertia(*six))
