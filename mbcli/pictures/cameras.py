"""From where a picture is taken."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.number_text import parse_number
from mbcli.common.suggestions import closest

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.pictures.framing import Framing

FIELD_OF_VIEW = 40.0  # [deg] of the height of a picture
ROOM = 1.12  # of the distance from which a sphere fills the picture
VIEWS = {
    "iso": (-54.0, 22.0),
    "front": (0.0, 0.0),
    "back": (180.0, 0.0),
    "left": (90.0, 0.0),
    "right": (-90.0, 0.0),
    "top": (-90.0, 90.0),
    "bottom": (-90.0, -90.0),
}  # azimuth and elevation [deg] of the eye, of a robot whose front is +x and whose left is +y


@dataclass(frozen=True)
class Camera:
    """An eye, seen from the robot, or in World.

    Attributes:
        azimuth: [deg] of the eye about z of World, from +x to +y.
        elevation: [deg] of the eye above the horizontal, from -90 to 90.
        distance: [m] from the centre of the robot; None: from where all of it is seen.
        eye, target: (3,) [m] in World; with them the camera stands still, and the three numbers above do not count.
    """

    azimuth: float = VIEWS["iso"][0]
    elevation: float = VIEWS["iso"][1]
    distance: float | None = None
    eye: tuple[float, ...] | None = None
    target: tuple[float, ...] | None = None

    def seen(self, framing: Framing, row: int) -> tuple[FloatArray, float, float, float]:
        """Centre (3,) and radius [m] of the sphere that fills the picture at a row, azimuth and elevation [deg]."""
        if self.eye is None or self.target is None:
            radius = framing.radius if self.distance is None else _filled(self.distance)
            return framing.centre_at(row), radius, self.azimuth, self.elevation
        x, y, z = way = np.subtract(self.eye, self.target)
        elevation = math.degrees(math.atan2(z, math.hypot(x, y)))
        return np.array(self.target), _filled(float(np.linalg.norm(way))), math.degrees(math.atan2(y, x)), elevation


def way_to_eye(azimuth: float, elevation: float) -> FloatArray:
    """The unit vector (3,) in World towards an eye at angles [deg]."""
    a, e = math.radians(azimuth), math.radians(elevation)
    return np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])


def _filled(distance: float) -> float:
    """The radius [m] of the sphere that fills the picture at a distance [m]."""
    return float(distance) * math.sin(math.radians(FIELD_OF_VIEW / 2.0)) / ROOM


def read_camera(text: str) -> Camera:
    """The camera of "front", "AZIMUTH,ELEVATION[,DISTANCE]" or "X,Y,Z:X,Y,Z", the eye and what it looks at.

    ValueError, which says what is wrong, for another text.
    """
    word = text.strip().lower()
    if word in VIEWS:
        return Camera(*VIEWS[word])
    groups = [numbers for part in word.split(":") if (numbers := _numbers(part)) is not None]
    if len(groups) <= word.count(":"):
        likely = closest(word, list(VIEWS))
        hint = f"; did you mean '{likely}'?" if likely else ""
        raise ValueError(
            f"'{text}' is none of {', '.join(VIEWS)}, nor AZIMUTH,ELEVATION[,DISTANCE], nor X,Y,Z:X,Y,Z{hint}"
        )
    counts = [len(group) for group in groups]
    if counts == [3, 3]:
        if groups[0] == groups[1]:
            raise ValueError(f"'{text}': the eye is where it looks")
        return Camera(eye=groups[0], target=groups[1])
    if counts not in ([2], [3]):
        raise ValueError(f"'{text}' has {' and '.join(map(str, counts))} numbers: two or three, or 3 and 3, with a ':'")
    azimuth, elevation, *distance = groups[0]
    if abs(elevation) > 90.0:
        raise ValueError(f"'{text}': the elevation is beyond 90 degrees")
    if distance and distance[0] <= 0.0:
        raise ValueError(f"'{text}': the distance is not greater than 0")
    return Camera(azimuth, elevation, distance[0] if distance else None)


def _numbers(part: str) -> tuple[float, ...] | None:
    """The finite numbers of a list with commas or blanks; None of another text."""
    numbers = [parse_number(word) for word in re.split(r"[,\s]+", part.strip())]
    known = tuple(number for number in numbers if number is not None)
    return known if len(known) == len(numbers) else None
