"""Worlds as tasks see them: with their actions and the motions of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.queries.state_batch import StateBatch
from mbcli.models.loading import find_frame
from mbcli.multibody.plant.state_functions import number_of_frame, state_with_parameters
from mbcli.simulation.worlds import Worlds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array, FloatArray, Matrix
    from mbcli.simulation.world_sensors import WorldSensors


class TaskWorlds(Worlds):
    """Worlds with what a task needs beside q, v, u, desired and time.

    Motions of all tracked bodies are computed together, when the first is asked for after a step. What is written into
    `q` or `v` directly is seen after `forget_motions()`.

    Attributes:
        action: (n, m) what the policy chose last, from -1 to 1; 0 at the start of an episode.
        previous_action: (n, m) what it chose before that.
    """

    def __init__(self, model: Any, count: int, **options: Any) -> None:
        """Args: as of Worlds."""
        super().__init__(model, count, **options)
        self.action: FloatArray = np.zeros((count, 0))
        self.previous_action: FloatArray = np.zeros((count, 0))
        self._start_desired = self.desired[0].copy()
        self._tracked: dict[str, int] = {}
        self._frames: list[int] = []
        self._batch: Any = None
        self._motions: tuple[Array, Array, Array] | None = None
        self._sensors: WorldSensors | None = None
        self._measured: dict[str, FloatArray] | None = None

    @property
    def start_desired(self) -> Matrix:
        """Position and velocity (k, 2) that controllers aim at in the start [rad or m, rad/s or m/s]."""
        return self._start_desired

    def set_action_size(self, size: int) -> None:
        """Gives `action` and `previous_action` that many columns, of zeros."""
        self.action, self.previous_action = (np.zeros((len(self), size)) for _ in range(2))

    # motions of bodies

    def track(self, name: str) -> int:
        """The number of a body or frame for rotation(), position() and velocity(). ArgumentError: it is not there."""
        if name not in self._tracked:
            number = number_of_frame(self.plant, find_frame(self.plant, name, "body"))
            self._tracked[name] = len(self._frames)
            self._frames.append(number)
            self.forget_motions()
        return self._tracked[name]

    def rotation(self, body: int) -> Array:
        """R_WB (n, 3, 3) of a tracked body."""
        return self._seen()[0][:, body]

    def position(self, body: int) -> Matrix:
        """p_WBo (n, 3) [m] of the origin of a tracked body."""
        return self._seen()[1][:, body]

    def velocity(self, body: int) -> Matrix:
        """V_WB (n, 6) of a tracked body in World, rotational first [rad/s, m/s]."""
        return self._seen()[2][:, body]

    def measured(self, sensor: str) -> Matrix:
        """What a sensor gives (n, columns), without rate, delay and noise; all are evaluated with the first one."""
        if self._measured is None:
            if self._sensors is None:
                self._sensors = self.sensors()
            self._measured = self._sensors.exact()
        return self._measured[sensor]

    def forget_motions(self) -> None:
        """Motions and what sensors give are computed anew when they are asked for next."""
        self._motions = self._measured = None

    def _seen(self) -> tuple[Array, Array, Array]:
        if self._motions is None:
            if self._batch is None:
                state = state_with_parameters(self.plant, None)
                self._batch = StateBatch(state.model, compiled=state.compiled, threads=self._threads)
            self._motions = self._batch.frame_motions(self.q, self.v, None, self._frames, 0)[:3]
        assert self._motions is not None
        return self._motions

    # what moves them

    def step(self, count: int = 1) -> None:
        """As of Worlds."""
        self.forget_motions()
        super().step(count)

    def rollout(self, steps: int, u: ArrayLike | None = None, *, every: int = 1) -> FloatArray:
        """As of Worlds."""
        self.forget_motions()
        return super().rollout(steps, u, every=every)

    def reset(self, which: Any = slice(None), q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """As of Worlds; actions are 0, and controllers aim where they do at the start."""
        self.forget_motions()
        super().reset(which, q, v)
        self.desired[which] = self._start_desired
        self.action[which] = self.previous_action[which] = 0.0
