"""Vectors of many rows along axes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray


def components(R: FloatArray, a: FloatArray) -> FloatArray:
    """Vectors a (n, 3) along the columns of R (n, 3, 3): R^T a."""
    return np.einsum("nji,nj->ni", R, a)
