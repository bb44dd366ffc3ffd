"""RemoteEnvironments: worlds on the workers of a cluster with the interface of gymnasium.vector.VectorEnv.

Each worker has some of the worlds as a VectorEnvironment, which is made here and sent there whole: no file need be
there. A seed, the number of a world and that of its episode determine what is drawn, so observations and rewards are
those of one VectorEnvironment, whatever the workers are.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.errors import ArgumentError, MbcliError, ResourceError
from mbcli.sweeps.clusters import have_joined
from mbcli.sweeps.engines import engine_of
from mbcli.sweeps.tasks import program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from gymnasium.vector import VectorEnv

    from mbcli.environments.vector_environment import Answer, VectorEnvironment
    from mbcli.math.array_types import Array, FloatArray, Matrix

    Base: TypeAlias = VectorEnv[FloatArray, FloatArray, Array]
else:
    Base = import_extra("gymnasium.vector", "gymnasium", "mbcli.environments").VectorEnv


class WorkerEnvironments:
    """The worlds of one worker."""

    def __init__(self) -> None:
        self._environments: Any = None

    def do(self, name: str, given: Any = None) -> tuple[Any, str | None]:
        """What a method of the VectorEnvironment gives, with arguments by name; or the text of its error.

        "program": what must be the same on all machines. "take": keeps the VectorEnvironment that is given.
        """
        if name == "program":
            return program(), None
        if name == "take":
            self._environments = copy.deepcopy(given)  # Ray gives arrays that nobody can write
            return None, None
        if self._environments is None:  # a worker was made anew
            raise ResourceError("its worlds are lost")
        try:
            return getattr(self._environments, name)(**given), None
        except MbcliError as error:
            return None, str(error)


class RemoteEnvironments(Base):
    """Worlds on workers of Dask or Ray; observations, actions, ends and infos are as of VectorEnvironment.

    A worker that dies is an error of the next reset() or step(): its worlds are lost, and with them what they would
    have become. render() is of VectorEnvironment alone.

    Args:
        make: what makes a VectorEnvironment: make_environments, make_robots, or a class or function that takes its
            options, with `num_envs`.
        count: number of worlds, n.
        dask, ray: address of the cluster, one of both.
        workers: how many have worlds; default: as many as tasks run there at once.
        seed: as of VectorEnvironment.
        threads: that step the worlds of a worker.
        options: further arguments of `make`.

    Raises:
        ArgumentError: not one cluster, or more workers than worlds; errors of `make`.
        ResourceError: no cluster answers, it has no workers, or one of another program; later: a worker is gone.
    """

    def __init__(
        self,
        make: Callable[..., VectorEnvironment],
        count: int,
        *,
        dask: str | None = None,
        ray: str | None = None,
        workers: int | None = None,
        seed: int | None = None,
        threads: int = 1,
        **options: Any,
    ) -> None:
        if (dask is None) == (ray is None):
            raise ArgumentError("worlds are on one cluster: dask or ray")
        self.num_envs = count
        self._engine = engine_of(dask, ray)
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        try:
            self._start(workers, partial(make, seed=seed, threads=threads, **options))
        except BaseException:
            self._engine.close()
            raise

    def _start(self, workers: int | None, make: Callable[..., VectorEnvironment]) -> None:
        from gymnasium.vector.utils import batch_space

        count = self.num_envs
        if not have_joined(self._engine, (), workers or 1):  # more would wait for places for ever
            raise ResourceError(f"the cluster runs {self._engine.slots(())} at a time, not {workers or 1} workers")
        workers = min(self._engine.slots(()), count) if workers is None else workers
        if not 1 <= workers <= count:
            raise ArgumentError(f"workers is {workers}: each has at least one of {count} worlds")
        ends = [count * k // workers for k in range(workers + 1)]
        self._spans = [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
        self._workers = self._engine.objects(WorkerEnvironments, workers)
        for (where, _), there in zip(self._workers, self._all("program", [None] * workers), strict=True):
            if there != program():
                raise ResourceError(f"worker {where} has {there}, this is {program()}")
        for k, span in enumerate(self._spans):
            of_worker = make(num_envs=span.stop - span.start, among=(span.start, count))
            self._of(k, self._of(k, partial(self._workers[k][1], "take", of_worker)))
        for name in ("autoreset_mode", "metadata", "period", "observation_names"):
            setattr(self, name, getattr(of_worker, name))
        self.single_observation_space = of_worker.single_observation_space
        self.single_action_space = of_worker.single_action_space
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Matrix, dict[str, Any]]:
        """As of VectorEnvironment."""
        super().reset(seed=seed)
        given = dict(options or {})
        keys = [key for key in ("mask", "reset_mask") if key in given]
        mask = np.asarray(given[keys[0]]) if keys else np.ones(self.num_envs, dtype=bool)
        if mask.shape != (self.num_envs,) or mask.dtype != bool:
            raise ArgumentError(f'option "{keys[0]}" of reset() is an array of {self.num_envs} bools')
        before = np.concatenate(([0], np.cumsum(mask)))
        asked = []
        for span in self._spans:
            own = given | dict.fromkeys(keys, mask[span])
            of_mask = slice(before[span.start], before[span.stop])
            for name in {"q", "v"} & given.keys():
                rows = np.asarray(given[name], dtype=float)
                if rows.ndim == 2:
                    own[name] = rows[of_mask if len(rows) == before[-1] else span]
            asked.append({"seed": seed, "options": own})
        return np.concatenate([observations for observations, _ in self._all("reset", asked)]), {}

    def step(self, actions: FloatArray) -> Answer:
        """As of VectorEnvironment."""
        actions = np.asarray(actions, dtype=float)
        if actions.shape != self.action_space.shape:
            raise ArgumentError(f"actions have shape {actions.shape}, expected {self.action_space.shape}")
        if not np.isfinite(actions).all():  # before any worker steps
            raise ArgumentError("actions have numbers that are not finite")
        answers = self._all("step", [{"actions": actions[span]} for span in self._spans])
        observations, rewards, terminated, truncated = (
            np.concatenate([answer[k] for answer in answers]) for k in range(4)
        )
        infos = [answer[4] for answer in answers]
        info: dict[str, Any] = {}
        for key in dict.fromkeys(key for one in infos for key in one):
            whole = np.full(self.num_envs, None if key == "failure" else False)
            whole = observations.copy() if key == "final_obs" else whole
            for span, one in zip(self._spans, infos, strict=True):
                if key in one:
                    whole[span] = one[key]
            info[key] = whole
        return observations, rewards, terminated, truncated, info

    def close_extras(self, **_: Any) -> None:
        """Ends the connection, and with it the worlds."""
        self._engine.close()

    def _all(self, name: str, given: Sequence[Any]) -> list[Any]:
        """What a method gives on each worker, which work at the same time."""
        waiting = [
            self._of(k, partial(call, name, own))
            for k, ((_, call), own) in enumerate(zip(self._workers, given, strict=True))
        ]
        found = [self._of(k, wait) for k, wait in enumerate(waiting)]
        for _, error in found:
            if error is not None:
                raise ArgumentError(error)
        return [result for result, _ in found]

    def _of(self, k: int, ask: Callable[[], Any]) -> Any:
        """What worker k gives. ResourceError: it is gone."""
        try:
            return ask()
        except Exception as fault:  # whatever the cluster raises
            why = f"{type(fault).__name__}: {fault}".strip().partition("\n")[0]
            raise ResourceError(f"worker {self._workers[k][0]} of environments: {why}") from None
