"""Shapes as tetrahedra of even size and good shape, as elastic bodies need them."""

from __future__ import annotations

import math

from mbcli.errors import ModelError
from mbcli.geometry.hydroelastic_shapes import triangles_of
from mbcli.geometry.shapes import Box, Capsule, ClosedSurface, Convex, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from mbcli.meshes.filled_surface import filled_surface, lattice_in_surface
from mbcli.meshes.hull_surface import hull_surface
from mbcli.meshes.triangles import MAX_COORDINATE, load_tetrahedra
from mbcli.meshes.volume_mesh import VolumeMesh, checked_mesh
from mbcli.meshes.volume_shapes import box_volume, capsule_volume, cylinder_volume, ellipsoid_volume

__all__ = ["VolumeMesh", "volume_mesh_of"]


def volume_mesh_of(shape: Shape, resolution_hint: float | None = None) -> VolumeMesh:
    """Tetrahedra of a shape, in its frame; `quality` of the result tells how well the worst are shaped.

    resolution_hint: about the length of edges [m]. The tetrahedra of a VTK file do not follow it. A surface of
    triangles and a Convex do with edges bevelled by up to the hint; without one they are filled as they are.

    Raises ModelError for a shape without volume, a hint that is missing, not positive or makes more tetrahedra than
    mbcli.meshes.soft_solid.MOST_TETRAHEDRA, a shape beyond 1e100 m, and a mesh that cannot be filled.
    """
    hint = resolution_hint
    if hint is not None and not 0.0 < hint < math.inf:
        raise ModelError(f"{type(shape).__name__}: the resolution hint must be finite and positive, it is {hint}")
    if isinstance(shape, Mesh) and not isinstance(shape, Convex) and shape.extension() == ".vtk":
        vertices, cells = load_tetrahedra(shape.filename(), shape.scale3(), center=shape.center)
        return checked_mesh(vertices, cells, repr(shape))
    if isinstance(shape, (Mesh, ClosedSurface)):
        vertices, triangles = triangles_of(shape)
        if isinstance(shape, Convex):
            vertices, triangles = hull_surface(vertices, repr(shape))
        if hint is None:
            return filled_surface(vertices, triangles, repr(shape))[0]
        return lattice_in_surface(vertices, triangles, hint, repr(shape))
    if hint is None:
        raise ModelError(f"{type(shape).__name__}: its tetrahedra need a resolution hint")
    if max((abs(getattr(shape, name)()) for name in shape.MEASURES), default=0.0) > MAX_COORDINATE:
        raise ModelError(f"{shape!r}: larger than {MAX_COORDINATE:g} m")
    if isinstance(shape, Sphere) and shape.radius() > 0.0:
        return ellipsoid_volume(3 * (shape.radius(),), hint)
    if isinstance(shape, Ellipsoid):
        return ellipsoid_volume((shape.a(), shape.b(), shape.c()), hint)
    if isinstance(shape, Box):
        return box_volume(shape.size(), hint)
    if isinstance(shape, Cylinder):
        return cylinder_volume(shape.radius(), shape.length(), hint)
    if isinstance(shape, Capsule):
        return capsule_volume(shape.radius(), shape.length(), hint)
    raise ModelError(f"{shape!r}: a shape like this has no tetrahedra")
