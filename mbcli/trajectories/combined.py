"""Curves made of curves: one after another, one above the other, and one with a time scaling."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.trajectories.curve import DerivativeTrajectory, PiecewiseTrajectory, Trajectory
from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Matrix


class CompositeTrajectory(PiecewiseTrajectory):
    """Curves of the same shape, each of which starts where the one before ends."""

    def __init__(self, segments: Sequence[Any]) -> None:
        self._segments = [segment.Clone() for segment in segments]
        if not self._segments:
            raise RuntimeError("a CompositeTrajectory needs a segment")
        shapes = {(s.rows(), s.cols()) for s in self._segments}
        if len(shapes) > 1:
            raise RuntimeError(f"the segments have different shapes: {sorted(shapes)}")
        for one, other in zip(self._segments, self._segments[1:], strict=False):
            if not abs(one.end_time() - other.start_time()) <= 1e-10:
                raise RuntimeError(f"a segment ends at {one.end_time()}, the next starts at {other.start_time()}")
        self.breaks = [self._segments[0].start_time(), *(s.end_time() for s in self._segments)]

    @staticmethod
    def AlignAndConcatenate(segments: Sequence[Any]) -> CompositeTrajectory:
        """The segments moved in time, so that each starts where the one before ends."""
        moved: list[Any] = [segments[0]]
        for segment in segments[1:]:
            offset = moved[-1].end_time() - segment.start_time()
            ends = [moved[-1].end_time(), moved[-1].end_time() + segment.end_time() - segment.start_time()]
            scaling = PiecewisePolynomial.FirstOrderHold(ends, [[t - offset for t in ends]])
            moved.append(PathParameterizedTrajectory(segment, scaling))
        return CompositeTrajectory(moved)

    def segment(self, segment_index: int) -> Trajectory:
        """One of the curves."""
        return self._segments[self._checked(segment_index)]

    def rows(self) -> int:
        """The number of rows."""
        return self._segments[0].rows()

    def cols(self) -> int:
        """The number of columns."""
        return self._segments[0].cols()

    def value(self, t: float) -> Matrix:
        """The value at a time [s], kept beyond the ends."""
        return self._segments[self.get_segment_index(t)].value(min(max(t, self.start_time()), self.end_time()))

    def has_derivative(self) -> bool:
        """Whether all segments have derivatives."""
        return all(segment.has_derivative() for segment in self._segments)

    def EvalDerivative(self, t: float, derivative_order: int = 1) -> Matrix:
        """The derivative at a time."""
        if derivative_order == 0:
            return self.value(t)
        return self._segments[self.get_segment_index(t)].EvalDerivative(t, derivative_order)

    def _derivative(self, order: int) -> Trajectory:
        return CompositeTrajectory([segment.MakeDerivative(order) for segment in self._segments])


class StackedTrajectory(Trajectory):
    """Curves of the same times, one above the other, or, not rowwise, beside each other."""

    def __init__(self, rowwise: bool = True) -> None:
        self._rowwise, self._parts = rowwise, list[Any]()

    def Append(self, traj: Trajectory) -> None:
        """Adds a curve. RuntimeError if its times or its shape do not fit."""
        if self._parts:
            first = self._parts[0]
            if (traj.start_time(), traj.end_time()) != (first.start_time(), first.end_time()):
                raise RuntimeError("stacked curves have the same start and end")
            own, other = (c.cols() if self._rowwise else c.rows() for c in (first, traj))
            if own != other:
                raise RuntimeError(f"stacked curves fit: {own} is not {other}")
        self._parts.append(traj.Clone())

    def rows(self) -> int:
        """The number of rows."""
        counts = [part.rows() for part in self._parts]
        return sum(counts) if self._rowwise else max(counts, default=0)

    def cols(self) -> int:
        """The number of columns."""
        counts = [part.cols() for part in self._parts]
        return max(counts, default=0) if self._rowwise else sum(counts)

    def start_time(self) -> float:
        """[s]"""
        return self._parts[0].start_time() if self._parts else 0.0

    def end_time(self) -> float:
        """[s]"""
        return self._parts[0].end_time() if self._parts else 0.0

    def value(self, t: float) -> Matrix:
        """The values at a time."""
        return self._stacked([part.value(t) for part in self._parts])

    def _stacked(self, values: list[Any]) -> Matrix:
        if not values:
            return np.zeros((0, 0))
        return np.vstack(values) if self._rowwise else np.hstack(values)

    def has_derivative(self) -> bool:
        """Whether all curves have derivatives."""
        return all(part.has_derivative() for part in self._parts)

    def EvalDerivative(self, t: float, derivative_order: int = 1) -> Matrix:
        """The derivatives at a time."""
        return self._stacked([part.EvalDerivative(t, derivative_order) for part in self._parts])

    def _derivative(self, order: int) -> Trajectory:
        other = StackedTrajectory(self._rowwise)
        for part in self._parts:
            other.Append(part.MakeDerivative(order))
        return other


class PathParameterizedTrajectory(Trajectory):
    """path(time_scaling(t)): a curve with another course of time."""

    def __init__(self, path: Trajectory, time_scaling: Trajectory) -> None:
        if (time_scaling.rows(), time_scaling.cols()) != (1, 1):
            raise RuntimeError("a time scaling is one number")
        self._path, self._scaling = path.Clone(), time_scaling.Clone()

    def path(self) -> Trajectory:
        """The curve."""
        return self._path

    def time_scaling(self) -> Trajectory:
        """The time of the curve by that of this one."""
        return self._scaling

    def rows(self) -> int:
        """The number of rows."""
        return self._path.rows()

    def cols(self) -> int:
        """The number of columns."""
        return self._path.cols()

    def start_time(self) -> float:
        """[s]"""
        return self._scaling.start_time()

    def end_time(self) -> float:
        """[s]"""
        return self._scaling.end_time()

    def value(self, t: float) -> Matrix:
        """The value at a time, kept beyond the ends."""
        t = min(max(t, self.start_time()), self.end_time())
        return self._path.value(float(self._scaling.value(t)[0, 0]))

    def has_derivative(self) -> bool:
        """Whether both have derivatives."""
        return self._path.has_derivative() and self._scaling.has_derivative()

    def EvalDerivative(self, t: float, derivative_order: int = 1) -> Matrix:
        """The derivative at a time, by Faa di Bruno's formula."""
        t = min(max(t, self.start_time()), self.end_time())
        s = float(self._scaling.value(t)[0, 0])
        rates = [float(self._scaling.EvalDerivative(t, k)[0, 0]) for k in range(1, derivative_order + 1)]
        total = np.zeros((self.rows(), self.cols())) if derivative_order else self.value(t)
        for k in range(1, derivative_order + 1):
            total = total + self._path.EvalDerivative(s, k) * _bell(derivative_order, k, rates)
        return total

    def _derivative(self, order: int) -> Trajectory:
        return DerivativeTrajectory(self, order)


def _bell(n: int, k: int, x: list[float]) -> float:
    """The partial Bell polynomial B(n, k) of x1, x2, ..."""
    if n == 0 or k == 0:
        return float(n == k)
    return sum(comb(n - 1, i - 1) * x[i - 1] * _bell(n - i, k - 1, x) for i in range(1, n - k + 2))
