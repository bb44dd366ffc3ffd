"""Opening the HDF5 file of a log, whoever wrote it last."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal

import h5py

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOT_BEGUN = "file is not already open for SWMR writing"
_HELD = frozenset({errno.EAGAIN, errno.EACCES})  # of a lock that another process has
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NOTED: list[str] = []  # the file of which it was said that there are no locks

READ_ATTEMPTS = 20  # of a block that a running writer may be about to replace


def open_file(path: str) -> Any:
    """The HDF5 file of a log that is complete, is being written, or whose writer was killed.

    Raises OSError or RuntimeError, with the reason of the last attempt.
    """
    try:
        return with_locks_where_there_are(lambda locking: h5py.File(path, "r", locking=locking), path)
    except (OSError, RuntimeError):
        pass
    try:
        return with_locks_where_there_are(lambda locking: _open_unfinished(path, locking), path)
    except (OSError, RuntimeError) as error:
        if NOT_BEGUN not in str(error):
            raise
    raise OSError("its run ended before the first rows were written: there is nothing in it")


def with_locks_where_there_are(
    open_with: Callable[[str | Literal[False]], h5py.File], path: str | os.PathLike[str]
) -> h5py.File:
    """A file of HDF5, opened by a function of the argument `locking`: without its lock where the file system has none.

    A note says so once. HDF5 itself goes on without a lock only where the system has no such call. That no second
    process writes a log is seen to by its name and by its WriteLock.
    """
    try:
        return open_with("best-effort")
    except (OSError, RuntimeError) as error:
        found = re.search(r"unable to lock file, errno = (\d+)", str(error))
        if found is None or int(found[1]) in _HELD:
            raise
        reason = os.strerror(int(found[1]))
    file = open_with(False)
    if not _NOTED:
        _NOTED.append(os.fspath(path))
        warnings.warn(
            f"{path}: warning: its file system has no locks ({reason}): it is opened without", LockWarning, stacklevel=2
        )
    return file


class LockWarning(UserWarning):
    """A file system has no locks."""


@contextmanager
def new_file(path: str | os.PathLike[str], room: int = 0) -> Iterator[h5py.File]:
    """A new file of HDF5 in the place of one that is there. OSError, RuntimeError: what could not be written.

    room: how many bytes [1] the disk must have free. HDF5 does not come back from a disk that fills while it writes:
    the process ends by SIGSEGV.
    """
    _reserve(path, room)
    file = with_locks_where_there_are(
        lambda locking: h5py.File(path, "w", libver=("v110", "v110"), locking=locking), path
    )
    try:
        yield file
        file.close()
    except BaseException:
        for _ in range(2):
            with suppress(OSError, RuntimeError):
                file.close()
        raise


def _reserve(path: str | os.PathLike[str], room: int) -> None:
    """OSError where a file cannot have so many bytes; it has them until it is opened to be written."""
    with open(path, "wb") as file:
        try:
            if room and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, room)
        except OSError as error:
            if error.errno in _FULL:
                raise


def _open_unfinished(path: str, locking: str | Literal[False]) -> h5py.File:
    """Opens a file that is being written, or whose writer was killed.

    What `h5py.File(path, "r", swmr=True)` does, with a bound: by default HDF5 reads a damaged block a hundred
    times and doubles the pause, which is forever. h5py does not offer the setting.
    """
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    access.set_file_locking(bool(locking), True)
    try:
        set_attempts = ctypes.CDLL(h5py.h5p.__file__).H5Pset_metadata_read_attempts
    except (OSError, AttributeError):  # HDF5 cannot be reached through h5py's module on this system
        pass
    else:
        set_attempts.argtypes = (ctypes.c_int64, ctypes.c_uint)
        set_attempts(access.id, READ_ATTEMPTS)
    flags = h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ
    return h5py.File(h5py.h5f.open(os.fsencode(path), flags, fapl=access))
