"""The process of a local worker: `python -m mbcli.sweeps.worker FOLDER` reads a job and points, and answers with rows.

Relative paths of the job start from FOLDER. Messages are lines of JSON on the standard input and output of the process.
What a library prints goes to the standard error.
"""

import json
import os
import sys
from contextlib import suppress


def main() -> None:
    """Works until nothing more comes."""
    replies = open(os.dup(1), "wb", buffering=0)  # noqa: SIM115 - until the process ends
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    from mbcli.sweeps.messages import read_job, read_point, receive, send
    from mbcli.sweeps.point_run import PointRunner

    job = receive(requests)
    with suppress(OSError):  # it may have been removed
        os.chdir(sys.argv[1])
    if job is None:
        return
    try:
        runner = PointRunner(read_job(job))
        runner.loaded()
    except Exception as error:
        send(replies, json.dumps(["failed", f"{type(error).__name__}: {error}"]))
        return
    send(replies, json.dumps(["ready"]))
    while (text := receive(requests)) is not None:
        point = read_point(text)
        row = runner.row(point, on_begin=lambda: send(replies, json.dumps(["begins"])))
        send(replies, json.dumps(["row", point.index, row]))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)  # the sweep has ended
