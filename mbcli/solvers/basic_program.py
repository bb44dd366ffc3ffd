"""Costs and constraints that are expressions, functions, linear or quadratic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from mbcli.solvers.binding import Binding
from mbcli.solvers.evaluators import (
    BoundingBoxConstraint,
    Constraint,
    EvaluatorBase,
    ExpressionConstraint,
    ExpressionCost,
    LinearConstraint,
    LinearCost,
    LinearEqualityConstraint,
    PyFunctionConstraint,
    PyFunctionCost,
    QuadraticConstraint,
    QuadraticCost,
)
from mbcli.solvers.given_arguments import flat_variables, ordered_arguments
from mbcli.solvers.program_core import ProgramCore
from mbcli.solvers.symbolic_parts import bounded, polynomials

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class BasicProgram(ProgramCore):
    """What solvers of linear, quadratic and nonlinear programs take."""

    # costs

    def AddCost(self, *given: Any, **named: Any) -> Binding:
        """AddCost(expression), AddCost(function, vars), AddCost(cost, vars) or AddCost(binding).

        Args:
          given: these, by position: vars (n,).
          named: the same by name.

        Returns:
          The Binding.

        Example:
          >>> prog = MathematicalProgram()
          >>> x = prog.NewContinuousVariables(1)
          >>> cost = prog.AddCost((x[0] - 2.0) ** 2)
          >>> Solve(prog).GetSolution(x).round(6)
          array([2.])
        """
        first, vars, description = ordered_arguments(
            given, named, ("func", "vars", "description"), ("e", "obj", "binding")
        )
        if isinstance(first, Binding):
            return self._bind_cost(first.evaluator(), first.variables())
        if isinstance(first, EvaluatorBase):
            return self._bind_cost(first, vars)
        if callable(first):
            flat = flat_variables(vars)
            return self._bind_cost(PyFunctionCost(flat.size, first, description or ""), flat)
        found = polynomials([first])
        if found is None:
            return self.bind_expression(sympy.sympify(first))
        if found.is_linear:
            return self._bind_cost(LinearCost(found.A[0], found.c[0]), found.variables)
        return self._bind_cost(QuadraticCost(found.quadratic[0], found.A[0], found.c[0]), found.variables)

    def bind_expression(self, e: Any) -> Binding:
        """A cost that is no polynomial of degree 2."""
        cost = ExpressionCost(e)
        return self._bind_cost(cost, cost.vars())

    def AddLinearCost(self, *given: Any, **named: Any) -> Binding:
        """AddLinearCost(expression), (a, vars) or (a, b, vars): a' x + b. RuntimeError for another expression."""
        if len(given) + len(named) == 1:
            return self._of_kind(self.AddCost(*given, **named), LinearCost)
        if len(given) == 2 and not named:
            given = (given[0], 0.0, given[1])
        a, b, vars = ordered_arguments(given, named, ("a", "b", "vars"))
        return self._bind_cost(LinearCost(a, b or 0.0), vars)

    def AddQuadraticCost(self, *given: Any, is_convex: bool | None = None, **named: Any) -> Binding:
        """AddQuadraticCost(expression), (Q, b, vars) or (Q, b, c, vars): 0.5 x' Q x + b' x + c."""
        if len(given) == 2 and isinstance(given[1], (bool, np.bool_)):  # an expression and whether it is convex
            given = given[:1]
        if len(given) + len(named) == 1:
            return self._of_kind(self.AddCost(*given, **named), QuadraticCost)
        if len(given) == 3 and not named:
            given = (given[0], given[1], 0.0, given[2])
        Q, b, c, vars = ordered_arguments(given, named, ("Q", "b", "c", "vars"))
        return self._bind_cost(QuadraticCost(Q, b, c or 0.0, is_convex), vars)

    def AddQuadraticErrorCost(self, *given: Any, **named: Any) -> Binding:
        """(x - x_desired)' Q (x - x_desired); a number Q or w counts for all variables."""
        Q, x, vars = ordered_arguments(given, named, ("Q", "x_desired", "vars"), ("w",))
        n = flat_variables(vars).size
        Q = float(Q) * np.eye(n) if np.ndim(Q) == 0 else np.asarray(Q, dtype=float)
        x = np.asarray(x, dtype=float).reshape(-1)
        return self._bind_cost(QuadraticCost(2.0 * Q, -2.0 * Q @ x, x @ Q @ x), vars)

    def Add2NormSquaredCost(self, A: ArrayLike, b: ArrayLike, vars: Any) -> Binding:
        """|A x - b|^2"""
        A, b = np.asarray(A, dtype=float), np.asarray(b, dtype=float).reshape(-1)
        return self._bind_cost(QuadraticCost(2.0 * A.T @ A, -2.0 * A.T @ b, b @ b, True), vars)

    def AddVisualizationCallback(self, callback: Callable[[FloatArray], Any], vars: Any) -> Binding:
        """A function of variables that is called with their values in each iteration of SLSQP, and at its end."""
        return self._bind(self.callbacks, PyFunctionCost(flat_variables(vars).size, callback), vars)

    # constraints

    def AddConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddConstraint(formulas), (expressions, lb, ub), (function, lb, ub, vars), (constraint, vars), (binding).

        Args:
          given: these, by position: lb and ub (m,), vars (n,).
          named: the same by name.

        Returns:
          The Binding.

        Raises:
          TypeError: the arguments are none of these.

        Example:
          >>> prog = MathematicalProgram()
          >>> x = prog.NewContinuousVariables(2)
          >>> circle = prog.AddConstraint(lambda x: [x @ x], [1.0], [1.0], x)
          >>> Solve(prog, [1.0, 1.0]).GetSolution(x).round(3)
          array([0.707, 0.707])
        """
        keys, others = ("func", "lb", "ub", "vars", "description"), ("constraint", "binding", "f", "e", "formulas", "v")
        if given and isinstance(given[0], Constraint) and len(given) == 2:
            return self._bind(self.constraints, given[0], given[1])
        first, lb, ub, vars, description = ordered_arguments(given, named, keys, others)
        if isinstance(first, Binding):
            return self._bind(self.constraints, first.evaluator(), first.variables())
        if isinstance(first, Constraint):
            return self._bind(self.constraints, first, vars)
        if callable(first) and not isinstance(first, sympy.Basic):
            flat = flat_variables(vars)
            return self._bind(self.constraints, PyFunctionConstraint(flat.size, first, lb, ub, description or ""), flat)
        return self._add_symbolic(first, lb, ub)

    def _add_symbolic(self, given: Any, lb: Any, ub: Any) -> Binding:
        expressions = list(flat_variables(given))
        if lb is None:
            expressions, lower, upper = bounded(expressions)
        else:
            shape = (len(expressions),)
            lower, upper = (np.broadcast_to(np.asarray(x, dtype=float).reshape(-1), shape) for x in (lb, ub))
        found = polynomials(expressions)
        if found is not None and found.is_linear:
            return self._add_linear(found.A, lower - found.c, upper - found.c, found.variables)
        if found is not None and len(expressions) == 1:
            c = found.c[0]
            quadratic = QuadraticConstraint(found.quadratic[0], found.A[0], lower[0] - c, upper[0] - c)
            return self._bind(self.constraints, quadratic, found.variables)
        made = ExpressionConstraint(expressions, lower, upper)
        return self._bind(self.constraints, made, made.vars())

    def _add_linear(self, A: FloatArray, lower: FloatArray, upper: FloatArray, variables: Any) -> Binding:
        """As bounds of variables if each row has one, as an equation if bounds are equal."""
        empty = ~A.any(axis=1)
        if empty.any():
            if not ((lower[empty] <= 0.0) & (upper[empty] >= 0.0)).all():
                raise RuntimeError("a constraint without variables does not hold")
            A, lower, upper = A[~empty], lower[~empty], upper[~empty]
        variables = flat_variables(variables)
        made: LinearConstraint
        if (lower == upper).all():
            made = LinearEqualityConstraint(A, lower)
        elif (np.count_nonzero(A, axis=1) == 1).all() and len(set(places := np.abs(A).argmax(axis=1))) == len(A):
            factors = A[np.arange(len(A)), places]
            ends = np.sort(np.stack([lower / factors, upper / factors]), axis=0)
            made, variables = BoundingBoxConstraint(*ends), variables[places]
        else:
            made = LinearConstraint(A, lower, upper)
        return self._bind(self.constraints, made, variables)

    def AddLinearConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddLinearConstraint(formulas), (expressions, lb, ub) or (A, lb, ub, vars).

        Args:
          given: these, by position: A (m, n), lb and ub (m,), vars (n,).
          named: the same by name.

        Returns:
          The Binding.

        Raises:
          RuntimeError: the constraint is not linear.

        Example:
          >>> prog = MathematicalProgram()
          >>> x = prog.NewContinuousVariables(2)
          >>> prog.AddLinearConstraint(x[0] + x[1] <= 1.0).evaluator().upper_bound()
          array([1.])
        """
        if len(given) + len(named) >= 4:
            A, lb, ub, vars = ordered_arguments(given, named, ("A", "lb", "ub", "vars"), ("a",))
            return self._bind(self.constraints, LinearConstraint(A, lb, ub), vars)
        return self._of_kind(self.AddConstraint(*given, **named), LinearConstraint)

    def AddLinearEqualityConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddLinearEqualityConstraint(formulas), (expressions, b) or (A, b, vars)."""
        if len(given) + len(named) == 3:
            A, b, vars = ordered_arguments(given, named, ("Aeq", "beq", "vars"), ("a", "A"))
            return self._bind(self.constraints, LinearEqualityConstraint(A, b), vars)
        if len(given) + len(named) == 2:
            v, b = ordered_arguments(given, named, ("v", "b"), ("e",))
            return self._of_kind(self._add_symbolic(v, b, b), LinearEqualityConstraint)
        return self._of_kind(self.AddConstraint(*given, **named), LinearEqualityConstraint)

    def AddBoundingBoxConstraint(self, lb: ArrayLike, ub: ArrayLike, vars: Any) -> Binding:
        """lb <= x <= ub.

        Args:
          lb: a number, or an array (n,) like the variables, in [unit of each].
          ub: the same.
          vars: the variables (n,).

        Returns:
          The Binding.

        Example:
          >>> prog = MathematicalProgram()
          >>> prog.AddBoundingBoxConstraint(-1.0, 1.0, prog.NewContinuousVariables(2)).evaluator().upper_bound()
          array([1., 1.])
        """
        n = np.asarray(vars, dtype=object).size
        lower, upper = (np.full(n, np.asarray(x, dtype=float).reshape(np.shape(x) and n)) for x in (lb, ub))
        return self._bind(self.constraints, BoundingBoxConstraint(lower, upper), vars)

    def AddQuadraticConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddQuadraticConstraint(Q, b, lb, ub, vars) or (expression, lb, ub): lb <= 0.5 x' Q x + b' x <= ub."""
        named.pop("hessian_type", None)
        if len(given) + len(named) >= 5:
            Q, b, lb, ub, vars = ordered_arguments(given, named, ("Q", "b", "lb", "ub", "vars"))
            return self._bind(self.constraints, QuadraticConstraint(Q, b, lb, ub), vars)
        return self._of_kind(self.AddConstraint(*given, **named), QuadraticConstraint)
