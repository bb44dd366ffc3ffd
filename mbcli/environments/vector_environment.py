"""VectorEnvironment: worlds with the interface of gymnasium.vector.VectorEnv."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.common.suggestions import name_or_list
from mbcli.environments.parameter_draws import ParameterDraws
from mbcli.environments.task import as_task
from mbcli.environments.task_file import TaskFile, read_task, task_in
from mbcli.environments.task_worlds import PERIOD_ROUNDING, TaskWorlds, steps_of
from mbcli.environments.world_random import WorldRandom, whole_seed
from mbcli.errors import ArgumentError
from mbcli.models.loading import as_loaded

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from typing import TypeAlias

    from gymnasium.vector import AutoresetMode, VectorEnv

    from mbcli.environments.world_pictures import WorldPictures
    from mbcli.math.array_types import Array, BoolArray, FloatArray, Matrix, Vector

    Base: TypeAlias = VectorEnv[FloatArray, FloatArray, Array]
    Answer: TypeAlias = tuple[Matrix, Vector, BoolArray, BoolArray, dict[str, Any]]
else:
    WHAT = "mbcli.environments"
    VECTOR = import_extra("gymnasium.vector", "gymnasium", WHAT)
    AutoresetMode, Base = VECTOR.AutoresetMode, VECTOR.VectorEnv

OPTIONS = ("q", "v", "mask", "reset_mask")
RENDER_MODES = ("rgb_array",)


class VectorEnvironment(Base):
    """Many worlds of one model, each an environment with episodes of its own.

    Observations are (n, k) and actions (n, m) floats, which are clipped to the action space. A world that cannot
    go on (Worlds.status) is terminated, and info["failure"] says why. `autoreset` says who begins the next
    episode of a world, and metadata["autoreset_mode"] has the choice:

    - "next_step", gymnasium's default: the next step() does, whatever its action; its reward is 0.
    - "same_step": the step() in which the episode ends; info["final_obs"] (n, k) has the last observations of the
      worlds in the mask info["_final_obs"].
    - "disabled": reset(options={"mask": ...}) does.

    A seed determines all that is drawn: starts depend on it, the number of the world and that of its episode alone.

    Args:
        model: files, LoadedModel or finalized plant; None: the model that the task file names.
        count: number of worlds, n.
        task: a task file (YAML), a mapping with its keys, or a Task or class with its methods.
        period: [s] from one action to the next; default: that of the file, or one time step.
        time_limit: [s] after which an episode is truncated; default: that of the file, or none.
        max_episode_steps: the same in periods, in place of time_limit.
        seed: of parameters and, until reset(seed=), of starts; None: not to be foretold.
        threads: that step worlds; default: as many as the process has processors.
        autoreset: "next_step", "same_step" or "disabled", or gymnasium's AutoresetMode.
        render_mode: "rgb_array" for render(), else None.
        among: (number of the first world, number of all), where these are some of the worlds of several
            VectorEnvironments: what is drawn for a world is the same in whichever it is.
        on_compile: called before the compiler runs.

    Attributes:
        worlds: TaskWorlds.
        autoreset_mode: the choice of `autoreset`, gymnasium's AutoresetMode.
        task: the Task.
        observation_names: k names, or none of a task in Python without names.
        parameters: {path: n texts} that were drawn for worlds, or for the episodes in which they are.

    Raises:
        ArgumentError, ModelError: of the task, the model or an argument, with what there is.
        ResourceError: a file is missing.
    """

    def __init__(
        self,
        model: Any,
        count: int,
        task: Any,
        *,
        period: float | None = None,
        time_limit: float | None = None,
        max_episode_steps: int | None = None,
        seed: int | None = None,
        threads: int | None = None,
        autoreset: str | AutoresetMode = "next_step",
        render_mode: str | None = None,
        among: tuple[int, int] | None = None,
        on_compile: Callable[[], object] = lambda: None,
    ) -> None:
        from gymnasium.spaces import Box
        from gymnasium.vector.utils import batch_space

        self.autoreset_mode = _mode(autoreset)
        if render_mode not in (None, *RENDER_MODES):
            raise ArgumentError(f"render_mode is {render_mode!r}: {name_or_list(render_mode, RENDER_MODES)}")
        self.render_mode = render_mode
        self.num_envs = count = int(count)
        if count < 1:
            raise ArgumentError(f"count is {count}: there is at least one world")
        self._seeds = np.full(count, whole_seed(seed), dtype=np.uint64)
        first, of_all = (0, count) if among is None else among
        if not 0 <= first <= first + count <= of_all:
            raise ArgumentError(f"among is {among}: {count} worlds from that number on are not among so many")
        self._numbers = np.arange(first, first + count)
        self._episodes, self._steps = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self._ended = np.zeros(count, dtype=bool)
        self._file = file = read_task(task) if _is_task_file(task) else task if isinstance(task, TaskFile) else None
        options: dict[str, Any] = {"threads": threads, "on_compile": on_compile}
        self.parameters: dict[str, list[str]] = {}
        self._draws: ParameterDraws | None = None
        if file is None:
            if model is None:
                raise ArgumentError("model is None: only a task file names a model")
            loaded = as_loaded(model)
        else:
            loaded = as_loaded(file.loaded(model))
            options["pose"] = file.settings.pose
            self._draws = ParameterDraws(file, loaded, of_all, self._seeds[0])
            options["parameters"] = self.parameters = self._draws.of_worlds(self._seeds, self._numbers, self._episodes)
            period = file.settings.period if period is None else period
            time_limit = file.settings.time_limit if time_limit is None else time_limit
        self.worlds = TaskWorlds(loaded, count, **options)
        self.worlds.seeds, self.worlds.episodes = self._seeds, self._episodes  # the same arrays
        self.worlds.numbers = self._numbers
        time_limit = time_limit if max_episode_steps is None else None
        self._frames, self._limit = _steps_of(self.worlds.plant.time_step(), period, time_limit)
        self._limit = self._limit if max_episode_steps is None else float(max_episode_steps)
        self.worlds.frames = self._frames
        self.task, self._bounds = task_in(self.worlds, as_task(task) if file is None else file)
        size = self.worlds.action.shape[1]
        self.period = self._frames * self.worlds.plant.time_step()
        fps = round(1.0 / self.period) or 1
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": list(RENDER_MODES), "render_fps": fps}
        self._loaded = loaded
        self._pictures: WorldPictures | None = None  # WorldPictures, once they are asked for
        self._begin(np.ones(count, dtype=bool))
        width = self._observed().shape[1]
        self.observation_names = list(self.task.observation_names(self.worlds))
        self.single_observation_space = Box(-np.inf, np.inf, (width,), np.float64)
        self.single_action_space = Box(*self._bounds, (size,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._episodes[:] = 0

    def __getstate__(self) -> dict[str, Any]:
        """What goes on: worlds, episodes, seeds. Terms of a file are looked up anew, a task in Python is copied."""
        dropped = {"_pictures"} if self._file is None else {"_pictures", "task"}
        return {key: value for key, value in vars(self).items() if key not in dropped}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """As they were when they were copied."""
        vars(self).update(state)
        self._pictures = None
        if self._file is not None:
            self.task = self._file.task(self.worlds)
            self.task.prepare(self.worlds)

    # episodes

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Matrix, dict[str, Any]]:
        """Observations (n, k) after worlds have begun anew, and an empty info.

        Args:
            seed: from which the starts of these worlds are drawn; None: their next ones.
            options: "mask" (n,) of bool, the worlds that begin, default all ("reset_mask" is gymnasium's name for it);
                "q" and "v", where they begin, (nq,) and (nv,), or a row for each world of the mask, or for each of all
                n worlds; default: what the task draws.

        Raises:
            ArgumentError: of an option; a number is not finite.

        Returns:
            Observations (n, k) [unit of each term], and an empty info.

        Example:
            >>> from mbcli.environments import make_environments
            >>> environments = make_environments("docs/examples/balance.task.yaml", 4)
            >>> environments.reset(seed=0)[0].shape
            (4, 5)
        """
        whole = 0 if seed is None else whole_seed(seed)
        super().reset(seed=seed)
        given = dict(options or {})
        unknown = [key for key in given if key not in OPTIONS]
        if unknown:
            raise ArgumentError(f'unknown option "{unknown[0]}" of reset(): {name_or_list(unknown[0], OPTIONS)}')
        mask = self._mask(given)
        if seed is not None:
            self._seeds[mask], self._episodes[mask] = whole, 0
        self._begin(mask, given.get("q"), given.get("v"))
        return self._observed(), {}

    def step(self, actions: FloatArray) -> Answer:
        """All worlds do their actions for a period.

        Args:
            actions: (n, m), in [unit of each term].

        Returns:
            Observations (n, k); rewards (n,); whether the task or a failure terminated an episode (n,); whether the
            time limit truncated one that was not terminated (n,); info: "failure" (n,), the reasons as text of worlds
            in the mask "_failure", if there are some, and "final_obs" if `autoreset` is "same_step".

        Raises:
            ArgumentError: actions are not finite or of another shape; a world has ended and `autoreset` is "disabled".

        Example:
          >>> from mbcli.environments import make_environments
          >>> environments = make_environments("docs/examples/balance.task.yaml", 4)
          >>> start = environments.reset(seed=0)
          >>> [part.shape for part in environments.step(np.zeros((4, 1)))[:4]]
          [(4, 5), (4,), (4,), (4,)]
        """
        worlds, pending = self.worlds, self._ended.copy()
        action = self._action(actions)
        if self.autoreset_mode is AutoresetMode.DISABLED and pending.any():
            number = int(self._numbers[pending][0])
            raise ArgumentError(f"the episode of world {number} has ended: reset() with the option mask begins another")
        worlds.previous_action[:], worlds.action[:] = worlds.action, action
        self.task.act(worlds, worlds.action)
        worlds.step(self._frames)
        self._steps += 1
        if pending.any():
            self._begin(pending)
        failed = worlds.status != 0
        reward = self._checked("reward", self.task.reward(worlds, worlds.action), float)
        terminated = self._checked("terminated", self.task.terminated(worlds), bool) | failed
        observations = self._observed()
        reward[pending], terminated[pending] = 0.0, False
        truncated = (self._steps >= self._limit) & ~terminated
        info: dict[str, Any] = {}
        if failed.any():
            reasons = np.full(self.num_envs, None, dtype=object)
            for number, reason in worlds.failures().items():
                reasons[number] = reason
            info |= {"failure": reasons, "_failure": failed}
        self._ended = terminated | truncated
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            info |= {"final_obs": observations, "_final_obs": self._ended}
            self._begin(self._ended)
            observations = self._observed()
        return observations, reward, terminated, truncated, info

    def render(self) -> tuple[Array, ...] | None:
        """With render_mode="rgb_array" a picture (480, 640, 3) of bytes of each world, else None.

        matplotlib draws them, in some tenths of a second each; `mbcli replay` makes better ones of a log. ResourceError
        if matplotlib is missing.
        """
        if self.render_mode is None:
            return None
        if self._pictures is None:
            from mbcli.environments.world_pictures import WorldPictures

            self._pictures = WorldPictures(self._loaded)
        return tuple(self._pictures.of(time, q) for time, q in zip(self.worlds.time, self.worlds.q, strict=True))

    @property
    def periods_to_limit(self) -> float:
        """Periods after which an episode is truncated, inf without a limit."""
        return self._limit

    # parts

    def _draw_parameters(self, which: Array) -> None:
        """The parameters of worlds that begin, if episodes draw them."""
        if self._draws is None or not self._draws.of_episodes:
            return
        numbers = self._numbers[which]
        for path, texts in self._draws.of_worlds(self._seeds[which], numbers, self._episodes[which]).items():
            for k, text in zip(which.tolist(), texts, strict=True):
                self.parameters[path][k] = text
        self.worlds.set_parameters(self.parameters)

    def _begin(self, mask: BoolArray, q: Any = None, v: Any = None) -> None:
        which = np.flatnonzero(mask)
        self._draw_parameters(which)
        rng = WorldRandom(self._seeds[which], self._numbers[which], self._episodes[which])
        start_q, start_v = self.task.start(rng, len(which))
        start_q = start_q if q is None else self._rows("q", q, which)
        start_v = start_v if v is None else self._rows("v", v, which)
        self.worlds.reset(which, start_q, start_v)
        self.worlds.assemble(which)
        self._episodes[which] += 1
        self._steps[which] = 0
        self._ended = self._ended & ~mask

    def _rows(self, name: str, values: Any, which: Array) -> Matrix:
        """States of worlds that begin (m, nq or nv), from one, m, or a row for each of the n worlds."""
        rows = np.asarray(values, dtype=float)
        width = getattr(self.worlds, name).shape[1]
        if rows.shape not in ((width,), (len(which), width), (self.num_envs, width)):
            expected = f"({width},), ({len(which)}, {width}) or ({self.num_envs}, {width})"
            raise ArgumentError(f'option "{name}" of reset() has shape {rows.shape}, expected {expected}')
        if not np.isfinite(rows).all():
            raise ArgumentError(f'option "{name}" of reset() has numbers that are not finite')
        if rows.ndim == 2 and len(rows) != len(which):
            rows = rows[which]
        return rows

    def _mask(self, options: Mapping[str, Any]) -> BoolArray:
        given = [key for key in ("mask", "reset_mask") if key in options]
        if not given:
            return np.ones(self.num_envs, dtype=bool)
        mask = np.asarray(options[given[0]])
        if len(given) > 1 or mask.dtype != bool or mask.shape != (self.num_envs,):
            raise ArgumentError(f'option "{given[-1]}" of reset() is an array of {self.num_envs} bools')
        return mask

    def _action(self, actions: Any) -> FloatArray:
        action = np.asarray(actions, dtype=float)
        if action.shape != self.action_space.shape:
            raise ArgumentError(f"actions have shape {action.shape}, expected {self.action_space.shape}")
        if not np.isfinite(action).all():
            number = int(self._numbers[~np.isfinite(action).all(axis=1)][0])
            raise ArgumentError(f"the action of world {number} has numbers that are not finite")
        return np.clip(action, *self._bounds)

    def _observed(self) -> Matrix:
        observations = np.array(self.task.observe(self.worlds), dtype=float)
        if observations.ndim != 2 or len(observations) != self.num_envs:
            raise ArgumentError(f"observe() of the task gave shape {observations.shape}, expected ({self.num_envs}, k)")
        return observations

    def _checked(self, what: str, values: Any, kind: type) -> Array:
        """(n,) numbers or answers of a task, an array of their own."""
        array: Array = np.array(values, dtype=kind)
        if array.shape != (self.num_envs,):
            raise ArgumentError(f"{what}() of the task gave shape {array.shape}, expected ({self.num_envs},)")
        return array


def make_environments(
    task: str | os.PathLike[str] | Mapping[str, Any],
    count: int | None = None,
    *,
    num_envs: int | None = None,
    model: Any = None,
    **options: Any,
) -> VectorEnvironment:
    """The VectorEnvironment of a task file that names its model.

    Args:
        task: a task file (YAML), or a mapping with its keys.
        count: number of worlds.
        num_envs: the same, as gymnasium.make_vec() names it.
        model: in place of that of the file.
        options: further arguments of VectorEnvironment.

    Returns:
        The VectorEnvironment: observations (n, k), actions (n, m).

    Raises:
        ArgumentError: not one of count and num_envs is given.
        ModelError, ResourceError: of the task or its model.

    Example:
      >>> from mbcli.environments import make_environments
      >>> observations, info = make_environments("docs/examples/balance.task.yaml", 4).reset(seed=0)
      >>> observations.shape
      (4, 5)
    """
    numbers = [number for number in (count, num_envs) if number is not None]
    if len(numbers) != 1:
        raise ArgumentError("the number of worlds is `count`, or `num_envs`")
    return VectorEnvironment(model, numbers[0], task, **options)


def _is_task_file(task: Any) -> bool:
    return isinstance(task, (str, Mapping)) or hasattr(task, "__fspath__")


def _mode(autoreset: Any) -> AutoresetMode:
    if isinstance(autoreset, AutoresetMode):
        return autoreset
    modes = {mode.name.lower(): mode for mode in AutoresetMode}
    if autoreset not in modes:
        raise ArgumentError(f"autoreset is {autoreset!r}: {name_or_list(autoreset, modes)}")
    return modes[autoreset]


def _steps_of(time_step: float, period: float | None, time_limit: float | None) -> tuple[int, float]:
    """Steps of a plant in a period, and periods until the time limit. ArgumentError: they are not whole."""
    period = time_step if period is None else float(period)
    frames = steps_of(time_step, period)
    if time_limit is None:
        return frames, np.inf
    limit = round(time_limit / period) if np.isfinite(time_limit) else 0
    if limit < 1 or abs(limit * period - time_limit) > PERIOD_ROUNDING * time_limit:
        raise ArgumentError(f"time_limit is {time_limit:g} s: it is a whole number of periods of {period:g} s")
    return frames, float(limit)
