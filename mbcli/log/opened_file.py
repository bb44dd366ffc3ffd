"""Opening the HDF5 file of a log, whoever wrote it last."""

from __future__ import annotations

import ctypes
import os
from typing import Any

import h5py

READ_ATTEMPTS = 20  # of a block that a running writer may be about to replace


def open_file(path: str) -> Any:
    """The HDF5 file of a log that is complete, is being written, or whose writer was killed.

    Raises OSError or RuntimeError, with the reason of the last attempt.
    """
    try:
        return h5py.File(path, "r", locking="best-effort")
    except (OSError, RuntimeError):
        return _open_unfinished(path)


def _open_unfinished(path: str) -> h5py.File:
    """Opens a file that is being written, or whose writer was killed.

    What `h5py.File(path, "r", swmr=True)` does, with a bound: by default HDF5 reads a damaged block a hundred
    times and doubles the pause, which is forever. h5py does not offer the setting.
    """
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    access.set_file_locking(True, True)
    try:
        set_attempts = ctypes.CDLL(h5py.h5p.__file__).H5Pset_metadata_read_attempts
    except (OSError, AttributeError):  # HDF5 cannot be reached through h5py's module on this system
        pass
    else:
        set_attempts.argtypes = (ctypes.c_int64, ctypes.c_uint)
        set_attempts(access.id, READ_ATTEMPTS)
    flags = h5py.h5f.ACC_RDONLY | h5py.h5f.ACC_SWMR_READ
    return h5py.File(h5py.h5f.open(os.fsencode(path), flags, fapl=access))
