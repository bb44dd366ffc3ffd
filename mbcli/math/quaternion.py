"""Unit quaternions and angle-axis pairs, under the names of pydrake.common.eigen_geometry and pydrake.math.

A quaternion is q = (w, x, y, z) with w = cos(angle/2) and (x, y, z) = sin(angle/2) axis; q and -q are the
same orientation. A function that chooses between them documents its choice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mbcli.errors import ModelError
from mbcli.math.array_arguments import (
    as_array,
    as_scalar,
    is_real,
    python_number,
    real_part,
    real_parts,
    single_argument,
)
from mbcli.math.cross_product import cross
from mbcli.math.rotation_array import (
    checked_rotation,
    matrix_from_angle_axis,
    matrix_from_quaternion,
    quaternion_from_matrix,
)
from mbcli.math.sine_cosine import arccosine, arctangent, sine_cosine, square_root

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, Matrix3, Scalar, Vector3, Vector4

# How far a quaternion or an axis given by a caller may be from unit length.
NORM_TOLERANCE = 1e-5


def _checked_norm(vector: np.ndarray, message: str) -> np.ndarray:
    tested = vector if vector.dtype.kind != "O" else real_parts(vector)
    if tested is not None and not abs(math.sqrt(abs(tested.dot(tested))) - 1.0) < NORM_TOLERANCE:
        raise ModelError(f"{message}: {vector.tolist()}")
    return vector


def _rotated(R: np.ndarray, vector: ArrayLike, name: str) -> Array:
    """Return R times a vector (3,) or the columns of a matrix (3, n), in the shape that was given."""
    array = np.asarray(vector)
    columns = array.shape[1] if array.ndim == 2 else None
    return R.dot(as_array(vector, (3,) if columns is None else (3, columns), name))


class Quaternion:
    """A unit quaternion (w, x, y, z).

    Made from nothing (identity), from `wxyz` (4,), from w, x, y, z, from a rotation matrix `rotation` (3, 3)
    or from another quaternion. Raises ModelError if the norm differs from 1 by 1e-5 or more: values are kept
    as they are given, not normalized.
    """

    # The array itself, never changed in place, so that copies may share it.
    __slots__ = ("wxyz_array",)
    __array_ufunc__ = None

    def __init__(
        self,
        w: Scalar = None,
        x: Scalar = None,
        y: Scalar = None,
        z: Scalar = None,
        *,
        wxyz: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        other: Quaternion | None = None,
    ) -> None:
        if x is not None or y is not None or z is not None:
            if wxyz is not None or rotation is not None or other is not None:
                raise TypeError("Quaternion: w, x, y, z cannot be given together with another argument")
            if w is None or x is None or y is None or z is None:
                raise TypeError("Quaternion: expected w, x, y and z")
            self.set_wxyz(w, x, y, z)
            return
        source = single_argument("Quaternion", wxyz_or_rotation=w, wxyz=wxyz, rotation=rotation, other=other)
        if source is None:
            self.wxyz_array = np.array((1.0, 0.0, 0.0, 0.0))
        elif isinstance(source, Quaternion):
            self.wxyz_array = source.wxyz_array
        elif np.ndim(source) == 2 and np.shape(source) != (4, 1):
            self.set_rotation(source)
        else:
            self.set_wxyz(source)

    @staticmethod
    def Identity() -> Quaternion:
        """Return the quaternion (1, 0, 0, 0)."""
        return Quaternion()

    def w(self) -> Scalar:
        """Return the scalar part."""
        return self.wxyz_array[0].item() if is_real(self.wxyz_array) else self.wxyz_array[0]

    def x(self) -> Scalar:
        """Return the first component of the vector part."""
        return self.wxyz_array[1].item() if is_real(self.wxyz_array) else self.wxyz_array[1]

    def y(self) -> Scalar:
        """Return the second component of the vector part."""
        return self.wxyz_array[2].item() if is_real(self.wxyz_array) else self.wxyz_array[2]

    def z(self) -> Scalar:
        """Return the third component of the vector part."""
        return self.wxyz_array[3].item() if is_real(self.wxyz_array) else self.wxyz_array[3]

    def wxyz(self) -> Vector4:
        """Return a copy of the four components (4,), scalar part first."""
        return self.wxyz_array.copy()

    def xyz(self) -> Vector3:
        """Return a copy of the vector part (3,)."""
        return self.wxyz_array[1:].copy()

    def set_wxyz(
        self, w: Scalar = None, x: Scalar = None, y: Scalar = None, z: Scalar = None, *, wxyz: ArrayLike | None = None
    ) -> None:
        """Replace the value by `wxyz` (4,) or by four numbers; ModelError if it is not a unit quaternion."""
        if x is not None:
            wxyz = [as_scalar(value, "Quaternion: w, x, y, z") for value in (w, x, y, z)]
        elif w is not None:
            wxyz = w
        vector = as_array(wxyz, (4,), "Quaternion: wxyz").copy()
        self.wxyz_array = _checked_norm(vector, "Quaternion is not normalized")

    def set_rotation(self, rotation: ArrayLike) -> None:
        """Replace the value by that of a rotation matrix (3, 3), with w >= 0; ModelError if it is not one."""
        R = checked_rotation(as_array(rotation, (3, 3), "Quaternion: rotation"))
        self.wxyz_array = quaternion_from_matrix(R)

    def rotation(self) -> Matrix3:
        """Return the rotation matrix (3, 3)."""
        return matrix_from_quaternion(self.wxyz_array)

    @overload
    def multiply(self, other: Quaternion) -> Quaternion: ...
    @overload
    def multiply(self, other: ArrayLike | None = None, *, vector: ArrayLike | None = None) -> Array: ...
    def multiply(self, other: Quaternion | ArrayLike | None = None, *, vector: ArrayLike | None = None) -> Any:
        """Return the product with a quaternion, or a vector (3,) or matrix of columns (3, n) rotated."""
        operand = single_argument("Quaternion.multiply", other=other, vector=vector)
        if isinstance(operand, Quaternion):
            return quaternion_of(_product(self.wxyz_array, operand.wxyz_array))
        return _rotated(self.rotation(), operand, "Quaternion.multiply: vector")

    @overload
    def __matmul__(self, other: Quaternion) -> Quaternion: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        return self.multiply(other)

    def conjugate(self) -> Quaternion:
        """Return (w, -x, -y, -z)."""
        return quaternion_of(self.wxyz_array * _CONJUGATION)

    def inverse(self) -> Quaternion:
        """Return the conjugate divided by the squared norm."""
        return quaternion_of(self.wxyz_array * _CONJUGATION / self.wxyz_array.dot(self.wxyz_array))

    def slerp(self, t: float, other: Quaternion) -> Quaternion:
        """Return the point t of the shorter great arc from this quaternion (t = 0) to `other` (t = 1)."""
        t = as_scalar(t, "t")
        cosine = python_number(self.wxyz_array.dot(other.wxyz_array))
        if abs(cosine) >= 1.0 - np.finfo(float).eps:
            # The arc vanishes and so does its sine; the chord is the limit.
            from_weight, to_weight = 1.0 - t, t
        else:
            angle = arccosine(abs(cosine))
            sine, _ = sine_cosine(angle)
            from_weight = sine_cosine((1.0 - t) * angle)[0] / sine
            to_weight = sine_cosine(t * angle)[0] / sine
        if cosine < 0.0:
            to_weight = -to_weight
        return quaternion_of(from_weight * self.wxyz_array + to_weight * other.wxyz_array)

    def __repr__(self) -> str:
        w, x, y, z = self.wxyz_array.tolist()
        return f"{type(self).__name__}(w={w}, x={x}, y={y}, z={z})"


_new = object.__new__
_CONJUGATION = np.array((1.0, -1.0, -1.0, -1.0))


def quaternion_of(wxyz: np.ndarray) -> Quaternion:
    """Wrap an array (4,) of unit length that nobody else will change; it is not tested."""
    quaternion = _new(Quaternion)
    quaternion.wxyz_array = wxyz
    return quaternion


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    scalar = a[0] * b[0] - a[1:].dot(b[1:])
    vector = a[0] * b[1:] + b[0] * a[1:] + cross(a[1:], b[1:])
    return np.concatenate(((scalar,), vector))


class AngleAxis:
    """A rotation by an angle [rad] about a unit axis (3,).

    Made from nothing (angle 0 about x), from `angle` and `axis`, from a `quaternion`, from a rotation matrix
    `rotation` (3, 3) or from another one. From a quaternion or a matrix the angle is in [0, pi]. Raises
    ModelError if the length of the axis differs from 1 by 1e-5 or more.
    """

    __slots__ = ("_angle", "_axis")
    __array_ufunc__ = None

    def __init__(
        self,
        angle: Scalar | Quaternion | AngleAxis | ArrayLike | None = None,
        axis: ArrayLike | None = None,
        *,
        quaternion: Quaternion | None = None,
        rotation: ArrayLike | None = None,
        other: AngleAxis | None = None,
    ) -> None:
        if axis is not None:
            if quaternion is not None or rotation is not None or other is not None or angle is None:
                raise TypeError("AngleAxis: axis goes together with angle only")
            self.set_angle(angle)
            self.set_axis(axis)
            return
        source = single_argument(
            "AngleAxis", quaternion_or_rotation=angle, quaternion=quaternion, rotation=rotation, other=other
        )
        if source is None:
            self._angle, self._axis = 0.0, np.array((1.0, 0.0, 0.0))
        elif isinstance(source, AngleAxis):
            self._angle, self._axis = source._angle, source._axis
        elif isinstance(source, Quaternion):
            self.set_quaternion(source)
        else:
            self.set_rotation(source)

    @staticmethod
    def Identity() -> AngleAxis:
        """Return the rotation by no angle, about x."""
        return AngleAxis()

    def angle(self) -> Scalar:
        """Return the angle [rad]."""
        return self._angle

    def axis(self) -> Vector3:
        """Return a copy of the axis (3,)."""
        return self._axis.copy()

    def set_angle(self, angle: Scalar) -> None:
        """Replace the angle [rad]."""
        self._angle = as_scalar(angle, "AngleAxis: angle")

    def set_axis(self, axis: ArrayLike) -> None:
        """Replace the axis (3,); ModelError if it is not a unit vector."""
        self._axis = _checked_norm(as_array(axis, (3,), "AngleAxis: axis").copy(), "Axis is not normalized")

    def set_quaternion(self, q: Quaternion) -> None:
        """Replace the value by that of a quaternion; the angle is in [0, pi]."""
        w, vector = q.wxyz_array[0], q.wxyz_array[1:]
        sine = square_root(python_number(vector.dot(vector)))
        if sine == 0.0 or sine == 0:  # SymPy's integer is not 0.0
            self._angle, self._axis = 0.0, np.array((1.0, 0.0, 0.0))
            return
        # Of symbols the sign is not known: their angle is in [0, 2 pi].
        if (real := real_part(w)) is not None and math.copysign(1.0, real) < 0.0:
            w, vector = -w, -vector
        self._angle = 2.0 * arctangent(sine, python_number(w))
        self._axis = vector / sine

    def set_rotation(self, rotation: ArrayLike) -> None:
        """Replace the value by that of a rotation matrix (3, 3); ModelError if it is not one."""
        self.set_quaternion(Quaternion(rotation=rotation))

    def rotation(self) -> Matrix3:
        """Return the rotation matrix (3, 3)."""
        return matrix_from_angle_axis(self._angle, self._axis)

    def quaternion(self) -> Quaternion:
        """Return the quaternion of the same rotation."""
        sine, cosine = sine_cosine(0.5 * self._angle)
        return quaternion_of(np.concatenate(((cosine,), sine * self._axis)))

    def multiply(self, other: AngleAxis) -> Quaternion:
        """Return this rotation after `other`, as a quaternion."""
        if not isinstance(other, AngleAxis):
            raise TypeError(f"AngleAxis.multiply: expected an AngleAxis, got {type(other).__name__}")
        return self.quaternion().multiply(other.quaternion())

    def __matmul__(self, other: AngleAxis) -> Quaternion:
        return self.multiply(other)

    def inverse(self) -> AngleAxis:
        """Return the rotation by the opposite angle about the same axis."""
        return AngleAxis(-self._angle, self._axis)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(angle={self._angle}, axis={self._axis.tolist()})"


def is_quaternion_in_canonical_form(quat: Quaternion) -> bool:
    """Tell whether w >= 0."""
    return bool(quat.w() >= 0.0)


def QuaternionToCanonicalForm(quat: Quaternion) -> Quaternion:
    """Return the quaternion of the same orientation that has w >= 0."""
    return quat if is_quaternion_in_canonical_form(quat) else quaternion_of(-quat.wxyz_array)


def ClosestQuaternion(quat1: Quaternion, quat2: Quaternion) -> Quaternion:
    """Return quat2 or -quat2, whichever is nearer to quat1."""
    return quat2 if quat1.wxyz_array.dot(quat2.wxyz_array) >= 0.0 else quaternion_of(-quat2.wxyz_array)


def AreQuaternionsEqualForOrientation(quat1: Quaternion, quat2: Quaternion, tolerance: float) -> bool:
    """Tell whether the canonical forms agree in each component within the tolerance."""
    difference = QuaternionToCanonicalForm(quat1).wxyz_array - QuaternionToCanonicalForm(quat2).wxyz_array
    return bool(np.abs(difference).max() <= tolerance)


def CalculateQuaternionDtFromAngularVelocityExpressedInB(quat_AB: Quaternion, w_AB_B: ArrayLike) -> Vector4:
    """Return the time derivative (4,) of a quaternion from the angular velocity [rad/s] expressed in B."""
    w = as_array(w_AB_B, (3,), "w_AB_B")
    return 0.5 * _product(quat_AB.wxyz_array, np.concatenate(((0.0,), w)))


def CalculateAngularVelocityExpressedInBFromQuaternionDt(quat_AB: Quaternion, quatDt: ArrayLike) -> Vector3:
    """Return the angular velocity w_AB_B (3,) [rad/s] from the time derivative (4,) of a quaternion."""
    rate = as_array(quatDt, (4,), "quatDt")
    return 2.0 * _product(quat_AB.wxyz_array * _CONJUGATION, rate)[1:]


def CalculateQuaternionDtConstraintViolation(quat: Quaternion, quatDt: ArrayLike) -> Scalar:
    """Return the time derivative of the squared norm, which is zero for a unit quaternion."""
    return python_number(2.0 * quat.wxyz_array.dot(as_array(quatDt, (4,), "quatDt")))


def IsQuaternionValid(quat: Quaternion, tolerance: float) -> bool:
    """Tell whether the squared norm is 1 within the tolerance."""
    return bool(abs(quat.wxyz_array.dot(quat.wxyz_array) - 1.0) <= tolerance)


def IsBothQuaternionAndQuaternionDtOK(quat: Quaternion, quatDt: ArrayLike, tolerance: float) -> bool:
    """Tell whether the squared norm is 1 and its time derivative 0, both within the tolerance."""
    violation = CalculateQuaternionDtConstraintViolation(quat, quatDt)
    return IsQuaternionValid(quat, tolerance) and bool(abs(violation) <= tolerance)
