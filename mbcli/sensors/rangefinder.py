"""rangefinder: the distance along the z axis of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "distance along a ray"
MJCF = {"rangefinder": "site"}
NEEDS = ("geometry",)
CUTOFF = "above"


Z = np.array([[0.0, 0.0, 1.0]])


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("m")


def values(sensor: Any, rows: Any) -> FloatArray:
    """To the nearest collision geometry of another body; -1 if there is none."""
    distance = rows.distances(sensor.body, rows.motion(sensor), Z, np.inf)
    return np.where(np.isfinite(distance), distance, -1.0)
