"""Policy: what acts in the environments of a task acts in runs, as their controller.

    simulate("cart_pole.sdf", 60.0, dt=0.005, controller=Policy("policy.onnx", "balance.task.yaml"))

It sees the observation of the task and its output acts as the actions of the task do, at the same times. What an
episode draws beside its start, as noise, delays and commands, is that of the first episode of an environment with the
seed of the run; world k of many worlds has those of the seed `seed + k`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.environments.network_file import NetworkFile
from mbcli.environments.task import Task, TermTask, as_task
from mbcli.environments.task_file import TaskFile, read_task, task_in
from mbcli.environments.task_worlds import TaskWorlds, steps_of
from mbcli.environments.world_random import WorldRandom, whole_seed
from mbcli.errors import ArgumentError, ModelError
from mbcli.simulation.control.commands import Commands
from mbcli.simulation.control.make_controller import sha256_of
from mbcli.simulation.control.run_controller import ControllerSource, RunController

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Matrix, Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.simulation.control.tick_sensors import TickSensors

PREFIX = "policy_"  # of what checkpoints have


class Policy(ControllerSource):
    """A policy as the controller of runs.

    Args:
        network: an ONNX or TorchScript file, or a function of observations (n, k) that gives actions (n, m).
        task: a task file (YAML), a mapping with its keys, or a Task or class with its methods.
        period: [s] from one action to the next; default: that of the file.

    Attributes:
        task: the TaskFile or Task.

    Raises:
        ArgumentError, ModelError, ResourceError: of the network or the task.
    """

    def __init__(self, network: Any, task: Any, *, period: float | None = None) -> None:
        is_file = isinstance(task, (str, os.PathLike, Mapping, TaskFile))
        self.task: TaskFile | Task
        if is_file:
            self.task = file = task if isinstance(task, TaskFile) else read_task(task)
            self._pose, self._period = file.settings.pose, file.settings.period if period is None else period
        elif period is None:
            raise ArgumentError("period is None: a task in Python has none of its own")
        else:
            self.task, self._pose, self._period = as_task(task), None, period
        is_function = callable(network) and not isinstance(network, (str, os.PathLike))
        self._network: Callable[[Matrix], Any] = network if is_function else NetworkFile(network)

    @property
    def beside_load(self) -> dict[str, Any]:
        """Arguments of load_model() that the task asks for beside `load`: its terrain."""
        return self.task.beside_load if isinstance(self.task, TaskFile) else {}

    def worlds(self, loaded: LoadedModel, seeds: Any) -> tuple[TaskWorlds, Task, tuple[float, float]]:
        """Worlds that stand where the task lets runs begin, the task in them and the limits of its actions.

        loaded: of a discrete plant; seeds: of each of the worlds.
        """
        plant: Any = loaded.plant.origin  # that of a run has controllers already
        model = replace(loaded, plant=plant)
        worlds = TaskWorlds(model, len(seeds), threads=1, pose=self._pose, warn=lambda message: None)
        worlds.frames = steps_of(worlds.plant.time_step(), self._period)
        worlds.seeds = np.array([whole_seed(seed) for seed in seeds], dtype=np.uint64)
        worlds.numbers, worlds.learns = np.zeros(len(seeds), dtype=np.int64), False
        return worlds, *task_in(worlds, self.task)

    def start(self, loaded: LoadedModel, seed: int) -> tuple[Vector, Vector]:
        """Positions (nq,) and velocities (nv,) where the first episode of an environment of this seed begins."""
        worlds, task, _ = self.worlds(loaded, [seed])
        worlds.reset(slice(None), *task.start(WorldRandom(worlds.seeds, worlds.numbers, 0), 1))
        worlds.assemble()
        return worlds.q[0], worlds.v[0]

    def controller(self, loaded: LoadedModel, *, seed: int, effort_limits: str, count: int | None) -> PolicyController:
        """As of ControllerSource."""
        worlds, task, bounds = self.worlds(loaded, [seed + k for k in range(count or 1)])
        if isinstance(task, TermTask):
            task.events.clear()  # they change states, as no controller can
        worlds.episodes[:] = 1  # of the first one, as environments count
        every = worlds.frames if worlds.each_step is None else 1
        commands = Commands(loaded.plant, effort_limits, every * loaded.plant.time_step(), count)
        return PolicyController(self, commands, worlds, task, bounds)

    def actions(self, observations: Matrix) -> FloatArray:
        """Actions (n, m), not clipped, for observations (n, k) of n worlds."""
        return np.asarray(self._network(observations), dtype=float)

    def refuse_misfit(self, observation: int, action: int) -> None:
        """ModelError if the file says that the network takes or gives other numbers of columns."""
        for does, part, attribute, wanted in (
            ("takes", "observation", "width_in", observation),
            ("gives", "action", "width_out", action),
        ):
            own = getattr(self._network, attribute, None)
            if own not in (None, wanted):
                raise ModelError(
                    f"{self.name}: error: the network {does} {own} numbers, the {part} of the task has {wanted}"
                )

    @property
    def name(self) -> str:
        """Of the network, for messages."""
        network: Any = self._network
        return str(getattr(network, "path", getattr(network, "__name__", type(network).__name__)))

    def in_words(self) -> dict[str, Any]:
        """As of ControllerSource."""
        files = {"file": getattr(self._network, "path", None)}
        files["task"] = self.task.path if isinstance(self.task, TaskFile) else None
        digests = {f"sha256_of_{key}": sha256_of(path) for key, path in files.items() if path is not None}
        return {"name": self.name, **files, **digests}


class PolicyController(RunController):
    """A network in the loop of a run or of many worlds.

    Args:
        policy: Policy.
        commands: Commands of the run.
        worlds: TaskWorlds that are put where the run is, in which the task acts.
        task: of these worlds. bounds: least and largest number of an action.

    Raises ModelError where the network and the task do not fit.
    """

    def __init__(
        self, policy: Policy, commands: Commands, worlds: TaskWorlds, task: Task, bounds: tuple[float, float]
    ) -> None:
        super().__init__(policy.name, commands)
        commands.asked[:] = True
        self._policy, self._worlds, self._task, self._bounds = policy, worlds, task, bounds
        self._began = np.full(1, np.nan)  # [s] of the first call
        policy.refuse_misfit(task.observe(worlds).shape[1], worlds.action.shape[1])
        task.act(worlds, worlds.action)  # with observe() it makes what terms remember
        worlds.reset()

    def sense(self, make: Callable[[], TickSensors]) -> None:
        """As of RunController: terms of contact and sensors have what the run has, once they are asked for."""
        self._worlds.sense_by(lambda: _Sensed(make(), self))

    def call(self, time: float, q: FloatArray, v: FloatArray, u: FloatArray, desired: FloatArray) -> None:
        """A tick; of many worlds all arrays have their axis first."""
        worlds, self.state = self._worlds, (time, q, v, u, desired)
        first = np.isnan(self._began[0])
        if first:
            self._began[0] = np.min(time)
            desired[...] = worlds.desired.reshape(desired.shape)
        elapsed = np.round((np.atleast_1d(time) - self._began[0]) / worlds.plant.time_step())
        worlds.go_to(elapsed.astype(np.int64), q.reshape(worlds.q.shape), v.reshape(worlds.v.shape))
        if worlds.steps.max() % worlds.frames == 0:
            self._act()
        if worlds.each_step is not None:
            worlds.each_step()
        u[...] = self.commands.limits.take(worlds.u.reshape(u.shape))
        desired[...] = worlds.desired.reshape(desired.shape)

    def _act(self) -> None:
        """The network chooses the action of the next period, and the task lets it act."""
        worlds = self._worlds
        action = self._policy.actions(self._task.observe(worlds))
        if action.shape != worlds.action.shape:
            raise self._fault(
                f"gave an array of shape {action.shape}, the action of the task has {worlds.action.shape}"
            )
        worlds.previous_action[:], worlds.action[:] = worlds.action, np.clip(action, *self._bounds)
        self._task.act(worlds, worlds.action)

    # its state

    def _kept(self) -> dict[str, FloatArray]:
        """{name: an array that changes in place}"""
        worlds = self._worlds
        kept: dict[str, Any] = {"began": self._began, "action": worlds.action, "before": worlds.previous_action}
        kept |= {"u": worlds.u, "desired": worlds.desired}
        for k, label in enumerate(sorted(worlds.memory)):
            parts = worlds.memory[label]
            for part, array in enumerate(parts if isinstance(parts, tuple) else (parts,)):
                kept[f"memory_{k}_{part}"] = array
        return {PREFIX + name: array for name, array in kept.items()}

    def save(self) -> dict[str, FloatArray]:
        """Its last actions, and what terms remember."""
        return {name: array.copy() for name, array in self._kept().items()}

    def load(self, saved: Mapping[str, FloatArray]) -> None:
        """The contrary of save(). ModelError: the log has no state of this policy."""
        for name, array in self._kept().items():
            if name not in saved or np.shape(saved[name]) != array.shape:
                raise ModelError(f"{self.name}: error: the log has no state of this policy to go on from")
            array[:] = saved[name]


class _Sensed:
    """TickSensors where a PolicyController is called."""

    def __init__(self, sensors: TickSensors, controller: PolicyController) -> None:
        self._sensors, self._controller = sensors, controller

    def exact(self) -> Any:
        """As of WorldSensors."""
        return self._sensors.exact(*self._controller.state)

    def contact_wrenches(self) -> Any:
        """As of WorldSensors."""
        return self._sensors.contact_wrenches(*self._controller.state)
