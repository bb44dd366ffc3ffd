"""Puts compiled kernels into wheels (mbcli/engine/precompile.py); pyproject.toml has all else.

MBCLI_PURE_WHEEL=1 makes a wheel without them, and so does a machine that cannot compile them, which is said.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PRECOMPILE = [sys.executable, "-P", "-m", "mbcli.engine.precompile"]


def why_pure():
    """Why the wheel has no compiled kernels; "" if it has them."""
    if os.environ.get("MBCLI_PURE_WHEEL", "0") not in ("", "0"):
        return "MBCLI_PURE_WHEEL is set"
    answer = subprocess.run([*PRECOMPILE, "--why-not"], env=environment(), capture_output=True, text=True)
    return answer.stdout.strip() if answer.returncode == 0 else "numpy is not installed"


def environment():
    """For a process that finds mbcli here, and numba where pip has put it for this build."""
    path = os.pathsep.join([os.fspath(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": path}


class BuildWithKernels(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return
        reason = why_pure()
        if reason:
            print(f"mbcli: a wheel without compiled kernels: {reason}", file=sys.stderr)
            return
        folder = Path(self.build_lib, "mbcli", "engine", "precompiled").resolve()
        subprocess.run([*PRECOMPILE, folder], env=environment(), check=True)


class WheelOfThisMachine(bdist_wheel):
    """A wheel with kernels is for the system and the Python that it was built on."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = bool(why_pure())


setup(cmdclass={"build_py": BuildWithKernels, "bdist_wheel": WheelOfThisMachine})
