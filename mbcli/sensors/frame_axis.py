"""frame_axis: an axis of a frame, in World or in another frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import components
from mbcli.sensors.signal import XYZ, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "axis of a frame"
MJCF = {"framexaxis": "object", "frameyaxis": "object", "framezaxis": "object"}
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the reference, World's without one."""
    return vector("1", sensor.reference_name())


def values(sensor: Any, rows: Any) -> FloatArray:
    """The axis that the name of the type has."""
    S, B = rows.motion(sensor), rows.reference(sensor)
    return components(B.R, S.R[:, :, XYZ.index(sensor.type_name().removeprefix("frame")[0])])
