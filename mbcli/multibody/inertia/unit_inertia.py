"""Unit inertias G_SP_E, the rotational inertias of bodies of unit mass, under the names of pydrake.multibody.tree.

Shapes are solid and of uniform density, and their inertia is about their center of mass, unless their name
states otherwise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.math.array_arguments import as_array, as_scalar, real_part, real_parts
from mbcli.multibody.inertia.rotational_inertia import RotationalInertia, inertia_of, unit_inertia_of_particle

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3

# How far the length of an axis may be from 1.
UNIT_VECTOR_TOLERANCE = 1e-14


class UnitInertia(RotationalInertia):
    """G_SP_E [m^2]: the inertia of a body of unit mass about a point P; I = mass * G.

    Made as a RotationalInertia is, except from a particle (see PointMass()), or from a RotationalInertia `I`
    whose mass is 1, which cannot be tested. A number times a UnitInertia is a RotationalInertia.

    Args:
      Ixx: [m^2].
      Iyy: [m^2].
      Izz: [m^2].
      Ixy: [m^2].
      Ixz: [m^2].
      Iyz: [m^2].
      I: RotationalInertia of mass 1.

    Example:
      >>> UnitInertia.SolidBox(0.6, 0.3, 0.3).get_moments()
      array([0.015 , 0.0375, 0.0375])
    """

    __slots__ = ()

    def __init__(
        self,
        Ixx: Scalar = None,
        Iyy: Scalar = None,
        Izz: Scalar = None,
        Ixy: Scalar = None,
        Ixz: Scalar = None,
        Iyz: Scalar = None,
        *,
        I: RotationalInertia | None = None,
    ) -> None:
        if isinstance(Ixx, RotationalInertia) and I is None:
            Ixx, I = None, Ixx
        others = (Ixx, Iyy, Izz, Ixy, Ixz, Iyz)
        if I is None:
            if Iyy is not None and Izz is None:
                raise TypeError("UnitInertia: expected Ixx, Iyy, Izz, perhaps with Ixy, Ixz, Iyz, or I")
            super().__init__(*others)
        elif isinstance(I, RotationalInertia) and all(value is None for value in others):
            self.I_array = I.I_array
        else:
            raise TypeError("UnitInertia: I must be a RotationalInertia, given alone")

    # The sum of unit inertias, or a multiple of one, is not the inertia of a unit mass. Shifts need no mass.
    __iadd__ = None  # type: ignore[assignment]
    __isub__ = None  # type: ignore[assignment]
    __imul__ = None  # type: ignore[assignment]
    __itruediv__ = None  # type: ignore[assignment]

    def SetFromRotationalInertia(self, I: RotationalInertia, mass: Scalar) -> UnitInertia:
        """Replace the value by I / mass; return this object. Raises ModelError unless mass > 0."""
        value = as_scalar(mass, "mass")
        if not isinstance(value, complex) and (real := real_part(value)) is not None and not real > 0.0:
            raise ModelError(f"UnitInertia: mass must be positive, got {value}")
        self.I_array = I.I_array / value
        return self

    def ShiftFromCenterOfMass(self, p_BcmQ_E: ArrayLike) -> UnitInertia:  # type: ignore[override]
        """Return G_BQ_E from this G_BBcm_E; p_BcmQ_E (3,) [m]."""
        return inertia_of(UnitInertia, self.I_array + unit_inertia_of_particle(as_array(p_BcmQ_E, (3,), "p_BcmQ_E")))

    def ShiftFromCenterOfMassInPlace(self, p_BcmQ_E: ArrayLike) -> None:  # type: ignore[override]
        """Shift this object itself, as ShiftFromCenterOfMass() does a copy."""
        self.I_array = self.ShiftFromCenterOfMass(p_BcmQ_E).I_array

    def ShiftToCenterOfMass(self, p_QBcm_E: ArrayLike) -> UnitInertia:  # type: ignore[override]
        """Return G_BBcm_E from this G_BQ_E; p_QBcm_E (3,) [m]. The result is not tested and may be impossible."""
        return inertia_of(UnitInertia, self.I_array - unit_inertia_of_particle(as_array(p_QBcm_E, (3,), "p_QBcm_E")))

    def ShiftToCenterOfMassInPlace(self, p_QBcm_E: ArrayLike) -> None:  # type: ignore[override]
        """Shift this object itself, as ShiftToCenterOfMass() does a copy."""
        self.I_array = self.ShiftToCenterOfMass(p_QBcm_E).I_array

    @staticmethod
    def PointMass(p_FQ: ArrayLike) -> UnitInertia:
        """Return the inertia about Fo of a particle Q at p_FQ (3,) [m]."""
        return inertia_of(UnitInertia, unit_inertia_of_particle(as_array(p_FQ, (3,), "p_FQ")))

    @staticmethod
    def SolidEllipsoid(a: Scalar, b: Scalar, c: Scalar) -> UnitInertia:
        """Return the inertia of an ellipsoid with semi-axes a, b, c [m] along x, y, z."""
        aa, bb, cc = (_length(value, "semi-axis") ** 2 for value in (a, b, c))
        return _diagonal((bb + cc) / 5.0, (aa + cc) / 5.0, (aa + bb) / 5.0)

    @staticmethod
    def SolidSphere(r: Scalar) -> UnitInertia:
        """Return the inertia of a ball of radius r [m]."""
        moment = 0.4 * _length(r, "radius") ** 2
        return _diagonal(moment, moment, moment)

    @staticmethod
    def HollowSphere(r: Scalar) -> UnitInertia:
        """Return the inertia of a thin spherical shell of radius r [m]."""
        moment = 2.0 / 3.0 * _length(r, "radius") ** 2
        return _diagonal(moment, moment, moment)

    @staticmethod
    def SolidBox(Lx: Scalar, Ly: Scalar, Lz: Scalar) -> UnitInertia:
        """Return the inertia of a box with edges Lx, Ly, Lz [m] along x, y, z."""
        xx, yy, zz = (_length(value, "edge") ** 2 for value in (Lx, Ly, Lz))
        return _diagonal((yy + zz) / 12.0, (xx + zz) / 12.0, (xx + yy) / 12.0)

    @staticmethod
    def SolidCube(L: Scalar) -> UnitInertia:
        """Return the inertia of a cube with edges of length L [m]."""
        return UnitInertia.SolidBox(L, L, L)

    @staticmethod
    def AxiallySymmetric(moment_parallel: Scalar, moment_perpendicular: Scalar, unit_vector: ArrayLike) -> UnitInertia:
        """Return the inertia with one moment [m^2] about unit_vector (3,) and one about all perpendicular lines.

        Raises ModelError if a moment is negative, if the parallel one exceeds twice the other, or if unit_vector
        is not of unit length.
        """
        J = _length(moment_parallel, "moment_parallel")
        K = _length(moment_perpendicular, "moment_perpendicular")
        if isinstance(J, float) and isinstance(K, float) and 2.0 * K * (1.0 + 8.0 * np.finfo(float).eps) < J:
            raise ModelError(f"UnitInertia: moment_parallel {J} exceeds twice moment_perpendicular {K}")
        unit = checked_unit_vector(unit_vector)
        return inertia_of(UnitInertia, K * np.eye(3) + (J - K) * np.outer(unit, unit))

    @staticmethod
    def StraightLine(moment_perpendicular: Scalar, unit_vector: ArrayLike) -> UnitInertia:
        """Return the inertia of particles on a line along unit_vector (3,); ModelError unless moment > 0."""
        return UnitInertia.AxiallySymmetric(0.0, _positive(moment_perpendicular, "moment_perpendicular"), unit_vector)

    @staticmethod
    def ThinRod(length: Scalar, unit_vector: ArrayLike) -> UnitInertia:
        """Return the inertia of a thin rod of this length [m] along unit_vector (3,); ModelError unless > 0."""
        return UnitInertia.StraightLine(_positive(length, "length") ** 2 / 12.0, unit_vector)

    @staticmethod
    def SolidCylinder(radius: Scalar, length: Scalar, unit_vector: ArrayLike) -> UnitInertia:
        """Return the inertia of a cylinder of radius and length [m] with its axis along unit_vector (3,)."""
        rr, ll = _length(radius, "radius") ** 2, _length(length, "length") ** 2
        return UnitInertia.AxiallySymmetric(0.5 * rr, 0.25 * rr + ll / 12.0, unit_vector)

    @staticmethod
    def SolidCylinderAboutEnd(radius: Scalar, length: Scalar, unit_vector: ArrayLike) -> UnitInertia:
        """Return the inertia of a cylinder about the center of one of its end faces."""
        rr, ll = _length(radius, "radius") ** 2, _length(length, "length") ** 2
        return UnitInertia.AxiallySymmetric(0.5 * rr, 0.25 * rr + ll / 3.0, unit_vector)

    @staticmethod
    def SolidCapsule(radius: Scalar, length: Scalar, unit_vector: ArrayLike) -> UnitInertia:
        """Return the inertia of a cylinder with a half ball on each end; `length` is that of the cylinder alone."""
        r, length = _length(radius, "radius"), _length(length, "length")
        if r == 0.0:
            return UnitInertia.ThinRod(length, unit_vector)
        # Shares of the mass: volumes over pi r^2 are those of cylinder, length, and of both half balls, 4/3 r.
        volume = length + 4.0 / 3.0 * r
        cylinder, balls = length / volume, 4.0 / 3.0 * r / volume
        parallel = (0.5 * cylinder + 0.4 * balls) * r**2
        # A half ball has its center 3/8 r from its flat face, and 83/320 r^2 about a diameter through it.
        distance = 0.5 * length + 0.375 * r
        perpendicular = cylinder * (0.25 * r**2 + length**2 / 12.0) + balls * (83.0 / 320.0 * r**2 + distance**2)
        return UnitInertia.AxiallySymmetric(parallel, perpendicular, unit_vector)

    @staticmethod
    def SolidTetrahedronAboutVertex(p1: ArrayLike, p2: ArrayLike, p3: ArrayLike) -> UnitInertia:
        """Return the inertia of a tetrahedron about its vertex B0; p1, p2, p3 (3,) [m] are the others from B0."""
        return UnitInertia.SolidTetrahedronAboutPoint(np.zeros(3), p1, p2, p3)

    @staticmethod
    def SolidTetrahedronAboutPoint(p0: ArrayLike, p1: ArrayLike, p2: ArrayLike, p3: ArrayLike) -> UnitInertia:
        """Return the inertia of a tetrahedron about a point A; p0 to p3 (3,) [m] are its vertices from A."""
        vertices = np.array([as_array(p, (3,), "vertex of a tetrahedron") for p in (p0, p1, p2, p3)])
        total = vertices.sum(axis=0)
        # Second moments of the uniform distribution on a simplex, from those of its vertices.
        second_moments = (vertices.T.dot(vertices) + np.outer(total, total)) / 20.0
        return inertia_of(UnitInertia, second_moments.trace() * np.eye(3) - second_moments)


def checked_unit_vector(unit_vector: ArrayLike) -> Vector3:
    """Return a vector (3,); ModelError if its length differs from 1 by more than 1e-14."""
    vector = as_array(unit_vector, (3,), "unit_vector")
    tested = None if vector.dtype.kind == "c" else real_parts(vector)
    if tested is not None and not abs(math.sqrt(tested.dot(tested)) - 1.0) <= UNIT_VECTOR_TOLERANCE:
        raise ModelError(f"unit_vector {vector.tolist()} is not of unit length")
    return vector


def _diagonal(Ixx: Scalar, Iyy: Scalar, Izz: Scalar) -> UnitInertia:
    return inertia_of(UnitInertia, np.diag((Ixx, Iyy, Izz)))


def _length(value: Scalar, name: str) -> Scalar:
    """Return a number that is finite and not negative; ModelError if it is not."""
    number = as_scalar(value, name)
    if not isinstance(number, complex) and (real := real_part(number)) is not None and not 0.0 <= real < math.inf:
        raise ModelError(f"UnitInertia: {name} must be finite and not negative, got {number}")
    return number


def _positive(value: Scalar, name: str) -> Scalar:
    number = as_scalar(value, name)
    if not isinstance(number, complex) and (real := real_part(number)) is not None and not 0.0 < real < math.inf:
        raise ModelError(f"UnitInertia: {name} must be finite and positive, got {number}")
    return number
