"""Costs and constraints of mathematical programs: functions with exact derivatives, and their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import AutoDiffXd, ExtractGradient, ExtractValue, InitializeAutoDiff
from mbcli.other_names import also_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray


class EvaluatorBase:
    """A function of num_vars() numbers with num_outputs() values.

    Args:
        function: of an array (n,) of floats or of AutoDiffXd; gives as many values.
    """

    def __init__(self, function: Callable[[Any], Any], num_outputs: int, num_vars: int, description: str = "") -> None:
        self._function, self._m, self._n, self._description = function, num_outputs, num_vars, description

    def num_outputs(self) -> int:
        """The number of values."""
        return self._m

    def num_vars(self) -> int:
        """The number of variables."""
        return self._n

    def get_description(self) -> str:
        """What it is, in a user's words."""
        return self._description

    def set_description(self, description: str) -> None:
        """Says what it is."""
        self._description = str(description)

    def Eval(self, x: ArrayLike) -> Array:
        """Its values (m,) at x (n,), of floats or AutoDiffXd."""
        return np.atleast_1d(np.asarray(self._function(np.asarray(x).reshape(-1)))).reshape(-1)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n)."""
        duals = np.asarray(self.Eval(InitializeAutoDiff(x).reshape(-1)), dtype=object)
        return ExtractGradient(duals, x.size)

    def values(self, x: FloatArray) -> FloatArray:
        """Its values (m,) as floats. RuntimeError if there is another number of them."""
        y = self.Eval(x)
        y = ExtractValue(y).reshape(-1) if y.dtype == object else np.asarray(y, dtype=float)
        if y.size != self._m:
            raise RuntimeError(f"'{self._description or 'a function'}' gives {y.size} values, not {self._m}")
        return y


class Cost(EvaluatorBase):
    """A function with one value, which is to become small."""


class PyFunctionCost(Cost):
    """A cost that is a function of Python."""

    def __init__(self, num_vars: int, func: Callable[[Any], Any], description: str = "") -> None:
        super().__init__(func, 1, num_vars, description)


class ExpressionCost(Cost):
    """A cost that is a symbolic expression."""


class LinearCost(Cost):
    """a' x + b"""

    def __init__(self, a: ArrayLike, b: float = 0.0) -> None:
        self._a, self._b = np.asarray(a, dtype=float).reshape(-1), float(b)
        super().__init__(lambda x: self._a @ x + self._b, 1, self._a.size)

    def UpdateCoefficients(self, new_a: ArrayLike, new_b: float = 0.0) -> None:
        """Replaces a and b. RuntimeError for another number of variables."""
        _require_size(self, new_a)
        self._a, self._b = np.array(new_a, dtype=float).reshape(-1), float(new_b)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (1, n)."""
        return self._a[None].copy()

    def a(self) -> FloatArray:
        """(n,)"""
        return self._a

    def b(self) -> float:
        """The constant."""
        return self._b


class QuadraticCost(Cost):
    """0.5 x' Q x + b' x + c"""

    def __init__(self, Q: ArrayLike, b: ArrayLike, c: float = 0.0, is_convex: bool | None = None) -> None:
        self._take(Q, b, c, is_convex)
        super().__init__(lambda x: 0.5 * x @ (self._Q @ x) + self._b @ x + self._c, 1, self._b.size)

    def _take(self, Q: ArrayLike, b: ArrayLike, c: float, is_convex: bool | None) -> None:
        Q, b = np.asarray(Q, dtype=float), np.asarray(b, dtype=float).reshape(-1)
        if Q.shape != (b.size, b.size):
            raise RuntimeError(f"a quadratic cost with Q of shape {Q.shape} and b of {b.size} elements")
        self._Q, self._b, self._c = 0.5 * (Q + Q.T), b, float(c)
        self._convex = is_positive(self._Q) if is_convex is None else bool(is_convex)

    def UpdateCoefficients(
        self, new_Q: ArrayLike, new_b: ArrayLike, new_c: float = 0.0, is_convex: bool | None = None
    ) -> None:
        """Replaces Q, b and c. RuntimeError for another number of variables."""
        _require_size(self, new_b)
        self._take(new_Q, new_b, new_c, is_convex)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (1, n)."""
        return (self._Q @ x + self._b)[None]

    def Q(self) -> FloatArray:
        """(n, n), symmetric."""
        return self._Q

    def b(self) -> FloatArray:
        """(n,)"""
        return self._b

    def c(self) -> float:
        """The constant."""
        return self._c

    def is_convex(self) -> bool:
        """Whether Q has no negative eigenvalue."""
        return self._convex


class L2NormCost(Cost):
    """The length of A x + b."""

    def __init__(self, A: ArrayLike, b: ArrayLike) -> None:
        self._A, self._b = np.asarray(A, dtype=float), np.asarray(b, dtype=float).reshape(-1)
        super().__init__(self._length, 1, self._A.shape[1])

    def _length(self, x: Any) -> Any:
        y = self._A @ x + self._b
        return np.sqrt(y @ y)

    def A(self) -> FloatArray:
        """(m, n)"""
        return self._A

    def b(self) -> FloatArray:
        """(m,)"""
        return self._b

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (1, n); 0, of which there are others, where the length is 0."""
        y = self._A @ x + self._b
        length = np.sqrt(y @ y)
        return (y / length if length else 0.0 * y)[None] @ self._A


class Constraint(EvaluatorBase):
    """A function whose values are to be within bounds.

    Args:
        lb, ub: (m,) of the values; infinite where there is none.
    """

    def __init__(
        self, function: Callable[[Any], Any], lb: ArrayLike, ub: ArrayLike, num_vars: int, description: str = ""
    ) -> None:
        lower, upper = (np.atleast_1d(np.asarray(x, dtype=float)).reshape(-1) for x in (lb, ub))
        if lower.shape != upper.shape:
            raise RuntimeError(f"{lower.size} lower and {upper.size} upper bounds do not fit each other")
        self._lb, self._ub = lower, upper
        super().__init__(function, lower.size, num_vars, description)

    def num_constraints(self) -> int:
        """The number of values."""
        return self._m

    def lower_bound(self) -> FloatArray:
        """(m,)"""
        return self._lb

    def upper_bound(self) -> FloatArray:
        """(m,)"""
        return self._ub

    def UpdateLowerBound(self, new_lb: ArrayLike) -> None:
        """Replaces the lower bounds."""
        self._lb = np.array(np.broadcast_to(np.asarray(new_lb, dtype=float).reshape(-1), self._lb.shape))

    def UpdateUpperBound(self, new_ub: ArrayLike) -> None:
        """Replaces the upper bounds."""
        self._ub = np.array(np.broadcast_to(np.asarray(new_ub, dtype=float).reshape(-1), self._ub.shape))

    @also_named(lower_bound="new_lb", upper_bound="new_ub")
    def set_bounds(self, new_lb: ArrayLike, new_ub: ArrayLike) -> None:
        """Replaces both bounds."""
        self.UpdateLowerBound(new_lb)
        self.UpdateUpperBound(new_ub)

    def CheckSatisfied(self, x: ArrayLike, tol: float = 1e-6) -> bool:
        """Whether the values at x are within the bounds, up to a tolerance."""
        y = self.values(np.asarray(x, dtype=float))
        return bool((y >= self._lb - tol).all() and (y <= self._ub + tol).all())


class PyFunctionConstraint(Constraint):
    """A constraint that is a function of Python."""

    def __init__(
        self, num_vars: int, func: Callable[[Any], Any], lb: ArrayLike, ub: ArrayLike, description: str = ""
    ) -> None:
        super().__init__(func, lb, ub, num_vars, description)


class ExpressionConstraint(Constraint):
    """A constraint that is a symbolic expression."""


class LinearConstraint(Constraint):
    """lb <= A x <= ub"""

    def __init__(self, A: Any, lb: ArrayLike, ub: ArrayLike) -> None:
        A = A.toarray() if hasattr(A, "toarray") else np.asarray(A, dtype=float)
        self._A = np.atleast_2d(A)
        super().__init__(lambda x: self._A @ x, lb, ub, self._A.shape[1])
        if self._A.shape[0] != self._m:
            raise ValueError(f"a matrix {self._A.shape} does not fit {self._m} bounds")

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n)."""
        return self._A.copy()

    def A(self) -> FloatArray:
        """(m, n)"""
        return self._A

    GetDenseA = A

    def UpdateCoefficients(self, new_A: ArrayLike, new_lb: ArrayLike, new_ub: ArrayLike) -> None:
        """Replaces matrix and bounds."""
        self._A = np.atleast_2d(np.asarray(new_A, dtype=float))
        self._lb, self._ub = (np.asarray(x, dtype=float).reshape(-1) for x in (new_lb, new_ub))


class LinearEqualityConstraint(LinearConstraint):
    """A x = b; a row in place of A has one number as b."""

    @also_named(a="Aeq")
    def __init__(self, Aeq: Any, beq: ArrayLike) -> None:
        super().__init__(Aeq, beq, beq)

    def UpdateCoefficients(self, Aeq: ArrayLike, beq: ArrayLike) -> None:  # type: ignore[override]
        """Replaces matrix and right-hand side."""
        super().UpdateCoefficients(Aeq, beq, beq)


class BoundingBoxConstraint(LinearConstraint):
    """lb <= x <= ub"""

    def __init__(self, lb: ArrayLike, ub: ArrayLike) -> None:
        super().__init__(np.eye(np.size(lb)), lb, ub)


class QuadraticConstraint(Constraint):
    """lb <= 0.5 x' Q x + b' x <= ub"""

    def __init__(self, Q: ArrayLike, b: ArrayLike, lb: float, ub: float) -> None:
        Q = np.asarray(Q, dtype=float)
        self._Q, self._b = 0.5 * (Q + Q.T), np.asarray(b, dtype=float).reshape(-1)
        super().__init__(lambda x: 0.5 * x @ (self._Q @ x) + self._b @ x, [lb], [ub], self._b.size)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (1, n)."""
        return (self._Q @ x + self._b)[None]

    def Q(self) -> FloatArray:
        """(n, n), symmetric."""
        return self._Q

    def b(self) -> FloatArray:
        """(n,)"""
        return self._b


class LorentzConeConstraint(Constraint):
    """z[0] >= |z[1:]| of z = A x + b, as z[0] >= 0 and z[0]^2 >= |z[1:]|^2."""

    def __init__(self, A: ArrayLike, b: ArrayLike) -> None:
        self._A, self._b = np.atleast_2d(np.asarray(A, dtype=float)), np.asarray(b, dtype=float).reshape(-1)
        super().__init__(self._cone, [0.0, 0.0], [np.inf, np.inf], self._A.shape[1])

    def A(self) -> FloatArray:
        """(m, n)"""
        return self._A.copy()

    def b(self) -> FloatArray:
        """(m,)"""
        return self._b.copy()

    def _cone(self, x: Any) -> Any:
        z = self._A @ x + self._b
        return np.array([z[0], z[0] * z[0] - z[1:] @ z[1:]])


class _BindingOfAny(type):
    """Binding[kind]: a Binding of an evaluator of that kind, not of one derived from it, as in pydrake."""

    def __getitem__(cls, kind: type) -> type:
        return _BindingOfKind(f"Binding[{kind.__name__}]", (Binding,), {"kind": kind})


class _BindingOfKind(_BindingOfAny):
    def __call__(cls, *given: Any, **named: Any) -> Any:
        return Binding(*given, **named)

    def __instancecheck__(cls, found: Any) -> bool:
        return isinstance(found, Binding) and type(found.evaluator()) is cls.kind  # type: ignore[attr-defined]


class Binding(metaclass=_BindingOfAny):
    """A cost or constraint with the variables that it is of."""

    def __init__(self, c: EvaluatorBase, v: Any) -> None:
        self._evaluator, self._variables = c, np.asarray(v, dtype=object).reshape(-1)
        if self._variables.size != c.num_vars():
            raise RuntimeError(f"{type(c).__name__} is of {c.num_vars()} variables, not of {self._variables.size}")

    def evaluator(self) -> Any:
        """The cost or constraint."""
        return self._evaluator

    def variables(self) -> Array:
        """Its variables (n,)."""
        return self._variables

    def GetNumElements(self) -> int:
        """The number of variables."""
        return self._variables.size

    def __repr__(self) -> str:
        return f"{type(self._evaluator).__name__}({', '.join(str(v) for v in self._variables)})"

    def __str__(self) -> str:
        evaluator, names = self._evaluator, [str(v) for v in self._variables]
        about = evaluator.get_description()
        kind, about = type(evaluator).__name__, f" described as '{about}'" if about else ""
        if isinstance(evaluator, LinearCost):
            return f"{kind} ({_sum_of(evaluator.b(), evaluator.a(), names)}){about}"
        if isinstance(evaluator, QuadraticCost):
            rows = [_in_parentheses(_sum_of(0.0, row, names)) for row in 0.5 * evaluator.Q()]
            products = [f"({name} * {row})" for name, row in zip(names, rows, strict=True) if row != "0"]
            return f"{kind} ({_sum_of(evaluator.c(), evaluator.b(), names, products)}){about}"
        if isinstance(evaluator, LinearConstraint):
            lines = [kind + about]
            for low, row, high in zip(evaluator.lower_bound(), evaluator.A(), evaluator.upper_bound(), strict=True):
                text = _in_parentheses(_sum_of(0.0, row, names))
                lines.append(f"{text} == {low:g}" if low == high else f"{low:g} <= {text} <= {high:g}")
            return "\n".join(lines) + "\n"
        return f"{kind}{about} with {len(names)} decision variables {' '.join(names)}\n"


def _sum_of(constant: float, factors: FloatArray, names: list[str], others: Sequence[str] = ()) -> str:
    """The sum in words."""
    parts = [f"{constant:g}"] if constant else []
    parts += [name if a == 1.0 else f"{a:g} * {name}" for a, name in zip(factors, names, strict=True) if a]
    parts += others
    return " + ".join(parts).replace(" + -", " - ") or "0"


def _in_parentheses(text: str) -> str:
    return f"({text})" if " " in text.replace(" * ", "") else text


def _require_size(evaluator: EvaluatorBase, coefficients: ArrayLike) -> None:
    if np.size(coefficients) != evaluator.num_vars():
        raise RuntimeError(f"{np.size(coefficients)} coefficients are of another number of variables than before")


def carried(y: FloatArray, J: FloatArray, x: Any) -> Array:
    """Values y (m,) with derivatives J (m, n) by x (n,) as AutoDiffXd that follow those of x."""
    return np.array([AutoDiffXd(a, row) for a, row in zip(y, J @ ExtractGradient(x), strict=True)], dtype=object)


def is_positive(Q: FloatArray) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue."""
    return bool(Q.size == 0 or np.linalg.eigvalsh(Q).min() >= -1e-10 * max(1.0, np.abs(Q).max()))


def bindings_of(bindings: list[Binding], kind: type[EvaluatorBase]) -> list[Binding]:
    """Those whose cost or constraint is of this very kind."""
    return [b for b in bindings if type(b.evaluator()) is kind]
