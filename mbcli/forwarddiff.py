"""Derivatives of functions by AutoDiffXd, under the names of pydrake.forwarddiff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import AutoDiffXd
from mbcli.math.elementary import cos, sin

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray

__all__ = ["cos", "derivative", "gradient", "jacobian", "sin"]


def derivative(function: Callable[[Any], Any], x: float) -> float:
    """The derivative of a function of one number at x."""
    return float(_slopes(function(AutoDiffXd(float(x), 1, 0)), 1)[0])


def gradient(function: Callable[[Any], Any], x: ArrayLike) -> FloatArray:
    """The gradient (n,) of a function of a vector at x (n,). AssertionError unless its result is one number."""
    result = np.asarray(function(_variables(x)), dtype=object)
    assert result.size == 1 and result.ndim <= 1, "The result must be of a scalar or a vector of size 1"
    return _slopes(result.item(), np.size(x))


def jacobian(function: Callable[[Any], Any], x: ArrayLike) -> FloatArray:
    """The derivatives, of the shape of the result and then (n,), of a function of a vector at x (n,)."""
    result = np.asarray(function(_variables(x)), dtype=object)
    rows = [_slopes(y, np.size(x)) for y in result.flat]
    return np.array(rows, dtype=float).reshape(*result.shape, np.size(x))


def _variables(x: ArrayLike) -> Any:
    values = np.asarray(x, dtype=float)
    assert values.ndim == 1, "x must be a vector"
    variables = np.empty(values.size, dtype=object)
    variables[:] = [AutoDiffXd(value, values.size, k) for k, value in enumerate(values)]
    return variables


def _slopes(y: Any, n: int) -> FloatArray:
    found = y.derivatives() if isinstance(y, AutoDiffXd) else np.zeros(0)
    return found if found.size else np.zeros(n)
