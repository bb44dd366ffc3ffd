"""Rigid transforms X_AB, under the names of pydrake.math."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mbcli.errors import ModelError
from mbcli.math.array_arguments import as_array, as_numbers, describe, python_number, real_parts, single_argument
from mbcli.math.quaternion import AngleAxis, Quaternion
from mbcli.math.roll_pitch_yaw import RollPitchYaw
from mbcli.math.rotation_array import IDENTITY, ORTHONORMALITY_TOLERANCE, checked_rotation
from mbcli.math.rotation_matrix import RotationMatrix, rotation_array_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, Matrix3, Matrix4, Matrix34, Vector3
    from mbcli.math.isometry import Isometry3

_ORIENTATIONS = (RotationMatrix, RollPitchYaw, Quaternion, AngleAxis)
_ORIGIN = np.zeros(3)
_ORIGIN.flags.writeable = False
_LAST_ROW = np.array((0.0, 0.0, 0.0, 1.0))


class RigidTransform:
    """The pose X_AB of a frame B in a frame A: rotation R_AB and position p_AoBo_A [m] of the origin of B.

    X_AB @ X_BC is X_AC, and X_AB @ p_BoQ_B is p_AoQ_A.

    Args:
      R: RotationMatrix, RollPitchYaw, Quaternion or AngleAxis; alone also a RigidTransform, p or pose; default:
        identity.
      p: (3,) [m].
      rpy: in place of R.
      quaternion: in place of R.
      theta_lambda: AngleAxis in place of R.
      pose: (4, 4) with last row 0 0 0 1, or its upper part (3, 4) [1, m].
      other: RigidTransform.

    Raises:
      ModelError: a matrix is not a pose (see RotationMatrix for the tolerance).

    Example:
      >>> X_AB = RigidTransform(RollPitchYaw(0, 0, np.pi / 2), [1.0, 0.0, 0.0])
      >>> (X_AB @ [1.0, 0.0, 0.0]).round(6)
      array([1., 1., 0.])
    """

    # The arrays themselves, never changed in place, so that transforms may share them.
    __slots__ = ("R_array", "p_array")
    __array_ufunc__ = None

    def __init__(
        self,
        R: RotationMatrix | RollPitchYaw | Quaternion | AngleAxis | RigidTransform | ArrayLike | None = None,
        p: ArrayLike | None = None,
        *,
        other: RigidTransform | None = None,
        rpy: RollPitchYaw | None = None,
        quaternion: Quaternion | None = None,
        theta_lambda: AngleAxis | None = None,
        pose: ArrayLike | None = None,
    ) -> None:
        if R is None or not (other is rpy is quaternion is theta_lambda is pose is None):
            R = single_argument(
                "RigidTransform",
                R=R,
                other=other,
                rpy=rpy,
                quaternion=quaternion,
                theta_lambda=theta_lambda,
                pose=pose,
            )
        if p is not None:
            if R is None:
                self.R_array = IDENTITY
            elif isinstance(R, _ORIENTATIONS):
                self.R_array = rotation_array_of(R, "RigidTransform: R")
            else:
                raise TypeError(f"RigidTransform: {type(R).__name__} is not an orientation to go with p")
            self.p_array = as_array(p, (3,), "RigidTransform: p").copy()
        elif R is None:
            self.R_array, self.p_array = IDENTITY, _ORIGIN
        elif isinstance(R, RotationMatrix):
            self.R_array, self.p_array = R.R_array, _ORIGIN
        elif isinstance(R, RigidTransform):
            self.R_array, self.p_array = R.R_array, R.p_array
        elif hasattr(R, "matrix") and hasattr(R, "translation"):
            self.SetFromIsometry3(R)  # type: ignore[arg-type]
        elif isinstance(R, _ORIENTATIONS):
            raise TypeError(f"RigidTransform: {type(R).__name__} needs a position p")
        else:
            self.R_array, self.p_array = _split_pose(as_numbers(R, "RigidTransform: pose"))

    @staticmethod
    def Identity() -> RigidTransform:
        """Return the transform of a frame to itself."""
        return transform_of(IDENTITY, _ORIGIN)

    @staticmethod
    def MakeUnchecked(pose: ArrayLike) -> RigidTransform:
        """Return the transform of a matrix (3, 4) without testing its rotation."""
        matrix = as_array(pose, (3, 4), "RigidTransform: pose").copy()
        return transform_of(matrix[:, :3], matrix[:, 3])

    def rotation(self) -> RotationMatrix:
        """The rotation.

        Returns:
          R_AB [1].

        Example:
          >>> RigidTransform([1.0, 2.0, 3.0]).rotation().matrix()
          array([[1., 0., 0.],
                 [0., 1., 0.],
                 [0., 0., 1.]])
        """
        rotation = _new(RotationMatrix)
        rotation.R_array = self.R_array
        return rotation

    def translation(self) -> Vector3:
        """The position.

        Returns:
          p_AoBo_A (3,) [m], read-only.

        Example:
          >>> RigidTransform([1.0, 2.0, 3.0]).translation()
          array([1., 2., 3.])
        """
        view = self.p_array.view()
        view.flags.writeable = False
        return view

    def set(self, R: RotationMatrix, p: ArrayLike) -> None:
        """Replace rotation and position."""
        rotation = RotationMatrix(R)
        self.p_array = as_array(p, (3,), "RigidTransform: p").copy()
        self.R_array = rotation.R_array

    def set_rotation(
        self,
        R: RotationMatrix | RollPitchYaw | Quaternion | AngleAxis | None = None,
        *,
        rpy: RollPitchYaw | None = None,
        quaternion: Quaternion | None = None,
        theta_lambda: AngleAxis | None = None,
    ) -> None:
        """Replace the rotation by that of any description of an orientation."""
        source = single_argument(
            "RigidTransform.set_rotation", R=R, rpy=rpy, quaternion=quaternion, theta_lambda=theta_lambda
        )
        if not isinstance(source, _ORIENTATIONS):
            raise TypeError(f"RigidTransform.set_rotation: {type(source).__name__} is not an orientation")
        self.R_array = rotation_array_of(source, "RigidTransform: R")

    def set_translation(self, p: ArrayLike) -> None:
        """Replace the position by p (3,) [m]."""
        self.p_array = as_array(p, (3,), "RigidTransform: p").copy()

    def SetIdentity(self) -> RigidTransform:
        """Replace the value by the identity; return this object."""
        self.R_array, self.p_array = IDENTITY, _ORIGIN
        return self

    def GetAsMatrix4(self) -> Matrix4:
        """The homogeneous matrix.

        Returns:
          (4, 4): R_AB [1] and p_AoBo_A [m], above 0 0 0 1.

        Example:
          >>> RigidTransform([1.0, 2.0, 3.0]).GetAsMatrix4()
          array([[1., 0., 0., 1.],
                 [0., 1., 0., 2.],
                 [0., 0., 1., 3.],
                 [0., 0., 0., 1.]])
        """
        return np.vstack((self.GetAsMatrix34(), _LAST_ROW))

    def GetAsMatrix34(self) -> Matrix34:
        """Return the matrix (3, 4) of rotation and position side by side."""
        return np.column_stack((self.R_array, self.p_array))

    def GetAsIsometry3(self) -> Isometry3:
        """Return the same as an Isometry3."""
        from mbcli.math.isometry import Isometry3

        return Isometry3(rotation=self.R_array, translation=self.p_array)

    def SetFromIsometry3(self, pose: Isometry3) -> None:
        """Replace the value by that of an Isometry3; ModelError if it has no rotation."""
        self.R_array, self.p_array = _split_pose(pose.matrix())

    def inverse(self) -> RigidTransform:
        """The pose of A in B.

        Returns:
          X_BA [m].

        Example:
          >>> RigidTransform([1.0, 2.0, 3.0]).inverse().translation()
          array([-1., -2., -3.])
        """
        R_BA = self.R_array.T
        return transform_of(R_BA, -R_BA.dot(self.p_array))

    def InvertAndCompose(self, other: RigidTransform) -> RigidTransform:
        """Return X_BC = X_AB^-1 X_AC for the transform `other`, X_AC."""
        _require_transform(other)
        R_BA = self.R_array.T
        return transform_of(R_BA.dot(other.R_array), R_BA.dot(other.p_array - self.p_array))

    @overload
    def multiply(self, other: RigidTransform) -> RigidTransform: ...
    @overload
    def multiply(
        self, other: ArrayLike | None = None, *, p_BoQ_B: ArrayLike | None = None, vec_B: ArrayLike | None = None
    ) -> Array: ...
    def multiply(
        self,
        other: RigidTransform | ArrayLike | None = None,
        *,
        p_BoQ_B: ArrayLike | None = None,
        vec_B: ArrayLike | None = None,
    ) -> Any:
        """The product with a RigidTransform X_BC, a point or points, or a vector of four; as `@`.

        Args:
          other: RigidTransform X_BC, or one of the others.
          p_BoQ_B: a point (3,), or points in the columns of (3, n) [m].
          vec_B: (4,), whose last element is 1 for a point [m] and 0 for a direction.

        Returns:
          X_AC, or the point p_AoQ_A (3,), the points (3, n) or the vector (4,) in A.

        Raises:
          ModelError: the last element of a vector of four is another one.
          TypeError: an argument of another shape, or not one argument.

        Example:
          >>> RigidTransform([1.0, 0.0, 0.0]).multiply([0.0, 2.0, 0.0])
          array([1., 2., 0.])
        """
        operand = single_argument("RigidTransform.multiply", other=other, p_BoQ_B=p_BoQ_B, vec_B=vec_B)
        if isinstance(operand, RigidTransform):
            return transform_of(self.R_array.dot(operand.R_array), self.R_array.dot(operand.p_array) + self.p_array)
        array = as_numbers(operand, "p_BoQ_B")
        if array.shape == (3,):
            return self.R_array.dot(array) + self.p_array
        if array.ndim == 2 and array.shape[0] == 3:
            return self.R_array.dot(array) + self.p_array[:, np.newaxis]
        if array.shape in ((4,), (4, 1)):
            return self._of_four(array.reshape(4)).reshape(array.shape)
        raise TypeError(f"p_BoQ_B: expected shape (3,), (3, n) or (4,), got {describe(operand)}")

    @overload
    def __matmul__(self, other: RigidTransform) -> RigidTransform: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, RigidTransform):
            if self.R_array is IDENTITY and self.p_array is _ORIGIN:
                return transform_of(other.R_array, other.p_array)
            return transform_of(self.R_array.dot(other.R_array), self.R_array.dot(other.p_array) + self.p_array)
        return self.multiply(other)

    def _of_four(self, vector: np.ndarray) -> np.ndarray:
        last = vector[3]
        if last != 0.0 and last != 1.0:
            raise ModelError(f"RigidTransform: 4th element of {vector.tolist()} is neither 0 nor 1")
        return np.concatenate((self.R_array.dot(vector[:3]) + last * self.p_array, vector[3:]))

    def IsExactlyIdentity(self) -> bool:
        """Tell whether rotation and position equal those of the identity."""
        return self.rotation().IsExactlyIdentity() and np.array_equal(real_parts(self.p_array), _ORIGIN)  # type: ignore[arg-type]

    def IsNearlyIdentity(self, translation_tolerance: float) -> bool:
        """Tell whether the rotation is identity within 128 epsilons and the position zero within this."""
        near = np.abs(self.R_array - IDENTITY).max() <= ORTHONORMALITY_TOLERANCE
        return bool(near and np.abs(self.p_array).max() <= translation_tolerance)

    def IsExactlyEqualTo(self, other: RigidTransform) -> bool:
        """Tell whether every element equals the other's."""
        _require_transform(other)
        return bool((self.R_array == other.R_array).all() and (self.p_array == other.p_array).all())

    def IsNearlyEqualTo(self, other: RigidTransform, tolerance: float) -> bool:
        """Tell whether every element, of rotation and position, is within the tolerance of the other's."""
        return bool(self.GetMaximumAbsoluteDifference(other) <= tolerance)

    def GetMaximumAbsoluteDifference(self, other: RigidTransform) -> float:
        """Return the largest absolute difference of elements of the matrices (3, 4)."""
        _require_transform(other)
        return python_number(np.abs(self.GetAsMatrix34() - other.GetAsMatrix34()).max())

    def GetMaximumAbsoluteTranslationDifference(self, other: RigidTransform) -> float:
        """Return the largest absolute difference of coordinates of the positions [m]."""
        _require_transform(other)
        return python_number(np.abs(self.p_array - other.p_array).max())

    def __repr__(self) -> str:
        rotation = repr(self.rotation()).replace("\n", "\n  ")
        return f"{type(self).__name__}(\n  R={rotation},\n  p={self.p_array.tolist()},\n)"


_new = object.__new__


def transform_of(R: np.ndarray, p: np.ndarray) -> RigidTransform:
    """Wrap arrays that are known to be a pose and that nobody else will change."""
    X = _new(RigidTransform)
    X.R_array = R
    X.p_array = p
    return X


def transforms_of(pairs: Iterable[tuple[Matrix3, Vector3]]) -> list[RigidTransform]:
    """Wrap pairs of arrays (3, 3) and (3,) that are known to be poses and that nobody else will change."""
    transforms = []
    for R, p in pairs:
        X = _new(RigidTransform)
        X.R_array = R
        X.p_array = p
        transforms.append(X)
    return transforms


def _require_transform(value: object) -> None:
    if not isinstance(value, RigidTransform):
        raise TypeError(f"expected a RigidTransform, got {type(value).__name__}")


def _split_pose(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if array.shape in ((3,), (3, 1)):
        return IDENTITY, array.reshape(3).copy()
    if array.shape not in ((4, 4), (3, 4)):
        raise ModelError(f"RigidTransform: shape {array.shape} is that of no position (3,) and no pose (4, 4), (3, 4)")
    last = real_parts(array[3]) if array.shape == (4, 4) else _LAST_ROW
    if last is None or not np.array_equal(last, _LAST_ROW):
        raise ModelError(f"RigidTransform: last row of a pose must be 0 0 0 1, not {array[3].tolist()}")
    return checked_rotation(array[:3, :3]).copy(), array[:3, 3].copy()
