"""DiffDrive: wheels on two sides turn so that the vehicle moves forward and turns as it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.plugins.settings import Command
from mbcli.plugins.speed_limits import LIMITS, SpeedLimits, limits_of_each

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "turns the wheels of two sides by a velocity and a turning rate"
CLASSES = ("DiffDrive",)
GIVES = "it turns wheels"
JOINTS = {"left_joint": ("left", "some"), "right_joint": ("right", "some")}
SETTINGS = {
    "wheel_separation": Number("separation", 1.0),
    "wheel_radius": Number("radius", 0.2),
    **LIMITS,
    **limits_of_each(("linear", "angular")),
}
ELSEWHERE = ("topic", "odom_topic", "odom_publish_frequency", "tf_topic", "frame_id", "child_frame_id")


def problem(settings: dict[str, Any]) -> str:
    """Wheels have a size."""
    if settings["radius"] <= 0.0:
        return "<wheel_radius> must be positive"
    return "" if settings["separation"] > 0.0 else "<wheel_separation> must be positive"


class Law:
    """memory: the last two velocities [m/s] that were asked of the wheels, and turning rates [rad/s]."""

    def __init__(self, plugin: Any) -> None:
        self._settings = plugin.settings
        self._left, self._right = plugin.joints["left"], plugin.joints["right"]
        self._limits = [SpeedLimits.of(plugin.settings, kind) for kind in ("linear", "angular")]
        self.inputs = (Command(f"{plugin.model}.linear_x", "m/s"), Command(f"{plugin.model}.angular_z", "rad/s"))
        self.driven = (*self._left, *self._right)
        self.pushed: tuple[Any, ...] = ()
        self.memory = np.zeros(4)

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """Both within their limits; half of the separation times the rate is the difference to the middle."""
        for kept, asked, limits in zip(memory.reshape(2, 2), commands, self._limits, strict=True):
            limits.next(kept, asked, now.period)
        radius, turning = self._settings["radius"], 0.5 * self._settings["separation"] * memory[2]
        for joints, speed in ((self._left, memory[0] - turning), (self._right, memory[0] + turning)):
            for joint in joints:
                now.drive(joint, speed / radius)
