"""Workers on this machine: processes of their own, each with the model loaded once, any of which may be killed.

A worker that dies costs the time of its point, which another one runs again, as cases.py says. A worker that exceeds
the time of a point and does not stop by itself is killed. One that lacks memory or a file ends, too. Points of short
runs wait at the workers, which do not wait for this process: it may itself wait for a disk.
"""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from mbcli.common import child_processes
from mbcli.errors import MbcliError
from mbcli.sweeps.messages import point_text, send
from mbcli.sweeps.point_run import LOST, OF_MACHINES, TIMEOUT

STARTS = 3  # of workers in a row that die before their first point
GRACE = 5.0  # [s] after the time of a point, in which a worker stops by itself
AHEAD_SECONDS, MOST_AHEAD = 0.2, 64  # of points that wait at a worker
MANY_AHEAD, PAUSE = 16, 0.005  # [s] between looks for replies of a worker at which so many wait
LARGEST_CHUNK = 1 << 16


if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias

    from mbcli.sweeps.cases import Cases
    from mbcli.sweeps.messages import Work
    from mbcli.sweeps.points import Point

    Replies: TypeAlias = queue.Queue[tuple["_Worker", list[Any]]]


class _Worker:
    """A process, and a thread that reads its replies.

    points: that it has, which it runs in their order. since: time.monotonic() when the first of them began. pause: [s]
    between looks for replies, of which many come at once.
    """

    def __init__(self, work: Work, replies: Replies, folder: str) -> None:
        self.points: deque[Point] = deque()
        self.is_ready = False
        self.since: float | None = None
        self.pause = 0.0
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

    def give(self, points: list[Point]) -> None:
        self.points.extend(points)
        if points:
            self.tell("\n".join(map(point_text, points)))

    def _read(self, replies: Replies) -> None:
        stdout: Any = self.process.stdout
        rest = b""
        try:
            while chunk := stdout.read1(LARGEST_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    replies.put((self, json.loads(line)))
                time.sleep(self.pause)
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
        self._seconds, self._ended = 0.0, 0  # of cases

    def close(self) -> None:
        """Ends the processes."""
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _add(self) -> None:
        self._workers.append(_Worker(self._work, self._replies, self._folder))

    def run(self, cases: Cases) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
        """Lists of (number of the point, its row) as cases end. MbcliError if processes cannot start."""
        self._failed_starts = 0
        self._fill(cases)
        while len(self._workers) < min(self._jobs, cases.left):
            self._add()
        while cases.left:
            found = []
            try:
                replies = [self._replies.get(timeout=0.5)]
                while not self._replies.empty():
                    replies.append(self._replies.get())
            except queue.Empty:
                for late in self._workers:
                    if _overdue(self._work, late):
                        late.process.kill()
                continue
            for worker, message in replies:
                if worker in self._workers:
                    found += self._hear(worker, message, cases)
            self._fill(cases)
            if found:
                yield found

    def _fill(self, cases: Cases) -> None:
        """Gives points to the workers that are ready and have few: what takes long waits for whoever is free."""
        ready = [worker for worker in self._workers if worker.is_ready]
        share = cases.left // (2 * self._jobs)
        ahead = min(MOST_AHEAD, share, int(AHEAD_SECONDS * self._ended / max(self._seconds, 1e-9)))
        for worker in ready:
            taken: list[Point] = []
            if len(worker.points) <= ahead // 2:
                while len(worker.points) + len(taken) < 1 + ahead and (following := cases.take()):
                    taken += following
            worker.pause = PAUSE if ahead >= MANY_AHEAD else 0.0
            worker.give(taken)

    def _hear(self, worker: _Worker, message: list[Any], cases: Cases) -> list[tuple[int, dict[str, Any]]]:
        """What a message of a worker is, and what it says of a case for good."""
        if message[0] == "begins":
            worker.since = time.monotonic()
            return []
        if message[0] == "failed":
            raise MbcliError(f"a worker could not begin: {message[1]}")
        row, has_died = message[2] if message[0] == "row" else None, message[0] == "died"
        if has_died:
            self._failed_starts = 0 if worker.is_ready else self._failed_starts + 1
            code = worker.process.wait()
            if self._failed_starts >= STARTS:
                raise MbcliError(f"workers die before their first run (exit code {code})")
            row = _row_of_death(self._work, worker, code) if worker.points else None
        worker.is_ready = True
        final = []
        if row is not None:
            point, worker.since = worker.points.popleft(), None
            self._seconds, self._ended = self._seconds + row["wall_time"], self._ended + 1
            if cases.settle(point, row):
                final = [(point.index, row)]
        if has_died or (row is not None and row["status"] in OF_MACHINES):
            self._workers.remove(worker)
            worker.end()
            cases.put_back(worker.points)
            if cases.left > sum(len(each.points) for each in self._workers):
                self._add()
        return final


def run_locally(
    work: Work, cases: Cases, jobs: int, top: str = "", folder: str | None = None
) -> Generator[list[tuple[int, dict[str, Any]]], None, None]:
    """Lists of (number of the point, its row) as points end, by `jobs` processes.

    top: the folder of its files, which messages do not name. folder: as of LocalWorkers; None: the working one.

    MbcliError if workers cannot start. Closing the iterator kills the workers.
    """
    workers = LocalWorkers(work, jobs, folder or os.getcwd())
    try:
        for rows in workers.run(cases):
            for _, row in rows if top else ():
                row["message"] = row["message"].replace(top, "")
            yield rows
    finally:
        workers.close()


def _overdue(work: Work, worker: _Worker) -> bool:
    if not worker.points or worker.since is None or work.timeout is None:
        return False
    return time.monotonic() - worker.since > work.timeout + GRACE


def _row_of_death(work: Work, worker: _Worker, code: int) -> dict[str, Any]:
    """The row of the point of a worker that died."""
    passed = 0.0 if worker.since is None else time.monotonic() - worker.since
    if _overdue(work, worker):
        return {"status": TIMEOUT, "message": f"stopped after {work.timeout:g} s", "wall_time": passed}
    ended = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return {"status": LOST, "message": f"its worker ended {ended}", "wall_time": passed}
