"""PiecewisePolynomial: matrices of polynomials of time, one for each segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.trajectories.curve import PiecewiseTrajectory, increasing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray, Matrix


def sample_matrices(count: int, samples: Any) -> FloatArray:
    """Samples as an array (count, rows, cols).

    They come as a matrix of columns (rows, count), as a list of vectors or as a list of matrices.
    """
    array = np.asarray(samples, dtype=float)
    if array.ndim == 1 and array.size == count:
        array = array.reshape(1, -1)
    if array.ndim == 2:
        of_vectors = not isinstance(samples, np.ndarray) and array.shape[1] != count and array.shape[0] == count
        array = array.reshape(*array.shape, 1) if of_vectors else array.T.reshape(array.shape[1], -1, 1)
    if array.ndim != 3 or array.shape[0] != count:
        raise RuntimeError(f"{count} times have samples of shape {np.shape(samples)}")
    return np.array(array)


class PiecewisePolynomial(PiecewiseTrajectory):
    """Matrices (rows, cols) of polynomials of the time since the start of a segment.

    PiecewisePolynomial(matrix) is a constant, without end.
    """

    def __init__(self, constant: ArrayLike | None = None, breaks: Sequence[float] | None = None) -> None:
        self._breaks: list[float] = []
        self._c = np.zeros((1, 0, 0, 0))  # (degree + 1, segments, rows, cols), the highest power first
        if breaks is not None:
            self._take_polynomials(constant, breaks)
        elif constant is not None:
            value = np.atleast_1d(np.array(constant, dtype=float))
            value = value.reshape(-1, 1) if value.ndim == 1 else value
            self._breaks, self._c = [-np.inf, np.inf], value.reshape(1, 1, *value.shape)

    def _take_polynomials(self, segments: Any, breaks: Sequence[float]) -> None:
        """Of matrices of polynomials of one variable, as symbolic.Polynomial or numpy.poly1d."""
        matrices = [np.atleast_2d(np.asarray(segment, dtype=object)) for segment in segments]
        parts = [[[_powers(p) for p in row] for row in matrix] for matrix in matrices]
        degree = max(len(p) for matrix in parts for row in matrix for p in row)
        full = [[[np.pad(p, (degree - len(p), 0)) for p in row] for row in matrix] for matrix in parts]
        self._breaks, self._c = increasing(breaks).tolist(), np.moveaxis(np.array(full), 3, 0)

    @classmethod
    def _of(cls, breaks: ArrayLike, c: FloatArray) -> PiecewisePolynomial:
        made = cls()
        made._breaks, made._c = [float(t) for t in np.ravel(np.asarray(breaks))], np.ascontiguousarray(c)
        return made

    # constructors

    @staticmethod
    def ZeroOrderHold(breaks: ArrayLike, samples: Any) -> PiecewisePolynomial:
        """Each sample until the next break; the last one is not used."""
        t = increasing(breaks)
        return PiecewisePolynomial._of(t, sample_matrices(t.size, samples)[None, :-1])

    @staticmethod
    def FirstOrderHold(breaks: ArrayLike, samples: Any) -> PiecewisePolynomial:
        """Straight lines between samples."""
        t = increasing(breaks)
        y = sample_matrices(t.size, samples)
        slopes = np.diff(y, axis=0) / np.diff(t)[:, None, None]
        return PiecewisePolynomial._of(t, np.stack([slopes, y[:-1]]))

    @staticmethod
    def CubicHermite(breaks: ArrayLike, samples: Any, samples_dot: Any) -> PiecewisePolynomial:
        """Cubics through samples with their derivatives."""
        from scipy.interpolate import CubicHermiteSpline

        t = increasing(breaks)
        spline = CubicHermiteSpline(t, sample_matrices(t.size, samples), sample_matrices(t.size, samples_dot))
        return PiecewisePolynomial._of(t, spline.c)

    @staticmethod
    def CubicShapePreserving(
        breaks: ArrayLike, samples: Any, zero_end_point_derivatives: bool = False
    ) -> PiecewisePolynomial:
        """Cubics with continuous derivatives that are monotonic where the samples are (Fritsch and Butland 1984)."""
        from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

        t = increasing(breaks)
        y = sample_matrices(t.size, samples)
        if t.size < (2 if zero_end_point_derivatives else 3):
            raise RuntimeError(f"CubicShapePreserving needs more samples than {t.size}")
        slopes = np.zeros_like(y) if t.size == 2 else PchipInterpolator(t, y).derivative()(t)
        if zero_end_point_derivatives:
            slopes[[0, -1]] = 0.0
        return PiecewisePolynomial._of(t, CubicHermiteSpline(t, y, slopes).c)

    @staticmethod
    def CubicWithContinuousSecondDerivatives(
        breaks: ArrayLike,
        samples: Any,
        sample_dot_at_start: Any = None,
        sample_dot_at_end: ArrayLike | None = None,
        *,
        periodic_end_condition: bool = False,
        periodic_end: bool = False,
    ) -> PiecewisePolynomial:
        """Cubic splines: with given derivatives at the ends, periodic ones, or with continuous third derivatives at
        the first and last break between.
        """
        from scipy.interpolate import CubicSpline

        t = increasing(breaks)
        y = sample_matrices(t.size, samples)
        if isinstance(sample_dot_at_start, bool):
            periodic_end, sample_dot_at_start = sample_dot_at_start, None
        kind: Any = "periodic" if periodic_end or periodic_end_condition else "not-a-knot"
        if sample_dot_at_start is not None:
            ends = [np.asarray(d, dtype=float).reshape(y.shape[1:]) for d in (sample_dot_at_start, sample_dot_at_end)]
            kind = ((1, ends[0]), (1, ends[1]))
        return PiecewisePolynomial._of(t, CubicSpline(t, y, bc_type=kind).c)

    @staticmethod
    def LagrangeInterpolatingPolynomial(times: ArrayLike, samples: Any) -> PiecewisePolynomial:
        """One polynomial through all samples."""
        t = increasing(times)
        y = sample_matrices(t.size, samples)
        powers = np.vander(t - t[0])
        c = np.linalg.solve(powers, y.reshape(t.size, -1)).reshape(t.size, 1, *y.shape[1:])
        return PiecewisePolynomial._of(t[[0, -1]], c)

    # values

    def rows(self) -> int:
        """The number of rows."""
        return self._c.shape[2]

    def cols(self) -> int:
        """The number of columns."""
        return self._c.shape[3]

    def empty(self) -> bool:
        """Whether there is no segment."""
        return not self._breaks

    def value(self, t: float, derivative_order: int = 0) -> Matrix:
        """The value (rows, cols) at a time [s]; before the start that of the start, after the end that of the end."""
        if derivative_order:
            return self.EvalDerivative(t, derivative_order)
        if not self._breaks:
            raise RuntimeError("the trajectory is empty")
        t = min(max(t, self._breaks[0]), self._breaks[-1])
        segment = self.get_segment_index(t)
        start = self._breaks[segment]
        s = t - start if np.isfinite(start) else 0.0
        result = self._c[0, segment]
        for row in self._c[1:]:
            result = result * s + row[segment]
        return np.array(result)

    def has_derivative(self) -> bool:
        """True."""
        return True

    def _derivative(self, order: int) -> PiecewisePolynomial:
        return self.derivative(order)

    def derivative(self, derivative_order: int = 1) -> PiecewisePolynomial:
        """The derivative by time, a curve."""
        c = self._c
        for _ in range(derivative_order):
            degree = len(c) - 1
            powers = np.arange(degree, 0, -1).reshape(-1, 1, 1, 1)
            c = c[:-1] * powers if degree else np.zeros_like(c)
        return self._of(self._breaks, c)

    def integral(self, value_at_start_time: ArrayLike = 0.0) -> PiecewisePolynomial:
        """The integral over time from the start, plus a value."""
        powers = np.arange(len(self._c), 0, -1).reshape(-1, 1, 1, 1)
        c = np.concatenate([self._c / powers, np.zeros((1, *self._c.shape[1:]))])
        c[-1, 0] = value_at_start_time
        for k in range(1, c.shape[1]):
            h = self._breaks[k] - self._breaks[k - 1]
            c[-1, k] = sum(c[-1 - p, k - 1] * h**p for p in range(len(c)))
        return self._of(self._breaks, c)

    def getSegmentPolynomialDegree(self, segment_index: int, row: int = 0, col: int = 0) -> int:
        """The degree of a polynomial."""
        powers = np.flatnonzero(self._c[::-1, segment_index, row, col])
        return int(powers[-1]) if powers.size else 0

    def getPolynomialMatrix(self, segment_index: int) -> Any:
        """numpy.poly1d of the time since the start of a segment (rows, cols)."""
        made = np.empty((self.rows(), self.cols()), dtype=object)
        for i in range(self.rows()):
            for j in range(self.cols()):
                made[i, j] = self.getPolynomial(segment_index, i, j)
        return made

    def getPolynomial(self, segment_index: int, row: int = 0, col: int = 0) -> Any:
        """A numpy.poly1d of the time since the start of a segment."""
        return np.poly1d(self._c[:, self._checked(segment_index), row, col])

    def isApprox(self, other: PiecewisePolynomial, tol: float, tol_type: Any = None) -> bool:
        """Whether the segments and, within a tolerance relative to the largest, the coefficients are equal."""
        if len(self._breaks) != len(other._breaks) or self._c.shape[2:] != other._c.shape[2:]:
            return False
        n = max(len(self._c), len(other._c))
        a, b = (np.concatenate([np.zeros((n - len(c), *c.shape[1:])), c]) for c in (self._c, other._c))
        return np.allclose(self._breaks, other._breaks, rtol=0.0, atol=tol) and bool(
            (abs(a - b) <= tol * max(1.0, np.abs(b).max(initial=0.0))).all()
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewisePolynomial):
            return NotImplemented
        return self._breaks == other._breaks and np.array_equal(self._c, other._c)

    __hash__ = None  # type: ignore[assignment]

    # changes

    def AppendFirstOrderSegment(self, time: float, sample: ArrayLike) -> None:
        """A straight line to a sample at a later time; a curve without segments starts there."""
        self._append(time, sample, lambda h, start, end: [(end - start) / h, start])

    def AppendCubicHermiteSegment(self, time: float, sample: ArrayLike, sample_dot: ArrayLike) -> None:
        """A cubic to a sample with its derivative at a later time."""
        end_dot = np.asarray(sample_dot, dtype=float).reshape(self.rows(), self.cols())
        start_dot = self.derivative().value(self._breaks[-1])

        def cubic(h: float, start: FloatArray, end: FloatArray) -> list[FloatArray]:
            slope = (end - start) / h
            c3 = (start_dot + end_dot - 2.0 * slope) / (h * h)
            return [c3, (slope - start_dot) / h - c3 * h, start_dot, start]

        self._append(time, sample, cubic)

    def _append(self, time: float, sample: ArrayLike, powers: Any) -> None:
        end = np.asarray(sample, dtype=float)
        end = end.reshape(-1, 1) if end.ndim < 2 else end
        if not self._breaks:
            raise RuntimeError("a segment is appended to a curve that has one")
        if not time > self._breaks[-1]:
            raise RuntimeError(f"time {time} is not after the end {self._breaks[-1]}")
        new = np.array(powers(time - self._breaks[-1], self.value(self._breaks[-1]), end))[:, None]
        n = max(len(new), len(self._c))
        parts = [np.concatenate([np.zeros((n - len(c), *c.shape[1:])), c]) for c in (self._c, new)]
        self._c, self._breaks = np.concatenate(parts, axis=1), [*self._breaks, float(time)]

    def ConcatenateInTime(self, other: PiecewisePolynomial) -> None:
        """Appends the segments of a curve that starts where this one ends."""
        if not abs(other._breaks[0] - self._breaks[-1]) <= 1e-10:
            raise RuntimeError(f"the other curve starts at {other._breaks[0]}, this one ends at {self._breaks[-1]}")
        n = max(len(self._c), len(other._c))
        parts = [np.concatenate([np.zeros((n - len(c), *c.shape[1:])), c]) for c in (self._c, other._c)]
        self._c, self._breaks = np.concatenate(parts, axis=1), self._breaks + other._breaks[1:]

    def RemoveFinalSegment(self) -> None:
        """Takes the last segment away."""
        self._c, self._breaks = self._c[:, :-1], self._breaks[:-1]

    def shiftRight(self, offset: float) -> None:
        """Adds to all times [s]."""
        self._breaks = [t + offset for t in self._breaks]

    def ScaleTime(self, scale: float) -> None:
        """Multiplies all times by a positive number."""
        if not scale > 0.0:
            raise RuntimeError(f"the scale must be positive, it is {scale}")
        self._breaks = [t * scale for t in self._breaks]
        powers = np.arange(len(self._c) - 1, -1, -1).reshape(-1, 1, 1, 1)
        self._c = self._c / float(scale) ** powers

    def ReverseTime(self) -> None:
        """t becomes -t."""
        new = np.zeros_like(self._c)
        degree = len(self._c) - 1
        for k in range(self.get_number_of_segments()):
            h = self._breaks[k + 1] - self._breaks[k]
            for i, j in np.ndindex(self.rows(), self.cols()):
                turned = np.poly1d(self._c[:, k, i, j])(np.poly1d([-1.0, h])).coeffs
                new[degree + 1 - len(turned) :, k, i, j] = turned
        self._c, self._breaks = new[:, ::-1], [-t for t in reversed(self._breaks)]

    def slice(self, start_segment_index: int, num_segments: int) -> PiecewisePolynomial:
        """Some of the segments."""
        end = start_segment_index + num_segments
        return self._of(self._breaks[start_segment_index : end + 1], self._c[:, start_segment_index:end])

    def Reshape(self, rows: int, cols: int) -> None:
        """Other numbers of rows and columns; elements are taken by columns."""
        self._c = self._c.transpose(0, 1, 3, 2).reshape(*self._c.shape[:2], cols, rows).transpose(0, 1, 3, 2)

    def Transpose(self) -> PiecewisePolynomial:
        """The curve of the transposed matrices."""
        return self._of(self._breaks, self._c.transpose(0, 1, 3, 2))

    def Block(self, start_row: int, start_col: int, block_rows: int, block_cols: int) -> PiecewisePolynomial:
        """The curve of a part of the matrices."""
        rows, cols = slice(start_row, start_row + block_rows), slice(start_col, start_col + block_cols)
        return self._of(self._breaks, self._c[:, :, rows, cols])

    def _combined(self, other: Any, sign: float) -> PiecewisePolynomial:
        if not isinstance(other, PiecewisePolynomial):
            c = self._c.copy()
            c[-1] += sign * np.asarray(other, dtype=float)
            return self._of(self._breaks, c)
        if self._breaks != other._breaks:
            raise RuntimeError("curves with other breaks cannot be added")
        n = max(len(self._c), len(other._c))
        a, b = (np.concatenate([np.zeros((n - len(c), *c.shape[1:])), c]) for c in (self._c, other._c))
        return self._of(self._breaks, a + sign * b)

    def __add__(self, other: Any) -> PiecewisePolynomial:
        return self._combined(other, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> PiecewisePolynomial:
        return self._combined(other, -1.0)

    def __neg__(self) -> PiecewisePolynomial:
        return self._of(self._breaks, -self._c)

    def __mul__(self, factor: float) -> PiecewisePolynomial:
        return self._of(self._breaks, self._c * float(factor))

    __rmul__ = __mul__

    def Clone(self) -> PiecewisePolynomial:
        """An independent copy."""
        return self._of(self._breaks, self._c.copy())


def _powers(polynomial: Any) -> FloatArray:
    """Coefficients, the highest power first."""
    coefficients = getattr(polynomial, "coeffs", None) if isinstance(polynomial, np.poly1d) else None
    if coefficients is None and hasattr(polynomial, "all_coeffs"):  # of SymPy
        coefficients = polynomial.all_coeffs()
    return np.atleast_1d(np.asarray(polynomial if coefficients is None else coefficients, dtype=float))


