"""clock: the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "time"
MJCF = {"clock": ""}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("s")


def values(sensor: Any, rows: Any) -> FloatArray:
    """That of the row."""
    return rows.time[:, None]
