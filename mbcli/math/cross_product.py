"""The vector product, on single vectors and on arrays of them, for every scalar type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.math.array_arguments import as_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, Matrix3


def cross(a: np.ndarray, b: np.ndarray) -> Array:
    """Return a x b along the last axis, (..., 3) and (..., 3) to (..., 3); leading axes broadcast."""
    if a.ndim == 1 and b.ndim == 1 and a.dtype.kind != "O" and b.dtype.kind != "O":
        # One pair of vectors: Python numbers are several times faster than numpy.cross.
        a0, a1, a2 = a.tolist()
        b0, b1, b2 = b.tolist()
        return np.array((a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0))
    product = np.empty(np.broadcast_shapes(a.shape, b.shape), np.result_type(a, b))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        product[..., i] = a[..., j] * b[..., k] - a[..., k] * b[..., j]
    return product


def skew(p: np.ndarray) -> Matrix3:
    """Return the matrix (3, 3) with skew(p) b = p x b."""
    x, y, z = p.tolist()
    return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)), dtype=p.dtype)


def VectorToSkewSymmetric(p: ArrayLike) -> Matrix3:
    """Return the skew-symmetric matrix (3, 3) of a vector p (3,): its product with b is p x b."""
    return skew(as_array(p, (3,), "p"))
