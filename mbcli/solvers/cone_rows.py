"""Linear rows and convex cones in numbers, and what is least over them, by Clarabel (the extra `solvers`)."""

from __future__ import annotations

import itertools
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


class Columns(NamedTuple):
    """A sparse matrix by columns, each place once, under the names by which Clarabel reads scipy's."""

    data: FloatArray
    indices: IntArray
    indptr: IntArray
    shape: tuple[int, int]
    has_canonical_format: bool = True


def stacked(blocks: Sequence[Elements]) -> Elements:
    """Matrices one below the other."""
    if not blocks:
        return Elements.of(np.zeros((0, 0)))
    *first, height = itertools.accumulate((block.height for block in blocks), initial=0)
    row = np.concatenate([at + block.row for at, block in zip(first, blocks, strict=True)])
    column, value = (np.concatenate([block[k] for block in blocks]) for k in (2, 3))
    return Elements(height, row, column, value)


def by_columns(A: Elements, n: int) -> Columns:
    """A matrix of n columns."""
    place = A.column * A.height + A.row
    order = place.argsort(kind="stable")
    place, value = place[order], A.value[order]
    new = np.flatnonzero(np.append(True, place[1:] > place[:-1])) if place.size else place
    data, place = np.add.reduceat(value, new) if new.size else value, place[new]
    start = place.searchsorted(A.height * np.arange(n + 1))
    return Columns(data, place % max(A.height, 1), start, (A.height, n))


class ConeRows:
    """Rows of A x = b, A x <= b and of cones, of n variables; those that are added later are 0 in earlier rows.

    Each A is an array, or its Elements.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._between: list[tuple[Elements, FloatArray, FloatArray]] = []
        self._cones: list[tuple[str, Elements, FloatArray]] = []

    def add_variables(self, count: int) -> FloatArray:
        """The rows (count, n) that pick new variables."""
        self.n += count
        return np.eye(self.n)[self.n - count :]

    def add_between(self, A: FloatArray | Elements, lower: FloatArray, upper: FloatArray) -> None:
        """lower <= A x <= upper"""
        self._between.append((Elements.of(A), lower, upper))

    def add_cone(self, kind: str, A: FloatArray | Elements, b: FloatArray) -> None:
        """A x + b is in a cone."""
        given = Elements.of(A)
        self._cones.append((kind, Elements(given.height, given.row, given.column, -given.value), b))

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
        found = clarabel.DefaultSolver(by_columns(half, self.n), q, A, right, kinds, settings).solve()
        return np.array(found.x), str(found.status)

    def _joined(self, clarabel: Any) -> tuple[Any, FloatArray, list[Any]]:
        """(A, b, cones of Clarabel's)"""
        made = {
            SECOND_ORDER: clarabel.SecondOrderConeT,
            SEMIDEFINITE: lambda size: clarabel.PSDTriangleConeT(int((np.sqrt(8 * size + 1) - 1) / 2 + 0.5)),
            EXPONENTIAL: lambda size: clarabel.ExponentialConeT(),
        }
        A = stacked([A for A, _, _ in self._between])
        lower, upper = (np.concatenate([np.zeros(0), *(given[k] for given in self._between)]) for k in (1, 2))
        same = lower == upper
        below, above = (~same & np.isfinite(bound) for bound in (upper, lower))
        blocks = [A.rows(same, 1.0), A.rows(below, 1.0), A.rows(above, -1.0), *(A for _, A, _ in self._cones)]
        kinds = [clarabel.ZeroConeT(blocks[0].height), clarabel.NonnegativeConeT(blocks[1].height + blocks[2].height)]
        kinds += [made[kind](len(b)) for kind, _, b in self._cones]
        right = np.concatenate([lower[same], upper[below], -lower[above], *(b for _, _, b in self._cones)])
        return by_columns(stacked(blocks), self.n), right, kinds
