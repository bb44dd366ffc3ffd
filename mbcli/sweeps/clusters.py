"""The cases of a sweep on a cluster: batches by their measured time, another worker after a fault, rows as they come.

An engine (dask_workers.py, ray_workers.py) carries texts: it starts tasks.run_task() somewhere and hands over what that
gives. It knows nothing of models.
"""

from __future__ import annotations

import json
import math
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mbcli.errors import ResourceError
from mbcli.sweeps.point_run import LOST, OF_MACHINES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence

    from mbcli.sweeps.cases import Cases
    from mbcli.sweeps.points import Point

AHEAD = 2  # batches for each slot of the cluster
FIRST, MOST = 4, 250  # cases of a batch: before any is measured, and ever of a sweep
KEPT_BYTES = 1 << 28  # of files that an engine keeps for tasks to come
BATCH_SECONDS = 5.0
TOLD = 3  # workers that are named in an error
JOINED_WITHIN = 5.0  # [s] for a worker to come, or to come back, where all that are there refuse
LOOKED = 0.2  # [s] between looks for it


class Reply(NamedTuple):
    """What came of a task: `text` of run_task(), or None and the `message` of an engine that lost it; the worker."""

    text: str | None
    message: str
    address: str


class Cargo(Protocol):
    """What cases need on a worker."""

    content: bytes  # what goes to each worker once; empty if there is nothing
    most: int  # cases of a batch

    def task(self, points: Sequence[Point]) -> tuple[str, Mapping[str, bytes]]:
        """The text of run_task() for a batch, and the contents that go with it alone, by their sum."""

    def is_answered(self, point: Point, row: Mapping[str, Any]) -> bool:
        """Whether a row asks for more, and the case is to be sent again with that."""


class Engine(Protocol):
    """Machines that run tasks."""

    def give(self, content: bytes) -> None:
        """Takes what goes to each worker once, for all tasks to come."""

    def slots(self, without: Collection[str]) -> int:
        """How many tasks run at once, on workers but those of some addresses."""

    def submit(self, text: str, files: Mapping[str, bytes], without: Collection[str]) -> Any:
        """Starts a task with contents by their sum, on another worker than those if there is one; returns its key."""

    def ended(self) -> Iterable[tuple[Any, Reply]]:
        """Waits for tasks to end: (key, reply) of some. ResourceError if the cluster is gone."""

    def objects(self, kind: Callable[[], Any], count: int) -> list[tuple[str, Callable[..., Callable[[], Any]]]]:
        """Objects of a class that stay on workers: (where, a function that starts do(...) and gives what waits for it).

        What waits raises whatever the cluster does if the worker is gone.
        """

    def close(self) -> None:
        """Ends it."""


class RecentFiles:
    """What an engine has for files that tasks needed, the last ones: a file of many models is sent once.

    put: gives contents to the engine. is_there: whether one of those that it gave back is still there.
    """

    def __init__(
        self, put: Callable[[list[bytes]], list[Any]], is_there: Callable[[Any], bool] = lambda handle: True
    ) -> None:
        self._put, self._is_there = put, is_there
        self._kept: dict[str, tuple[int, Any]] = {}

    def of(self, files: Mapping[str, bytes]) -> list[Any]:
        """What there is for these contents, in their order."""
        kept = {sha256: self._kept.pop(sha256) for sha256 in files if sha256 in self._kept}
        kept = {sha256: entry for sha256, entry in kept.items() if self._is_there(entry[1])}
        new = [sha256 for sha256 in files if sha256 not in kept]
        if new:
            put = self._put([files[sha256] for sha256 in new])
            kept |= {sha256: (len(files[sha256]), handle) for sha256, handle in zip(new, put, strict=True)}
        self._kept |= kept  # the last ones used are the last
        found = [kept[sha256][1] for sha256 in files]
        while sum(size for size, _ in self._kept.values()) > KEPT_BYTES:
            del self._kept[next(iter(self._kept))]
        return found


def run_on_cluster(
    cargo: Cargo, cases: Cases, engine: Engine
) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
    """Lists of (number of the point, its row) as batches end; the engine is closed behind them.

    Raises:
        ResourceError: the cluster is gone, or no worker of it can run a case.
    """
    try:
        yield from _run(cargo, cases, engine)
    finally:
        engine.close()


def _run(cargo: Cargo, cases: Cases, engine: Engine) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
    engine.give(cargo.content)
    batches: dict[Any, list[Point]] = {}
    refused: dict[str, str] = {}  # workers that can run nothing, and why
    avoided: dict[int, set[str]] = {}  # of cases that a machine has spoilt
    taken, seconds = 0, 0.0
    while cases.left:
        slots = max(1, engine.slots(refused))
        while len(batches) < AHEAD * slots:
            mean = seconds / taken if taken else BATCH_SECONDS / FIRST
            waiting = cases.left - sum(map(len, batches.values()))
            even = math.ceil(waiting / (AHEAD * slots))
            points = cases.take(max(1, min(cargo.most, even, int(BATCH_SECONDS / max(mean, 1e-6)))))
            if not points:
                break
            without = {*refused, *avoided.get(points[0].index, ())}
            batches[engine.submit(*cargo.task(points), without)] = points
        for key, reply in engine.ended():
            points = batches.pop(key)
            document = {} if reply.text is None else json.loads(reply.text)
            if "fault" in document:
                if reply.address not in refused:
                    refused[reply.address] = f"{document['worker']} {document['message']}"
                    warnings.warn(
                        f"worker {refused[reply.address]}: it gets no more runs", RuntimeWarning, stacklevel=2
                    )
                cases.put_back(points)
                if not have_joined(engine, refused):
                    raise ResourceError("no worker can run the sweep: " + "; ".join(list(refused.values())[:TOLD]))
                continue
            rows = document.get("rows")
            if rows is None:
                rows = [[point.index, {"status": LOST, "message": reply.message, "wall_time": 0.0}] for point in points]
            taken += len(rows)
            seconds += sum(row["wall_time"] for _, row in rows)
            by_index = {point.index: point for point in points}
            final = []
            for index, row in rows:
                if cargo.is_answered(by_index[index], row):
                    cases.put_back([by_index[index]])
                    continue
                if row["status"] in OF_MACHINES:
                    avoided.setdefault(index, set()).add(reply.address)
                if cases.settle(by_index[index], row):
                    avoided.pop(index, None)
                    final.append((index, row | {"worker": document.get("worker", reply.address)}))
            if final:
                yield final


def have_joined(engine: Engine, without: Collection[str] = (), count: int = 1) -> bool:
    """Whether so many tasks run at once, now or soon: workers join late, and lose their connection."""
    until = time.monotonic() + JOINED_WITHIN
    while engine.slots(without) < count:
        if time.monotonic() >= until:
            return False
        time.sleep(LOOKED)
    return True
