"""Libraries that look for settings in the working folder, where whoever made a model may have put some: they find none.

Their other settings, of the user's own folders and variables, count.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = frozenset({"matplotlibrc", ".numba_config.yaml"})  # as matplotlib and numba ask for them
_lock = threading.Lock()
_exists = os.path.exists
_depth = 0


def _exists_elsewhere(path: int | str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> bool:
    return path not in HIDDEN and _exists(path)


@contextmanager
def without_settings_of_the_folder() -> Iterator[None]:
    """While such a library is imported, `os.path.exists()` denies the files of these names in the working folder."""
    global _depth, _exists
    with _lock:
        if not _depth:
            _exists, os.path.exists = os.path.exists, _exists_elsewhere
        _depth += 1
    try:
        yield
    finally:
        with _lock:
            _depth -= 1
            if not _depth:
                os.path.exists = _exists
