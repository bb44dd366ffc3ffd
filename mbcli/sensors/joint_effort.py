"""joint_effort: what all actuators of a joint give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.sensors.signal import number

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.sensors.signal import Signal

TITLE = "effort of the actuators of a joint"
MJCF = {"jointactuatorfrc": "joint"}
NEEDS = ("effort",)
CUTOFF = "both"


def signals(sensor: Any) -> tuple[Signal, ...]:
    """One number."""
    return number("N m" if sensor.is_angular() else "N")


def values(sensor: Any, rows: Any) -> FloatArray:
    """The sum of their efforts, controllers included."""
    return rows.joint_effort(sensor.joints[0][0])[:, None]
