"""Vectors and matrices of many rows along axes of their own.

Sums go one after another, whatever the numbers: results are the same to the last bit on every machine, and those of the
operations that RecordedSensors write down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray


def components(R: FloatArray, a: FloatArray) -> FloatArray:
    """Vectors a (n, 3) along the columns of R (n, 3, 3): R^T a."""
    return R[:, 0] * a[:, :1] + R[:, 1] * a[:, 1:2] + R[:, 2] * a[:, 2:]


def turned(R: FloatArray, a: FloatArray) -> FloatArray:
    """R a (n, 3) of R (n, 3, 3) and a (n, 3) or (3,)."""
    return R[:, :, 0] * a[..., :1] + R[:, :, 1] * a[..., 1:2] + R[:, :, 2] * a[..., 2:]


def in_axes(A: FloatArray, B: FloatArray) -> FloatArray:
    """A^T B (n, 3, 3), each (n, 3, 3) or (3, 3)."""
    parts = [A[..., j, :, None] * B[..., j, None, :] for j in range(3)]
    return parts[0] + parts[1] + parts[2]


def product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A B (n, 3, 3), each (n, 3, 3) or (3, 3)."""
    parts = [A[..., :, j, None] * B[..., j, None, :] for j in range(3)]
    return parts[0] + parts[1] + parts[2]
