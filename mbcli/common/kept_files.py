"""Files that the program keeps for its next run, and reads back only as it wrote them.

A kept file begins with a sum over its name and content: one that is cut, changed or has another's name counts as not
there. The sum finds damage; owners and permissions keep others out, who could write a sum too. A folder or file is used
only if it belongs to this user or to root and neither its group nor others may write there. What is kept can be made
again: no fault of a folder or file is an error.
"""

from __future__ import annotations

import os
import stat
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING

from mbcli.common.output_files import replacing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAGIC = b"mbcli kept 1\n"
_SUM, _LENGTH = 32, 8  # bytes
_HEAD = len(MAGIC) + _SUM + _LENGTH
_ALSO = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK"))  # no link is followed, no pipe waited for


class KeptFilesWarning(UserWarning):
    """A folder or file is not used, since others may write there."""


def _warn_python(message: str) -> None:
    warnings.warn(message, KeptFilesWarning, stacklevel=4)


tell: Callable[[str], None] = _warn_python  # the command line says it in its own way
_told: set[str] = set()


def read_kept(path: Path, most: int = 1 << 31) -> bytes | None:
    """The content of a kept file of at most so many bytes; None if there is none that is whole and this user's."""
    try:
        with open(path, "rb", buffering=0, opener=lambda name, flags: os.open(name, flags | _ALSO)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not _HEAD <= status.st_size <= most + _HEAD:
                return None
            fault = _fault_of(path, status)
            if fault is not None:
                tell_once(f"{fault}: it is not read, but made anew")
                return None
            held = file.read(status.st_size)
    except OSError:
        return None
    content = memoryview(held)[_HEAD:]
    return bytes(content) if held[:_HEAD] == _head(path, content) else None


def keep(path: Path, content: bytes) -> bool:
    """Keeps content as a file, in one piece; whether it could be.

    The folder is made if there is none. What other processes read meanwhile is the file before.
    """
    if not ready_to_keep(path.parent):
        return False
    try:
        with replacing(path, mode=0o600) as name, open(name, "r+b", buffering=0) as file:
            for part in (_head(path, content), content):
                left = memoryview(part)
                while left:
                    left = left[file.write(left) :]
    except OSError:
        return False
    return True


def ready_to_read(folder: Path) -> bool:
    """Whether there is a folder whose files may be read; tells once of one that others may write."""
    try:
        fault = _fault_of(folder, os.stat(folder))
    except OSError:
        return False
    if fault is not None:
        tell_once(f"{fault}: nothing there is used or kept. {CURE}")
    return fault is None


def ready_to_keep(folder: Path) -> bool:
    """The same of a folder in which files can be kept; it is made, for this user alone, if there is none."""
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    return ready_to_read(folder) and os.access(folder, os.W_OK | os.X_OK)


CURE = "Take the right to write from others (chmod go-w), or name another folder by MBCLI_CACHE_DIR"


def folder_fault(folder: Path) -> str | None:
    """Why the files of a folder that exists are not used; None if they are."""
    return _fault_of(folder, os.stat(folder))


def _fault_of(path: Path, status: os.stat_result) -> str | None:
    """Why what is there is not only this user's or root's; None if it is, or if the system knows no such owners."""
    if not hasattr(os, "geteuid"):
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return f"{path} belongs to another user (number {status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{path} can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def tell_once(message: str) -> None:
    """Tells what was not told before."""
    if message not in _told:
        _told.add(message)
        tell(message)


def _head(path: Path, content: bytes | memoryview) -> bytes:
    from hashlib import sha256  # late: few commands keep files

    digest = sha256(f"{path.parent.name}/{path.name}\0".encode(errors="surrogateescape"))
    digest.update(content)
    return MAGIC + len(content).to_bytes(_LENGTH, "little") + digest.digest()
