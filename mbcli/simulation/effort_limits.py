"""What becomes of an input beyond the effort limits of actuators: it ends there, acts with a warning, or just acts.

Of an actuator with a controller that acts the sum of both ends at the limit, in the step itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.multibody.core.inputs import controlled_actuators, has_controllers
from mbcli.multibody.stepping.inputs import Input
from mbcli.simulation.limit_choice import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant


@dataclass(frozen=True)
class Exceeded:
    """An actuator whose input is beyond its effort limit.

    Attributes:
        actuator: its name.
        limit: [N m or N]
        most: [N m or N] the largest input by size, with its sign.
        time: [s] of the run for which it is beyond.
    """

    actuator: str
    limit: float
    most: float
    time: float


def exceeded_efforts(plant: MultibodyPlant, inputs: Input, start: float, until: float) -> list[Exceeded]:
    """Of the inputs that act from `start` to `until` [s]; each row holds until the time of the next one."""
    limits, times = free_limits(plant), np.clip(np.append(inputs.times, np.inf), start, until)
    lasts = np.diff(times)  # [s] within the run
    beyond = (np.abs(inputs.values) > limits) & (lasts > 0.0)[:, np.newaxis]
    found = []
    for k in np.flatnonzero(beyond.any(axis=0)):
        values = np.where(beyond[:, k], inputs.values[:, k], 0.0)
        most = float(values[np.abs(values).argmax()])
        found.append(Exceeded(plant.GetActuatorNames()[k], float(limits[k]), most, float(lasts[beyond[:, k]].sum())))
    return found


def clamped(plant: MultibodyPlant, inputs: Input) -> Input:
    """The inputs that end at the limits."""
    limits = free_limits(plant)
    return replace(inputs, values=np.clip(inputs.values, -limits, limits))


def not_beyond(plant: MultibodyPlant, u: FloatArray) -> FloatArray:
    """(nu,) 1 where an input (nu,) [N m or N] acts as it is, 0 where it is beyond the limit at which a run ends it."""
    return (np.abs(u) <= free_limits(plant)).astype(float)


def free_limits(plant: MultibodyPlant) -> np.ndarray:
    """(nu,) [N m or N] of what no controller adds to: the step itself limits the sum."""
    limits = plant.GetEffortUpperLimits()
    if has_controllers(plant):
        limits[[actuator.input_start() for actuator in controlled_actuators(plant)]] = np.inf
    return limits


def efforts_in_words(found: Sequence[Exceeded], choice: str) -> str:
    """One sentence for all of them; "" with "ignore" or if there is none."""
    if not found or choice == "ignore":
        return ""
    inputs = listed([f"{e.actuator} ({e.most:g} where the limit is {e.limit:g}, {e.time:.3g} s)" for e in found])
    if choice == "warn":
        return f"the input acts beyond effort limits ({argument('effort_limits', 'clamp')} ends it there): {inputs}"
    return f"the input is beyond effort limits and ends there: {inputs}"
