"""What of links displaces a fluid: their collision shapes as Solids of mbcli.plugins.solid.

Boxes, spheres, ellipsoids and closed meshes are exact. Cylinders, capsules and cones are polyhedra of SIDES sides and
of their volume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.geometry_inertia import mass_properties
from mbcli.parsers.spec import Box, Capsule, Cone, Cylinder, Ellipsoid, HalfSpace, Mesh, Polyline, Sphere
from mbcli.parsers.xml_node import quoted

from mbcli.errors import ModelError, ResourceError
from mbcli.meshes.closed_surface import closed_surface
from mbcli.meshes.made_surfaces import prism_surface
from mbcli.meshes.triangles import convex_hull, load_triangles
from mbcli.plugins.solid import Solid

if TYPE_CHECKING:
    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import GeometrySpec, LinkSpec, Shape

    from mbcli.math.array_types import FloatArray, IntArray

SIDES = 64
RINGS = 8  # of a half sphere


def solids_of(link: LinkSpec, diagnostics: Diagnostics) -> tuple[Solid, ...]:
    """Those of a link; a warning for each shape without a volume other than a half space."""
    found = []
    for collision in link.collisions:
        if isinstance(collision.shape, HalfSpace):
            continue
        try:
            found.append(_solid(collision))
        except (ModelError, ResourceError) as error:
            message = f"<collision> {quoted(collision.name)} displaces nothing: {error}"
            diagnostics.warning("ELEMENT_UNSUPPORTED", message, place=collision.place)
    return tuple(found)


def _solid(collision: GeometrySpec) -> Solid:
    shape, X_LG = collision.shape, collision.X_LG
    R, p = X_LG[:3, :3], X_LG[:3, 3]
    with np.errstate(all="ignore"):
        if isinstance(shape, Sphere):
            solid = Solid(p, R * shape.radius)
        elif isinstance(shape, Ellipsoid):
            solid = Solid(p, R * np.array(shape.radii))
        else:
            solid = Solid(p, triangles=_triangles(shape, collision.name) @ R.T)
        volume, moment = solid.below(np.array([0.0, 0.0, 1.0]), np.inf)
    if not np.isfinite([volume, *moment]).all() or not volume > 0.0:
        raise ModelError(f"its volume would be {volume:g} m^3")
    return solid


def _triangles(shape: Shape, name: str) -> FloatArray:
    """(m, 3 corners, 3) [m] of a shape in its own frame, outwards, with its volume."""
    vertices, triangles = _surface(shape, name)
    if isinstance(shape, Cylinder | Cone | Capsule):
        part = mass_properties(shape, 1.0).mass / (np.linalg.det(vertices[triangles]).sum() / 6.0)
        vertices = vertices * ([part ** (1 / 3)] * 3 if isinstance(shape, Capsule) else [part**0.5, part**0.5, 1.0])
    return vertices[triangles]


def _surface(shape: Shape, name: str) -> tuple[FloatArray, IntArray]:
    """Vertices and triangles, outwards, of a shape in its own frame."""
    if isinstance(shape, Mesh):
        if shape.path is None:
            raise ResourceError(f"{shape.uri}: the mesh file was not found")
        found = load_triangles(shape.path, shape.scale, submesh=shape.submesh, center=shape.center)
        return closed_surface(*found, shape.uri)
    if isinstance(shape, Polyline):
        return prism_surface(shape.outlines, shape.height)
    if isinstance(shape, Box):
        points = np.array(np.meshgrid(*[(-0.5 * size, 0.5 * size) for size in shape.size])).reshape(3, -1).T
    else:
        assert isinstance(shape, Cylinder | Cone | Capsule)
        half = 0.5 * shape.length
        if isinstance(shape, Cylinder):
            profile = [(shape.radius, -half), (shape.radius, half)]
        elif isinstance(shape, Cone):
            profile = [(shape.radius, -half), (0.0, half)]
        else:
            turns = 0.5 * np.pi * np.arange(RINGS) / RINGS
            upper = [(shape.radius * np.cos(a), half + shape.radius * np.sin(a)) for a in turns]
            upper.append((0.0, half + shape.radius))
            profile = [*upper, *((r, -z) for r, z in upper)]
        around = 2.0 * np.pi * np.arange(SIDES) / SIDES
        points = np.array([(r * np.cos(a), r * np.sin(a), z) for r, z in profile for a in around])
        points = np.unique(points, axis=0)  # a tip once
    return points, convex_hull(points, name)
