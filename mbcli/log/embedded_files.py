"""The files that a log has in it, and those of the same names on the disk."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.parsers.spec import SourceFile


def same_on_disk(sources: Iterable[SourceFile]) -> bool:
    """Whether the files of a log are where they were, and as they were: to read them tells nothing that is not in it.

    No file of another size is opened, and no device.
    """
    return all(is_same(source) for source in sources)


def is_same(source: SourceFile) -> bool:
    """Whether a file of a log is where it was, and as it was."""
    try:
        status = os.stat(source.path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(source.content):
            return False
        with open(source.path, "rb") as file:
            return hashlib.sha256(file.read(len(source.content) + 1)).hexdigest() == source.sha256
    except (OSError, ValueError):
        return False
