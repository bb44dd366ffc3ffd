"""The process of a local worker: `python -m mbcli.sweeps.worker` reads a job and points, and answers with rows.

Messages are pickles, each after its length in 8 bytes, on the standard input and output of the process. What a library
prints goes to the standard error.
"""

import os
import pickle
import struct
import sys
import traceback
from typing import Any, BinaryIO

LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, message: Any) -> None:
    """Writes a message. OSError if nobody reads it."""
    content = pickle.dumps(message)
    left = memoryview(LENGTH.pack(len(content)) + content)
    while left:
        left = left[stream.write(left) :]
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Reads a message; None at the end of the stream, or of one that was cut."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    content = stream.read(length)
    return pickle.loads(content) if len(content) == length else None


def main() -> None:
    """Works until nothing more comes."""
    replies = open(os.dup(1), "wb", buffering=0)  # noqa: SIM115 - until the process ends
    os.dup2(2, 1)
    requests = sys.stdin.buffer
    from mbcli.sweeps.point_run import PointRunner

    job = receive(requests)
    if job is None:
        return
    try:
        runner = PointRunner(job)
        runner.loaded()
    except Exception as error:
        send(replies, ("failed", f"{type(error).__name__}: {error}", traceback.format_exc()))
        return
    send(replies, ("ready",))
    while (point := receive(requests)) is not None:
        row = runner.row(point, on_begin=lambda: send(replies, ("begins",)))
        send(replies, ("row", point.index, row))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)  # the sweep has ended
