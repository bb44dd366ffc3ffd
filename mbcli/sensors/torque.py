"""torque: the torque between a body and the one that carries it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.math.cross_product import cross
from mbcli.sensors.axes import components
from mbcli.sensors.signal import IN_SENSOR, vector

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "torque between a body and its parent"
MJCF = {"torque": "site"}
NEEDS = ("acceleration", "wrench")
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """Along the axes of the sensor, about its origin."""
    return vector("N m", IN_SENSOR)


def values(sensor: Any, rows: Any) -> FloatArray:
    """What the parent exerts on the body of the site."""
    rows = rows.in_steps
    torque, force = rows.wrench_on_body(sensor.body)  # about Wo
    S = rows.motion(sensor)
    return components(S.R, torque - cross(S.p, force))
