"""Compliant stops at the position limits of a continuous plant, which its runs have: where they are, how stiff."""

from __future__ import annotations

from math import isfinite, pi
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.multibody.compilation.joint_end_laws import PositionStop
from mbcli.multibody.core.coordinates import moving_joints
from mbcli.multibody.core.dynamics import CalcMassMatrix

if TYPE_CHECKING:
    from mbcli.multibody.core.plant_data import PlantData

PERIOD = 0.02  # [s] of a joint on its stop, by the diagonal of the mass matrix at the default positions
DISSIPATION = 10.0  # [s/rad or s/m]: nothing leaves a stop faster than at its inverse


def position_stops(plant: PlantData) -> list[PositionStop]:
    """The stops that the limits of a finalized plant make.

    The stiffness and dissipation are those of the joint's file (`Joint.stop_law`), else a stiffness with which the
    inertia that the joint moves at the default positions swings in PERIOD, and DISSIPATION.
    """
    joints = [joint for joint in moving_joints(plant) if joint.num_velocities() == 1]
    limits = {joint: (joint.position_lower_limits().item(0), joint.position_upper_limits().item(0)) for joint in joints}
    limits = {joint: ends for joint, ends in limits.items() if any(map(isfinite, ends))}
    if not limits:
        return []
    inertia = own_inertias(plant)
    found = []
    for joint, ends in limits.items():
        d = joint.velocity_start()
        law = joint.stop_law or (inertia[d] * (2.0 * pi / PERIOD) ** 2, DISSIPATION)
        found += [
            PositionStop(d, side, end, *law) for side, end in zip((1.0, -1.0), ends, strict=True) if isfinite(end)
        ]
    return found


def own_inertias(plant: PlantData) -> list[float]:
    """[kg m^2 or kg] (nv,) that each velocity moves at the default positions: the diagonal of the mass matrix."""
    M = CalcMassMatrix(plant, plant.whole_plant().CreateDefaultContext())
    numbers: list[Any] = [plant.scalar.real(x) for x in np.diag(M)]
    return numbers
