"""Linear quadratic regulators: of infinite horizon by SciPy's Riccati equations, of a finite one by integration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.systems.leaf_system import LeafSystem
from mbcli.systems.linear_systems import AffineSystem, FirstOrderTaylorApproximation, Linearize, LinearSystem
from mbcli.systems.port_selection import InputPortSelection, OutputPortSelection

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


def LinearQuadraticRegulator(*system_and_costs: Any, N: Any = None, F: Any = None, **named: Any) -> Any:
    """The controller that minimizes the integral of x' Q x + u' R u + 2 x' N u.

    LinearQuadraticRegulator(A, B, Q, R, N, F) gives (K, S) of u = -K x and the cost x' S x; F with rows F x = 0 that
    the motion keeps. LinearQuadraticRegulator(system, Q, R, N) of a LinearSystem gives the system u = -K x,
    LinearQuadraticRegulator(system, context, Q, R, N, input_port_index) that about an equilibrium, u = u0 - K (x - x0).
    Of systems with a time period sums over steps are minimized.

    Args:
      system_and_costs: these, by position: A (n, n), B (n, m), Q (n, n), R (m, m), each [unit of its term].
      N: (n, m); default: 0.
      F: (k, n); default: none.
      named: A, B, system, context, Q, R, input_port_index by name.

    Returns:
      (K, S), of shapes (m, n) and (n, n), or a system.

    Raises:
      RuntimeError: costs are not definite, the context is no equilibrium, or there is no solution.

    Example:
      >>> K, S = LinearQuadraticRegulator([[0, 1], [0, 0]], [[0], [1]], np.eye(2), np.eye(1))
      >>> K.round(4)
      array([[1.    , 1.7321]])
    """
    given = [*system_and_costs, *(named.pop(name) for name in ("A", "B", "system", "context") if name in named)]
    given += [named.pop(name) for name in ("Q", "R") if name in named]
    first = given[0]
    if not hasattr(first, "CreateDefaultContext"):
        A, B, Q, R = given[:4]
        N = given[4] if len(given) > 4 else N
        return _continuous(A, B, Q, R, N, given[5] if len(given) > 5 else F)
    if isinstance(first, LinearSystem) and not hasattr(given[1], "get_time"):
        N = given[3] if len(given) > 3 else N
        K, _ = _of(first, given[1], given[2], N)
        return LinearSystem(D=-K)
    context, Q, R = given[1:4]
    N = given[4] if len(given) > 4 else N
    port = named.pop("input_port_index", given[5] if len(given) > 5 else 0)
    return _about(first, context, Q, R, N, port)


def _about(system: Any, context: Any, Q: Any, R: Any, N: Any, port: Any) -> Any:
    linear = Linearize(system, context, port, OutputPortSelection.kNoOutput)
    K, _ = _of(linear, Q, R, N)
    if context.num_continuous_states():
        x0 = context.get_continuous_state_vector().CopyToVector()
    else:
        x0 = context.get_discrete_state_vector().CopyToVector()
    u0 = _input_at(_input_port(system, port), context, linear.num_inputs())
    return AffineSystem(D=-K, y0=u0 + K @ x0)


def _input_port(system: Any, port: Any) -> Any:
    """The input port of an index or a selection: the actuation of a plant, the first of other systems."""
    if not isinstance(port, InputPortSelection):
        return system.get_input_port(port)
    return system.GetInputPort("actuation") if system.HasInputPort("actuation") else system.get_input_port(0)


def _input_at(port: Any, context: Any, size: int) -> FloatArray:
    return port.Eval(context) if port.HasValue(context) else np.zeros(size)


def _of(system: LinearSystem, Q: Any, R: Any, N: Any) -> tuple[FloatArray, FloatArray]:
    if system.time_period():
        return DiscreteTimeLinearQuadraticRegulator(system.A(), system.B(), Q, R, () if N is None else N)
    return _continuous(system.A(), system.B(), Q, R, N, None)


def _costs(A: Any, B: Any, Q: Any, R: Any, N: Any) -> tuple[FloatArray, ...]:
    A, B, Q, R = (np.atleast_2d(np.asarray(x, dtype=float)) for x in (A, B, Q, R))
    B = B.T if B.shape == (1, len(A)) and len(A) > 1 and len(R) == 1 else B  # of one input
    N = None if N is None or not np.size(N) else np.atleast_2d(np.asarray(N, dtype=float))
    n, m = B.shape
    if A.shape != (n, n) or Q.shape != (n, n) or R.shape != (m, m):
        raise RuntimeError(f"A {A.shape}, B {B.shape}, Q {Q.shape} and R {R.shape} do not fit each other")
    if not np.allclose(R, R.T) or not (np.linalg.eigvalsh(R) > 0.0).all():
        raise RuntimeError("R must be symmetric and positive definite")
    if not np.allclose(Q, Q.T) or not (np.linalg.eigvalsh(Q) >= -1e-8 * np.abs(Q).max(initial=1.0)).all():
        raise RuntimeError("Q must be symmetric and not negative")
    return A, B, Q, R, np.zeros((n, m)) if N is None else N


def _continuous(A: Any, B: Any, Q: Any, R: Any, N: Any, F: Any) -> tuple[FloatArray, FloatArray]:
    import scipy.linalg

    A, B, Q, R, N = _costs(A, B, Q, R, N)
    P = np.eye(len(A))
    if F is not None and np.size(F):
        P = scipy.linalg.null_space(np.atleast_2d(np.asarray(F, dtype=float))).T
    try:
        S = scipy.linalg.solve_continuous_are(P @ A @ P.T, P @ B, P @ Q @ P.T, R, s=P @ N)
    except np.linalg.LinAlgError as error:
        raise RuntimeError(f"the Riccati equation has no solution: {error}") from None
    S = P.T @ S @ P
    return np.linalg.solve(R, B.T @ S + N.T), S


def DiscreteTimeLinearQuadraticRegulator(
    A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike, N: ArrayLike = ()
) -> tuple[FloatArray, FloatArray]:
    """(K, S) of the controller u = -K x that minimizes the sum of x' Q x + u' R u + 2 x' N u, and the cost x' S x."""
    import scipy.linalg

    A, B, Q, R, N = _costs(A, B, Q, R, N)
    try:
        S = scipy.linalg.solve_discrete_are(A, B, Q, R, s=N)
    except np.linalg.LinAlgError as error:
        raise RuntimeError(f"the Riccati equation has no solution: {error}") from None
    return np.linalg.solve(R + B.T @ S @ B, B.T @ S @ A + N.T), S


@dataclass
class FiniteHorizonLinearQuadraticRegulatorOptions:
    """Options of a regulator of a finite horizon.

    Attributes:
        Qf: cost of the state at the end; N: cross cost; input_port_index: of the system.
        x0, u0: the trajectories about which it is linearized; the context's state and input if None.
        xd, ud: the trajectories to be followed; x0 and u0 if None.
        use_square_root_method: of no effect.
    """

    Qf: Any = None
    N: Any = None
    input_port_index: Any = InputPortSelection.kUseFirstInputIfItExists
    x0: Any = None
    u0: Any = None
    xd: Any = None
    ud: Any = None
    use_square_root_method: bool = False
    simulator_config: SimulatorConfig = field(default_factory=SimulatorConfig)


@dataclass
class FiniteHorizonLinearQuadraticRegulatorResult:
    """Trajectories of a regulator: u = u0 - K (x - x0) - k0, cost (x - x0)' S (x - x0) + 2 (x - x0)' sx + s0."""

    x0: Any
    u0: Any
    K: Any
    S: Any
    k0: Any
    sx: Any
    s0: Any


def FiniteHorizonLinearQuadraticRegulator(
    system: Any,
    context: Any,
    t0: float,
    tf: float,
    Q: ArrayLike,
    R: ArrayLike,
    options: FiniteHorizonLinearQuadraticRegulatorOptions | None = None,
) -> FiniteHorizonLinearQuadraticRegulatorResult:
    """The regulator of a continuous system from t0 to tf, along a nominal trajectory.

    Minimizes the integral of (x - xd)' Q (x - xd) + (u - ud)' R (u - ud) + 2 (x - xd)' N (u - ud) and the end's cost.
    """
    from scipy.integrate import solve_ivp

    from mbcli.trajectories import FunctionHandleTrajectory, PiecewisePolynomial

    options = FiniteHorizonLinearQuadraticRegulatorOptions() if options is None else options
    work = context.Clone()
    system.FixInputPortsFrom(system, context, work)
    n = context.num_continuous_states()
    port = options.input_port_index
    found = _input_port(system, port)
    u_start = _input_at(found, context, found.size())
    m = u_start.size
    x_start = context.get_continuous_state_vector().CopyToVector()
    x0 = PiecewisePolynomial(x_start.reshape(-1, 1)) if options.x0 is None else options.x0
    u0 = PiecewisePolynomial(u_start.reshape(-1, 1)) if options.u0 is None else options.u0
    xd, ud = options.xd or x0, options.ud or u0
    Q, R = np.asarray(Q, dtype=float), np.asarray(R, dtype=float)
    N = np.zeros((n, m)) if options.N is None else np.asarray(options.N, dtype=float)
    Qf = np.zeros((n, n)) if options.Qf is None else np.asarray(options.Qf, dtype=float)

    def at(t: float) -> tuple[Any, ...]:
        x, u = x0.value(t).reshape(-1), u0.value(t).reshape(-1)
        work.SetTime(t)
        work.SetContinuousState(x)
        found.FixValue(work, u)
        affine = FirstOrderTaylorApproximation(system, work, port, OutputPortSelection.kNoOutput)
        rate = affine.A() @ x + affine.B() @ u + affine.f0()
        nominal = x0.EvalDerivative(t, 1).reshape(-1) if x0.has_derivative() else np.zeros(n)
        return affine.A(), affine.B(), rate - nominal, x - xd.value(t).reshape(-1), u - ud.value(t).reshape(-1)

    def gains(S: FloatArray, sx: FloatArray, B: FloatArray, dx: FloatArray, du: FloatArray) -> tuple[Any, Any]:
        K = np.linalg.solve(R, B.T @ S + N.T)
        return K, np.linalg.solve(R, B.T @ sx + R @ du + N.T @ dx)

    def rates(t: float, y: FloatArray) -> FloatArray:
        S, sx = y[: n * n].reshape(n, n), y[n * n : n * n + n]
        A, B, c, dx, du = at(t)
        K, k0 = gains(S, sx, B, dx, du)
        S_rate = -(S @ A + A.T @ S + Q - K.T @ R @ K)
        sx_rate = -(Q @ dx + N @ du - K.T @ R @ k0 + A.T @ sx + S @ c)
        s0_rate = -(dx @ Q @ dx + du @ R @ du + 2.0 * dx @ N @ du - k0 @ R @ k0 + 2.0 * sx @ c)
        return np.concatenate([S_rate.ravel(), sx_rate, [s0_rate]])

    dx = x0.value(tf).reshape(-1) - xd.value(tf).reshape(-1)
    end = np.concatenate([Qf.ravel(), Qf @ dx, [dx @ Qf @ dx]])
    found_curve = solve_ivp(rates, (tf, t0), end, dense_output=True, rtol=1e-8, atol=1e-10).sol

    def curve(pick: Any, rows: int, cols: int) -> Any:
        return FunctionHandleTrajectory(lambda t: pick(min(max(t, t0), tf)), rows, cols, t0, tf)

    def S_of(t: float) -> FloatArray:
        return found_curve(t)[: n * n].reshape(n, n)

    def sx_of(t: float) -> FloatArray:
        return found_curve(t)[n * n : n * n + n]

    def gains_at(t: float) -> tuple[Any, Any]:
        _, B, _, dx, du = at(t)
        return gains(S_of(t), sx_of(t), B, dx, du)

    return FiniteHorizonLinearQuadraticRegulatorResult(
        x0,
        u0,
        curve(lambda t: gains_at(t)[0], m, n),
        curve(S_of, n, n),
        curve(lambda t: gains_at(t)[1], m, 1),
        curve(sx_of, n, 1),
        curve(lambda t: found_curve(t)[-1], 1, 1),
    )


class _Regulator(LeafSystem):
    """u = u0(t) - K(t) (x - x0(t)) - k0(t)"""

    def __init__(self, result: FiniteHorizonLinearQuadraticRegulatorResult) -> None:
        super().__init__()
        x = self.DeclareVectorInputPort("plant_state", result.x0.rows())

        def control(context: Any, output: Any) -> None:
            t = context.get_time()
            error = x.Eval(context) - result.x0.value(t).reshape(-1)
            u0, k0 = result.u0.value(t).reshape(-1), result.k0.value(t).reshape(-1)
            output.SetFromVector(u0 - result.K.value(t) @ error - k0)

        self.DeclareVectorOutputPort("command", result.u0.rows(), control)


def MakeFiniteHorizonLinearQuadraticRegulator(
    system: Any,
    context: Any,
    t0: float,
    tf: float,
    Q: ArrayLike,
    R: ArrayLike,
    options: FiniteHorizonLinearQuadraticRegulatorOptions | None = None,
) -> LeafSystem:
    """The regulator of FiniteHorizonLinearQuadraticRegulator() as a system from the plant's state to the input."""
    return _Regulator(FiniteHorizonLinearQuadraticRegulator(system, context, t0, tf, Q, R, options))
