"""A check in a process of its own: what walks all objects takes seconds where all tests are imported."""

import os
import subprocess
import sys


def run_alone(check):
    """Calls a function of a test file in a new process; AssertionError, with its words, if it fails."""
    folders = os.pathsep.join([*filter(None, sys.path), os.environ.get("PYTHONPATH", "")])
    code = f"import {check.__module__} as file; file.{check.__name__}()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": folders}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
