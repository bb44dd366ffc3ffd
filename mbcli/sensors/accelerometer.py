"""accelerometer: the specific force at a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import components
from mbcli.sensors.signal import IN_SENSOR, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "specific force"
MJCF = {"accelerometer": "site"}
NEEDS = ("acceleration",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the sensor."""
    return vector("m s-2", IN_SENSOR)


def values(sensor: Any, rows: Any) -> FloatArray:
    """The acceleration of the site less gravity: at rest +g along up."""
    S = rows.in_steps.motion(sensor)
    return components(S.R, S.a - rows.gravity)
