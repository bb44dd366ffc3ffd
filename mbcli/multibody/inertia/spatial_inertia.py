"""Spatial inertias M_SP_E, under the names of pydrake.multibody.tree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.math import RigidTransform, RotationMatrix
from mbcli.math.array_arguments import as_array, as_numbers, as_scalar, describe, python_number, real_part, real_parts
from mbcli.math.cross_product import cross, skew
from mbcli.math.sine_cosine import square_root
from mbcli.multibody.inertia.rotational_inertia import (
    RotationalInertia,
    inertia_of,
    invalidity,
    principal_moments_and_axes,
    reexpressed,
    require_physical,
    unit_inertia_of_particle,
)
from mbcli.multibody.inertia.unit_inertia import UnitInertia, checked_unit_vector
from mbcli.multibody.math import SpatialAcceleration, SpatialForce, SpatialMomentum, SpatialVelocity
from mbcli.multibody.math.spatial_vector import vector_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix, Matrix3, Scalar, Vector3

_new = object.__new__


class SpatialInertia:
    """M_SP_E: mass [kg], position p_PScm_E [m] of the center of mass and unit inertia G_SP_E of a body S.

    The unit inertia is about P, not about the center of mass. As a matrix, with I = mass G and p = p_PScm,
    M = [[I, m p x], [-m p x, m 1]].

    Args:
      mass: [kg].
      p_PScm_E: (3,) [m].
      G_SP_E: about P [m^2].
      skip_validity_check: whether the numbers are taken as they are.

    Raises:
      ModelError: not IsPhysicallyValid().
      TypeError: an argument of another type or shape.

    Example:
      >>> SpatialInertia(2.0, [0, 0, 0.1], UnitInertia.SolidCube(0.2).ShiftFromCenterOfMass([0, 0, -0.1])).get_mass()
      2.0
    """

    # The arrays themselves, never changed in place, so that objects may share them.
    __slots__ = ("mass", "p_array", "G_array")
    __array_ufunc__ = None

    def __init__(
        self, mass: Scalar, p_PScm_E: ArrayLike, G_SP_E: UnitInertia, skip_validity_check: bool = False
    ) -> None:
        if not isinstance(G_SP_E, UnitInertia):
            raise TypeError(f"SpatialInertia: G_SP_E must be a UnitInertia, got {type(G_SP_E).__name__}")
        self.mass = as_scalar(mass, "SpatialInertia: mass")
        self.p_array = as_array(p_PScm_E, (3,), "SpatialInertia: p_PScm_E").copy()
        self.G_array = G_SP_E.I_array
        if not skip_validity_check:
            reason = self._invalidity()
            if reason is not None:
                raise ModelError(f"SpatialInertia: not physically possible: {reason}")

    @staticmethod
    def MakeFromCentralInertia(mass: Scalar, p_PScm_E: ArrayLike, I_SScm_E: RotationalInertia) -> SpatialInertia:
        """Return M_SP_E from mass, center of mass and the rotational inertia about the center of mass.

        Raises ModelError unless mass > 0 and the inertia is one that a body can have about its center of mass.
        """
        value = _positive(mass, "mass", "MakeFromCentralInertia")
        p = as_array(p_PScm_E, (3,), "p_PScm_E")
        if (tested := real_parts(p)) is not None and not np.isfinite(tested).all():
            raise ModelError(f"SpatialInertia: center of mass {p.tolist()} is not finite")
        require_physical(I_SScm_E.I_array, "SpatialInertia: central inertia")
        return spatial_inertia_of(value, p.copy(), I_SScm_E.I_array / value + unit_inertia_of_particle(p))

    @staticmethod
    def Zero() -> SpatialInertia:
        """Return the inertia of nothing: mass, center of mass and unit inertia are zero."""
        return spatial_inertia_of(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def NaN() -> SpatialInertia:
        """Return the inertia that is NaN throughout."""
        return spatial_inertia_of(math.nan, np.full(3, np.nan), np.full((3, 3), np.nan))

    def SetNaN(self) -> None:
        """Set everything to NaN."""
        self.mass, self.p_array, self.G_array = math.nan, np.full(3, np.nan), np.full((3, 3), np.nan)

    def get_mass(self) -> Scalar:
        """Return the mass [kg]."""
        return self.mass

    def get_com(self) -> np.ndarray:
        """Return a copy of p_PScm_E (3,) [m]."""
        return self.p_array.copy()

    def get_unit_inertia(self) -> UnitInertia:
        """Return G_SP_E [m^2]."""
        return inertia_of(UnitInertia, self.G_array)

    def CalcComMoment(self) -> np.ndarray:
        """Return mass times p_PScm_E (3,) [kg m]."""
        return self.mass * self.p_array

    def CalcRotationalInertia(self) -> RotationalInertia:
        """Return I_SP_E = mass G_SP_E [kg m^2]."""
        return inertia_of(RotationalInertia, self.mass * self.G_array)

    def CopyToFullMatrix6(self) -> np.ndarray:
        """Return the matrix (6, 6), rotational rows and columns first."""
        mp_cross = skew(self.CalcComMoment())
        return np.block([[self.mass * self.G_array, mp_cross], [-mp_cross, self.mass * np.eye(3)]])

    def IsNaN(self) -> bool:
        """Tell whether anything is NaN."""
        return any(bool((part != part).any()) for part in (np.asarray(self.mass), self.p_array, self.G_array))

    def IsZero(self) -> bool:
        """Tell whether mass, center of mass and unit inertia are all exactly zero."""
        return bool(self.mass == 0.0) and not (self.p_array != 0.0).any() and not (self.G_array != 0.0).any()

    def IsPhysicallyValid(self) -> bool:
        """Tell whether a body can have this inertia.

        It can if all is finite, the mass is not negative and, about the center of mass, no principal moment is
        negative and none exceeds the sum of the others.
        """
        return self._invalidity() is None

    def _invalidity(self) -> str | None:
        p: Vector3 | None
        G: Matrix3 | None
        mass, p, G = self.mass, self.p_array, self.G_array
        if not isinstance(mass, (float, complex)) or "O" in (p.dtype.kind, G.dtype.kind):
            mass, p, G = real_part(mass), real_parts(p), real_parts(G)
            if mass is None or p is None or G is None:
                return None
        if not (np.isfinite(mass) and np.isfinite(p).all() and np.isfinite(G).all()):
            return "mass, center of mass and inertia must be finite"
        if mass.real < 0.0:
            return f"mass {mass} is negative"
        I_SP = mass * G
        reason = invalidity(I_SP - mass * unit_inertia_of_particle(p), before=I_SP)
        return None if reason is None else f"about the center of mass, {reason}"

    def __iadd__(self, other: SpatialInertia) -> SpatialInertia:
        """Join a body to this one, with inertia about the same point expressed in the same frame."""
        if not isinstance(other, SpatialInertia):
            return NotImplemented
        total = self.mass + other.mass
        # Of two bodies without mass neither weighs more.
        share = self.mass / total if total != 0.0 else 0.5
        self.p_array = share * self.p_array + (1.0 - share) * other.p_array
        self.G_array = share * self.G_array + (1.0 - share) * other.G_array
        self.mass = total
        return self

    def ReExpress(self, R_AE: RotationMatrix) -> SpatialInertia:
        """Return this inertia, expressed in E, as expressed in A."""
        rotation = R_AE if isinstance(R_AE, RotationMatrix) else RotationMatrix(R_AE)
        return spatial_inertia_of(self.mass, rotation.R_array.dot(self.p_array), reexpressed(self.G_array, rotation))

    def ReExpressInPlace(self, R_AE: RotationMatrix) -> None:
        """Express this object itself in A, as ReExpress() does a copy."""
        self._become(self.ReExpress(R_AE))

    def Shift(self, p_PQ_E: ArrayLike) -> SpatialInertia:
        """Return M_SQ_E about the point Q at p_PQ_E (3,) [m] from P."""
        p_QScm = self.p_array - as_array(p_PQ_E, (3,), "p_PQ_E")
        G_SQ = self.G_array - unit_inertia_of_particle(self.p_array) + unit_inertia_of_particle(p_QScm)
        return spatial_inertia_of(self.mass, p_QScm, G_SQ)

    def ShiftInPlace(self, p_PQ_E: ArrayLike) -> None:
        """Shift this object itself, as Shift() does a copy."""
        self._become(self.Shift(p_PQ_E))

    def _become(self, other: SpatialInertia) -> None:
        self.mass, self.p_array, self.G_array = other.mass, other.p_array, other.G_array

    def __mul__(self, other: SpatialAcceleration | SpatialVelocity | Matrix) -> Any:
        """Return M A as a SpatialForce, M V as a SpatialMomentum, or the product with a matrix (6, n)."""
        if isinstance(other, SpatialAcceleration):
            return vector_of(SpatialForce, self._times(other.coeffs_array))
        if isinstance(other, SpatialVelocity):
            return vector_of(SpatialMomentum, self._times(other.coeffs_array))
        if not isinstance(other, np.ndarray):
            return NotImplemented
        columns = as_numbers(other, "motion")
        if columns.ndim != 2 or columns.shape[0] != 6:
            raise TypeError(f"SpatialInertia: expected a matrix of shape (6, n), got {describe(other)}")
        return self.CopyToFullMatrix6().dot(columns)

    def _times(self, motion: np.ndarray) -> np.ndarray:
        rotational, translational = motion[:3], motion[3:]
        mp = self.CalcComMoment()
        upper = self.mass * self.G_array.dot(rotational) + cross(mp, translational)
        lower = self.mass * translational - cross(mp, rotational)
        return np.concatenate((upper, lower))

    def CalcPrincipalSemiDiametersAndPoseForSolidEllipsoid(self) -> tuple[np.ndarray, RigidTransform]:
        """Return semi-axes (3,) [m], descending, and pose of the uniform ellipsoid with this unit inertia.

        The frame A of the pose X_EA has its origin at the center of mass and its axes along those of the shape.
        """
        return self.CalcPrincipalHalfLengthsAndPoseForEquivalentShape(0.2)

    def CalcPrincipalHalfLengthsAndPoseForSolidBox(self) -> tuple[np.ndarray, RigidTransform]:
        """Return half edges (3,) [m], descending, and pose of the uniform box with this unit inertia."""
        return self.CalcPrincipalHalfLengthsAndPoseForEquivalentShape(1.0 / 3.0)

    def CalcPrincipalHalfLengthsAndPoseForMinimumBoundingBox(self) -> tuple[np.ndarray, RigidTransform]:
        """Return half edges (3,) [m], descending, and pose of the box of 8 particles with this unit inertia.

        It is the smallest box centered at the center of mass that can contain such a body.
        """
        return self.CalcPrincipalHalfLengthsAndPoseForEquivalentShape(1.0)

    def CalcPrincipalHalfLengthsAndPoseForEquivalentShape(
        self, inertia_shape_factor: float
    ) -> tuple[np.ndarray, RigidTransform]:
        """Return half lengths a >= b >= c (3,) [m] and pose of a shape whose moments are f (b^2 + c^2), ...

        f is 1/5 for an ellipsoid, 1/3 for a box, 1 for particles at the corners of a box. Raises ModelError
        unless 0 < f <= 1. A body that no mass distribution has gives a length of zero if a square is negative.
        """
        factor = as_scalar(inertia_shape_factor, "inertia_shape_factor")
        if not 0.0 < factor <= 1.0:
            raise ModelError(f"inertia_shape_factor must be above 0 and at most 1, got {factor}")
        (G0, G1, G2), axes = principal_moments_and_axes(self.G_array - unit_inertia_of_particle(self.p_array))
        squares = np.array((G1 + G2 - G0, G0 + G2 - G1, G0 + G1 - G2)) / (2.0 * factor)
        return np.sqrt(np.maximum(squares, 0.0)), RigidTransform(RotationMatrix.MakeUnchecked(axes), self.p_array)

    def CalcMinimumPhysicalLength(self) -> float:
        """Return the least distance [m] between the two farthest points of a body with this unit inertia."""
        central = self.G_array - unit_inertia_of_particle(self.p_array)
        twice = python_number(2.0 * central.trace())
        return square_root(0.0 if real_part(twice) is not None and twice.real < 0.0 else twice)

    def __repr__(self) -> str:
        if self.IsZero():
            return "SpatialInertia.Zero()"
        G_SP_E = self.get_unit_inertia()
        return f"SpatialInertia(mass={self.mass}, p_PScm_E={self.p_array.tolist()}, G_SP_E={G_SP_E})"

    @staticmethod
    def PointMass(mass: Scalar, position: ArrayLike) -> SpatialInertia:
        """Return the inertia about P of a particle at position p_PQ_E (3,) [m]; ModelError unless mass > 0."""
        p = as_array(position, (3,), "position")
        return spatial_inertia_of(_positive(mass, "mass", "PointMass"), p.copy(), unit_inertia_of_particle(p))

    @staticmethod
    def SolidBoxWithDensity(density: Scalar, lx: Scalar, ly: Scalar, lz: Scalar) -> SpatialInertia:
        """Return the inertia of a box of density [kg/m^3] with edges [m] along x, y, z about its center."""
        rho, x, y, z = _all_positive("SolidBoxWithDensity", density=density, lx=lx, ly=ly, lz=lz)
        return SpatialInertia.SolidBoxWithMass(rho * x * y * z, x, y, z)

    @staticmethod
    def SolidBoxWithMass(mass: Scalar, lx: Scalar, ly: Scalar, lz: Scalar) -> SpatialInertia:
        """Return the inertia of a box of mass [kg] with edges [m] along x, y, z about its center."""
        m, x, y, z = _all_positive("SolidBoxWithMass", mass=mass, lx=lx, ly=ly, lz=lz)
        return _central(m, UnitInertia.SolidBox(x, y, z))

    @staticmethod
    def SolidCubeWithDensity(density: Scalar, length: Scalar) -> SpatialInertia:
        """Return the inertia of a cube of density [kg/m^3] and edge `length` [m] about its center."""
        rho, edge = _all_positive("SolidCubeWithDensity", density=density, length=length)
        return SpatialInertia.SolidCubeWithMass(rho * edge**3, edge)

    @staticmethod
    def SolidCubeWithMass(mass: Scalar, length: Scalar) -> SpatialInertia:
        """Return the inertia of a cube of mass [kg] and edge `length` [m] about its center."""
        m, edge = _all_positive("SolidCubeWithMass", mass=mass, length=length)
        return _central(m, UnitInertia.SolidCube(edge))

    @staticmethod
    def SolidCapsuleWithDensity(
        density: Scalar, radius: Scalar, length: Scalar, unit_vector: ArrayLike
    ) -> SpatialInertia:
        """Return the inertia of a capsule of density [kg/m^3]; `length` [m] is that of its cylinder."""
        rho, r, l = _all_positive("SolidCapsuleWithDensity", density=density, radius=radius, length=length)
        volume = math.pi * r**2 * (l + 4.0 / 3.0 * r)
        return SpatialInertia.SolidCapsuleWithMass(rho * volume, r, l, unit_vector)

    @staticmethod
    def SolidCapsuleWithMass(mass: Scalar, radius: Scalar, length: Scalar, unit_vector: ArrayLike) -> SpatialInertia:
        """Return the inertia of a capsule of mass [kg] about its center; `length` [m] is that of its cylinder."""
        m, r, l = _all_positive("SolidCapsuleWithMass", mass=mass, radius=radius, length=length)
        return _central(m, UnitInertia.SolidCapsule(r, l, unit_vector))

    @staticmethod
    def SolidCylinderWithDensity(
        density: Scalar, radius: Scalar, length: Scalar, unit_vector: ArrayLike
    ) -> SpatialInertia:
        """Return the inertia of a cylinder of density [kg/m^3], axis along unit_vector, about its center."""
        rho, r, l = _all_positive("SolidCylinderWithDensity", density=density, radius=radius, length=length)
        return SpatialInertia.SolidCylinderWithMass(rho * math.pi * r**2 * l, r, l, unit_vector)

    @staticmethod
    def SolidCylinderWithMass(mass: Scalar, radius: Scalar, length: Scalar, unit_vector: ArrayLike) -> SpatialInertia:
        """Return the inertia of a cylinder of mass [kg], axis along unit_vector, about its center."""
        m, r, l = _all_positive("SolidCylinderWithMass", mass=mass, radius=radius, length=length)
        return _central(m, UnitInertia.SolidCylinder(r, l, unit_vector))

    @staticmethod
    def SolidCylinderWithDensityAboutEnd(
        density: Scalar, radius: Scalar, length: Scalar, unit_vector: ArrayLike
    ) -> SpatialInertia:
        """Return the inertia of a cylinder of density [kg/m^3] about the center of an end face.

        unit_vector (3,) points from that face into the cylinder.
        """
        name = "SolidCylinderWithDensityAboutEnd"
        rho, r, l = _all_positive(name, density=density, radius=radius, length=length)
        return SpatialInertia.SolidCylinderWithMassAboutEnd(rho * math.pi * r**2 * l, r, l, unit_vector)

    @staticmethod
    def SolidCylinderWithMassAboutEnd(
        mass: Scalar, radius: Scalar, length: Scalar, unit_vector: ArrayLike
    ) -> SpatialInertia:
        """Return the inertia of a cylinder of mass [kg] about the center of an end face.

        unit_vector (3,) points from that face into the cylinder.
        """
        m, r, l = _all_positive("SolidCylinderWithMassAboutEnd", mass=mass, radius=radius, length=length)
        G = UnitInertia.SolidCylinderAboutEnd(r, l, unit_vector)
        return spatial_inertia_of(m, 0.5 * l * checked_unit_vector(unit_vector), G.I_array)

    @staticmethod
    def ThinRodWithMass(mass: Scalar, length: Scalar, unit_vector: ArrayLike) -> SpatialInertia:
        """Return the inertia of a thin rod of mass [kg] and length [m] along unit_vector, about its center."""
        m, l = _all_positive("ThinRodWithMass", mass=mass, length=length)
        return _central(m, UnitInertia.ThinRod(l, unit_vector))

    @staticmethod
    def ThinRodWithMassAboutEnd(mass: Scalar, length: Scalar, unit_vector: ArrayLike) -> SpatialInertia:
        """Return the inertia of a thin rod about the end from which unit_vector (3,) points into it."""
        m, l = _all_positive("ThinRodWithMassAboutEnd", mass=mass, length=length)
        unit = checked_unit_vector(unit_vector)
        return spatial_inertia_of(m, 0.5 * l * unit, UnitInertia.StraightLine(l**2 / 3.0, unit).I_array)

    @staticmethod
    def SolidEllipsoidWithDensity(density: Scalar, a: Scalar, b: Scalar, c: Scalar) -> SpatialInertia:
        """Return the inertia of an ellipsoid of density [kg/m^3] with semi-axes [m] along x, y, z."""
        rho, a, b, c = _all_positive("SolidEllipsoidWithDensity", density=density, a=a, b=b, c=c)
        return SpatialInertia.SolidEllipsoidWithMass(rho * 4.0 / 3.0 * math.pi * a * b * c, a, b, c)

    @staticmethod
    def SolidEllipsoidWithMass(mass: Scalar, a: Scalar, b: Scalar, c: Scalar) -> SpatialInertia:
        """Return the inertia of an ellipsoid of mass [kg] with semi-axes [m] along x, y, z."""
        m, a, b, c = _all_positive("SolidEllipsoidWithMass", mass=mass, a=a, b=b, c=c)
        return _central(m, UnitInertia.SolidEllipsoid(a, b, c))

    @staticmethod
    def SolidSphereWithDensity(density: Scalar, radius: Scalar) -> SpatialInertia:
        """Return the inertia of a ball of density [kg/m^3] and radius [m] about its center."""
        rho, r = _all_positive("SolidSphereWithDensity", density=density, radius=radius)
        return SpatialInertia.SolidSphereWithMass(rho * 4.0 / 3.0 * math.pi * r**3, r)

    @staticmethod
    def SolidSphereWithMass(mass: Scalar, radius: Scalar) -> SpatialInertia:
        """Return the inertia of a ball of mass [kg] and radius [m] about its center."""
        m, r = _all_positive("SolidSphereWithMass", mass=mass, radius=radius)
        return _central(m, UnitInertia.SolidSphere(r))

    @staticmethod
    def HollowSphereWithDensity(area_density: Scalar, radius: Scalar) -> SpatialInertia:
        """Return the inertia of a spherical shell of density per area [kg/m^2] and radius [m]."""
        rho, r = _all_positive("HollowSphereWithDensity", area_density=area_density, radius=radius)
        return SpatialInertia.HollowSphereWithMass(rho * 4.0 * math.pi * r**2, r)

    @staticmethod
    def HollowSphereWithMass(mass: Scalar, radius: Scalar) -> SpatialInertia:
        """Return the inertia of a spherical shell of mass [kg] and radius [m]."""
        m, r = _all_positive("HollowSphereWithMass", mass=mass, radius=radius)
        return _central(m, UnitInertia.HollowSphere(r))

    @staticmethod
    def SolidTetrahedronAboutPointWithDensity(
        density: Scalar, p0: ArrayLike, p1: ArrayLike, p2: ArrayLike, p3: ArrayLike
    ) -> SpatialInertia:
        """Return the inertia of a tetrahedron of density [kg/m^3] about A; vertices p0 to p3 (3,) [m] from A."""
        (rho,) = _all_positive("SolidTetrahedronAboutPointWithDensity", density=density)
        vertices = [as_array(p, (3,), "vertex of a tetrahedron") for p in (p0, p1, p2, p3)]
        a, b, c = (vertex - vertices[0] for vertex in vertices[1:])
        volume = abs(a.dot(cross(b, c))) / 6.0
        G = UnitInertia.SolidTetrahedronAboutPoint(*vertices)
        return spatial_inertia_of(python_number(rho * volume), np.asarray(sum(vertices)) / 4.0, G.I_array)

    @staticmethod
    def SolidTetrahedronAboutVertexWithDensity(
        density: Scalar, p1: ArrayLike, p2: ArrayLike, p3: ArrayLike
    ) -> SpatialInertia:
        """Return the inertia of a tetrahedron about its vertex B0; p1, p2, p3 (3,) [m] are the others from B0."""
        return SpatialInertia.SolidTetrahedronAboutPointWithDensity(density, np.zeros(3), p1, p2, p3)


def spatial_inertia_of(mass: Scalar, p: np.ndarray, G: np.ndarray) -> SpatialInertia:
    """Wrap a mass [kg] and arrays p_PScm_E (3,) [m] and G_SP_E (3, 3) [m^2] that nobody else will change, untested."""
    inertia = _new(SpatialInertia)
    inertia.mass, inertia.p_array, inertia.G_array = mass, p, G
    return inertia


def copy_of(inertia: SpatialInertia) -> SpatialInertia:
    """Return an inertia that shares the arrays of another one; both may be set anew."""
    return spatial_inertia_of(inertia.mass, inertia.p_array, inertia.G_array)


def _central(mass: Scalar, G_SScm: UnitInertia) -> SpatialInertia:
    return spatial_inertia_of(mass, np.zeros(3), G_SScm.I_array)


def _all_positive(factory: str, **values: Scalar) -> list[Scalar]:
    return [_positive(value, name, factory) for name, value in values.items()]


def _positive(value: Scalar, name: str, factory: str) -> Scalar:
    """Return a number that is finite and positive; ModelError if it is not."""
    number = as_scalar(value, name)
    if not isinstance(number, complex) and (real := real_part(number)) is not None and not 0.0 < real < math.inf:
        raise ModelError(f"SpatialInertia.{factory}: {name} must be finite and positive, got {number}")
    return number
