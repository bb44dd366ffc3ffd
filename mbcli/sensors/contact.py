"""contact: whether collisions of a link touch, and how hard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import IN_WORLD, XYZ, Signal

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray

TITLE = "contacts of collisions"
SDF = {"contact": ("contact",)}
SDF_MOUNTS = ("link",)
SURROUNDINGS = ("collisions",)
NEEDS = ("contact",)
CUTOFF = ""


def signals(sensor: Any) -> tuple[Signal, ...]:
    """How many contacts there are, and the sum of the forces on the collisions."""
    return Signal("contacts", "1"), Signal("force", "N", XYZ, IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the collisions that the sensor names."""
    return rows.contact_sums(sensor.body, sensor.settings["collisions"])
