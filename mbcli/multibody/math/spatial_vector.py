"""Spatial vectors, under the names of pydrake.multibody.math.

Six numbers, rotational part first, both parts expressed in the same frame. The objects hold the numbers only:
in which frame they are measured and expressed is in the names their user gives, as V_MB_E for the velocity of
B measured in M and expressed in E. The formulas are in spatial_arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

import numpy as np

from mbcli.math import RotationMatrix
from mbcli.math.array_arguments import as_array, is_scalar
from mbcli.math.cross_product import cross
from mbcli.multibody.math import spatial_arrays

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Scalar, Vector3, Vector6

_new = object.__new__
AnyVector = TypeVar("AnyVector", bound="SpatialVector")


class SpatialVector:
    """The common base of the four kinds of spatial vectors; not made by users."""

    # The array itself, never changed in place: methods that change the object give it a new one.
    __slots__ = ("coeffs_array",)
    coeffs_array: Vector6
    # numpy leaves arithmetic between arrays and spatial vectors to this class, which refuses it.
    __array_ufunc__ = None

    _parts = ("rotational", "translational")
    _whole = "vector"

    def _assign(self, rotational: ArrayLike | None, translational: ArrayLike | None, coeffs: ArrayLike | None) -> None:
        kind = type(self).__name__
        if translational is None and rotational is not None and coeffs is None:
            rotational, coeffs = None, rotational
        if coeffs is not None:
            if rotational is not None or translational is not None:
                raise TypeError(f"{kind}: {self._whole} cannot be given together with its parts")
            self.coeffs_array = as_array(coeffs, (6,), f"{kind}: {self._whole}").copy()
        elif rotational is not None and translational is not None:
            upper, lower = self._parts
            self.coeffs_array = np.concatenate(
                (
                    as_array(rotational, (3,), f"{kind}: {upper}"),
                    as_array(translational, (3,), f"{kind}: {lower}"),
                )
            )
        elif translational is not None:
            raise TypeError(f"{kind}: {self._parts[1]} needs {self._parts[0]}")
        else:
            self.coeffs_array = np.full(6, np.nan)

    @classmethod
    def _of(cls, coeffs: np.ndarray) -> Self:
        return vector_of(cls, coeffs)

    @classmethod
    def Zero(cls) -> Self:
        """Return the zero vector."""
        return cls._of(np.zeros(6))

    def SetZero(self) -> Self:
        """Set the six elements to zero; return this object."""
        self.coeffs_array = np.zeros_like(self.coeffs_array)
        return self

    def SetNaN(self) -> Self:
        """Set the six elements to NaN; return this object."""
        self.coeffs_array = np.full(6, np.nan)
        return self

    def rotational(self) -> np.ndarray:
        """Return a copy of the rotational part (3,)."""
        return self.coeffs_array[:3].copy()

    def translational(self) -> np.ndarray:
        """Return a copy of the translational part (3,)."""
        return self.coeffs_array[3:].copy()

    def get_coeffs(self) -> np.ndarray:
        """Return a copy of the six elements (6,)."""
        return self.coeffs_array.copy()

    def Rotate(self, R_FE: RotationMatrix | ArrayLike) -> Self:
        """Return this vector, expressed in E, as expressed in F; R_FE is a RotationMatrix or (3, 3)."""
        rotation = R_FE if isinstance(R_FE, RotationMatrix) else RotationMatrix(R_FE)
        return self._of(spatial_arrays.rotate(self.coeffs_array, rotation.R_array))

    def IsApprox(self, other: Self, tolerance: float = np.finfo(float).eps) -> bool:
        """Tell whether no element differs from the other's by more than the tolerance."""
        return self.IsNearlyEqualWithinAbsoluteTolerance(other, tolerance, tolerance)

    def IsNearlyEqualWithinAbsoluteTolerance(
        self, other: Self, rotational_tolerance: float, translational_tolerance: float
    ) -> bool:
        """Tell whether each part is within its tolerance of the other's, element by element."""
        difference = np.abs(self.coeffs_array - self._like(other, "compared").coeffs_array)
        near = difference[:3].max() <= rotational_tolerance and difference[3:].max() <= translational_tolerance
        return bool(near)

    def _is_like(self, other: Any) -> bool:
        """Tell whether a vector is of the same kind, with numbers of another type."""
        return isinstance(other, SpatialVector) and other._whole == self._whole

    def _like(self, other: Any, verb: str) -> Self:
        if type(other) is not type(self) and not self._is_like(other):
            raise TypeError(f"{type(other).__name__} cannot be {verb} with {type(self).__name__}")
        return other

    def _dot(self, other: Any, *kinds: Any) -> float:
        if not isinstance(other, kinds):
            accepted = " or ".join(kind.__name__ for kind in kinds)
            raise TypeError(f"{type(self).__name__}.dot: expected {accepted}, got {type(other).__name__}")
        product = spatial_arrays.dot(self.coeffs_array, other.coeffs_array)
        return product.item() if isinstance(product, np.generic) else product

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self) and not self._is_like(other):
            return NotImplemented
        return self._of(self.coeffs_array + other.coeffs_array)

    def __sub__(self, other: Self) -> Self:
        if type(other) is not type(self) and not self._is_like(other):
            return NotImplemented
        return self._of(self.coeffs_array - other.coeffs_array)

    def __neg__(self) -> Self:
        return self._of(-self.coeffs_array)

    def __mul__(self, scale: Scalar) -> Self:
        if not is_scalar(scale):
            return NotImplemented
        return self._of(self.coeffs_array * scale)

    __rmul__ = __mul__

    def __iadd__(self, other: Self) -> Self:
        if type(other) is not type(self) and not self._is_like(other):
            return NotImplemented
        self.coeffs_array = self.coeffs_array + other.coeffs_array
        return self

    def __isub__(self, other: Self) -> Self:
        if type(other) is not type(self) and not self._is_like(other):
            return NotImplemented
        self.coeffs_array = self.coeffs_array - other.coeffs_array
        return self

    def __imul__(self, scale: Scalar) -> Self:
        if not is_scalar(scale):
            return NotImplemented
        self.coeffs_array = self.coeffs_array * scale
        return self

    def __repr__(self) -> str:
        upper, lower = self._parts
        values = self.coeffs_array.tolist()
        return f"{type(self).__name__}(\n  {upper}={values[:3]},\n  {lower}={values[3:]},\n)"


class SpatialVelocity(SpatialVector):
    """V_MB_E: angular velocity w [rad/s] of a frame B and velocity v [m/s] of its origin Bo, measured in M.

    Made from w (3,) and v (3,), from V (6,), or from nothing: then all elements are NaN.
    """

    __slots__ = ()
    _parts = ("w", "v")
    _whole = "V"

    def __init__(self, w: ArrayLike | None = None, v: ArrayLike | None = None, *, V: ArrayLike | None = None) -> None:
        self._assign(w, v, V)

    def Shift(self, offset: ArrayLike) -> SpatialVelocity:
        """Return V_MC_E of a frame C fixed to B whose origin is at offset p_BoCo_E (3,) [m] from Bo."""
        return self._of(spatial_arrays.shift_velocity(self.coeffs_array, as_array(offset, (3,), "offset")))

    def ShiftInPlace(self, offset: ArrayLike) -> SpatialVelocity:
        """Shift this object itself, as Shift() does a copy; return it."""
        self.coeffs_array = self.Shift(offset).coeffs_array
        return self

    def ComposeWithMovingFrameVelocity(
        self, position_of_moving_frame: ArrayLike, velocity_of_moving_frame: SpatialVelocity
    ) -> SpatialVelocity:
        """Return V_MC_E from this V_MB_E, p_BoCo_E (3,) [m] and the velocity V_BC_E of C measured in B."""
        p_BoCo = as_array(position_of_moving_frame, (3,), "position_of_moving_frame")
        V_BC = self._like(velocity_of_moving_frame, "composed")
        return self._of(spatial_arrays.compose_velocity(self.coeffs_array, p_BoCo, V_BC.coeffs_array))

    def dot(
        self, force: SpatialForce | SpatialMomentum | None = None, *, momentum: SpatialMomentum | None = None
    ) -> Scalar:
        """Return the power [W] with a SpatialForce at Bo, or twice the kinetic energy [J] with a momentum."""
        other = force if momentum is None else momentum
        return self._dot(other, SpatialForce, SpatialMomentum)

    def __matmul__(self, other: SpatialForce | SpatialMomentum) -> Scalar:
        return self.dot(other)


class SpatialAcceleration(SpatialVector):
    """A_MB_E: angular acceleration alpha [rad/s^2] of a frame B and acceleration a [m/s^2] of its origin Bo.

    It is the time derivative in M of V_MB: a is the acceleration of the point Bo, not Featherstone's lower
    part, which is less by w x v. Made from alpha (3,) and a (3,), from A (6,), or from nothing: then all are NaN.
    There is no dot product of an acceleration, and accelerations of frames that move in one another do not add:
    see ComposeWithMovingFrameAcceleration().
    """

    __slots__ = ()
    _parts = ("alpha", "a")
    _whole = "A"

    def __init__(
        self, alpha: ArrayLike | None = None, a: ArrayLike | None = None, *, A: ArrayLike | None = None
    ) -> None:
        self._assign(alpha, a, A)

    def Shift(self, offset: ArrayLike, angular_velocity_of_this_frame: ArrayLike) -> SpatialAcceleration:
        """Return A_MC_E of a frame C fixed to B, at offset p_BoCo_E (3,) [m], given w_MB_E (3,) [rad/s]."""
        p_BoCo = as_array(offset, (3,), "offset")
        w_MB = as_array(angular_velocity_of_this_frame, (3,), "angular_velocity_of_this_frame")
        return self._of(spatial_arrays.shift_acceleration(self.coeffs_array, p_BoCo, w_MB))

    def ShiftInPlace(self, offset: ArrayLike, angular_velocity_of_this_frame: ArrayLike) -> SpatialAcceleration:
        """Shift this object itself, as Shift() does a copy; return it."""
        self.coeffs_array = self.Shift(offset, angular_velocity_of_this_frame).coeffs_array
        return self

    def ShiftWithZeroAngularVelocity(self, offset: ArrayLike) -> SpatialAcceleration:
        """Return the result of Shift() for an angular velocity of zero (alpha may be anything)."""
        p_BoCo = as_array(offset, (3,), "offset")
        return self._of(spatial_arrays.shift_acceleration_without_rotation(self.coeffs_array, p_BoCo))

    def ComposeWithMovingFrameAcceleration(
        self,
        position_of_moving_frame: ArrayLike,
        angular_velocity_of_this_frame: ArrayLike,
        velocity_of_moving_frame: SpatialVelocity,
        acceleration_of_moving_frame: SpatialAcceleration,
    ) -> SpatialAcceleration:
        """Return A_MC_E from this A_MB_E and the motion of C in B.

        Takes p_BoCo_E (3,) [m], w_MB_E (3,) [rad/s], and the velocity V_BC_E and acceleration A_BC_E of C
        measured in B.
        """
        if not isinstance(velocity_of_moving_frame, SpatialVelocity):
            kind = type(velocity_of_moving_frame).__name__
            raise TypeError(f"velocity_of_moving_frame: expected SpatialVelocity, got {kind}")
        coeffs = spatial_arrays.compose_acceleration(
            self.coeffs_array,
            as_array(position_of_moving_frame, (3,), "position_of_moving_frame"),
            as_array(angular_velocity_of_this_frame, (3,), "angular_velocity_of_this_frame"),
            velocity_of_moving_frame.coeffs_array,
            self._like(acceleration_of_moving_frame, "composed").coeffs_array,
        )
        return self._of(coeffs)

    def dot(self, other: object) -> NoReturn:
        """Raise TypeError: no dot product of an acceleration has a meaning here."""
        raise TypeError(f"SpatialAcceleration has no dot product with {type(other).__name__}")


class _MomentVector(SpatialVector):
    """The common base of forces and momenta: a moment about a point, and a product with velocities."""

    __slots__ = ()

    def _shifted(self, offset: ArrayLike) -> Self:
        return self._of(spatial_arrays.shift_force(self.coeffs_array, as_array(offset, (3,), "offset")))

    def ShiftInPlace(self, offset: ArrayLike) -> Self:
        """Shift this object itself, as Shift() does a copy; return it."""
        self.coeffs_array = self._shifted(offset).coeffs_array
        return self

    if TYPE_CHECKING:

        def dot(self, velocity: SpatialVelocity) -> Scalar: ...

    def __matmul__(self, other: SpatialVelocity) -> Scalar:
        return self.dot(other)


class SpatialForce(_MomentVector):
    """F_Bp_E: torque tau [N m] on a body B about its point Bp and force f [N] applied at Bp.

    Made from tau (3,) and f (3,), from F (6,), or from nothing: then all elements are NaN.
    """

    __slots__ = ()
    _parts = ("tau", "f")
    _whole = "F"

    def __init__(self, tau: ArrayLike | None = None, f: ArrayLike | None = None, *, F: ArrayLike | None = None) -> None:
        self._assign(tau, f, F)

    def Shift(self, offset: ArrayLike) -> SpatialForce:
        """Return the equivalent F_Bq_E at the point Bq at offset p_BpBq_E (3,) [m] from Bp."""
        return self._shifted(offset)

    def dot(self, velocity: SpatialVelocity) -> Scalar:
        """Return the power [W] of this force on a body with this velocity of the same point."""
        return self._dot(velocity, SpatialVelocity)


class SpatialMomentum(_MomentVector):
    """L_MSP_E: angular momentum h [N m s] of a system S about a point P and its momentum l [N s].

    Made from h (3,) and l (3,), from L (6,), or from nothing: then all elements are NaN.
    """

    __slots__ = ()
    _parts = ("h", "l")
    _whole = "L"

    def __init__(self, h: ArrayLike | None = None, l: ArrayLike | None = None, *, L: ArrayLike | None = None) -> None:
        self._assign(h, l, L)

    def Shift(self, offset: ArrayLike) -> SpatialMomentum:
        """Return L_MSQ_E about the point Q at offset p_PQ_E (3,) [m] from P."""
        return self._shifted(offset)

    def dot(self, velocity: SpatialVelocity) -> Scalar:
        """Return twice the kinetic energy [J] of a body with this momentum about Bp; its velocity is V_MBp."""
        return self._dot(velocity, SpatialVelocity)


def vector_of(kind: type[AnyVector], coeffs: np.ndarray) -> AnyVector:
    """Return a spatial vector of one class that wraps an array (6,), which nobody else will change."""
    vector = _new(kind)
    vector.coeffs_array = coeffs
    return vector


def vectors_of(kind: type[AnyVector], rows: Iterable[Vector6]) -> list[AnyVector]:
    """Return a list of spatial vectors of one class that wrap arrays (6,), which nobody else will change."""
    vectors = []
    for row in rows:
        vector = _new(kind)
        vector.coeffs_array = row
        vectors.append(vector)
    return vectors


def ConvertTimeDerivativeToOtherFrame(v_E: ArrayLike, DtA_v_E: ArrayLike, w_BA_E: ArrayLike) -> Vector3:
    """Return the time derivative in B of a vector v (3,) from the one in A: DtA(v) + w_BA x v, all in E."""
    v = as_array(v_E, (3,), "v_E")
    DtA_v = as_array(DtA_v_E, (3,), "DtA_v_E")
    return DtA_v + cross(as_array(w_BA_E, (3,), "w_BA_E"), v)
