"""How a joint is held or driven in a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mbcli.math.array_types import Vector
    from mbcli.multibody.tree.joint_actuator import JointActuator


@dataclass(frozen=True)
class Held:
    """What a controller aims at: position [rad or m] and velocity [rad/s or m/s], with its gains p and d.

    rate: [1/s] at which it learns to feed its effort forward; 0: it does not.
    """

    position: float
    velocity: float
    p: float
    d: float
    rate: float = 0.0


def held_at(held: Mapping[JointActuator, Held], q: Vector) -> dict[JointActuator, Held]:
    """What holds joints, at the positions q (nq,)."""
    return {
        actuator: replace(each, position=float(q[actuator.joint().position_start()])) if each.p > 0.0 else each
        for actuator, each in held.items()
    }
