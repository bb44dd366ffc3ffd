"""A copy of the tree, the tests of it that call a function, and the first that fails over a fault."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.mutations.faults import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.mutations.faults import Fault

BYTECODE = ("compileall", "-q", "--invalidation-mode", "checked-hash", "mbcli", "parsers", "schemas", "tests/support")
SECONDS = 600  # of a run of tests over a fault: more is a program that hangs
OF_ALL = 3000  # [s] of the whole set, in which calls are written down


class Calls(NamedTuple):
    """{test file: functions that it calls, as (file, first line)}, and {test file: seconds}."""

    functions: dict[str, set[tuple[str, int]]]
    seconds: dict[str, float]

    def of(self, fault: Fault) -> list[str]:
        """The test files that call the function of a fault, fastest first; all, if it is called at import."""
        function = (fault.file, fault.function)
        files = sorted(self.seconds, key=lambda name: self.seconds[name])
        if function in self.functions.get("", ()):
            return files
        return [name for name in files if function in self.functions.get(name, ())]


def copied_tree(folder: Path) -> Path:
    """The files that git knows, as they are now."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def keep_bytecode(tree: Path) -> None:
    """Bytecode beside the files of a copy, which holds while a file has the same text: processes start sooner."""
    subprocess.run([sys.executable, "-m", *BYTECODE], cwd=tree, check=True)


def calls_of_files(tree: Path) -> Calls:
    """What the files of the quick set call. RuntimeError if a test fails without any fault."""
    output = tree / "reached.json"
    settings = {"MBCLI_REACHED": str(output), "MBCLI_REACHED_ROOT": str(tree)}
    done = _pytest(tree, ["-p", "benchmarks.mutations.reached"], settings, OF_ALL)
    if done.returncode:
        raise RuntimeError(f"the quick set fails as it is:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    content = json.loads(output.read_text())
    return Calls({name: set(map(tuple, calls)) for name, calls in content["functions"].items()}, content["seconds"])


def first_failure(tree: Path, fault: Fault, files: list[str]) -> str | None:
    """The first test that fails over a fault, of files in their order; None if all pass."""
    path = tree / fault.file
    content = path.read_bytes()
    path.write_bytes(fault.put_into(content))
    try:
        done = _pytest(tree, ["-x", *files], {}, SECONDS)
    except subprocess.TimeoutExpired:
        return "a test that hangs"
    finally:
        path.write_bytes(content)
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    return failed[1].rpartition("/")[2] if failed else f"pytest, exit code {done.returncode}"


def _pytest(
    tree: Path, arguments: list[str], settings: dict[str, str], seconds: float
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "MBCLI_JIT": "0"} | settings
    command = [sys.executable, "-m", "pytest", "-m", "quick", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=seconds)
