"""Ellipsoids in any dimension, and single points."""

from __future__ import annotations

from math import gamma, pi
from typing import TYPE_CHECKING

import numpy as np

from mbcli.geometry.optimization.convex_set import ConvexSet
from mbcli.solvers.cone_rows import SECOND_ORDER

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.cone_rows import ConeRows


class Hyperellipsoid(ConvexSet):
    """|A (x - center)| <= 1. A: (m, n); the set is bounded if its rank is n."""

    def __init__(self, A: ArrayLike, center: ArrayLike) -> None:
        self._A, self._center = np.atleast_2d(np.array(A, dtype=float)), np.ravel(np.array(center, dtype=float))
        super().__init__(len(self._center))
        if self._A.shape[1] != self._dimension:
            raise ValueError(f"Hyperellipsoid: A of {self._A.shape[1]} columns, a center of {self._dimension} numbers")

    @staticmethod
    def MakeAxisAligned(radius: ArrayLike, center: ArrayLike) -> Hyperellipsoid:
        """With radii (n,) along the axes."""
        return Hyperellipsoid(np.diag(1.0 / np.ravel(np.asarray(radius, dtype=float))), center)

    @staticmethod
    def MakeHypersphere(radius: float, center: ArrayLike) -> Hyperellipsoid:
        """With one radius."""
        return Hyperellipsoid.MakeAxisAligned(np.full(np.size(center), radius), center)

    @staticmethod
    def MakeUnitBall(dim: int) -> Hyperellipsoid:
        """The ball of radius 1 about the origin."""
        return Hyperellipsoid.MakeHypersphere(1.0, np.zeros(dim))

    def A(self) -> FloatArray:
        """(m, n)"""
        return self._A.copy()

    def center(self) -> FloatArray:
        """(n,)"""
        return self._center.copy()

    def PointInSet(self, x: ArrayLike, tol: float = 1e-8) -> bool:
        """Whether |A (x - center)|^2 <= 1 + tol."""
        return bool(np.sum((self._A @ (self._vector(x) - self._center)) ** 2) <= 1.0 + tol)

    def CalcVolume(self) -> float:
        """That of the unit ball over |det A|, infinite if A is of lower rank."""
        n, scale = self._dimension, float(np.prod(np.linalg.svd(self._A, compute_uv=False)))
        return float(pi ** (n / 2) / gamma(n / 2 + 1) / scale) if len(self._A) >= n and scale > 0.0 else np.inf

    def MinimumUniformScalingToTouch(self, other: ConvexSet) -> tuple[float, FloatArray]:
        """(scale, x): multiplied by the scale about its center, it touches the other set at x first.

        RuntimeError if the other set is empty.
        """
        x = other.nearest(self._center, self._A)
        if x is None:
            raise RuntimeError("MinimumUniformScalingToTouch: the other set is empty")
        return float(np.linalg.norm(self._A @ (x - self._center))), x

    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """See ConvexSet."""
        G = rows.add_variables(self._dimension)
        image = np.pad(self._A @ G, ((1, 0), (0, 0)))
        rows.add_cone(SECOND_ORDER, image, np.concatenate([[1.0], -self._A @ self._center]))
        return G, np.zeros(self._dimension)


class Point(ConvexSet):
    """A single point x (n,)."""

    def __init__(self, x: ArrayLike = ()) -> None:
        self._x = np.ravel(np.array(x, dtype=float))
        super().__init__(len(self._x))

    def x(self) -> FloatArray:
        """(n,)"""
        return self._x.copy()

    def set_x(self, x: ArrayLike) -> None:
        """Moves it."""
        self._x = self._vector(x).copy()

    def PointInSet(self, x: ArrayLike, tol: float = 1e-8) -> bool:
        """Whether all coordinates are equal to tol."""
        return bool(np.all(np.abs(self._vector(x) - self._x) <= tol))

    def MaybeGetPoint(self) -> FloatArray:
        """x"""
        return self.x()

    def nearest(self, center: ArrayLike, A: FloatArray | None = None) -> FloatArray:
        """x"""
        return self.x()

    def support(self, direction: ArrayLike) -> float:
        """direction' x"""
        return float(self._vector(direction) @ self._x)

    def CalcVolume(self) -> float:
        """0"""
        return 0.0

    def add_point(self, rows: ConeRows) -> tuple[FloatArray, FloatArray]:
        """See ConvexSet."""
        return np.zeros((self._dimension, rows.n)), self.x()
