"""touch: the normal forces of contacts in the volume of a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "normal force of contacts in a volume"
MJCF = {"touch": "site"}
SURROUNDINGS = ("shape",)
NEEDS = ("contact",)
CUTOFF = "above"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("N")


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the contacts of the site's body whose point, or the line from it along the normal, is inside."""
    return rows.pressures(sensor.body, rows.motion(sensor), sensor.settings["shape"])
