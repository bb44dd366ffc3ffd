"""ball_orientation: the quaternion of a ball joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import in_axes
from mbcli.sensors.signal import QUATERNION, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "orientation of a ball joint"
MJCF = {"ballquat": "ball"}
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Of the child in the parent."""
    return (Signal("", "1", QUATERNION, "parent"),)


def values(sensor: Any, rows: Any) -> FloatArray:
    """R_FM of the joint's frames."""
    on_child, on_parent = sensor.joint_ends
    F, M = rows.motion_of(*on_parent), rows.motion_of(*on_child)
    return rows.quaternions(in_axes(F.R, M.R))
