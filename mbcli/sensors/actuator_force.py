"""actuator_force: what an actuator gives, before its gear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "force of an actuator"
MJCF = {"actuatorfrc": "actuator"}
NEEDS = ("effort",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("N m" if sensor.is_angular() else "N")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Input and controller together."""
    return (rows.effort(sensor.actuator) / sensor.actuator.default_gear_ratio())[:, None]
