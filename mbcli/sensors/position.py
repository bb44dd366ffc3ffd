"""position: of a joint, a fixed tendon or an actuator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "position"
MJCF = {"jointpos": "joint", "tendonpos": "tendon", "actuatorpos": "actuator"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number; of angles alone in radians."""
    return number("rad" if sensor.is_angular() else "m")


def values(sensor: Any, rows: Any) -> FloatArray:
    """The sum of the coordinates, each times its coefficient."""
    return rows.coordinate(sensor)[:, None]
