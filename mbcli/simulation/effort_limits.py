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


class EffortLimits:
    """The effort limits of actuators in a run: where what is asked of them ends, and who asked for more.

    Of an actuator with a controller that acts there is none here: the step itself limits the sum.

    Args:
        plant: finalized.
        choice: "clamp", "warn" or "ignore".
        period: [s] for which what take() gives acts.

    Attributes:
        limits: (nu,) [N m or N]; ends: those at which efforts end, inf where they do not.
    """

    def __init__(self, plant: MultibodyPlant, choice: str = "clamp", period: float = 0.0) -> None:
        self.limits: FloatArray = plant.GetEffortUpperLimits()
        if has_controllers(plant):
            self.limits[[actuator.input_start() for actuator in controlled_actuators(plant)]] = np.inf
        self.ends = self.limits if choice == "clamp" else np.full(len(self.limits), np.inf)
        self._names, self._period = plant.GetActuatorNames(), period
        self._watches = choice != "ignore" and bool(np.isfinite(self.limits).any())
        self._most, self._time = np.zeros(len(self.limits)), np.zeros(len(self.limits))

    def cut(self, u: FloatArray) -> FloatArray:
        """Efforts (..., nu) [N m or N] as they act."""
        return np.clip(u, -self.ends, self.ends)

    def take(self, u: FloatArray) -> FloatArray:
        """cut() of efforts (nu,), or (n, nu) of worlds, for exceeded()."""
        if not self._watches or not (np.abs(u) > self.limits).any():
            return u
        asked: FloatArray = np.where(np.abs(u) > self.limits, u, 0.0)
        if u.ndim > 1:  # the most of all worlds
            asked = asked[np.abs(asked).argmax(axis=0), np.arange(len(self.limits))]
        self._most = np.where(np.abs(asked) > np.abs(self._most), asked, self._most)
        self._time += self._period * (asked != 0.0)
        return self.cut(u)

    def exceeded(self) -> list[Exceeded]:
        """The actuators of which take() was asked more than their limits."""
        return [
            Exceeded(self._names[k], float(self.limits[k]), float(self._most[k]), float(self._time[k]))
            for k in np.flatnonzero(self._time)
        ]


def exceeded_efforts(plant: MultibodyPlant, inputs: Input, start: float, until: float) -> list[Exceeded]:
    """Of the inputs that act from `start` to `until` [s]; each row holds until the time of the next one."""
    limits = EffortLimits(plant).limits
    beyond = np.abs(inputs.values) > limits
    if not beyond.any():
        return []
    lasts = np.diff(np.clip(np.append(inputs.times, np.inf), start, until))  # [s] within the run
    beyond &= (lasts > 0.0)[:, np.newaxis]
    found = []
    for k in np.flatnonzero(beyond.any(axis=0)):
        values = np.where(beyond[:, k], inputs.values[:, k], 0.0)
        most = float(values[np.abs(values).argmax()])
        found.append(Exceeded(plant.GetActuatorNames()[k], float(limits[k]), most, float(lasts[beyond[:, k]].sum())))
    return found


def clamped(plant: MultibodyPlant, inputs: Input) -> Input:
    """The inputs that end at the limits."""
    return replace(inputs, values=EffortLimits(plant).cut(inputs.values))


def not_beyond(plant: MultibodyPlant, u: FloatArray) -> FloatArray:
    """(nu,) 1 where an input (nu,) [N m or N] acts as it is, 0 where it is beyond the limit at which a run ends it."""
    return (np.abs(u) <= EffortLimits(plant).limits).astype(float)


def efforts_in_words(found: Sequence[Exceeded], choice: str) -> str:
    """One sentence for all of them; "" with "ignore" or if there is none."""
    if not found or choice == "ignore":
        return ""
    inputs = listed([f"{e.actuator} ({e.most:g} where the limit is {e.limit:g}, {e.time:.3g} s)" for e in found])
    if choice == "warn":
        return f"the input acts beyond effort limits ({argument('effort_limits', 'clamp')} ends it there): {inputs}"
    return f"the input is beyond effort limits and ends there: {inputs}"
