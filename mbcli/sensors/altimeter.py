"""altimeter: height and vertical velocity over the place of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.sensors.settings import Noise
from mbcli.sensors.signal import IN_WORLD, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "height and vertical velocity"
SDF = {"altimeter": ("altimeter",)}
SDF_MOUNTS = ("link",)
SDF_SETTINGS = {"vertical_position": Noise((0,)), "vertical_velocity": Noise((1,))}
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along World's z."""
    return Signal("vertical_position", "m", (), IN_WORLD), Signal("vertical_velocity", "m s-1", (), IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Height over the place at the default positions, and its rate."""
    S = rows.motion(sensor)
    return np.column_stack([S.p[:, 2] - rows.default_place(sensor)[2], S.v[:, 2]])
