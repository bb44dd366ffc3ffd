"""Bases of B-splines, under the names of pydrake.math."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.numbered_enum import NumberedEnum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class KnotVectorType(NumberedEnum):
    """How knots are placed: at equal distances, or with the ends repeated so that a curve starts and ends at points."""

    kUniform = 0
    kClampedUniform = 1


class BsplineBasis:
    """Basis functions of an order (degree + 1) over knots: BsplineBasis(order, knots), or with their number.

    RuntimeError for too few knots, or if they decrease.
    """

    def __init__(
        self,
        order: int = 0,
        knots: Any = (),
        type: KnotVectorType = KnotVectorType.kClampedUniform,
        initial_parameter_value: float = 0.0,
        final_parameter_value: float = 1.0,
        *,
        num_basis_functions: int | None = None,
    ) -> None:
        if num_basis_functions is not None or isinstance(knots, (int, np.integer)):
            count = int(knots if num_basis_functions is None else num_basis_functions)
            knots = _knots(order, count, type, initial_parameter_value, final_parameter_value)
        self._order, self._knots = int(order), np.array(knots, dtype=float)
        if self._knots.size < 2 * self._order:
            raise RuntimeError(f"{self._knots.size} knots are too few for order {self._order}")
        if not (np.diff(self._knots) >= 0.0).all():
            raise RuntimeError(f"knots must not decrease, they are {self._knots}")

    def order(self) -> int:
        """The degree plus 1."""
        return self._order

    def degree(self) -> int:
        """Of the polynomials."""
        return self._order - 1

    def num_basis_functions(self) -> int:
        """The number of control points of a curve."""
        return int(self._knots.size) - self._order

    def knots(self) -> list[float]:
        """The knots."""
        return self._knots.tolist()

    def initial_parameter_value(self) -> float:
        """Where curves start."""
        return float(self._knots[self._order - 1])

    def final_parameter_value(self) -> float:
        """Where curves end."""
        return float(self._knots[self.num_basis_functions()])

    def EvaluateCurve(self, control_points: ArrayLike, parameter_value: float) -> FloatArray:
        """The point of a curve with control points, one each row or entry."""
        from scipy.interpolate import BSpline

        return BSpline(self._knots, np.asarray(control_points, dtype=float), self.degree())(parameter_value)

    def EvaluateBasisFunctionI(self, i: int, parameter_value: float) -> float:
        """The value of a basis function."""
        return float(self.EvaluateCurve(np.eye(self.num_basis_functions())[i], parameter_value))


def _knots(order: int, count: int, kind: KnotVectorType, start: float, end: float) -> FloatArray:
    if count < order:
        raise RuntimeError(f"{count} basis functions are too few for order {order}")
    step = (end - start) / (count - order + 1)
    knots = start + step * (np.arange(count + order) - (order - 1))
    return np.asarray(np.clip(knots, start, end) if kind is KnotVectorType.kClampedUniform else knots, dtype=float)
