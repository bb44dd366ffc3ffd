"""Costs and constraints of mathematical programs: functions with exact derivatives, and their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from mbcli.autodiffutils import AutoDiffXd, ExtractGradient, ExtractValue, InitializeAutoDiff
from mbcli.numbered_enum import NumberedEnum
from mbcli.other_names import also_named
from mbcli.solvers.symbolic_parts import Difference, Form, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray


class EvaluatorBase:
    """A function of num_vars() numbers with num_outputs() values.

    Args:
        function: of an array (n,) of floats or of AutoDiffXd; gives as many values.
    """

    def __init__(self, function: Callable[[Any], Any], num_outputs: int, num_vars: int, description: str = "") -> None:
        self._function, self._m, self._n, self._description = function, num_outputs, num_vars, description
        self._pattern: list[tuple[int, int]] | None = None

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

    def SetGradientSparsityPattern(self, gradient_sparsity_pattern: Any) -> None:
        """Says which derivatives, as pairs (row, variable), may differ from zero; solvers here take all."""
        self._pattern = [(int(row), int(column)) for row, column in gradient_sparsity_pattern]

    def gradient_sparsity_pattern(self) -> list[tuple[int, int]] | None:
        """What was said of it; None if nothing was."""
        return self._pattern

    def is_thread_safe(self) -> bool:
        """Whether it may be evaluated on several threads: a function of Python may not."""
        return not isinstance(self, (PyFunctionCost, PyFunctionConstraint, ExpressionCost, ExpressionConstraint))

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


class _OfExpressions(EvaluatorBase):
    """Symbolic expressions (m,) of the variables in them."""

    def _take(self, expressions: list[Any]) -> Callable[[Any], Any]:
        self._expressions, self._vars = expressions, variables_of(expressions)
        self._form = Form.of(expressions, self._vars)
        return self._form.values

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n)."""
        slopes = self._form.slopes
        return super().jacobian(x) if slopes is None else np.array(slopes(list(x)), dtype=float)

    def vars(self) -> Array:
        """Its variables (n,)."""
        return np.array(self._vars, dtype=object)


class ExpressionCost(_OfExpressions, Cost):
    """A cost that is a symbolic expression, of the variables in it."""

    def __init__(self, e: Any) -> None:
        function = self._take([e])
        super().__init__(function, 1, len(self._vars))

    def expression(self) -> Any:
        """The expression."""
        return self._expressions[0]


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

    def update_coefficient_entry(self, i: int, val: float) -> None:
        """Replaces an element of a."""
        self._a = self._a.copy()
        self._a[i] = val

    def update_constant_term(self, new_b: float) -> None:
        """Replaces b."""
        self._b = float(new_b)

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
        Q = Q.reshape(1, 1) if Q.size == b.size == 1 else Q
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

    @also_named(is_hessian_psd="is_convex")
    def UpdateHessianEntry(self, i: int, j: int, val: float, is_convex: bool | None = None) -> None:
        """Replaces Q[i, j] and Q[j, i]."""
        Q = self._Q.copy()
        Q[i, j] = Q[j, i] = val
        self._take(Q, self._b, self._c, is_convex)

    def update_linear_coefficient_entry(self, i: int, val: float) -> None:
        """Replaces an element of b."""
        self._b = self._b.copy()
        self._b[i] = val

    def update_constant_term(self, new_c: float) -> None:
        """Replaces c."""
        self._c = float(new_c)

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

    def CheckSatisfied(self, x: ArrayLike, tol: float = 1e-6) -> Any:
        """Whether the values at x are within the bounds, up to a tolerance; for expressions the formula of it."""
        x = np.asarray(x).reshape(-1)
        if any(isinstance(each, sympy.Basic) for each in x):
            y = self.Eval(x)
            rows = zip(y, self._lb - tol, self._ub + tol, strict=True)
            sides = [side for e, low, high in rows for side in (e >= low, e <= high)]
            return sympy.And(*sides)
        y = self.values(ExtractValue(x).reshape(-1) if x.dtype == object else x.astype(float))
        return bool((y >= self._lb - tol).all() and (y <= self._ub + tol).all())

    def CheckSatisfiedVectorized(self, x: ArrayLike, tol: float = 1e-6) -> list[bool]:
        """CheckSatisfied() of each column of x (n, k)."""
        return [self.CheckSatisfied(column, tol) for column in np.asarray(x, dtype=float).T]


class PyFunctionConstraint(Constraint):
    """A constraint that is a function of Python."""

    def __init__(
        self, num_vars: int, func: Callable[[Any], Any], lb: ArrayLike, ub: ArrayLike, description: str = ""
    ) -> None:
        super().__init__(func, lb, ub, num_vars, description)


class ExpressionConstraint(_OfExpressions, Constraint):
    """Symbolic expressions (m,) within bounds (m,), of the variables in them."""

    def __init__(self, v: Any, lb: ArrayLike, ub: ArrayLike) -> None:
        function = self._take(v if isinstance(v, list) else list(np.asarray(v, dtype=object).ravel()))
        super().__init__(function, lb, ub, len(self._vars))

    def expressions(self) -> Array:
        """(m,)"""
        return np.array([e.expression() if isinstance(e, Difference) else e for e in self._expressions], dtype=object)


class LinearConstraint(Constraint):
    """lb <= A x <= ub; A may be sparse, and becomes dense when somebody asks for that."""

    def __init__(self, A: Any, lb: ArrayLike, ub: ArrayLike) -> None:
        self._take(A)
        super().__init__(lambda x: self.A() @ x, lb, ub, self._shape[1])
        if self._shape[0] != self._m:
            raise ValueError(f"a matrix {self._shape} does not fit {self._m} bounds")

    def _take(self, A: Any) -> None:
        is_sparse = hasattr(A, "toarray")
        self._sparse: Any = A if is_sparse else None
        self._dense = None if is_sparse else np.atleast_2d(np.asarray(A, dtype=float))
        self._shape: tuple[int, int] = A.shape if is_sparse else self._dense.shape  # type: ignore[union-attr]

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n)."""
        return self.A().copy()

    def A(self) -> FloatArray:
        """(m, n)"""
        if self._dense is None:
            self._dense = np.asarray(self._sparse.toarray(), dtype=float)
        return self._dense

    GetDenseA = A

    def is_dense_A_constructed(self) -> bool:
        """Whether A is there as an array."""
        return self._dense is not None

    def get_sparse_A(self) -> Any:
        """(m, n), a scipy.sparse.csc_matrix."""
        from scipy.sparse import csc_matrix

        return csc_matrix(self._dense if self._sparse is None else self._sparse)

    def RemoveTinyCoefficient(self, tol: float) -> None:
        """Elements of A of at most this size become 0."""
        self._take(np.where(np.abs(self.A()) <= tol, 0.0, self.A()))

    def UpdateCoefficients(self, new_A: Any, new_lb: ArrayLike, new_ub: ArrayLike) -> None:
        """Replaces matrix and bounds."""
        self._take(new_A)
        self._lb, self._ub = (np.asarray(x, dtype=float).reshape(-1) for x in (new_lb, new_ub))
        self._m = self._lb.size


class LinearEqualityConstraint(LinearConstraint):
    """A x = b; a row in place of A has one number as b."""

    @also_named(a="Aeq")
    def __init__(self, Aeq: Any, beq: ArrayLike) -> None:
        super().__init__(Aeq, beq, beq)

    def UpdateCoefficients(self, Aeq: Any, beq: ArrayLike) -> None:  # type: ignore[override]
        """Replaces matrix and right-hand side."""
        super().UpdateCoefficients(Aeq, beq, beq)


class BoundingBoxConstraint(LinearConstraint):
    """lb <= x <= ub"""

    def __init__(self, lb: ArrayLike, ub: ArrayLike) -> None:
        super().__init__(np.eye(np.size(lb)), lb, ub)


class _HessianType(NumberedEnum):
    """Which signs the eigenvalues of a matrix have."""

    kPositiveSemidefinite = 0
    kNegativeSemidefinite = 1
    kIndefinite = 2


class QuadraticConstraint(Constraint):
    """lb <= 0.5 x' Q x + b' x <= ub; hessian_type is found from Q if it is not given."""

    HessianType = _HessianType

    @also_named(Q0="Q")
    def __init__(
        self, Q: ArrayLike, b: ArrayLike, lb: float, ub: float, hessian_type: _HessianType | None = None
    ) -> None:
        self._take(Q, b, hessian_type)
        super().__init__(lambda x: 0.5 * x @ (self._Q @ x) + self._b @ x, [lb], [ub], self._b.size)

    def _take(self, Q: ArrayLike, b: ArrayLike, hessian_type: _HessianType | None) -> None:
        Q = np.asarray(Q, dtype=float)
        self._Q, self._b = 0.5 * (Q + Q.T), np.asarray(b, dtype=float).reshape(-1)
        self._type = _type_of(self._Q) if hessian_type is None else hessian_type

    def UpdateCoefficients(self, new_Q: ArrayLike, new_b: ArrayLike, hessian_type: _HessianType | None = None) -> None:
        """Replaces Q and b. RuntimeError for another number of variables."""
        _require_size(self, new_b)
        self._take(new_Q, new_b, hessian_type)

    def hessian_type(self) -> _HessianType:
        """Of Q."""
        return self._type

    def is_convex(self) -> bool:
        """Whether the states that it allows are a convex set."""
        above, below = np.isfinite(self._ub[0]), np.isfinite(self._lb[0])
        kinds = {_HessianType.kPositiveSemidefinite: not below, _HessianType.kNegativeSemidefinite: not above}
        return bool(kinds.get(self._type, False)) or not self._Q.any()

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (1, n)."""
        return (self._Q @ x + self._b)[None]

    def Q(self) -> FloatArray:
        """(n, n), symmetric."""
        return self._Q

    def b(self) -> FloatArray:
        """(n,)"""
        return self._b


def _type_of(Q: FloatArray) -> _HessianType:
    if is_positive(Q):
        return _HessianType.kPositiveSemidefinite
    return _HessianType.kNegativeSemidefinite if is_positive(-Q) else _HessianType.kIndefinite


def _require_size(evaluator: EvaluatorBase, coefficients: ArrayLike) -> None:
    if np.size(coefficients) != evaluator.num_vars():
        raise RuntimeError(f"{np.size(coefficients)} coefficients are of another number of variables than before")


def carried(y: FloatArray, J: FloatArray, x: Any) -> Array:
    """Values y (m,) with derivatives J (m, n) by x (n,) as AutoDiffXd that follow those of x."""
    return np.array([AutoDiffXd(a, row) for a, row in zip(y, J @ ExtractGradient(x), strict=True)], dtype=object)


def is_positive(Q: FloatArray) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue."""
    return bool(Q.size == 0 or np.linalg.eigvalsh(Q).min() >= -1e-10 * max(1.0, np.abs(Q).max()))
