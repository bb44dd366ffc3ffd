"""Controllers with a plant of their own, by which they compute forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.tree.multibody_forces import MultibodyForces
from mbcli.numbered_enum import NumberedEnum
from mbcli.systems.diagram import Diagram
from mbcli.systems.diagram_builder import DiagramBuilder
from mbcli.systems.leaf_system import LeafSystem
from mbcli.systems.pid import PidController
from mbcli.systems.signals import Adder, ConstantVectorSource, PassThrough

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.state.context import Context
    from mbcli.systems.ports import InputPort, OutputPort


class _WithPlant(LeafSystem):
    """A system that computes with a plant, in a context of its own."""

    def __init__(self, plant: MultibodyPlant, plant_context: Context | None = None) -> None:
        super().__init__()
        plant.require_finalized(type(self).__name__)
        self._plant = plant
        # a copy, so that parameters stay, whoever changes the context that was given
        self._own = plant.CreateDefaultContext() if plant_context is None else plant_context.Clone()
        self._estimated = self.DeclareVectorInputPort("estimated_state", plant.num_positions() + plant.num_velocities())

    def _take_state(self, context: Any) -> Any:
        self._plant.SetPositionsAndVelocities(self._own, self._estimated.Eval(context))
        return self._own

    def _forces_of_elements(self) -> MultibodyForces:
        forces = MultibodyForces(self._plant)
        self._plant.CalcForceElementsContribution(self._own, forces)
        return forces

    def get_input_port_estimated_state(self) -> InputPort:
        """[q; v]"""
        return self._estimated


class InverseDynamics(_WithPlant):
    """The generalized forces for desired accelerations, or those that hold against gravity.

    Args:
        plant: finalized; plant_context: its parameters are used.
    """

    class InverseDynamicsMode(NumberedEnum):
        """What is computed: forces for accelerations, -tau_g(q) of a plant at rest, or the bias of a moving one."""

        kInverseDynamics = 0
        kGravityCompensation = 1
        kBiasCompensation = 2

    kInverseDynamics = InverseDynamicsMode.kInverseDynamics
    kGravityCompensation = InverseDynamicsMode.kGravityCompensation
    kBiasCompensation = InverseDynamicsMode.kBiasCompensation

    def __init__(
        self,
        plant: MultibodyPlant,
        mode: InverseDynamicsMode = InverseDynamicsMode.kInverseDynamics,
        plant_context: Context | None = None,
    ) -> None:
        super().__init__(plant, plant_context)
        self._mode = mode
        self._acceleration = None
        if mode is InverseDynamics.kInverseDynamics:
            self._acceleration = self.DeclareVectorInputPort("desired_acceleration", plant.num_velocities())
        name = "generalized_force"
        self.DeclareVectorOutputPort(name, plant.num_velocities(), lambda c, out: out.SetFromVector(self._forces(c)))

    def _forces(self, context: Any) -> Any:
        own, plant = self._take_state(context), self._plant
        if self._mode is InverseDynamics.kGravityCompensation:
            return -plant.CalcGravityGeneralizedForces(own)
        vdot = np.zeros(plant.num_velocities()) if self._acceleration is None else self._acceleration.Eval(context)
        return plant.CalcInverseDynamics(own, vdot, self._forces_of_elements())

    def is_pure_gravity_compensation(self) -> bool:
        """Whether it holds against gravity alone."""
        return self._mode is InverseDynamics.kGravityCompensation

    def get_input_port_desired_acceleration(self) -> InputPort:
        """vdot (nv,). RuntimeError without one."""
        if self._acceleration is None:
            raise RuntimeError("this InverseDynamics takes no desired acceleration")
        return self._acceleration

    def get_output_port_generalized_force(self) -> OutputPort:
        """tau (nv,)"""
        return self.get_output_port()


class InverseDynamicsController(Diagram):
    """tau = inverse dynamics of vdot = kp (q_d - q) + kd (v_d - v) + ki integral of (q_d - q) + vdot_d.

    Args:
        robot: a finalized plant whose positions are as many as its velocities and actuators.
        kp, ki, kd: (n,)
        has_reference_acceleration: whether there is an input of vdot_d.
    """

    def __init__(
        self,
        robot: MultibodyPlant,
        kp: ArrayLike,
        ki: ArrayLike,
        kd: ArrayLike,
        has_reference_acceleration: bool,
        plant_context: Context | None = None,
    ) -> None:
        super().__init__()
        n = robot.num_velocities()
        if not robot.num_positions() == n == robot.num_actuated_dofs():
            raise RuntimeError(
                f"InverseDynamicsController: the plant has {robot.num_positions()} positions, {n} velocities and "
                f"{robot.num_actuated_dofs()} actuated ones; they must be as many"
            )
        self._robot = robot
        builder = DiagramBuilder()
        state = builder.AddNamedSystem("estimated_state", PassThrough(2 * n))
        self._pid = builder.AddNamedSystem("pid", PidController(kp=kp, ki=ki, kd=kd))
        dynamics = builder.AddNamedSystem("inverse_dynamics", InverseDynamics(robot, plant_context=plant_context))
        adder = builder.AddNamedSystem("adder", Adder(2, n))
        builder.Connect(state.get_output_port(), self._pid.get_input_port_estimated_state())
        builder.Connect(state.get_output_port(), dynamics.get_input_port_estimated_state())
        builder.Connect(self._pid.get_output_port_control(), adder.get_input_port(0))
        builder.Connect(adder.get_output_port(), dynamics.get_input_port_desired_acceleration())
        builder.ExportInput(state.get_input_port(), "estimated_state")
        builder.ExportInput(self._pid.get_input_port_desired_state(), "desired_state")
        if has_reference_acceleration:
            builder.ExportInput(adder.get_input_port(1), "desired_acceleration")
        else:
            zero = builder.AddNamedSystem("zero", ConstantVectorSource(np.zeros(n)))
            builder.Connect(zero.get_output_port(), adder.get_input_port(1))
        builder.ExportOutput(dynamics.get_output_port(), "generalized_force")
        force = dynamics.get_output_port()
        if robot.num_actuators() == n:
            control = builder.AddNamedSystem("control", _InActuators(robot))
            builder.Connect(force, control.get_input_port())
            builder.ExportOutput(control.get_output_port(), "control")
        builder.BuildInto(self)

    def set_integral_value(self, context: Any, value: ArrayLike) -> None:
        """Replaces the integral of the position error."""
        self._pid.set_integral_value(self.GetSubsystemContext(self._pid, context), value)

    def get_input_port_estimated_state(self) -> InputPort:
        """[q; v]"""
        return self.GetInputPort("estimated_state")

    def get_input_port_desired_state(self) -> InputPort:
        """[q; v]"""
        return self.GetInputPort("desired_state")

    def get_input_port_desired_acceleration(self) -> InputPort:
        """vdot (nv,)"""
        return self.GetInputPort("desired_acceleration")

    def get_output_port_generalized_force(self) -> OutputPort:
        """tau (nv,)"""
        return self.GetOutputPort("generalized_force")

    def get_output_port_control(self) -> OutputPort:
        """u (nu,): tau in the order of the actuators, for the plant's actuation port."""
        return self.GetOutputPort("control")

    def get_multibody_plant_for_control(self) -> MultibodyPlant:
        """The plant by which it computes."""
        return self._robot


class _InActuators(LeafSystem):
    """u with B u = tau, of a plant whose velocities have one actuator each."""

    def __init__(self, plant: MultibodyPlant) -> None:
        super().__init__()
        n = plant.num_velocities()
        B_inverse = np.linalg.inv(plant.MakeActuationMatrix())
        tau = self.DeclareVectorInputPort("tau", n)
        self.DeclareVectorOutputPort("u", n, lambda c, out: out.SetFromVector(B_inverse @ tau.Eval(c)))


class JointStiffnessController(_WithPlant):
    """tau = -tau_g(q) - forces of elements + kp (q_d - q) + kd (v_d - v), as actuation.

    Args:
        plant: finalized, with as many positions as velocities and actuators.
        kp, kd: (n,)
    """

    def __init__(self, plant: MultibodyPlant, kp: ArrayLike, kd: ArrayLike) -> None:
        super().__init__(plant)
        n = plant.num_velocities()
        if not plant.num_positions() == n == plant.num_actuators():
            raise RuntimeError("JointStiffnessController needs as many positions as velocities and actuators")
        self._kp, self._kd = (np.asarray(k, dtype=float).reshape(-1) for k in (kp, kd))
        if not self._kp.size == self._kd.size == n:
            raise RuntimeError(f"gains have {self._kp.size} and {self._kd.size} elements, the plant {n} velocities")
        self._B_inverse = np.linalg.inv(plant.MakeActuationMatrix())
        self._desired = self.DeclareVectorInputPort("desired_state", 2 * n)
        self.DeclareVectorOutputPort("actuation", n, lambda c, out: out.SetFromVector(self._actuation(c)))

    def _actuation(self, context: Any) -> Any:
        own, plant = self._take_state(context), self._plant
        n = plant.num_velocities()
        error = self._desired.Eval(context) - self._estimated.Eval(context)
        still = np.zeros(n)
        plant.SetVelocities(own, still)
        tau = plant.CalcInverseDynamics(own, still, self._forces_of_elements())
        return self._B_inverse @ (tau + self._kp * error[:n] + self._kd * error[n:])

    def get_input_port_desired_state(self) -> InputPort:
        """[q; v]"""
        return self._desired

    def get_output_port_actuation(self) -> OutputPort:
        """u (nu,)"""
        return self.get_output_port()

    def get_multibody_plant(self) -> MultibodyPlant:
        """The plant by which it computes."""
        return self._plant
