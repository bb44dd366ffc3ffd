"""What all parts of a program share: its variables, the bindings of costs and constraints, a guess, options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.other_names import also_named
from mbcli.solvers.attributes import attributes_of
from mbcli.solvers.binding import Binding, bindings_of
from mbcli.solvers.complementarity import LinearComplementarityConstraint
from mbcli.solvers.cones import (
    ConeConstraint,
    ExponentialConeConstraint,
    LinearMatrixInequalityConstraint,
    LorentzConeConstraint,
    PositiveSemidefiniteConstraint,
    RotatedLorentzConeConstraint,
)
from mbcli.solvers.evaluators import (
    BoundingBoxConstraint,
    Cost,
    LinearConstraint,
    LinearCost,
    LinearEqualityConstraint,
    QuadraticConstraint,
    QuadraticCost,
)
from mbcli.solvers.given_arguments import flat_variables
from mbcli.solvers.norms import L2NormCost, NormCost
from mbcli.solvers.options import SolverOptions
from mbcli.solvers.symbolic_parts import DecisionVariable, named_variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.solvers.attributes import ProgramAttribute
    from mbcli.solvers.evaluators import EvaluatorBase


class ProgramCore:
    """Variables, bindings and a guess."""

    def __init__(self) -> None:
        self._variables: list[Any] = []
        self._index: dict[Any, int] = {}
        self._indeterminates: dict[Any, int] = {}
        self._binary: set[int] = set()
        self._places: dict[Binding, list[int]] = {}
        self._guess: list[float] = []
        self._scaling: dict[int, float] = {}
        self.costs: list[Binding] = []
        self.constraints: list[Binding] = []
        self.callbacks: list[Binding] = []
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
        made = named_variables(rows, cols, name)
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
        place = self._index.get(var)
        if place is None:
            raise RuntimeError(f"{var} is no variable of this program")
        return place

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

    # bindings

    def _of_kind(self, binding: Binding, kind: type) -> Binding:
        if isinstance(binding.evaluator(), kind):
            return binding
        (self.costs if isinstance(binding.evaluator(), Cost) else self.constraints).remove(binding)
        raise RuntimeError(f"the expression is a {type(binding.evaluator()).__name__}, not a {kind.__name__}")

    def _bind_cost(self, cost: EvaluatorBase, vars: Any) -> Binding:
        return self._bind(self.costs, cost, vars)

    def _bind(self, kept: list[Binding], evaluator: EvaluatorBase, vars: Any) -> Binding:
        binding = Binding(evaluator, flat_variables(vars))
        places = self.FindDecisionVariableIndices(binding.variables())
        if binding.GetNumElements() != evaluator.num_vars():
            raise RuntimeError(
                f"a function of {evaluator.num_vars()} variables is bound to {binding.GetNumElements()} of them"
            )
        kept.append(binding)
        self._places[binding] = places
        return binding

    def RemoveCost(self, cost: Binding) -> int:
        """Takes a cost away; returns how many there were of it."""
        return self._remove(self.costs, cost)

    def RemoveConstraint(self, constraint: Binding) -> int:
        """Takes a constraint away; returns how many there were of it."""
        return self._remove(self.constraints, constraint)

    def _remove(self, kept: list[Binding], binding: Binding) -> int:
        before = len(kept)
        kept[:] = [other for other in kept if other != binding]
        return before - len(kept)

    def RemoveVisualizationCallback(self, callback: Binding) -> int:
        """Takes a callback away; returns how many there were of it."""
        return self._remove(self.callbacks, callback)

    def RemoveDecisionVariable(self, var: Any) -> int:
        """Takes a variable away that no cost or constraint has; returns what its place was. RuntimeError for others."""
        place = self.FindDecisionVariableIndex(var)
        user = next((b for b in (*self.costs, *self.constraints, *self.callbacks) if var in set(b.variables())), None)
        if user is not None:
            raise RuntimeError(f"{var} is used by {user!r}")
        del self._variables[place], self._guess[place]
        self._index = {v: k for k, v in enumerate(self._variables)}
        self._binary = {k - (k > place) for k in self._binary if k != place}
        self._scaling = {k - (k > place): s for k, s in self._scaling.items() if k != place}
        self._places.clear()
        return place

    # scaling

    def SetVariableScaling(self, var: Any, s: float) -> None:
        """How large a variable is expected to be; solvers here do not need it. RuntimeError if it is not positive."""
        if not s > 0.0:
            raise RuntimeError(f"the scale of {var} is positive, not {s}")
        self._scaling[self.FindDecisionVariableIndex(var)] = float(s)

    def GetVariableScaling(self) -> dict[int, float]:
        """{place of a variable: its scale}"""
        return dict(self._scaling)

    def ClearVariableScaling(self) -> None:
        """No variable has a scale."""
        self._scaling.clear()

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
        return [c for c in self.costs if not isinstance(c.evaluator(), (LinearCost, QuadraticCost, NormCost))]

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

    def rotated_lorentz_cone_constraints(self) -> list[Binding]:
        """Rotated Lorentz cones."""
        return bindings_of(self.constraints, RotatedLorentzConeConstraint)

    def exponential_cone_constraints(self) -> list[Binding]:
        """Exponential cones."""
        return bindings_of(self.constraints, ExponentialConeConstraint)

    def positive_semidefinite_constraints(self) -> list[Binding]:
        """Semidefinite matrices of variables."""
        return bindings_of(self.constraints, PositiveSemidefiniteConstraint)

    def linear_matrix_inequality_constraints(self) -> list[Binding]:
        """Semidefinite matrices that are sums."""
        return bindings_of(self.constraints, LinearMatrixInequalityConstraint)

    def linear_complementarity_constraints(self) -> list[Binding]:
        """Linear complementarity."""
        return bindings_of(self.constraints, LinearComplementarityConstraint)

    def l2norm_costs(self) -> list[Binding]:
        """The costs that are lengths."""
        return bindings_of(self.costs, L2NormCost)

    def visualization_callbacks(self) -> list[Binding]:
        """What is called in each iteration."""
        return list(self.callbacks)

    def required_capabilities(self) -> set[ProgramAttribute]:
        """The kinds of costs, constraints and variables that a solver must take."""
        return attributes_of(self)

    def IsThreadSafe(self) -> bool:
        """Whether no cost or constraint is a function of Python."""
        return all(b.evaluator().is_thread_safe() for b in (*self.costs, *self.constraints))

    def generic_constraints(self) -> list[Binding]:
        """The other ones."""
        known = (LinearConstraint, QuadraticConstraint, ConeConstraint, LinearComplementarityConstraint)
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
