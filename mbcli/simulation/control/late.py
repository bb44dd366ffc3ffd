"""Commands that act later than a controller gives them, and efforts that are multiples of a quantum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError
from mbcli.simulation.control.run_controller import RunController

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mbcli.math.array_types import FloatArray
    from mbcli.simulation.control.tick_sensors import TickSensors

WHOLE = 1e-6  # relative: a time that is so close to whole calls or steps is that


class LateController(RunController):
    """Another controller between whose call and its effect time passes, as in a bus or a driver.

    Until the first command arrives, efforts and aims are those that the run has at its first call. What plugins are
    asked for is not late.

    Args:
        inner: the other one.
        delay: [s] a whole number of its calls.
        quantum: [N m or N] of which efforts are multiples; 0: they are as they are.

    ArgumentError: the delay is none.
    """

    def __init__(self, inner: RunController, delay: float, quantum: float) -> None:
        super().__init__(inner.name, inner.commands)
        calls = round(delay / inner.period)
        if delay < 0.0 or abs(calls * inner.period - delay) > WHOLE * inner.period:
            raise ArgumentError(
                f"{argument('controller_delay', delay)}: it is a whole number of calls, {inner.period:g} s each"
            )
        commands = inner.commands
        worlds = () if commands.count is None else (commands.count,)
        self._inner, self._quantum = inner, quantum
        self._begun = np.zeros(1)
        self._u = np.zeros((calls + 1, *worlds, len(commands.actuator_names)))  # the newest first
        self._desired = np.zeros((calls + 1, *worlds, len(commands.controlled), 2))

    def start(self) -> None:
        """Before the run."""
        self._inner.start()

    def stop(self) -> None:
        """After it."""
        self._inner.stop()

    def sense(self, make: Callable[[], TickSensors]) -> None:
        """As of the other one."""
        self._inner.sense(make)

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """The other one is called, and what it gave before acts."""
        if not self._begun[0]:
            self._u[:], self._desired[:], self._begun[0] = u, desired, 1.0
        for rows in (self._u, self._desired):
            rows[1:] = rows[:-1].copy()
        self._inner.call(time, q, v, self._u[0], self._desired[0])
        if self._quantum:
            most = np.floor(self.commands.limits.ends / self._quantum + WHOLE)  # no rounding beyond an effort limit
            self._u[0] = self._quantum * np.clip(np.round(self._u[0] / self._quantum), -most, most)
        u[:], desired[:] = self._u[-1], self._desired[-1]

    def save(self) -> dict[str, FloatArray]:
        """What has not acted, and the other one."""
        own = {"late_begun": self._begun, "late_u": self._u, "late_desired": self._desired}
        return self._inner.save() | {name: array.copy() for name, array in own.items()}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save()."""
        for name, array in (("begun", self._begun), ("u", self._u), ("desired", self._desired)):
            array[:] = saved[f"late_{name}"]
        self._inner.load({name: values for name, values in saved.items() if not name.startswith("late_")})
