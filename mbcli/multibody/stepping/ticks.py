"""Ticks of a run: the times at which a controller gives the actuation and the aims that hold until its next call.

A discrete plant ticks at whole steps. A controller of Python is called between two calls of the time loop, a compiled
one by the loop itself. Steps of a continuous plant end at ticks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

from mbcli.errors import MbcliError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from mbcli.math.array_types import FloatArray

SAME_TICK = 1e-9  # relative to the time between two ticks


class Controller(Protocol):
    """What a run calls at its ticks.

    Attributes:
        name: for messages.
        period: [s] between two calls; of a discrete plant whole steps.
    """

    name: str
    period: float

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """Reads q (nq,) and v (nv,), writes the actuation u (nu,) [N m or N] and the aims of controllers (npd, 2).

        What it does not write stays as it was after its last call. MbcliError ends the run.
        """

    def compiled_calls(self, state: Any, u: FloatArray) -> FloatArray | None:
        """Addresses of the function that the time loop is to call, and of its argument; None: call() is to be called.

        state: of the context whose arrays the steps change; u: (nu,) for the actuation.
        """

    def save(self) -> Mapping[str, np.ndarray]:
        """What a run that goes on gives to load(), arrays of the same shapes at all times."""

    def load(self, saved: Mapping[str, np.ndarray]) -> None:
        """The state that save() has given in the run that this one goes on with."""


class Ticks:
    """Calls a controller of a run when that is due.

    Args:
        controller: of the run.
        time_step: [s] of a discrete plant, 0 of a continuous one.
        series: the Actuation of the run; all of its rows get the actuation, and its pushes the forces of now.
        desired: (npd, 2) of the data of the steps.

    Attributes:
        last: the number of the last tick, of a discrete plant of its step; -1 before the first.
        error: of the call that was the last, None if it has none.
    """

    def __init__(self, controller: Controller, time_step: float, series: Any, desired: FloatArray) -> None:
        self.controller, self.last = controller, -1
        self.error: MbcliError | None = None
        self.period = controller.period
        self.steps = max(1, round(self.period / time_step)) if time_step else 0
        self._series, self._u, self._desired = series, series.actuation_values, desired

    def call(self, time: float, q: FloatArray, v: FloatArray, number: int) -> bool:
        """The call of a number; the state is copied, since a controller may keep what it gets. False: see `error`."""
        try:
            self.controller.call(time, q.copy(), v.copy(), self._u[0], self._desired)
        except MbcliError as error:
            self.error = error
            return False
        self.last = number
        self._u[1:] = self._u[0]
        self._series.take_forces()
        return True

    # of a discrete plant

    def steps_from(self, step: int) -> int:
        """Steps from one to the next with a tick."""
        return self.steps - step % self.steps

    def is_due(self, step: int) -> bool:
        """Whether a step has a tick that has not been called."""
        return step % self.steps == 0 and step != self.last

    # of a continuous one

    def next_time(self) -> float:
        """[s] of the tick after the last one."""
        return (self.last + 1) * self.period

    def begin_at(self, time: float) -> None:
        """The tick at the start, or the one before it: a run may start between two."""
        self.last = max(self.last, math.ceil(time / self.period - SAME_TICK) - 1)
