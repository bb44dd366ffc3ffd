"""Which warnings of files a terminal has shown a short while ago: a person reads them once, a script every time."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from mbcli.common import kept_files
from mbcli.common.user_cache import user_cache

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

REMEMBERED = 8 * 3600.0  # [s]


def shown_before(lines: Sequence[str]) -> bool:
    """Whether a terminal has shown these very lines within REMEMBERED; from now on it has.

    Never where stderr is a file or pipe, as in continuous integration, nor without a cache.
    """
    if not sys.stderr.isatty():
        return False
    try:
        folder = user_cache() / "shown_warnings"
    except RuntimeError:
        return False
    from hashlib import sha256  # late: OpenSSL

    path = folder / sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()[:32]
    known = kept_files.ready_to_read(folder) and _age(path) < REMEMBERED
    if not known:
        _forget_old(folder)
        kept_files.keep(path, b"")
    return known


def _forget_old(folder: Path) -> None:
    with suppress(OSError):
        for path in list(folder.iterdir()):
            if _age(path) >= REMEMBERED:
                path.unlink()


def _age(path: Path) -> float:
    """Seconds since a file was written; infinite if there is none, or if it is of the future."""
    try:
        age = time.time() - os.stat(path).st_mtime
    except OSError:
        return float("inf")
    return age if age >= 0.0 else float("inf")
