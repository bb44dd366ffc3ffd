"""Polynomials of one variable by their coefficients, under the names of pydrake.polynomial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.tolerance_type import ToleranceType
from mbcli.math.array_arguments import describe
from mbcli.math.value_template import ValueTemplate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Vector

__all__ = ["Polynomial", "Polynomial_"]


class Polynomial:
    """c[0] + c[1] x + c[2] x^2 ...

    Args:
        coefficients: (n,), or a number, which is a constant; none: 0.
    """

    __slots__ = ("coefficients_array",)

    def __init__(self, coefficients: ArrayLike = ()) -> None:
        given = np.atleast_1d(np.asarray(coefficients))
        if given.ndim != 1:
            raise TypeError(f"Polynomial: coefficients are a vector, not {describe(given)}")
        self.coefficients_array: Vector = given if given.dtype == object else given.astype(float)

    def GetCoefficients(self) -> Vector:
        """(n,), that of the lowest power first."""
        return self.coefficients_array.copy()

    def GetNumberOfCoefficients(self) -> int:
        """n"""
        return len(self.coefficients_array)

    def GetDegree(self) -> int:
        """The largest power that has a coefficient: n - 1, or 0."""
        return max(len(self.coefficients_array) - 1, 0)

    def IsAffine(self) -> bool:
        """Whether no power above the first has a coefficient."""
        return len(self.coefficients_array) <= 2

    def Derivative(self, derivative_order: int = 1) -> Polynomial:
        """The derivative of an order."""
        c = self.coefficients_array
        for _ in range(derivative_order):
            c = c[1:] * np.arange(1, len(c))
        return Polynomial(c)

    def Integral(self, integration_constant: Any = 0.0) -> Polynomial:
        """The integral that is integration_constant at 0."""
        c = self.coefficients_array
        return Polynomial(np.concatenate([[integration_constant], c / np.arange(1, len(c) + 1)]))

    def EvaluateUnivariate(self, x: Any, derivative_order: int = 0) -> Any:
        """The value at x, or that of a derivative."""
        value: Any = 0.0
        for c in self.Derivative(derivative_order).coefficients_array[::-1]:
            value = value * x + c
        return value

    def CoefficientsAlmostEqual(
        self, other: Polynomial, tol: float = 0.0, tol_type: ToleranceType = ToleranceType.kAbsolute
    ) -> bool:
        """Whether coefficients differ by at most tol, or tol times the larger of both by tol_type."""
        a, b = _same_length(self.coefficients_array, other.coefficients_array)
        scale = np.maximum(abs(a), abs(b)) if tol_type == ToleranceType.kRelative else 1.0
        return bool(np.all(abs(a - b) <= tol * scale))

    def __neg__(self) -> Polynomial:
        return Polynomial(-self.coefficients_array)

    def __add__(self, other: Any) -> Polynomial:
        return Polynomial(_trimmed(np.add(*_same_length(self.coefficients_array, _coefficients_of(other)))))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Polynomial:
        return self + -_polynomial(other)

    def __rsub__(self, other: Any) -> Polynomial:
        return -self + other

    def __mul__(self, other: Any) -> Polynomial:
        return Polynomial(np.convolve(self.coefficients_array, _coefficients_of(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Polynomial:
        return Polynomial(self.coefficients_array / other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and np.array_equal(self.coefficients_array, other.coefficients_array)

    def __hash__(self) -> int:
        return hash(tuple(self.coefficients_array))

    def __repr__(self) -> str:
        return f"Polynomial({self.coefficients_array.tolist()})"


def _polynomial(value: Any) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial(value)


def _coefficients_of(value: Any) -> Vector:
    return _polynomial(value).coefficients_array


def _same_length(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    n = max(len(a), len(b))
    return tuple(np.concatenate([c, np.zeros(n - len(c))]) for c in (a, b))  # type: ignore[return-value]


def _trimmed(coefficients: Vector) -> Vector:
    """Without zeros of the highest powers; one coefficient is left."""
    n = len(coefficients)
    while n > 1 and bool(coefficients[n - 1] == 0):
        n -= 1
    return coefficients[:n]


Polynomial_ = ValueTemplate(Polynomial)
