"""subtree_velocity: the velocity of the centre of mass of a body and all that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import IN_WORLD, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "velocity of the centre of mass of a body and all that it carries"
MJCF = {"subtreelinvel": "body"}
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """In World."""
    return vector("m s-1", IN_WORLD)


def values(sensor: Any, rows: Any) -> FloatArray:
    """Of the links outboard of the body, itself among them."""
    return rows.subtree(sensor.body).velocity
