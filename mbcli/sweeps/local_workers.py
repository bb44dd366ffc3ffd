"""Workers on this machine: processes of their own, each with the model loaded once, any of which may be killed.

A worker that dies costs the time of its point, which another one runs again, as cases.py says. A worker that exceeds
the time of a point and does not stop by itself is killed. One that lacks memory or a file ends, too.
"""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mbcli.common import child_processes
from mbcli.errors import MbcliError
from mbcli.sweeps.messages import job_text, point_text, receive, send
from mbcli.sweeps.point_run import LOST, OF_MACHINES, TIMEOUT, Job

STARTS = 3  # of workers in a row that die before their first point
GRACE = 5.0  # [s] after the time of a point, in which a worker stops by itself


if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias

    from mbcli.sweeps.cases import Cases
    from mbcli.sweeps.points import Point

    Replies: TypeAlias = queue.Queue[tuple["_Worker", list[Any]]]


class _Worker:
    """A process, and a thread that reads its replies."""

    def __init__(self, job: str, replies: Replies) -> None:
        self.point: Point | None = None
        self.is_ready = False
        self.since: float | None = None  # time.monotonic() when its point began
        self.process = child_processes.start(
            child_processes.python("-m", "mbcli.sweeps.worker", os.getcwd()),
            stdin=child_processes.PIPE,
            stdout=child_processes.PIPE,
            start_new_session=os.name == "posix",  # Ctrl-C is the sweep's
        )
        threading.Thread(target=self._read, args=(replies,), daemon=True).start()
        self.tell(job)

    def tell(self, text: str) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # it has died: its thread says so
            send(self.process.stdin, text)

    def give(self, point: Point) -> None:
        self.point, self.since = point, None
        self.tell(point_text(point))

    def _read(self, replies: Replies) -> None:
        stdout = self.process.stdout
        assert stdout is not None
        try:
            while (message := receive(stdout)) is not None:
                replies.put((self, json.loads(message)))
        except (OSError, ValueError):
            pass
        replies.put((self, ["died"]))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def run_locally(job: Job, cases: Cases, jobs: int) -> Generator[tuple[int, dict[str, Any]], None, None]:
    """(number of the point, its row) as points end, by `jobs` processes.

    MbcliError if workers cannot start. Closing the iterator kills the workers.
    """
    replies: Replies = queue.Queue()
    failed_starts = 0
    content = job_text(job)
    workers = [_Worker(content, replies) for _ in range(min(jobs, cases.left))]
    try:
        while cases.left:
            try:
                worker, message = replies.get(timeout=0.5)
            except queue.Empty:
                for late in workers:
                    if _overdue(job, late):
                        late.process.kill()
                continue
            if worker not in workers:
                continue
            if message[0] == "begins":
                worker.since = time.monotonic()
                continue
            if message[0] == "failed":
                raise MbcliError(f"a worker could not load the model: {message[1]}")
            point, row = worker.point, message[2] if message[0] == "row" else None
            if message[0] == "died":
                failed_starts = 0 if worker.is_ready else failed_starts + 1
                code = worker.process.wait()
                if failed_starts >= STARTS:
                    raise MbcliError(f"workers die before their first run (exit code {code})")
                row = None if point is None else _row_of_death(job, worker, code)
            worker.is_ready, worker.point = True, None
            is_final = point is not None and row is not None and cases.settle(point, row)
            if message[0] == "died" or (row is not None and row["status"] in OF_MACHINES):
                workers.remove(worker)
                worker.end()
                if cases.left > sum(each.point is not None for each in workers):
                    workers.append(_Worker(content, replies))
            elif following := cases.take():
                worker.give(following[0])
            if is_final:
                assert point is not None and row is not None
                yield point.index, row
    finally:
        for worker in workers:
            worker.end()


def _overdue(job: Job, worker: _Worker) -> bool:
    if worker.point is None or worker.since is None or job.timeout is None:
        return False
    return time.monotonic() - worker.since > job.timeout + GRACE


def _row_of_death(job: Job, worker: _Worker, code: int) -> dict[str, Any]:
    """The row of the point of a worker that died."""
    passed = 0.0 if worker.since is None else time.monotonic() - worker.since
    if _overdue(job, worker):
        return {"status": TIMEOUT, "message": f"stopped after {job.timeout:g} s", "wall_time": passed}
    ended = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return {"status": LOST, "message": f"its worker ended {ended}", "wall_time": passed}
