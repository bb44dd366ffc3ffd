"""frame_acceleration: the acceleration of a frame, gravity included as MuJoCo does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import no_problem
from mbcli.sensors.signal import IN_WORLD, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "acceleration of a frame less gravity"
MJCF = {"framelinacc": "object"}
MJCF_PARTS: tuple[tuple[str, str], ...] = ()
SDF: dict[str, tuple[str, ...]] = {}
SDF_MOUNTS: tuple[str, ...] = ()
SDF_SETTINGS: dict[str, Any] = {}
SURROUNDINGS: tuple[str, ...] = ()
NEEDS = ("acceleration",)
CUTOFF = "both"

problem = no_problem


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In World."""
    return vector("m s-2", IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """At rest +g along up."""
    return rows.in_steps.motion(sensor).a - rows.gravity
