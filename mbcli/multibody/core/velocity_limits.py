"""The velocity limits of joints, where a run lets them act: rows of discrete steps, brakes of a continuous plant."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from mbcli.multibody.compilation.joint_end_laws import VelocityLimit
from mbcli.multibody.core.coordinates import moving_joints
from mbcli.multibody.core.position_stops import own_inertias

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_data import PlantData

BRAKING_TIME = 1e-3  # [s] in which a brake takes what is beyond a limit


def velocity_bounds(plant: PlantData) -> list[tuple[int, float, float]]:
    """(velocity, lower, upper) of joints with limits; 0, which files state for "not known", is none."""
    ends = []
    for joint in moving_joints(plant):
        for k, pair in enumerate(
            zip(joint.velocity_lower_limits().tolist(), joint.velocity_upper_limits().tolist(), strict=True)
        ):
            lower, upper = pair[0] if pair[0] < 0.0 else -inf, pair[1] if pair[1] > 0.0 else inf
            if (lower, upper) != (-inf, inf):
                ends.append((joint.velocity_start() + k, lower, upper))
    return ends


def stated_velocity_limits(plant: PlantData) -> list[VelocityLimit]:
    """The limits of the joints of a finalized plant, as they act."""
    bounds = velocity_bounds(plant)
    if not bounds:
        return []
    inertia = own_inertias(plant)
    return [VelocityLimit(d, lower, upper, inertia[d] / BRAKING_TIME) for d, lower, upper in bounds]
