"""gyro: the angular velocity of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import components
from mbcli.sensors.signal import IN_SENSOR, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "angular velocity"
MJCF = {"gyro": "site"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the sensor."""
    return vector("rad s-1", IN_SENSOR)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the site in World."""
    S = rows.motion(sensor)
    return components(S.R, S.w)
