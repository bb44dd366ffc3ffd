"""Logs of runs that go on: which file has their rows, and whether more will come."""

from __future__ import annotations

import os

from mbcli.errors import OutputError
from mbcli.log.write_lock import refuse_written

PARTIAL = ".partial"


def path_of_rows(path: str) -> str:
    """PATH.partial of a run that writes it, or that has left nothing else; else the path itself."""
    partial = f"{path}{PARTIAL}"
    if os.path.exists(partial) and (not os.path.exists(path) or is_written(partial)):
        return partial
    return path


def is_written(path: str) -> bool:
    """Whether a process has the log of that very name and writes it."""
    try:
        refuse_written(path)
    except OutputError:
        return os.path.exists(path)
    return False
