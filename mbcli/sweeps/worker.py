"""The process of a local worker: `python -m mbcli.sweeps.worker FOLDER` reads a job and points, and answers with rows.

Relative paths of the job start from FOLDER. Messages are lines of JSON on the standard input and output of the process.
What a library prints goes to the standard error.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mbcli.sweeps.points import Point


class Runner(Protocol):
    """What runs cases."""

    def row(self, point: Point, on_begin: Callable[[], None]) -> dict[str, Any]:
        """The row of a case. on_begin: called when nothing more is to be loaded for it."""


def main(make_runner: Callable[[str], Runner]) -> None:
    """Works until nothing more comes. make_runner: of the first line that comes; it imports what it takes."""
    replies = open(os.dup(1), "wb", buffering=0)  # noqa: SIM115 - until the process ends
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    from mbcli.sweeps.messages import read_point, receive, send

    work = receive(requests)
    with suppress(OSError):  # it may have been removed
        os.chdir(sys.argv[1])
    if work is None:
        return
    try:
        runner = make_runner(work)
    except Exception as error:
        send(replies, json.dumps(["failed", f"{type(error).__name__}: {error}"]))
        return
    gc.freeze()  # what is loaded stays
    send(replies, json.dumps(["ready"]))
    while (text := receive(requests)) is not None:
        point = read_point(text)
        row = runner.row(point, on_begin=lambda: send(replies, json.dumps(["begins"])))
        send(replies, json.dumps(["row", point.index, row]))


def run(make_runner: Callable[[str], Runner]) -> None:
    """main() as a program."""
    try:
        main(make_runner)
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)  # the sweep has ended


def _of_job(text: str) -> Runner:
    from mbcli.sweeps.messages import read_job
    from mbcli.sweeps.point_run import PointRunner

    runner = PointRunner(read_job(text))
    runner.loaded()
    return runner


if __name__ == "__main__":
    run(_of_job)
