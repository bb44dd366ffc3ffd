"""Arrays on disk for the next run, each set of them under a key that says what they follow from.

The files lie in `meshes` in the user's cache, as kept_files.py says: one that is cut or changed counts as not there.
The folder holds `MOST_BYTES` at most: what was used last long ago goes. A folder that cannot be written is no error,
each run then does its work again. Who reads arrays checks them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.kept_files import keep, read_kept, ready_to_keep, ready_to_read
from mbcli.common.user_cache import user_cache

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MOST_BYTES = 500_000_000  # of the folder
MOST_FILE_BYTES = 200_000_000
SUFFIX = ".arrays"
_TYPES = {"f": "<f8", "i": "<i4"}
_DAY = 86400.0  # [s]


def key_of(*parts: object) -> str:
    """The key of what follows from some values: texts, numbers, bytes and tuples of them."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=20).hexdigest()


def read_arrays(key: str) -> dict[str, NDArray[Any]] | None:
    """{name: float64 or int64 array} that was kept under a key; None if there is nothing whole."""
    try:
        path = _folder() / f"{key}{SUFFIX}"
        content = read_kept(path, MOST_FILE_BYTES) if ready_to_read(path.parent) else None
        if content is None:
            return None
        if time.time() - path.stat().st_mtime > _DAY:
            with suppress(OSError):
                os.utime(path)  # used today
        return _unpacked(content)
    except (OSError, RuntimeError):
        return None


def keep_arrays(key: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Keeps {name: array of floats or of integers below 2^31} under a key, if it can be."""
    content = _packed(arrays)
    if len(content) > MOST_FILE_BYTES:
        return
    with suppress(OSError, RuntimeError):
        folder = _folder()
        if ready_to_keep(folder):
            tidy(folder)
            keep(folder / f"{key}{SUFFIX}", content)


def _folder() -> Path:
    return user_cache() / "meshes"


def _packed(arrays: dict[str, NDArray[Any]]) -> bytes:
    parts, heads = [], []
    for name, array in arrays.items():
        kind = "i" if np.issubdtype(array.dtype, np.integer) else "f"
        parts.append(np.ascontiguousarray(array, dtype=_TYPES[kind]).tobytes())
        heads.append([name, kind, list(array.shape)])
    head = json.dumps(heads).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *parts])


def _unpacked(content: bytes) -> dict[str, NDArray[Any]]:
    """What _packed() was given."""
    body = memoryview(content)
    end = 8 + int.from_bytes(body[:8], "little")
    arrays = {}
    for name, kind, shape in json.loads(bytes(body[8:end])):
        size = np.dtype(_TYPES[kind]).itemsize * int(np.prod(shape, dtype=np.int64))
        part = np.frombuffer(body[end : end + size], dtype=_TYPES[kind]).reshape(shape)
        arrays[name] = part.astype(np.int64 if kind == "i" else np.float64)
        end += size
    return arrays


def tidy(folder: Path, latest: float = math.inf) -> None:
    """Takes the files that were used last longest ago from a folder that is full, until half of it is free.

    latest: [s] since 1970. What was used after that stays.
    """
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process took it
                status = entry.stat(follow_symlinks=False)
                files.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    if total <= MOST_BYTES:
        return
    for used, size, path in sorted(files):
        if total <= MOST_BYTES // 2 or used > latest:
            return
        with suppress(OSError):
            os.unlink(path)
        total -= size
