"""The lock of a log that is being written: no second process writes it or goes on from it.

The lock is the system's, on the file itself, and ends with the process that holds it, however that ends: the log
of a killed run is free. It is not of the kind that HDF5 takes, so that readers are not in its way.
"""

from __future__ import annotations

import os
import struct

from mbcli.errors import OutputError


class WriteLock:
    """Held from construction to release(), or to the end of the process.

    Args:
        path: an existing log. One that may only be read is locked against writers.

    Raises:
        OutputError: another process holds the lock, or the log cannot be opened.
    """

    def __init__(self, path: str) -> None:
        try:
            self._file = _open(path)
        except OSError as error:
            raise OutputError(f"{path}: error: cannot be locked: {error.strerror}") from None
        if not _lock(self._file):
            self._file.close()
            raise OutputError(f"{path}: error: is being written by another process")

    def release(self) -> None:
        self._file.close()


def _open(path):
    try:
        return open(path, "r+b", buffering=0)
    except PermissionError:
        return open(path, "rb", buffering=0)


def _lock(file):
    """Whether the file is now locked; True if the system or the file system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return True
    kind = fcntl.F_WRLCK if file.writable() else fcntl.F_RDLCK
    try:
        if hasattr(fcntl, "F_OFD_SETLK"):  # held by this opening of the file, whoever else in the process closes it
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))
        else:
            fcntl.lockf(file, (fcntl.LOCK_EX if file.writable() else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
