"""Mass and inertia of meshes and thin shells as MuJoCo has them.

The four ways of <mesh inertia>, with tetrahedra between the triangles and a point inside:

    legacy  every tetrahedron counts as positive, first seen from the centroid of the surface, which gives the centre of
            mass, then from that centre, which gives volume and inertia. A surface that is not star-shaped about both
            points weighs too much.
    exact   tetrahedra outside of the surface are subtracted: right for every closed surface, and refused for others.
    convex  as exact, of the convex hull of the vertices.
    shell   the mass is spread over the triangles themselves.

Source: https://mujoco.readthedocs.io/en/stable/XMLreference.html#asset-mesh-inertia
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mbcli.parsers.geometry_inertia import MassProperties, mass_properties_of_triangles, six_of
from mbcli.parsers.spec import Box, Capsule, Cylinder, Ellipsoid, Sphere

from mbcli.errors import ModelError
from mbcli.meshes.triangles import convex_hull

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, TypeAlias

    from mbcli.math.array_types import Array, IntArray, Matrix, Vector, Vector3

    AreaAndInertia: TypeAlias = tuple[float, Sequence[float]]  # [m^2]; principal moments of mass 1

KINDS = ("legacy", "exact", "convex", "shell")
SMALLEST = 1e-14  # [m^2 or m^3] of the area or the volume of a mesh
_SMALL_TRIANGLE = 1e-7  # [m^2] triangles below are not asked for their orientation
_NOTCH = 1e-9  # of a surface: the area of a part of a polygon that is taken for one
_SHELL = 1e-6  # [m] thickness by which the inertia of the shell of an ellipsoid is found
_THOMSEN = 1.6075  # exponent of Knud Thomsen's formula for the surface of an ellipsoid


def mesh_mass_properties(
    vertices: Matrix, triangles: IntArray, polygons: IntArray | None, kind: str, density: float, name: str
) -> MassProperties:
    """The `MassProperties` of a mesh: vertices (n, 3) [m], triangles (m, 3) of their indices, kind of KINDS.

    polygons: (m,) the number of the flat polygon that a triangle is a part of, or None: each is one. density: [kg/m^3],
    of a shell [kg/m^2]. Raises ModelError, with the name, if there is no volume or area.
    """
    if kind == "convex":
        triangles = convex_hull(vertices, name)
    if kind == "exact" and (turned := turned_triangles(vertices, triangles)):
        raise ModelError(f"{name}: {turned}, which an exact inertia needs")
    if kind in ("exact", "convex"):
        return mass_properties_of_triangles(vertices, triangles, density)
    corners = np.asarray(vertices, float)[np.asarray(triangles)]  # (m, 3 corners, 3)
    areas = _areas(corners, polygons)
    if not areas.sum() >= SMALLEST:
        raise ModelError(f"{name}: its surface is too small")
    centroid = areas @ corners.mean(axis=1) / areas.sum()
    if kind == "shell":
        return _of_parts(corners, areas, centroid, density, 12.0)
    volumes = _volumes(corners - centroid, polygons)
    if not volumes.sum() >= SMALLEST:
        raise ModelError(f'{name}: it holds no volume: state inertia="shell" if it is a shell')
    centre = volumes @ (0.75 * corners.mean(axis=1) + 0.25 * centroid) / volumes.sum()
    return _of_parts(corners, _volumes(corners - centre, polygons), centre, density, 20.0)


def _areas(corners: Array, polygons: IntArray | None = None) -> Vector:
    """(m,) negative for a part of a polygon that faces the other side than the whole."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2.0
    areas = np.linalg.norm(normals, axis=1)
    if polygons is None:
        return areas
    return areas * np.sign(np.einsum("mi,mi->m", normals, _sums(normals, polygons)[polygons]))


def notched(vertices: Matrix, triangles: IntArray, polygons: IntArray | None) -> bool:
    """Whether parts of a polygon face the other side than the whole."""
    areas = _areas(np.asarray(vertices)[np.asarray(triangles)], polygons)
    return bool((areas < -_NOTCH * areas.sum()).any())


def _volumes(corners: Array, polygons: IntArray | None) -> Vector:
    """(m,) of tetrahedra with their tips at the origin, each polygon's together counted as positive."""
    volumes = np.linalg.det(corners) / 6.0
    return abs(volumes) if polygons is None else volumes * np.sign(_sums(volumes, polygons)[polygons])


def _sums(values: Array, polygons: IntArray) -> Array:
    """(p, ...) of the values (m, ...) of the parts of each polygon."""
    sums = np.zeros((polygons.max() + 1, *values.shape[1:]))
    np.add.at(sums, polygons, values)
    return sums


def _of_parts(corners: Array, sizes: Vector, centre: Vector3, density: float, divisor: float) -> MassProperties:
    """Of triangles (m, 3, 3) with areas and the divisor 12, or of tetrahedra with their tips at the centre and 20.

    The second moments of one about the tip are size / divisor (sum_i r_i r_i' + s s'), s being the sum of its corners.
    """
    r = corners - centre
    s = r.sum(axis=1)
    second = np.einsum("m,mci,mcj->ij", sizes, r, r) + np.einsum("m,mi,mj->ij", sizes, s, s)
    second *= density / divisor
    return MassProperties(float(density * sizes.sum()), centre, six_of(np.trace(second) * np.eye(3) - second))


def turned_triangles(vertices: Matrix, triangles: IntArray) -> str:
    """How a surface is badly oriented, or an empty text: two triangles go along an edge the same way."""
    triangles = np.asarray(triangles)
    large = triangles[_areas(np.asarray(vertices, float)[triangles]) > _SMALL_TRIANGLE]
    edges = large[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    unique, counts = np.unique(edges, axis=0, return_counts=True)
    if not (counts > 1).any():
        return ""
    first, second = unique[counts > 1][0].tolist()
    return f"triangles beside the edge from vertex {first} to {second} do not face the same side of the surface"


def enclosed_volume(vertices: Matrix, triangles: IntArray) -> float | None:
    """The volume [m^3] in a surface, negative if it is inside out; None if it is not closed and turned one way.

    Vertices at the same place count as one.
    """
    vertices, triangles = np.asarray(vertices), np.asarray(triangles)
    _, places = np.unique(vertices, axis=0, return_inverse=True)
    start, end = places.reshape(-1)[triangles[:, [0, 1, 1, 2, 2, 0]]].reshape(-1, 2).T
    forth, back = start * len(vertices) + end, end * len(vertices) + start
    if not np.array_equal(np.sort(forth[start != end]), np.sort(back[start != end])):
        return None
    return float(np.linalg.det((vertices - vertices.mean(axis=0))[triangles]).sum() / 6.0)


# ------------------------------------------------------------------------------------------- shells


def shell_mass_properties(shape: Any, density: float) -> MassProperties:
    """The `MassProperties` of the surface of a primitive, without thickness, with a density [kg/m^2]."""
    area, unit = _SHELLS[type(shape)](shape)
    x, y, z = (float(density * area * moment) for moment in unit)
    return MassProperties(float(density * area), np.zeros(3), (x, y, z, 0.0, 0.0, 0.0))


def _sphere(shape: Sphere) -> AreaAndInertia:
    r = shape.radius
    return 4.0 * np.pi * r * r, (2.0 / 3.0 * r * r,) * 3


def _cylinder(shape: Cylinder) -> AreaAndInertia:
    r, h = shape.radius, shape.length
    side, ends = 2.0 * np.pi * r * h, 2.0 * np.pi * r * r
    across = side * (r * r / 2.0 + h * h / 12.0) + ends * (r * r / 4.0 + h * h / 4.0)
    along = side * r * r + ends * r * r / 2.0
    area = side + ends
    return area, (across / area, across / area, along / area)


def _capsule(shape: Capsule) -> AreaAndInertia:
    """Hemispheres have their centres half a radius outside of the ends of the cylinder."""
    r, h = shape.radius, shape.length
    side, caps = 2.0 * np.pi * r * h, 4.0 * np.pi * r * r
    moved = (h / 2.0 + r / 2.0) ** 2 - (r / 2.0) ** 2  # from a sphere's centre to that of the capsule, by Steiner twice
    across = side * (r * r / 2.0 + h * h / 12.0) + caps * (2.0 / 3.0 * r * r + moved)
    along = side * r * r + caps * 2.0 / 3.0 * r * r
    area = side + caps
    return area, (across / area, across / area, along / area)


def _box(shape: Box) -> AreaAndInertia:
    x, y, z = shape.size
    area = 2.0 * (x * y + y * z + z * x)
    second = [  # integrals of x^2, y^2, z^2 over the six faces
        2.0 * (b * c * a * a / 4.0 + a * a * a / 12.0 * (b + c)) for a, b, c in ((x, y, z), (y, z, x), (z, x, y))
    ]
    return area, tuple((sum(second) - own) / area for own in second)


def _ellipsoid(shape: Ellipsoid) -> AreaAndInertia:
    """MuJoCo's own approximations: Thomsen's area, and a solid less another that is thinner everywhere."""
    a, b, c = shape.radii
    p = _THOMSEN
    area = 4.0 * np.pi * (((a * b) ** p + (b * c) ** p + (c * a) ** p) / 3.0) ** (1.0 / p)
    inner, outer = np.array(shape.radii), np.array(shape.radii) + _SHELL
    volumes = np.prod(inner), np.prod(outer)
    second = (volumes[1] * outer**2 - volumes[0] * inner**2) / 5.0 / (volumes[1] - volumes[0])
    return area, tuple(second.sum() - second)


_SHELLS: dict[type, Callable[[Any], AreaAndInertia]] = {
    Sphere: _sphere,
    Cylinder: _cylinder,
    Capsule: _capsule,
    Box: _box,
    Ellipsoid: _ellipsoid,
}
