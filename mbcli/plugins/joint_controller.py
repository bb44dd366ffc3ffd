"""JointController: joints turn or slide at a velocity, at once or by the efforts of a PID controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.plugins.pid import effort, gains, gains_problem
from mbcli.plugins.settings import Command, Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "drives joints at a velocity"
CLASSES = ("JointController",)
FILES: tuple[str, ...] = ()
REACH = ""
JOINTS = {"joint_name": ("joint", "some")}
LINKS: dict[str, tuple[str, str]] = {}
SETTINGS = {
    "initial_velocity": Number("initial_velocity", 0.0),
    "use_force_commands": Flag("by_force", False),
    **gains(1.0, 0.0, 0.0),
}
ELSEWHERE = ("topic", "sub_topic", "use_actuator_msg", "actuator_number")

problem = gains_problem


class Law:
    """memory: for each joint the integral term, and the error at the last call, NaN before."""

    def __init__(self, plugin: Any) -> None:
        self._settings, self._joints = plugin.settings, plugin.joints["joint"]
        units = ["rad/s" if joint.is_angular() else "m/s" for joint in self._joints]
        start = plugin.settings["initial_velocity"]
        self.inputs = (Command(f"{self._joints[0].name()}.velocity", units[0], start),)
        self.driven = () if plugin.settings["by_force"] else self._joints
        self.pushed: tuple[Any, ...] = ()
        self.memory = np.tile([0.0, np.nan], len(self._joints))

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """All joints have the velocity of the one command."""
        for joint, kept in zip(self._joints, memory.reshape(-1, 2), strict=True):
            if self.driven:
                now.drive(joint, commands[0])
                continue
            error = now.velocity(joint) - commands[0]
            rate = 0.0 if np.isnan(kept[1]) else (error - kept[1]) / now.period
            kept[1] = error
            now.effort(joint, effort(self._settings, error, rate, now.period, kept))
