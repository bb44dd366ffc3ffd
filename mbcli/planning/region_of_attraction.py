"""The region of attraction of a fixed point, by sums of squares.

Inside of V < rho the derivative of V is negative if (V - rho) (x'x)^d - l(x) Vdot is a sum of squares for some
polynomial l (Tedrake, Underactuated Robotics, chapter on Lyapunov analysis); the largest rho is found with l.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy
from scipy.linalg import solve_continuous_lyapunov

from mbcli.math.symbolic_polynomial import Polynomial
from mbcli.solvers.foreign import MakeSolver
from mbcli.solvers.mathematical_program import MathematicalProgram
from mbcli.solvers.solve import Solve

TINY = 1e-10  # coefficients that are left out, of the largest
SAMPLES, SEED = 1000, 0  # states inside of the region at which the answer is tried
STATE_NAME = "x"


@dataclass
class RegionOfAttractionOptions:
    """How it is looked for.

    Attributes:
        lyapunov_candidate: V, an expression of state_variables; 0 for that of the linearized system.
        state_variables: (n,) of the candidate and of the answer; none: x0, x1, ...
        use_implicit_dynamics: is not here.
        solver_id, solver_options: as of solvers.
    """

    lyapunov_candidate: Any = 0
    state_variables: Any = field(default_factory=lambda: np.array([], dtype=object))
    use_implicit_dynamics: bool = False
    solver_id: Any = None
    solver_options: Any = None


def RegionOfAttraction(system: Any, context: Any, options: RegionOfAttractionOptions | None = None) -> Any:
    """A Lyapunov function V: the part of V(x) < 1 about the fixed point is in its region of attraction.

    Args:
      system: time-invariant and continuous, with a copy of expressions; its dynamics are polynomials.
      context: at the fixed point, with the parameters.
      options: a candidate, of which the largest level set is found, and variables.

    Returns:
      An expression of the variables of the state.

    Raises:
      RuntimeError: the context is no fixed point, or not a stable one; the dynamics are no polynomials; no level set of
        the candidate was found, or states in what was found do not approach the fixed point.

    Example:
      >>> from mbcli.systems.primitives import SymbolicVectorSystem
      >>> x = Variable("x")
      >>> system = SymbolicVectorSystem(state=[x], dynamics=[-x + x**3])
      >>> V = RegionOfAttraction(system, system.CreateDefaultContext())
      >>> abs(V.subs({"x0": 1.0}) - 1.0) < 1e-3  # it is that of |x| < 1
      True
    """
    options = RegionOfAttractionOptions() if options is None else options
    if options.use_implicit_dynamics:
        raise RuntimeError("RegionOfAttraction: implicit dynamics are not here")
    x0 = np.array(context.get_continuous_state_vector().CopyToVector(), dtype=float)
    given = np.ravel(np.asarray(options.state_variables, dtype=object))
    x = given if given.size else np.array([sympy.Symbol(f"{STATE_NAME}{k}", real=True) for k in range(x0.size)])
    if x.size != x0.size:
        raise RuntimeError(f"RegionOfAttraction: {x.size} state_variables for {x0.size} states")
    prog = MathematicalProgram()
    y = prog.NewIndeterminates(x0.size, "y")
    f = _dynamics(system, context, x0, y)
    V, T = _candidate(options, f, x0, x, y)
    turned = dict(zip(y, T @ y, strict=True))  # to coordinates in which V is about y'y
    slope = sympy.Add(*(V.diff(v) * g for v, g in zip(y, f, strict=True)))
    V, Vdot = (_tidy(e.subs(turned, simultaneous=True), y) for e in (V, slope))
    rho = _largest_level(prog, y, V, Vdot, options)
    _require_decrease(V, Vdot, rho, y)
    back = dict(zip(y, np.linalg.inv(T) @ (x - x0), strict=True))
    return sympy.expand(V.ToExpression().subs(back, simultaneous=True) / rho)


def _dynamics(system: Any, context: Any, x0: Any, y: Any) -> list[Any]:
    """xdot (n,) at x0 + y. RuntimeError if it is not 0 at x0."""
    symbolic = system.ToSymbolic()
    at = symbolic.CreateDefaultContext()
    at.SetTimeStateAndParametersFrom(context)
    if system.num_input_ports():
        symbolic.FixInputPortsFrom(system, context, at)
    at.SetContinuousState(x0 + y)
    try:
        f = [sympy.expand(sympy.sympify(e)) for e in symbolic.EvalTimeDerivatives(at).CopyToVector()]
    except TypeError:  # of a function that takes numbers alone
        raise RuntimeError("RegionOfAttraction: the dynamics are not a polynomial") from None
    left = np.array([e.subs(dict.fromkeys(y, 0.0)) for e in f], dtype=float)
    if np.abs(left).max(initial=0.0) > 1e-6:
        raise RuntimeError(f"RegionOfAttraction: the context is no fixed point, its derivatives are {left}")
    return [e - c for e, c in zip(f, left, strict=True)]


def _candidate(options: RegionOfAttractionOptions, f: list[Any], x0: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """(V of y, T (n, n)): V(T z) is about z'z."""
    A = np.array([[e.diff(v).subs(dict.fromkeys(y, 0.0)) for v in y] for e in f], dtype=float)
    given = sympy.sympify(options.lyapunov_candidate)
    if given == 0:
        if not np.linalg.eigvals(A).real.max() < 0.0:
            raise RuntimeError("RegionOfAttraction: the linearized system is not stable: state a lyapunov_candidate")
        P = solve_continuous_lyapunov(A.T, -np.eye(len(A)))
        P = 0.5 * (P + P.T)
        return sympy.expand(y @ P @ y), np.linalg.inv(np.linalg.cholesky(P)).T
    V = sympy.expand(given.subs(dict(zip(x, x0 + y, strict=True)), simultaneous=True))
    return V, np.eye(len(A))


def _tidy(e: Any, y: Any) -> Polynomial:
    """An expression as a polynomial without what rounding has left."""
    p = Polynomial(e, y)
    largest = max((abs(float(c)) for c in p.terms.values()), default=0.0)
    return p.RemoveTermsWithSmallCoefficients(TINY * largest)


def _largest_level(prog: Any, y: Any, V: Polynomial, Vdot: Polynomial, options: RegionOfAttractionOptions) -> float:
    degree = Vdot.TotalDegree()
    multiplier = prog.NewFreePolynomial(y, degree)
    (rho,) = prog.NewContinuousVariables(1, "rho")
    power = max((2 * degree - V.TotalDegree()) // 2, 0)
    weight = Polynomial((y @ y) ** power, y)
    prog.AddSosConstraint((V - Polynomial(rho, y)) * weight - multiplier * Vdot)
    prog.AddLinearCost(-rho)
    prog.AddBoundingBoxConstraint(0.0, np.inf, rho)
    solve = Solve if options.solver_id is None else MakeSolver(options.solver_id).Solve
    result = solve(prog, None, options.solver_options)
    found = result.GetSolution(rho)
    if not result.is_success() or not found > 0.0:
        status = result.get_solution_result().name
        raise RuntimeError(f"RegionOfAttraction: no level set of the candidate was found ({status})")
    return float(found)


def _require_decrease(V: Polynomial, Vdot: Polynomial, rho: float, y: Any) -> None:
    """RuntimeError if V grows at one of SAMPLES states with V < rho: solvers come close, and say so of less."""
    functions = [sympy.lambdify(list(y), p.ToExpression(), modules="numpy") for p in (V, Vdot)]
    rng = np.random.default_rng(SEED)
    directions = rng.standard_normal((SAMPLES, len(y)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.geomspace(1e-3, 1e3, 400)
    for direction in directions:
        points = np.outer(lengths, direction)
        values, slopes = (np.broadcast_to(g(*points.T), lengths.shape) for g in functions)
        outside = np.flatnonzero(values >= 0.999 * rho)
        inside = slice(0, outside[0] if outside.size else len(lengths))
        if (slopes[inside] > 1e-6 * rho).any():
            raise RuntimeError("RegionOfAttraction: the level set that was found has states at which V grows")
