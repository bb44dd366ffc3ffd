"""A pytest plugin: which functions of the program each test file calls, and its seconds, as JSON in MBCLI_REACHED."""

import json
import os
import sys
import time
from collections import defaultdict

ROOT = os.environ.get("MBCLI_REACHED_ROOT", "")
FOLDERS = tuple(os.path.join(ROOT, name) + os.sep for name in ("mbcli", "parsers"))
reached = defaultdict(set)  # by test file; "" while files are collected
seconds = defaultdict(float)
now = [""]


def _called(frame, event, argument):
    code = frame.f_code
    if code.co_filename.startswith(FOLDERS):
        reached[now[0]].add(code)


def pytest_configure(config):
    sys.settrace(_called)


def pytest_runtest_protocol(item, nextitem):
    now[0] = os.path.relpath(str(item.path), ROOT)
    if sys.gettrace() is None:
        sys.settrace(_called)


def pytest_runtest_logreport(report):
    seconds[now[0]] += report.duration


def pytest_sessionfinish(session):
    sys.settrace(None)
    functions = {
        name: sorted({(os.path.relpath(code.co_filename, ROOT), code.co_firstlineno) for code in codes})
        for name, codes in reached.items()
    }
    with open(os.environ["MBCLI_REACHED"], "w") as file:
        json.dump({"functions": functions, "seconds": seconds, "ended": time.time()}, file)
