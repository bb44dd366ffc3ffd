"""Linear rows and convex cones in numbers, and what is least over them, by Clarabel (the extra `solvers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

SECOND_ORDER, SEMIDEFINITE, EXPONENTIAL = "second order", "semidefinite", "exponential"
TOLERANCE = 1e-10  # of gaps and residuals
OF_MATRICES = 1e-8  # the same with semidefinite or exponential cones, where Clarabel comes no closer


class ConeRows:
    """Rows of A x = b, A x <= b and of cones, of n variables; those that are added later are 0 in earlier rows.

    Each A is an array, or sparse.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._equal: list[tuple[Any, FloatArray]] = []
        self._free: list[tuple[Any, FloatArray]] = []
        self._cones: list[tuple[str, Any, FloatArray]] = []

    def add_variables(self, count: int) -> FloatArray:
        """The rows (count, n) that pick new variables."""
        self.n += count
        return np.eye(self.n)[self.n - count :]

    def add_between(self, A: Any, lower: FloatArray, upper: FloatArray) -> None:
        """lower <= A x <= upper"""
        from scipy.sparse import csr_matrix

        A, same = csr_matrix(A), lower == upper
        self._equal.append((A[same], lower[same]))
        for sign, bound in ((1.0, upper), (-1.0, lower)):
            rows = ~same & np.isfinite(bound)
            self._free.append((sign * A[rows], sign * bound[rows]))

    def add_cone(self, kind: str, A: Any, b: FloatArray) -> None:
        """A x + b is in a cone."""
        self._cones.append((kind, -A, b))

    def minimize(
        self, P: Any, q: FloatArray, tolerance: float = TOLERANCE, max_iterations: int = 200
    ) -> tuple[FloatArray, str]:
        """(x (n,), what Clarabel says) where x' P x / 2 + q' x is least. P: (n, n), sparse too; q: (n,)."""
        from scipy.sparse import csc_matrix, triu

        clarabel: Any = import_extra("clarabel", "solvers")
        A, right, kinds = self._joined(clarabel)
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_iter = False, max_iterations
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        found = clarabel.DefaultSolver(csc_matrix(triu(P)), q, csc_matrix(A), right, kinds, settings).solve()
        return np.array(found.x), str(found.status)

    def _joined(self, clarabel: Any) -> tuple[Any, FloatArray, list[Any]]:
        """(A sparse, b, cones of Clarabel's)"""
        from scipy.sparse import csr_matrix, vstack

        made = {
            SECOND_ORDER: clarabel.SecondOrderConeT,
            SEMIDEFINITE: lambda size: clarabel.PSDTriangleConeT(int((np.sqrt(8 * size + 1) - 1) / 2 + 0.5)),
            EXPONENTIAL: lambda size: clarabel.ExponentialConeT(),
        }
        blocks = [*self._equal, *self._free, *((A, b) for _, A, b in self._cones)]
        numbers = [sum(len(b) for _, b in rows) for rows in (self._equal, self._free)]
        kinds = [clarabel.ZeroConeT(numbers[0]), clarabel.NonnegativeConeT(numbers[1])]
        kinds += [made[kind](len(b)) for kind, _, b in self._cones]
        whole = [csr_matrix((0, self.n))]
        for A, b in blocks:
            whole.append(csr_matrix(A))
            whole[-1].resize((len(b), self.n))
        return vstack(whole), np.concatenate([np.zeros(0), *(b for _, b in blocks)]), kinds
