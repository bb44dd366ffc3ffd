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

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = _open(path)
        if not _is_free(self._file, take=True):
            self._file.close()
            raise _is_written(path)

    def release(self) -> None:
        self._file.close()


def refuse_written(path: str | os.PathLike[str]) -> None:
    """OutputError if another process holds the lock of a log, or it cannot be opened.

    The lock is not taken, for however short: a writer that begins meanwhile is not refused.
    """
    with _open(path) as file:
        if not _is_free(file, take=False):
            raise _is_written(path)


def _is_written(path):
    return OutputError(f"{path}: error: is being written by another process")


def _open(path):
    try:
        try:
            return open(path, "r+b", buffering=0)
        except PermissionError:
            return open(path, "rb", buffering=0)
    except OSError as error:
        raise OutputError(f"{path}: error: cannot be locked: {error.strerror}") from None


def _is_free(file, *, take):
    """Whether nobody else locks the file, which is then locked if `take`; True if there are no such locks here."""
    try:
        import fcntl
    except ImportError:
        return True
    kind = fcntl.F_WRLCK if file.writable() else fcntl.F_RDLCK
    try:
        if hasattr(fcntl, "F_OFD_SETLK"):  # held by this opening of the file, whoever else in the process closes it
            wanted = struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0)
            found = fcntl.fcntl(file, fcntl.F_OFD_SETLK if take else fcntl.F_OFD_GETLK, wanted)
            return take or struct.unpack_from("h", found)[0] == fcntl.F_UNLCK
        fcntl.lockf(file, (fcntl.LOCK_EX if file.writable() else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True
