"""Passive walkers down a slope: the rimless wheel (McGeer 1990) and the compass gait (Goswami, Thuilot, Espiau 1996).

Angles are from the vertical, positive where the leg leans downhill. The place of the foot along the slope is a discrete
state.
Resets at impacts are for numbers, not for AutoDiffXd.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.value import AbstractValue
from mbcli.examples.parts import NamedVector, ShownSystem, WithParameters, added, seen, turned
from mbcli.geometry import Box, Cylinder, GeometryInstance, Sphere
from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix, cos, sin
from mbcli.systems.framework import UnrestrictedUpdateEvent, WitnessFunctionDirection

if TYPE_CHECKING:
    from mbcli.math.array_types import Array, Matrix
    from mbcli.systems.framework import DiagramBuilder, OutputPort

DOWNWARDS = WitnessFunctionDirection.kPositiveThenNonPositive
SAND = (0.9, 0.8, 0.7, 1.0)


class RimlessWheelParams(NamedVector):
    """mass [kg] at the centre, length of spokes [m], gravity [m/s^2], number of spokes, slope [rad]"""

    NAMES = {"mass": 1.0, "length": 1.0, "gravity": 9.81, "number_of_spokes": 8.0, "slope": 0.08}


class RimlessWheelContinuousState(NamedVector):
    """theta of the spoke that stands [rad], thetadot [rad/s]"""

    NAMES = {"theta": 0.0, "thetadot": 0.0}


class _Walker(WithParameters):
    """What both have: where the foot stands, the minimal state and that of a floating base."""

    def get_minimal_state_output_port(self) -> OutputPort:
        """The continuous state."""
        return self.get_output_port(0)

    def get_floating_base_state_output_port(self) -> OutputPort:
        """Place, roll, pitch and yaw of the hip in World, angles of further joints, and the rates of all these."""
        return self.get_output_port(1)

    def _state(self, context: Any) -> Array:
        return context.get_continuous_state_vector().CopyToVector()

    def _toe(self, context: Any) -> Any:
        """How far the foot stands along the slope [m]."""
        return context.get_discrete_state_vector()[0]

    def _hip(self, context: Any, slope: Any, length: Any, angle: Any, rate: Any) -> tuple[list[Any], list[Any]]:
        """Its place and velocity in World on a leg that stands at an angle."""
        toe = self._toe(context)
        place = [toe * cos(slope) + length * sin(angle), 0.0, -toe * sin(slope) + length * cos(angle)]
        return place, [rate * length * cos(angle), 0.0, -rate * length * sin(angle)]


class RimlessWheel(_Walker):
    """Spokes about a mass: it turns about the foot that stands until the next one touches, which takes up the speed.

    When it is too slow after an impact it stands on two feet for good.
    """

    def __init__(self) -> None:
        super().__init__()
        self.DeclareContinuousState(RimlessWheelContinuousState(), 1, 1, 0)
        self.DeclareDiscreteState(1)
        self.DeclareAbstractState(AbstractValue.Make(False))  # whether it stands on two feet
        minimal = RimlessWheelContinuousState()
        self.DeclareVectorOutputPort("y0", minimal, lambda c, out: out.SetFromVector(self._state(c)))
        self.DeclareVectorOutputPort("y1", 12, self._floating_base)
        self.DeclareNumericParameter(RimlessWheelParams())
        self._guards = [
            self.MakeWitnessFunction(
                f"step {name}", DOWNWARDS, self._gap(way), UnrestrictedUpdateEvent(self._impact(way))
            )
            for name, way in (("backward", -1), ("forward", 1))
        ]

    @staticmethod
    def calc_alpha(params: Any) -> Any:
        """Half the angle between two spokes [rad]."""
        return np.pi / params.number_of_spokes()

    def CalcTotalEnergy(self, context: Any) -> Any:
        """[J], from where the foot stands."""
        mass, length, gravity, *_ = self.numbers(context)
        theta, rate = self._state(context)
        return mass * (0.5 * (length * rate) ** 2 + gravity * length * cos(theta))

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """[theta', theta''], both zero on two feet."""
        _, length, gravity, *_ = self.numbers(context)
        theta, rate = self._state(context)
        stands = context.get_abstract_state(0).get_value()
        derivatives.SetFromVector([0.0, 0.0] if stands else [rate, gravity / length * sin(theta)])

    def DoGetWitnessFunctions(self, context: Any) -> list[Any]:
        """The next foot before and behind, unless both stand."""
        return [] if context.get_abstract_state(0).get_value() else self._guards

    def _gap(self, way: int) -> Any:
        def gap(context: Any) -> Any:
            params = self.get_parameters(context)
            return self.calc_alpha(params) - way * (self._state(context)[0] - params.slope())

        return gap

    def _impact(self, way: int) -> Any:
        def impact(context: Any, event: Any, state: Any) -> None:
            params, (theta, rate) = self.get_parameters(context), self._state(context)
            alpha, length = self.calc_alpha(params), params.length()
            rate = rate * np.cos(2 * alpha)
            slowest = 0.01 * np.sqrt(params.gravity() / length)
            if way * rate < slowest:
                rate = 0.0
                state.get_mutable_abstract_state(0).set_value(True)
            # a rounding above the ground, so that the next change of sign is seen
            new = theta - way * (2 * alpha - np.finfo(float).eps)
            state.get_mutable_continuous_state().get_mutable_vector().SetFromVector([new, rate])
            toe = self._toe(context) + way * 2 * length * np.sin(alpha)
            state.get_mutable_discrete_state().get_mutable_vector(0).SetAtIndex(0, toe)

        return impact

    def _floating_base(self, context: Any, output: Any) -> None:
        params, (theta, rate) = self.get_parameters(context), self._state(context)
        alpha, length = self.calc_alpha(params), params.length()
        place, velocity = self._hip(context, params.slope(), length, theta, rate)
        turned_by = theta + alpha * self._toe(context) / (length * sin(alpha))
        output.SetFromVector([*place, 0.0, turned_by, 0.0, *velocity, 0.0, rate, 0.0])


class CompassGaitParams(NamedVector):
    """Masses of the hip and of each leg [kg], length_leg and center_of_mass_leg, from the hip [m], gravity [m/s^2],
    slope [rad]
    """

    NAMES = {
        "mass_hip": 10.0,
        "mass_leg": 5.0,
        "length_leg": 1.0,
        "center_of_mass_leg": 0.5,
        "gravity": 9.81,
        "slope": 0.0525,
    }


class CompassGaitContinuousState(NamedVector):
    """Angles of the legs stance and swing [rad], and their rates [rad/s]"""

    NAMES = {"stance": 0.0, "swing": 0.0, "stancedot": 0.0, "swingdot": 0.0}


class CompassGait(_Walker):
    """Two legs and a hip, all of point masses: a leg swings through until it is before the other and touches the slope.

    What a point has whose place is toe + r [sin stance, cos stance] - s [sin swing, cos swing] is written once: masses
    are at (r, s) = (a, 0), (l, 0) and (l, b), with the centre of a leg at b from the hip and a from the toe; the foot
    that swings is at (l, l).
    """

    def __init__(self) -> None:
        super().__init__()
        self.DeclareContinuousState(CompassGaitContinuousState(), 2, 2, 0)
        self.DeclareDiscreteState(1)
        self.DeclareAbstractState(AbstractValue.Make(True))  # whether the left leg stands
        self.DeclareVectorInputPort("hip_torque", 1)
        minimal = CompassGaitContinuousState()
        self.DeclareVectorOutputPort("minimal_state", minimal, lambda c, out: out.SetFromVector(self._state(c)))
        self.DeclareVectorOutputPort("floating_base_state", 14, self._floating_base)
        self.DeclareNumericParameter(CompassGaitParams())
        event = UnrestrictedUpdateEvent(self._impact)
        self._touch = self.MakeWitnessFunction("foot collision", DOWNWARDS, self._gap, event)

    def _masses(self, context: Any) -> list[tuple[Any, Any, Any]]:
        """(mass, r, s) of the leg that stands, of the hip and of the leg that swings."""
        hip, leg, length, b, *_ = self.numbers(context)
        return [(leg, length - b, 0.0), (hip, length, 0.0), (leg, length, b)]

    def _floating_mass_matrix(self, context: Any) -> Matrix:
        """(4, 4), of the toe along x and z [kg], stance and swing."""
        total = np.zeros((4, 4))
        for mass, r, s in self._masses(context):
            J = _point_jacobian(self._state(context), r, s)
            total = total + mass * (J.T @ J)
        return total

    def MassMatrix(self, context: Any) -> Matrix:
        """(2, 2) [kg m^2], of stance and swing."""
        return self._floating_mass_matrix(context)[2:, 2:]

    def DynamicsBiasTerm(self, context: Any) -> Array:
        """(2,) [N m], of rates and gravity."""
        gravity = self.numbers(context)[4]
        stance, swing, *rates = self._state(context)
        bias = np.zeros(2)
        for mass, r, s in self._masses(context):
            coupling = mass * r * s * sin(stance - swing)
            bias = bias + np.array([-coupling * rates[1] ** 2, coupling * rates[0] ** 2])
            bias = bias + mass * gravity * np.array([-r * sin(stance), s * sin(swing)])
        return bias

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """[v, v']; a torque at the hip is positive where it turns the leg that swings downhill."""
        (a, b), (_, d) = self.MassMatrix(context)
        torque = self.effort(context)
        first, second = np.array([-torque, torque]) - self.DynamicsBiasTerm(context)
        determinant = a * d - b * b
        rates = self._state(context)[2:]
        turning = [(d * first - b * second) / determinant, (a * second - b * first) / determinant]
        derivatives.SetFromVector([*rates, *turning])

    def CalcKineticEnergy(self, context: Any) -> Any:
        """[J]"""
        v = self._state(context)[2:]
        return 0.5 * (v @ self.MassMatrix(context) @ v)

    def CalcPotentialEnergy(self, context: Any) -> Any:
        """[J], 0 at the height where the slope begins."""
        *_, gravity, slope = self.numbers(context)
        stance, swing, *_ = self._state(context)
        foot = -self._toe(context) * sin(slope)
        return sum(m * gravity * (foot + r * cos(stance) - s * cos(swing)) for m, r, s in self._masses(context))

    def DoGetWitnessFunctions(self, context: Any) -> list[Any]:
        """The foot that swings touches the slope."""
        return [self._touch]

    def _gap(self, context: Any) -> Any:
        """Not positive where the legs make equal angles with the slope, and the one that swings is before the other."""
        slope = self.get_parameters(context).slope()
        stance, swing, *_ = self._state(context)
        return max(2 * slope - stance - swing, swing - stance)

    def _impact(self, context: Any, event: Any, state: Any) -> None:
        """The foot that swings sticks without a rebound, the other one leaves; legs change their parts."""
        stance, swing, *rates = self._state(context)
        length = self.get_parameters(context).length_leg()
        M, J = self._floating_mass_matrix(context), _point_jacobian(self._state(context), length, length)
        whole = np.block([[M, J.T], [J, np.zeros((2, 2))]])
        after = np.linalg.solve(whole, np.concatenate([M @ [0.0, 0.0, *rates], np.zeros(2)]))
        new = state.get_mutable_continuous_state().get_mutable_vector()
        new.SetFromVector([swing, stance, after[3], after[2]])
        toe = self._toe(context) - 2 * length * np.sin(0.5 * (swing - stance))
        state.get_mutable_discrete_state().get_mutable_vector(0).SetAtIndex(0, toe)
        state.get_mutable_abstract_state(0).set_value(not context.get_abstract_state(0).get_value())

    def _floating_base(self, context: Any, output: Any) -> None:
        params, (stance, swing, *rates) = self.get_parameters(context), self._state(context)
        place, velocity = self._hip(context, params.slope(), params.length_leg(), stance, rates[0])
        legs = [(stance, rates[0]), (swing, rates[1])]
        (left, left_rate), (right, right_rate) = legs if context.get_abstract_state(0).get_value() else legs[::-1]
        joint, joint_rate = right - left, right_rate - left_rate
        output.SetFromVector([*place, 0.0, left, 0.0, joint, *velocity, 0.0, left_rate, 0.0, joint_rate])


def _point_jacobian(state: Array, r: Any, s: Any) -> Matrix:
    """(2, 4): velocity along x and z of the point (r, s) by those of the toe and the rates of the legs."""
    stance, swing = state[:2]
    return np.array(
        [[1.0, 0.0, r * cos(stance), -s * cos(swing)], [0.0, 1.0, -r * sin(stance), s * sin(swing)]],
    )


def _ramp(slope: float) -> tuple[None, GeometryInstance]:
    X = turned(slope, [0.0, 0.0, 0.0]) @ RigidTransform([0.0, 0.0, -5.0])
    return None, seen("ramp", Box(100.0, 1.0, 10.0), X, SAND)


def _leg(name: str, angle: float, length: float, color: tuple[float, ...]) -> GeometryInstance:
    """A rod from the hip, straight down where the angle is zero."""
    return seen(name, Cylinder(0.02, length), turned(angle, [0.0] * 3) @ RigidTransform([0.0, 0.0, -length / 2]), color)


class RimlessWheelGeometry(ShownSystem):
    """Shows a rimless wheel and its ramp."""

    SOURCE, STATE, FRAMES = "rimless_wheel", 12, ("center",)
    INPUT = "floating_base_state"

    def _shapes(self, *parameters: Any) -> list[tuple[int | None, GeometryInstance]]:
        params = parameters[0]
        across = RigidTransform(RotationMatrix(RollPitchYaw(np.pi / 2, 0.0, 0.0)), [0.0, 0.0, 0.0])
        count = int(params.number_of_spokes())
        spokes = [
            _leg(f"spoke{k}", 2 * np.pi * k / count, float(params.length()), (0.6, 0.2, 0.2, 1.0)) for k in range(count)
        ]
        hub = seen("hub", Cylinder(0.2, 0.2), across, (0.6, 0.2, 0.2, 1.0))
        return [_ramp(float(params.slope())), (0, hub), *((0, spoke) for spoke in spokes)]

    def _frames_at(self, state: Array) -> list[RigidTransform]:
        return [RigidTransform(RotationMatrix(RollPitchYaw(*state[3:6])), state[:3])]

    @staticmethod
    def AddToBuilder(
        builder: DiagramBuilder,
        floating_base_state_port: OutputPort,
        rimless_wheel_params: Any = None,
        scene_graph: Any = None,
    ) -> RimlessWheelGeometry:
        """Adds one of RimlessWheelParams, or of the default ones, connected to a state and a SceneGraph."""
        if scene_graph is None:
            rimless_wheel_params, scene_graph = None, rimless_wheel_params
        params = RimlessWheelParams() if rimless_wheel_params is None else rimless_wheel_params
        return added(RimlessWheelGeometry(scene_graph, params), builder, floating_base_state_port, scene_graph)


class CompassGaitGeometry(ShownSystem):
    """Shows a compass gait and its ramp."""

    SOURCE, STATE, FRAMES = "compass_gait", 14, ("left_leg", "right_leg")
    INPUT = "floating_base_state"

    def _shapes(self, *parameters: Any) -> list[tuple[int | None, GeometryInstance]]:
        params = parameters[0]
        length, b = float(params.length_leg()), float(params.center_of_mass_leg())
        radius = 0.1 * float(params.mass_leg() / params.mass_hip()) ** (1 / 3)  # of the hip's density
        shapes = [_ramp(float(params.slope())), (0, seen("hip", Sphere(0.1), RigidTransform(), (0.0, 1.0, 0.0, 1.0)))]
        for frame, color in enumerate(((1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0))):
            mass = seen(f"mass{frame}", Sphere(radius), RigidTransform([0.0, 0.0, -b]), color)
            shapes += [(frame, _leg(f"leg{frame}", 0.0, length, color)), (frame, mass)]
        return shapes

    def _frames_at(self, state: Array) -> list[RigidTransform]:
        return [turned(state[4], state[:3]), turned(state[4] + state[6], state[:3])]

    @staticmethod
    def AddToBuilder(
        builder: DiagramBuilder,
        floating_base_state_port: OutputPort,
        compass_gait_params: Any = None,
        scene_graph: Any = None,
    ) -> CompassGaitGeometry:
        """Adds one of CompassGaitParams, or of the default ones, connected to a state and a SceneGraph."""
        if scene_graph is None:
            compass_gait_params, scene_graph = None, compass_gait_params
        params = CompassGaitParams() if compass_gait_params is None else compass_gait_params
        return added(CompassGaitGeometry(scene_graph, params), builder, floating_base_state_port, scene_graph)
