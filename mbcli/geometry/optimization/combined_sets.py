"""Sets made of others: what they have in common, their sums, their products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.optimization.convex_set import ConvexSet, meet, same_dimension, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.cone_rows import ConeRows


class _Combined(ConvexSet):
    """Of a list of sets, or of two."""

    def __init__(self, sets: Any = (), setB: ConvexSet | None = None, setA: ConvexSet | None = None) -> None:
        sets = sets if setA is None else setA
        self._sets: list[ConvexSet] = [sets, setB] if isinstance(sets, ConvexSet) else list(sets)  # type: ignore[list-item]
        super().__init__(self._common_dimension() if self._sets else 0)

    def _common_dimension(self) -> int:
        return same_dimension(self._sets, type(self).__name__)


class Intersection(_Combined):
    """The points that are in all of some sets."""

    def num_elements(self) -> int:
        """How many sets."""
        return len(self._sets)

    def element(self, index: int) -> ConvexSet:
        """One of them."""
        return self._sets[index]

    def PointInSet(self, x: ArrayLike, tol: float = 1e-8) -> bool:
        """Whether a point is in all sets, each with its measure of tol."""
        return all(each.PointInSet(x, tol) for each in self._sets)

    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """See ConvexSet."""
        return meet(rows, self._sets)


class MinkowskiSum(_Combined):
    """The sums of a point of each of some sets."""

    def num_terms(self) -> int:
        """How many sets."""
        return len(self._sets)

    def term(self, index: int) -> ConvexSet:
        """One of them."""
        return self._sets[index]

    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """See ConvexSet."""
        parts = [each.add_point(rows) for each in self._sets]
        return np.sum([wide(G, rows) for G, _ in parts], axis=0), np.sum([g for _, g in parts], axis=0)


class CartesianProduct(_Combined):
    """The points whose coordinates are those of a point of each of some sets, one after the other."""

    def _common_dimension(self) -> int:
        return sum(each.ambient_dimension() for each in self._sets)

    def num_factors(self) -> int:
        """How many sets."""
        return len(self._sets)

    def factor(self, index: int) -> ConvexSet:
        """One of them."""
        return self._sets[index]

    def PointInSet(self, x: ArrayLike, tol: float = 1e-8) -> bool:
        """Whether each part of the point is in its set."""
        ends = np.cumsum([each.ambient_dimension() for each in self._sets])[:-1]
        return all(s.PointInSet(part, tol) for s, part in zip(self._sets, np.split(self._vector(x), ends), strict=True))

    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """See ConvexSet."""
        parts = [each.add_point(rows) for each in self._sets]
        return np.concatenate([wide(G, rows) for G, _ in parts]), np.concatenate([g for _, g in parts])
