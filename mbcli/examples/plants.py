"""Small systems that tutorials use, under the names of pydrake.examples: pendulum, acrobot, quadrotor, oscillator.

The equations are those of textbooks (Spong 1995 for the acrobot; Mellinger, Michael and Kumar 2012 for the quadrotor).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.examples.parts import NamedVector, SecondOrder, ShownSystem, added, seen, turned
from mbcli.geometry import Box, Cylinder, GeometryInstance, Sphere
from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix, cos, sin
from mbcli.math.cross_product import cross
from mbcli.systems.analysis import Simulator
from mbcli.systems.controllers import LinearQuadraticRegulator
from mbcli.systems.framework import BasicVector, DiagramBuilder, LeafSystem
from mbcli.systems.primitives import LogVectorOutput

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.geometry import FrameId
    from mbcli.math.array_types import Array, Matrix3
    from mbcli.systems.framework import OutputPort


class PendulumParams(NamedVector):
    """mass [kg], length [m], damping [N m s], gravity [m/s^2]"""

    NAMES = {"mass": 1.0, "length": 0.5, "damping": 0.1, "gravity": 9.81}


class PendulumState(NamedVector):
    """theta [rad], 0 where it hangs, thetadot [rad/s]"""

    NAMES = {"theta": 0.0, "thetadot": 0.0}


class PendulumInput(NamedVector):
    """tau [N m]"""

    NAMES = {"tau": 0.0}


class AcrobotParams(NamedVector):
    """Masses m1, m2 [kg], lengths l1, l2 and distances of centres of mass lc1, lc2 [m], inertias about these Ic1, Ic2
    [kg m^2], damping b1, b2 [N m s], gravity [m/s^2]
    """

    NAMES = {
        "m1": 1.0,
        "m2": 1.0,
        "l1": 1.0,
        "l2": 2.0,
        "lc1": 0.5,
        "lc2": 1.0,
        "Ic1": 0.083,
        "Ic2": 0.33,
        "b1": 0.1,
        "b2": 0.1,
        "gravity": 9.81,
    }


class AcrobotState(NamedVector):
    """theta1, 0 where the first link hangs, theta2 of the second against the first [rad], and their rates [rad/s]"""

    NAMES = {"theta1": 0.0, "theta2": 0.0, "theta1dot": 0.0, "theta2dot": 0.0}


class AcrobotInput(NamedVector):
    """tau at the elbow [N m]"""

    NAMES = {"tau": 0.0}


class PendulumPlant(SecondOrder):
    """m l^2 theta'' + b theta' + m g l sin(theta) = tau"""

    STATE, PARAMETERS, INPUT, OUTPUT, POSITIONS = PendulumState, PendulumParams, "tau", "state", 1

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """[theta', theta'']"""
        m, length, b, g = self.numbers(context)
        theta, rate = context.get_continuous_state_vector().CopyToVector()
        torque = self.effort(context) - m * g * length * sin(theta) - b * rate
        derivatives.SetFromVector([rate, torque / (m * length * length)])

    def CalcPotentialEnergy(self, context: Any) -> Any:
        """[J], 0 where the pendulum is level."""
        m, length, _, g = self.numbers(context)
        return -m * g * length * cos(context.get_continuous_state_vector().CopyToVector()[0])

    def CalcKineticEnergy(self, context: Any) -> Any:
        """[J]"""
        m, length, *_ = self.numbers(context)
        return 0.5 * m * (length * context.get_continuous_state_vector().CopyToVector()[1]) ** 2


class AcrobotPlant(SecondOrder):
    """M(q) v' + bias(q, v) = [0, tau]: two links, of which the elbow is driven."""

    STATE, PARAMETERS, INPUT, OUTPUT, POSITIONS = AcrobotState, AcrobotParams, "elbow_torque", "acrobot_state", 2

    def MassMatrix(self, context: Any) -> Array:
        """(2, 2) [kg m^2]"""
        p = self.numbers(context)
        m1, m2, l1, _, lc1, lc2, Ic1, Ic2 = p[:8]
        elbow = cos(context.get_continuous_state_vector().CopyToVector()[1])
        I1, I2, coupling = Ic1 + m1 * lc1 * lc1, Ic2 + m2 * lc2 * lc2, m2 * l1 * lc2 * elbow
        return np.array([[I1 + I2 + m2 * l1 * l1 + 2 * coupling, I2 + coupling], [I2 + coupling, I2]])

    def DynamicsBiasTerm(self, context: Any) -> Array:
        """(2,) [N m] of rates, gravity and damping"""
        m1, m2, l1, _, lc1, lc2, _, _, b1, b2, g = self.numbers(context)
        t1, t2, v1, v2 = context.get_continuous_state_vector().CopyToVector()
        swing = m2 * l1 * lc2 * sin(t2)
        tip = g * m2 * lc2 * sin(t1 + t2)
        shoulder = -2 * swing * v2 * v1 - swing * v2 * v2 + g * (m1 * lc1 + m2 * l1) * sin(t1) + tip + b1 * v1
        return np.array([shoulder, swing * v1 * v1 + tip + b2 * v2])

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """[v, v']"""
        (a, b), (_, d) = self.MassMatrix(context)
        first, second = -self.DynamicsBiasTerm(context)
        second = second + self.effort(context)
        determinant = a * d - b * b
        v = context.get_continuous_state_vector().CopyToVector()[2:]
        derivatives.SetFromVector([*v, (d * first - b * second) / determinant, (a * second - b * first) / determinant])

    def CalcPotentialEnergy(self, context: Any) -> Any:
        """[J], 0 where both links are level."""
        m1, m2, l1, _, lc1, lc2, *_, g = self.numbers(context)
        t1, t2, *_ = context.get_continuous_state_vector().CopyToVector()
        return -g * ((m1 * lc1 + m2 * l1) * cos(t1) + m2 * lc2 * cos(t1 + t2))

    def CalcKineticEnergy(self, context: Any) -> Any:
        """[J]"""
        v = context.get_continuous_state_vector().CopyToVector()[2:]
        return 0.5 * (v @ self.MassMatrix(context) @ v)

    def SetMitAcrobotParameters(self, parameters: AcrobotParams) -> None:
        """The numbers of an acrobot that was built at MIT."""
        numbers = {"m1": 2.4367, "m2": 0.6178, "l1": 0.2563, "lc1": 1.6738, "lc2": 1.5651, "Ic1": -4.7443}
        for name, value in {**numbers, "Ic2": -1.0068, "b1": 0.0320, "b2": 0.0413}.items():
            getattr(parameters, f"set_{name}")(value)


class VanDerPolOscillator(LeafSystem):
    """q'' + mu (q^2 - 1) q' + q = 0, with outputs q and [q, q']."""

    def __init__(self) -> None:
        super().__init__()
        index = self.DeclareContinuousState(1, 1, 0)
        self.DeclareNumericParameter(BasicVector([1.0]))
        self.DeclareVectorOutputPort("y0", 1, lambda c, out: out.SetFromVector(self._state(c)[:1]))
        self.DeclareStateOutputPort("y1", index)

    def _state(self, context: Any) -> Array:
        return context.get_continuous_state_vector().CopyToVector()

    def get_position_output_port(self) -> OutputPort:
        """q"""
        return self.get_output_port(0)

    def get_full_state_output_port(self) -> OutputPort:
        """[q, q']"""
        return self.get_output_port(1)

    @staticmethod
    def CalcLimitCycle() -> Array:
        """States (2, n) along the limit cycle of mu = 1, from its upper turn round to there again."""
        builder = DiagramBuilder()
        oscillator = builder.AddSystem(VanDerPolOscillator())
        log = LogVectorOutput(oscillator.get_full_state_output_port(), builder)
        simulator = Simulator(builder.Build())
        context = simulator.get_mutable_context()
        context.SetContinuousState([2.00862, 0.0])
        simulator.AdvanceTo(6.66329)  # amplitude and period: what long runs come to
        return log.FindLog(context).data()

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """[q', q'']"""
        (q, v), mu = self._state(context), context.get_numeric_parameter(0)[0]
        derivatives.SetFromVector([v, -mu * (q * q - 1.0) * v - q])


class QuadrotorPlant(LeafSystem):
    """A body with four propellers; state [x, y, z, roll, pitch, yaw] and its rates, inputs the efforts of propellers.

    Args:
        m_arg: mass [kg]; L_arg: arm [m]; I_arg: (3, 3) central inertia [kg m^2]; kF_arg, kM_arg: force [N] and moment
            [N m] for each unit of an input.
    """

    def __init__(
        self,
        m_arg: float = 0.775,
        L_arg: float = 0.15,
        I_arg: ArrayLike = ((0.0015, 0, 0), (0, 0.0025, 0), (0, 0, 0.0035)),
        kF_arg: float = 1.0,
        kM_arg: float = 0.0245,
    ) -> None:
        super().__init__()
        self._m, self._L, self._kF, self._kM = float(m_arg), float(L_arg), float(kF_arg), float(kM_arg)
        self._I, self._g = np.array(I_arg, dtype=float).reshape(3, 3), 9.81
        self.DeclareVectorInputPort("propeller_force", 4)
        self.DeclareStateOutputPort("state", self.DeclareContinuousState(12))

    def m(self) -> float:
        """[kg]"""
        return self._m

    def g(self) -> float:
        """[m/s^2]"""
        return self._g

    def length(self) -> float:
        """[m]"""
        return self._L

    def force_constant(self) -> float:
        """[N]"""
        return self._kF

    def moment_constant(self) -> float:
        """[N m]"""
        return self._kM

    def inertia(self) -> Matrix3:
        """(3, 3) [kg m^2]"""
        return self._I.copy()

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """Newton's law in World, Euler's in the body, whose rates are those of roll, pitch and yaw."""
        x = context.get_continuous_state_vector().CopyToVector()
        u = self.get_input_port().Eval(context)
        (r, p, y), rates = x[3:6], x[9:]
        (sr, cr), (sp, cp), (sy, cy) = ((sin(a), cos(a)) for a in (r, p, y))
        lift = self._kF * (u[0] + u[1] + u[2] + u[3]) / self._m
        axis = np.array([cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr])
        moment = np.array(
            [
                self._kF * self._L * (u[1] - u[3]),
                self._kF * self._L * (u[2] - u[0]),
                self._kM * (u[0] - u[1] + u[2] - u[3]),
            ]
        )
        E = np.array([[1.0, 0.0, -sp], [0.0, cr, sr * cp], [0.0, -sr, cr * cp]])  # w_WB_B = E rates
        w = E @ rates
        dr, dp = rates[0], rates[1]
        E_rate = np.array(
            [
                [0.0, 0.0, -cp * dp],
                [0.0, -sr * dr, cr * cp * dr - sr * sp * dp],
                [0.0, -cr * dr, -sr * cp * dr - cr * sp * dp],
            ]
        )
        alpha = np.linalg.inv(self._I) @ (moment - cross(w, self._I @ w)) - E_rate @ rates
        yaw = (sr * alpha[1] + cr * alpha[2]) / cp
        acceleration = lift * axis - np.array([0.0, 0.0, self._g])
        turning = [alpha[0] + sp * yaw, cr * alpha[1] - sr * alpha[2], yaw]
        derivatives.SetFromVector([*x[6:], *acceleration, *turning])


def StabilizingLQRController(quadrotor_plant: QuadrotorPlant, nominal_position: ArrayLike) -> Any:
    """The regulator that hovers at a position (3,) [m]: costs of 10 for positions and angles, of 1 for all else."""
    context = quadrotor_plant.CreateDefaultContext()
    hover = quadrotor_plant.m() * quadrotor_plant.g() / quadrotor_plant.force_constant() / 4.0
    quadrotor_plant.get_input_port().FixValue(context, np.full(4, hover))
    context.SetContinuousState(np.concatenate([np.asarray(nominal_position, dtype=float).reshape(3), np.zeros(9)]))
    return LinearQuadraticRegulator(quadrotor_plant, context, np.diag([10.0] * 6 + [1.0] * 6), np.eye(4))


class PendulumGeometry(ShownSystem):
    """Shows a pendulum: its base, its arm and its mass."""

    SOURCE, STATE, FRAMES = "pendulum", 2, ("arm",)

    def _shapes(self, *parameters: Any) -> list[tuple[int | None, GeometryInstance]]:
        length = PendulumParams.NAMES["length"]
        base = seen("base", Box(0.05, 0.05, 0.05), RigidTransform([0.0, 0.0, 0.025]), (0.3, 0.6, 0.4, 1.0))
        arm = seen("arm", Cylinder(0.01, length), RigidTransform([0.0, 0.0, -length / 2.0]), (0.9, 0.1, 0.0, 1.0))
        place = RigidTransform([0.0, 0.0, -length])
        return [
            (None, base),
            (0, arm),
            (0, seen("arm point mass", Sphere(length / 20.0), place, (0.0, 0.0, 1.0, 1.0))),
        ]

    def _frames_at(self, state: Array) -> list[RigidTransform]:
        return [turned(state[0], [0.0, 0.0, 0.0])]

    @staticmethod
    def AddToBuilder(builder: DiagramBuilder, pendulum_state_port: OutputPort, scene_graph: Any) -> PendulumGeometry:
        """Adds one that is connected to the state of a pendulum and to a SceneGraph."""
        return added(PendulumGeometry(scene_graph), builder, pendulum_state_port, scene_graph)


class AcrobotGeometry(ShownSystem):
    """Shows an acrobot: its base and its links."""

    SOURCE, STATE, FRAMES = "acrobot", 4, ("upper_link", "lower_link")

    def _shapes(self, *parameters: Any) -> list[tuple[int | None, GeometryInstance]]:
        params = parameters[0]
        self._l1 = float(params.l1())
        shapes: list[tuple[int | None, GeometryInstance]] = [
            (None, seen("base", Box(0.2, 0.2, 0.2), RigidTransform([0.0, 0.2, 0.0]), (0.3, 0.6, 0.4, 1.0)))
        ]
        for place, length, color in (
            (0, self._l1, (1.0, 0.0, 0.0, 1.0)),
            (1, float(params.l2()), (0.0, 0.0, 1.0, 1.0)),
        ):
            middle = RigidTransform([0.0, 0.0, -length / 2.0])
            shapes.append((place, seen(self.FRAMES[place], Cylinder(0.05, length), middle, color)))
        return shapes

    def _frames_at(self, state: Array) -> list[RigidTransform]:
        elbow = [-self._l1 * np.sin(state[0]), 0.0, -self._l1 * np.cos(state[0])]
        return [turned(state[0], [0.0, 0.0, 0.0]), turned(state[0] + state[1], elbow)]

    @staticmethod
    def AddToBuilder(
        builder: DiagramBuilder,
        acrobot_state_port: OutputPort,
        acrobot_params: Any = None,
        scene_graph: Any = None,
    ) -> AcrobotGeometry:
        """Adds one of AcrobotParams, or of the default ones without them, connected to a state and a SceneGraph."""
        if scene_graph is None:
            acrobot_params, scene_graph = None, acrobot_params
        params = AcrobotParams() if acrobot_params is None else acrobot_params
        return added(AcrobotGeometry(scene_graph, params), builder, acrobot_state_port, scene_graph)


class QuadrotorGeometry(ShownSystem):
    """Shows a quadrotor: its body, and the discs of its propellers."""

    SOURCE, STATE, FRAMES = "quadrotor", 12, ("body",)

    def _shapes(self, *parameters: Any) -> list[tuple[int | None, GeometryInstance]]:
        body = seen("body", Box(0.2, 0.1, 0.05), RigidTransform(), (0.2, 0.2, 0.2, 1.0))
        discs = [
            seen(f"propeller{k}", Cylinder(0.06, 0.01), RigidTransform([x, y, 0.03]), (0.1, 0.4, 0.8, 0.8))
            for k, (x, y) in enumerate(((0.15, 0.0), (0.0, 0.15), (-0.15, 0.0), (0.0, -0.15)))
        ]
        return [(0, shown) for shown in (body, *discs)]

    def _frames_at(self, state: Array) -> list[RigidTransform]:
        return [RigidTransform(RotationMatrix(RollPitchYaw(*state[3:6])), state[:3])]

    def get_frame_id(self) -> FrameId:
        """The body's."""
        return self.frames[0].id()

    @staticmethod
    def AddToBuilder(builder: DiagramBuilder, quadrotor_state_port: OutputPort, scene_graph: Any) -> QuadrotorGeometry:
        """Adds one that is connected to the state of a quadrotor and to a SceneGraph."""
        return added(QuadrotorGeometry(scene_graph), builder, quadrotor_state_port, scene_graph)
