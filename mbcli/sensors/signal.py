"""Signal: what a sensor gives, its units and frame."""

from __future__ import annotations

from typing import NamedTuple

XYZ = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
IN_SENSOR, IN_WORLD, NO_FRAME = "sensor", "world", ""


class Signal(NamedTuple):
    """A part of what a sensor gives.

    name: "" where a sensor has one signal alone. units: UDUNITS spelling, of every column. columns: names, () for one
    number. frame: in whose axes it is: "sensor", "world", the name of another one, or "" if that means nothing.
    """

    name: str
    units: str
    columns: tuple[str, ...] = ()
    frame: str = NO_FRAME

    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, unique in the sensor."""
        if not self.columns:
            return (self.name or "value",)
        return tuple(f"{self.name}_{column}" if self.name else column for column in self.columns)


def number(units: str) -> tuple[Signal]:
    """The signal of a sensor that gives one number."""
    return (Signal("", units),)


def vector(units: str, frame: str) -> tuple[Signal]:
    """The signal of a sensor that gives x, y, z along the axes of a frame."""
    return (Signal("", units, XYZ, frame),)
