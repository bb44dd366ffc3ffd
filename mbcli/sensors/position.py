"""position: of a joint, a fixed tendon or an actuator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import no_problem
from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "position"
MJCF = {"jointpos": "joint", "tendonpos": "tendon", "actuatorpos": "actuator"}
MJCF_PARTS: tuple[tuple[str, str], ...] = ()
SDF: dict[str, tuple[str, ...]] = {}
SDF_MOUNTS: tuple[str, ...] = ()
SDF_SETTINGS: dict[str, Any] = {}
SURROUNDINGS: tuple[str, ...] = ()
NEEDS: tuple[str, ...] = ()
CUTOFF = "both"

problem = no_problem


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number; of angles alone in radians."""
    return number("rad" if sensor.is_angular() else "m")


def values(sensor: Any, rows: Any) -> FloatArray:
    """The sum of the coordinates, each times its coefficient."""
    return rows.coordinate(sensor)[:, None]
