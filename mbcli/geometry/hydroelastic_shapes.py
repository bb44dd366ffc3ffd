"""Shapes as hydroelastic contact has them: tetrahedra with a pressure field, or rigid surfaces of triangles."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.geometry.shapes import (
    Capsule,
    ClosedSurface,
    Convex,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    Shape,
    Sphere,
)
from mbcli.meshes.hull_surface import hull_surface
from mbcli.meshes.round_surfaces import (
    box_surface,
    capsule_surface,
    circle_count,
    cylinder_surface,
    meridian_count,
    sphere_level,
    sphere_surface,
)
from mbcli.meshes.soft_shapes import soft_box, soft_capsule, soft_cylinder, soft_ellipsoid, soft_hull
from mbcli.meshes.soft_solid import SoftSolid, check_count
from mbcli.meshes.triangles import load_tetrahedra, load_triangles

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, IntArray

__all__ = ["SoftSolid", "needs_hint", "rigid_surface_of", "soft_solid_of"]

KEPT = 64  # shapes of different sizes that a process remembers


def needs_hint(shape: Shape) -> bool:
    """Whether the mesh of a shape follows a resolution hint: of curved shapes. Other meshes do not change with it."""
    return isinstance(shape, (Sphere, Ellipsoid, Cylinder, Capsule))


def soft_solid_of(shape: Shape, resolution_hint: float | None = None) -> SoftSolid:
    """Tetrahedra of a shape, in its frame, with the extent of its pressure field. Read-only, shared by equal shapes.

    resolution_hint: the length of edges [m] along curved surfaces; other shapes do not need it.

    Raises ModelError for a half space (which has a pressure field without tetrahedra), a shape that holds nothing, and
    a curved shape without a hint or with one that makes more tetrahedra than mbcli.meshes.soft_solid.MOST_TETRAHEDRA.
    """
    if type(shape) is HalfSpace:
        raise ModelError("a half space has no tetrahedra: its pressure grows with the depth over its slab thickness")
    if isinstance(shape, (Mesh, ClosedSurface)):
        return _soft_mesh(shape)
    return _soft_shape(type(shape).__name__, _measures(shape), _hint(shape, resolution_hint))


def rigid_surface_of(shape: Shape, resolution_hint: float | None = None) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a shape's surface, in its frame, outwards. Read-only, shared.

    The surface of a mesh is what its file has; that of a Convex its hull. Errors as of soft_solid_of(), but a surface
    need not enclose anything.
    """
    if type(shape) is HalfSpace:
        raise ModelError("a half space has no triangles: its surface is the plane z = 0")
    if isinstance(shape, Convex):
        return _read_only(*hull_surface(triangles_of(shape)[0], repr(shape)))
    if isinstance(shape, HeightField):
        return _read_only(*shape.surface())
    if isinstance(shape, (Mesh, ClosedSurface)):
        return _read_only(*triangles_of(shape))
    return _rigid_shape(type(shape).__name__, _measures(shape), _hint(shape, resolution_hint))


def _measures(shape: Shape) -> tuple[float, ...]:
    return tuple(getattr(shape, name)() for name in shape.MEASURES)


def _hint(shape: Shape, hint: float | None) -> float:
    """Infinite for a shape that does not follow one."""
    if not needs_hint(shape):
        return math.inf
    if hint is None:
        raise ModelError(f"{type(shape).__name__}: hydroelastic contact needs a resolution hint for its mesh")
    if not 0.0 < hint < math.inf:
        raise ModelError(f"{type(shape).__name__}: the resolution hint must be finite and positive, it is {hint}")
    return float(hint)


@lru_cache(maxsize=KEPT)
def _soft_shape(kind: str, measures: tuple[float, ...], hint: float) -> SoftSolid:
    if kind == "Sphere" and measures[0] == 0.0:
        raise ModelError("Sphere: one of radius 0 holds nothing that could be compressed")
    if kind == "Sphere":
        solid = soft_ellipsoid(3 * measures, hint)
    elif kind == "Ellipsoid":
        solid = soft_ellipsoid(measures, hint)
    elif kind == "Box":
        solid = soft_box(measures)
    elif kind == "Cylinder":
        solid = soft_cylinder(measures[0], measures[1], hint)
    elif kind == "Capsule":
        solid = soft_capsule(measures[0], measures[1], hint)
    else:
        raise ModelError(f"{kind}: there is no pressure field for this shape")
    _read_only(solid.vertices, solid.tetrahedra, solid.extent)
    return solid


@lru_cache(maxsize=KEPT)
def _rigid_shape(kind: str, measures: tuple[float, ...], hint: float) -> tuple[FloatArray, IntArray]:
    if kind == "Sphere" and measures[0] == 0.0:
        raise ModelError("Sphere: one of radius 0 has no surface")
    if kind in ("Sphere", "Ellipsoid"):
        semi_axes = np.array(3 * measures if kind == "Sphere" else measures)
        level = sphere_level(float(semi_axes.max()), hint)
        check_count(8.0 * 4.0**level, kind, hint, "triangles")
        vertices, triangles = sphere_surface(level)
        vertices = vertices * semi_axes
    elif kind == "Box":
        vertices, triangles = box_surface(measures)
    elif kind == "Cylinder":
        count = circle_count(measures[0], hint)
        check_count(4.0 * count, kind, hint, "triangles")
        vertices, triangles = cylinder_surface(measures[0], measures[1], count)
    elif kind == "Capsule":
        count = meridian_count(measures[0], hint)
        check_count(4.0 * count * (count // 2), kind, hint, "triangles")
        vertices, triangles = capsule_surface(measures[0], measures[1], count)
    else:
        raise ModelError(f"{kind}: hydroelastic contact knows no surface of this shape")
    return _read_only(vertices, triangles)


def _soft_mesh(shape: Mesh | ClosedSurface) -> SoftSolid:
    from mbcli.meshes.soft_mesh import kept_soft_surface, soft_volume  # late: few models have soft meshes

    if isinstance(shape, Convex):
        solid = soft_hull(triangles_of(shape)[0], repr(shape))
    elif isinstance(shape, Mesh) and shape.extension() == ".vtk":
        vertices, tetrahedra = load_tetrahedra(shape.filename(), shape.scale3(), center=shape.center)
        solid = soft_volume(vertices, tetrahedra, repr(shape))
    else:
        solid = kept_soft_surface(*triangles_of(shape), repr(shape))
    _read_only(solid.vertices, solid.tetrahedra, solid.extent)
    return solid


def triangles_of(shape: Mesh | ClosedSurface) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a mesh, as its file has them. Errors as of load_triangles()."""
    if isinstance(shape, ClosedSurface):
        return shape.vertices.copy(), shape.triangles.copy()
    return load_triangles(shape.filename(), shape.scale3(), submesh=shape.submesh, center=shape.center)


def _read_only(*arrays: Any) -> Any:
    for array in arrays:
        array.flags.writeable = False
    return arrays
