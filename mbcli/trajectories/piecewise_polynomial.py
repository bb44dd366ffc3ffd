"""PiecewisePolynomial: matrices of polynomials of time, one for each segment."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.polynomial import Polynomial
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

    __fields__ = (  # for mbcli.common.yaml
        SimpleNamespace(name="breaks", type=list[float]),
        SimpleNamespace(name="polynomials", type=list[np.ndarray]),
    )

    def __init__(self, constant: ArrayLike | None = None, breaks: Sequence[float] | None = None) -> None:
        self.breaks: list[float] = []
        self.coefficients = np.zeros((1, 0, 0, 0))  # (degree + 1, segments, rows, cols), the highest power first
        if breaks is not None:
            self._take_polynomials(constant, breaks)
        elif constant is not None:
            value = np.atleast_1d(np.array(constant, dtype=float))
            value = value.reshape(-1, 1) if value.ndim == 1 else value
            self.breaks, self.coefficients = [-np.inf, np.inf], value.reshape(1, 1, *value.shape)

    @property
    def polynomials(self) -> list[FloatArray]:
        """Coefficients of each segment (rows, cols, degree + 1), the lowest power first."""
        return list(np.moveaxis(self.coefficients[::-1], 0, 3))

    @polynomials.setter
    def polynomials(self, segments: Sequence[ArrayLike]) -> None:
        if len(segments) != 0:
            self.coefficients = np.ascontiguousarray(np.moveaxis(np.array(segments, dtype=float), 3, 0)[::-1])

    def _take_polynomials(self, segments: Any, breaks: Sequence[float]) -> None:
        """Of matrices of polynomials of one variable, as polynomial.Polynomial, SymPy's or numpy.poly1d."""
        matrices = [np.atleast_2d(np.asarray(segment, dtype=object)) for segment in segments]
        parts = [[[_powers(p) for p in row] for row in matrix] for matrix in matrices]
        degree = max(len(p) for matrix in parts for row in matrix for p in row)
        full = [[[np.pad(p, (degree - len(p), 0)) for p in row] for row in matrix] for matrix in parts]
        self.breaks, self.coefficients = increasing(breaks).tolist(), np.moveaxis(np.array(full), 3, 0)

    @classmethod
    def of_coefficients(cls, breaks: ArrayLike, c: FloatArray) -> PiecewisePolynomial:
        """The curve of coefficients, the highest power first, as SciPy's PPoly has them."""
        made = cls()
        made.breaks, made.coefficients = [float(t) for t in np.ravel(np.asarray(breaks))], np.ascontiguousarray(c)
        return made

    # constructors

    @staticmethod
    def ZeroOrderHold(breaks: ArrayLike, samples: Any) -> PiecewisePolynomial:
        """Each sample until the next break; the last one is not used."""
        t = increasing(breaks)
        return PiecewisePolynomial.of_coefficients(t, sample_matrices(t.size, samples)[None, :-1])

    @staticmethod
    def FirstOrderHold(breaks: ArrayLike, samples: Any) -> PiecewisePolynomial:
        """Straight lines between samples.

        Args:
          breaks: (n,) [s], increasing.
          samples: (k, n), a column a sample, or n matrices.

        Returns:
          The PiecewisePolynomial.

        Raises:
          RuntimeError: times do not increase, or samples have another number.

        Example:
          >>> PiecewisePolynomial.FirstOrderHold([0.0, 1.0, 2.0], [[0.0, 2.0, 0.0]]).value(0.25)
          array([[0.5]])
        """
        t = increasing(breaks)
        y = sample_matrices(t.size, samples)
        slopes: Any = np.diff(y, axis=0) / np.diff(t)[:, None, None]
        return PiecewisePolynomial.of_coefficients(t, np.stack([slopes, y[:-1]]))

    @staticmethod
    def CubicHermite(breaks: ArrayLike, samples: Any, samples_dot: Any) -> PiecewisePolynomial:
        """Cubics through samples with their derivatives."""
        from scipy.interpolate import CubicHermiteSpline

        t = increasing(breaks)
        spline = CubicHermiteSpline(t, sample_matrices(t.size, samples), sample_matrices(t.size, samples_dot))
        return PiecewisePolynomial.of_coefficients(t, spline.c)

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
        slopes: Any = np.zeros_like(y) if t.size == 2 else PchipInterpolator(t, y).derivative()(t)
        if zero_end_point_derivatives:
            slopes[[0, -1]] = 0.0
        return PiecewisePolynomial.of_coefficients(t, CubicHermiteSpline(t, y, slopes).c)

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
        return PiecewisePolynomial.of_coefficients(t, CubicSpline(t, y, bc_type=kind).c)

    @staticmethod
    def LagrangeInterpolatingPolynomial(times: ArrayLike, samples: Any) -> PiecewisePolynomial:
        """One polynomial through all samples."""
        t = increasing(times)
        y = sample_matrices(t.size, samples)
        powers = np.vander(t - t[0])
        c: Any = np.linalg.solve(powers, y.reshape(t.size, -1)).reshape(t.size, 1, *y.shape[1:])
        return PiecewisePolynomial.of_coefficients(t[[0, -1]], c)

    # values

    def rows(self) -> int:
        """The number of rows."""
        return self.coefficients.shape[2]

    def cols(self) -> int:
        """The number of columns."""
        return self.coefficients.shape[3]

    def empty(self) -> bool:
        """Whether there is no segment."""
        return not self.breaks

    def value(self, t: float, derivative_order: int = 0) -> Matrix:
        """The value at a time; before the start that of the start, after the end that of the end.

        Args:
          t: [s].
          derivative_order: 0 for the value.

        Returns:
          (k, m) of k rows and m columns, in [unit of the samples, by s for each derivative].

        Raises:
          RuntimeError: the trajectory is empty.

        Example:
          >>> PiecewisePolynomial.FirstOrderHold([0.0, 1.0], [[0.0, 2.0]]).value(5.0)
          array([[2.]])
        """
        if derivative_order:
            return self.EvalDerivative(t, derivative_order)
        if not self.breaks:
            raise RuntimeError("the trajectory is empty")
        t = min(max(t, self.breaks[0]), self.breaks[-1])
        segment = self.get_segment_index(t)
        start = self.breaks[segment]
        s = t - start if np.isfinite(start) else 0.0
        result = self.coefficients[0, segment]
        for row in self.coefficients[1:]:
            result = result * s + row[segment]
        return np.array(result)

    def has_derivative(self) -> bool:
        """True."""
        return True

    def _derivative(self, order: int) -> PiecewisePolynomial:
        return self.derivative(order)

    def derivative(self, derivative_order: int = 1) -> PiecewisePolynomial:
        """The derivative by time, a curve."""
        c = self.coefficients
        for _ in range(derivative_order):
            degree = len(c) - 1
            powers = np.arange(degree, 0, -1).reshape(-1, 1, 1, 1)
            c = c[:-1] * powers if degree else np.zeros_like(c)
        return self.of_coefficients(self.breaks, c)

    def integral(self, value_at_start_time: ArrayLike = 0.0) -> PiecewisePolynomial:
        """The integral over time from the start, plus a value."""
        powers = np.arange(len(self.coefficients), 0, -1).reshape(-1, 1, 1, 1)
        c = np.concatenate([self.coefficients / powers, np.zeros((1, *self.coefficients.shape[1:]))])
        c[-1, 0] = value_at_start_time
        for k in range(1, c.shape[1]):
            h = self.breaks[k] - self.breaks[k - 1]
            c[-1, k] = sum(c[-1 - p, k - 1] * h**p for p in range(len(c)))
        return self.of_coefficients(self.breaks, c)

    def getSegmentPolynomialDegree(self, segment_index: int, row: int = 0, col: int = 0) -> int:
        """The degree of a polynomial."""
        powers = np.flatnonzero(self.coefficients[::-1, segment_index, row, col])
        return int(powers[-1]) if powers.size else 0

    def getPolynomialMatrix(self, segment_index: int) -> Any:
        """Polynomial of the time since the start of a segment (rows, cols)."""
        made = np.empty((self.rows(), self.cols()), dtype=object)
        for i in range(self.rows()):
            for j in range(self.cols()):
                made[i, j] = self.getPolynomial(segment_index, i, j)
        return made

    def getPolynomial(self, segment_index: int, row: int = 0, col: int = 0) -> Any:
        """A Polynomial of the time since the start of a segment."""
        return Polynomial(self.coefficients[::-1, self._checked(segment_index), row, col])

    def isApprox(self, other: PiecewisePolynomial, tol: float, tol_type: Any = None) -> bool:
        """Whether the segments and, within a tolerance relative to the largest, the coefficients are equal."""
        if len(self.breaks) != len(other.breaks) or self.coefficients.shape[2:] != other.coefficients.shape[2:]:
            return False
        a, b = _of_one_degree(self.coefficients, other.coefficients)
        return np.allclose(self.breaks, other.breaks, rtol=0.0, atol=tol) and bool(
            (abs(a - b) <= tol * max(1.0, np.abs(b).max(initial=0.0))).all()
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewisePolynomial):
            return NotImplemented
        return self.breaks == other.breaks and np.array_equal(self.coefficients, other.coefficients)

    __hash__ = None  # type: ignore[assignment]

    # changes

    def AppendFirstOrderSegment(self, time: float, sample: ArrayLike) -> None:
        """A straight line to a sample at a later time; a curve without segments starts there."""
        self._append(time, sample, lambda h, start, end: [(end - start) / h, start])

    def AppendCubicHermiteSegment(self, time: float, sample: ArrayLike, sample_dot: ArrayLike) -> None:
        """A cubic to a sample with its derivative at a later time."""
        end_dot = np.asarray(sample_dot, dtype=float).reshape(self.rows(), self.cols())
        start_dot = self.derivative().value(self.breaks[-1])

        def cubic(h: float, start: FloatArray, end: FloatArray) -> list[FloatArray]:
            slope = (end - start) / h
            c3 = (start_dot + end_dot - 2.0 * slope) / (h * h)
            return [c3, (slope - start_dot) / h - c3 * h, start_dot, start]

        self._append(time, sample, cubic)

    def _append(self, time: float, sample: ArrayLike, powers: Any) -> None:
        end = np.asarray(sample, dtype=float)
        end = end.reshape(-1, 1) if end.ndim < 2 else end
        if not self.breaks:
            raise RuntimeError("a segment is appended to a curve that has one")
        if not time > self.breaks[-1]:
            raise RuntimeError(f"time {time} is not after the end {self.breaks[-1]}")
        new = np.array(powers(time - self.breaks[-1], self.value(self.breaks[-1]), end))[:, None]
        parts = _of_one_degree(self.coefficients, new)
        self.coefficients, self.breaks = np.concatenate(parts, axis=1), [*self.breaks, float(time)]

    def ConcatenateInTime(self, other: PiecewisePolynomial) -> None:
        """Appends the segments of a curve that starts where this one ends."""
        if not abs(other.breaks[0] - self.breaks[-1]) <= 1e-10:
            raise RuntimeError(f"the other curve starts at {other.breaks[0]}, this one ends at {self.breaks[-1]}")
        parts = _of_one_degree(self.coefficients, other.coefficients)
        self.coefficients, self.breaks = np.concatenate(parts, axis=1), self.breaks + other.breaks[1:]

    def RemoveFinalSegment(self) -> None:
        """Takes the last segment away."""
        self.coefficients, self.breaks = self.coefficients[:, :-1], self.breaks[:-1]

    def shiftRight(self, offset: float) -> None:
        """Adds to all times [s]."""
        self.breaks = [t + offset for t in self.breaks]

    def ScaleTime(self, scale: float) -> None:
        """Multiplies all times by a positive number."""
        if not scale > 0.0:
            raise RuntimeError(f"the scale must be positive, it is {scale}")
        self.breaks = [t * scale for t in self.breaks]
        powers = np.arange(len(self.coefficients) - 1, -1, -1).reshape(-1, 1, 1, 1)
        self.coefficients = self.coefficients / float(scale) ** powers

    def ReverseTime(self) -> None:
        """t becomes -t."""
        new = np.zeros_like(self.coefficients)
        degree = len(self.coefficients) - 1
        for k in range(self.get_number_of_segments()):
            h = self.breaks[k + 1] - self.breaks[k]
            for i, j in np.ndindex(self.rows(), self.cols()):
                turned = np.poly1d(self.coefficients[:, k, i, j])(np.poly1d([-1.0, h])).coeffs
                new[degree + 1 - len(turned) :, k, i, j] = turned
        self.coefficients, self.breaks = new[:, ::-1], [-t for t in reversed(self.breaks)]

    def slice(self, start_segment_index: int, num_segments: int) -> PiecewisePolynomial:
        """Some of the segments."""
        end = start_segment_index + num_segments
        return self.of_coefficients(
            self.breaks[start_segment_index : end + 1], self.coefficients[:, start_segment_index:end]
        )

    def Reshape(self, rows: int, cols: int) -> None:
        """Other numbers of rows and columns; elements are taken by columns."""
        self.coefficients = (
            self.coefficients.transpose(0, 1, 3, 2)
            .reshape(*self.coefficients.shape[:2], cols, rows)
            .transpose(0, 1, 3, 2)
        )

    def Transpose(self) -> PiecewisePolynomial:
        """The curve of the transposed matrices."""
        return self.of_coefficients(self.breaks, self.coefficients.transpose(0, 1, 3, 2))

    def Block(self, start_row: int, start_col: int, block_rows: int, block_cols: int) -> PiecewisePolynomial:
        """The curve of a part of the matrices."""
        rows, cols = slice(start_row, start_row + block_rows), slice(start_col, start_col + block_cols)
        return self.of_coefficients(self.breaks, self.coefficients[:, :, rows, cols])

    def _combined(self, other: Any, sign: float) -> PiecewisePolynomial:
        if not isinstance(other, PiecewisePolynomial):
            c = self.coefficients.copy()
            c[-1] += sign * np.asarray(other, dtype=float)
            return self.of_coefficients(self.breaks, c)
        if self.breaks != other.breaks:
            raise RuntimeError("curves with other breaks cannot be added")
        a, b = _of_one_degree(self.coefficients, other.coefficients)
        return self.of_coefficients(self.breaks, a + sign * b)

    def __add__(self, other: Any) -> PiecewisePolynomial:
        return self._combined(other, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> PiecewisePolynomial:
        return self._combined(other, -1.0)

    def __neg__(self) -> PiecewisePolynomial:
        return self.of_coefficients(self.breaks, -self.coefficients)

    def __mul__(self, factor: float) -> PiecewisePolynomial:
        return self.of_coefficients(self.breaks, self.coefficients * float(factor))

    __rmul__ = __mul__

    def Clone(self) -> PiecewisePolynomial:
        """An independent copy."""
        return self.of_coefficients(self.breaks, self.coefficients.copy())


def _of_one_degree(*curves: FloatArray) -> list[FloatArray]:
    """Coefficients of several curves with zeros for the powers that one has less than another."""
    n = max(len(c) for c in curves)
    return [np.concatenate([np.zeros((n - len(c), *c.shape[1:])), c]) for c in curves]


def _powers(polynomial: Any) -> FloatArray:
    """Coefficients, the highest power first."""
    if isinstance(polynomial, np.poly1d):
        polynomial = polynomial.coeffs
    elif isinstance(polynomial, Polynomial):
        polynomial = polynomial.GetCoefficients()[::-1]
    elif hasattr(polynomial, "all_coeffs"):  # of SymPy
        polynomial = polynomial.all_coeffs()
    return np.atleast_1d(np.asarray(polynomial, dtype=float))
