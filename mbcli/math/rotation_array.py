"""Rotation matrices as plain arrays (3, 3): tests, repairs and conversions shared by the public classes."""

import math

import numpy as np

from mbcli.errors import ModelError
from mbcli.math.array_arguments import is_real
from mbcli.math.cross_product import skew
from mbcli.math.sine_cosine import sine_cosine

# The largest element of |R R^T - I| in a rotation matrix that IsValid() accepts.
ORTHONORMALITY_TOLERANCE = 128.0 * np.finfo(float).eps
# The same for matrices that callers hand in: rounding to single precision passes, mistakes do not.
INPUT_TOLERANCE = 1e-6

IDENTITY = np.eye(3)
IDENTITY.flags.writeable = False


def orthonormality_error(R: np.ndarray) -> float:
    """Return the largest absolute element of R R^T - I."""
    return float(np.abs(R.dot(R.T) - IDENTITY).max())


def determinant(R: np.ndarray) -> float:
    """Return the real part of the determinant of a matrix (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = R.real.tolist()
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


def is_rotation(R: np.ndarray, tolerance: float) -> bool:
    """Tell whether R is orthonormal within the tolerance and right-handed; NaN is neither."""
    return orthonormality_error(R) <= tolerance and determinant(R) > 0.0


def checked_rotation(R: np.ndarray) -> np.ndarray:
    """Return R; ModelError if it is not a rotation matrix. Objects (symbols) cannot be tested and pass."""
    if R.dtype.kind == "O":
        return R
    error = orthonormality_error(R)
    if not error <= INPUT_TOLERANCE:
        raise ModelError(f"rotation matrix is not orthonormal: largest element of |R R^T - I| is {error:.3g}")
    if not determinant(R) > 0.0:
        raise ModelError("rotation matrix is left-handed: its determinant is negative")
    return R


def nearest_rotation(M: np.ndarray) -> np.ndarray:
    """Return the rotation matrix nearest to M in the Frobenius norm; ModelError if M is left-handed."""
    if not (is_real(M) and np.isfinite(M).all()):
        raise ModelError("rotation matrix: elements must be finite real numbers")
    U, _, Vt = np.linalg.svd(M)
    R = U.dot(Vt)
    if determinant(R) < 0.0:
        raise ModelError("rotation matrix is left-handed: its determinant is negative")
    return R


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


def quaternion_from_matrix(R: np.ndarray) -> np.ndarray:
    """Return the unit quaternion (4,) with w >= 0 of a real rotation matrix."""
    if not is_real(R):
        raise TypeError("a quaternion can be found for a real rotation matrix only")
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    # Four candidates, all multiples of the answer; the one whose own component is largest is accurate.
    squares = (1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i)
    largest = squares.index(max(squares))
    if largest == 0:
        w, x, y, z = squares[0], h - f, c - g, d - b
    elif largest == 1:
        w, x, y, z = h - f, squares[1], b + d, c + g
    elif largest == 2:
        w, x, y, z = c - g, b + d, squares[2], f + h
    else:
        w, x, y, z = d - b, c + g, f + h, squares[3]
    norm = math.sqrt(w * w + x * x + y * y + z * z)
    return np.array((w, x, y, z)) / (-norm if w < 0.0 else norm)


def quaternions_from_matrices(R: np.ndarray) -> np.ndarray:
    """Return the unit quaternions (..., 4) with w >= 0 of real rotation matrices (..., 3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(R, (-2, -1), (0, 1))
    squares = np.array((1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i))
    candidates = np.array(
        (
            (squares[0], h - f, c - g, d - b),
            (h - f, squares[1], b + d, c + g),
            (c - g, b + d, squares[2], f + h),
            (d - b, c + g, f + h, squares[3]),
        )
    )
    largest = squares.argmax(axis=0)
    w, x, y, z = np.take_along_axis(candidates, largest[np.newaxis, np.newaxis], axis=0)[0]
    norm = np.sqrt(w * w + x * x + y * y + z * z)
    return np.stack((w, x, y, z), axis=-1) / np.where(w < 0.0, -norm, norm)[..., np.newaxis]


def matrix_from_angle_axis(angle, axis: np.ndarray) -> np.ndarray:
    """Return the rotation by an angle [rad] about an axis (3,) of any length but zero (Rodrigues)."""
    sine, cosine = sine_cosine(angle)
    unit = axis / axis.dot(axis) ** 0.5
    return cosine * IDENTITY + sine * skew(unit) + (1.0 - cosine) * np.outer(unit, unit)
