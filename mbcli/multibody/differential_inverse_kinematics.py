"""Velocities of joints that move a frame as wanted, under the names of pydrake.multibody.inverse_kinematics.

v makes -100 alpha + |P (v - N+ K (q_nominal - q))|^2 least, where J v = alpha V with 0 <= alpha <= 1, and the limits of
positions, velocities and accelerations hold; the rows of P are an orthonormal basis of the null space of J (Tedrake,
Robotic Manipulation, ch. 3). With v = alpha J+ V + P' z the equation holds by itself, and alpha and z are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.fast_dataclass import dataclass
from mbcli.math import AngleAxis, RigidTransform
from mbcli.multibody.tree.jacobian_wrt_variable import JacobianWrtVariable
from mbcli.numbered_enum import NumberedEnum
from mbcli.solvers.options import SolverOptions
from mbcli.systems.leaf_system import LeafSystem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import BoolArray, FloatArray, Matrix, Vector, Vector6
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame

    Bounds = tuple[Vector, Vector]

WEIGHT = 100.0  # of alpha
WANTED = ("V_WE_desired", "V_AE_desired", "X_WE_desired", "X_AE_desired")
FEASIBLE = 1e-9  # by which limits may be off
MOST_STEPS = 30  # of the proximal point method
SETTLED = 1e-12  # of the largest alpha: a smaller change is none
CONTRADICTING = 1e-9  # the residual below which bounds contradict each other


class DifferentialInverseKinematicsStatus(NumberedEnum):
    """How it ended: kStuck, if limits leave next to nothing of the motion."""

    kSolutionFound = 0
    kNoSolutionFound = 1
    kStuck = 2


@dataclass
class DifferentialInverseKinematicsResult:
    """joint_velocities: (nv,), None without a solution."""

    joint_velocities: FloatArray | None = None
    status: DifferentialInverseKinematicsStatus = DifferentialInverseKinematicsStatus.kNoSolutionFound


class DifferentialInverseKinematicsParameters:
    """Limits and gains; no limits, no centering and a step of 1 s unless they are set.

    Setters raise RuntimeError for another size, or if a lower limit is above an upper one.

    Args:
        num_positions, num_velocities: of the robot, the same number if the second is not given.
    """

    def __init__(self, num_positions: int, num_velocities: int | None = None) -> None:
        self._nq, self._nv = int(num_positions), int(num_positions if num_velocities is None else num_velocities)
        self._time_step, self._stuck = 1.0, 0.01
        self._nominal = np.zeros(self._nq)
        self._flag = np.ones(6, dtype=bool)
        self._gain = np.zeros((self._nq, self._nq))
        self._limits: dict[str, Bounds | None] = dict.fromkeys(("position", "velocity", "acceleration", "translation"))
        self._angular_speed = np.inf
        self._constraints: list[tuple[Matrix, Vector, Vector]] = []
        self._options = SolverOptions()

    def get_num_positions(self) -> int:
        """nq"""
        return self._nq

    def get_num_velocities(self) -> int:
        """nv"""
        return self._nv

    def get_time_step(self) -> float:
        """[s]"""
        return self._time_step

    def set_time_step(self, dt: float) -> None:
        """[s], greater than 0."""
        if not dt > 0.0:
            raise RuntimeError(f"set_time_step: {dt} s is not greater than 0")
        self._time_step = float(dt)

    def get_nominal_joint_position(self) -> Vector:
        """(nq,)"""
        return self._nominal.copy()

    def set_nominal_joint_position(self, nominal_joint_position: ArrayLike) -> None:
        """(nq,), where joints are drawn to as far as the motion leaves them free."""
        self._nominal = _sized("set_nominal_joint_position", nominal_joint_position, self._nq)

    def get_joint_centering_gain(self) -> Matrix:
        """K (nq, nq)"""
        return self._gain.copy()

    def set_joint_centering_gain(self, K: ArrayLike) -> None:
        """K (nq, nq) [1/s]"""
        gain = np.array(K, dtype=float)
        if gain.shape != (self._nq, self._nq):
            raise RuntimeError(f"set_joint_centering_gain: K has shape {gain.shape}, not {(self._nq, self._nq)}")
        self._gain = gain

    def get_end_effector_velocity_flag(self) -> FloatArray:
        """(6,) of bool"""
        return self._flag.copy()

    def set_end_effector_velocity_flag(self, flag_E: ArrayLike) -> None:
        """(6,) of bool: which parts of the spatial velocity, along the frame's axes, count."""
        self._flag = np.array(flag_E, dtype=bool).reshape(6)

    def get_joint_position_limits(self) -> Bounds | None:
        """(nq,) each, or None"""
        return self._limits["position"]

    def set_joint_position_limits(self, q_bounds: Bounds) -> None:
        """Lower and upper limits (nq,)."""
        self._limits["position"] = _bounds("set_joint_position_limits", q_bounds, self._nq)

    def get_joint_velocity_limits(self) -> Bounds | None:
        """(nv,) each, or None"""
        return self._limits["velocity"]

    def set_joint_velocity_limits(self, v_bounds: Bounds) -> None:
        """Lower and upper limits (nv,)."""
        self._limits["velocity"] = _bounds("set_joint_velocity_limits", v_bounds, self._nv)

    def get_joint_acceleration_limits(self) -> Bounds | None:
        """(nv,) each, or None"""
        return self._limits["acceleration"]

    def set_joint_acceleration_limits(self, vd_bounds: Bounds) -> None:
        """Lower and upper limits (nv,) of (v - v_current) / dt."""
        self._limits["acceleration"] = _bounds("set_joint_acceleration_limits", vd_bounds, self._nv)

    def get_end_effector_translational_velocity_limits(self) -> Bounds | None:
        """(3,) each [m/s], or None"""
        return self._limits["translation"]

    def set_end_effector_translational_velocity_limits(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """(3,) each [m/s], of the velocity to a pose that is wanted."""
        bounds = _bounds("set_end_effector_translational_velocity_limits", (lower, upper), 3)
        self._limits["translation"] = bounds

    def get_end_effector_angular_speed_limit(self) -> float:
        """[rad/s]"""
        return self._angular_speed

    def set_end_effector_angular_speed_limit(self, speed: float) -> None:
        """[rad/s], of the turn to a pose that is wanted."""
        self._angular_speed = float(speed)

    def get_maximum_scaling_to_report_stuck(self) -> float:
        """alpha below which it is stuck."""
        return self._stuck

    def set_maximum_scaling_to_report_stuck(self, scaling: float) -> None:
        """alpha below which it is stuck."""
        self._stuck = float(scaling)

    def get_mutable_solver_options(self) -> SolverOptions:
        """SolverOptions; none of them acts."""
        return self._options

    def rows(self, q: Vector, v: Vector, N: Matrix) -> tuple[Matrix, Vector]:
        """(G, h) with G v <= h where the limits hold after a step."""
        of: list[tuple[Matrix, Vector, Vector]] = []
        dt, one = self._time_step, np.eye(self._nv)
        if (limits := self._limits["position"]) is not None:
            of.append((dt * N, limits[0] - q, limits[1] - q))
        if (limits := self._limits["velocity"]) is not None:
            of.append((one, *limits))
        if (limits := self._limits["acceleration"]) is not None:
            of.append((one, v + dt * limits[0], v + dt * limits[1]))
        G = np.concatenate([np.zeros((0, self._nv)), *(part for A, _, _ in of for part in (A, -A))])
        h = np.concatenate([np.zeros(0), *(part for _, low, high in of for part in (high, -low))])
        return G[np.isfinite(h)], h[np.isfinite(h)]


def _sized(setter: str, values: ArrayLike, n: int) -> Vector:
    vector = np.array(values, dtype=float).reshape(-1)
    if vector.size != n:
        raise RuntimeError(f"{setter}: {vector.size} numbers, not {n}")
    return vector


def _bounds(setter: str, bounds: Any, n: int) -> Bounds:
    lower, upper = (_sized(setter, values, n) for values in bounds)
    if (lower > upper).any():
        raise RuntimeError(f"{setter}: a lower limit is above its upper one")
    return lower, upper


def DoDifferentialInverseKinematics(*given: Any, **named: Any) -> DifferentialInverseKinematicsResult:
    """(q_current, v_current, V, J, parameters, N=None, Nplus=None), of a robot (robot, context, V_WE_desired, frame_E,
    parameters) or (robot, context, V_AE_desired, frame_A, frame_E, parameters), and likewise with X_WE_desired or
    X_AE_desired, RigidTransforms, in place of velocities.
    """
    known = {**dict(zip(_names(given, named), given, strict=False)), **named}
    if "robot" not in known:
        return _of_numbers(**known)
    wanted = next(
        known.pop(key) for key in ("V_WE_desired", "V_AE_desired", "X_WE_desired", "X_AE_desired") if key in known
    )
    known.setdefault("frame_A", known["robot"].world_frame())
    return _of_robot(wanted=wanted, **known)


def _names(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, ...]:
    """The names of arguments that are given by position."""
    if not given or not hasattr(given[0], "CalcJacobianSpatialVelocity"):
        return "q_current", "v_current", "V", "J", "parameters", "N", "Nplus"
    with_frame = len(given) + len(named) > 5
    return "robot", "context", "V_AE_desired", *(("frame_A",) if with_frame else ()), "frame_E", "parameters"


def _of_robot(
    robot: MultibodyPlant,
    context: Context,
    wanted: Any,
    frame_A: Frame,
    frame_E: Frame,
    parameters: DifferentialInverseKinematicsParameters,
) -> DifferentialInverseKinematicsResult:
    X_AE = robot.CalcRelativeTransform(context, frame_A, frame_E)
    V_AE = _towards(X_AE, wanted, parameters) if isinstance(wanted, RigidTransform) else np.array(wanted, dtype=float)
    R_EA = X_AE.rotation().matrix().T
    V_E = np.concatenate([R_EA @ V_AE.reshape(6)[:3], R_EA @ V_AE.reshape(6)[3:]])
    J_E = robot.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, frame_E, np.zeros(3), frame_A, frame_E)
    counts = parameters.get_end_effector_velocity_flag()
    N, Nplus = None, None  # velocities are rates of positions
    if not robot.IsVelocityEqualToQDot():
        N, Nplus = (make(context).toarray() for make in (robot.MakeVelocityToQDotMap, robot.MakeQDotToVelocityMap))
    q, v = robot.GetPositions(context), robot.GetVelocities(context)
    return _of_numbers(q, v, V_E[counts], J_E[counts], parameters, N, Nplus)


def _towards(X_AE: RigidTransform, X_AE_desired: RigidTransform, p: DifferentialInverseKinematicsParameters) -> Vector6:
    """V_AE that leads to a pose in a step, within the limits for that."""
    turn = AngleAxis(X_AE_desired.rotation().multiply(X_AE.rotation().inverse()).matrix())
    w = turn.angle() * turn.axis() / p.get_time_step()
    speed, most = float(np.linalg.norm(w)), p.get_end_effector_angular_speed_limit()
    v = (X_AE_desired.translation() - X_AE.translation()) / p.get_time_step()
    limits = p.get_end_effector_translational_velocity_limits()
    return np.concatenate([w * min(1.0, most / speed) if speed else w, v if limits is None else np.clip(v, *limits)])


def _of_numbers(
    q_current: ArrayLike,
    v_current: ArrayLike,
    V: ArrayLike,
    J: ArrayLike,
    parameters: DifferentialInverseKinematicsParameters,
    N: ArrayLike | None = None,
    Nplus: ArrayLike | None = None,
) -> DifferentialInverseKinematicsResult:
    nq, nv = parameters.get_num_positions(), parameters.get_num_velocities()
    q, v = _sized("q_current", q_current, nq), _sized("v_current", v_current, nv)
    V, J = np.asarray(V, dtype=float).reshape(-1), np.asarray(J, dtype=float)
    if J.shape != (V.size, nv):
        raise RuntimeError(f"J has shape {J.shape}, not {(V.size, nv)}")
    if nq != nv and (N is None or Nplus is None):
        raise RuntimeError("N and Nplus are needed, since positions are more than velocities")
    N = np.eye(nv) if N is None else np.asarray(N, dtype=float)
    Nplus = np.eye(nv) if Nplus is None else np.asarray(Nplus, dtype=float)
    U, sizes, rows = np.linalg.svd(J)
    rank = int((sizes > 1e-10 * max(1.0, sizes[0] if sizes.size else 0.0)).sum())
    P, along = rows[rank:], rows[:rank].T @ (U[:, :rank].T @ V / sizes[:rank])
    can_move = np.linalg.norm(J @ along - V) <= 1e-9 * max(1.0, float(np.linalg.norm(V)))
    rest = P @ Nplus @ parameters.get_joint_centering_gain() @ (parameters.get_nominal_joint_position() - q)
    columns = np.column_stack([along, P.T])  # of alpha and z
    G, h = parameters.rows(q, v, N)
    found = _least(G @ columns, h, rest, 1.0 if can_move else 0.0)
    if found is None:
        return DifferentialInverseKinematicsResult()
    kinds = DifferentialInverseKinematicsStatus
    is_stuck = found[0] < parameters.get_maximum_scaling_to_report_stuck() and V.any()
    return DifferentialInverseKinematicsResult(columns @ found, kinds.kStuck if is_stuck else kinds.kSolutionFound)


def _least(G: Matrix, h: Vector, rest: Vector, largest: float) -> Vector | None:
    """(alpha, z) that makes -100 alpha + |z - rest|^2 least where G (alpha, z) <= h; None if there is none.

    The cost is linear in alpha, so steps of the proximal point method are taken, whose costs are squares of distances
    (Rockafellar 1976). As soon as the bounds that hold a step are those of the answer, they give the answer itself.
    """
    best = np.concatenate([[largest], rest])
    if (G @ best <= h + FEASIBLE).all():
        return best
    one = np.eye(1, best.size)
    A, b = np.concatenate([G, one, -one]), np.concatenate([h, [largest, 0.0]])
    weights, reach, x = np.ones(best.size), max(largest, 1.0), best
    weights[0], wanted = np.sqrt(0.5 * WEIGHT / reach), np.concatenate([[reach], rest])
    for _ in range(MOST_STEPS):
        found = _nearest(A, b, wanted, weights)
        if found is None:
            return None
        x, holding = found
        answer = _held(A[holding], b[holding], rest)
        if answer is not None and (A @ answer <= b + FEASIBLE).all():
            return answer
        if abs(x[0] + reach - wanted[0]) <= SETTLED * reach:
            break
        wanted[0] = x[0] + reach
    return x


def _nearest(A: Matrix, b: Vector, wanted: Vector, weights: Vector) -> tuple[Vector, BoolArray] | None:
    """The x of the least |weights (x - wanted)| where A x <= b, and which rows hold it; None if there is none.

    Least distance programming by non-negative least squares (Lawson and Hanson 1974, chapter 23).
    """
    from scipy.optimize import nnls  # late: takes long to import

    E = np.concatenate([-(A / weights).T, (A @ wanted - b)[None]])
    goal = np.zeros(len(E))
    goal[-1] = 1.0
    u, _ = nnls(E, goal)
    r = E @ u - goal
    if not np.linalg.norm(r) > CONTRADICTING:
        return None
    return wanted - r[:-1] / (r[-1] * weights), u > 0.0


def _held(A: Matrix, b: Vector, rest: Vector) -> Vector | None:
    """What makes the cost least on equations A x = b, if their multipliers are not negative."""
    n = 1 + rest.size
    K = np.zeros((n + len(b), n + len(b)))
    K[range(1, n), range(1, n)] = 2.0
    K[n:, :n], K[:n, n:] = A, A.T
    right = np.concatenate([[WEIGHT], 2.0 * rest, b])
    try:
        x = np.linalg.solve(K, right)
    except np.linalg.LinAlgError:  # some bounds follow from others
        x = np.linalg.lstsq(K, right, rcond=None)[0]
    is_solved = np.abs(K @ x - right).max() <= 1e-9 * WEIGHT
    return x[:n] if is_solved and (x[n:] >= -1e-9 * WEIGHT).all() else None


def _cost(x: Vector, rest: Vector) -> float:
    return float(-WEIGHT * x[0] + (x[1:] - rest) @ (x[1:] - rest))


class DifferentialInverseKinematicsIntegrator(LeafSystem):
    """Positions of joints that follow a pose X_AE_desired, step by step.

    DifferentialInverseKinematicsIntegrator(robot, frame_A, frame_E, time_step, parameters, robot_context=None), or
    without frame_A, which is World's then. Inputs: X_AE_desired; robot_state, the state of the robot, from which the
    first positions are taken, and all if the input use_robot_state is True. Output: joint_positions. The discrete state
    is the positions, and the number of the status of the last step.
    """

    def __init__(self, robot: MultibodyPlant, *given: Any, **named: Any) -> None:
        super().__init__()
        keys = ["frame_A", "frame_E", "time_step", "parameters", "robot_context", "log_only_when_result_state_changes"]
        frames = sum(hasattr(part, "GetFixedPoseInBodyFrame") for part in given[:2]) + ("frame_A" in named)
        known = {**dict(zip(keys[0 if frames + ("frame_E" in named) == 2 else 1 :], given, strict=False)), **named}
        self._robot, self._E = robot, known["frame_E"]
        self._A = known.get("frame_A", robot.world_frame())
        self._parameters: DifferentialInverseKinematicsParameters = known["parameters"]
        self._parameters.set_time_step(known["time_step"])
        context = known.get("robot_context")
        self._context: Context = robot.CreateDefaultContext() if context is None else context
        self.DeclareAbstractInputPort("X_AE_desired", _abstract(RigidTransform()))
        self.DeclareVectorInputPort("robot_state", robot.num_multibody_states())
        self.DeclareAbstractInputPort("use_robot_state", _abstract(False))
        self.DeclareDiscreteState(robot.num_positions())
        self.DeclareDiscreteState(1)  # the status
        self.DeclareVectorOutputPort("joint_positions", robot.num_positions(), self._positions, {self.xd_ticket()})
        self.DeclareInitializationDiscreteUpdateEvent(self._start)
        self.DeclarePeriodicDiscreteUpdateEvent(self._parameters.get_time_step(), 0.0, self._advance)

    def get_parameters(self) -> DifferentialInverseKinematicsParameters:
        """The parameters."""
        return self._parameters

    get_mutable_parameters = get_parameters

    def SetPositions(self, context: Any, positions: ArrayLike) -> None:
        """Replaces the positions (nq,) in a context of this system."""
        context.SetDiscreteState(0, _sized("SetPositions", positions, self._robot.num_positions()))

    def ForwardKinematics(self, context: Any) -> RigidTransform:
        """X_AE at the positions of a context of this system."""
        self._place(context)
        return self._robot.CalcRelativeTransform(self._context, self._A, self._E)

    def _place(self, context: Any) -> None:
        use = self.GetInputPort("use_robot_state")
        if use.HasValue(context) and use.Eval(context):
            self._robot.SetPositionsAndVelocities(self._context, self.GetInputPort("robot_state").Eval(context))
        else:
            self._robot.SetPositions(self._context, context.get_discrete_state(0).CopyToVector())

    def _positions(self, context: Any, output: Any) -> None:
        output.SetFromVector(context.get_discrete_state(0).CopyToVector())

    def _start(self, context: Any, values: Any) -> None:
        port = self.GetInputPort("robot_state")
        if port.HasValue(context):
            values.set_value(port.Eval(context)[: self._robot.num_positions()])

    def _advance(self, context: Any, values: Any) -> None:
        self._place(context)
        wanted = self.GetInputPort("X_AE_desired").Eval(context)
        q = self._robot.GetPositions(self._context)
        result = _of_robot(self._robot, self._context, wanted, self._A, self._E, self._parameters)
        if result.joint_velocities is not None:
            qdot = self._robot.MapVelocityToQDot(self._context, result.joint_velocities)
            q = q + self._parameters.get_time_step() * qdot
        values.set_value(0, q)
        values.set_value(1, [result.status.value])


def _abstract(value: Any) -> Any:
    from mbcli.common.value import AbstractValue

    return AbstractValue.Make(value)
