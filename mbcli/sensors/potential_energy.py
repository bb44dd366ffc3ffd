"""potential_energy: of the whole plant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import no_problem
from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "potential energy"
MJCF = {"e_potential": ""}
MJCF_PARTS: tuple[tuple[str, str], ...] = ()
SDF: dict[str, tuple[str, ...]] = {}
SDF_MOUNTS: tuple[str, ...] = ()
SDF_SETTINGS: dict[str, Any] = {}
SURROUNDINGS: tuple[str, ...] = ()
NEEDS = ("energy",)
CUTOFF = "both"

problem = no_problem


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("J")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Weights count from World's origin, springs from their rest."""
    return rows.energy[:, 1:2]
