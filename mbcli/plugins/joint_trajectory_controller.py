"""JointTrajectoryController: each joint gets the sum of an effort and of what two PID controllers give.

One controls its position, one its velocity. A point of a trajectory is what is asked of the joints at its time, and
holds until the next one (gz-sim, JointTrajectoryController): a table of inputs is a trajectory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.plugins.pid import effort
from mbcli.plugins.settings import Command, Numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "moves joints along a trajectory"
CLASSES = ("JointTrajectoryController",)
GIVES = "it drives joints"
JOINTS = {"joint_name": ("joint", "all")}
# without limits, as their maxima are below their minima
_GAINS = {"p_gain": 0.0, "i_gain": 0.0, "d_gain": 0.0, "cmd_offset": 0.0}
_GAINS |= {"i_min": 0.0, "i_max": -1.0, "cmd_min": 0.0, "cmd_max": -1.0}
_CONTROLLED = ("position", "velocity")
SETTINGS = {
    "initial_position": Numbers("initial_position"),
    **{f"{what}_{gain}": Numbers(f"{what}_{gain}") for what in _CONTROLLED for gain in _GAINS},
}
ELSEWHERE = ("topic", "use_header_start_time")


def problem(settings: dict[str, Any]) -> str:
    """One number for each joint, in their order; those that are not there have the default."""
    joints = len(settings["joint"])
    if not joints:
        return "the model has no joint of one axis"
    many = next((tag for tag in SETTINGS if len(settings[tag]) > joints), "")
    return f"there are more <{many}> than joints" if many else ""


class Law:
    """memory: for each joint the integral terms of position and velocity, the last error of velocity."""

    def __init__(self, plugin: Any) -> None:
        self._joints = plugin.joints["joint"]
        starts = [_nth(plugin.settings["initial_position"], k, 0.0) for k in range(len(self._joints))]
        self._gains = [
            [{g: _nth(plugin.settings[f"{what}_{g}"], k, none) for g, none in _GAINS.items()} for what in _CONTROLLED]
            for k in range(len(self._joints))
        ]
        commands = []
        for joint, start in zip(self._joints, starts, strict=True):
            position, velocity, force = ("rad", "rad/s", "N m") if joint.is_angular() else ("m", "m/s", "N")
            commands.append(Command(f"{joint.name()}.position", position, start))
            commands.append(Command(f"{joint.name()}.velocity", velocity))
            commands.append(Command(f"{joint.name()}.effort", force))
        self.inputs = tuple(commands)
        self.driven: tuple[Any, ...] = ()
        self.pushed: tuple[Any, ...] = ()
        self.memory = np.zeros(3 * len(self._joints))

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """Each joint by its own gains."""
        rows = zip(self._joints, self._gains, np.reshape(commands, (-1, 3)), memory.reshape(-1, 3), strict=True)
        for joint, (of_position, of_velocity), (position, velocity, given), kept in rows:
            speed = now.velocity(joint)
            error = speed - velocity
            rate, kept[2] = (error - kept[2]) / now.period, error
            by_position = effort(of_position, now.position(joint) - position, speed, now.period, kept[:1])
            now.effort(joint, by_position + effort(of_velocity, error, rate, now.period, kept[1:2]) + float(given))


def _nth(values: Sequence[float], k: int, default: float) -> float:
    return values[k] if k < len(values) else default
