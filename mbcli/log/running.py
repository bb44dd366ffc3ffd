"""Logs of runs that go on: which file has their rows, and whether more will come."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

from mbcli.errors import ModelError, OutputError, ResourceError
from mbcli.log.write_lock import refuse_written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

PARTIAL = ".partial"


def path_of_rows(path: str) -> str:
    """PATH.partial of a run that writes it, or that has left nothing else; else the path itself."""
    partial = f"{path}{PARTIAL}"
    if os.path.exists(partial) and (not os.path.exists(path) or is_written(partial)):
        return partial
    return path


def read_rows(paths: Sequence[str], read: Callable[[list[str]], T]) -> T:
    """What `read` makes of the files that have the rows of logs; again if a run ends meanwhile and renames its file.

    Raises:
      ResourceError, ModelError: of `read`, of files that still have these names.
    """
    while True:
        there = [path_of_rows(path) for path in paths]
        try:
            return read(there)
        except (ResourceError, ModelError):
            if there == [path_of_rows(path) for path in paths]:
                raise


def is_written(path: str) -> bool:
    """Whether a process has the log of that very name and writes it."""
    try:
        refuse_written(path)
    except OutputError:
        return os.path.exists(path)
    return False
