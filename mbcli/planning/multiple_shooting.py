"""Programs for a motion whose states and inputs at times of a grid are variables; how they follow is for others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.other_names import also_named
from mbcli.solvers.binding import Binding
from mbcli.solvers.evaluators import Cost, LinearConstraint, LinearEqualityConstraint
from mbcli.solvers.mathematical_program import MathematicalProgram
from mbcli.solvers.symbolic_parts import DecisionVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.solvers.evaluators import EvaluatorBase
    from mbcli.solvers.solve import MathematicalProgramResult
    from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial

GUESS = 0.003  # of what no trajectory is given for: not 0, where slopes may vanish


class MultipleShooting(ABC):
    """States x, inputs u and time steps h over num_time_samples; DirectCollocation and DirectTranscription derive.

    time(), state(), input() and what NewSequentialVariable() gives stand for the variables at any sample, in costs and
    constraints that are added here.

    Args:
        time_step: [s], or (least, largest) of steps that are variables.
        prog: that takes the variables, costs and constraints; a new one if not given.
    """

    def __init__(
        self,
        num_inputs: int,
        num_states: int,
        num_time_samples: int,
        time_step: float | tuple[float, float],
        prog: MathematicalProgram | None,
    ) -> None:
        if num_time_samples < 2:
            raise RuntimeError(f"a motion has two samples at least, not {num_time_samples}")
        self._prog = MathematicalProgram() if prog is None else prog
        self.num_samples, self._fixed_step = int(num_time_samples), None if isinstance(time_step, tuple) else time_step
        self._stand_ins: dict[Any, tuple[str, int]] = {}
        self._variables: dict[str, Array] = {}
        self._own: dict[str, Array] = {}
        self._time = DecisionVariable("t", real=True)
        self._stands("x", num_states, self._prog.NewContinuousVariables(num_states * self.num_samples, "x"))
        self._stands("u", num_inputs, self._prog.NewContinuousVariables(num_inputs * self.num_samples, "u"))
        self._last_parsed: tuple[Any, tuple[EvaluatorBase, Array]] | None = None  # one formula is added at all samples
        self._h = np.zeros(0, dtype=object)
        if isinstance(time_step, tuple):
            if not 0.0 <= time_step[0] <= time_step[1]:
                raise RuntimeError(f"time steps from {time_step[0]} to {time_step[1]} are none")
            self._h = self._prog.NewContinuousVariables(self.num_samples - 1, "h")
            self._prog.AddBoundingBoxConstraint(*time_step, self._h)

    def _stands(self, name: str, rows: int, variables: Array) -> Array:
        """Stand-ins for rows of variables, which are one sample after another."""
        self._own[name] = np.array([DecisionVariable(f"{name}({k})", real=True) for k in range(rows)], dtype=object)
        self._stand_ins |= {v: (name, k) for k, v in enumerate(self._own[name])}
        self._variables[name] = np.asarray(variables, dtype=object).reshape(self.num_samples, rows)
        return self._own[name]

    def prog(self) -> MathematicalProgram:
        """The program."""
        return self._prog

    def time(self) -> Array:
        """The stand-in (1,) for the time [s]."""
        return np.array([self._time], dtype=object)

    def time_step(self, index: int) -> Array:
        """The variable (1,) of a time step. RuntimeError where steps are fixed."""
        self._require_steps()
        return self._h[[index]]

    def fixed_time_step(self) -> float:
        """[s]. RuntimeError where steps are variables."""
        if self._fixed_step is None:
            raise RuntimeError("the time steps are variables")
        return self._fixed_step

    def state(self, index: int | None = None) -> Array:
        """Stand-ins (nx,) for the state, or its variables at a sample."""
        return self._own["x"] if index is None else self._variables["x"][index]

    def input(self, index: int | None = None) -> Array:
        """Stand-ins (nu,) for the input, or its variables at a sample."""
        return self._own["u"] if index is None else self._variables["u"][index]

    def initial_state(self) -> Array:
        """The variables (nx,) of the first state."""
        return self.state(0)

    def final_state(self) -> Array:
        """The variables (nx,) of the last state."""
        return self.state(-1)

    def NewSequentialVariable(self, rows: int, name: str) -> Array:
        """Stand-ins (rows,) for new variables at each sample."""
        if name in self._variables:
            raise RuntimeError(f"there is a sequence '{name}' already")
        made = self._prog.NewContinuousVariables(rows, self.num_samples, name)
        return self._stands(name, rows, made.T)

    def GetSequentialVariableAtIndex(self, name: str, index: int) -> Array:
        """The variables (rows,) of a sequence at a sample."""
        return self._sequence(name)[index]

    def _sequence(self, name: str) -> Array:
        if name not in self._variables:
            raise RuntimeError(f"there is no sequence '{name}'")
        return self._variables[name]

    # constraints

    def AddDurationBounds(self, lower_bound: float, upper_bound: float) -> Binding:
        """Bounds [s] of the sum of the time steps."""
        self._require_steps()
        made = LinearConstraint(np.ones((1, self._h.size)), [lower_bound], [upper_bound])
        return self._prog.AddConstraint(made, self._h)

    def AddTimeIntervalBounds(self, lower_bound: float, upper_bound: float) -> Binding:
        """Bounds [s] of each time step."""
        self._require_steps()
        return self._prog.AddBoundingBoxConstraint(lower_bound, upper_bound, self._h)

    def AddEqualTimeIntervalsConstraints(self) -> list[Binding]:
        """All time steps are equal."""
        self._require_steps()
        return [
            self._prog.AddConstraint(LinearEqualityConstraint([[1.0, -1.0]], [0.0]), self._h[k : k + 2])
            for k in range(self._h.size - 1)
        ]

    def AddConstraintToAllKnotPoints(self, *given: Any, **named: Any) -> list[Binding]:
        """(f): a formula, or an array of them, of stand-ins; (constraint, vars): a constraint of stand-ins."""
        given = (*given, *(named.pop(name) for name in ("f", "constraint", "vars") if name in named))
        if named or not 1 <= len(given) <= 2:
            raise TypeError("arguments are f, or constraint and vars")
        formulas = [given[0]] if len(given) == 2 else list(np.asarray(given[0], dtype=object).ravel())
        return [b for f in formulas for b in self._everywhere("AddConstraint", f, *given[1:])]

    def _require_steps(self) -> None:
        if self._fixed_step is not None:
            raise RuntimeError("the time steps are fixed: there are no variables of them")

    # costs

    def AddRunningCost(self, g: Any) -> None:
        """Adds the integral of an expression, or a matrix of one, of stand-ins over time."""
        g = _scalar(g)
        for index in range(self.num_samples):
            weights = self._weights_of_running_cost(index)
            if self._fixed_step is not None and weights:
                self._at("AddCost", index, self._fixed_step * sum(weights.values()) * g, prog=self._prog)
            elif weights:
                binding = self._at("AddCost", index, g, prog=None)
                made = _TimesSteps(binding.evaluator(), np.array(list(weights.values())))
                steps = [self._h[k] for k in weights]
                self._prog.AddCost(made, np.array([*steps, *binding.variables()], dtype=object))

    @abstractmethod
    def _weights_of_running_cost(self, index: int) -> dict[int, float]:
        """{time step: share} by whose sum the running cost at a sample counts."""

    @also_named(matrix="e")
    def AddFinalCost(self, e: Any) -> Binding:
        """Adds an expression, or a matrix of one, of stand-ins at the last sample."""
        return self._at("AddCost", self.num_samples - 1, _scalar(e), prog=self._prog)

    # stand-ins

    def _everywhere(self, method: str, *given: Any) -> list[Binding]:
        return [self._at(method, index, *given, prog=self._prog) for index in range(self.num_samples)]

    def _at(self, method: str, index: int, what: Any, vars: Any = None, *, prog: Any) -> Binding:
        """Adds to prog a cost or constraint of stand-ins, of the variables at a sample; only makes it without one."""
        if vars is None and self._time in getattr(what, "free_symbols", ()):
            what = what.subs(self._time, sum(self._h[:index]) if self._fixed_step is None else index * self._fixed_step)
        vars = None if vars is None else tuple(np.ravel(np.asarray(vars, dtype=object)))
        key = method, what, vars
        if self._last_parsed is None or self._last_parsed[0] != key:
            self._last_parsed = key, _parsed(*key)
        evaluator, variables = self._last_parsed[1]
        own = [self._variable_at(v, index) for v in variables]
        binding = Binding(evaluator, own)
        return binding if prog is None else getattr(prog, method)(evaluator, np.array(own, dtype=object))

    def _variable_at(self, v: Any, index: int) -> Any:
        if v == self._time:
            raise RuntimeError("the time stands in expressions and formulas, not among variables")
        name, k = self._stand_ins.get(v, ("", 0))
        return self._variables[name][index, k] if name else v

    # guesses and results

    def SetInitialTrajectory(self, traj_init_u: PiecewisePolynomial, traj_init_x: PiecewisePolynomial) -> None:
        """Guesses inputs and states from trajectories of the same times; small numbers for one that is empty."""
        kept = {"u": traj_init_u, "x": traj_init_x}
        kept = {name: curve for name, curve in kept.items() if curve.rows()}
        if not kept:
            raise RuntimeError("a guess needs a trajectory")
        ends = {(curve.start_time(), curve.end_time()) for curve in kept.values()}
        if len(ends) > 1:
            raise RuntimeError(f"trajectories have the same start and end: {sorted(ends)}")
        start, end = ends.pop()
        step = (end - start) / (self.num_samples - 1)
        if self._fixed_step is None:
            self._prog.SetInitialGuess(self._h, np.full(self._h.size, step))
        else:
            step = self._fixed_step
        for name in ("u", "x"):
            variables = self._variables[name]
            values = np.full(variables.shape, GUESS)
            if name in kept:
                values = np.array([kept[name].value(start + k * step).reshape(-1) for k in range(self.num_samples)])
            self._prog.SetInitialGuess(variables, values)

    def GetSampleTimes(self, result: MathematicalProgramResult) -> FloatArray:
        """(n,) [s]"""
        return self._times(np.array(result.GetSolution(self._h), dtype=float) if self._h.size else None)

    def _times(self, h: FloatArray | None) -> FloatArray:
        steps = np.full(self.num_samples - 1, self._fixed_step) if h is None else h.reshape(-1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    def GetInputSamples(self, result: MathematicalProgramResult) -> FloatArray:
        """(nu, n)"""
        return self.GetSequentialVariableSamples(result, "u")

    def GetStateSamples(self, result: MathematicalProgramResult) -> FloatArray:
        """(nx, n)"""
        return self.GetSequentialVariableSamples(result, "x")

    def GetSequentialVariableSamples(self, result: MathematicalProgramResult, name: str) -> FloatArray:
        """(rows, n) of a sequence."""
        variables = self._sequence(name)
        return np.array(result.GetSolution(variables.ravel()), dtype=float).reshape(variables.shape).T

    @abstractmethod
    def ReconstructInputTrajectory(self, result: MathematicalProgramResult) -> PiecewisePolynomial:
        """The inputs over time, as the way from one sample to the next has them."""

    @abstractmethod
    def ReconstructStateTrajectory(self, result: MathematicalProgramResult) -> PiecewisePolynomial:
        """The states over time, as the way from one sample to the next has them."""

    # callbacks

    def AddInputTrajectoryCallback(self, callback: Callable[[FloatArray, FloatArray], Any]) -> Binding:
        """Calls a function with times (n,) and inputs (nu, n) as the solver goes."""
        return self._show(("u",), callback)

    def AddStateTrajectoryCallback(self, callback: Callable[[FloatArray, FloatArray], Any]) -> Binding:
        """Calls a function with times (n,) and states (nx, n) as the solver goes."""
        return self._show(("x",), callback)

    def AddCompleteTrajectoryCallback(self, callback: Callable[..., Any], names: Sequence[str]) -> Binding:
        """Calls a function with times, states, inputs and a list of the named sequences (rows, n)."""
        return self._show(("x", "u", *names), lambda t, x, u, *others: callback(t, x, u, list(others)))

    def _show(self, names: Sequence[str], callback: Callable[..., Any]) -> Binding:
        parts = [self._h, *(self._sequence(name) for name in names)]

        def show(values: FloatArray) -> None:
            ends = np.cumsum([part.size for part in parts])
            h, *others = (
                piece.reshape(part.shape) for piece, part in zip(np.split(values, ends[:-1]), parts, strict=True)
            )
            callback(self._times(h if h.size else None), *(value.T for value in others))

        return self._prog.AddVisualizationCallback(show, np.concatenate([part.ravel() for part in parts]))


class _TimesSteps(Cost):
    """shares . h * g(z) of [h, z]."""

    def __init__(self, g: EvaluatorBase, shares: FloatArray) -> None:
        self._g, self._shares, n = g, shares, shares.size
        super().__init__(lambda x: shares @ x[:n] * g.Eval(x[n:])[0], 1, n + g.num_vars())

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (1, n)."""
        n = self._shares.size
        by_steps = self._g.values(x[n:])[0] * self._shares
        return np.concatenate([by_steps, self._shares @ x[:n] * self._g.jacobian(x[n:])[0]])[None]


def _scalar(g: Any) -> Any:
    found = np.asarray(g, dtype=object)
    if found.size != 1:
        raise RuntimeError(f"a cost is one expression, not {found.shape}")
    return found.reshape(-1)[0]


def _parsed(method: str, what: Any, vars: Any) -> tuple[EvaluatorBase, Array]:
    """The cost or constraint that a program makes of an expression, a formula, or what is one already."""
    scratch = MathematicalProgram()
    scratch.AddDecisionVariables(sorted(getattr(what, "free_symbols", ()) if vars is None else set(vars), key=str))
    binding = getattr(scratch, method)(what) if vars is None else getattr(scratch, method)(what, vars)
    return binding.evaluator(), binding.variables()
