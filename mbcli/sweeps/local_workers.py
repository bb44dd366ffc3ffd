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
from mbcli.sweeps.messages import point_text, receive, send
from mbcli.sweeps.point_run import LOST, OF_MACHINES, TIMEOUT

STARTS = 3  # of workers in a row that die before their first point
GRACE = 5.0  # [s] after the time of a point, in which a worker stops by itself


if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias

    from mbcli.sweeps.cases import Cases
    from mbcli.sweeps.messages import Work
    from mbcli.sweeps.points import Point

    Replies: TypeAlias = queue.Queue[tuple["_Worker", list[Any]]]


class _Worker:
    """A process, and a thread that reads its replies."""

    def __init__(self, work: Work, replies: Replies, folder: str) -> None:
        self.point: Point | None = None
        self.is_ready = False
        self.since: float | None = None  # time.monotonic() when its point began
        self.process = child_processes.start(
            child_processes.python("-m", work.module, folder),
            stdin=child_processes.PIPE,
            stdout=child_processes.PIPE,
            start_new_session=os.name == "posix",  # Ctrl-C is the sweep's
        )
        threading.Thread(target=self._read, args=(replies,), daemon=True).start()
        self.tell(work.text)

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


class LocalWorkers:
    """`jobs` processes that run cases, and stay for more. folder: where relative paths start."""

    def __init__(self, work: Work, jobs: int, folder: str) -> None:
        self._work, self._jobs, self._folder = work, jobs, folder
        self._replies: Replies = queue.Queue()
        self._workers: list[_Worker] = []

    def close(self) -> None:
        """Ends the processes."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _add(self) -> None:
        self._workers.append(_Worker(self._work, self._replies, self._folder))

    def run(self, cases: Cases) -> Generator[tuple[int, dict[str, Any]], None, None]:
        """(number of the point, its row) as cases end. MbcliError if processes cannot start."""
        failed_starts = 0
        for worker in self._workers:
            if following := cases.take():
                worker.give(following[0])
        while len(self._workers) < min(self._jobs, cases.left):
            self._add()
        while cases.left:
            try:
                worker, message = self._replies.get(timeout=0.5)
            except queue.Empty:
                for late in self._workers:
                    if _overdue(self._work, late):
                        late.process.kill()
                continue
            if worker not in self._workers:
                continue
            if message[0] == "begins":
                worker.since = time.monotonic()
                continue
            if message[0] == "failed":
                raise MbcliError(f"a worker could not begin: {message[1]}")
            point, row = worker.point, message[2] if message[0] == "row" else None
            if message[0] == "died":
                failed_starts = 0 if worker.is_ready else failed_starts + 1
                code = worker.process.wait()
                if failed_starts >= STARTS:
                    raise MbcliError(f"workers die before their first run (exit code {code})")
                row = None if point is None else _row_of_death(self._work, worker, code)
            worker.is_ready, worker.point = True, None
            is_final = point is not None and row is not None and cases.settle(point, row)
            if message[0] == "died" or (row is not None and row["status"] in OF_MACHINES):
                self._workers.remove(worker)
                worker.end()
                if cases.left > sum(each.point is not None for each in self._workers):
                    self._add()
            elif following := cases.take():
                worker.give(following[0])
            if is_final:
                assert point is not None and row is not None
                yield point.index, row


def run_locally(
    work: Work, cases: Cases, jobs: int, top: str = "", folder: str | None = None
) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
    """Lists of (number of the point, its row) as points end, by `jobs` processes.

    top: the folder of its files, which messages do not name. folder: as of LocalWorkers; None: the working one.

    MbcliError if workers cannot start. Closing the iterator kills the workers.
    """
    workers = LocalWorkers(work, jobs, folder or os.getcwd())
    try:
        for index, row in workers.run(cases):
            row["message"] = row["message"].replace(top, "") if top else row["message"]
            yield [(index, row)]
    finally:
        workers.close()


def _overdue(work: Work, worker: _Worker) -> bool:
    if worker.point is None or worker.since is None or work.timeout is None:
        return False
    return time.monotonic() - worker.since > work.timeout + GRACE


def _row_of_death(work: Work, worker: _Worker, code: int) -> dict[str, Any]:
    """The row of the point of a worker that died."""
    passed = 0.0 if worker.since is None else time.monotonic() - worker.since
    if _overdue(work, worker):
        return {"status": TIMEOUT, "message": f"stopped after {work.timeout:g} s", "wall_time": passed}
    ended = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return {"status": LOST, "message": f"its worker ended {ended}", "wall_time": passed}
