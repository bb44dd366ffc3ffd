"""Worlds of RLlib's runners with numbers among those of all runners: what is drawn does not depend on the runners.

RLlib makes an environment in each runner and seeds it by the runner's number. It tells that number to callbacks alone:

    register_env("balance", lambda config: RunnerEnvironments(TASK, config["num_envs"], seed=3))
    config.env_runners(num_envs_per_env_runner=8, gym_env_vectorize_mode="vector_entry_point")
    config.callbacks(on_environment_created=number_runner)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.environments.vector_environment import VectorEnvironment

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from mbcli.math.array_types import Matrix


class RunnerEnvironments(VectorEnvironment):
    """The worlds of a runner. Until take_place() they are those of an only runner.

    Args:
        task: a task file (YAML), or a mapping with its keys.
        count: number of worlds of each runner.
        seed: of all runners; seeds that reset() is given begin this one anew.
        options: further arguments of VectorEnvironment, but for `among`.

    Raises: as VectorEnvironment.
    """

    def __init__(
        self, task: str | os.PathLike[str] | Mapping[str, Any], count: int, *, seed: int, **options: Any
    ) -> None:
        self._seed, self._options = seed, {"model": None, "task": task, "seed": seed, **options}
        super().__init__(count=count, **self._options)

    def take_place(self, runner: int, runners: int) -> None:
        """Makes the worlds anew as those of a runner, from 0 on, among so many."""
        count = self.num_envs
        super().__init__(count=count, among=(runner * count, runners * count), **self._options)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Matrix, dict[str, Any]]:
        """As of VectorEnvironment; a seed, whichever it is, stands for that of all runners."""
        return super().reset(seed=None if seed is None else self._seed, options=options)


def number_runner(*, env: RunnerEnvironments, env_context: Any, **_: Any) -> None:
    """The callback on_environment_created of RLlib: the runner's worlds get their numbers.

    env_context: with `worker_index`, from 1 on, 0 where the only runner is the trainer's process, and `num_workers`.
    """
    env.take_place(max(env_context.worker_index - 1, 0), max(env_context.num_workers or 0, 1))
