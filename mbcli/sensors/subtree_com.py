"""subtree_com: the centre of mass of a body and all that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import IN_WORLD, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "centre of mass of a body and all that it carries"
MJCF = {"subtreecom": "body"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In World."""
    return vector("m", IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the links outboard of the body, itself among them."""
    return rows.subtree(sensor.body).center
