"""magnetometer: the magnetic field of the file, along the axes of the sensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.axes import components
from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import IN_SENSOR, XYZ, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "magnetic field"
MJCF = {"magnetometer": "site"}
SDF = {"magnetometer": ("magnetometer",)}
SDF_MOUNTS = ("link",)
SDF_SETTINGS = {axis: Noise((k,)) for k, axis in enumerate(XYZ)}
SURROUNDINGS = ("magnetic_field",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the sensor; SDFormat's field is in tesla, MJCF's has no unit."""
    return vector(sensor.settings["magnetic_unit"], IN_SENSOR)


def values(sensor: Any, rows: Any) -> FloatArray:
    """The same field everywhere."""
    R = rows.motion(sensor).R
    return components(R, np.broadcast_to(np.array(sensor.settings["magnetic_field"]), (len(R), 3)))
