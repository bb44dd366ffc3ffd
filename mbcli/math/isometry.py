"""Isometries of space, under the name of pydrake.common.eigen_geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.array_arguments import as_array
from mbcli.math.quaternion import Quaternion
from mbcli.math.value_template import ValueTemplate
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, Matrix3, Matrix4, Vector3


class Isometry3:
    """A matrix (4, 4) of a rotation and a translation, as Eigen's class keeps it; nothing is tested.

    Made from nothing (identity), a `matrix` (4, 4), a `rotation` (3, 3) with a `translation` (3,), a `quaternion`
    with a `translation`, or another one.
    """

    __slots__ = ("matrix_array",)
    __array_ufunc__ = None

    def __init__(
        self,
        matrix: Isometry3 | ArrayLike | None = None,
        *,
        rotation: ArrayLike | None = None,
        quaternion: Quaternion | None = None,
        translation: ArrayLike | None = None,
        other: Isometry3 | None = None,
    ) -> None:
        source = matrix if other is None else other
        self.matrix_array: Array = np.eye(4)
        if isinstance(source, Isometry3):
            self.matrix_array = source.matrix_array
        elif source is not None:
            self.set_matrix(source)
        if quaternion is not None:
            rotation = quaternion.rotation()
        if rotation is not None:
            self.set_rotation(rotation)
        if translation is not None:
            self.set_translation(translation)

    @staticmethod
    def Identity() -> Isometry3:
        """Return the identity."""
        return Isometry3()

    def matrix(self) -> Matrix4:
        """Return a copy of the matrix (4, 4)."""
        return self.matrix_array.copy()

    def set_matrix(self, matrix: ArrayLike) -> None:
        """Replace the matrix (4, 4)."""
        self.matrix_array = as_array(matrix, (4, 4), "Isometry3: matrix").copy()

    def rotation(self) -> Matrix3:
        """Return a copy of the rotation (3, 3)."""
        return self.matrix_array[:3, :3].copy()

    def set_rotation(self, rotation: ArrayLike) -> None:
        """Replace the rotation (3, 3)."""
        self._put(as_array(rotation, (3, 3), "Isometry3: rotation"), self.matrix_array[:3, 3])

    def quaternion(self) -> Quaternion:
        """Return the quaternion of the rotation."""
        return Quaternion(rotation=self.rotation())

    def set_quaternion(self, quaternion: Quaternion) -> None:
        """Replace the rotation by that of a quaternion."""
        self.set_rotation(quaternion.rotation())

    def translation(self) -> Vector3:
        """Return a copy of the translation (3,)."""
        return self.matrix_array[:3, 3].copy()

    def set_translation(self, translation: ArrayLike) -> None:
        """Replace the translation (3,)."""
        self._put(self.matrix_array[:3, :3], as_array(translation, (3,), "Isometry3: translation"))

    def _put(self, R: Array, p: Array) -> None:
        self.matrix_array = np.vstack((np.column_stack((R, p)), (0.0, 0.0, 0.0, 1.0)))

    def inverse(self) -> Isometry3:
        """Return the inverse."""
        R = self.matrix_array[:3, :3].T
        return Isometry3(rotation=R, translation=-R.dot(self.matrix_array[:3, 3]))

    @also_named(position="other")
    def multiply(self, other: Isometry3 | ArrayLike) -> Any:
        """Return the product with another one, or a point (3,) or points (3, n) transformed."""
        if isinstance(other, Isometry3):
            return Isometry3(self.matrix_array.dot(other.matrix_array))
        points = np.asarray(other)
        p = self.matrix_array[:3, 3]
        return self.matrix_array[:3, :3].dot(points) + (p if points.ndim == 1 else p[:, np.newaxis])

    def __matmul__(self, other: Any) -> Any:
        return self.multiply(other)

    def __repr__(self) -> str:
        return f"Isometry3(matrix={self.matrix_array.tolist()})"


Isometry3_ = ValueTemplate(Isometry3)
