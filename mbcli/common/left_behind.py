"""Temporary files and folders say in their names who made them, so that later runs remove those of killed processes.

Only what is this user's own, no link, and of a process of this machine that is no longer there is removed. Whoever
plants a file of such a name loses that file, and nothing else.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from contextlib import suppress
from functools import cache, lru_cache
from itertools import islice

MOST_ENTRIES = 10_000  # of a folder that are looked at
_MAKER = re.compile(r"([0-9a-f]{8})-(\d{1,10})-")


def maker() -> str:
    """MACHINE-PROCESS-: for the name of a temporary file or folder, before what is random."""
    return f"{_machine()}-{os.getpid()}-"


def folder_prefix(kind: str) -> str:
    """What the name of a temporary folder begins with; folders that killed processes have left are removed.

    All temporary folders get their names by this.
    """
    import tempfile  # late, as shutil: most commands make no folder

    remove_left(tempfile.gettempdir(), "mbcli-")
    return f"mbcli-{kind}-{maker()}"


def remove_left(folder: str, start: str) -> None:
    """Removes what killed processes have left in a folder under names that begin so; a process looks there once."""
    for entry in _left_in(os.path.abspath(folder or os.curdir)):
        if entry.name.startswith(start):
            with suppress(OSError):
                _remove(entry)


@cache
def _left_in(folder: str) -> tuple[os.DirEntry[str], ...]:
    """What was there when this process first made a temporary file or folder there: a folder may get many files."""
    if not hasattr(os, "geteuid"):
        return ()
    with suppress(OSError), os.scandir(folder) as entries:
        return tuple(entry for entry in islice(entries, MOST_ENTRIES) if _is_left(entry.name))
    return ()


def _is_left(name: str) -> bool:
    """Whether the process of this machine that a name tells of is no longer there."""
    found = _MAKER.search(name)
    if found is None or found[1] != _machine():
        return False
    try:
        os.kill(int(found[2]), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # another user's, or no number of a process
        return False
    return False


def _remove(entry: os.DirEntry[str]) -> None:
    status = entry.stat(follow_symlinks=False)
    if status.st_uid != os.geteuid():
        return
    if stat.S_ISREG(status.st_mode):
        os.unlink(entry.path)
    elif stat.S_ISDIR(status.st_mode):
        import shutil

        if shutil.rmtree.avoids_symlink_attacks:
            shutil.rmtree(entry.path, ignore_errors=True)


@lru_cache(maxsize=1)
def _machine() -> str:
    """Eight digits for this machine since it started, and for its processes as this one sees them."""
    parts = [os.uname().nodename if hasattr(os, "uname") else ""]
    with suppress(OSError):
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            parts.append(file.read())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return f"{zlib.crc32(chr(0).join(parts).encode(errors='surrogateescape')):08x}"
