"""Directories that go when nobody needs them."""

import os
import tempfile


def temp_directory() -> str:
    """The path of a new directory for files of short use, in that of TEST_TMPDIR where it is set."""
    return tempfile.mkdtemp(prefix="mbcli_", dir=os.environ.get("TEST_TMPDIR"))
