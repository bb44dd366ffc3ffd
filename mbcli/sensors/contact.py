"""contact: whether collisions of a link touch, and how hard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.file_settings import no_problem
from mbcli.sensors.signal import IN_WORLD, XYZ, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "contacts of collisions"
MJCF: dict[str, str] = {}
MJCF_PARTS: tuple[tuple[str, str], ...] = ()
SDF = {"contact": ("contact",)}
SDF_MOUNTS = ("link",)
SDF_SETTINGS: dict[str, Any] = {}
SURROUNDINGS = ("collisions",)
NEEDS = ("contact",)
CUTOFF = ""

problem = no_problem


def signals(sensor: Any) -> tuple[Signal, ...]:
    """How many contacts there are, and the sum of the forces on the collisions."""
    return Signal("contacts", "1"), Signal("force", "N", XYZ, IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the collisions that the sensor names."""
    return rows.contact_sums(sensor.body, sensor.settings["collisions"])
