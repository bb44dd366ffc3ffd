"""What all convex sets answer: each is an affine image of variables under linear rows and cones."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.solvers.cone_rows import ConeRows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray

NEGLIGIBLE = 1e-9  # of distances, to which Clarabel finds them


class ConvexSet(ABC):
    """A convex set of R^n.

    RuntimeError if Clarabel ends without an answer; ResourceError if it is not installed.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension

    @abstractmethod
    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """(G (n, k), g (n,)): G y + g is a point of the set for all y (k,) that the rows allow, which it adds."""

    def ambient_dimension(self) -> int:
        """n"""
        return self._dimension

    def Clone(self) -> ConvexSet:
        """A copy."""
        return copy.deepcopy(self)

    def PointInSet(self, x: ArrayLike, tol: float = 1e-8) -> bool:
        """Whether no coordinate of x is farther than tol from the set's nearest point; 1e-9 at least."""
        x, rows = self._vector(x), ConeRows(1)
        G, g = self.add_point(rows)
        distance, infinite = np.eye(1, rows.n), np.full(len(x), np.inf)
        for sign in (1.0, -1.0):
            rows.add_between(distance + sign * wide(G, rows), sign * (x - g), infinite)
        y = least(rows, np.zeros((rows.n, rows.n)), distance[0])
        return y is not None and bool(y[0] <= max(tol, NEGLIGIBLE))

    def nearest(self, center: ArrayLike, A: FloatArray | None = None) -> FloatArray | None:
        """The point x (n,) of the set of least |A (x - center)|, A: (m, n) or the unit matrix; None if it is empty."""
        rows, A = ConeRows(0), np.eye(self._dimension) if A is None else A
        G, g = self.add_point(rows)
        image = A @ wide(G, rows)
        y = least(rows, image.T @ image, image.T @ A @ (g - self._vector(center)))
        return None if y is None else wide(G, rows) @ y + g

    def support(self, direction: ArrayLike) -> float:
        """The largest direction' x over the set: infinite if it is unbounded there, -infinite if it is empty."""
        direction, rows = self._vector(direction), ConeRows(0)
        G, g = self.add_point(rows)
        y, said = rows.minimize(np.zeros((rows.n, rows.n)), -direction @ wide(G, rows))
        if "DualInfeasible" in said:
            return np.inf
        return -np.inf if not _has_answer(said) else float(direction @ (wide(G, rows) @ y + g))

    def IsEmpty(self) -> bool:
        """Whether no point is in it."""
        return self.MaybeGetFeasiblePoint() is None

    def IsBounded(self, parallelism: Any = None) -> bool:
        """Whether it is bounded in all directions. parallelism: without effect."""
        return all(self.support(sign * e) < np.inf for e in np.eye(self._dimension) for sign in (1.0, -1.0))

    def IntersectsWith(self, other: ConvexSet) -> bool:
        """Whether a point is in both."""
        rows = ConeRows(0)
        meet(rows, [self, other])
        return least(rows, np.zeros((rows.n, rows.n)), np.zeros(rows.n)) is not None

    def MaybeGetFeasiblePoint(self) -> FloatArray | None:
        """The point nearest to the origin; None if the set is empty."""
        return self.nearest(np.zeros(self._dimension))

    def MaybeGetPoint(self) -> FloatArray | None:
        """The point of a set that is known to be one; None for all others."""
        return None

    def Projection(self, points: ArrayLike) -> tuple[list[float], FloatArray] | None:
        """(distances (k,), the nearest points (n, k)) to points (n, k); None if the set is empty."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        found = [self.nearest(p) for p in points.T]
        if any(x is None for x in found):
            return None
        nearest = np.array(found).T
        return list(map(float, np.linalg.norm(nearest - points, axis=0))), nearest

    def CalcVolume(self) -> float:
        """The volume in R^n. RuntimeError for sets of no closed formula, as for a polyhedron until it has vertices."""
        raise RuntimeError(f"{type(self).__name__} cannot report an exact volume")

    def _vector(self, x: ArrayLike) -> FloatArray:
        x = np.ravel(np.asarray(x, dtype=float))
        if len(x) != self._dimension:
            raise ValueError(f"{len(x)} numbers for a set of R^{self._dimension}")
        return x


def wide(G: FloatArray, rows: ConeRows) -> FloatArray:
    """G with columns for the variables that came later."""
    made = np.zeros((len(G), rows.n))
    made[:, : G.shape[1]] = G
    return made


def meet(rows: ConeRows, sets: list[ConvexSet]) -> tuple[FloatArray, FloatArray]:
    """As add_point(), of a point that is in all sets."""
    (G, g), *others = [each.add_point(rows) for each in sets]
    for H, h in others:
        rows.add_between(wide(G, rows) - wide(H, rows), h - g, h - g)
    return G, g


def least(rows: ConeRows, P: FloatArray, q: FloatArray) -> FloatArray | None:
    """Where y' P y / 2 + q' y is least; None if no y is allowed. RuntimeError if Clarabel finds neither."""
    y, said = rows.minimize(P, q)
    return y if _has_answer(said) else None


def _has_answer(said: str) -> bool:
    if said not in ("Solved", "AlmostSolved", "PrimalInfeasible", "AlmostPrimalInfeasible"):
        raise RuntimeError(f"Clarabel finds no answer for a convex set: {said}")
    return "Solved" in said


def same_dimension(sets: list[ConvexSet], what: str) -> int:
    """The dimension of sets. ValueError if they differ, or if there is none."""
    dimensions = {each.ambient_dimension() for each in sets}
    if len(dimensions) != 1:
        raise ValueError(f"{what}: sets of one dimension, not of {sorted(dimensions)}")
    return dimensions.pop()
