"""A copy of the tree, and the first test that fails over a fault in it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.mutations.faults import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.mutations.faults import Fault

BYTECODE = ("compileall", "-q", "--invalidation-mode", "checked-hash", "mbcli", "parsers", "schemas", "tests/support")
SECONDS = 1800  # of the set over a fault: more is a program that hangs


def copied_tree(folder: Path) -> Path:
    """The files that git knows, as they are now, as a commit of its own: the set looks for what differs from it."""
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
    author = ["-c", "user.name=mbcli", "-c", "user.email=mbcli@localhost"]
    for command in (["init"], ["add", "--all"], [*author, "commit", "--message", "a copy"]):
        subprocess.run(
            ["git", *command, "--quiet"] if command[0] != "add" else ["git", *command], cwd=folder, check=True
        )
    return folder


def keep_bytecode(tree: Path) -> None:
    """Bytecode beside the files of a copy, which holds while a file has the same text: processes start sooner."""
    subprocess.run([sys.executable, "-m", *BYTECODE], cwd=tree, check=True)


def first_failure(tree: Path, fault: Fault | None) -> str | None:
    """The first test of the quick set that fails over a fault, or without one; None if all pass.

    RuntimeError if this test fails in the tree as it was, too.
    """
    path = tree / (fault.file if fault else "README.md")
    content = path.read_bytes()
    if fault:
        path.write_bytes(fault.put_into(content))
    try:
        done = _pytest(tree, "-m", "quick", "-x")
    except subprocess.TimeoutExpired:
        return "a test that hangs"
    finally:
        path.write_bytes(content)
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
    if failed is None:
        return f"pytest, exit code {done.returncode}"
    if fault and "::" in failed[1] and _pytest(tree, failed[1]).returncode:
        raise RuntimeError(f"{failed[1]} fails without a fault")
    return failed[1].rpartition("/")[2]


def _pytest(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "MBCLI_JIT": "0"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS)
