"""A batch of cases on a worker of a cluster: the function that engines send there, with texts alone in and out.

The cases run in a process beside the worker's own, which stays for the next batch: what ends it is known to be one
case, and the worker lives on.
"""

from __future__ import annotations

import json
import os
import platform
import threading
from contextlib import closing, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import mbcli
from mbcli.engine.runtime.kernel import may_compile
from mbcli.errors import MbcliError
from mbcli.sweeps.bundle import Bundle, UnpackedBundle, unpack
from mbcli.sweeps.cases import Cases
from mbcli.sweeps.local_workers import LocalWorkers
from mbcli.sweeps.point_run import FILE, OUT_OF_MEMORY, VERSION
from mbcli.sweeps.points import Point

SOURCE = """
def call(content, text):
    try:
        from mbcli.sweeps.tasks import run_task
    except Exception as error:
        import json, os, platform
        words = {"fault": "version", "message": f"has no mbcli of this version: {error}"}
        return json.dumps({"worker": f"{platform.node()}:{os.getpid()}", **words})
    return run_task(content, text)
"""  # what goes to a worker: nothing of it need be there

_lock = threading.Lock()
_unpacked: dict[str, UnpackedBundle] = {}
_idle: list[tuple[str, LocalWorkers]] = []


def task_text(digest: str, points: list[Point]) -> str:
    """A batch for run_task()."""
    numbers = [[point.index, point.seed, point.values] for point in points]
    return json.dumps({"program": program(), "digest": digest, "points": numbers})


def program() -> str:
    """What must be the same on all machines."""
    if not may_compile():
        return f"mbcli {mbcli.__version__}, interpreted"
    with suppress(PackageNotFoundError):
        return f"mbcli {mbcli.__version__}, numba {version('numba')}"
    return f"mbcli {mbcli.__version__}, without numba"


def run_task(content: bytes, text: str) -> str:
    """The rows of a batch, {"worker", "rows": [[number, row], ...]}, or {"worker", "fault", "message"}: why none began.

    content: that of the bundle. text: of task_text().
    """
    task, worker = json.loads(text), f"{platform.node()}:{os.getpid()}"
    try:
        if task["program"] != program():
            return _fault(worker, VERSION, f"has {program()}, the sweep has {task['program']}")
        unpacked = _unpacked_once(Bundle(task["digest"], content))
        rows = _rows(task["digest"], unpacked, [Point(*point) for point in task["points"]])
    except MemoryError:
        return _fault(worker, OUT_OF_MEMORY, "has no memory left")
    except (MbcliError, OSError) as error:
        return _fault(worker, FILE, str(error))
    return json.dumps({"worker": worker, "rows": rows})


def _fault(worker: str, fault: str, message: str) -> str:
    return json.dumps({"worker": worker, "fault": fault, "message": message.replace("\n", "; ")})


def _unpacked_once(bundle: Bundle) -> UnpackedBundle:
    """A process checks a bundle once."""
    with _lock:
        if bundle.digest not in _unpacked:
            _unpacked[bundle.digest] = unpack(bundle)
        return _unpacked[bundle.digest]


def _rows(digest: str, unpacked: UnpackedBundle, points: list[Point]) -> list[tuple[int, dict[str, Any]]]:
    workers = _taken(digest) or LocalWorkers(unpacked.job, 1, unpacked.folder)
    try:
        with closing(workers.run(Cases(points, len(points), None))) as running:
            rows = list(running)
    except BaseException:
        workers.close()
        raise
    with _lock:
        _idle.append((digest, workers))
    for _, row in rows:
        row["message"] = row["message"].replace(unpacked.top, "")
    return rows


def _taken(digest: str) -> LocalWorkers | None:
    """Idle workers of a bundle; those of others end."""
    with _lock:
        found = None
        for entry in list(_idle):
            if entry[0] != digest:
                _idle.remove(entry)
                entry[1].close()
            elif found is None:
                _idle.remove(entry)
                found = entry[1]
        return found
