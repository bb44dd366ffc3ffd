"""air_pressure: the pressure of the air at the height of the sensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import Number
from mbcli.sensors.atmosphere import pressure_at
from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "pressure of the air"
SDF = {"air_pressure": ("air_pressure",)}
SDF_MOUNTS = ("link",)
SDF_SETTINGS = {"reference_altitude": Number("reference_altitude", 0.0), "pressure": Noise((0,))}
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("Pa")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the standard atmosphere, World's origin being at the reference altitude."""
    return pressure_at(sensor.settings["reference_altitude"] + rows.motion(sensor).p[:, 2])[:, None]
