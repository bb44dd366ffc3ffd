"""What acts at the ticks of a run beside its controller, or alone: forces that change, drives, laws of plugins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.simulation.control.commands import Commands
from mbcli.simulation.control.run_controller import RunController
from mbcli.simulation.servo_ticks import SERVO_PERIOD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.math.array_types import FloatArray
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.multibody.stepping.inputs import LinkForce

WHOLE = 1e-6  # of a step: times closer than this to a tick are it


def period_beside(plant: MultibodyPlant, inner: Any) -> float:
    """[s] between ticks: the step of a discrete plant, or what divides the period of a controller, None for none."""
    base = plant.time_step() or SERVO_PERIOD
    return base if inner is None else float(inner.period / max(math.ceil(inner.period / base - WHOLE), 1))


class Beside(RunController):
    """Calls a controller when that is due, and lets something act at each tick.

    Args:
        name: one word, for messages and before the names of what is kept.
        plant: of the run.
        inner: the controller that the run would have without it, or None.
        given: time [s] -> efforts (nu,) without one.
        effort_limits: "clamp", "warn" or "ignore".
        act: (time, q, v, u, desired) -> None at a tick: changes forces, u (nu,), which has the efforts without it, and
            desired (npd, 2).
        forces: on bodies, whose numbers it changes.
        kept: {name: array} that it changes in place; checkpoints have them.
    """

    def __init__(
        self,
        name: str,
        plant: MultibodyPlant,
        inner: Any,
        given: Callable[[float], FloatArray],
        effort_limits: str,
        act: Callable[..., None],
        forces: Sequence[LinkForce] = (),
        kept: Mapping[str, FloatArray] | None = None,
    ) -> None:
        period = period_beside(plant, inner)
        commands = None if inner is None else getattr(inner, "commands", None)
        super().__init__(name, commands or Commands(plant, effort_limits, period))
        self.period = period
        self.forces = list(forces)
        self._inner, self._given, self._act, self._kept = inner, given, act, kept or {}
        self._inner_u = np.zeros(plant.num_actuators())

    def start(self) -> None:
        """Before the run."""
        if isinstance(self._inner, RunController):
            self._inner.start()

    def stop(self) -> None:
        """After it."""
        if isinstance(self._inner, RunController):
            self._inner.stop()

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """The inner controller, where its call is due, then its own part."""
        inner = self._inner
        if inner is None:
            self._inner_u[:] = self._given(time)
        elif abs(time / inner.period - round(time / inner.period)) * inner.period < WHOLE * self.period:
            inner.call(time, q, v, self._inner_u, desired)
        u[:] = self._inner_u
        self._act(time, q, v, u, desired)

    def save(self) -> dict[str, FloatArray]:
        """What it keeps, its forces, and the inner controller."""
        forces = np.array([force.force for force in self.forces]).reshape(-1, 6)
        own = {**self._kept, "u": self._inner_u, "forces": forces, "asked": self.commands.asked_of_plugins}
        inner = {} if self._inner is None else dict(self._inner.save())
        return inner | {self._key(name): values.copy() for name, values in own.items()}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save(); what joins a run that goes on begins here."""
        if self._key("u") in saved:
            self._load_own(saved)
        if self._inner is not None:
            self._inner.load({name: values for name, values in saved.items() if name.partition("_")[0] != self.name})

    def _load_own(self, saved: Mapping[str, FloatArray]) -> None:
        self._inner_u[:], self.commands.asked_of_plugins[:] = saved[self._key("u")], saved[self._key("asked")]
        for force, values in zip(self.forces, saved[self._key("forces")].reshape(-1, 6), strict=True):
            force.force[:] = values
        for name, values in self._kept.items():
            values[:] = saved[self._key(name)]

    def _key(self, name: str) -> str:
        return f"{self.name}_{name}" if name else self.name
