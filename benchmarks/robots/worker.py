"""A process that reads one file after the other with one program, and is started again where that program dies."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START_LIMIT = 120.0  # [s] to import a program
MOST_FILES = 500  # of one process: programs keep memory


class NotInstalled(Exception):
    """A reader's program is missing."""


class Worker:
    """Asks one reader of READERS about files, in a process of its own.

    limit: [s] for one file.
    """

    def __init__(self, reader, limit):
        self.reader, self.limit = reader, limit
        self._process, self._received, self._asked = None, b"", 0
        self._folder = tempfile.TemporaryDirectory()  # where programs leave what they write

    def ask(self, path, folder, file_format):
        """What the reader returns; {"read": False, "died": True, "error"} if it crashes or takes too long."""
        if self._asked == MOST_FILES:
            self._finish()
        if self._process is None:
            self._start()
        self._asked += 1
        request = {"path": str(path), "folder": str(folder), "file_format": file_format}
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"read": False, "died": True, "error": self._end()}
        answer = self._line(self.limit)
        return json.loads(answer) if answer else {"read": False, "died": True, "error": self._end()}

    def close(self):
        if self._process is not None:
            self._finish()
        self._folder.cleanup()

    def _finish(self):
        self._process.stdin.close()
        self._end()

    def _start(self):
        command = [sys.executable, "-m", "benchmarks.robots.worker", self.reader]
        self._process = subprocess.Popen(
            command,
            cwd=self._folder.name,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._received, self._asked = b"", 0
        ready = self._line(START_LIMIT)
        if not ready or json.loads(ready) != "ready":
            self._end()
            raise NotInstalled(self.reader)

    def _line(self, limit):
        """The next line of the process, None if it has ended or the time is over."""
        output, end = self._process.stdout.fileno(), time.monotonic() + limit
        while b"\n" not in self._received:
            if not select.select([output], [], [], max(0.0, end - time.monotonic()))[0]:
                return None
            part = os.read(output, 1 << 16)
            if not part:
                return None
            self._received += part
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _end(self):
        """Ends the process; why it did not answer."""
        process, self._process = self._process, None
        try:
            code = process.wait(1.0)  # that of one that has crashed
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"longer than {self.limit:g} s"
        finally:
            process.stdout.close()
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"died with exit code {code}"


def main(reader):
    """Answers requests on stdin, one line each; what programs print themselves is dropped."""
    from benchmarks.robots.readers import READERS

    answers = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    get_ready, read = READERS[reader]
    try:
        get_ready()
    except ImportError:
        print(json.dumps("missing"), file=answers, flush=True)
        return
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(read(**json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
