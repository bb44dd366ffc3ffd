"""Trajectory: a matrix as a function of time; the base of all curves over time."""

from __future__ import annotations

from bisect import bisect_right
from copy import deepcopy
from math import inf
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, Matrix


class Trajectory:
    """A matrix (rows, cols) as a function of time [s].

    A class of a user's own derives from it and has do_rows, do_cols, do_start_time, do_end_time, do_value and, if it
    has derivatives, do_has_derivative, do_MakeDerivative(order) or DoEvalDerivative(t, order).
    """

    def rows(self) -> int:
        """The number of rows."""
        return self._own("do_rows")

    def cols(self) -> int:
        """The number of columns."""
        return self._own("do_cols")

    def start_time(self) -> float:
        """[s]"""
        return self._own("do_start_time")

    def end_time(self) -> float:
        """[s]"""
        return self._own("do_end_time")

    def value(self, t: float) -> Matrix:
        """The value (rows, cols) at a time [s]; before the start that of the start, after the end that of the end."""
        return self._own("do_value", t)

    def _own(self, name: str, *arguments: Any) -> Any:
        function = getattr(self, name, None) or getattr(self, name.replace("do_", "Do", 1), None)
        if function is None:
            raise RuntimeError(f"{type(self).__name__} has no {name}()")
        return function(*arguments)

    def vector_values(self, t: ArrayLike) -> Matrix:
        """The values at times (n,): columns (rows, n) of a curve with one column, rows (n, cols) of one row."""
        values = [np.asarray(self.value(x)) for x in np.ravel(np.asarray(t, dtype=float))]
        if self.cols() == 1:
            return np.column_stack([value.reshape(-1) for value in values])
        if self.rows() == 1:
            return np.vstack([value.reshape(1, -1) for value in values])
        raise RuntimeError("vector_values() is for curves with one row or one column")

    def has_derivative(self) -> bool:
        """Whether EvalDerivative() and MakeDerivative() work."""
        return bool(getattr(self, "do_has_derivative", lambda: False)())

    def EvalDerivative(self, t: float, derivative_order: int = 1) -> Matrix:
        """The derivative of an order by time at a time. RuntimeError if there is none."""
        if derivative_order == 0:
            return self.value(t)
        evaluate = getattr(self, "DoEvalDerivative", None)
        return self.MakeDerivative(derivative_order).value(t) if evaluate is None else evaluate(t, derivative_order)

    def MakeDerivative(self, derivative_order: int = 1) -> Trajectory:
        """The derivative of an order by time, a curve."""
        if derivative_order < 0:
            raise RuntimeError(f"the order of a derivative must not be negative, it is {derivative_order}")
        if derivative_order == 0:
            return self.Clone()
        return self._derivative(derivative_order)

    def _derivative(self, order: int) -> Trajectory:
        make = getattr(self, "do_MakeDerivative", None) or getattr(self, "DoMakeDerivative", None)
        if make is not None:
            return make(order)
        if hasattr(self, "DoEvalDerivative"):
            return DerivativeTrajectory(self, order)
        raise RuntimeError(f"{type(self).__name__} has no derivative")

    def Clone(self) -> Self:
        """An independent copy."""
        own = getattr(self, "do_Clone", None)
        return deepcopy(self) if own is None else own()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update({name: deepcopy(value, memo) for name, value in self.__dict__.items()})
        return other


class DerivativeTrajectory(Trajectory):
    """The derivative of a curve, by its EvalDerivative()."""

    def __init__(self, nominal: Trajectory, derivative_order: int = 1) -> None:
        if not nominal.has_derivative() and not hasattr(nominal, "DoEvalDerivative"):
            raise RuntimeError("the curve has no derivative")
        self._nominal, self._order = nominal.Clone(), derivative_order

    def rows(self) -> int:
        """The number of rows."""
        return self._nominal.rows()

    def cols(self) -> int:
        """The number of columns."""
        return self._nominal.cols()

    def start_time(self) -> float:
        """[s]"""
        return self._nominal.start_time()

    def end_time(self) -> float:
        """[s]"""
        return self._nominal.end_time()

    def has_derivative(self) -> bool:
        """True."""
        return True

    def value(self, t: float) -> Matrix:
        """The derivative at a time."""
        return self._nominal.EvalDerivative(t, self._order)

    def EvalDerivative(self, t: float, derivative_order: int = 1) -> Matrix:
        """A derivative of the derivative."""
        return self._nominal.EvalDerivative(t, self._order + derivative_order)

    def _derivative(self, order: int) -> Trajectory:
        return DerivativeTrajectory(self._nominal, self._order + order)


class FunctionHandleTrajectory(Trajectory):
    """A function of time [s] as a curve."""

    def __init__(
        self,
        func: Callable[[float], ArrayLike],
        rows: int,
        cols: int = 1,
        start_time: float = -inf,
        end_time: float = inf,
    ) -> None:
        self._function, self._rows, self._cols = func, rows, cols
        self._start, self._end = float(start_time), float(end_time)
        self._derivatives: Callable[[float, int], ArrayLike] | None = None

    def set_derivative(self, func: Callable[[float, int], ArrayLike]) -> None:
        """The function of time and order that gives derivatives."""
        self._derivatives = func

    def rows(self) -> int:
        """The number of rows."""
        return self._rows

    def cols(self) -> int:
        """The number of columns."""
        return self._cols

    def start_time(self) -> float:
        """[s]"""
        return self._start

    def end_time(self) -> float:
        """[s]"""
        return self._end

    def has_derivative(self) -> bool:
        """Whether set_derivative() has given them."""
        return self._derivatives is not None

    def value(self, t: float) -> Matrix:
        """The value (rows, cols) at a time."""
        return np.asarray(self._function(t)).reshape(self._rows, self._cols)

    def DoEvalDerivative(self, t: float, derivative_order: int) -> Matrix:
        """A derivative at a time. RuntimeError without set_derivative()."""
        if self._derivatives is None:
            raise RuntimeError("the function has no derivative: set_derivative() gives one")
        return np.asarray(self._derivatives(t, derivative_order)).reshape(self._rows, self._cols)


class PiecewiseTrajectory(Trajectory):
    """A curve of segments between breaks [s]."""

    breaks: list[float]

    def start_time(self, segment_index: int | None = None) -> float:
        """Where the curve or one segment starts [s]."""
        if segment_index is None:
            return self.breaks[0] if self.breaks else 0.0
        return self.breaks[self._checked(segment_index)]

    def end_time(self, segment_index: int | None = None) -> float:
        """Where the curve or one segment ends [s]."""
        if segment_index is None:
            return self.breaks[-1] if self.breaks else 0.0
        return self.breaks[self._checked(segment_index) + 1]

    def duration(self, segment_index: int) -> float:
        """Length of one segment [s]."""
        return self.end_time(segment_index) - self.start_time(segment_index)

    def get_number_of_segments(self) -> int:
        """The number of segments."""
        return max(0, len(self.breaks) - 1)

    def get_segment_times(self) -> list[float]:
        """The breaks [s]."""
        return list(self.breaks)

    def get_segment_index(self, t: float) -> int:
        """The segment of a time; at a break the one that starts, at the end the last one."""
        return min(max(bisect_right(self.breaks, t) - 1, 0), max(0, self.get_number_of_segments() - 1))

    def is_time_in_range(self, t: float) -> bool:
        """Whether the time is between start and end."""
        return self.start_time() <= t <= self.end_time()

    def _checked(self, segment_index: int) -> int:
        if not 0 <= segment_index < self.get_number_of_segments():
            raise RuntimeError(f"there is no segment {segment_index}: there are {self.get_number_of_segments()}")
        return segment_index


def increasing(times: ArrayLike) -> FloatArray:
    """Breaks as an array; RuntimeError unless they increase."""
    breaks = np.ravel(np.array(times, dtype=float))
    if not (np.diff(breaks) > 0.0).all():
        raise RuntimeError(f"times must increase, they are {breaks}")
    return breaks
