"""Swing-up and balance of an acrobot (Spong 1995), and an acrobot of which angles are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.examples.parts import NamedVector, WithParameters
from mbcli.examples.plants import AcrobotInput, AcrobotPlant
from mbcli.math import wrap_to
from mbcli.systems.controllers import LinearQuadraticRegulator
from mbcli.systems.framework import BasicVector, Diagram, DiagramBuilder
from mbcli.systems.primitives import Linearize, MatrixGain

if TYPE_CHECKING:
    from mbcli.examples.plants import AcrobotState

UPRIGHT = np.array([np.pi, 0.0, 0.0, 0.0])
LARGEST = 20.0  # [N m]


class SpongControllerParams(NamedVector):
    """Gains of energy k_e, of the elbow's angle k_p and rate k_d, and the cost below which the acrobot is balanced."""

    NAMES = {"k_e": 5.0, "k_p": 50.0, "k_d": 5.0, "balancing_threshold": 1e3}


class AcrobotSpongController(WithParameters):
    """The torque of at most 20 N m that swings up an acrobot of default parameters, and balances it when it is near.

    It gives the energy of upright rest by the elbow, whose angle partial linearization holds at zero; near upright, as
    the cost of the regulator there tells, the regulator takes over.
    """

    def __init__(self) -> None:
        super().__init__()
        self._acrobot = AcrobotPlant()
        self._there = self._acrobot.CreateDefaultContext()
        self._acrobot.get_input_port().FixValue(self._there, [0.0])
        self._there.SetContinuousState(UPRIGHT)
        self._energy = self._energy_there()
        linear = Linearize(self._acrobot, self._there)
        costs = np.diag([10.0, 10.0, 1.0, 1.0]), np.eye(1)
        self._K, self._S = LinearQuadraticRegulator(linear.A(), linear.B(), *costs)
        self.DeclareVectorInputPort("acrobot_state", BasicVector(4))
        self.DeclareVectorOutputPort("elbow_torque", AcrobotInput(), self._torque)
        self.DeclareNumericParameter(SpongControllerParams())

    def _energy_there(self) -> Any:
        return self._acrobot.EvalPotentialEnergy(self._there) + self._acrobot.EvalKineticEnergy(self._there)

    def _torque(self, context: Any, output: Any) -> None:
        k_e, k_p, k_d, threshold = self.numbers(context)
        state = self.get_input_port().Eval(context)
        error = np.array([wrap_to(state[0], 0.0, 2 * np.pi), wrap_to(state[1], -np.pi, np.pi), *state[2:]]) - UPRIGHT
        if error @ self._S @ error < threshold:
            torque = -(self._K @ error)[0]
        else:
            self._there.SetContinuousState(state)
            (a, b), (_, d) = self._acrobot.MassMatrix(self._there)
            bias = self._acrobot.DynamicsBiasTerm(self._there)
            elbow = -k_p * state[1] - k_d * state[3]  # the acceleration that is wanted there
            torque = bias[1] - b / a * bias[0] + (d - b * b / a) * elbow
            torque = torque - k_e * (self._energy_there() - self._energy) * state[3]
        output.SetAtIndex(0, min(max(torque, -LARGEST), LARGEST))


class AcrobotWEncoder(Diagram):
    """An AcrobotPlant whose output is its angles alone, and its state as a second one if asked for."""

    def __init__(self, acrobot_state_as_second_output: bool = False) -> None:
        super().__init__()
        builder = DiagramBuilder()
        self._acrobot = builder.AddNamedSystem("acrobot_plant", AcrobotPlant())
        encoder = builder.AddNamedSystem("encoder", MatrixGain(np.eye(2, 4)))
        builder.Cascade(self._acrobot, encoder)
        builder.ExportInput(self._acrobot.get_input_port(), "elbow_torque")
        builder.ExportOutput(encoder.get_output_port(), "measured_joint_positions")
        if acrobot_state_as_second_output:
            builder.ExportOutput(self._acrobot.get_output_port(), "acrobot_state")
        builder.BuildInto(self)

    def acrobot_plant(self) -> AcrobotPlant:
        """The plant inside."""
        return self._acrobot

    def get_mutable_acrobot_state(self, context: Any) -> AcrobotState:
        """Its state in a context of the diagram, which can be set."""
        return self._acrobot.get_mutable_state(self.GetMutableSubsystemContext(self._acrobot, context))
