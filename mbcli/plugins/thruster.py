"""Thruster: a propeller in a fluid that pushes along the axis of its joint with the thrust that is asked for.

T = C rho D^4 w |w| (T. I. Fossen, Handbook of Marine Craft Hydrodynamics and Motion Control, 2011, 8.1) gives the speed
w of the propeller, at which the joint is driven, or the thrust of a speed that is asked for. Below a deadband there is
neither.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.plugins.settings import Command, Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "pushes by a propeller in water"
CLASSES = ("Thruster",)
GIVES = "it pushes"
JOINTS = {"joint_name": ("joint", "one")}
SETTINGS = {
    "thrust_coefficient": Number("coefficient", 1.0),
    "fluid_density": Number("density", 1000.0),
    "propeller_diameter": Number("diameter", 0.02),
    "max_thrust_cmd": Number("most", 1000.0),
    "min_thrust_cmd": Number("least", -1000.0),
    "deadband": Number("deadband", 0.0, 0.0),
    "use_angvel_cmd": Flag("asks_speed", False),
    "velocity_control": Flag("by_velocity", False),
}
ELSEWHERE = ("namespace", "topic")


def problem(settings: dict[str, Any]) -> str:
    """The speed of the propeller is to be a number."""
    if settings["least"] > settings["most"]:
        return f"<min_thrust_cmd> {settings['least']:g} is above <max_thrust_cmd> {settings['most']:g}"
    if not settings["coefficient"] or settings["density"] <= 0.0 or settings["diameter"] <= 0.0:
        return "<thrust_coefficient>, <fluid_density> and <propeller_diameter> must not be 0"
    return ""


class Law:
    """It remembers nothing."""

    def __init__(self, plugin: Any) -> None:
        self._settings = s = plugin.settings
        (self._joint,) = plugin.joints["joint"]
        self._of_speed = s["coefficient"] * s["density"] * s["diameter"] ** 4
        self._propeller = self._joint.child_body()
        asked = ("speed", "rad/s") if s["asks_speed"] else ("thrust", "N")
        self.inputs = (Command(f"{self._joint.name()}.{asked[0]}", asked[1]),)
        self.driven = (self._joint,)
        self.pushed = (self._propeller,)
        self.memory = np.zeros(0)

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """The thrust acts at the origin of the propeller."""
        s = self._settings
        asked = min(max(commands[0], s["least"]), s["most"])
        thrust = self._of_speed * asked * abs(asked) if s["asks_speed"] else asked
        if abs(thrust) < s["deadband"]:
            thrust = 0.0
        speed = math.sqrt(abs(thrust / self._of_speed))
        now.drive(self._joint, math.copysign(speed, thrust / self._of_speed))
        now.force(self._propeller, thrust * now.axis(self._joint))
