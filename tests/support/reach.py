"""Writes down which functions of the program each test calls: from it the tests near a change are chosen.

usage: MBCLI_JIT=0 python tests/support/reach.py FILE_OR_FOLDER ...

The first case of each test runs with kernels interpreted; one that fails, is skipped or takes more than some seconds is
left out. Calls of commands in processes of their own are not seen. Each test file has a file of its own in
`.pytest_cache/reach`, so that a run that was stopped goes on where it was.
"""

import json
import os
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest
from repository import ROOT

REACHED = ROOT / ".pytest_cache" / "reach"
SLOWEST = 4  # [s] of a test while its calls are written down, which takes about twice its time
PROGRAM = tuple(os.path.join(ROOT, name) + os.sep for name in ("mbcli", "parsers", "schemas"))


class TooSlowError(BaseException):
    """A test that takes too long to be in the quick set; a test that catches Exception does not catch it."""


def stop_test(*_):
    raise TooSlowError


class Reach:
    """A pytest plugin."""

    def __init__(self):
        self.of_tests = defaultdict(dict)  # by file, by test: (seconds, functions)
        self._codes, self._seconds, self._passed, self._last = set(), 0.0, True, None

    def _called(self, frame, event, _):
        if frame.f_code.co_filename.startswith(PROGRAM):
            self._codes.add(frame.f_code)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self._codes, self._passed, start = set(), True, time.perf_counter()
        signal.signal(signal.SIGALRM, stop_test)
        signal.alarm(SLOWEST)
        sys.settrace(self._called)
        yield
        sys.settrace(None)
        signal.alarm(0)
        seconds, file = time.perf_counter() - start, str(item.path.relative_to(ROOT))
        tests = self.of_tests[file]
        if self._passed and seconds < SLOWEST:
            functions = {
                (os.path.relpath(c.co_filename, ROOT), c.co_qualname.replace(".<locals>", "")) for c in self._codes
            }
            tests[item.function.__qualname__] = (round(seconds, 3), sorted(functions))
        if nextitem is None or nextitem.path != item.path:
            kept_at(file).write_text(json.dumps(tests))

    def pytest_runtest_logreport(self, report):
        self._passed = self._passed and report.passed


def kept_at(file):
    return REACHED / Path(file).with_suffix(".json").name


def main(places):
    REACHED.mkdir(parents=True, exist_ok=True)
    files = [
        f
        for place in places
        for f in ([Path(place)] if place.endswith(".py") else sorted(Path(place).rglob("test_*.py")))
    ]
    for file in files:
        if not kept_at(file).exists():
            pytest.main(
                [
                    "-q",
                    "--first-cases",
                    "-m",
                    "not peers and not usd",
                    "-p",
                    "no:cacheprovider",
                    "-p",
                    "no:xdist",
                    "--no-header",
                    str(file),
                ],
                plugins=[Reach()],
            )


if __name__ == "__main__":
    os.chdir(ROOT)
    main(sys.argv[1:])
