"""Numbers that carry their derivatives, under the names of pydrake.autodiffutils."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.array_arguments import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray

__all__ = [
    "AutoDiffXd",
    "ExtractGradient",
    "ExtractValue",
    "InitializeAutoDiff",
    "InitializeAutoDiffTuple",
    "autodiff_equal_to",
]

NONE = np.zeros(0)
NONE.flags.writeable = False


class AutoDiffXd:
    """A real number and its gradient by n variables: first derivatives are exact, to rounding.

    A gradient without elements belongs to a constant and goes with gradients of every size; two other sizes do not
    mix (RuntimeError). Comparisons look at values alone. Out of its domain a function is nan or infinite, as of floats
    in NumPy and as in pydrake. Powers, functions and numpy's sin, cos, sqrt, ... of object
    arrays work; it does not turn into a float by itself.

    Args:
        value: a number.
        derivatives: (n,); none if not given. AutoDiffXd(value, size, offset) is variable `offset` of `size`.
    """

    # The value, which kernels ask for that decide by a number, and the array (n,) itself, never changed in place.
    __slots__ = ("real", "gradient")

    def __init__(
        self, value: float, derivatives: Any = (), offset: int | None = None, *, size: int | None = None
    ) -> None:
        self.real = float(value)
        if size is not None:
            derivatives = size
        if offset is not None:
            if not 0 <= offset < derivatives:
                raise RuntimeError(f"AutoDiffXd: there is no variable {offset} among {derivatives}")
            gradient = np.zeros(derivatives)
            gradient[offset] = 1.0
            self.gradient = gradient
            return
        gradient = np.array(derivatives, dtype=float)
        if gradient.ndim != 1:
            raise TypeError(f"AutoDiffXd: derivatives are a vector, not {describe(gradient)}")
        self.gradient = gradient if gradient.size else NONE

    @classmethod
    def _of(cls, value: float, derivatives: FloatArray) -> AutoDiffXd:
        number = object.__new__(cls)
        number.real, number.gradient = value, derivatives
        return number

    def value(self) -> float:
        """The value, a float without derivatives."""
        return self.real

    def derivatives(self) -> FloatArray:
        """A copy of the gradient, (n,)."""
        return self.gradient.copy()

    def __repr__(self) -> str:
        return f"<AutoDiffXd {self.real!r} nderiv={self.gradient.size}>"

    def __str__(self) -> str:
        return f"AD{{{self.real}, nderiv={self.gradient.size}}}"

    def __hash__(self) -> int:
        return hash((self.real, self.gradient.tobytes()))

    def __bool__(self) -> bool:
        return self.real != 0.0

    # arithmetic

    def __add__(self, other: Any) -> AutoDiffXd:
        if type(other) is AutoDiffXd:
            return self._of(self.real + other.real, _sum(self.gradient, other.gradient))
        number = _real(other)
        return NotImplemented if number is None else self._of(self.real + number, self.gradient)

    __radd__ = __add__

    def __neg__(self) -> AutoDiffXd:
        return self._of(-self.real, -self.gradient)

    def __pos__(self) -> AutoDiffXd:
        return self

    def __sub__(self, other: Any) -> AutoDiffXd:
        if type(other) is AutoDiffXd:
            return self._of(self.real - other.real, _sum(self.gradient, -other.gradient))
        number = _real(other)
        return NotImplemented if number is None else self._of(self.real - number, self.gradient)

    def __rsub__(self, other: Any) -> AutoDiffXd:
        number = _real(other)
        return NotImplemented if number is None else self._of(number - self.real, -self.gradient)

    def __mul__(self, other: Any) -> AutoDiffXd:
        if type(other) is AutoDiffXd:
            gradient = _sum(other.real * self.gradient, self.real * other.gradient)
            return self._of(self.real * other.real, gradient)
        number = _real(other)
        return NotImplemented if number is None else self._of(self.real * number, number * self.gradient)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> AutoDiffXd:
        if type(other) is AutoDiffXd:
            if other.real == 0.0:
                with np.errstate(all="ignore"):
                    gradient = _sum(other.real * self.gradient, -self.real * other.gradient) / other.real**2
                return self._of(_ratio(self.real, other.real), gradient)
            ratio = self.real / other.real
            return self._of(ratio, _sum(self.gradient, -ratio * other.gradient) / other.real)
        number = _real(other)
        if number == 0.0:
            return self._chain(_ratio(self.real, number), _ratio(1.0, number))
        return NotImplemented if number is None else self._of(self.real / number, self.gradient / number)

    def __rtruediv__(self, other: Any) -> AutoDiffXd:
        number = _real(other)
        if number is None:
            return NotImplemented
        ratio = _ratio(number, self.real)
        return self._chain(ratio, -_ratio(ratio, self.real))

    def __pow__(self, exponent: float) -> AutoDiffXd:
        if type(exponent) is AutoDiffXd:
            return (exponent * self.log()).exp()
        number = _real(exponent)
        if number is None:
            return NotImplemented
        if number == 0.0:
            return self._of(1.0, 0.0 * self.gradient)
        return self._chain(_power(self.real, number), number * _power(self.real, number - 1.0))

    def __rpow__(self, base: float) -> AutoDiffXd:
        number = _real(base)
        return NotImplemented if number is None else (self * _at(math.log, np.log, number)).exp()

    def __abs__(self) -> AutoDiffXd:
        return -self if self.real < 0.0 else self

    def __ceil__(self) -> float:
        return float(np.ceil(self.real))

    def __floor__(self) -> float:
        return float(np.floor(self.real))

    # comparisons of values

    def __eq__(self, other: Any) -> bool:
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other: Any) -> bool:
        return self._compare(other, lambda a, b: a != b)

    def __lt__(self, other: Any) -> bool:
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> bool:
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> bool:
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> bool:
        return self._compare(other, lambda a, b: a >= b)

    def _compare(self, other: Any, holds: Callable[[float, float], bool]) -> bool:
        number = other.real if type(other) is AutoDiffXd else _real(other)
        return NotImplemented if number is None else holds(self.real, number)

    # functions, which numpy calls by name on object arrays

    def _chain(self, value: float, slope: float) -> AutoDiffXd:
        return self._of(value, _scaled(self.gradient, slope))

    def sin(self) -> AutoDiffXd:
        """The sine of an angle [rad]."""
        return self._chain(_at(math.sin, np.sin, self.real), _at(math.cos, np.cos, self.real))

    def cos(self) -> AutoDiffXd:
        """The cosine of an angle [rad]."""
        return self._chain(_at(math.cos, np.cos, self.real), -_at(math.sin, np.sin, self.real))

    def tan(self) -> AutoDiffXd:
        """The tangent of an angle [rad]."""
        tangent = _at(math.tan, np.tan, self.real)
        return self._chain(tangent, 1.0 + tangent * tangent)

    def arcsin(self) -> AutoDiffXd:
        """The angle [rad] in [-pi/2, pi/2] of a sine; nan beyond -1 and 1."""
        return self._chain(_at(math.asin, np.arcsin, self.real), _ratio(1.0, _root(1.0 - self.real * self.real)))

    def arccos(self) -> AutoDiffXd:
        """The angle [rad] in [0, pi] of a cosine; nan beyond -1 and 1."""
        return self._chain(_at(math.acos, np.arccos, self.real), -_ratio(1.0, _root(1.0 - self.real * self.real)))

    def arctan(self) -> AutoDiffXd:
        """The angle [rad] in (-pi/2, pi/2) of a tangent."""
        return self._chain(math.atan(self.real), 1.0 / (1.0 + self.real * self.real))

    def arctan2(self, other: Any) -> AutoDiffXd:
        """Angle [rad] of the point (other, self)."""
        y, x = self, other if type(other) is AutoDiffXd else AutoDiffXd(other)
        square = x.real * x.real + y.real * y.real
        by_y, by_x = _ratio(x.real, square), -_ratio(y.real, square)
        gradient = _sum(_scaled(y.gradient, by_y), _scaled(x.gradient, by_x))
        return self._of(math.atan2(y.real, x.real), gradient)

    def exp(self) -> AutoDiffXd:
        """The exponential function."""
        power = _at(math.exp, np.exp, self.real)
        return self._chain(power, power)

    def log(self) -> AutoDiffXd:
        """The natural logarithm; -inf of 0, nan of what is negative."""
        return self._chain(_at(math.log, np.log, self.real), _ratio(1.0, self.real))

    def sqrt(self) -> AutoDiffXd:
        """The square root; nan if the value is negative."""
        root = _root(self.real)
        if self.gradient.size == 0:
            return self._of(root, NONE)
        return self._chain(root, 0.5 / root if root else math.inf)

    def sinh(self) -> AutoDiffXd:
        """The hyperbolic sine."""
        return self._chain(_at(math.sinh, np.sinh, self.real), _at(math.cosh, np.cosh, self.real))

    def cosh(self) -> AutoDiffXd:
        """The hyperbolic cosine."""
        return self._chain(_at(math.cosh, np.cosh, self.real), _at(math.sinh, np.sinh, self.real))

    def tanh(self) -> AutoDiffXd:
        """The hyperbolic tangent."""
        tangent = math.tanh(self.real)
        return self._chain(tangent, 1.0 - tangent * tangent)

    asin, acos, atan = arcsin, arccos, arctan

    def abs(self) -> AutoDiffXd:
        """The absolute value."""
        return self._chain(math.fabs(self.real), math.copysign(1.0, self.real))

    def pow(self, exponent: Any) -> Any:
        """A power."""
        return self**exponent

    def min(self, other: Any) -> Any:
        """The smaller of both."""
        return self if self <= other else other

    def max(self, other: Any) -> Any:
        """The larger of both."""
        return self if self >= other else other

    def floor(self) -> float:
        """The largest whole number that is not larger, without derivatives."""
        return float(np.floor(self.real))

    def ceil(self) -> float:
        """The smallest whole number that is not smaller, without derivatives."""
        return float(np.ceil(self.real))


def _at(function: Callable[[float], float], numpys: Any, x: float) -> float:
    """function(x), or where it has no finite value the one of NumPy's, which is none or infinite."""
    try:
        return function(x)
    except (ValueError, OverflowError):
        with np.errstate(all="ignore"):
            return float(numpys(x))


def _scaled(gradient: FloatArray, slope: float) -> FloatArray:
    if math.isfinite(slope):
        return slope * gradient
    with np.errstate(invalid="ignore"):
        return slope * gradient


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else math.nan


def _ratio(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _power(base: float, exponent: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(base) ** exponent)


def _real(other: Any) -> float | None:
    """A plain number as a float, None for everything else."""
    if type(other) is float:
        return other
    return float(other) if isinstance(other, (int, float, np.integer, np.floating)) else None


def _sum(a: FloatArray, b: FloatArray) -> FloatArray:
    if a.size == 0:
        return b
    if b.size == 0:
        return a
    if a.size != b.size:
        raise RuntimeError(f"AutoDiffXd: gradients by {a.size} and by {b.size} variables do not mix")
    return a + b


def autodiff_equal_to(a: Any, b: Any, *, semantic: bool = False) -> Any:
    """Whether numbers, or elements of arrays, have the same values and derivatives.

    semantic: derivatives that are not there count as zero. AssertionError for other types.
    """
    x, y = np.broadcast_arrays(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
    result = np.empty(x.shape, dtype=bool)
    for place in np.ndindex(x.shape):
        result[place] = _have_same_derivatives(x[place], y[place], semantic)
    return result if result.shape else bool(result)


def _have_same_derivatives(x: Any, y: Any, semantic: bool) -> bool:
    assert isinstance(x, AutoDiffXd) and isinstance(y, AutoDiffXd), f"{x!r} and {y!r} are not two AutoDiffXd"
    if x.real != y.real:
        return False
    if semantic and 0 in (x.gradient.size, y.gradient.size):
        return not (x.gradient.any() or y.gradient.any())
    return np.array_equal(x.gradient, y.gradient)


def InitializeAutoDiff(
    value: ArrayLike, num_derivatives: Any = None, deriv_num_start: int = 0, *, gradient: ArrayLike | None = None
) -> Array:
    """An object array of AutoDiffXd from an array of numbers; a vector comes back as a column (n, 1), as in pydrake.

    Element k (in the order of columns, as for matrices in pydrake) is variable deriv_num_start + k of num_derivatives,
    or has row k of `gradient` (size, n), which may be the second argument.
    """
    value = np.asarray(value, dtype=float)
    if np.ndim(num_derivatives) == 2:  # InitializeAutoDiff(value, gradient)
        gradient, num_derivatives = num_derivatives, None
    if gradient is None:
        n = deriv_num_start + value.size if num_derivatives is None else num_derivatives
        if deriv_num_start + value.size > n:
            raise RuntimeError(f"InitializeAutoDiff: {value.size} variables from {deriv_num_start} are more than {n}")
        gradient = np.eye(value.size, n, deriv_num_start)
    gradient = np.asarray(gradient, dtype=float)
    if gradient.ndim != 2 or gradient.shape[0] != value.size:
        raise RuntimeError(f"InitializeAutoDiff: {value.size} numbers need as many rows, got {describe(gradient)}")
    numbers = [AutoDiffXd(x, row) for x, row in zip(value.ravel(order="F"), gradient, strict=True)]
    result = np.empty(len(numbers), dtype=object)
    result[:] = numbers
    return result.reshape(_as_matrix(value.shape), order="F")


def InitializeAutoDiffTuple(*args: ArrayLike) -> tuple[Array, ...]:
    """InitializeAutoDiff() of several arrays, whose numbers are variables one after another: gradients are by all."""
    values = [np.asarray(value, dtype=float) for value in args]
    total, start, result = sum(value.size for value in values), 0, []
    for value in values:
        result.append(InitializeAutoDiff(value, total, start))
        start += value.size
    return tuple(result)


def _as_matrix(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an array as that of a matrix: a vector is a column."""
    return shape if len(shape) == 2 else (int(np.prod(shape)), 1)


def ExtractValue(auto_diff_matrix: Array | ArrayLike) -> FloatArray:
    """The values as a matrix of floats; a vector comes back as a column (n, 1), as in pydrake."""
    numbers = np.asarray(auto_diff_matrix, dtype=object)
    values = [x.value() if isinstance(x, AutoDiffXd) else float(x) for x in numbers.flat]
    return np.array(values, dtype=float).reshape(_as_matrix(numbers.shape))


def ExtractGradient(auto_diff_matrix: Array | ArrayLike, num_derivatives: int | None = None) -> FloatArray:
    """The gradients as rows (size, n), in the order of columns; zero for constants.

    RuntimeError if gradients have different sizes, or another one than num_derivatives.
    """
    numbers = np.asarray(auto_diff_matrix, dtype=object).ravel(order="F")
    gradients = [x.gradient if isinstance(x, AutoDiffXd) else NONE for x in numbers]
    sizes = {g.size for g in gradients} - {0}
    if num_derivatives is not None:
        sizes.add(num_derivatives)
    if len(sizes) > 1:
        raise RuntimeError(f"ExtractGradient: gradients have different sizes {sorted(sizes)}")
    rows = np.zeros((len(numbers), sizes.pop() if sizes else 0))
    for row, gradient in zip(rows, gradients, strict=True):
        if gradient.size:
            row[:] = gradient
    return rows
