"""Paths of positions by B-splines whose control points are variables of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import ExtractValue
from mbcli.math.bspline_basis import BsplineBasis, KnotVectorType
from mbcli.multibody.plant.state_functions import StateFunctions
from mbcli.solvers.binding import Binding
from mbcli.solvers.evaluators import (
    BoundingBoxConstraint,
    Constraint,
    LinearConstraint,
    LinearCost,
    QuadraticCost,
    carried,
)
from mbcli.solvers.mathematical_program import MathematicalProgram
from mbcli.solvers.norms import L2NormCost
from mbcli.solvers.symbolic_parts import DecisionVariable
from mbcli.trajectories.splines import BsplineTrajectory, derivative_points

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.solvers.evaluators import EvaluatorBase
    from mbcli.solvers.solve import MathematicalProgramResult


class KinematicTrajectoryOptimization:
    """A program for q(t) = r(t / T): a path r(s), 0 <= s <= 1, by control points, and its duration T [s].

    KinematicTrajectoryOptimization(num_positions, num_control_points, spline_order=4, duration=1.0) guesses zeros, and
    KinematicTrajectoryOptimization(trajectory) that BsplineTrajectory, whose basis it takes. Bounds at control points
    hold at all times, as a B-spline stays in the convex hull of its control points.
    """

    def __init__(
        self,
        num_positions: Any = None,
        num_control_points: int = 0,
        spline_order: int = 4,
        duration: float = 1.0,
        *,
        trajectory: BsplineTrajectory | None = None,
    ) -> None:
        given = num_positions if trajectory is None else trajectory
        if isinstance(given, BsplineTrajectory):
            knots = np.array(given.basis().knots())
            duration = given.end_time() - given.start_time()
            self._basis = BsplineBasis(given.basis().order(), (knots - given.start_time()) / duration)
            rows, guess = given.rows(), np.array(given.control_points())[:, :, 0].T
        else:
            kind = KnotVectorType.kClampedUniform
            self._basis = BsplineBasis(spline_order, num_control_points, kind, 0.0, 1.0)
            rows, guess = int(given), np.zeros((int(given), num_control_points))
        self._prog = MathematicalProgram()
        self._points = self._prog.NewContinuousVariables(rows, guess.shape[1], "control_point")
        self._duration = self._prog.NewContinuousVariables(1, "duration")[0]
        self._add(BoundingBoxConstraint([0.0], [np.inf]), [self._duration], "positive duration constraint")
        self._prog.SetInitialGuess(self._points, guess)
        self._prog.SetInitialGuess(self._duration, duration)
        self._q, self._qdot, self._qddot = (
            np.array([DecisionVariable(f"{name}({k})", real=True) for k in range(rows)], dtype=object)
            for name in ("q", "qdot", "qddot")
        )

    def num_positions(self) -> int:
        """The number of positions."""
        return self._points.shape[0]

    def num_control_points(self) -> int:
        """The number of control points."""
        return self._points.shape[1]

    def basis(self) -> BsplineBasis:
        """The basis of the path over s from 0 to 1."""
        return self._basis

    def control_points(self) -> Array:
        """Variables (num_positions, num_control_points)."""
        return self._points

    def duration(self) -> Any:
        """The variable T."""
        return self._duration

    def q(self) -> Array:
        """Stand-ins (num_positions,) for positions at any time, which are no variables of the program."""
        return self._q

    def qdot(self) -> Array:
        """Stand-ins for the rates of positions."""
        return self._qdot

    def qddot(self) -> Array:
        """Stand-ins for their second derivatives by time."""
        return self._qddot

    def prog(self) -> MathematicalProgram:
        """The program."""
        return self._prog

    get_mutable_prog = prog

    def SetInitialGuess(self, trajectory: BsplineTrajectory) -> None:
        """Starts from a trajectory of as many positions and control points."""
        points = np.array(trajectory.control_points())
        shape = (self.num_control_points(), self.num_positions(), 1)
        if points.shape != shape:
            raise RuntimeError(f"the trajectory has control points {points.shape}, not {shape}")
        self._prog.SetInitialGuess(self._points, points[:, :, 0].T)
        self._prog.SetInitialGuess(self._duration, trajectory.end_time() - trajectory.start_time())

    def ReconstructTrajectory(self, result: MathematicalProgramResult) -> BsplineTrajectory:
        """q(t), 0 <= t <= T, of a result."""
        knots = np.array(self._basis.knots()) * result.GetSolution(self._duration)
        points = np.asarray(result.GetSolution(self._points)).reshape(self._points.shape)
        return BsplineTrajectory(BsplineBasis(self._basis.order(), knots), list(points.T[:, :, None]))

    # constraints of the path

    def AddPathPositionConstraint(self, *given: Any, **named: Any) -> Binding:
        """AddPathPositionConstraint(lb, ub, s): lb <= r(s) <= ub; (constraint, s): a Constraint of r(s)."""
        if len(given) + len(named) == 3:
            return self._path_bounds(0, "position", *_in_order(("lb", "ub", "s"), given, named))
        constraint, s = _in_order(("constraint", "s"), given, named)
        self._require_variables(constraint, self.num_positions())
        W, variables = self._weights(s, 0)
        made = ConstraintOfMap(constraint, lambda x: W @ x, lambda x: W, W.shape[1])
        return self._add(made, variables, f"path position constraint at s={s:g}")

    def AddPathVelocityConstraint(self, lb: ArrayLike, ub: ArrayLike, s: float) -> Binding:
        """lb <= dr/ds <= ub at s; by s, not by time."""
        return self._path_bounds(1, "velocity", lb, ub, s)

    def AddPathAccelerationConstraint(self, lb: ArrayLike, ub: ArrayLike, s: float) -> Binding:
        """lb <= d2r/ds2 <= ub at s; by s, not by time."""
        return self._path_bounds(2, "acceleration", lb, ub, s)

    def _path_bounds(self, order: int, what: str, lb: ArrayLike, ub: ArrayLike, s: float) -> Binding:
        W, variables = self._weights(s, order)
        made = LinearConstraint(W, self._of_positions(lb), self._of_positions(ub))
        return self._add(made, variables, f"path {what} constraint at s={s:g}")

    def AddVelocityConstraintAtNormalizedTime(self, *given: Any, **named: Any) -> Any:
        """(constraint, s): a Constraint of [q, qdot] at the time s T; (binding, s): a Binding of a LinearConstraint
        with some of qdot(), which stays linear.
        """
        first = "binding" if "binding" in named or (given and isinstance(given[0], Binding)) else "constraint"
        constraint, s = _in_order((first, "s"), given, named)
        description = f"velocity constraint at s={s:g}"
        if first == "binding":
            return [self._linear_in_rates(constraint, s, description)]
        n = self.num_positions()
        self._require_variables(constraint, 2 * n)
        W, V = (np.hstack([np.zeros((n, 1)), self._weights(s, k, True)[0]]) for k in (0, 1))

        def slopes(x: FloatArray) -> FloatArray:
            rate = V / x[0]
            rate[:, 0] -= V @ x / x[0] ** 2
            return np.concatenate([W, rate])

        made = ConstraintOfMap(constraint, lambda x: np.concatenate([W @ x, V @ x / x[0]]), slopes, W.shape[1])
        return self._add(made, [self._duration, *self._points.ravel(order="F")], description)

    def _linear_in_rates(self, binding: Binding, s: float, description: str) -> Binding:
        places = {v: k for k, v in enumerate(self._qdot)}
        if any(v not in places for v in binding.variables()):
            raise RuntimeError("a velocity constraint is of qdot() alone")
        c, (V, variables) = binding.evaluator(), self._weights(s, 1)
        A = c.A() @ V[[places[v] for v in binding.variables()]]
        sides = [(-c.lower_bound(), 0.0, np.inf), (-c.upper_bound(), -np.inf, 0.0)]
        rows, lower, upper = [], [], []
        for of_T, low, high in sides:
            kept = np.isfinite(of_T)
            rows.append(np.column_stack([A, of_T])[kept])
            lower.append(np.full(kept.sum(), low))
            upper.append(np.full(kept.sum(), high))
        made = LinearConstraint(*map(np.concatenate, (rows, lower, upper)))
        return self._add(made, [*variables, self._duration], description)

    # bounds at all times

    def AddPositionBounds(self, lb: ArrayLike, ub: ArrayLike) -> list[Binding]:
        """lb <= q <= ub at all times."""
        bounds, points = (self._of_positions(lb), self._of_positions(ub)), self._points.T
        return [self._add(BoundingBoxConstraint(*bounds), p, f"position bound {k}") for k, p in enumerate(points)]

    def AddVelocityBounds(self, lb: ArrayLike, ub: ArrayLike) -> list[Binding]:
        """lb <= dq/dt <= ub at all times: linear constraints, the lower, then the upper one of each position."""
        D, bindings = self._to_derivative(1), []
        lower, upper = self._of_positions(lb), self._of_positions(ub)
        for k, points in enumerate(self._points):
            for side, bound, ends in (("lower", lower[k], (0.0, np.inf)), ("upper", upper[k], (-np.inf, 0.0))):
                A = (
                    np.column_stack([np.full(len(D), -bound), D])
                    if np.isfinite(bound)
                    else np.zeros((0, 1 + D.shape[1]))
                )
                made = LinearConstraint(A, *(np.full(len(A), end) for end in ends))
                bindings.append(self._add(made, [self._duration, *points], f"velocity {side} bound for position {k}"))
        return bindings

    def AddAccelerationBounds(self, lb: ArrayLike, ub: ArrayLike) -> list[Binding]:
        """lb <= d2q/dt2 <= ub at all times."""
        return self._derivative_bounds(2, "acceleration", lb, ub)

    def AddJerkBounds(self, lb: ArrayLike, ub: ArrayLike) -> list[Binding]:
        """lb <= d3q/dt3 <= ub at all times."""
        return self._derivative_bounds(3, "jerk", lb, ub)

    def _derivative_bounds(self, order: int, what: str, lb: ArrayLike, ub: ArrayLike) -> list[Binding]:
        D, lower, upper = self._to_derivative(order), self._of_positions(lb), self._of_positions(ub)
        return [
            self._add(
                DerivativeConstraint(D, order, lower[k], upper[k]),
                [self._duration, *points],
                f"{what} bound for position {k}",
            )
            for k, points in enumerate(self._points)
        ]

    def AddEffortBoundsAtNormalizedTimes(
        self,
        plant: MultibodyPlant,
        s: ArrayLike,
        lb: ArrayLike | None = None,
        ub: ArrayLike | None = None,
        plant_context: Context | None = None,
    ) -> list[Binding]:
        """B lb <= inverse dynamics <= B ub of a plant at the times s T; bounds [N m] of its actuators, theirs if not
        given.
        """
        if plant.num_positions() != self.num_positions() or plant.num_velocities() != plant.num_positions():
            raise RuntimeError("efforts are of a plant with as many positions, whose rates are its velocities")
        B = plant.MakeActuationMatrix()
        given = (
            (plant.GetEffortLowerLimits() if lb is None else lb),
            (plant.GetEffortUpperLimits() if ub is None else ub),
        )
        used = B != 0.0
        bounds = [(B * used) @ np.where(used.any(axis=0), np.asarray(x, dtype=float), 0.0) for x in given]
        if not (bounds[0] <= bounds[1]).all():
            raise RuntimeError("B lb must not be above B ub")
        functions, bindings = StateFunctions(plant, plant_context), []
        for place in np.asarray(s, dtype=float).reshape(-1):
            W = [self._weights(place, order, True)[0] for order in (0, 1, 2)]
            variables = [self._duration, *self._points.ravel(order="F")]
            made = EffortConstraint(functions, W, *bounds)
            bindings.append(self._add(made, variables, f"effort bound at s={place:g}"))
        return bindings

    def AddDurationConstraint(self, lb: float | None, ub: float | None) -> Binding:
        """lb <= T <= ub [s]; None is no bound."""
        bounds = [-np.inf if lb is None else lb], [np.inf if ub is None else ub]
        return self._add(BoundingBoxConstraint(*bounds), [self._duration], "duration constraint")

    # costs

    def AddDurationCost(self, weight: float = 1.0) -> Binding:
        """weight T"""
        return self._add(LinearCost([weight]), [self._duration], "duration cost")

    def AddPathLengthCost(self, weight: float = 1.0, use_conic_constraint: bool = False) -> list[Binding]:
        """weight times the length of the polygon of control points, which is no shorter than the path."""
        made, A = [], weight * self._difference()
        for k, variables in enumerate(self._pairs()):
            description = f"path length cost {k + 1}"
            if not use_conic_constraint:
                made.append(self._add(L2NormCost(A, np.zeros(len(A))), variables, description))
                continue
            _, cost, cone = self._prog.AddL2NormCostUsingConicConstraint(A, np.zeros(len(A)), variables)
            cost.evaluator().set_description(description)
            cone.evaluator().set_description(f"{description} conic constraint")
            made.append(cost)
        return made

    def AddPathEnergyCost(self, weight: float = 1.0) -> list[Binding]:
        """weight times the sum of squared distances of control points."""
        A = self._difference()
        cost = 2.0 * weight * A.T @ A
        return [
            self._add(QuadraticCost(cost, np.zeros(len(cost))), variables, f"path energy cost {k + 1}")
            for k, variables in enumerate(self._pairs())
        ]

    # parts

    def _add(self, made: EvaluatorBase, variables: Any, description: str) -> Binding:
        made.set_description(description)
        add = self._prog.AddConstraint if isinstance(made, Constraint) else self._prog.AddCost
        return add(made, np.array(variables, dtype=object))

    def _of_positions(self, bound: ArrayLike) -> FloatArray:
        found = np.asarray(bound, dtype=float).reshape(-1)
        if found.size != self.num_positions():
            raise RuntimeError(f"{found.size} bounds of {self.num_positions()} positions")
        return found

    def _require_variables(self, constraint: Constraint, number: int) -> None:
        if constraint.num_vars() != number:
            raise RuntimeError(f"a constraint of {constraint.num_vars()} variables in place of {number}")

    def _to_derivative(self, order: int) -> FloatArray:
        """The matrix from control points to those of a derivative of the path by s."""
        if order >= self._basis.order():  # 0, at the one control point of a constant
            return np.zeros((1, self.num_control_points()))
        knots = np.asarray(self._basis.knots())
        return derivative_points(np.eye(self.num_control_points()), knots, self._basis.degree(), order)

    def _weights(self, s: float, order: int, of_all: bool = False) -> tuple[FloatArray, Array]:
        """W (num_positions, n) and variables (n,): W times them is a derivative of the path at s."""
        from scipy.interpolate import BSpline

        if not 0.0 <= s <= 1.0:
            raise RuntimeError(f"a place of the path is from 0 to 1, not {s}")
        spline = BSpline(self._basis.knots(), np.eye(self.num_control_points()), self._basis.degree())
        weights = spline(s, order) if order <= self._basis.degree() else np.zeros(self.num_control_points())
        used = np.ones(weights.size, dtype=bool) if of_all else weights != 0.0
        return np.kron(weights[used], np.eye(self.num_positions())), self._points[:, used].ravel(order="F")

    def _difference(self) -> FloatArray:
        return np.hstack([-np.eye(self.num_positions()), np.eye(self.num_positions())])

    def _pairs(self) -> list[Array]:
        points = self._points.T
        return [np.concatenate(pair) for pair in zip(points[:-1], points[1:], strict=True)]


class ConstraintOfMap(Constraint):
    """A constraint of z(x), a function of arrays of floats and AutoDiffXd, with its derivatives dz/dx."""

    def __init__(
        self,
        constraint: Constraint,
        function: Callable[[Any], Any],
        slopes: Callable[[FloatArray], FloatArray],
        num_vars: int,
    ) -> None:
        self._inner, self._map, self._map_slopes = constraint, function, slopes
        bounds = constraint.lower_bound(), constraint.upper_bound()
        super().__init__(lambda x: constraint.Eval(function(x)), *bounds, num_vars)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n)."""
        return self._inner.jacobian(self._map(x)) @ self._map_slopes(x)


class DerivativeConstraint(Constraint):
    """lower <= D p / T^order <= upper of x = [T, p]."""

    def __init__(self, D: FloatArray, order: int, lower: float, upper: float) -> None:
        self._D, self._order = D, order
        bounds = np.full(len(D), lower), np.full(len(D), upper)
        super().__init__(lambda x: D @ x[1:] / x[0] ** order, *bounds, 1 + D.shape[1])

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n)."""
        slope = self._D / x[0] ** self._order
        return np.column_stack([-self._order / x[0] * (slope @ x[1:]), slope])


class EffortConstraint(Constraint):
    """lower <= inverse dynamics <= upper of x = [T, control points], with W from these to derivatives by s."""

    def __init__(self, functions: StateFunctions, W: list[FloatArray], lower: FloatArray, upper: FloatArray) -> None:
        self._functions, self._W = functions, W
        super().__init__(self._efforts, lower, upper, 1 + W[0].shape[1])

    def _motion(self, x: FloatArray) -> list[FloatArray]:
        return [np.asarray(W @ x[1:] / x[0] ** k) for k, W in enumerate(self._W)]

    def _efforts(self, x: Any) -> Any:
        if x.dtype != object:
            return self._functions.inverse_dynamics(*self._motion(x))
        values = ExtractValue(x).reshape(-1)
        return carried(self._efforts(values), self.jacobian(values), x)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n)."""
        motion = self._motion(x)
        slopes = self._functions.inverse_dynamics_derivatives(motion[0], motion[1], motion[2])
        columns = [
            S @ np.column_stack([-k * y / x[0], W / x[0] ** k])
            for k, (S, y, W) in enumerate(zip(slopes, motion, self._W, strict=True))
        ]
        return np.sum(columns, axis=0)


def _in_order(keys: tuple[str, ...], given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    found = dict(zip(keys, given, strict=False)) | named
    if set(found) != set(keys) or len(given) + len(named) != len(keys):
        raise TypeError(f"arguments are {', '.join(keys)}, not {len(given)} and {', '.join(named) or 'none by name'}")
    return [found[key] for key in keys]
