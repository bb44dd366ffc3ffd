"""A batch of cases on a worker of a cluster: the function that engines send there, texts and files in, a text out.

The cases run in a process beside the worker's own, which stays for the next batch: what ends it is known to be one
case, and the worker lives on.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tempfile
import threading
from contextlib import closing, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mbcli
from mbcli.common.left_behind import folder_prefix
from mbcli.engine.runtime.kernel import may_compile
from mbcli.errors import MbcliError, ModelError
from mbcli.sweeps.bundle import Bundle, UnpackedBundle, unpack
from mbcli.sweeps.carried_files import carried_path
from mbcli.sweeps.cases import Cases
from mbcli.sweeps.clusters import MOST
from mbcli.sweeps.local_workers import LocalWorkers
from mbcli.sweeps.messages import Work, work_of
from mbcli.sweeps.point_run import FILE, OUT_OF_MEMORY, VERSION
from mbcli.sweeps.points import Point

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = """
def call(text, *contents):
    try:
        from mbcli.sweeps.tasks import run_task
    except Exception as error:
        import json, os, platform
        words = {"fault": "version", "message": f"has no mbcli of this version: {error}"}
        return json.dumps({"worker": f"{platform.node()}:{os.getpid()}", **words})
    return run_task(text, *contents)
"""  # what goes to a worker: nothing of it need be there

OF_FILES = ("mbcli.cli.file_worker",)  # modules of processes for cases over files

_lock = threading.Lock()
_unpacked: dict[str, UnpackedBundle] = {}
_idle: list[tuple[str, LocalWorkers]] = []


class SweepCargo:
    """What goes to a cluster for the points of a sweep: its bundle, and their numbers."""

    most = MOST

    def __init__(self, bundle: Bundle) -> None:
        self.content, self._digest = bundle.content, bundle.digest

    def task(self, points: Sequence[Point]) -> tuple[str, dict[str, bytes]]:
        """The text of run_task() for a batch, and the contents that go with it alone, by their sum."""
        return task_text(self._digest, points), {}

    def is_answered(self, point: Point, row: Mapping[str, Any]) -> bool:
        """Whether a row asks for more, and the case is to be sent again with that."""
        return False


def task_text(digest: str, points: Sequence[Point]) -> str:
    """A batch of points for run_task()."""
    numbers = [[point.index, point.seed, point.values] for point in points]
    return json.dumps({"program": program(), "digest": digest, "points": numbers})


def files_text(work: Work, folder: str, points: Sequence[Point], files: Mapping[str, str]) -> str:
    """A batch of cases over files for run_task().

    folder: the working folder of the client. files: {path: sum over its content} of what goes with the text.
    """
    cases = [[point.index, point.values] for point in points]
    return json.dumps({"program": program(), "work": work, "folder": folder, "cases": cases, "files": files})


def program() -> str:
    """What must be the same on all machines."""
    if not may_compile():
        return f"mbcli {mbcli.__version__}, interpreted"
    with suppress(PackageNotFoundError):
        return f"mbcli {mbcli.__version__}, numba {version('numba')}"
    return f"mbcli {mbcli.__version__}, without numba"


def run_task(text: str, *contents: bytes) -> str:
    """The rows of a batch, {"worker", "rows": [[number, row], ...]}, or {"worker", "fault", "message"}: why none began.

    text: of task_text(), with the content of the bundle; or of files_text(), with those of the files.
    """
    task, worker = json.loads(text), f"{platform.node()}:{os.getpid()}"
    try:
        if task["program"] != program():
            return _fault(worker, VERSION, f"has {program()}, the sweep has {task['program']}")
        rows = _rows_of_files(task, contents) if "work" in task else _rows_of_points(task, *contents)
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


def _rows_of_points(task: Mapping[str, Any], content: bytes) -> list[tuple[int, dict[str, Any]]]:
    unpacked = _unpacked_once(Bundle(task["digest"], content))
    points = [Point(*point) for point in task["points"]]
    rows = _rows(task["digest"], work_of(unpacked.job), unpacked.folder, points)
    for _, row in rows:
        row["message"] = row["message"].replace(unpacked.top, "")
    return rows


def _rows_of_files(task: Mapping[str, Any], contents: Sequence[bytes]) -> list[tuple[int, dict[str, Any]]]:
    """Rows of cases over files, which lie below a folder that goes with the batch: no path in a row tells of it."""
    by_sum = {hashlib.sha256(content).hexdigest(): content for content in contents}
    work = Work(*task["work"])
    if work.module not in OF_FILES:
        raise ModelError(f"{work.module[:100]!r} is no program over files")
    with tempfile.TemporaryDirectory(prefix=folder_prefix("files"), ignore_cleanup_errors=True) as folder:
        top = os.path.realpath(folder)
        for path, sha256 in task["files"].items():
            there = Path(carried_path(top, path))
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(by_sum[sha256])
        work_folder = carried_path(top, task["folder"])
        os.makedirs(work_folder, exist_ok=True)
        places = {"top": top, "folder": work_folder}
        points = [Point(index, 0, values | places) for index, values in task["cases"]]
        rows = json.dumps(_rows(work.text, work, top, points))
    return json.loads(rows.replace(json.dumps(top)[1:-1], ""))


def _rows(digest: str, work: Work, folder: str, points: list[Point]) -> list[tuple[int, dict[str, Any]]]:
    workers = _taken(digest) or LocalWorkers(work, 1, folder)
    try:
        with closing(workers.run(Cases(points, len(points), None))) as running:
            rows = [entry for entries in running for entry in entries]
    except BaseException:
        workers.close()
        raise
    with _lock:
        _idle.append((digest, workers))
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
