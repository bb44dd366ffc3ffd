"""Pointer files of Git LFS: what a checkout has in place of a large file that was not fetched."""

from __future__ import annotations

START = b"version https://git-lfs.github.com/spec/"  # of every pointer file
ADVICE = "it is a pointer of Git LFS, not the file itself: `git lfs pull` in its checkout fetches it"


def is_pointer(content: bytes) -> bool:
    """Whether a file with that content is a pointer."""
    return content.startswith(START)
