"""force_torque: the wrench that a joint transmits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.file_settings import Word
from mbcli.math.cross_product import cross
from mbcli.sensors.axes import components
from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import XYZ, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "force and torque in a joint"
SDF = {"force_torque": ("force_torque",)}
SDF_MOUNTS = ("joint",)
SDF_SETTINGS = {
    "frame": Word("frame", ("child", "parent", "sensor")),
    "measure_direction": Word("measure_direction", ("child_to_parent", "parent_to_child")),
    **{f"force/{axis}": Noise((k,)) for k, axis in enumerate(XYZ)},
    **{f"torque/{axis}": Noise((3 + k,)) for k, axis in enumerate(XYZ)},
}
NEEDS = ("acceleration", "wrench")
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Force, then the torque about the origin of the joint's frame, or of the sensor if that is its frame.

    Along the axes of the parent or child LINK, as SDFormat says, whatever the pose of the joint in it.
    """
    frame = sensor.settings["frame"]
    return Signal("force", "N", XYZ, frame), Signal("torque", "N m", XYZ, frame)


def values(sensor: Any, rows: Any) -> FloatArray:
    """child_to_parent: what the child exerts on the parent; parent_to_child: the opposite."""
    sign = -1.0 if sensor.settings["measure_direction"] == "child_to_parent" else 1.0
    rows = rows.in_steps
    torque, force = rows.wrench_on_child(sensor.joint)  # about Wo
    J = rows.motion_of(*sensor.joint_ends[0])
    S = rows.motion(sensor)
    frame = sensor.settings["frame"]
    point = S.p if frame == "sensor" else J.p
    link = sensor.joint.parent_body() if frame == "parent" else sensor.joint.child_body()
    R = S.R if frame == "sensor" else rows.motion_of(link, np.eye(4)).R
    torque = torque - cross(point, force)
    return sign * np.hstack([components(R, force), components(R, torque)])
