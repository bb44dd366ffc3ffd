"""Locks of the system on files: they end with the process that holds them. Where there are none, every file is free."""

from __future__ import annotations

import os
import struct
from typing import IO

try:
    import fcntl
except ImportError:  # not a system of the Unix kind
    fcntl = None  # type: ignore[assignment]


def is_free(file: IO[bytes], *, take: bool) -> bool:
    """Whether nobody else locks an open file, which is then locked if `take`: a writable one against everybody."""
    if fcntl is None:
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


def wait_for_lock(path: str) -> IO[str] | None:
    """Makes a file and waits until no other process has locked it; closing the file frees the lock.

    None if the system or the file system has no such locks.
    """
    if fcntl is None:
        return None
    try:
        file = open(path, "w")  # noqa: SIM115  (the caller closes it)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        file.close()
        return None
    return file
