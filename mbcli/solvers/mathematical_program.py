"""MathematicalProgram: variables, costs, constraints and a guess."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from mbcli.math.matrices import DecomposePositiveQuadraticForm
from mbcli.other_names import also_named
from mbcli.solvers.evaluators import (
    Binding,
    BoundingBoxConstraint,
    Constraint,
    Cost,
    EvaluatorBase,
    ExpressionConstraint,
    ExpressionCost,
    L2NormCost,
    LinearConstraint,
    LinearCost,
    LinearEqualityConstraint,
    LorentzConeConstraint,
    PyFunctionConstraint,
    PyFunctionCost,
    QuadraticConstraint,
    QuadraticCost,
    bindings_of,
)
from mbcli.solvers.given_arguments import flat_variables, ordered_arguments
from mbcli.solvers.latex import program_in_latex
from mbcli.solvers.options import SolverOptions
from mbcli.solvers.symbolic_parts import DecisionVariable, bounded, function_of, polynomials, variables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray


SEMIDEFINITE = ("Sos", "Semidefinite", "Psd", "MatrixInequality", "Polynomial", "Indeterminate", "LogDet")


class MathematicalProgram:
    """Decision variables with costs that are to become small and constraints that are to hold; Solve() finds them.

    Sums of squares, semidefinite matrices and exponential cones are not here.
    """

    def __init__(self) -> None:
        self._variables: list[Any] = []
        self._index: dict[Any, int] = {}
        self._binary: set[int] = set()
        self._places: dict[Binding, list[int]] = {}
        self._guess: list[float] = []
        self.costs: list[Binding] = []
        self.constraints: list[Binding] = []
        self.visualization_callbacks: list[Binding] = []
        self._options = SolverOptions()

    # variables

    def NewContinuousVariables(self, rows: int, cols: Any = None, name: str = "x") -> Array:
        """New variables with names such as x(0) or x(0,1).

        Args:
          rows: how many.
          cols: of a matrix; default: a vector.
          name: before the indices.

        Returns:
          (n,), or (n, m) for n rows and m columns [unit of your choice].

        Example:
          >>> MathematicalProgram().NewContinuousVariables(2, "q")
          array([q(0), q(1)], dtype=object)
        """
        if isinstance(cols, str):
            cols, name = None, cols
        shape = (int(rows),) if cols is None else (int(rows), int(cols))
        made = np.empty(shape, dtype=object)
        for place in np.ndindex(shape):
            made[place] = DecisionVariable(f"{name}({','.join(map(str, place))})", real=True)
        self.AddDecisionVariables(made)
        return made

    def NewBinaryVariables(self, rows: int, cols: Any = None, name: str = "b") -> Array:
        """New variables that are 0 or 1."""
        start = len(self._variables)
        made = self.NewContinuousVariables(rows, cols, name if not isinstance(cols, str) else cols)
        self._binary.update(range(start, len(self._variables)))
        return made

    def NewSymmetricContinuousVariables(self, rows: int, name: str = "Symmetric") -> Array:
        """A matrix (rows, rows) of new variables, symmetric."""
        made = np.empty((rows, rows), dtype=object)
        for j in range(rows):
            for i in range(j, rows):
                made[i, j] = made[j, i] = DecisionVariable(f"{name}({i},{j})", real=True)
                self.AddDecisionVariables([made[i, j]])
        return made

    def AddDecisionVariables(self, decision_variables: Any) -> None:
        """Adds variables that were made elsewhere. RuntimeError for one that is here."""
        for v in np.asarray(decision_variables, dtype=object).ravel(order="F"):
            if v in self._index:
                raise RuntimeError(f"{v} is a variable of this program already")
            self._index[v] = len(self._variables)
            self._variables.append(v)
            self._guess.append(np.nan)

    def num_vars(self) -> int:
        """The number of variables."""
        return len(self._variables)

    def decision_variables(self) -> Array:
        """All of them (n,)."""
        return np.array(self._variables, dtype=object)

    def decision_variable(self, i: int) -> Any:
        """One of them."""
        return self._variables[i]

    def FindDecisionVariableIndex(self, var: Any) -> int:
        """Its place among decision_variables(). RuntimeError if it is none of them."""
        if var not in self._index:
            raise RuntimeError(f"{var} is no variable of this program")
        return self._index[var]

    def decision_variable_index(self) -> dict[int, int]:
        """{get_id() of a variable: its place among decision_variables()}"""
        return {v.get_id(): place for v, place in self._index.items()}

    def has_variable(self, e: Any) -> bool:
        """Whether something is one of its variables."""
        return e in self._index

    def FindDecisionVariableIndices(self, vars: Any) -> list[int]:
        """Their places among decision_variables()."""
        return [self.FindDecisionVariableIndex(v) for v in np.asarray(vars, dtype=object).ravel()]

    def binary_indices(self) -> list[int]:
        """The places of variables that are 0 or 1."""
        return sorted(self._binary)

    # guesses

    def SetInitialGuess(self, decision_variable: Any, variable_guessvalue: Any) -> None:
        """Where a solver starts.

        Args:
          decision_variable: one, or an array (n,).
          variable_guessvalue: a number, or (n,), in [unit of each].

        Raises:
          RuntimeError: a variable is not of this program.

        Example:
          >>> prog = MathematicalProgram()
          >>> x = prog.NewContinuousVariables(2)
          >>> prog.SetInitialGuess(x, [1.0, 2.0])
          >>> prog.GetInitialGuess(x)
          array([1., 2.])
        """
        variables = np.asarray(decision_variable, dtype=object)
        values = np.broadcast_to(np.asarray(variable_guessvalue, dtype=float).reshape(variables.shape), variables.shape)
        for v, value in zip(variables.ravel(), values.ravel(), strict=True):
            self._guess[self.FindDecisionVariableIndex(v)] = float(value)

    def SetInitialGuessForAllVariables(self, x0: ArrayLike) -> None:
        """The values (n,) from which a solver starts."""
        self._guess[:] = np.asarray(x0, dtype=float).reshape(self.num_vars()).tolist()

    def GetInitialGuess(self, decision_variable_or_matrix: Any) -> Any:
        """The guess for a variable or an array of them; NaN where there is none."""
        variables = np.asarray(decision_variable_or_matrix, dtype=object)
        values = [self._guess[k] for k in self.FindDecisionVariableIndices(variables)]
        if variables.ndim == 2 and variables.shape[1] == 1:  # a column gives a vector, as in pydrake
            variables = variables.ravel()
        return values[0] if variables.ndim == 0 else np.array(values).reshape(variables.shape)

    def initial_guess(self) -> FloatArray:
        """(n,); NaN where there is none."""
        return np.array(self._guess)

    @also_named(
        decision_variables="decision_variable",
        decision_variable_new_value="new_value",
        decision_variables_new_values="new_value",
    )
    def SetDecisionVariableValueInVector(self, decision_variable: Any, new_value: Any, values: FloatArray) -> None:
        """Writes the values of some variables into a vector (n,) of all."""
        places = self.FindDecisionVariableIndices(decision_variable)
        values[places] = np.asarray(new_value, dtype=float).ravel()

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
            variables = variables_of([first])
            return self._bind_cost(ExpressionCost(function_of([first], variables), 1, len(variables)), variables)
        if found.is_linear:
            return self._bind_cost(LinearCost(found.A[0], found.c[0]), found.variables)
        return self._bind_cost(QuadraticCost(found.quadratic[0], found.A[0], found.c[0]), found.variables)

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

    def AddL2NormCost(self, *given: Any, **named: Any) -> Binding:
        """AddL2NormCost(A, b, vars): |A x + b|, or AddL2NormCost(e), e the root of a quadratic form that it is."""
        if len(given) + len(named) >= 3 and "e" not in named:
            A, b, vars = ordered_arguments(given, named, ("A", "b", "vars"))
            return self._bind_cost(L2NormCost(A, b), vars)
        e, tolerance, _ = ordered_arguments(given, named, ("e", "psd_tol", "coefficient_tol"))
        found = polynomials([sympy.sympify(e) ** 2])
        if found is None:
            raise RuntimeError(f"{e} is not the length of affine expressions")
        form = 0.5 * found.quadratic[0], found.A[0], float(found.c[0]), 1e-8 if tolerance is None else tolerance
        A, b = DecomposePositiveQuadraticForm(*form)
        return self._bind_cost(L2NormCost(A, b), found.variables)

    def AddL2NormCostUsingConicConstraint(self, A: ArrayLike, b: ArrayLike, vars: Any) -> tuple[Any, Binding, Binding]:
        """(t, cost, cone): |A x + b| as the cost t of a new variable, t >= |A x + b|."""
        A, b, slack = np.atleast_2d(A), np.ravel(b), self.NewContinuousVariables(1, "slack")
        rows = np.r_[np.eye(1, 1 + A.shape[1]), np.pad(A, ((0, 0), (1, 0)))]
        cone = self.AddLorentzConeConstraint(rows, np.pad(b, (1, 0)), np.r_[slack, flat_variables(vars)])
        return slack[0], self.AddLinearCost([1.0], 0.0, slack), cone

    def AddVisualizationCallback(self, callback: Callable[[FloatArray], Any], vars: Any) -> Binding:
        """A function of variables that is called with their values in each iteration of SLSQP, and at its end."""
        return self._bind(self.visualization_callbacks, PyFunctionCost(flat_variables(vars).size, callback), vars)

    def _of_kind(self, binding: Binding, kind: type) -> Binding:
        if isinstance(binding.evaluator(), kind):
            return binding
        (self.costs if isinstance(binding.evaluator(), Cost) else self.constraints).remove(binding)
        raise RuntimeError(f"the expression is a {type(binding.evaluator()).__name__}, not a {kind.__name__}")

    def _bind_cost(self, cost: EvaluatorBase, vars: Any) -> Binding:
        return self._bind(self.costs, cost, vars)

    def _bind(self, kept: list[Binding], evaluator: EvaluatorBase, vars: Any) -> Binding:
        binding = Binding(evaluator, flat_variables(vars))
        self.FindDecisionVariableIndices(binding.variables())
        if binding.GetNumElements() != evaluator.num_vars():
            raise RuntimeError(
                f"a function of {evaluator.num_vars()} variables is bound to {binding.GetNumElements()} of them"
            )
        kept.append(binding)
        return binding

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
        variables = variables_of(expressions)
        made = ExpressionConstraint(function_of(expressions, variables), lower, upper, len(variables))
        return self._bind(self.constraints, made, variables)

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
        shape = np.shape(np.asarray(vars, dtype=object))
        lower, upper = (
            np.broadcast_to(np.asarray(x, dtype=float).reshape(np.shape(x) and shape), shape) for x in (lb, ub)
        )
        return self._bind(self.constraints, BoundingBoxConstraint(lower.ravel(), upper.ravel()), vars)

    def AddQuadraticConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddQuadraticConstraint(Q, b, lb, ub, vars) or (expression, lb, ub): lb <= 0.5 x' Q x + b' x <= ub."""
        named.pop("hessian_type", None)
        if len(given) + len(named) >= 5:
            Q, b, lb, ub, vars = ordered_arguments(given, named, ("Q", "b", "lb", "ub", "vars"))
            return self._bind(self.constraints, QuadraticConstraint(Q, b, lb, ub), vars)
        return self._of_kind(self.AddConstraint(*given, **named), QuadraticConstraint)

    def AddLorentzConeConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddLorentzConeConstraint(v) or (A, b, vars): z[0] >= |z[1:]| of the expressions v, or of A x + b."""
        if len(given) == 1:
            found = polynomials(list(flat_variables(given[0])))
            if found is None or not found.is_linear:
                raise RuntimeError("a Lorentz cone is one of linear expressions")
            return self._bind(self.constraints, LorentzConeConstraint(found.A, found.c), found.variables)
        A, b, vars = ordered_arguments(given, named, ("A", "b", "vars"))
        return self._bind(self.constraints, LorentzConeConstraint(A, b), vars)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        reason = "; semidefinite and sum-of-squares programs need a solver that mbcli does not have"
        about = reason if any(word in name for word in SEMIDEFINITE) else ""
        raise AttributeError(f"MathematicalProgram has no {name}(){about}")

    def RemoveCost(self, cost: Binding) -> int:
        """Takes a cost away; returns how many there were of it."""
        return self._remove(self.costs, cost)

    def RemoveConstraint(self, constraint: Binding) -> int:
        """Takes a constraint away; returns how many there were of it."""
        return self._remove(self.constraints, constraint)

    def _remove(self, kept: list[Binding], binding: Binding) -> int:
        before = len(kept)
        kept[:] = [other for other in kept if other is not binding]
        return before - len(kept)

    # what there is

    def GetAllCosts(self) -> list[Binding]:
        """All costs."""
        return list(self.costs)

    def GetAllConstraints(self) -> list[Binding]:
        """All constraints."""
        return list(self.constraints)

    def linear_costs(self) -> list[Binding]:
        """The linear costs."""
        return bindings_of(self.costs, LinearCost)

    def quadratic_costs(self) -> list[Binding]:
        """The quadratic costs."""
        return bindings_of(self.costs, QuadraticCost)

    def generic_costs(self) -> list[Binding]:
        """The costs that are neither linear nor quadratic."""
        return [c for c in self.costs if not isinstance(c.evaluator(), (LinearCost, QuadraticCost, L2NormCost))]

    def linear_constraints(self) -> list[Binding]:
        """Linear inequalities, without bounds of variables."""
        return bindings_of(self.constraints, LinearConstraint)

    def GetLinearConstraints(self) -> list[Binding]:
        """Linear inequalities and equations."""
        return [*self.linear_constraints(), *self.linear_equality_constraints()]

    def linear_equality_constraints(self) -> list[Binding]:
        """Linear equations."""
        return bindings_of(self.constraints, LinearEqualityConstraint)

    def bounding_box_constraints(self) -> list[Binding]:
        """Bounds of variables."""
        return bindings_of(self.constraints, BoundingBoxConstraint)

    def quadratic_constraints(self) -> list[Binding]:
        """Quadratic constraints."""
        return bindings_of(self.constraints, QuadraticConstraint)

    def lorentz_cone_constraints(self) -> list[Binding]:
        """Lorentz cones."""
        return bindings_of(self.constraints, LorentzConeConstraint)

    def generic_constraints(self) -> list[Binding]:
        """The other ones."""
        known = (LinearConstraint, QuadraticConstraint, LorentzConeConstraint)
        return [c for c in self.constraints if not isinstance(c.evaluator(), known)]

    def positions_of(self, binding: Binding) -> list[int]:
        """The places of the variables of a cost or constraint."""
        if binding not in self._places:
            self._places[binding] = [self._index[v] for v in binding.variables()]
        return self._places[binding]

    # values

    def EvalBinding(self, binding: Binding, prog_var_vals: ArrayLike) -> Array:
        """The values (m,) of a cost or constraint where all variables (n,) have these values."""
        return binding.evaluator().Eval(self.GetBindingVariableValues(binding, prog_var_vals))

    def EvalBindings(self, bindings: Sequence[Binding], prog_var_vals: ArrayLike) -> Array:
        """Those of several, one after another."""
        return np.concatenate([self.EvalBinding(b, prog_var_vals) for b in bindings])

    def EvalBindingVectorized(self, binding: Binding, prog_var_vals: ArrayLike) -> Array:
        """(m, k) for k columns of values (n, k)."""
        return np.array([self.EvalBinding(binding, x) for x in np.asarray(prog_var_vals).T]).T

    def EvalBindingAtInitialGuess(self, binding: Binding) -> Array:
        """The values at the guess."""
        return self.EvalBinding(binding, self.initial_guess())

    def GetBindingVariableValues(self, binding: Binding, prog_var_vals: ArrayLike) -> FloatArray:
        """The values of its variables among those of all."""
        return np.asarray(prog_var_vals)[self.positions_of(binding)]

    @also_named(bindings="binding")
    def CheckSatisfied(self, binding: Any, prog_var_vals: ArrayLike, tol: float = 1e-6) -> bool:
        """Whether a constraint, or each of a list, holds at values (n,) of all variables."""
        bindings = [binding] if isinstance(binding, Binding) else list(binding)
        x = np.asarray(prog_var_vals, dtype=float)
        return all(b.evaluator().CheckSatisfied(x[self.positions_of(b)], tol) for b in bindings)

    @also_named(bindings="binding")
    def CheckSatisfiedAtInitialGuess(self, binding: Any, tol: float = 1e-6) -> bool:
        """The same at the guess."""
        return self.CheckSatisfied(binding, self.initial_guess(), tol)

    # options

    def SetSolverOption(self, solver_id: Any, solver_option: str, option_value: Any) -> None:
        """An option of a solver."""
        self._options.SetOption(solver_id, solver_option, option_value)

    def SetSolverOptions(self, options: SolverOptions) -> None:
        """Takes all options."""
        self._options = options

    def solver_options(self) -> SolverOptions:
        """The SolverOptions."""
        return self._options

    def ToLatex(self, precision: int = 3) -> str:
        """The program in LaTeX, numbers to so many decimals."""
        return program_in_latex(self._variables, self.costs, self.constraints, precision)

    def __str__(self) -> str:
        lines = [f"Decision variables: {' '.join(map(str, self._variables))}", ""]
        return "\n".join([*lines, *map(str, [*self.costs, *self.constraints])])

    def Clone(self) -> MathematicalProgram:
        """A program of the same variables, costs and constraints."""
        other = MathematicalProgram()
        other.__dict__.update((name, copy(value)) for name, value in self.__dict__.items())
        return other

    __copy__ = Clone
