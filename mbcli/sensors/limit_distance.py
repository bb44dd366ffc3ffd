"""limit_distance: how far a joint or tendon is beyond its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "how far a joint or tendon is beyond its limit"
MJCF = {"jointlimitpos": "joint", "tendonlimitpos": "tendon"}
SURROUNDINGS = ("limits",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("rad" if sensor.is_angular() else "m")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Negative beyond a limit, 0 inside of both."""
    lower, upper = sensor.settings["limits"]
    q = rows.coordinate(sensor)
    below, above = q < lower, q > upper
    return (np.where(below, q - lower, 0.0) + np.where(above, upper - q, 0.0))[:, None]
