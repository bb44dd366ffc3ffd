"""Tasks: what a policy sees and does in worlds, what it is rewarded for, how episodes start and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.environments.term_registry import Start
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.environments.task_worlds import TaskWorlds
    from mbcli.environments.term_registry import Action
    from mbcli.environments.world_random import WorldRandom
    from mbcli.math.array_types import BoolArray, FloatArray, Matrix, Vector

NEEDED = ("observe", "reward", "terminated", "start")  # methods of a task


class Task:
    """Base of tasks in Python. Its methods get all n worlds at once, and answer with arrays of them.

        class Balance(Task):
            def observe(self, worlds):
                return np.hstack([worlds.q, worlds.v])

            def reward(self, worlds, action):
                return np.cos(worlds.q[:, 1] - np.pi)

    `worlds` is a TaskWorlds: q, v, u, desired and time of each world, and motions of bodies.
    """

    def prepare(self, worlds: TaskWorlds) -> None:
        """Is called once, before the other methods: the place to look names up."""
        self._rest = worlds.start_state

    def action_size(self, worlds: TaskWorlds) -> int:
        """How many numbers an action has; here one for each actuator."""
        return worlds.plant.num_actuators()

    def action_limits(self, worlds: TaskWorlds) -> tuple[float, float]:
        """The least and the largest number of an action; here -1 and 1."""
        return -1.0, 1.0

    def act(self, worlds: TaskWorlds, action: FloatArray) -> None:
        """Lets actions (n, m) act, before worlds step; here as efforts, 1 being the effort limit."""
        limits = worlds.plant.GetEffortUpperLimits()
        if not np.isfinite(limits).all():
            raise ArgumentError("an actuator has no effort limit: a method act() of the task says what actions mean")
        worlds.u = limits * action

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """(n, k) what a policy sees."""
        raise NotImplementedError(f"{type(self).__name__} has no observe(worlds)")

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """(n,) rewards of the step that has led here; action (n, m) within its limits."""
        raise NotImplementedError(f"{type(self).__name__} has no reward(worlds, action)")

    def terminated(self, worlds: TaskWorlds) -> BoolArray:
        """(n,) whether an episode has come to its end; here never."""
        return np.zeros(len(worlds), dtype=bool)

    def start(self, rng: WorldRandom, count: int) -> tuple[Matrix, Matrix]:
        """q (count, nq) and v (count, nv) of worlds that begin, a row of `rng` for each; here those of the start."""
        q, v = self._rest
        return np.tile(q, (count, 1)), np.tile(v, (count, 1))

    def observation_names(self, worlds: TaskWorlds) -> list[str]:
        """Names of what observe() returns, or an empty list."""
        return []


class TermTask(Task):
    """A task of terms, each a function of all worlds.

    Args:
        action: what actions do.
        observations: functions of worlds whose columns stand side by side.
        names: of these columns.
        rewards: (weight, function) whose sum is the reward.
        ends: functions any of which ends an episode.
        starts: functions that change the state of the start in turn.
        events: functions of worlds that are called before actions; an attribute too.
    """

    def __init__(
        self,
        action: Action,
        observations: Sequence[Callable[[TaskWorlds], Matrix]],
        names: Sequence[str],
        rewards: Sequence[tuple[float, Callable[[TaskWorlds], Vector]]],
        ends: Sequence[Callable[[TaskWorlds], BoolArray]],
        starts: Sequence[Callable[[Start], None]],
        events: Sequence[Callable[[TaskWorlds], None]] = (),
    ) -> None:
        self._action, self._observations, self._names = action, observations, list(names)
        self._rewards, self._ends, self._starts, self.events = rewards, ends, starts, list(events)

    def prepare(self, worlds: TaskWorlds) -> None:
        """As of Task."""
        super().prepare(worlds)
        self._worlds = worlds

    def action_size(self, worlds: TaskWorlds) -> int:
        """As of Task."""
        return self._action.size

    def act(self, worlds: TaskWorlds, action: FloatArray) -> None:
        """As of Task."""
        for event in self.events:
            event(worlds)
        self._action.apply(worlds, action)

    def observe(self, worlds: TaskWorlds) -> Matrix:
        """As of Task."""
        return np.hstack([term(worlds) for term in self._observations])

    def reward(self, worlds: TaskWorlds, action: FloatArray) -> Vector:
        """As of Task."""
        total = np.zeros(len(worlds))
        for weight, term in self._rewards:
            total += weight * term(worlds)
        return total

    def terminated(self, worlds: TaskWorlds) -> BoolArray:
        """As of Task."""
        ended = np.zeros(len(worlds), dtype=bool)
        for term in self._ends:
            ended |= term(worlds)
        return ended

    def start(self, rng: WorldRandom, count: int) -> tuple[Matrix, Matrix]:
        """As of Task."""
        start = Start(*super().start(rng, count), rng, self._worlds)
        for term in self._starts:
            term(start)
        return start.q, start.v

    def observation_names(self, worlds: TaskWorlds) -> list[str]:
        """As of Task."""
        return self._names


class _OtherTask(Task):
    """An object that has the methods of a task and is none: what it lacks is that of Task."""

    def __init__(self, task: Any) -> None:
        for name in ("act", "action_size", "action_limits", "observation_names", *NEEDED):
            if hasattr(task, name):
                setattr(self, name, getattr(task, name))
        self._prepare = getattr(task, "prepare", None)

    def prepare(self, worlds: TaskWorlds) -> None:
        super().prepare(worlds)
        if self._prepare is not None:
            self._prepare(worlds)


def as_task(task: Any) -> Task:
    """A Task as it is, or the one of a class or an object with its methods. ArgumentError: one is missing."""
    made = task() if isinstance(task, type) else task
    if isinstance(made, Task):
        return made
    lacking = [name for name in NEEDED if not callable(getattr(made, name, None))]
    if lacking:
        raise ArgumentError(
            f"task is a file, a mapping of terms, or an object with the methods {', '.join(NEEDED)}; "
            f"{type(made).__name__} has no {lacking[0]}()"
        )
    return _OtherTask(made)
