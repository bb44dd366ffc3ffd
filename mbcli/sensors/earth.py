"""Places on the ellipsoid of WGS 84."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

EQUATOR = 6378137.0  # [m] radius
FLATTENING = 1.0 / 298.257223563
ECCENTRICITY2 = FLATTENING * (2.0 - FLATTENING)
ROUNDS = 6  # of the iteration for the latitude, which gains three digits in each


def geodetic(p: FloatArray, latitude: float, longitude: float, elevation: float) -> FloatArray:
    """Latitude, longitude [degrees] and altitude [m] (n, 3) of places p (n, 3) [m] to east, to north and up.

    They count from the place with the given latitude, longitude [degrees] and elevation [m].
    """
    lat, lon = np.radians(latitude), np.radians(longitude)
    normal = EQUATOR / np.sqrt(1.0 - ECCENTRICITY2 * np.sin(lat) ** 2)
    origin = np.array(
        [
            (normal + elevation) * np.cos(lat) * np.cos(lon),
            (normal + elevation) * np.cos(lat) * np.sin(lon),
            (normal * (1.0 - ECCENTRICITY2) + elevation) * np.sin(lat),
        ]
    )
    east = np.array([-np.sin(lon), np.cos(lon), 0.0])
    north = np.array([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])
    up = np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    x, y, z = (origin + p @ np.stack([east, north, up])).T
    across = np.hypot(x, y)
    found = np.arctan2(z, across * (1.0 - ECCENTRICITY2))
    for _ in range(ROUNDS):
        radius = EQUATOR / np.sqrt(1.0 - ECCENTRICITY2 * np.sin(found) ** 2)
        found = np.arctan2(z + ECCENTRICITY2 * radius * np.sin(found), across)
    radius = EQUATOR / np.sqrt(1.0 - ECCENTRICITY2 * np.sin(found) ** 2)
    # away from the poles by the distance from the axis, near them along it
    altitude = across * np.cos(found) + z * np.sin(found) - EQUATOR**2 / radius
    return np.column_stack([np.degrees(found), np.degrees(np.arctan2(y, x)), altitude])
