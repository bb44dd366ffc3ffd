"""frame_orientation: the quaternion of a frame, in World or in another frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import no_problem
from mbcli.sensors.axes import in_axes
from mbcli.sensors.signal import QUATERNION, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "orientation of a frame"
MJCF = {"framequat": "object"}
MJCF_PARTS: tuple[tuple[str, str], ...] = ()
SDF: dict[str, tuple[str, ...]] = {}
SDF_MOUNTS: tuple[str, ...] = ()
SDF_SETTINGS: dict[str, Any] = {}
SURROUNDINGS: tuple[str, ...] = ()
NEEDS: tuple[str, ...] = ()
CUTOFF = ""

problem = no_problem


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In the reference, World without one."""
    return (Signal("", "1", QUATERNION, sensor.reference_name()),)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the frame in the reference."""
    S, B = rows.motion(sensor), rows.reference(sensor)
    return rows.quaternions(in_axes(B.R, S.R))
