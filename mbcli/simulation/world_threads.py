"""The threads on which worlds step, each with contexts of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.turns import number_of_forks
from mbcli.models.parameter_assignments import changed_parameters
from mbcli.simulation.world_groups import tasks_of_threads
from mbcli.simulation.world_worker import WorldWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.math.array_types import Array, IntArray
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.state.context import Context
    from mbcli.simulation.world_groups import Piece

MOST_UNUSED = 64  # groups that no world is in, but may come to again


class WorldThreads:
    """Steps worlds on threads, in pieces that whoever is free takes.

    Args:
        loaded: LoadedModel.
        start: the context that all begin in.
        groups: {overrides of some worlds: the numbers of these worlds}.
        count: number of worlds. threads: that step them. lanes: whether worlds may share vector registers.
        on_compile: called before the compiler runs.

    Attributes:
        workers: {group: its WorldWorkers}, one for each thread that may step its worlds at once.
        pool: the threads, once they are needed.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        start: Context,
        groups: Mapping[tuple[str, ...], Sequence[int]],
        count: int,
        threads: int,
        lanes: bool,
        on_compile: Callable[[], object],
    ) -> None:
        self._loaded, self._count, self._threads = loaded, count, threads
        self._make = partial(WorldWorker, start, lanes, on_compile)
        self.workers: dict[int, list[WorldWorker]] = {}
        self._of_overrides: dict[tuple[str, ...], list[WorldWorker]] = {}  # those of groups last
        self.regroup(groups)
        self.pool: ThreadPoolExecutor | None = None
        self._pool_forks = number_of_forks()

    def regroup(self, groups: Mapping[tuple[str, ...], Sequence[int]]) -> None:
        """Worlds step in these groups from now on; workers of groups that there were stay. ArgumentError of a value."""
        tasks = list(tasks_of_threads(groups, self._count, self._threads))
        with_group = np.zeros(len(groups), dtype=np.int64)
        for task in tasks:
            for group in {piece[0] for piece in task}:
                with_group[group] += 1
        found: dict[tuple[str, ...], list[WorldWorker]] = {}
        for overrides, wanted in zip(groups, with_group.tolist(), strict=True):
            found[overrides] = made = list(self._of_overrides.get(overrides, ()))
            missing = min(self._threads, wanted) - len(made)
            if missing > 0:
                with changed_parameters(self._loaded, overrides) if overrides else nullcontext():
                    made += [self._make() for _ in range(missing)]
        unused = [(overrides, made) for overrides, made in self._of_overrides.items() if overrides not in found]
        self._of_overrides = dict(unused[-MOST_UNUSED:]) | found
        self._tasks, self.workers = tasks, dict(enumerate(found.values()))

    @property
    def state(self) -> Any:
        """That of the first worker, with the model of the first world."""
        return self.workers[0][0].state

    def context(self, group: int) -> Context:
        """One with the parameters of a group."""
        return self.workers[group][0].context

    def advance(self, arrays: Mapping[str, Array], messages: dict[int, str]) -> None:
        """Advances the worlds of these arrays; messages: are given why contact has no solution."""
        for workers in self.workers.values():
            for worker in workers:
                worker.take(arrays)
        with np.errstate(all="ignore"):  # interpreted kernels
            self._run_tasks(arrays["world_status"], messages)

    def _run_tasks(self, status: IntArray, messages: dict[int, str]) -> None:
        free = {group: list(workers) for group, workers in self.workers.items()}
        ended: list[bool] = []  # not empty: nobody wants the rest
        if len(self._tasks) == 1:
            _run(self._tasks[0], free, ended, status, messages)
            return
        if self.pool is None or self._pool_forks != number_of_forks():  # the threads of a parent are not here
            self.pool, self._pool_forks = ThreadPoolExecutor(self._threads), number_of_forks()
        tasks: list[Any] = []
        try:
            for task in self._tasks:
                tasks.append(self.pool.submit(_run, task, free, ended, status, messages))
            for task in tasks:
                task.result()
        except BaseException:
            ended.append(True)
            wait(tasks)
            raise


def _run(
    task: Sequence[Piece],
    free: Mapping[int, list[WorldWorker]],
    ended: list[bool],
    status: IntArray,
    messages: dict[int, str],
) -> None:
    """Advances the worlds of one task: (group, first, end) of each piece."""
    for group, first, end in task:
        workers = free[group]
        worker = workers.pop()  # there are as many as threads can want at once
        try:
            worker.advance(first, end, status, messages, ended)
        finally:
            workers.append(worker)
