"""When a run ends and when it takes samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

DEFAULT_DURATION = 5.0  # [s]
DEFAULT_RATE = 100.0  # [Hz] of samples
MOST_ROWS = 1e9
MOST_STEPS = 2.0**53  # beyond, steps cannot be counted in doubles
SAME_STEP = 1e-9  # relative to a step: times closer than this to a step's end are that end


class Sampling:
    """The times of a run.

    Args:
        plant: finalized.
        start: [s] of the whole run, also if it goes on from a later time.
        until: [s] end of the run.
        rate: [Hz] of samples; 0 for every step of a discrete plant, None for DEFAULT_RATE.

    Attributes:
        period: [s] between samples; None for every step of a discrete plant.

    Raises:
        ArgumentError: the step of a discrete plant does not go with the duration or the rate.
    """

    def __init__(self, plant: MultibodyPlant, start: float, until: float, rate: float | None = None) -> None:
        self._h, self.start, self.until = plant.time_step(), start, until
        self._check_step(until - start)
        self.period = self._period(rate, until - start)

    def _check_step(self, duration: float) -> None:
        h = self._h
        if h and self.until / h > MOST_STEPS:
            raise ArgumentError(f"{argument('dt', h)}: {duration:g} s are too many steps")
        if h and 0.0 < duration < h * (1.0 - SAME_STEP):
            raise ArgumentError(f"{argument('dt', h)}: one step is longer than the run of {duration:g} s")

    def _period(self, rate: float | None, duration: float) -> float | None:
        h = self._h
        if rate == 0.0:
            if not h:
                raise ArgumentError(
                    f"{argument('log_rate', 0)} logs every step of a discrete plant; this one is continuous"
                )
            return None
        if rate is None:
            rate = min(DEFAULT_RATE, 1.0 / h) if h else DEFAULT_RATE
        elif h:
            steps = 1.0 / max(rate * h, 1e-300)
            if steps < 0.5 or abs(steps - round(steps)) > 1e-6 * steps:
                raise ArgumentError(
                    f"{argument('log_rate', rate)}: a discrete plant is logged at whole steps, {h:g} s each; "
                    f"choose a divisor of {1.0 / h:g} Hz"
                )
        if duration * rate > MOST_ROWS:
            raise ArgumentError(f"{argument('log_rate', rate)}: {duration:g} s would give more than {MOST_ROWS:g} rows")
        return min(1.0 / rate, MOST_STEPS * h) if h else 1.0 / rate

    @property
    def end_of_steps(self) -> float:
        """[s] at which a run to the end ends: a discrete plant goes to the end of a step."""
        return math.ceil(self.until / self._h - SAME_STEP) * self._h if self._h else self.until

    def ends_between_steps(self) -> bool:
        """Whether the end is not that of a step of a discrete plant."""
        return abs(self.end_of_steps - self.until) > SAME_STEP * self._h

    def is_sample(self, t: float) -> bool:
        """Whether a run that does not end at time t [s] takes a sample there."""
        if self._h:
            every = 1 if self.period is None else max(1, round(self.period / self._h))
            return round(t / self._h) % every == 0
        assert self.period is not None  # of a continuous plant
        return round(t / self.period) * self.period == t

    def expected_rows(self, until: float) -> int:
        """About how many rows the log of a run has that ends at a time [s]."""
        return int((until - self.start) / (self.period or self._h)) + 2
