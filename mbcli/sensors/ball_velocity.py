"""ball_velocity: the angular velocity of a ball joint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import components
from mbcli.sensors.signal import vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "angular velocity of a ball joint"
MJCF = {"ballangvel": "ball"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the child."""
    return vector("rad s-1", "child")


def values(sensor: Any, rows: Any) -> FloatArray:
    """w_FM of the joint's frames."""
    on_child, on_parent = sensor.joint_ends
    F, M = rows.motion_of(*on_parent), rows.motion_of(*on_child)
    return components(M.R, M.w - F.w)
