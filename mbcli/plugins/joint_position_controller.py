"""JointPositionController: joints go to a position by the efforts of a PID controller, or at bounded velocities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.plugins.pid import effort, gains
from mbcli.plugins.settings import Command, Flag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "moves joints to a position"
CLASSES = ("JointPositionController",)
GIVES = "it drives joints"
JOINTS = {"joint_name": ("joint", "some")}
SETTINGS = {
    "initial_position": Number("initial_position", 0.0),
    "use_velocity_commands": Flag("by_velocity", False),
    "joint_index": Number("joint_index", 0.0, 0.0),
    **gains(1.0, 0.1, 0.01),
    "cmd_max": Number("cmd_max", None),
}
ELSEWHERE = ("topic", "sub_topic", "use_actuator_msg", "actuator_number")
MOST = 1e3  # [N m or N] of an effort without <cmd_max>


def problem(settings: dict[str, Any]) -> str:
    """Joints of several axes have no single position, and a speed is no less than 0."""
    if settings["by_velocity"] and (settings["cmd_max"] or 0.0) < 0.0:
        return "<cmd_max> must be at least 0 with <use_velocity_commands>"
    return "<joint_index> above 0 is not there" if settings["joint_index"] else ""


class Law:
    """memory: the integral term of each joint."""

    def __init__(self, plugin: Any) -> None:
        s = plugin.settings
        none = math.inf if s["by_velocity"] else MOST
        self._settings = s | {"cmd_max": none if s["cmd_max"] is None else s["cmd_max"]}
        self._joints = plugin.joints["joint"]
        unit = "rad" if self._joints[0].is_angular() else "m"
        self.inputs = (Command(f"{self._joints[0].name()}.position", unit, s["initial_position"]),)
        self.driven = self._joints if s["by_velocity"] else ()
        self.pushed: tuple[Any, ...] = ()
        self.memory = np.zeros(len(self._joints))

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """By velocities: as fast as the error over a step, no faster than cmd_max either way."""
        s = self._settings
        for k, joint in enumerate(self._joints):
            error = now.position(joint) - commands[0]
            if self.driven:
                now.drive(joint, min(max(-error / now.period, -s["cmd_max"]), s["cmd_max"]))
            else:
                now.effort(joint, effort(s, error, now.velocity(joint), now.period, memory[k : k + 1]))
