"""frame_position: the place of a frame, in World or in another frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import components
from mbcli.sensors.signal import vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "place of a frame"
MJCF = {"framepos": "object"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the reference, World's without one."""
    return vector("m", sensor.reference_name())


def values(sensor: Any, rows: Any) -> FloatArray:
    """From the origin of the reference."""
    S, B = rows.motion(sensor), rows.reference(sensor)
    return components(B.R, S.p - B.p)
