"""Directories that go when nobody needs them."""

import tempfile


def temp_directory() -> str:
    """The path of a new directory for files of short use."""
    return tempfile.mkdtemp(prefix="mbcli_")
