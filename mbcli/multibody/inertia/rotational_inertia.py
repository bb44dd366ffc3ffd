"""Rotational inertias I_SP_E, under the names of pydrake.multibody.tree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from mbcli.errors import ModelError, NumericalError
from mbcli.math import RotationMatrix
from mbcli.math.array_arguments import as_array, as_scalar, is_scalar, python_number, real_part, real_parts
from mbcli.math.cross_product import cross

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Matrix3, Scalar

_new = object.__new__
AnyInertia = TypeVar("AnyInertia", bound="RotationalInertia")
_EPS = float(np.finfo(float).eps)
# Relative slack of the physical tests, for the rounding of shifts and rotations.
VALIDITY_SLACK = 16.0 * _EPS
# Products of inertia below this fraction of the largest possible moment are taken as zero.
DIAGONAL_SLACK = 4.0 * _EPS


class RotationalInertia:
    """I_SP_E [kg m^2]: the inertia (3, 3) of a body S about a point P, expressed in E.

    Products of inertia carry their minus sign (Ixy is minus the integral of x y dm), so that the angular
    momentum is I w. Neither P nor E is stored. Made from nothing (all NaN), from the moments Ixx, Iyy, Izz, from
    moments and products Ixy, Ixz, Iyz, or from a particle of `mass` [kg] at p_PQ_E (3,) [m]. Raises ModelError if
    the inertia is one that no body has (see CouldBePhysicallyValid()) or the mass is negative.
    """

    # The array itself, never changed in place, so that objects may share it.
    __slots__ = ("I_array",)
    __array_ufunc__ = None

    def __init__(
        self,
        Ixx: Scalar = None,
        Iyy: Scalar = None,
        Izz: Scalar = None,
        Ixy: Scalar = None,
        Ixz: Scalar = None,
        Iyz: Scalar = None,
        *,
        mass: Scalar = None,
        p_PQ_E: ArrayLike | None = None,
    ) -> None:
        moments = (Ixx, Iyy, Izz, Ixy, Ixz, Iyz)
        given = sum(value is not None for value in moments)
        if given == 2 and Ixx is not None and Iyy is not None and mass is None and p_PQ_E is None:
            # Positional (mass, p_PQ_E).
            mass, p_PQ_E, given = Ixx, Iyy, 0
        if given == 0 and mass is None and p_PQ_E is None:
            self.I_array = np.full((3, 3), np.nan)
        elif given == 0 and mass is not None and p_PQ_E is not None:
            self.I_array = _checked_mass(mass) * unit_inertia_of_particle(as_array(p_PQ_E, (3,), "p_PQ_E"))
        elif mass is None and p_PQ_E is None and None not in moments[: 6 if given > 3 else 3]:
            self.I_array = symmetric_matrix(*moments)
            require_physical(self.I_array, type(self).__name__)
        else:
            kind = type(self).__name__
            raise TypeError(f"{kind}: expected Ixx, Iyy, Izz, perhaps with Ixy, Ixz, Iyz, or mass and p_PQ_E")

    @staticmethod
    def MakeFromMomentsAndProductsOfInertia(
        Ixx: Scalar, Iyy: Scalar, Izz: Scalar, Ixy: Scalar, Ixz: Scalar, Iyz: Scalar, skip_validity_check: bool = False
    ) -> RotationalInertia:
        """Return the inertia of three moments and three products; ModelError as from the constructor."""
        inertia = inertia_of(RotationalInertia, symmetric_matrix(Ixx, Iyy, Izz, Ixy, Ixz, Iyz))
        if not skip_validity_check:
            require_physical(inertia.I_array, "RotationalInertia")
        return inertia

    @classmethod
    def TriaxiallySymmetric(cls, I_triaxial: Scalar) -> Self:
        """Return the inertia with three equal moments; ModelError if negative."""
        inertia = inertia_of(cls, as_scalar(I_triaxial, "I_triaxial") * np.eye(3))
        require_physical(inertia.I_array, cls.__name__)
        return inertia

    def rows(self) -> int:
        """Return 3."""
        return 3

    def cols(self) -> int:
        """Return 3."""
        return 3

    def get_moments(self) -> np.ndarray:
        """Return Ixx, Iyy, Izz (3,)."""
        return self.I_array.diagonal().copy()

    def get_products(self) -> np.ndarray:
        """Return Ixy, Ixz, Iyz (3,)."""
        return self.I_array[(0, 0, 1), (1, 2, 2)]

    def Trace(self) -> Scalar:
        """Return Ixx + Iyy + Izz."""
        return python_number(self.I_array.trace())

    def CalcMaximumPossibleMomentOfInertia(self) -> Scalar:
        """Return half the absolute trace, which no moment or product in any frame exceeds."""
        return 0.5 * abs(self.Trace())

    def CopyToFullMatrix3(self) -> np.ndarray:
        """Return the matrix (3, 3)."""
        return self.I_array.copy()

    def __getitem__(self, index: tuple[int, int]) -> Scalar:
        i, j = index if isinstance(index, tuple) and len(index) == 2 else (None, None)
        if i not in (0, 1, 2) or j not in (0, 1, 2):
            raise (IndexError if isinstance(index, tuple) else TypeError)(
                f"{type(self).__name__}: expected two indices from 0 to 2, got {index}"
            )
        return python_number(self.I_array[i, j])

    def SetToNaN(self) -> None:
        """Set all elements to NaN."""
        self.I_array = np.full((3, 3), np.nan)

    def SetZero(self) -> None:
        """Set all elements to zero."""
        self.I_array = np.zeros_like(self.I_array)

    def IsFinite(self) -> bool:
        """Tell whether no element is infinite or NaN."""
        return bool(np.isfinite(_tested(self.I_array)).all())

    def IsNaN(self) -> bool:
        """Tell whether some element is NaN."""
        return bool(np.isnan(_tested(self.I_array)).any())

    def IsZero(self) -> bool:
        """Tell whether all elements are exactly zero."""
        return not (self.I_array != 0.0).any()

    def IsNearlyEqualTo(self, other: RotationalInertia, precision: float) -> bool:
        """Tell whether elements differ by at most `precision` times the lesser largest possible moment."""
        scale = min(self.CalcMaximumPossibleMomentOfInertia(), other.CalcMaximumPossibleMomentOfInertia())
        return bool(np.abs(self.I_array - other.I_array).max() <= precision * scale)

    def CouldBePhysicallyValid(self) -> bool:
        """Tell whether some body could have this inertia about some point.

        True if all is finite, no principal moment is negative and none exceeds the sum of the others. That is
        enough only about the center of mass. Symbols cannot be tested and pass.
        """
        return invalidity(self.I_array) is None

    def CalcPrincipalMomentsOfInertia(self) -> np.ndarray:
        """Return the principal moments (3,) in ascending order; NumericalError if not finite."""
        return self.CalcPrincipalMomentsAndAxesOfInertia()[0]

    def CalcPrincipalMomentsAndAxesOfInertia(self) -> tuple[np.ndarray, RotationMatrix]:
        """Return the principal moments (3,), ascending, and R_EA whose columns are their axes.

        R_EA is right-handed, and the identity if the three moments are equal. The sign of an axis has no
        meaning: the largest component of each of the first two is made positive. Raises NumericalError if an
        element is not finite.
        """
        moments, axes = principal_moments_and_axes(self.I_array)
        return moments, RotationMatrix.MakeUnchecked(axes)

    def ReExpress(self, R_AE: RotationMatrix) -> Self:
        """Return this inertia, expressed in E, as expressed in A."""
        return inertia_of(type(self), reexpressed(self.I_array, R_AE))

    def ReExpressInPlace(self, R_AE: RotationMatrix) -> None:
        """Express this object itself in A, as ReExpress() does a copy."""
        self.I_array = reexpressed(self.I_array, R_AE)

    def ShiftFromCenterOfMass(self, mass: Scalar, p_BcmQ_E: ArrayLike) -> RotationalInertia:
        """Return I_BQ_E from this I_BBcm_E: mass [kg], p_BcmQ_E (3,) [m]."""
        return self._shifted(_checked_mass(mass), None, p_BcmQ_E)

    def ShiftFromCenterOfMassInPlace(self, mass: Scalar, p_BcmQ_E: ArrayLike) -> None:
        """Shift this object itself, as ShiftFromCenterOfMass() does a copy."""
        self.I_array = RotationalInertia.ShiftFromCenterOfMass(self, mass, p_BcmQ_E).I_array

    def ShiftToCenterOfMass(self, mass: Scalar, p_QBcm_E: ArrayLike) -> RotationalInertia:
        """Return I_BBcm_E from this I_BQ_E: mass [kg], p_QBcm_E (3,) [m]; ModelError if not valid."""
        return self._shifted(_checked_mass(mass), p_QBcm_E, None)

    def ShiftToCenterOfMassInPlace(self, mass: Scalar, p_QBcm_E: ArrayLike) -> None:
        """Shift this object itself, as ShiftToCenterOfMass() does a copy."""
        self.I_array = RotationalInertia.ShiftToCenterOfMass(self, mass, p_QBcm_E).I_array

    def ShiftToThenAwayFromCenterOfMass(
        self, mass: Scalar, p_PBcm_E: ArrayLike, p_QBcm_E: ArrayLike
    ) -> RotationalInertia:
        """Return I_BQ_E from this I_BP_E: mass [kg], positions of the center of mass from P and from Q (3,) [m].

        Raises ModelError if the result is not valid.
        """
        return self._shifted(_checked_mass(mass), p_PBcm_E, p_QBcm_E)

    def ShiftToThenAwayFromCenterOfMassInPlace(self, mass: Scalar, p_PBcm_E: ArrayLike, p_QBcm_E: ArrayLike) -> None:
        """Shift this object itself, as ShiftToThenAwayFromCenterOfMass() does a copy."""
        self.I_array = self._shifted(_checked_mass(mass), p_PBcm_E, p_QBcm_E).I_array

    def _shifted(self, mass: Scalar, p_PBcm_E: ArrayLike | None, p_QBcm_E: ArrayLike | None) -> RotationalInertia:
        """Return the inertia about Q from that about P; a position of None is zero."""
        I = self.I_array
        if p_PBcm_E is not None:
            I = I - mass * unit_inertia_of_particle(as_array(p_PBcm_E, (3,), "position of center of mass"))
        if p_QBcm_E is not None:
            I = I + mass * unit_inertia_of_particle(as_array(p_QBcm_E, (3,), "position of center of mass"))
        require_physical(I, "RotationalInertia", self.I_array)
        return inertia_of(RotationalInertia, I)

    def __add__(self, other: RotationalInertia) -> RotationalInertia:
        if not isinstance(other, RotationalInertia):
            return NotImplemented
        return inertia_of(RotationalInertia, self.I_array + other.I_array)

    def __sub__(self, other: RotationalInertia) -> RotationalInertia:
        if not isinstance(other, RotationalInertia):
            return NotImplemented
        difference = self.I_array - other.I_array
        require_physical(difference, "RotationalInertia", self.I_array)
        return inertia_of(RotationalInertia, difference)

    def __mul__(self, other: Any) -> Any:
        """Return this inertia times a number >= 0, or the angular momentum (3,) for an angular velocity (3,)."""
        if isinstance(other, RotationalInertia):
            return NotImplemented
        if not is_scalar(other):
            return self.I_array.dot(as_array(other, (3,), "angular velocity"))
        scale = as_scalar(other, "scale")
        if not isinstance(scale, complex) and (real := real_part(scale)) is not None and not real >= 0.0:
            raise ModelError(f"RotationalInertia: cannot be multiplied by {scale}, a number >= 0 is needed")
        return inertia_of(RotationalInertia, self.I_array * scale)

    def __rmul__(self, scale: Scalar) -> RotationalInertia:
        if not is_scalar(scale):
            return NotImplemented
        return self.__mul__(scale)

    def __truediv__(self, scale: Scalar) -> RotationalInertia:
        if not is_scalar(scale):
            return NotImplemented
        scale = as_scalar(scale, "scale")
        if not isinstance(scale, complex) and (real := real_part(scale)) is not None and not real > 0.0:
            raise ModelError(f"RotationalInertia: cannot be divided by {scale}, a number > 0 is needed")
        return inertia_of(RotationalInertia, self.I_array / scale)

    def __iadd__(self, other: RotationalInertia) -> Self:
        return self._become(self.__add__(other))

    def __isub__(self, other: RotationalInertia) -> Self:
        return self._become(self.__sub__(other))

    def __imul__(self, scale: Scalar) -> Self:
        return self._become(self.__mul__(scale) if is_scalar(scale) else NotImplemented)

    def __itruediv__(self, scale: Scalar) -> Self:
        return self._become(self.__truediv__(scale))

    def _become(self, result: Any) -> Self:
        if result is NotImplemented:
            return NotImplemented
        self.I_array = result.I_array
        return self

    def __repr__(self) -> str:
        names = ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
        values = (*self.get_moments().tolist(), *self.get_products().tolist())
        elements = ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
        return f"{type(self).__name__}({elements})"


def inertia_of(kind: type[AnyInertia], I: np.ndarray) -> AnyInertia:
    """Return an inertia of one class that wraps an array (3, 3), which nobody else will change; it is not tested."""
    inertia = _new(kind)
    inertia.I_array = I
    return inertia


def symmetric_matrix(
    Ixx: Scalar, Iyy: Scalar, Izz: Scalar, Ixy: Scalar = None, Ixz: Scalar = None, Iyz: Scalar = None
) -> Matrix3:
    """Return the matrix (3, 3) of moments and products; products that are None are zero."""
    xx, yy, zz = (as_scalar(value, "moment of inertia") for value in (Ixx, Iyy, Izz))
    xy, xz, yz = (0.0 if v is None else as_scalar(v, "product of inertia") for v in (Ixy, Ixz, Iyz))
    return np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def unit_inertia_of_particle(p: np.ndarray) -> Matrix3:
    """Return p.p 1 - p p^T (3, 3) [m^2], the inertia of a unit mass at p (3,)."""
    xx, yy, zz, xy, xz, yz = particle_moments(*p.tolist())
    return np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


def particle_moments(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Return the moments about x, y and z and the products xy, xz and yz [m^2] of a unit mass at a point."""
    xx, yy, zz = x * x, y * y, z * z
    return yy + zz, xx + zz, xx + yy, -(x * y), -(x * z), -(y * z)


def reexpressed(I: np.ndarray, R_AE: RotationMatrix) -> Matrix3:
    """Return R I R^T, exactly symmetric."""
    rotation = R_AE if isinstance(R_AE, RotationMatrix) else RotationMatrix(R_AE)
    product = rotation.R_array.dot(I).dot(rotation.R_array.T)
    return 0.5 * (product + product.T)


def principal_moments_and_axes(I: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ascending principal moments (3,) and the matrix (3, 3) of their axes, right-handed."""
    if I.dtype.kind == "O":
        raise NumericalError("principal moments of inertia need floats: take the inertia of the values of its numbers")
    if not np.isfinite(I).all():
        raise NumericalError("principal moments of inertia need finite numbers")
    I = I.real
    tolerance = DIAGONAL_SLACK * 0.5 * abs(float(I.trace()))
    if np.abs(I[(0, 0, 1), (1, 2, 2)]).max() > tolerance:
        moments, axes = np.linalg.eigh(I)
        for axis in axes.T[:2]:
            axis *= math.copysign(1.0, axis[np.abs(axis).argmax()])
    else:
        diagonal = I.diagonal()
        order = np.argsort(diagonal, kind="stable")
        moments, axes = diagonal[order], np.eye(3)[:, order]
    if moments[2] - moments[0] <= 2.0 * tolerance:
        return moments, np.eye(3)
    axes[:, 2] = cross(axes[:, 0], axes[:, 1])
    return moments, axes


def invalidity(I: np.ndarray, before: np.ndarray | None = None) -> str | None:
    """Return why no body has this inertia, or None if one may.

    Slack is given for rounding: that of I itself, or that of the inertia `before`, from which I was subtracted.
    """
    if I.dtype.kind == "O":
        values = real_parts(I)
        if values is None:
            return None
        I = values
        before = None if before is None else real_parts(before)
    if not np.isfinite(I).all():
        return "its elements are not finite"
    # The slack is absolute for small bodies and relative to the largest possible moment for large ones.
    trace = (I if before is None else before).real.trace()
    slack = VALIDITY_SLACK * max(1.0, 0.5 * abs(float(trace)))
    smallest, middle, largest = np.linalg.eigvalsh(I.real).tolist()
    if smallest < -slack:
        return f"principal moment {smallest:.6g} is negative"
    if smallest + middle + slack < largest:
        return f"principal moment {largest:.6g} exceeds the sum of the others, {smallest:.6g} and {middle:.6g}"
    return None


def require_physical(I: np.ndarray, name: str, before: np.ndarray | None = None) -> None:
    """Raise ModelError if no body has this inertia (see invalidity())."""
    reason = invalidity(I, before)
    if reason is not None:
        raise ModelError(f"{name}: not physically possible: {reason}")


def _checked_mass(mass: Scalar) -> Scalar:
    value = as_scalar(mass, "mass")
    if not isinstance(value, complex) and (real := real_part(value)) is not None and not real >= 0.0:
        raise ModelError(f"RotationalInertia: mass must not be negative, got {value}")
    return value


def _tested(array: np.ndarray) -> np.ndarray:
    """Return the values by which numbers are tested; symbols count as finite."""
    parts = real_parts(array)
    return np.zeros(array.shape) if parts is None else parts if array.dtype.kind == "O" else array
