"""kinetic_energy: of the whole plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "kinetic energy"
MJCF = {"e_kinetic": ""}
NEEDS = ("energy",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("J")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Rotors included."""
    return rows.energy[:, 0:1]
