"""velocity: of a joint, a fixed tendon or an actuator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "velocity"
MJCF = {"jointvel": "joint", "tendonvel": "tendon", "actuatorvel": "actuator"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number; of angles alone in radians."""
    return number("rad s-1" if sensor.is_angular() else "m s-1")


def values(sensor: Any, rows: Any) -> FloatArray:
    """The sum of the coordinates' rates, each times its coefficient."""
    return rows.rate(sensor)[:, None]
