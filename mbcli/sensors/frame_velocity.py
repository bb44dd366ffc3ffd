"""frame_velocity: the velocity of a frame, in World or in another frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.math.cross_product import cross
from mbcli.sensors.axes import components
from mbcli.sensors.signal import vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "velocity of a frame"
MJCF = {"framelinvel": "object"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the reference, World's without one."""
    return vector("m s-1", sensor.reference_name())


def values(sensor: Any, rows: Any) -> FloatArray:
    """As seen from the reference, which may turn."""
    S, B = rows.motion(sensor), rows.reference(sensor)
    return components(B.R, S.v - B.v - cross(B.w, S.p - B.p))
