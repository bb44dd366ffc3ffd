"""Linear rows and convex cones in numbers, and what is least over them, by Clarabel (the extra `solvers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.extra_packages import import_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import BoolArray, FloatArray, IntArray

SECOND_ORDER, SEMIDEFINITE, EXPONENTIAL = "second order", "semidefinite", "exponential"
TOLERANCE = 1e-10  # of gaps and residuals
OF_MATRICES = 1e-8  # the same with semidefinite or exponential cones, where Clarabel comes no closer


class Elements(NamedTuple):
    """A sparse matrix of a height by its elements; those at one place are added.

    scipy's matrices take a tenth of a millisecond for each step, which is long for the small programs of a loop.
    """

    height: int
    row: IntArray
    column: IntArray
    value: FloatArray

    @classmethod
    def of(cls, A: FloatArray | Elements, places: Sequence[int] | None = None) -> Elements:
        """Of a matrix, whose columns are at these places."""
        if isinstance(A, Elements):
            return A
        row, column = np.nonzero(A)
        return cls(len(A), row, column if places is None else np.asarray(places, dtype=int)[column], A[row, column])

    def rows(self, chosen: BoolArray, factor: float) -> Elements:
        """Some of the rows, times a factor."""
        here = chosen[self.row]
        numbers = np.cumsum(chosen) - 1
        return Elements(int(chosen.sum()), numbers[self.row[here]], self.column[here], factor * self.value[here])


def joined(blocks: Sequence[Elements], n: int) -> Any:
    """Matrices of at most n columns one below the other: scipy's, by columns."""
    from scipy.sparse import csc_matrix

    first = np.cumsum([0, *(block.height for block in blocks)])
    row = np.concatenate([np.zeros(0, dtype=int), *(at + b.row for at, b in zip(first[:-1], blocks, strict=True))])
    column = np.concatenate([np.zeros(0, dtype=int), *(block.column for block in blocks)])
    value = np.concatenate([np.zeros(0), *(block.value for block in blocks)])
    return csc_matrix((value, (row, column)), shape=(int(first[-1]), n))


class ConeRows:
    """Rows of A x = b, A x <= b and of cones, of n variables; those that are added later are 0 in earlier rows.

    Each A is an array, or its Elements.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._equal: list[tuple[Elements, FloatArray]] = []
        self._free: list[tuple[Elements, FloatArray]] = []
        self._cones: list[tuple[str, Elements, FloatArray]] = []

    def add_variables(self, count: int) -> FloatArray:
        """The rows (count, n) that pick new variables."""
        self.n += count
        return np.eye(self.n)[self.n - count :]

    def add_between(self, A: FloatArray | Elements, lower: FloatArray, upper: FloatArray) -> None:
        """lower <= A x <= upper"""
        given, same = Elements.of(A), lower == upper
        self._equal.append((given.rows(same, 1.0), lower[same]))
        for sign, bound in ((1.0, upper), (-1.0, lower)):
            rows = ~same & np.isfinite(bound)
            self._free.append((given.rows(rows, sign), sign * bound[rows]))

    def add_cone(self, kind: str, A: FloatArray | Elements, b: FloatArray) -> None:
        """A x + b is in a cone."""
        self._cones.append((kind, Elements.of(A).rows(np.ones(len(b), dtype=bool), -1.0), b))

    def minimize(
        self, P: FloatArray | Elements, q: FloatArray, tolerance: float = TOLERANCE, max_iterations: int = 200
    ) -> tuple[FloatArray, str]:
        """(x (n,), what Clarabel says) where x' P x / 2 + q' x is least. P: (n, n), q: (n,)."""
        clarabel: Any = import_extra("clarabel", "solvers")
        A, right, kinds = self._joined(clarabel)
        whole = Elements.of(P)
        above = whole.row <= whole.column
        half = Elements(self.n, whole.row[above], whole.column[above], whole.value[above])
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_iter = False, max_iterations
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        found = clarabel.DefaultSolver(joined([half], self.n), q, A, right, kinds, settings).solve()
        return np.array(found.x), str(found.status)

    def _joined(self, clarabel: Any) -> tuple[Any, FloatArray, list[Any]]:
        """(A, b, cones of Clarabel's)"""
        made = {
            SECOND_ORDER: clarabel.SecondOrderConeT,
            SEMIDEFINITE: lambda size: clarabel.PSDTriangleConeT(int((np.sqrt(8 * size + 1) - 1) / 2 + 0.5)),
            EXPONENTIAL: lambda size: clarabel.ExponentialConeT(),
        }
        blocks = [*self._equal, *self._free, *((A, b) for _, A, b in self._cones)]
        numbers = [sum(len(b) for _, b in rows) for rows in (self._equal, self._free)]
        kinds = [clarabel.ZeroConeT(numbers[0]), clarabel.NonnegativeConeT(numbers[1])]
        kinds += [made[kind](len(b)) for kind, _, b in self._cones]
        right = np.concatenate([np.zeros(0), *(b for _, b in blocks)])
        return joined([A for A, _ in blocks], self.n), right, kinds
