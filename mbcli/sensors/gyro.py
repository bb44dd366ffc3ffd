"""gyro: the angular velocity of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import no_problem
from mbcli.sensors.axes import components
from mbcli.sensors.signal import IN_SENSOR, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "angular velocity"
MJCF = {"gyro": "site"}
MJCF_PARTS: tuple[tuple[str, str], ...] = ()
SDF: dict[str, tuple[str, ...]] = {}
SDF_MOUNTS: tuple[str, ...] = ()
SDF_SETTINGS: dict[str, Any] = {}
SURROUNDINGS: tuple[str, ...] = ()
NEEDS: tuple[str, ...] = ()
CUTOFF = "both"

problem = no_problem


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the sensor."""
    return vector("rad s-1", IN_SENSOR)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the site in World."""
    S = rows.motion(sensor)
    return components(S.R, S.w)
