"""The documents: the files that they name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ROOMS = (ROOT, ROOT / "mbcli", ROOT / "docs", ROOT / "mbcli" / "engine", ROOT / "mbcli" / "multibody")
NAMES = {
    path.name
    for folder in ("mbcli", "parsers", "docs", "tests", "benchmarks")
    for path in ROOT.glob(f"{folder}/**/*.*")
}
FILE = re.compile(r"`([a-z][\w./-]*(?:\.py|\.md))`")


def is_there(name):
    """Whether a file is there: from the root or a room, or anywhere if no folder is named."""
    return any((room / name).exists() for room in ROOMS) or name in NAMES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_document_names_are_there(page):
    assert not [name for name in FILE.findall(page.read_text()) if not is_there(name)]


def test_a_file_that_is_not_there_is_found():
    assert FILE.findall("`nothing.py`, `engine/nothing.py`") == ["nothing.py", "engine/nothing.py"]
    assert not is_there("nothing.py") and not is_there("engine/nothing.py") and not is_there("engine/context.py")
