"""limit_speed: speed into the limit of a joint or tendon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "speed into the limit of a joint or tendon"
MJCF = {"jointlimitvel": "joint", "tendonlimitvel": "tendon"}
SURROUNDINGS = ("limits",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("rad s-1" if sensor.is_angular() else "m s-1")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Negative where it moves on beyond a limit, 0 inside of both."""
    lower, upper = sensor.settings["limits"]
    q = rows.coordinate(sensor)
    below, above = q < lower, q > upper
    speed = rows.rate(sensor)
    return (np.where(below, speed, 0.0) - np.where(above, speed, 0.0))[:, None]
