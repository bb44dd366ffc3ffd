"""Solve(): which solver of SciPy a program takes, and what comes of it.

| the program has | solver |
|---|---|
| linear costs and constraints, binary variables | HiGHS (scipy.optimize.milp) |
| convex quadratic costs, linear equations | one system of linear equations |
| convex quadratic costs and norms, linear constraints, cones | Clarabel (extra `solvers`); else SLSQP |
| linear complementarity alone | Lemke's pivots |
| constraints of any kind, no costs | least squares (constraint_rows.py), else SLSQP |
| all else without binary variables | SLSQP with exact derivatives; from 300 variables on IPOPT, the extra `casadi` |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.symbolic_polynomial import Polynomial
from mbcli.numbered_enum import NumberedEnum
from mbcli.solvers import ipopt
from mbcli.solvers.complementarity import LinearComplementarityConstraint, lemke
from mbcli.solvers.cone_rows import Elements
from mbcli.solvers.conic import RESULTS, is_convex_cost, minimize_quadratic, needs_cones, takes_constraints
from mbcli.solvers.constraint_rows import ConstraintRows
from mbcli.solvers.cost_sum import CostSum
from mbcli.solvers.evaluators import BoundingBoxConstraint, LinearConstraint, LinearCost, QuadraticCost
from mbcli.solvers.norms import NormCost
from mbcli.solvers.options import CommonSolverOption, SolverId, SolverOptions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import BoolArray, FloatArray
    from mbcli.solvers.binding import Binding
    from mbcli.solvers.mathematical_program import MathematicalProgram

TOLERANCE = 1e-6  # by which constraints may be off in a solution
OPTIMALITY = 1e-9  # of costs, where SLSQP stops
ITERATIONS = 1000
FEW = 50  # variables up to which a program with costs begins where its constraints hold; paths have good guesses
LARGE = 300  # variables from which on IPOPT solves, where it is installed: SLSQP's steps take their number cubed
ATTEMPTS = 3  # of SLSQP, which stops where linear models of constraints contradict each other


class SolutionResult(NumberedEnum):
    """How solving ended."""

    kSolutionFound = 0
    kInvalidInput = -1
    kInfeasibleConstraints = -2
    kUnbounded = -3
    kSolverSpecificError = -4
    kInfeasibleOrUnbounded = -5
    kIterationLimit = -6
    kDualInfeasible = -7
    kSolutionResultNotSet = -8


NO_LEAST_COST = {
    SolutionResult.kInfeasibleConstraints: np.inf,
    SolutionResult.kUnbounded: -np.inf,
    SolutionResult.kDualInfeasible: -np.inf,
}


class SolverDetails(str):
    """What a solver said at the end, as text; the status is that of the solution result here, whichever the solver."""

    __slots__ = ("status",)

    status: int  # a number of SolutionResult

    def __new__(cls, message: str, result: SolutionResult) -> SolverDetails:
        details = super().__new__(cls, message or result.name)
        details.status = result.value
        return details

    def ConvertStatusToString(self) -> str:
        """The text."""
        return str(self)


class MathematicalProgramResult:
    """What a solver found."""

    def __init__(
        self,
        prog: Any = None,
        x: FloatArray | None = None,
        status: SolutionResult = SolutionResult.kSolutionResultNotSet,
        solver: str = "",
        message: str = "",
    ) -> None:
        x = np.zeros(0) if x is None else x
        self._prog, self._x, self._status, self._solver, self._message = prog, x, status, solver, message

    def is_success(self) -> bool:
        """Whether it is a solution."""
        return self._status is SolutionResult.kSolutionFound

    def get_solution_result(self) -> SolutionResult:
        """How it ended."""
        return self._status

    def get_solver_id(self) -> SolverId:
        """Which solver."""
        return SolverId(self._solver)

    def get_solver_details(self) -> SolverDetails:
        """What the solver said at the end."""
        return SolverDetails(self._message, self._status)

    def get_x_val(self) -> FloatArray:
        """The values (n,) of all variables."""
        return self._x.copy()

    def set_x_val(self, x_val: ArrayLike) -> None:
        """Replaces them."""
        self._x = np.array(x_val, dtype=float).reshape(self._x.shape)

    def SetSolution(self, var: Any, value: float) -> None:
        """Replaces the value of a variable."""
        self._x[self._prog.FindDecisionVariableIndex(var)] = float(value)

    def get_optimal_cost(self) -> float:
        """The sum of all costs; infinite where constraints cannot hold, minus infinite where nothing bounds it."""
        if self._status in NO_LEAST_COST and self._solver in ("HiGHS", "Clarabel"):
            return NO_LEAST_COST[self._status]
        return total_cost(self._prog, self._x)

    def GetSolution(self, var: Any = None) -> Any:
        """The values of all variables, of one, of an array of them, or of expressions of them."""
        if var is None:
            return self.get_x_val()
        given = np.asarray(var, dtype=object)
        values = [self._value(e) for e in given.ravel()]
        if given.ndim == 0:
            return values[0]
        return np.array(values).reshape(_shape_of_solution(given, self._prog))

    def _value(self, e: Any) -> Any:
        try:
            return float(self._x[self._prog.FindDecisionVariableIndex(e)])
        except RuntimeError:
            if not hasattr(e, "free_symbols") and not isinstance(e, Polynomial):
                return e
        prog = self._prog
        if isinstance(e, Polynomial):
            return Polynomial({m: self._value(c) for m, c in e.monomial_to_coefficient_map().items()}, e.variables)
        found = e.subs({v: self._x[prog.FindDecisionVariableIndex(v)] for v in e.free_symbols if prog.has_variable(v)})
        return float(found) if found.is_number else found

    def EvalBinding(self, binding: Binding) -> FloatArray:
        """The values of a cost or constraint."""
        return self._prog.EvalBinding(binding, self._x)

    def GetInfeasibleConstraints(self, prog: MathematicalProgram, tol: float | None = None) -> list[Binding]:
        """The constraints that do not hold, by more than a tolerance."""
        allowed = TOLERANCE if tol is None else tol
        return [b for b in prog.GetAllConstraints() if not prog.CheckSatisfied(b, self._x, allowed)]

    def GetInfeasibleConstraintNames(self, prog: MathematicalProgram, tol: float | None = None) -> list[str]:
        """Descriptions of the constraints that do not hold."""
        return [b.evaluator().get_description() or repr(b) for b in self.GetInfeasibleConstraints(prog, tol)]

    def GetDualSolution(self, constraint: Binding) -> FloatArray:
        """By how much the least cost changes with the bounds of a constraint, (m,): 0 for a bound that is not reached.

        From derivatives at the solution, whichever solver found it. Where several are right, as of equations that
        depend on each other, one of them. RuntimeError where none is, and for cones.
        """
        from mbcli.solvers.shadow_prices import shadow_prices  # late: few programs ask

        return shadow_prices(self._prog, self._x)[constraint]

    def num_suboptimal_solution(self) -> int:
        """0: no solver here gives more than one."""
        return 0


def _shape_of_solution(given: Any, prog: MathematicalProgram) -> tuple[int, ...]:
    """As pydrake has it: a column of variables gives a vector, a vector of expressions a column."""
    if all(map(prog.has_variable, given.flat)):
        return given.shape if given.ndim == 1 or given.shape[1] != 1 else (given.size,)
    return given.shape if given.ndim == 2 else (given.size, 1)


def Solve(
    prog: MathematicalProgram, initial_guess: ArrayLike | None = None, solver_options: SolverOptions | None = None
) -> MathematicalProgramResult:
    """Looks for values of the variables by which constraints hold and costs are small.

    Args:
      prog: MathematicalProgram.
      initial_guess: (n,), in [unit of each]; that of the program if not given, 0 where it has none.
      solver_options: in place of those of the program.

    Returns:
      The MathematicalProgramResult: is_success(), GetSolution(variables).

    Raises:
      RuntimeError: binary variables in a program that is not linear.

    Example:
      >>> prog = MathematicalProgram()
      >>> x = prog.NewContinuousVariables(1)
      >>> bounds, cost = prog.AddBoundingBoxConstraint(0.5, 2.0, x), prog.AddCost(x[0] ** 2)
      >>> Solve(prog).GetSolution(x).round(6)
      array([0.5])
    """
    options = prog.solver_options() if solver_options is None else solver_options
    result = _solved(prog, initial_guess, options)
    show_iteration(prog, result.get_x_val())
    _print(result, options)
    return result


def _print(result: MathematicalProgramResult, options: SolverOptions) -> None:
    """How it ended, in a line, where common options ask for it."""
    line = f"{result.get_solver_id().name()}: {result.get_solver_details()}"
    if options.acting((CommonSolverOption.kPrintToConsole,), 0):
        print(line)
    path = options.acting((CommonSolverOption.kPrintFileName,), "")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def _solved(
    prog: MathematicalProgram, initial_guess: ArrayLike | None, options: SolverOptions
) -> MathematicalProgramResult:
    is_conic = needs_cones(prog)
    is_linear = all(isinstance(c.evaluator(), LinearCost) for c in prog.costs)
    has_linear_constraints = all(isinstance(c.evaluator(), LinearConstraint) for c in prog.constraints)
    if is_linear and has_linear_constraints:
        return _highs(prog)
    if prog.binary_indices():
        raise RuntimeError("binary variables need linear costs and constraints here")
    costs = [c.evaluator() for c in prog.costs]
    is_convex = all(map(is_convex_cost, costs))
    if prog.constraints and not costs and len(prog.linear_complementarity_constraints()) == len(prog.constraints):
        return _complementary(prog)
    has_equations = has_linear_constraints and len(prog.linear_equality_constraints()) == len(prog.constraints)
    if is_convex and has_equations and not any(isinstance(c, NormCost) for c in costs):
        return _equality_constrained(prog)
    if is_conic or (is_convex and costs and takes_constraints(prog)):
        return _conic(prog, options)
    return _nonlinear(prog, _start(prog, initial_guess), options)


def _start(prog: MathematicalProgram, initial_guess: ArrayLike | None) -> FloatArray:
    """The guess (n,) that is given, or that of the program; 0 where it has none."""
    start = prog.initial_guess() if initial_guess is None else np.asarray(initial_guess, dtype=float).reshape(-1)
    return np.nan_to_num(start, nan=0.0)


def solve_by_ipopt(prog: MathematicalProgram, initial_guess: Any, options: SolverOptions) -> MathematicalProgramResult:
    """By IPOPT, whatever the program has; ResourceError where it is not there, RuntimeError for binary variables."""
    if prog.binary_indices():
        raise RuntimeError("IPOPT takes no binary variables")
    bounds = _bounds(prog)
    return _ipopt(
        prog, np.clip(_start(prog, initial_guess), *bounds), ConstraintRows(prog, _others(prog)), bounds, options
    )


def show_iteration(prog: MathematicalProgram, x: FloatArray) -> None:
    """Calls the visualization callbacks of a program with values (n,) of all variables."""
    for b in prog.callbacks:
        b.evaluator().Eval(x[prog.positions_of(b)])


def total_cost(prog: MathematicalProgram, x: FloatArray) -> float:
    """The sum of all costs at values (n,) of all variables."""
    return float(sum(b.evaluator().values(x[prog.positions_of(b)])[0] for b in prog.costs))


def _linear_rows(prog: MathematicalProgram, bindings: list[Any]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(A, lower, upper) of all variables."""
    total = sum(b.evaluator().num_constraints() for b in bindings)
    A, lower, upper, row = np.zeros((total, prog.num_vars())), np.zeros(total), np.zeros(total), 0
    for b in bindings:
        c = b.evaluator()
        rows = slice(row, row + c.num_constraints())
        for k, place in enumerate(prog.positions_of(b)):
            A[rows, place] += c.A()[:, k]
        lower[rows], upper[rows], row = c.lower_bound(), c.upper_bound(), rows.stop
    return A, lower, upper


def _bounds(prog: MathematicalProgram) -> tuple[FloatArray, FloatArray]:
    lower, upper = np.full(prog.num_vars(), -np.inf), np.full(prog.num_vars(), np.inf)
    for b in prog.bounding_box_constraints():
        places = prog.positions_of(b)
        np.maximum.at(lower, places, b.evaluator().lower_bound())
        np.minimum.at(upper, places, b.evaluator().upper_bound())
    return lower, upper


def _others(prog: MathematicalProgram) -> list[Any]:
    return [b for b in prog.constraints if not isinstance(b.evaluator(), BoundingBoxConstraint)]


def _highs(prog: MathematicalProgram) -> MathematicalProgramResult:
    from scipy.optimize import Bounds, LinearConstraint as Rows, milp

    name = "HiGHS"
    if prog.num_vars() == 0:
        return MathematicalProgramResult(prog, np.zeros(0), SolutionResult.kSolutionFound, name)
    lower, upper = _bounds(prog)
    whole = np.zeros(prog.num_vars())
    whole[prog.binary_indices()] = 1
    lower, upper = np.where(whole, np.maximum(lower, 0.0), lower), np.where(whole, np.minimum(upper, 1.0), upper)
    if (lower > upper).any():
        return MathematicalProgramResult(
            prog, np.full(prog.num_vars(), np.nan), SolutionResult.kInfeasibleConstraints, name
        )
    others = _others(prog)
    rows = Rows(*_linear_rows(prog, others)) if others else None
    found = milp(
        CostSum(prog).gradient(np.zeros(prog.num_vars())),
        integrality=whole,
        bounds=Bounds(lower, upper),
        constraints=rows,
    )
    statuses = {
        0: SolutionResult.kSolutionFound,
        1: SolutionResult.kIterationLimit,
        2: SolutionResult.kInfeasibleConstraints,
        3: SolutionResult.kUnbounded,
    }
    x = np.full(prog.num_vars(), np.nan) if found.x is None else np.asarray(found.x)
    return MathematicalProgramResult(
        prog, x, statuses.get(found.status, SolutionResult.kSolverSpecificError), name, found.message
    )


def _equality_constrained(prog: MathematicalProgram) -> MathematicalProgramResult:
    """The optimality conditions are linear; of several solutions the shortest."""
    n, name = prog.num_vars(), "EqConstrainedQP"
    A, b, _ = _linear_rows(prog, prog.constraints)
    (elements, g), m = _quadratic(prog), len(b)
    Q = np.zeros((n, n))
    np.add.at(Q, (elements.row, elements.column), elements.value)
    K = np.block([[Q, A.T], [A, np.zeros((m, m))]])
    right = np.concatenate([-g, b])
    found = np.linalg.lstsq(K, right, rcond=None)[0]
    off = K @ found - right
    scale = max(1.0, np.abs(right).max(initial=0.0))
    status = SolutionResult.kSolutionFound
    if np.abs(off[n:]).max(initial=0.0) > TOLERANCE * scale:
        status = SolutionResult.kInfeasibleConstraints
    elif np.abs(off[:n]).max(initial=0.0) > TOLERANCE * scale:
        status = SolutionResult.kUnbounded
    return MathematicalProgramResult(prog, found[:n], status, name)


def _quadratic(prog: MathematicalProgram) -> tuple[Elements, FloatArray]:
    """(Q, g) of the costs x' Q x / 2 + g' x + a number, beside those that are norms."""
    n = prog.num_vars()
    g, parts = np.zeros(n), [Elements.of(np.zeros((0, 0)))]
    for b in prog.costs:
        c, places = b.evaluator(), prog.positions_of(b)
        if not isinstance(c, NormCost):
            np.add.at(g, places, c.jacobian(np.zeros(len(places)))[0])
        if isinstance(c, QuadraticCost):
            _, row, column, value = Elements.of(c.Q(), places)
            parts.append(Elements(n, np.asarray(places, dtype=int)[row], column, value))
    row, column, value = (np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))
    return Elements(n, row, column, value), g


def _complementary(prog: MathematicalProgram) -> MathematicalProgramResult:
    """Constraints of linear complementarity, of variables of their own each, one after another."""
    x, seen = np.zeros(prog.num_vars()), set[int]()
    for b in prog.linear_complementarity_constraints():
        c: LinearComplementarityConstraint = b.evaluator()
        places = prog.positions_of(b)
        if seen & set(places):
            raise RuntimeError("a variable is in two constraints of linear complementarity")
        seen |= set(places)
        z = lemke(c.M(), c.q())
        if z is None:
            return MathematicalProgramResult(prog, x, SolutionResult.kInfeasibleConstraints, "Lemke")
        x[places] = z
    return MathematicalProgramResult(prog, x, SolutionResult.kSolutionFound, "Lemke")


def _conic(prog: MathematicalProgram, options: SolverOptions) -> MathematicalProgramResult:
    most = int(options.acting(SolverOptions.ITERATIONS, ITERATIONS))
    x, said = minimize_quadratic(prog, *_quadratic(prog), _bounds(prog), most)
    found = SolutionResult[RESULTS.get(said, "kSolverSpecificError")]
    return MathematicalProgramResult(prog, x, found, "Clarabel", said)


def _nonlinear(prog: MathematicalProgram, start: FloatArray, options: SolverOptions) -> MathematicalProgramResult:
    lower, upper = _bounds(prog)
    if (lower > upper).any():
        return MathematicalProgramResult(prog, start, SolutionResult.kInfeasibleConstraints, "SLSQP")
    start, rows = np.clip(start, lower, upper), ConstraintRows(prog, _others(prog))
    if start.size >= LARGE and ipopt.is_installed():
        found = _ipopt(prog, start, rows, (lower, upper), options)
        if prog.costs or found.is_success():
            return found
    if not prog.costs or start.size <= FEW:
        # SLSQP follows linear models: far from where constraints hold it finds worse minima, and more slowly
        near = rows.nearly_feasible(start, lower, upper)
        if all(prog.CheckSatisfied(b, near, TOLERANCE) for b in prog.constraints):
            if not prog.costs:  # nothing to choose by: the nearest place where all constraints hold
                return MathematicalProgramResult(prog, near, SolutionResult.kSolutionFound, "least squares")
            start = near
    return _slsqp(prog, start, rows, (lower, upper), options)


def _ipopt(
    prog: MathematicalProgram,
    start: FloatArray,
    rows: ConstraintRows,
    bounds: tuple[FloatArray, FloatArray],
    options: SolverOptions,
) -> MathematicalProgramResult:
    costs = CostSum(prog)

    def gradient(x: FloatArray) -> FloatArray:  # once in each iteration
        show_iteration(prog, x)
        return costs.gradient(x)

    wanted = {"max_iter": int(options.acting(SolverOptions.ITERATIONS, ITERATIONS)), **options.GetOptions("Ipopt")}
    x, said = ipopt.minimize(prog, rows, (costs.value, gradient), start, bounds, wanted)
    found = SolutionResult[ipopt.RESULTS.get(said, "kSolverSpecificError")]
    holds = np.isfinite(x).all() and all(prog.CheckSatisfied(b, x, TOLERANCE) for b in prog.constraints)
    if found is SolutionResult.kSolutionFound and not holds:
        found = SolutionResult.kInfeasibleConstraints
    return MathematicalProgramResult(prog, x, found, "Ipopt", said)


def _slsqp(
    prog: MathematicalProgram,
    start: FloatArray,
    rows: ConstraintRows,
    bounds: tuple[FloatArray, FloatArray],
    options: SolverOptions,
) -> MathematicalProgramResult:
    from scipy.optimize import Bounds, minimize

    (lower, upper), costs = bounds, CostSum(prog)
    constraints = _sides(rows, _independent_equations(rows, start))
    wanted = {
        "maxiter": int(options.acting(SolverOptions.ITERATIONS, ITERATIONS)),
        "ftol": float(options.acting(SolverOptions.TOLERANCE, OPTIMALITY)),
    }
    for attempt in range(ATTEMPTS):
        found = minimize(
            costs.value,
            start,
            jac=costs.gradient,
            bounds=Bounds(lower, upper),
            constraints=constraints,
            method="SLSQP",
            options=wanted,
            callback=lambda x: show_iteration(prog, x),
        )
        x, status = (
            np.clip(np.asarray(found.x, dtype=float), lower, upper),
            found.get("status", 0),
        )  # none if all is fixed
        holds = np.isfinite(x).all() and all(prog.CheckSatisfied(b, x, TOLERANCE) for b in prog.constraints)
        if holds or status == 9 or attempt == ATTEMPTS - 1:
            break
        start = rows.nearly_feasible(start if attempt == 0 else x, lower, upper)
    result = SolutionResult.kSolutionFound
    if not holds:
        result = SolutionResult.kIterationLimit if status == 9 else SolutionResult.kInfeasibleConstraints
    elif status == 9:
        result = SolutionResult.kIterationLimit
    elif status not in (0, 8) and not rows.is_stationary(x, costs.gradient(x), bounds):
        # 8: no lower cost is found on the way, as close as numbers allow; the others: slopes that depend on each other
        result = SolutionResult.kSolverSpecificError
    return MathematicalProgramResult(prog, x, result, "SLSQP", found.message)


def _independent_equations(rows: ConstraintRows, start: FloatArray) -> BoolArray:
    """Which rows (m,) are no equations that others contain: SLSQP takes none twice.

    Judged by slopes beside the start, where they are not zero by chance. At the end all rows are checked.
    """
    from scipy.linalg import qr

    kept = np.ones(rows.lower.size, dtype=bool)
    equations = np.flatnonzero(rows.lower == rows.upper)
    if not equations.size:
        return kept
    J = rows.slopes(start + 1e-2 * np.random.default_rng(0).uniform(-1.0, 1.0, start.size))[equations]
    if not np.isfinite(J).all():
        return kept
    scale = np.linalg.norm(J, axis=1, keepdims=True)
    _, R, order = qr((J / np.where(scale > 0.0, scale, 1.0)).T, mode="economic", pivoting=True)
    kept[equations[order[int((np.abs(np.diag(R)) > 1e-8).sum()) :]]] = False
    return kept


def _sides(rows: ConstraintRows, kept: BoolArray) -> list[dict[str, Any]]:
    """Constraints as SLSQP takes them: equations that are kept, and the lower and upper bounds of all else."""
    equal = rows.lower == rows.upper
    sides = [
        ("eq", equal & kept, 1.0, rows.lower),
        ("ineq", ~equal & np.isfinite(rows.lower), 1.0, rows.lower),
        ("ineq", ~equal & np.isfinite(rows.upper), -1.0, rows.upper),
    ]
    return [_side(rows, *side) for side in sides if side[1].any()]


def _side(rows: ConstraintRows, kind: str, chosen: BoolArray, sign: float, bound: FloatArray) -> dict[str, Any]:
    """Some rows at one of their bounds."""
    return {
        "type": kind,
        "fun": lambda x: sign * (rows.values(x) - bound)[chosen],
        "jac": lambda x: sign * rows.slopes(x)[chosen],
    }
