"""frame_orientation: the quaternion of a frame, in World or in another frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import in_axes
from mbcli.sensors.signal import QUATERNION, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "orientation of a frame"
MJCF = {"framequat": "object"}
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In the reference, World without one."""
    return (Signal("", "1", QUATERNION, sensor.reference_name()),)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the frame in the reference."""
    S, B = rows.motion(sensor), rows.reference(sensor)
    return rows.quaternions(in_axes(B.R, S.R))
