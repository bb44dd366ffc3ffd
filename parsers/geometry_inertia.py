"""Mass, centre of mass and inertia of solid shapes of uniform density, and of several of them together.

SDFormat calls it automatic inertia, MJCF inertia from geoms. The formulas of the primitives are those of
`UnitInertia`; meshes are integrated here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from mbcli.parsers.spec import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Polyline, Sphere

from mbcli.errors import ModelError, ResourceError
from mbcli.meshes.made_surfaces import prism_surface
from mbcli.meshes.triangles import load_triangles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    from mbcli.parsers.spec import Shape

    from mbcli.math.array_types import IntArray, Matrix, Matrix3, Matrix4, Vector3

    SixNumbers: TypeAlias = tuple[float, float, float, float, float, float]

_Z = (0.0, 0.0, 1.0)
_TOO_LARGE = "its mass, centre or inertia is too large for a number"


class MassProperties(NamedTuple):
    """Of a body, in some frame S: the contents of an `InertialSpec`."""

    mass: float  # [kg]
    p_SScm: np.ndarray  # (3,) [m]
    inertia: tuple[float, float, float, float, float, float]  # ixx .. iyz [kg m^2] about Scm in the axes of S


def mass_properties(shape: Shape, density: float) -> MassProperties:
    """The `MassProperties` of a shape filled with a density [kg/m^3], in the shape's own frame.

    Raises ModelError for a shape without volume (a half space, a mesh that is not closed) and for a mesh file that
    cannot be read, ResourceError for one that was not found.
    """
    if isinstance(shape, Mesh):
        if shape.path is None:
            raise ResourceError(f"{shape.uri}: the mesh file was not found")
        triangles = load_triangles(shape.path, shape.scale, submesh=shape.submesh, center=shape.center)
        return mass_properties_of_triangles(*triangles, density)
    if isinstance(shape, Polyline):
        return mass_properties_of_triangles(*prism_surface(shape.outlines, shape.height), density)
    if isinstance(shape, Cone):
        return _of_cone(shape, density)
    if type(shape) not in _VOLUMES:
        raise ModelError(f"a {type(shape).__name__} has no volume, so that no mass follows from its density")
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            mass = float(density * _VOLUMES[type(shape)](shape))
            return _finite(MassProperties(mass, np.zeros(3), six_of(mass * _unit_inertia(shape))))
    except OverflowError:
        raise ModelError(_TOO_LARGE) from None


def _of_cone(cone: Cone, density: float) -> MassProperties:
    """A cone's centre is a quarter of its length above its base."""
    mass = density * np.pi * cone.radius**2 * cone.length / 3.0
    across = mass * (3.0 / 20.0 * cone.radius**2 + 3.0 / 80.0 * cone.length**2)
    inertia = (across, across, 0.3 * mass * cone.radius**2, 0.0, 0.0, 0.0)
    return _finite(MassProperties(float(mass), np.array([0.0, 0.0, -cone.length / 4.0]), inertia))


def scaled_to_mass(properties: MassProperties, mass: float) -> MassProperties:
    """The same body with another mass [kg], its density changed."""
    if not properties.mass > 0.0:
        raise ModelError("the shape is too small to have a mass")
    factor = mass / properties.mass
    xx, yy, zz, xy, xz, yz = (factor * value for value in properties.inertia)
    return _finite(MassProperties(mass, properties.p_SScm, (xx, yy, zz, xy, xz, yz)))


def combined(parts: Sequence[tuple[Matrix4, MassProperties]]) -> MassProperties:
    """The `MassProperties` in a frame L of several (X_LS, MassProperties) that make one body.

    Parts of no mass count nothing; without mass at all the centre is Lo. Raises ModelError if the sum is not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return _finite(_combined(parts))


def _combined(parts: Sequence[tuple[Matrix4, MassProperties]]) -> MassProperties:
    placed = [(X_LS[:3, :3], X_LS[:3, 3], part) for X_LS, part in parts if part.mass]
    mass = sum(part.mass for _, _, part in placed)
    if not mass:
        return MassProperties(0.0, np.zeros(3), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    centres = [R @ part.p_SScm + p for R, p, part in placed]
    centre = sum((part.mass * c for c, (_, _, part) in zip(centres, placed, strict=True)), np.zeros(3)) / mass
    inertia = sum(
        (
            R @ matrix_of(part.inertia) @ R.T + part.mass * _of_particle(c - centre)
            for c, (R, _, part) in zip(centres, placed, strict=True)
        ),
        np.zeros((3, 3)),
    )
    return MassProperties(mass, centre, six_of(inertia))


def matrix_of(inertia: Sequence[float]) -> Matrix3:
    """ixx, iyy, izz, ixy, ixz, iyz as a matrix (3, 3)."""
    ixx, iyy, izz, ixy, ixz, iyz = inertia
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def six_of(inertia: Matrix3) -> SixNumbers:
    """A symmetric matrix (3, 3) as ixx, iyy, izz, ixy, ixz, iyz."""
    return tuple(inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist())


def mass_properties_of_triangles(vertices: Matrix, triangles: IntArray, density: float) -> MassProperties:
    """The `MassProperties` of the solid in a closed surface: vertices (n, 3) [m], triangles (m, 3) of their indices.

    Each triangle is the base of a tetrahedron with its tip at the vertices' mean, counted negative where the
    triangle faces that point: the sum is exact for every closed surface whose triangles turn counterclockwise
    seen from outside. Raises ModelError if the volume is not positive.
    """
    vertices = np.asarray(vertices, float)
    origin = vertices.mean(axis=0)
    corners = (vertices - origin)[np.asarray(triangles)]  # (m, 3 corners, 3)
    volumes = np.linalg.det(corners) / 6.0
    volume = volumes.sum()
    if not volume > 0.0:
        raise ModelError(f"the surface of the mesh is not closed, or inside out: it holds {volume:.6g} m^3")
    sums = corners.sum(axis=1)
    centre = volumes @ sums / (4.0 * volume)
    # second moments of a tetrahedron with a corner at the origin: V/20 (sum_i r_i r_i' + s s'), s the corners' sum
    second = np.einsum("m,mci,mcj->ij", volumes, corners, corners) + np.einsum("m,mi,mj->ij", volumes, sums, sums)
    second = second / 20.0 - volume * np.outer(centre, centre)
    inertia = np.trace(second) * np.eye(3) - second
    return MassProperties(float(density * volume), origin + centre, six_of(density * inertia))


def _finite(properties: MassProperties) -> MassProperties:
    if not np.isfinite([properties.mass, *properties.p_SScm, *properties.inertia]).all():
        raise ModelError(_TOO_LARGE)
    return properties


_VOLUMES = {
    Box: lambda shape: shape.size[0] * shape.size[1] * shape.size[2],
    Sphere: lambda shape: 4.0 / 3.0 * np.pi * shape.radius**3,
    Cylinder: lambda shape: np.pi * shape.radius**2 * shape.length,
    Capsule: lambda shape: np.pi * shape.radius**2 * (shape.length + 4.0 / 3.0 * shape.radius),
    Ellipsoid: lambda shape: 4.0 / 3.0 * np.pi * shape.radii[0] * shape.radii[1] * shape.radii[2],
}


def _unit_inertia(shape: Any) -> Matrix3:
    """The inertia (3, 3) of a primitive of mass 1 about its centre."""
    from mbcli.multibody.inertia.unit_inertia import UnitInertia  # not needed to read a file that states its inertias

    make = {
        Box: lambda: UnitInertia.SolidBox(*shape.size),
        Sphere: lambda: UnitInertia.SolidSphere(shape.radius),
        Cylinder: lambda: UnitInertia.SolidCylinder(shape.radius, shape.length, _Z),
        Capsule: lambda: UnitInertia.SolidCapsule(shape.radius, shape.length, _Z),
        Ellipsoid: lambda: UnitInertia.SolidEllipsoid(*shape.radii),
    }[type(shape)]
    return make().CopyToFullMatrix3()


def _of_particle(p: Vector3) -> Matrix3:
    return (p @ p) * np.eye(3) - np.outer(p, p)
