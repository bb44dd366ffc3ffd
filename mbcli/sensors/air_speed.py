"""air_speed: what a pitot tube along the x axis of the sensor measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.atmosphere import density_at, temperature_at
from mbcli.sensors.axes import components
from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "dynamic pressure of the air"
SDF = {"air_speed": ("air_speed",)}
SDF_MOUNTS = ("link",)
SDF_SETTINGS = {"pressure": Noise((0,))}
SURROUNDINGS = ("wind",)
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Dynamic pressure, with the sign of the speed, and the temperature of the air."""
    return Signal("pressure", "Pa"), Signal("temperature", "K")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the speed along x relative to the wind of the file, in the standard atmosphere."""
    S = rows.motion(sensor)
    speed = components(S.R, S.v - np.array(sensor.settings["wind"]))[:, 0]
    height = S.p[:, 2]
    return np.column_stack([0.5 * density_at(height) * speed * np.abs(speed), temperature_at(height)])
