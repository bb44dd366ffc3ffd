"""Positions of a plant that satisfy constraints, under the names of pydrake.multibody.inverse_kinematics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.geometry.query_object import QueryObject
from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.differential_inverse_kinematics import (
    DifferentialInverseKinematicsIntegrator,
    DifferentialInverseKinematicsParameters,
    DifferentialInverseKinematicsResult,
    DifferentialInverseKinematicsStatus,
    DoDifferentialInverseKinematics,
)
from mbcli.multibody.plant_functions import PlantConstraint, PlantCost, kQDot, three_numbers, unit_vector
from mbcli.solvers.binding import Binding
from mbcli.solvers.evaluators import Constraint, Cost
from mbcli.solvers.mathematical_program import MathematicalProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from mbcli.geometry.identifiers import GeometryId
    from mbcli.math.array_types import Array, FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.plant_functions import Slopes
    from mbcli.multibody.state.context import Context
    from mbcli.multibody.tree.frame import Frame
    from mbcli.multibody.tree.index import ModelInstanceIndex

__all__ = [
    "AddUnitQuaternionConstraintOnPlant",
    "AngleBetweenVectorsConstraint",
    "AngleBetweenVectorsCost",
    "ComInPolyhedronConstraint",
    "ComPositionConstraint",
    "DifferentialInverseKinematicsIntegrator",
    "DifferentialInverseKinematicsParameters",
    "DifferentialInverseKinematicsResult",
    "DifferentialInverseKinematicsStatus",
    "DoDifferentialInverseKinematics",
    "DistanceConstraint",
    "GazeTargetConstraint",
    "InverseKinematics",
    "MinimumDistanceLowerBoundConstraint",
    "OrientationConstraint",
    "OrientationCost",
    "PointToLineDistanceConstraint",
    "PointToPointDistanceConstraint",
    "PolyhedronConstraint",
    "PositionConstraint",
    "PositionCost",
    "UnitQuaternionConstraint",
]


class PositionConstraint(PlantConstraint):
    """p_AQ_lower <= p_AQ <= p_AQ_upper [m] of a point Q of frame B, in frame A; or A is X_AbarA in frame Abar.

    PositionConstraint(plant, frameA, p_AQ_lower, p_AQ_upper, frameB, p_BQ, plant_context), or with frameAbar, X_AbarA
    in place of frameA.
    """

    def __init__(self, plant: MultibodyPlant, *given: Any, **named: Any) -> None:
        shifted = len(given) == 7 or "frameAbar" in named or "X_AbarA" in named
        keys = ("frameAbar", "X_AbarA") if shifted else ("frameA",)
        values = dict(zip((*keys, "p_AQ_lower", "p_AQ_upper", "frameB", "p_BQ", "plant_context"), given, strict=False))
        values |= named
        self._A, self._X_AbarA = values[keys[0]], values.get("X_AbarA") or RigidTransform()
        self._B = values["frameB"]
        if values["p_BQ"] is None:
            raise NotImplementedError("PositionConstraint: points p_BQ that are to be found are not in mbcli")
        self._p = three_numbers(values["p_BQ"])
        lower, upper = three_numbers(values["p_AQ_lower"]), three_numbers(values["p_AQ_upper"])
        self._bounded(plant, values["plant_context"], lower, upper)

    def _slopes(self) -> Slopes:
        p, J = self._position(self._B, self._p, self._A)
        R = self._X_AbarA.rotation().matrix()
        return R.T @ (p - self._X_AbarA.translation()), R.T @ J


class OrientationConstraint(PlantConstraint):
    """The angle between frame A, R_AbarA on Abar, and frame B, R_BbarB on Bbar, is at most theta_bound [rad]."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frameAbar: Frame,
        R_AbarA: RotationMatrix,
        frameBbar: Frame,
        R_BbarB: RotationMatrix,
        theta_bound: float,
        plant_context: Context,
    ) -> None:
        if not theta_bound >= 0.0:
            raise RuntimeError(f"theta_bound must not be negative, it is {theta_bound}")
        self._sides = frameAbar, R_AbarA.matrix(), frameBbar, R_BbarB.matrix()
        least = 1.0 + 2.0 * np.cos(min(theta_bound, np.pi))
        self._bounded(plant, plant_context, [least], [3.0])
        if theta_bound == 0.0:
            self.regular = _SameOrientation(plant, self._sides, plant_context)

    def _slopes(self) -> Slopes:
        trace, J = self._trace(*self._sides)
        return np.array([trace]), J[None]


class _SameOrientation(PlantConstraint):
    """sin(angle / 2) times the axis (3,) between two orientations is 0: its slopes do not vanish there."""

    def __init__(self, plant: MultibodyPlant, sides: tuple[Any, ...], plant_context: Context) -> None:
        self._sides = sides
        self._bounded(plant, plant_context, np.zeros(3), np.zeros(3))

    def _slopes(self) -> Slopes:
        frame_A, R_AC, frame_B, R_BD = self._sides
        R_AB, J = self._rotation(frame_A, frame_B)
        w, *v = RotationMatrix(R_AB @ R_BD @ R_AC.T).ToQuaternion().wxyz()
        return np.array(v), 0.5 * (w * J - np.cross(v, J, axisb=0, axisc=0))


class GazeTargetConstraint(PlantConstraint):
    """A target T of frame B is in a cone with its tip S and axis n_A on frame A, and half an angle [rad]."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frameA: Frame,
        p_AS: ArrayLike,
        n_A: ArrayLike,
        frameB: Frame,
        p_BT: ArrayLike,
        cone_half_angle: float,
        plant_context: Context,
    ) -> None:
        if not 0.0 <= cone_half_angle <= 0.5 * np.pi:
            raise RuntimeError(f"cone_half_angle must be from 0 to pi/2, it is {cone_half_angle}")
        self._A, self._S, self._axis = frameA, three_numbers(p_AS), unit_vector(n_A)
        self._B, self._T, self._square = frameB, three_numbers(p_BT), float(np.cos(cone_half_angle) ** 2)
        self._bounded(plant, plant_context, [0.0, 0.0], [np.inf, np.inf])

    def _slopes(self) -> Slopes:
        p, J = self._position(self._B, self._T, self._A)
        p = p - self._S
        along = self._axis @ p
        first = self._axis @ J
        return np.array([along, along**2 - self._square * p @ p]), np.stack(
            [first, 2.0 * along * first - 2.0 * self._square * p @ J]
        )


class AngleBetweenVectorsConstraint(PlantConstraint):
    """The angle [rad] between a vector on frame A and one on frame B is within bounds."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frameA: Frame,
        a_A: ArrayLike,
        frameB: Frame,
        b_B: ArrayLike,
        angle_lower: float,
        angle_upper: float,
        plant_context: Context,
    ) -> None:
        if not 0.0 <= angle_lower <= angle_upper <= np.pi:
            raise RuntimeError(f"angles must be from 0 to pi, the lower one first: {angle_lower}, {angle_upper}")
        self._sides = frameA, unit_vector(a_A), frameB, unit_vector(b_B)
        self._bounded(plant, plant_context, [np.cos(angle_upper)], [np.cos(angle_lower)])

    def _slopes(self) -> Slopes:
        cosine, J = self._cosine(*self._sides)
        return np.array([cosine]), J[None]


class PointToPointDistanceConstraint(PlantConstraint):
    """The distance [m] of a point of frame 1 and one of frame 2 is within bounds; the value is its square."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frame1: Frame,
        p_B1P1: ArrayLike,
        frame2: Frame,
        p_B2P2: ArrayLike,
        distance_lower: float,
        distance_upper: float,
        plant_context: Context,
    ) -> None:
        self._one, self._P, self._two, self._Q = frame1, three_numbers(p_B1P1), frame2, three_numbers(p_B2P2)
        self._bounded(plant, plant_context, [distance_lower**2], [distance_upper**2])

    def _slopes(self) -> Slopes:
        p, J = self._position(self._two, self._Q, self._one)
        return np.array([(p - self._P) @ (p - self._P)]), (2.0 * (p - self._P) @ J)[None]


class PointToLineDistanceConstraint(PlantConstraint):
    """The distance [m] of a point and a line through Q along n on another frame is within bounds; value: its square."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frame_point: Frame,
        p_B1P: ArrayLike,
        frame_line: Frame,
        p_B2Q: ArrayLike,
        n_B2: ArrayLike,
        distance_lower: float,
        distance_upper: float,
        plant_context: Context,
    ) -> None:
        self._one, self._P, self._two = frame_point, three_numbers(p_B1P), frame_line
        self._Q, self._across = three_numbers(p_B2Q), np.eye(3) - np.outer(unit_vector(n_B2), unit_vector(n_B2))
        self._bounded(plant, plant_context, [distance_lower**2], [distance_upper**2])

    def _slopes(self) -> Slopes:
        p, J = self._position(self._one, self._P, self._two)
        off = self._across @ (p - self._Q)
        return np.array([off @ off]), (2.0 * off @ J)[None]


class PolyhedronConstraint(PlantConstraint):
    """A [p_FP1; p_FP2; ...] <= b of points (3, n) of frame G, in frame F."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frameF: Frame,
        frameG: Frame,
        p_GP: ArrayLike,
        A: ArrayLike,
        b: ArrayLike,
        plant_context: Context,
    ) -> None:
        self._F, self._G, self._points = frameF, frameG, np.asarray(p_GP, dtype=float).reshape(3, -1)
        self._rows = np.atleast_2d(np.asarray(A, dtype=float))
        upper = np.asarray(b, dtype=float).reshape(-1)
        self._bounded(plant, plant_context, np.full(upper.size, -np.inf), upper)

    def _slopes(self) -> Slopes:
        parts = [self._position(self._G, p, self._F) for p in self._points.T]
        y, J = np.concatenate([p for p, _ in parts]), np.concatenate([J for _, J in parts])
        return self._rows @ y, self._rows @ J


class ComInPolyhedronConstraint(PlantConstraint):
    """lb <= A p_EC <= ub of the centre of mass C [m] of model instances, None: of all bodies, in frame E."""

    def __init__(
        self,
        plant: MultibodyPlant,
        model_instances: Sequence[ModelInstanceIndex] | None,
        expressed_frame: Frame,
        A: ArrayLike,
        lb: ArrayLike,
        ub: ArrayLike,
        plant_context: Context,
    ) -> None:
        self._instances, self._E = model_instances, expressed_frame
        self._A = np.asarray(A, dtype=float).reshape(-1, 3)
        self._bounded(plant, plant_context, lb, ub)

    def _slopes(self) -> Slopes:
        plant, context, E = self._plant, self._context, self._E
        p_WC = plant.CalcCenterOfMassPositionInWorld(context, self._instances)
        J = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, self._instances, kQDot, E, E)
        return self._A @ (E.CalcPoseInWorld(context).inverse() @ p_WC), self._A @ J


class ComPositionConstraint(Constraint):
    """The centre of mass of model instances, None: of all bodies, is at p_EC [m]: of the variables [q; p_EC]."""

    def __init__(
        self,
        plant: MultibodyPlant,
        model_instances: Sequence[ModelInstanceIndex] | None,
        expressed_frame: Frame,
        plant_context: Context,
    ) -> None:
        zero = np.zeros(3)
        self._com = ComInPolyhedronConstraint(
            plant, model_instances, expressed_frame, np.eye(3), zero, zero, plant_context
        )
        super().__init__(lambda x: self._com.Eval(x[:-3]) - x[-3:], zero, zero, plant.num_positions() + 3)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (3, nq + 3)."""
        return np.hstack([self._com.jacobian(x[:-3]), -np.eye(3)])


class DistanceConstraint(PlantConstraint):
    """The signed distance [m] of two geometries is within bounds."""

    _has_geometries = True

    def __init__(
        self,
        plant: MultibodyPlant,
        geometry_pair: tuple[GeometryId, GeometryId],
        plant_context: Context,
        distance_lower: float,
        distance_upper: float,
    ) -> None:
        self._pair = geometry_pair
        self._bounded(plant, plant_context, [distance_lower], [distance_upper])

    def _slopes(self) -> Slopes:
        query = _query(self._plant, self._context)
        pair = query.ComputeSignedDistancePairClosestPoints(*self._pair)
        return np.array([pair.distance]), _slope_of_distance(self._plant, self._context, query, pair)[None]


class MinimumDistanceLowerBoundConstraint(PlantConstraint):
    """No two geometries are nearer to each other than a bound [m].

    The value is the sum over pairs of ((d_i - d) / (d_i - bound))^2, d_i = bound + influence_distance_offset, of pairs
    nearer than d_i; it is to be at most 1. So it holds only where all distances are above the bound, and is smooth.
    """

    _has_geometries = True

    def __init__(
        self,
        plant: MultibodyPlant,
        bound: float,
        plant_context: Context,
        penalty_function: None = None,
        influence_distance_offset: float = 0.01,
    ) -> None:
        if not influence_distance_offset > 0.0:
            raise RuntimeError(f"influence_distance_offset must be positive, it is {influence_distance_offset}")
        self._offset, self._reach = influence_distance_offset, bound + influence_distance_offset
        self._bounded(plant, plant_context, [-np.inf], [1.0])

    def _slopes(self) -> Slopes:
        plant, query = self._plant, _query(self._plant, self._context)
        y, J = 0.0, np.zeros(plant.num_positions())
        for pair in query.ComputeSignedDistancePairwiseClosestPoints(self._reach):
            share = (self._reach - pair.distance) / self._offset
            y += share**2
            J -= 2.0 * share / self._offset * _slope_of_distance(plant, self._context, query, pair)
        return np.array([y]), J[None]


class UnitQuaternionConstraint(Constraint):
    """The square of the length of a quaternion is 1."""

    def __init__(self) -> None:
        super().__init__(lambda x: [x @ x], [1.0], [1.0], 4)


class PositionCost(PlantCost):
    """(p_AP - p_AQ)' C (p_AP - p_AQ) of a point Q of frame B and a point P of frame A."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frameA: Frame,
        p_AP: ArrayLike,
        frameB: Frame,
        p_BQ: ArrayLike,
        C: ArrayLike,
        plant_context: Context,
    ) -> None:
        self._A, self._P, self._B, self._Q = frameA, three_numbers(p_AP), frameB, three_numbers(p_BQ)
        C = np.asarray(C, dtype=float)
        self._C = 0.5 * (C + C.T)
        self._start(plant, plant_context)

    def _slopes(self) -> Slopes:
        p, J = self._position(self._B, self._Q, self._A)
        off = p - self._P
        return np.array([off @ self._C @ off]), (2.0 * off @ self._C @ J)[None]


class OrientationCost(PlantCost):
    """c (1 - cos theta) of the angle theta between frames A, R_AbarA on Abar, and B, R_BbarB on Bbar."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frameAbar: Frame,
        R_AbarA: RotationMatrix,
        frameBbar: Frame,
        R_BbarB: RotationMatrix,
        c: float,
        plant_context: Context,
    ) -> None:
        self._sides, self._c = (frameAbar, R_AbarA.matrix(), frameBbar, R_BbarB.matrix()), float(c)
        self._start(plant, plant_context)

    def _slopes(self) -> Slopes:
        trace, J = self._trace(*self._sides)
        return np.array([self._c * 0.5 * (3.0 - trace)]), -0.5 * self._c * J[None]


class AngleBetweenVectorsCost(PlantCost):
    """c (1 - cos theta) of the angle theta between a vector on frame A and one on frame B."""

    def __init__(
        self,
        plant: MultibodyPlant,
        frameA: Frame,
        a_A: ArrayLike,
        frameB: Frame,
        b_B: ArrayLike,
        c: float,
        plant_context: Context,
    ) -> None:
        self._sides, self._c = (frameA, unit_vector(a_A), frameB, unit_vector(b_B)), float(c)
        self._start(plant, plant_context)

    def _slopes(self) -> Slopes:
        cosine, J = self._cosine(*self._sides)
        return np.array([self._c * (1.0 - cosine)]), -self._c * J[None]


class InverseKinematics:
    """A program for the positions q of a plant: constraints and costs are added, then Solve(ik.prog()).

    Args:
        plant: finalized.
        plant_context: whose parameters count, and which takes the positions; one of its own if not given.
        with_joint_limits: whether positions stay within their limits.

    Raises:
        RuntimeError: the context is another plant's.

    Example:
        >>> InverseKinematics(plant).q()
        array([q(0), q(1)], dtype=object)
    """

    def __init__(self, plant: MultibodyPlant, plant_context: Any = None, with_joint_limits: bool = True) -> None:
        if isinstance(plant_context, bool):
            plant_context, with_joint_limits = None, plant_context
        self._plant = plant
        self._context = plant.CreateDefaultContext() if plant_context is None else plant_context
        plant.check_context(self._context)
        self._prog = MathematicalProgram()
        self._q = self._prog.NewContinuousVariables(plant.num_positions(), "q")
        if with_joint_limits:
            lower, upper = plant.GetPositionLowerLimits(), plant.GetPositionUpperLimits()
            self._prog.AddBoundingBoxConstraint(lower, upper, self._q)
        AddUnitQuaternionConstraintOnPlant(plant, self._q, self._prog)

    def q(self) -> Array:
        """The variables (nq,)."""
        return self._q

    def prog(self) -> MathematicalProgram:
        """The program."""
        return self._prog

    get_mutable_prog = prog

    def context(self) -> Context:
        """The context whose positions are those of the last evaluation."""
        return self._context

    get_mutable_context = context

    def _add(self, make: Callable[..., Any], *given: Any, **named: Any) -> Binding:
        made = make(self._plant, *given, plant_context=self._context, **named)
        add = self._prog.AddCost if isinstance(made, Cost) else self._prog.AddConstraint
        return add(made, self._q)

    def AddPositionConstraint(self, frameB: Frame, p_BQ: Any, *given: Any, **named: Any) -> Binding:
        """AddPositionConstraint(frameB, p_BQ, frameA, p_AQ_lower, p_AQ_upper), or frameAbar, X_AbarA for frameA.

        Args:
          frameB: in which the point Q is fixed.
          p_BQ: (3,) [m].
          given: the others, by position: bounds p_AQ_lower and p_AQ_upper (3,) [m] in A.
          named: the same by name.

        Returns:
          The Binding.

        Example:
          >>> ik, lower, W = InverseKinematics(plant), plant.GetFrameByName("lower"), plant.world_frame()
          >>> reach = ik.AddPositionConstraint(lower, [0, 0, -0.8], W, [0.5, -1, 1.0], [0.5, 1, 1.0])
          >>> result = Solve(ik.prog(), [0.1, -0.9])
          >>> plant.SetPositions(context, result.GetSolution(ik.q())); result.is_success()
          True
        """
        keys = ("frameAbar", "X_AbarA") if len(given) == 4 or "frameAbar" in named else ("frameA",)
        values = dict(zip((*keys, "p_AQ_lower", "p_AQ_upper"), given, strict=False)) | named
        return self._add(PositionConstraint, frameB=frameB, p_BQ=p_BQ, **values)

    def AddPositionCost(self, frameA: Frame, p_AP: ArrayLike, frameB: Frame, p_BQ: ArrayLike, C: ArrayLike) -> Binding:
        """A PositionCost."""
        return self._add(PositionCost, frameA, p_AP, frameB, p_BQ, C)

    def AddOrientationConstraint(
        self, frameAbar: Frame, R_AbarA: RotationMatrix, frameBbar: Frame, R_BbarB: RotationMatrix, theta_bound: float
    ) -> Binding:
        """An OrientationConstraint."""
        return self._add(OrientationConstraint, frameAbar, R_AbarA, frameBbar, R_BbarB, theta_bound)

    def AddOrientationCost(
        self, frameAbar: Frame, R_AbarA: RotationMatrix, frameBbar: Frame, R_BbarB: RotationMatrix, c: float
    ) -> Binding:
        """An OrientationCost."""
        return self._add(OrientationCost, frameAbar, R_AbarA, frameBbar, R_BbarB, c)

    def AddGazeTargetConstraint(
        self, frameA: Frame, p_AS: ArrayLike, n_A: ArrayLike, frameB: Frame, p_BT: ArrayLike, cone_half_angle: float
    ) -> Binding:
        """A GazeTargetConstraint."""
        return self._add(GazeTargetConstraint, frameA, p_AS, n_A, frameB, p_BT, cone_half_angle)

    def AddAngleBetweenVectorsConstraint(
        self, frameA: Frame, na_A: ArrayLike, frameB: Frame, nb_B: ArrayLike, angle_lower: float, angle_upper: float
    ) -> Binding:
        """An AngleBetweenVectorsConstraint."""
        return self._add(AngleBetweenVectorsConstraint, frameA, na_A, frameB, nb_B, angle_lower, angle_upper)

    def AddAngleBetweenVectorsCost(
        self, frameA: Frame, na_A: ArrayLike, frameB: Frame, nb_B: ArrayLike, c: float
    ) -> Binding:
        """An AngleBetweenVectorsCost."""
        return self._add(AngleBetweenVectorsCost, frameA, na_A, frameB, nb_B, c)

    def AddPointToPointDistanceConstraint(
        self, frame1: Frame, p_B1P1: ArrayLike, frame2: Frame, p_B2P2: ArrayLike, *bounds: float, **named: float
    ) -> Binding:
        """A PointToPointDistanceConstraint; bounds: distance_lower, distance_upper [m]."""
        return self._add(PointToPointDistanceConstraint, frame1, p_B1P1, frame2, p_B2P2, *bounds, **named)

    def AddPointToLineDistanceConstraint(self, *given: Any, **named: Any) -> Binding:
        """A PointToLineDistanceConstraint."""
        return self._add(PointToLineDistanceConstraint, *given, **named)

    def AddPolyhedronConstraint(
        self, frameF: Frame, frameG: Frame, p_GP: ArrayLike, A: ArrayLike, b: ArrayLike
    ) -> Binding:
        """A PolyhedronConstraint."""
        return self._add(PolyhedronConstraint, frameF, frameG, p_GP, A, b)

    def AddDistanceConstraint(
        self, geometry_pair: tuple[GeometryId, GeometryId], distance_lower: float, distance_upper: float
    ) -> Binding:
        """A DistanceConstraint."""
        limits = {"distance_lower": distance_lower, "distance_upper": distance_upper}
        return self._add(DistanceConstraint, geometry_pair, **limits)

    def AddMinimumDistanceLowerBoundConstraint(self, bound: float, influence_distance_offset: float = 0.01) -> Binding:
        """A MinimumDistanceLowerBoundConstraint."""
        return self._add(
            MinimumDistanceLowerBoundConstraint, bound, influence_distance_offset=influence_distance_offset
        )


def AddUnitQuaternionConstraintOnPlant(plant: MultibodyPlant, q_vars: Any, prog: MathematicalProgram) -> list[Binding]:
    """Lets the quaternions among the positions have the length 1, with the identity as the guess; RuntimeError for
    another number of variables than positions.
    """
    q = np.asarray(q_vars, dtype=object).reshape(-1)
    if q.size != plant.num_positions():
        raise RuntimeError(f"the plant has {plant.num_positions()} positions, not {q.size}")
    bindings = []
    for joint in plant.moving_joints():
        if joint.num_positions() - joint.num_velocities() == 1:  # a quaternion first
            part = q[joint.position_start() : joint.position_start() + 4]
            prog.AddBoundingBoxConstraint(-1.0, 1.0, part)
            bindings.append(prog.AddConstraint(UnitQuaternionConstraint(), part))
            if np.isnan(prog.GetInitialGuess(part)).any():
                prog.SetInitialGuess(part, [1.0, 0.0, 0.0, 0.0])
    return bindings


def _query(plant: MultibodyPlant, context: Context) -> QueryObject:
    return QueryObject(plant.require_scene_graph("distance constraints").registry, plant, context)


def _slope_of_distance(plant: MultibodyPlant, context: Context, query: QueryObject, pair: Any) -> FloatArray:
    """Derivatives (nq,) of a distance: the nearest points move with their bodies, along the normal."""
    total, world = np.zeros(plant.num_positions()), plant.world_frame()
    inspector = query.inspector()
    for g, p_GC, sign in ((pair.id_A, pair.p_ACa, 1.0), (pair.id_B, pair.p_BCb, -1.0)):
        body = plant.GetBodyFromFrameId(inspector.GetFrameId(g))
        assert body is not None  # geometries that collide are of bodies
        p_BC = inspector.GetPoseInFrame(g) @ np.asarray(p_GC)
        J = plant.CalcJacobianPositionVector(context, body.body_frame(), p_BC, world, world)
        total += sign * pair.nhat_BA_W @ J
    return total
