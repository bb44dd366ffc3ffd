"""The only place that starts other processes; `tests/project/test_child_processes.py` holds it.

No child sees the working folder of the user, unless it is the user's own program: it starts in a folder that nobody
else fills, without that folder on the path of modules (`-P`) or of programs. So no module, program or setting that lies
beside a model file acts.
"""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import tempfile
from subprocess import DEVNULL, PIPE, TimeoutExpired
from typing import TYPE_CHECKING, Any

from mbcli.common.left_behind import folder_prefix
from mbcli.common.working_folder import safe_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["DEVNULL", "PIPE", "TimeoutExpired", "environment", "find_program", "python", "run", "start"]

PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOT = os.path.abspath(os.sep)  # it is always there, and no model comes with files for it


def python(*words: str, interpreter: str = sys.executable) -> list[str]:
    """A command of Python that does not look for modules in its working folder, nor beside its script."""
    return [interpreter, "-P", *words]


def find_program(name: str) -> str | None:
    """The path of a program of that name; None if it is in no folder that PATH names by an absolute path."""
    return shutil.which(name, path=safe_variables({"PATH": os.environ.get("PATH", os.defpath)})["PATH"])


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables for a child: those of this process with changes, without the working folder; it finds mbcli."""
    result = {**os.environ, **(changes or {})}
    result.update(safe_variables(result))
    if PACKAGE_PARENT not in _of_each_python():
        known = result.get("PYTHONPATH")
        result["PYTHONPATH"] = PACKAGE_PARENT + (os.pathsep + known if known else "")
    return result


def _of_each_python() -> list[str]:
    """Folders that are behind the standard library in the path of modules."""
    return [*site.getsitepackages(), site.getusersitepackages()]


def run(
    command: Sequence[str | os.PathLike[str]],
    *,
    folder: str | os.PathLike[str] | None = None,
    variables: Mapping[str, str] | None = None,
    timeout: float | None = None,
    **streams: Any,
) -> subprocess.CompletedProcess:
    """Runs a command to its end; TimeoutExpired after so many seconds.

    Args:
        folder: in which it works; by default an empty one of its own, which goes with it. Give the working folder of
            the user only to the user's own program.
        variables: changes of its environment.
        streams: as subprocess.run() takes them; stdin is empty unless `stdin` or `input` is given.
    """
    if "input" not in streams:
        streams.setdefault("stdin", DEVNULL)
    settings = {"env": environment(variables), "timeout": timeout, **streams}
    if folder is not None:
        return subprocess.run(command, cwd=folder, **settings)
    with tempfile.TemporaryDirectory(prefix=folder_prefix("child"), ignore_cleanup_errors=True) as own:
        return subprocess.run(command, cwd=own, **settings)


def start(
    command: Sequence[str | os.PathLike[str]],
    *,
    folder: str | os.PathLike[str] = ROOT,
    variables: Mapping[str, str] | None = None,
    **settings: Any,
) -> subprocess.Popen:
    """Starts a command that goes on beside this process; arguments as in run(), settings as Popen() has them.

    Its folder is by default the root of the file system, which stays when this process is killed.
    """
    return subprocess.Popen(command, cwd=folder, env=environment(variables), **settings)
