"""actuator_force: what an actuator gives, before its gear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import no_problem
from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "force of an actuator"
MJCF = {"actuatorfrc": "actuator"}
MJCF_PARTS: tuple[tuple[str, str], ...] = ()
SDF: dict[str, tuple[str, ...]] = {}
SDF_MOUNTS: tuple[str, ...] = ()
SDF_SETTINGS: dict[str, Any] = {}
SURROUNDINGS: tuple[str, ...] = ()
NEEDS = ("effort",)
CUTOFF = "both"

problem = no_problem


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("N m" if sensor.is_angular() else "N")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Input and controller together."""
    return (rows.effort(sensor.actuator) / sensor.actuator.default_gear_ratio())[:, None]
