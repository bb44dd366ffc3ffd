"""Rotation matrices as plain arrays (3, 3): tests, repairs and conversions shared by the public classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ModelError
from mbcli.math.array_arguments import is_real, real_parts
from mbcli.math.cross_product import skew
from mbcli.math.sine_cosine import sine_cosine, square_root

if TYPE_CHECKING:
    from mbcli.math.array_types import Scalar

# The largest element of |R R^T - I| in a rotation matrix that IsValid() accepts.
ORTHONORMALITY_TOLERANCE = 128.0 * np.finfo(float).eps
# The same for matrices that callers hand in: rounding to single precision passes, mistakes do not.
INPUT_TOLERANCE = 1e-6

IDENTITY = np.eye(3)
IDENTITY.flags.writeable = False


def orthonormality_error(R: np.ndarray) -> float:
    """Return the largest absolute element of R R^T - I, of a matrix of floats or complex numbers."""
    return float(np.abs(R.dot(R.T) - IDENTITY).max())


def determinant(R: np.ndarray) -> float:
    """Return the real part of the determinant of a matrix (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = R.real.tolist()
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def is_rotation(R: np.ndarray, tolerance: float) -> bool:
    """Tell whether R is orthonormal within the tolerance and right-handed; NaN is neither."""
    if R.dtype.kind == "O":
        R = _values(R, "a rotation matrix can be tested")
    return orthonormality_error(R) <= tolerance and determinant(R) > 0.0


def checked_rotation(R: np.ndarray) -> np.ndarray:
    """Return R; ModelError if it is not a rotation matrix. Symbols cannot be tested and pass."""
    tested = R if R.dtype.kind != "O" else real_parts(R)
    if tested is None:
        return R
    error = orthonormality_error(tested)
    if not error <= INPUT_TOLERANCE:
        raise ModelError(f"rotation matrix is not orthonormal: largest element of |R R^T - I| is {error:.3g}")
    if not determinant(tested) > 0.0:
        raise ModelError("rotation matrix is left-handed: its determinant is negative")
    return R


def _values(array: np.ndarray, operation: str) -> np.ndarray:
    """Return the real parts of objects; TypeError for symbols."""
    values = real_parts(array)
    if values is None:
        raise TypeError(f"{operation} for numbers only, not for expressions: substitute numbers for their variables")
    return values


def nearest_rotation(M: np.ndarray) -> np.ndarray:
    """Return the rotation matrix nearest to M in the Frobenius norm; ModelError if M is left-handed."""
    values = M if M.dtype.kind != "O" else _values(M, "the nearest rotation can be found")
    if not (is_real(values) and np.isfinite(values).all()):
        raise ModelError("rotation matrix: elements must be finite real numbers")
    U, _, Vt = np.linalg.svd(values)
    R = U.dot(Vt)
    if determinant(R) < 0.0:
        raise ModelError("rotation matrix is left-handed: its determinant is negative")
    return R if values is M else _with_gradient_of(M, R)


def _with_gradient_of(M: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return R, the rotation nearest to the values of M, with the first derivatives that it has as a function of M.

    M = R S with S symmetric. R (1 + W) with W skew-symmetric is the next rotation if (R^T M - W S) is symmetric,
    which gives (trace(S) 1 - S) w = a for the vectors w of W and a of R^T M - M^T R.
    """
    S = R.T.dot(np.array([x.real for x in M.flat]).reshape(3, 3))
    A = R.T.dot(M)
    a = np.array((A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]))
    return R + R.dot(skew(np.linalg.inv(S.trace() * IDENTITY - 0.5 * (S + S.T)).dot(a)))


def matrix_from_quaternion(wxyz: np.ndarray) -> np.ndarray:
    """Return the rotation matrix of a quaternion (4,) of any length but zero."""
    w, x, y, z = wxyz.tolist()
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return np.array(
        (
            (1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
            (s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)),
            (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)),
        )
    )


def four_quaternions(R: Any) -> tuple[tuple[Any, ...], tuple[tuple[Any, ...], ...]]:
    """Of nine numbers or arrays, R[i][j]: the own components, and four multiples of the quaternion that have them.

    The multiple whose own component is largest is accurate.
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    squares = 1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i
    return squares, (
        (squares[0], h - f, c - g, d - b),
        (h - f, squares[1], b + d, c + g),
        (c - g, b + d, squares[2], f + h),
        (d - b, c + g, f + h, squares[3]),
    )


def quaternion_from_matrix(R: np.ndarray) -> np.ndarray:
    """Return the unit quaternion (4,) with w >= 0 of a real rotation matrix."""
    if not is_real(R) and (R.dtype.kind != "O" or real_parts(R) is None):
        raise TypeError("a quaternion can be found for a rotation matrix of real numbers only")
    squares, candidates = four_quaternions(R.tolist())
    w, x, y, z = candidates[squares.index(max(squares))]
    norm = square_root(w * w + x * x + y * y + z * z)
    return np.array((w, x, y, z)) / (-norm if w < 0.0 else norm)


def quaternions_from_matrices(R: np.ndarray) -> np.ndarray:
    """Return the unit quaternions (..., 4) with w >= 0 of real rotation matrices (..., 3, 3)."""
    if R.shape == (1, 3, 3):  # to the same bits, in a tenth of the time
        return quaternion_from_matrix(R[0])[np.newaxis]
    squares, candidates = map(np.array, four_quaternions(np.moveaxis(R, (-2, -1), (0, 1))))
    largest = squares.argmax(axis=0)
    w, x, y, z = np.take_along_axis(candidates, largest[np.newaxis, np.newaxis], axis=0)[0]
    norm = np.sqrt(w * w + x * x + y * y + z * z)
    return np.stack((w, x, y, z), axis=-1) / np.where(w < 0.0, -norm, norm)[..., np.newaxis]


def matrix_from_angle_axis(angle: Scalar, axis: np.ndarray) -> np.ndarray:
    """Return the rotation by an angle [rad] about an axis (3,) of any length but zero (Rodrigues)."""
    sine, cosine = sine_cosine(angle)
    unit = axis / axis.dot(axis) ** 0.5
    return cosine * IDENTITY + sine * skew(unit) + (1.0 - cosine) * np.outer(unit, unit)
