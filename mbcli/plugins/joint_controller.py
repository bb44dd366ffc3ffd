"""JointController: joints turn or slide at a velocity, at once or by the efforts of a PID controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.plugins.pid import effort, gains
from mbcli.plugins.settings import Command, Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "drives joints at a velocity"
CLASSES = ("JointController",)
GIVES = "it drives joints"
JOINTS = {"joint_name": ("joint", "some")}
SETTINGS = {
    "initial_velocity": Number("initial_velocity", 0.0),
    "use_force_commands": Flag("by_force", False),
    "disable_braking": Flag("coasts", False),
    **gains(1.0, 0.0, 0.0),
}
ELSEWHERE = ("topic", "sub_topic", "use_actuator_msg", "actuator_number")


class Law:
    """memory: for each joint the integral term, and the error at the last call."""

    def __init__(self, plugin: Any) -> None:
        self._settings, self._joints = plugin.settings, plugin.joints["joint"]
        units = ["rad/s" if joint.is_angular() else "m/s" for joint in self._joints]
        start = plugin.settings["initial_velocity"]
        self.inputs = (Command(f"{self._joints[0].name()}.velocity", units[0], start),)
        self.driven = () if plugin.settings["by_force"] else self._joints
        self.pushed: tuple[Any, ...] = ()
        self.memory = np.zeros(2 * len(self._joints))

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """All joints have the velocity of the one command; what coasts gets no effort against its turning that way."""
        for joint, kept in zip(self._joints, memory.reshape(-1, 2), strict=True):
            if self.driven:
                now.drive(joint, commands[0])
                continue
            error = now.velocity(joint) - commands[0]
            if self._settings["coasts"] and (commands[0] == 0.0 or error * commands[0] > 0.0):
                continue
            rate, kept[1] = (error - kept[1]) / now.period, error
            now.effort(joint, effort(self._settings, error, rate, now.period, kept))
