"""MBCLI_PRECOMPILE=1 puts compiled kernels into the wheel, MBCLI_PRECOMPILE=here those of the processor that builds it.

mbcli/engine/precompile.py makes them; pyproject.toml has all else but the list of packages.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PRECOMPILES = os.environ.get("MBCLI_PRECOMPILE", "0") not in ("", "0")


class BuildWithKernels(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return
        folder = Path(self.build_lib, "mbcli", "engine", "precompiled").resolve()
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier build in this checkout
        if not PRECOMPILES:
            return
        # As common/child_processes.py starts others; nothing is imported from there before it is built. mbcli is found
        # here, and numba where pip has put it for this build
        known = filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        path = os.pathsep.join([os.fspath(ROOT), *known])
        only_here = ["--here"] if os.environ["MBCLI_PRECOMPILE"] == "here" else []
        command = [sys.executable, "-P", "-m", "mbcli.engine.precompile", *only_here, folder]
        done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path})
        if done.returncode:
            sys.exit("mbcli: error: MBCLI_PRECOMPILE=1, and kernels were not compiled, for the reason above")


class WheelOfThisMachine(bdist_wheel):
    """A wheel with kernels is for the system and the Python that it was built on."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not PRECOMPILES


def packages():
    """{package: its folder}; parsers/ and schemas/ stand at the top level and are installed inside the package."""
    found = {}
    for top, name in (("mbcli", "mbcli"), ("parsers", "mbcli.parsers"), ("schemas", "mbcli.schemas")):
        for file in sorted((ROOT / top).rglob("__init__.py")):
            folder = file.parent.relative_to(ROOT)
            found[".".join((name, *folder.parts[1:]))] = folder.as_posix()
    return found


setup(
    packages=[*packages()],
    package_dir=packages(),
    cmdclass={"build_py": BuildWithKernels, "bdist_wheel": WheelOfThisMachine},
)
