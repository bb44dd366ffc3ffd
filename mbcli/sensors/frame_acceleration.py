"""frame_acceleration: the acceleration of a frame, gravity included as MuJoCo does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import IN_WORLD, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "acceleration of a frame less gravity"
MJCF = {"framelinacc": "object"}
NEEDS = ("acceleration",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In World."""
    return vector("m s-2", IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """At rest +g along up."""
    return rows.in_steps.motion(sensor).a - rows.gravity
