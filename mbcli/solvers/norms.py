"""Costs that are norms of A x + b: convex, and not smooth."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.solvers.affine_argument import AffineArgument
from mbcli.solvers.evaluators import Cost

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class NormCost(AffineArgument, Cost, ABC):
    """A norm of z = A x + b."""

    def __init__(self, A: Any, b: ArrayLike) -> None:
        self._take(A, b)
        super().__init__(lambda x: self._norm(self._argument(x)), 1, self._A.shape[1])

    def A(self) -> FloatArray:
        """(m, n)"""
        return self._A

    GetDenseA = A

    def get_sparse_A(self) -> Any:
        """(m, n), a scipy.sparse.csc_matrix."""
        from scipy.sparse import csc_matrix

        return csc_matrix(self._A)

    def update_A_entry(self, i: int, j: int, val: float) -> None:
        """Replaces an element of A."""
        self._A[i, j] = val

    def update_b_entry(self, i: int, val: float) -> None:
        """Replaces an element of b."""
        self._b[i] = val

    @abstractmethod
    def _norm(self, z: Any) -> Any:
        """The norm of z (m,)."""

    @abstractmethod
    def _slope(self, z: FloatArray) -> FloatArray:
        """Derivatives (m,) of the norm by z, one of them where there are several."""

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (1, n)."""
        return self._slope(self._argument(x))[None] @ self._A


class L2NormCost(NormCost):
    """The length of A x + b."""

    def _norm(self, z: Any) -> Any:
        return np.sqrt(z @ z)

    def _slope(self, z: FloatArray) -> FloatArray:
        length = np.sqrt(z @ z)
        return z / length if length else 0.0 * z


class L1NormCost(NormCost):
    """The sum of the magnitudes of A x + b."""

    def _norm(self, z: Any) -> Any:
        return np.abs(z).sum()

    def _slope(self, z: FloatArray) -> FloatArray:
        return np.sign(z)


class LInfNormCost(NormCost):
    """The largest magnitude in A x + b."""

    def _norm(self, z: Any) -> Any:
        return np.abs(z).max()

    def _slope(self, z: FloatArray) -> FloatArray:
        k = int(np.abs(z).argmax())
        return np.sign(z[k]) * np.eye(z.size)[k]


class PerspectiveQuadraticCost(NormCost):
    """|z[1:]|^2 / z[0] of z = A x + b, z[0] > 0."""

    def _norm(self, z: Any) -> Any:
        return z[1:] @ z[1:] / z[0]

    def _slope(self, z: FloatArray) -> FloatArray:
        return np.concatenate([[-(z[1:] @ z[1:]) / z[0] ** 2], 2.0 * z[1:] / z[0]])
