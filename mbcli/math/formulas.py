"""Comparisons of arrays, element by element: formulas where symbolic expressions are among them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import Array


def _elementwise(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Array:
    left, right = np.broadcast_arrays(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
    result = np.empty(left.shape, dtype=object)
    for place in np.ndindex(left.shape):
        result[place] = compare(left[place], right[place])
    return result


def _equation(a: Any, b: Any) -> Any:
    if not (hasattr(a, "free_symbols") or hasattr(b, "free_symbols")):
        return a == b
    import sympy  # there, since one of them is an expression of it

    return sympy.Eq(a, b) if a == b else sympy.Eq(a, b, evaluate=False)  # whether it can hold takes long to decide


def _inequality(a: Any, b: Any) -> Any:
    if not (hasattr(a, "free_symbols") or hasattr(b, "free_symbols")):
        return a != b
    import sympy

    return sympy.Ne(a, b)


def eq(a: Any, b: Any) -> Array:
    """a == b, as an array of objects: of equations where expressions are compared."""
    return _elementwise(_equation, a, b)


def ne(a: Any, b: Any) -> Array:
    """a != b, as an array of objects: of inequalities where expressions are compared."""
    return _elementwise(_inequality, a, b)


def le(a: Any, b: Any) -> Array:
    """a <= b, as an array of objects."""
    return _elementwise(operator.le, a, b)


def lt(a: Any, b: Any) -> Array:
    """a < b, as an array of objects."""
    return _elementwise(operator.lt, a, b)


def ge(a: Any, b: Any) -> Array:
    """a >= b, as an array of objects."""
    return _elementwise(operator.ge, a, b)


def gt(a: Any, b: Any) -> Array:
    """a > b, as an array of objects."""
    return _elementwise(operator.gt, a, b)
