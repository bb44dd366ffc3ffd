"""force: the force between a body and the one that carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.axes import components
from mbcli.sensors.signal import IN_SENSOR, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "force between a body and its parent"
MJCF = {"force": "site"}
NEEDS = ("acceleration", "wrench")
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the sensor."""
    return vector("N", IN_SENSOR)


def values(sensor: Any, rows: Any) -> FloatArray:
    """What the parent exerts on the body of the site."""
    rows = rows.in_steps
    _, force = rows.wrench_on_body(sensor.body)
    return components(rows.motion(sensor).R, force)
