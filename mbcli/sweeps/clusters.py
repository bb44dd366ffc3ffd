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
from mbcli.sweeps.tasks import task_text

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterable

    from mbcli.sweeps.bundle import Bundle
    from mbcli.sweeps.cases import Cases
    from mbcli.sweeps.points import Point

AHEAD = 2  # batches for each slot of the cluster
FIRST, MOST = 4, 50  # cases of a batch: before any is measured, and ever
BATCH_SECONDS = 5.0
TOLD = 3  # workers that are named in an error
JOINED_WITHIN = 5.0  # [s] for a worker to come, or to come back, where all that are there refuse
LOOKED = 0.2  # [s] between looks for it


class Reply(NamedTuple):
    """What came of a task: `text` of run_task(), or None and the `message` of an engine that lost it; the worker."""

    text: str | None
    message: str
    address: str


class Engine(Protocol):
    """Machines that run tasks."""

    def give(self, content: bytes) -> None:
        """Takes the bundle, which goes to each worker once."""

    def slots(self, without: Collection[str]) -> int:
        """How many tasks run at once, on workers but those of some addresses."""

    def submit(self, text: str, without: Collection[str]) -> Any:
        """Starts a task, on another worker than those if there is one; returns its key."""

    def ended(self) -> Iterable[tuple[Any, Reply]]:
        """Waits for tasks to end: (key, reply) of some. ResourceError if the cluster is gone."""

    def close(self) -> None:
        """Ends it."""


def run_on_cluster(
    bundle: Bundle, cases: Cases, engine: Engine
) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
    """Lists of (number of the point, its row) as batches end; the engine is closed behind them. bundle: of the job.

    Raises:
        ResourceError: the cluster is gone, or no worker of it can run a case.
    """
    try:
        yield from _run(bundle, cases, engine)
    finally:
        engine.close()


def _run(bundle: Bundle, cases: Cases, engine: Engine) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
    engine.give(bundle.content)
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
            points = cases.take(max(1, min(MOST, even, int(BATCH_SECONDS / max(mean, 1e-6)))))
            if not points:
                break
            without = {*refused, *avoided.get(points[0].index, ())}
            batches[engine.submit(task_text(bundle.digest, points), without)] = points
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
                if not _another(engine, refused):
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
                if row["status"] in OF_MACHINES:
                    avoided.setdefault(index, set()).add(reply.address)
                if cases.settle(by_index[index], row):
                    avoided.pop(index, None)
                    final.append((index, row | {"worker": document.get("worker", reply.address)}))
            if final:
                yield final


def _another(engine: Engine, refused: Collection[str]) -> bool:
    """Whether there is a worker but the refused ones, now or soon: workers join late, and lose their connection."""
    until = time.monotonic() + JOINED_WITHIN
    while not engine.slots(refused):
        if time.monotonic() >= until:
            return False
        time.sleep(LOOKED)
    return True
