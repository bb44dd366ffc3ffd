"""Curves by control points: B-splines and Bezier curves."""

from __future__ import annotations

from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.bspline_basis import BsplineBasis
from mbcli.trajectories.curve import Trajectory
from mbcli.trajectories.piecewise_polynomial import sample_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, Matrix


class BsplineTrajectory(Trajectory):
    """A B-spline of matrices.

    Args:
        control_points: a column for each, a list of vectors or a list of matrices (rows, cols).
    """

    def __init__(self, basis: BsplineBasis | None = None, control_points: Any = ()) -> None:
        self._basis = BsplineBasis() if basis is None else basis
        count = self._basis.num_basis_functions()
        self._points = sample_matrices(count, control_points) if count else np.zeros((0, 0, 0))

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import BSpline

        return BSpline(self._basis.knots(), self._points, self._basis.degree())

    def basis(self) -> BsplineBasis:
        """The BsplineBasis."""
        return self._basis

    def control_points(self) -> list[Matrix]:
        """Matrices (rows, cols)."""
        return [point.copy() for point in self._points]

    def num_control_points(self) -> int:
        """The number of control points."""
        return len(self._points)

    def rows(self) -> int:
        """The number of rows."""
        return self._points.shape[1]

    def cols(self) -> int:
        """The number of columns."""
        return self._points.shape[2]

    def start_time(self) -> float:
        """[s]"""
        return self._basis.initial_parameter_value()

    def end_time(self) -> float:
        """[s]"""
        return self._basis.final_parameter_value()

    def value(self, t: float) -> Matrix:
        """The value (rows, cols) at a time [s], kept beyond the ends."""
        return np.array(self._spline(min(max(t, self.start_time()), self.end_time())))

    def InitialValue(self) -> Matrix:
        """The value at the start."""
        return self.value(self.start_time())

    def FinalValue(self) -> Matrix:
        """The value at the end."""
        return self.value(self.end_time())

    def has_derivative(self) -> bool:
        """True."""
        return True

    def _derivative(self, order: int) -> BsplineTrajectory:
        degree = self._basis.degree()
        if order > degree:
            constant = BsplineBasis(1, [self.start_time(), self.end_time()])
            return BsplineTrajectory(constant, [np.zeros((self.rows(), self.cols()))])
        knots = np.asarray(self._basis.knots())[order : len(self._basis.knots()) - order]
        basis = BsplineBasis(degree + 1 - order, knots)
        points = derivative_points(self._points, np.asarray(self._basis.knots()), degree, order)
        return BsplineTrajectory(basis, list(points))

    def InsertKnots(self, additional_knots: Sequence[float]) -> None:
        """Adds knots; the curve stays."""
        from scipy.interpolate import insert

        degree, knots, points = self._basis.degree(), np.asarray(self._basis.knots()), self._points
        flat = points.reshape(len(points), -1)
        for x in additional_knots:
            columns = []
            for column in flat.T:
                padded = np.concatenate([column, np.zeros(degree + 1)])
                new_knots, new, _ = insert(x, (knots, padded, degree))
                columns.append(new[: len(new_knots) - degree - 1])
            flat, knots = np.array(columns).T, new_knots
        self._basis = BsplineBasis(degree + 1, knots)
        self._points = flat.reshape(-1, *points.shape[1:])
        self.__dict__.pop("_spline", None)

    def CopyBlock(self, start_row: int, start_col: int, block_rows: int, block_cols: int) -> BsplineTrajectory:
        """The curve of a part of the matrices."""
        rows, cols = slice(start_row, start_row + block_rows), slice(start_col, start_col + block_cols)
        return BsplineTrajectory(self._basis, list(self._points[:, rows, cols]))

    def CopyHead(self, n: int) -> BsplineTrajectory:
        """The curve of the first rows."""
        return self.CopyBlock(0, 0, n, self.cols())


def derivative_points(points: FloatArray, knots: FloatArray, degree: int, order: int) -> FloatArray:
    """Control points of a derivative: differences over the knots that they span (de Boor 1978)."""
    for _ in range(order):
        spans = knots[degree + 1 : degree + len(points)] - knots[1 : len(points)]
        points = degree * np.diff(points, axis=0) / spans.reshape(-1, *[1] * (points.ndim - 1))
        knots, degree = knots[1:-1], degree - 1
    return points


class BezierCurve(Trajectory):
    """A Bezier curve with one column.

    Args:
        start_time, end_time: [s]
        control_points: (rows, order + 1), a column for each.
    """

    def __init__(self, start_time: float = 0.0, end_time: float = 1.0, control_points: ArrayLike = ((),)) -> None:
        self._start, self._end = float(start_time), float(end_time)
        if not self._end >= self._start:
            raise RuntimeError(f"a curve from {start_time} to {end_time} ends before its start")
        points = np.array(control_points, dtype=float)
        self._points = points.reshape(1, -1) if points.ndim == 1 else points

    def order(self) -> int:
        """The degree of the polynomials."""
        return self._points.shape[1] - 1

    def control_points(self) -> Matrix:
        """(rows, order + 1)"""
        return self._points.copy()

    def rows(self) -> int:
        """The number of rows."""
        return self._points.shape[0]

    def cols(self) -> int:
        """1"""
        return 1

    def start_time(self) -> float:
        """[s]"""
        return self._start

    def end_time(self) -> float:
        """[s]"""
        return self._end

    def BernsteinBasis(self, i: int, time: float, order: int | None = None) -> float:
        """The weight of control point i at a time."""
        n = self.order() if order is None else order
        s = (min(max(time, self._start), self._end) - self._start) / (self._end - self._start)
        return comb(n, i) * s**i * (1.0 - s) ** (n - i)

    def value(self, t: float) -> Matrix:
        """The value (rows, 1) at a time [s], kept beyond the ends."""
        weights = [self.BernsteinBasis(i, t) for i in range(self.order() + 1)]
        return (self._points @ weights).reshape(-1, 1)

    def has_derivative(self) -> bool:
        """True."""
        return True

    def _derivative(self, order: int) -> BezierCurve:
        points = self._points
        for _ in range(order):
            degree = points.shape[1] - 1
            if degree == 0:
                points = np.zeros_like(points)
                break
            points = degree * np.diff(points, axis=1) / (self._end - self._start)
        return BezierCurve(self._start, self._end, points)

    def ElevateOrder(self) -> None:
        """One control point more; the curve stays."""
        n = self.order() + 1
        share = np.arange(n + 1) / n
        before = np.pad(self._points, ((0, 0), (1, 0)))
        after = np.pad(self._points, ((0, 0), (0, 1)))
        self._points = share * before + (1.0 - share) * after
