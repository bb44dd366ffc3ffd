"""Rows as they stand in a file: opening it, whoever wrote it last, and reading rows whose checksum may be wrong."""

from __future__ import annotations

import ctypes
import os
import re
import time
from typing import Any

import h5py
import numpy as np

READ_ATTEMPTS = 20  # of a block that a running writer may be about to replace
PAUSE = 0.001  # [s] between them
CHECKSUM_BYTES = 4  # after the numbers of a chunk


class DamagedRowsError(Exception):
    """Rows start to stop of a dataset, by its path, have a wrong checksum."""

    def __init__(self, path: str, start: int, stop: int) -> None:
        super().__init__(f"{path}, rows {start} to {stop - 1}: wrong checksum")
        self.path, self.start, self.stop = path, start, stop


def open_file(path: str) -> Any:
    """The HDF5 file of a log that is complete, is being written, or whose writer was killed.

    Raises OSError or RuntimeError, with the reason of the last attempt.
    """
    try:
        return h5py.File(path, "r", locking="best-effort")
    except (OSError, RuntimeError):
        return _open_unfinished(path)


def _open_unfinished(path):
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


def read_rows(dataset: Any, first: int, last: int, *, growing: bool) -> np.ndarray:
    """Rows first to last of a dataset.

    Args:
      growing: whether the writer has not finished: then the last chunk counts whatever its checksum says.

    Raises:
      DamagedRowsError: names the first rows whose checksum is wrong.
    """
    try:
        return dataset[first:last]
    except OSError as error:
        if not re.search("filter|checksum", str(error)):  # not the checksum, but the disk
            raise
    if growing and last > (tail := _last_chunk(dataset)):
        before = [read_rows(dataset, first, tail, growing=growing)] if first < tail else []
        return np.concatenate([*before, _read_last_chunk(dataset, tail)[max(first - tail, 0) : last - tail]])
    rows = dataset.chunks[0]
    for start in range(first - first % rows, last, rows):
        stop = min(start + rows, len(dataset))
        try:
            dataset[start:stop]
        except OSError:
            raise DamagedRowsError(dataset.name.lstrip("/"), start, stop) from None
    return dataset[first:last]  # a running writer has completed it meanwhile


def _last_chunk(dataset):
    """The first row of the last chunk."""
    return (len(dataset) - 1) // dataset.chunks[0] * dataset.chunks[0]


def _read_last_chunk(dataset, start):
    """The last chunk of a dataset that is being written, or whose writer died while it replaced that chunk.

    The rows that count are the same in the old and the new chunk, and of the two one dataset at most has some of
    each; only the checksum then is wrong.
    """
    for _ in range(READ_ATTEMPTS):
        try:
            return dataset[start:]
        except OSError:
            time.sleep(PAUSE)
    _, content = dataset.id.read_direct_chunk((start, *(0,) * (dataset.ndim - 1)))
    return np.frombuffer(content[:-CHECKSUM_BYTES], dataset.dtype).reshape(dataset.chunks)
