"""MulticopterMotorModel: a rotor that a motor turns, and the forces of the air on it.

Thrust k_f w |w| along z of the rotor and drag -|w| k_d v_perp, both at its centre of mass, with v_perp the velocity of
its origin through the air across the axis; on the body that carries it the reaction -k_m times the thrust, and the
rolling moment -|w| k_r v_perp. P. Martin and E. Salaun, The true role of accelerometer feedback in quadrotor control,
ICRA 2010, has these terms; RotorS (Furrer et al. 2016) the first-order motor with two time constants.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number, Word
from mbcli.plugins.settings import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "turns a rotor: thrust, reaction, drag and rolling moment"
CLASSES = ("MulticopterMotorModel",)
FILES = ("gazebo_motor_model",)
GIVES = "it turns a rotor"
JOINTS = {"jointName": ("joint", "one")}
LINKS = {"linkName": ("link", "one")}
SETTINGS = {
    "turningDirection": Word("turning_direction", ("cw", "ccw")),
    "motorType": Word("motor_type", ("velocity",)),
    "motorConstant": Number("motor_constant", 8.54858e-06),
    "momentConstant": Number("moment_constant", 0.016),
    "rotorDragCoefficient": Number("rotor_drag", 1.0e-4, 0.0),
    "rollingMomentCoefficient": Number("rolling_moment", 1.0e-6, 0.0),
    "timeConstantUp": Number("time_constant_up", 1.0 / 80.0, 0.0),
    "timeConstantDown": Number("time_constant_down", 1.0 / 40.0, 0.0),
    "maxRotVelocity": Number("max_velocity", 838.0, 0.0),
    "rotorVelocitySlowdownSim": Number("slowdown", 10.0),
}
ELSEWHERE = ("robotNamespace", "commandSubTopic", "motorNumber", "actuator_number", "motorSpeedPubTopic")


def problem(settings: dict[str, Any]) -> str:
    """The rotor of the simulation turns slower by a factor."""
    return "" if settings["slowdown"] > 0.0 else "<rotorVelocitySlowdownSim> must be positive"


class Law:
    """memory: the speed [rad/s] that the motor has come to."""

    def __init__(self, plugin: Any) -> None:
        self._settings = plugin.settings
        (self._joint,), (self._rotor,) = plugin.joints["joint"], plugin.links["link"]
        self._carrier = self._joint.parent_body()
        self._turns = 1.0 if plugin.settings["turning_direction"] == "ccw" else -1.0
        self.inputs = (Command(f"{self._joint.name()}.speed", "rad/s"),)
        self.driven = (self._joint,)
        self.pushed = (self._rotor, self._carrier)
        self.memory = np.zeros(1)

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """The speed follows the command; the forces are those at the speed of the joint."""
        s = self._settings
        asked = min(commands[0], s["max_velocity"])
        constant = s["time_constant_up" if asked > memory[0] else "time_constant_down"]
        kept = math.exp(-now.period / constant) if constant > 0.0 else 0.0
        memory[0] = kept * memory[0] + (1.0 - kept) * asked
        now.drive(self._joint, self._turns * memory[0] / s["slowdown"])

        speed = now.velocity(self._joint) * s["slowdown"]
        thrust = self._turns * speed * abs(speed) * s["motor_constant"]
        R, axis = now.rotation(self._rotor), now.axis(self._joint)
        wind = now.velocity_of(self._rotor) - now.wind
        across = wind - (wind @ axis) * axis
        centre, drag = now.centre_of_mass(self._rotor), abs(speed) * s["rotor_drag"]
        now.force(self._rotor, thrust * R[:, 2], centre)
        now.force(self._rotor, -drag * across, centre, drag * (np.eye(3) - np.outer(axis, axis)))
        moment = -self._turns * thrust * s["moment_constant"] * R[:, 2] - abs(speed) * s["rolling_moment"] * across
        now.torque(self._carrier, moment)
