"""Gradients by differences, under the names of pydrake.math."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.numbered_enum import NumberedEnum

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class NumericalGradientMethod(NumberedEnum):
    """On which sides of a point a function is asked."""

    kForward = 0
    kBackward = 1
    kCentral = 2


@dataclass
class NumericalGradientOption:
    """How gradients are computed: the method, and how exact the function's values are."""

    method: NumericalGradientMethod
    function_accuracy: float = 1e-15


def ComputeNumericalGradient(
    calc_func: Callable[[Any], Any],
    x: ArrayLike,
    option: NumericalGradientOption | None = None,
) -> FloatArray:
    """Derivatives (m, n) of a function of x (n,) by differences, forward ones if no option is given.

    The distance is the root, for central differences the cubic root, of the function's accuracy, relative to x or 1.
    """
    x = np.asarray(x, dtype=float).reshape(-1)
    option = NumericalGradientOption(NumericalGradientMethod.kForward) if option is None else option
    method, central = option.method, option.method is NumericalGradientMethod.kCentral
    distances = option.function_accuracy ** (1.0 / 3.0 if central else 0.5) * np.maximum(np.abs(x), 1.0)
    ahead = distances if method is not NumericalGradientMethod.kBackward else 0.0 * x
    behind = distances if method is not NumericalGradientMethod.kForward else 0.0 * x
    columns = []
    for k in range(x.size):
        a, b = x.copy(), x.copy()
        a[k] += ahead[k]
        b[k] -= behind[k]
        rise = np.asarray(calc_func(a), dtype=float).reshape(-1) - np.asarray(calc_func(b), dtype=float).reshape(-1)
        columns.append(rise / (a[k] - b[k]))
    return np.array(columns).T
