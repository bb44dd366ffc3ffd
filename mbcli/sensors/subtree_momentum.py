"""subtree_momentum: the angular momentum of a body and all that it carries, about their centre of mass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import IN_WORLD, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "angular momentum of a body and all that it carries, about their centre of mass"
MJCF = {"subtreeangmom": "body"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In World."""
    return vector("kg m2 s-1", IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the links outboard of the body, itself among them."""
    return rows.subtree(sensor.body).angular_momentum
