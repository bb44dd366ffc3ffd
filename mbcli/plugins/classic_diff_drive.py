"""Differential and skid steering as the ROS plugins of Gazebo classic name their parts: DiffDrive by other tags.

Tags as in gazebo_ros_pkgs, of ROS 1 (wheelSeparation, and a pair of wheels in front and behind for skid steering) and
of ROS 2 (wheel_separation, for several pairs of wheels those of each).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mbcli.plugins import diff_drive
from mbcli.plugins.settings import Numbers
from mbcli.plugins.speed_limits import LIMITS

TITLE = "turns the wheels of two sides by a velocity and a turning rate, for Gazebo classic"
FILES = ("gazebo_ros_diff_drive", "gazebo_ros_skid_steer_drive")
GIVES = "it turns wheels"
JOINTS = {
    **dict.fromkeys(("leftJoint", "left_joint", "leftFrontJoint", "leftRearJoint"), ("left", "many")),
    **dict.fromkeys(("rightJoint", "right_joint", "rightFrontJoint", "rightRearJoint"), ("right", "many")),
}
SETTINGS = {
    "wheelSeparation": Numbers("separation_1"),
    "wheel_separation": Numbers("separation_2"),
    "wheelDiameter": Numbers("diameter_1"),
    "wheel_diameter": Numbers("diameter_2"),
}
ELSEWHERE = (
    *(
        "alwaysOn",
        "updateRate",
        "update_rate",
        "rosDebugLevel",
        "legacyMode",
        "robotNamespace",
        "ros",
        "num_wheel_pairs",
    ),
    *("commandTopic", "command_topic", "odometryTopic", "odometry_topic", "odometryFrame", "odometry_frame"),
    *("robotBaseFrame", "robot_base_frame", "odometrySource", "odometry_source", "publishTf", "publishWheelTF"),
    *("publishOdomTF", "publishOdom", "publishWheelJointState", "publish_odom", "publish_odom_tf", "publish_wheel_tf"),
    *("broadcastTF", "topicName", "covariance_x", "covariance_y", "covariance_yaw", "publish_distance_traveled"),
)
DEFAULT_SEPARATION, DEFAULT_DIAMETER = 0.34, 0.15  # [m] of both packages


def of_first(settings: dict[str, Any], name: str, default: float) -> float:
    """The number of the first pair of wheels."""
    return (*settings[f"{name}_1"], *settings[f"{name}_2"], default)[0]


def problem(settings: dict[str, Any]) -> str:
    """Wheels on both sides, and a size."""
    for side in ("left", "right"):
        if not settings[side]:
            return f"there is no wheel on the {side}: <{side}_joint> names one"
    if of_first(settings, "diameter", DEFAULT_DIAMETER) <= 0.0:
        return "the diameter of wheels must be positive"
    return "" if of_first(settings, "separation", DEFAULT_SEPARATION) > 0.0 else "the separation must be positive"


class Law(diff_drive.Law):
    """That of DiffDrive, without limits."""

    def __init__(self, plugin: Any) -> None:
        settings = {
            **dict.fromkeys(LIMITS),
            "separation": of_first(plugin.settings, "separation", DEFAULT_SEPARATION),
            "radius": 0.5 * of_first(plugin.settings, "diameter", DEFAULT_DIAMETER),
        }
        super().__init__(SimpleNamespace(model=plugin.model, joints=plugin.joints, settings=settings))
