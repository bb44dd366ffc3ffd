"""Rotation matrices R_AB, under the names of pydrake.math."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mbcli.errors import ModelError
from mbcli.math import roll_pitch_yaw
from mbcli.math.array_arguments import (
    as_array,
    as_numbers,
    as_scalar,
    describe,
    python_number,
    real_parts,
    single_argument,
)
from mbcli.math.cross_product import cross
from mbcli.math.quaternion import AngleAxis, Quaternion
from mbcli.math.rotation_array import (
    IDENTITY,
    ORTHONORMALITY_TOLERANCE,
    checked_rotation,
    is_rotation,
    matrix_from_angle_axis,
    matrix_from_quaternion,
    nearest_rotation,
    quaternion_from_matrix,
)
from mbcli.math.sine_cosine import sine_cosine, square_root

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, Matrix3, Scalar, Vector3
    from mbcli.math.roll_pitch_yaw import RollPitchYaw


class RotationMatrix:
    """The rotation matrix R_AB: its columns are the unit vectors of B expressed in A, and v_A = R_AB v_B.

    Made from nothing (identity), from a matrix `R` (3, 3), a `quaternion`, an angle-axis pair
    `theta_lambda`, roll-pitch-yaw angles `rpy` or another one. A matrix whose R R^T differs from identity by
    more than 1e-6, or that is left-handed, raises ModelError (ProjectToRotationMatrix() repairs it); smaller
    errors are kept as they are, and IsValid() tells whether they are within 128 machine epsilons.
    """

    # The array itself, never changed in place, so that copies and transforms may share it.
    __slots__ = ("R_array",)
    __array_ufunc__ = None

    def __init__(
        self,
        R: RotationMatrix | RollPitchYaw | Quaternion | AngleAxis | ArrayLike | None = None,
        *,
        other: RotationMatrix | None = None,
        quaternion: Quaternion | None = None,
        theta_lambda: AngleAxis | None = None,
        rpy: RollPitchYaw | None = None,
    ) -> None:
        if R is None or not (other is quaternion is theta_lambda is rpy is None):
            R = single_argument(
                "RotationMatrix", R=R, other=other, quaternion=quaternion, theta_lambda=theta_lambda, rpy=rpy
            )
        self.R_array = IDENTITY if R is None else rotation_array_of(R, "RotationMatrix: R")

    @staticmethod
    def Identity() -> RotationMatrix:
        """Return the identity rotation."""
        return rotation_of(IDENTITY)

    @staticmethod
    def MakeUnchecked(R: ArrayLike) -> RotationMatrix:
        """Return the rotation of a matrix (3, 3) without testing it."""
        return rotation_of(as_array(R, (3, 3), "RotationMatrix: R").copy())

    @staticmethod
    def MakeXRotation(theta: Scalar) -> RotationMatrix:
        """The rotation about x.

        Args:
          theta: [rad].

        Returns:
          R_AB [1].

        Example:
          >>> (RotationMatrix.MakeXRotation(np.pi / 2) @ [0.0, 1.0, 0.0]).round(6)
          array([0., 0., 1.])
        """
        return rotation_of(_rotation_about_axis(0, theta))

    @staticmethod
    def MakeYRotation(theta: Scalar) -> RotationMatrix:
        """The rotation about y.

        Args:
          theta: [rad].

        Returns:
          R_AB [1].

        Example:
          >>> (RotationMatrix.MakeYRotation(np.pi / 2) @ [0.0, 0.0, 1.0]).round(6)
          array([1., 0., 0.])
        """
        return rotation_of(_rotation_about_axis(1, theta))

    @staticmethod
    def MakeZRotation(theta: Scalar) -> RotationMatrix:
        """The rotation about z.

        Args:
          theta: [rad].

        Returns:
          R_AB [1].

        Example:
          >>> (RotationMatrix.MakeZRotation(np.pi / 2) @ [1.0, 0.0, 0.0]).round(6)
          array([0., 1., 0.])
        """
        return rotation_of(_rotation_about_axis(2, theta))

    @staticmethod
    def MakeFromOneVector(b_A: ArrayLike, axis_index: int) -> RotationMatrix:
        """Return a rotation R_AB one of whose columns, `axis_index`, is along the vector b_A (3,).

        The next column (cyclically) is perpendicular to b_A and to the axis of A along which b_A is shortest.
        Raises ModelError if the norm of b_A is below 1e-10 or not finite, or if axis_index is not 0, 1 or 2.
        """
        vector = as_array(b_A, (3,), "b_A")
        _check_axis_index(axis_index)
        norm = square_root(python_number(vector.dot(vector)))
        if not 1e-10 <= norm < math.inf:
            raise ModelError(f"RotationMatrix: no direction in the vector {vector.tolist()}")
        column = vector / norm
        reference = np.zeros(3)
        reference[np.argmin(np.abs(column))] = 1.0
        second = cross(reference, column)
        second = second / square_root(python_number(second.dot(second)))
        R = np.empty((3, 3), vector.dtype)
        R[:, axis_index] = column
        R[:, (axis_index + 1) % 3] = second
        R[:, (axis_index + 2) % 3] = cross(column, second)
        return rotation_of(R)

    @staticmethod
    def MakeFromOrthonormalColumns(Bx: ArrayLike, By: ArrayLike, Bz: ArrayLike) -> RotationMatrix:
        """Return the rotation with these three unit vectors (3,) as columns; ModelError if not a basis."""
        columns = [as_array(axis, (3,), "RotationMatrix: column") for axis in (Bx, By, Bz)]
        return RotationMatrix(np.column_stack(columns))

    @staticmethod
    def MakeFromOrthonormalRows(Ax: ArrayLike, Ay: ArrayLike, Az: ArrayLike) -> RotationMatrix:
        """Return the rotation with these three unit vectors (3,) as rows; ModelError if not a basis."""
        return RotationMatrix(np.array([as_array(axis, (3,), "RotationMatrix: row") for axis in (Ax, Ay, Az)]))

    @staticmethod
    def ProjectToRotationMatrix(M: ArrayLike) -> RotationMatrix:
        """Return the rotation nearest to a matrix (3, 3) in the Frobenius norm; ModelError if left-handed."""
        return rotation_of(nearest_rotation(as_array(M, (3, 3), "M")))

    @staticmethod
    def get_internal_tolerance_for_orthonormality() -> float:
        """Return the tolerance of IsValid(), 128 machine epsilons."""
        return ORTHONORMALITY_TOLERANCE

    def set(self, R: RotationMatrix | RollPitchYaw | Quaternion | AngleAxis | ArrayLike) -> None:
        """Replace the value by a matrix (3, 3); ModelError if it is not a rotation."""
        self.R_array = rotation_array_of(R, "RotationMatrix: R")

    def matrix(self) -> Matrix3:
        """A copy of the matrix.

        Returns:
          R_AB (3, 3) [1].

        Example:
          >>> RotationMatrix().matrix()
          array([[1., 0., 0.],
                 [0., 1., 0.],
                 [0., 0., 1.]])
        """
        return self.R_array.copy()

    def row(self, index: int) -> Vector3:
        """Return a row (3,): a unit vector of A expressed in B."""
        _check_axis_index(index)
        return self.R_array[index].copy()

    def col(self, index: int) -> Vector3:
        """Return a column (3,): a unit vector of B expressed in A."""
        _check_axis_index(index)
        return self.R_array[:, index].copy()

    def inverse(self) -> RotationMatrix:
        """Return R_BA."""
        return rotation_of(self.R_array.T)

    def transpose(self) -> RotationMatrix:
        """Return R_BA."""
        return rotation_of(self.R_array.T)

    def InvertAndCompose(self, other: RotationMatrix) -> RotationMatrix:
        """Return R_BC = R_AB^-1 R_AC for the rotation `other`, R_AC."""
        return rotation_of(self.R_array.T.dot(_rotation_argument(other).R_array))

    @overload
    def multiply(self, other: RotationMatrix) -> RotationMatrix: ...
    @overload
    def multiply(self, other: ArrayLike | None = None, *, v_B: ArrayLike | None = None) -> Array: ...
    def multiply(self, other: RotationMatrix | ArrayLike | None = None, *, v_B: ArrayLike | None = None) -> Any:
        """Return R_AC for a RotationMatrix R_BC, or v_A for a vector v_B (3,) or for columns (3, n)."""
        operand = single_argument("RotationMatrix.multiply", other=other, v_B=v_B)
        if isinstance(operand, RotationMatrix):
            return rotation_of(self.R_array.dot(operand.R_array))
        v = as_numbers(operand, "v_B")
        if v.ndim not in (1, 2) or v.shape[0] != 3:
            raise TypeError(f"v_B: expected shape (3,) or (3, n), got {describe(operand)}")
        return self.R_array.dot(v)

    @overload
    def __matmul__(self, other: RotationMatrix) -> RotationMatrix: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, RotationMatrix):
            return rotation_of(other.R_array if self.R_array is IDENTITY else self.R_array.dot(other.R_array))
        return self.multiply(other)

    def ToQuaternion(self) -> Quaternion:
        """Return the quaternion of this rotation that has w >= 0."""
        return Quaternion(wxyz=quaternion_from_matrix(self.R_array))

    def ToAngleAxis(self) -> AngleAxis:
        """Angle and axis of this rotation.

        Returns:
          AngleAxis: the angle in [0, pi] rad, the axis (3,) [1].

        Example:
          >>> round(float(RotationMatrix.MakeZRotation(0.5).ToAngleAxis().angle()), 6)
          0.5
        """
        return AngleAxis(quaternion=self.ToQuaternion())

    def ToRollPitchYaw(self) -> roll_pitch_yaw.RollPitchYaw:
        """Return the roll-pitch-yaw angles of this rotation."""
        return roll_pitch_yaw.RollPitchYaw(R=self)

    def IsValid(self) -> bool:
        """Tell whether this is orthonormal within 128 machine epsilons and right-handed."""
        return is_rotation(self.R_array, ORTHONORMALITY_TOLERANCE)

    def IsExactlyIdentity(self) -> bool:
        """Tell whether every element equals that of the identity."""
        return np.array_equal(real_parts(self.R_array), IDENTITY)  # type: ignore[arg-type]  # None of symbols is not equal

    def IsNearlyIdentity(self, tolerance: float = ORTHONORMALITY_TOLERANCE) -> bool:
        """Tell whether every element is within the tolerance of that of the identity."""
        return bool(np.abs(self.R_array - IDENTITY).max() <= tolerance)

    def IsExactlyEqualTo(self, other: RotationMatrix) -> bool:
        """Tell whether every element equals the other's."""
        return bool((self.R_array == _rotation_argument(other).R_array).all())

    def IsNearlyEqualTo(self, other: RotationMatrix, tolerance: float) -> bool:
        """Tell whether every element is within the tolerance of the other's."""
        return bool(self.GetMaximumAbsoluteDifference(other) <= tolerance)

    def GetMaximumAbsoluteDifference(self, other: RotationMatrix) -> float:
        """Return the largest absolute difference of elements."""
        return python_number(np.abs(self.R_array - _rotation_argument(other).R_array).max())

    def __repr__(self) -> str:
        rows = "".join(f"  {row},\n" for row in self.R_array.tolist())
        return f"{type(self).__name__}([\n{rows}])"


def rotation_array_of(
    source: RotationMatrix | RollPitchYaw | Quaternion | AngleAxis | ArrayLike, name: str
) -> np.ndarray:
    """Return the matrix (3, 3) of any description of a rotation; ModelError if an array is not a rotation."""
    if isinstance(source, RotationMatrix):
        return source.R_array
    if isinstance(source, roll_pitch_yaw.RollPitchYaw):
        return source._matrix()
    if isinstance(source, Quaternion):
        return matrix_from_quaternion(source.wxyz_array)
    if isinstance(source, AngleAxis):
        return matrix_from_angle_axis(source._angle, source._axis)
    return checked_rotation(as_array(source, (3, 3), name)).copy()


def rotation_of(R: np.ndarray) -> RotationMatrix:
    """Wrap an array that is known to be a rotation and that nobody else will change."""
    rotation = _new(RotationMatrix)
    rotation.R_array = R
    return rotation


_new = object.__new__


def _rotation_argument(value: object) -> RotationMatrix:
    if not isinstance(value, RotationMatrix):
        raise TypeError(f"expected a RotationMatrix, got {type(value).__name__}")
    return value


def _check_axis_index(index: int) -> None:
    if index not in (0, 1, 2):
        raise ModelError(f"RotationMatrix: index must be 0, 1 or 2, got {index}")


def _rotation_about_axis(axis: int, angle: Scalar) -> np.ndarray:
    sine, cosine = sine_cosine(as_scalar(angle, "theta"))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.zeros((3, 3), dtype=np.result_type(np.asarray(sine), np.asarray(cosine)))
    R[axis, axis] = 1.0
    R[j, j] = R[k, k] = cosine
    R[k, j] = sine
    R[j, k] = -sine
    return R
