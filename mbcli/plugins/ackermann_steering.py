"""AckermannSteering: wheels are steered so that their axes meet in one point, about which the vehicle turns.

For the turning radius R of the middle of the rear axle, the wheels on the left and right stand at
atan(L / (R -+ W / 2)), with L the wheel base and W the distance of the kingpins, and turn with v (1 -+ S / 2R) / r,
with S their distance and r their radius (G. Genta, L. Morello, The Automotive Chassis, 2009, kinematic steering).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Number
from mbcli.plugins.settings import Command, Flag
from mbcli.plugins.speed_limits import LIMITS, SpeedLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

TITLE = "steers and turns wheels by a velocity and a turning rate"
CLASSES = ("AckermannSteering",)
GIVES = "it turns wheels"
JOINTS = {
    "left_steering_joint": ("left_steering", "some"),
    "right_steering_joint": ("right_steering", "some"),
    "left_joint": ("left", "many"),
    "right_joint": ("right", "many"),
}
SETTINGS = {
    "steering_only": Flag("steering_only", False),
    "use_actuator_msg": Flag("by_actuators", False),  # of angles
    "steer_p_gain": Number("gain", 1.0),
    "wheel_separation": Number("separation", 1.0),
    "kingpin_width": Number("kingpin_width", 0.8, 0.0),
    "wheel_base": Number("base", 1.0),
    "steering_limit": Number("limit", 0.5),
    "wheel_radius": Number("radius", 0.2),
    **LIMITS,
}
ELSEWHERE = (
    *("topic", "sub_topic", "odom_topic", "odom_publish_frequency", "tf_topic", "frame_id", "child_frame_id"),
    "actuator_number",
)
STRAIGHT = 1e-3  # [rad/s] below which a vehicle goes straight on, as there


def problem(settings: dict[str, Any]) -> str:
    """A vehicle has wheels, and no wheel stands across."""
    steers_only = _steers_only(settings)
    for setting, tag in (("radius", "wheel_radius"), ("base", "wheel_base"), ("separation", "wheel_separation")):
        if settings[setting] <= 0.0 and not (steers_only and setting == "radius"):
            return f"<{tag}> must be positive"
    if not 0.0 < settings["limit"] < 0.5 * math.pi:
        return "<steering_limit> must be between 0 and pi / 2"
    if steers_only:
        across = 0.5 * settings["separation"] * math.tan(settings["limit"]) >= settings["base"]
        return "<wheel_separation> is too large for the <steering_limit>" if across else ""
    if 0.5 * settings["kingpin_width"] >= _least_radius(settings):
        return "<kingpin_width> is too large for the <steering_limit>"
    if settings["left"] and settings["right"]:
        return ""
    return "it has no <left_joint> or no <right_joint>"


class Law:
    """memory: the last two velocities [m/s] asked for, and turning rates [rad/s]; steering alone: angles [rad], 0."""

    def __init__(self, plugin: Any) -> None:
        self._settings = s = plugin.settings
        self._steering = plugin.joints["left_steering"], plugin.joints["right_steering"]
        wheels = plugin.joints["left"], plugin.joints["right"]
        self._steers_only = _steers_only(s)
        self._wheels = ((), ()) if self._steers_only else wheels
        self._limits = [SpeedLimits.of(s, kind) for kind in ("linear", "angular")]
        self.inputs: tuple[Command, ...]
        if self._steers_only:
            self.inputs = (Command(f"{plugin.model}.steering_angle", "rad"),)
        else:
            self.inputs = (Command(f"{plugin.model}.linear_x", "m/s"), Command(f"{plugin.model}.angular_z", "rad/s"))
        self.driven = tuple(joint for side in (*self._steering, *self._wheels) for joint in side)
        self.pushed: tuple[Any, ...] = ()
        self.memory = np.zeros(4)

    def act(self, now: Any, commands: Sequence[float], memory: FloatArray) -> None:
        """Steering joints go to their angles at velocities in proportion to what is left."""
        s = self._settings
        for kept, asked, limits in zip(memory.reshape(2, 2), commands, self._limits, strict=False):
            limits.next(kept, asked, now.period)
        if self._steers_only:
            memory[0] = min(max(memory[0], -s["limit"]), s["limit"])
            width, curvature = s["separation"], math.tan(memory[0]) / s["base"]
        else:
            width, curvature = s["kingpin_width"], self._curvature(memory[0], memory[2])
        for side, joints, wheels in zip((-0.5, 0.5), self._steering, self._wheels, strict=True):
            angle = math.atan(s["base"] * curvature / (1.0 + side * width * curvature))
            for joint in joints:
                now.drive(joint, s["gain"] * (angle - now.position(joint)))
            for wheel in wheels:
                now.drive(wheel, memory[0] * (1.0 + side * s["separation"] * curvature) / s["radius"])

    def _curvature(self, speed: float, turning: float) -> float:
        """1/R [1/m], positive to the left; standing still the wheels stand as far as they go."""
        if abs(turning) < STRAIGHT:
            return 0.0
        most = 1.0 / _least_radius(self._settings)
        return math.copysign(most, turning) if speed == 0.0 else min(max(turning / speed, -most), most)


def _steers_only(settings: dict[str, Any]) -> bool:
    return bool(settings["steering_only"] or settings["by_actuators"])


def _least_radius(settings: dict[str, Any]) -> float:
    return settings["base"] / math.sin(settings["limit"])
