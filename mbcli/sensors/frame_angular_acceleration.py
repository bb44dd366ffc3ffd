"""frame_angular_acceleration: the angular acceleration of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import IN_WORLD, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "angular acceleration of a frame"
MJCF = {"frameangacc": "object"}
NEEDS = ("acceleration",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In World."""
    return vector("rad s-2", IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the frame in World."""
    return rows.in_steps.motion(sensor).alpha
