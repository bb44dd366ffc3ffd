"""Elementary functions of numbers of any scalar type and of arrays of them, under the names of pydrake.math.

A float gives a float, an AutoDiffXd its derivatives too, an expression an expression; arrays go element by element.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


def _is_symbolic(x: Any) -> bool:
    return hasattr(x, "free_symbols")


def _of_numbers(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """A function of scalars, for scalars or element by element of arrays that broadcast."""
    if not any(np.ndim(x) for x in given):
        return function(*(x.item() if isinstance(x, (np.ndarray, np.generic)) else x for x in given))
    arrays = np.broadcast_arrays(*(np.asarray(x) for x in given))
    result = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(result.shape):
        result[place] = function(*(x[place].item() if isinstance(x[place], np.generic) else x[place] for x in arrays))
    return result.astype(float) if all(array.dtype != object for array in arrays) else result


def _unary(name: str, of_floats: Callable[[float], float], method: str, doc: str) -> Callable[[Any], Any]:
    def of_scalar(x: Any) -> Any:
        if _is_symbolic(x):
            from mbcli import symbolic

            return getattr(symbolic, name)(x)
        return getattr(x, method)() if hasattr(x, method) else of_floats(x)

    def function(x: Any) -> Any:
        return _of_numbers(of_scalar, (x,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


log = _unary("log", math.log, "log", "The natural logarithm.")
exp = _unary("exp", math.exp, "exp", "The exponential function.")
sqrt = _unary("sqrt", math.sqrt, "sqrt", "The square root.")
sin = _unary("sin", math.sin, "sin", "The sine of an angle [rad].")
cos = _unary("cos", math.cos, "cos", "The cosine of an angle [rad].")
tan = _unary("tan", math.tan, "tan", "The tangent of an angle [rad].")
asin = _unary("asin", math.asin, "arcsin", "The angle [rad] in [-pi/2, pi/2] of a sine.")
acos = _unary("acos", math.acos, "arccos", "The angle [rad] in [0, pi] of a cosine.")
atan = _unary("atan", math.atan, "arctan", "The angle [rad] in (-pi/2, pi/2) of a tangent.")
sinh = _unary("sinh", math.sinh, "sinh", "The hyperbolic sine.")
cosh = _unary("cosh", math.cosh, "cosh", "The hyperbolic cosine.")
tanh = _unary("tanh", math.tanh, "tanh", "The hyperbolic tangent.")
arcsin, arccos, arctan = asin, acos, atan


def _whole(name: str, of_floats: Callable[[float], int], doc: str) -> Callable[[Any], Any]:
    """Functions without derivatives, which are those of values."""

    def of_scalar(x: Any) -> Any:
        if _is_symbolic(x):
            from mbcli import symbolic

            return getattr(symbolic, name)(x)
        return float(of_floats(x.value() if hasattr(x, "derivatives") else x))

    def function(x: Any) -> Any:
        return _of_numbers(of_scalar, (x,))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


ceil = _whole("ceil", math.ceil, "The smallest integer that is not less, a float.")
floor = _whole("floor", math.floor, "The largest integer that is not more, a float.")


def abs(x: Any) -> Any:  # noqa: A001  (pydrake's name)
    """The absolute value."""
    return _of_numbers(operator.abs, (x,))


def isnan(x: Any) -> Any:
    """Whether a number is not a number."""
    return _of_numbers(lambda each: math.isnan(each.value() if hasattr(each, "derivatives") else each), (x,))


def pow(base: Any, exponent: Any) -> Any:  # noqa: A001  (pydrake's name)
    """A power."""
    return _of_numbers(operator.pow, (base, exponent))


def atan2(y: Any, x: Any) -> Any:
    """The angle [rad] of the point (x, y)."""
    return _of_numbers(_atan2, (y, x))


def _atan2(y: Any, x: Any) -> Any:
    if _is_symbolic(y) or _is_symbolic(x):
        from mbcli import symbolic

        return symbolic.atan2(y, x)
    if hasattr(y, "arctan2"):
        return y.arctan2(x)
    return type(x)(y).arctan2(x) if hasattr(x, "arctan2") else math.atan2(y, x)


arctan2 = atan2


def min(a: Any, b: Any) -> Any:  # noqa: A001  (pydrake's name)
    """The smaller one; the first of two that are equal."""
    return _of_numbers(lambda x, y: _chosen("min", x, y, operator.le), (a, b))


def max(a: Any, b: Any) -> Any:  # noqa: A001  (pydrake's name)
    """The larger one; the first of two that are equal."""
    return _of_numbers(lambda x, y: _chosen("max", x, y, operator.ge), (a, b))


def _chosen(name: str, a: Any, b: Any, comes_first: Callable[[Any, Any], bool]) -> Any:
    if _is_symbolic(a) or _is_symbolic(b):
        from mbcli import symbolic

        return getattr(symbolic, name)(a, b)
    chosen, other = (a, b) if comes_first(a, b) else (b, a)
    return type(other)(chosen) if hasattr(other, "derivatives") and not hasattr(chosen, "derivatives") else chosen


def inv(X: Any) -> Any:
    """The inverse of a matrix of numbers of any scalar type."""
    matrix = np.asarray(X)
    if matrix.dtype != object:
        return np.linalg.inv(matrix)
    if any(_is_symbolic(x) for x in matrix.flat):
        import sympy

        return np.array(sympy.Matrix(matrix.tolist()).inv().tolist(), dtype=object)
    return _inverse_of_dual_numbers(matrix)


def _inverse_of_dual_numbers(matrix: Any) -> Any:
    """By the inverse of the values: dY = -Y dX Y."""
    from mbcli.autodiffutils import AutoDiffXd, ExtractGradient, ExtractValue

    value = np.linalg.inv(ExtractValue(matrix))
    gradient = ExtractGradient(matrix)  # (n * n, variables), by columns
    n = len(value)
    slopes = [-(value @ gradient[:, k].reshape(n, n, order="F") @ value) for k in range(gradient.shape[1])]
    result = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        result[i, j] = AutoDiffXd(float(value[i, j]), [slope[i, j] for slope in slopes])
    return result


def logical_or(a: Any, b: Any) -> Any:
    """Whether one of two holds; a formula of formulas."""
    return _of_numbers(operator.or_, (a, b))


def logical_and(a: Any, b: Any) -> Any:
    """Whether both hold; a formula of formulas."""
    return _of_numbers(operator.and_, (a, b))
