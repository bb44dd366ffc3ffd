"""Where mbcli keeps what it can make again: compiled kernels, hulls of meshes."""

import os
from pathlib import Path


def user_cache() -> Path:
    """MBCLI_CACHE_DIR, else `mbcli` in the user's cache (XDG_CACHE_HOME, or ~/.cache). It may not exist.

    RuntimeError if there is no home directory.
    """
    base = os.environ.get("MBCLI_CACHE_DIR")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mbcli"
