"""The lock of a log that is being written: no second process writes it or goes on from it.

The lock is the system's, on the file itself, and ends with the process that holds it, however that ends: the log
of a killed run is free. It is not of the kind that HDF5 takes, so that readers are not in its way.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mbcli.common.file_locks import is_free
from mbcli.errors import OutputError

if TYPE_CHECKING:
    from typing import BinaryIO


class WriteLock:
    """Held from construction to release(), or to the end of the process.

    Args:
        path: an existing log. One that may only be read is locked against writers.

    Raises:
        OutputError: another process holds the lock, or the log cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = _open(path)
        if not is_free(self._file, take=True):
            self._file.close()
            raise _is_written(path)

    def release(self) -> None:
        self._file.close()


def refuse_written(path: str | os.PathLike[str]) -> None:
    """OutputError if another process holds the lock of a log, or it cannot be opened.

    The lock is not taken, for however short: a writer that begins meanwhile is not refused.
    """
    with _open(path) as file:
        if not is_free(file, take=False):
            raise _is_written(path)


def _is_written(path: str | os.PathLike[str]) -> OutputError:
    return OutputError(f"{path}: error: is being written by another process")


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    try:
        try:
            return open(path, "r+b", buffering=0)
        except PermissionError:
            return open(path, "rb", buffering=0)
    except OSError as error:
        raise OutputError(f"{path}: error: cannot be locked: {error.strerror}") from None
