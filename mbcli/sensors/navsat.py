"""navsat: latitude, longitude, altitude and velocity by the spherical coordinates of the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.earth import geodetic
from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "place and velocity on the earth"
SDF = {"navsat": ("navsat", "gps"), "gps": ("gps", "navsat")}
SDF_MOUNTS = ("link",)
SDF_SETTINGS = {
    "position_sensing/horizontal": Noise((0, 1)),
    "position_sensing/vertical": Noise((2,)),
    "velocity_sensing/horizontal": Noise((3, 4)),
    "velocity_sensing/vertical": Noise((5,)),
}
SURROUNDINGS = ("earth",)
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Degrees and metres; velocity to east, to north and up."""
    return (
        Signal("latitude", "degrees"),
        Signal("longitude", "degrees"),
        Signal("altitude", "m"),
        Signal("velocity", "m s-1", ("east", "north", "up"), "earth"),
    )


def values(sensor: Any, rows: Any) -> FloatArray:
    """On the ellipsoid of WGS 84, World being tangent to it at the origin of the file."""
    origin = sensor.settings["earth"]
    S = rows.motion(sensor)
    heading = np.radians(origin["heading_deg"])  # of World's x, from east to north
    R_EW = np.array(
        [[np.cos(heading), -np.sin(heading), 0.0], [np.sin(heading), np.cos(heading), 0.0], [0.0, 0.0, 1.0]]
    )
    place = geodetic(S.p @ R_EW.T, origin["latitude_deg"], origin["longitude_deg"], origin["elevation"])
    return np.hstack([place, S.v @ R_EW.T])
