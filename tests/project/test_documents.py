"""The documents: the files that they name are there."""

import importlib
import inspect
import re

import pytest
import yaml
from repository import ROOT
from test_cli_every_command import commands
from test_public_types import functions_of

from mbcli.cli import mbcli

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


def test_the_table_of_the_start_page_has_every_command():
    rows = [line.split("|")[1] for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| `")]
    shown = {name for row in rows for name in re.findall(r"`(?:log )?([a-z-]+)`", row)}
    assert {name.rpartition(" ")[2] for name, _ in commands(mbcli)} <= shown


def names_in_navigation(entries):
    """The files of the navigation of the site, which may be in groups."""
    for entry in entries:
        for value in entry.values():
            yield from names_in_navigation(value) if isinstance(value, list) else [value]


def test_every_document_is_in_the_navigation_of_the_site():
    navigation = yaml.safe_load((ROOT / ".ci" / "mkdocs.yml").read_text())["nav"]
    assert sorted(names_in_navigation(navigation)) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def members_on_the_page():
    """(name, function) of what docs/api.md shows."""
    text = (ROOT / "docs" / "api.md").read_text()
    for name, members in re.findall(r"^::: (\S+)(?:\n    options: \{members: \[([\w, ]+)\]\})?", text, re.MULTILINE):
        if members:
            module = importlib.import_module(name)
            yield from ((f"{name}.{member}", getattr(module, member)) for member in members.split(", "))
        elif name.rpartition(".")[2][0].isupper():
            kind = getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
            yield from ((f"{name}.{member}", function) for member, function in functions_of(kind))


def described_arguments(function):
    """The names before the colons of a section Args."""
    section = re.search(r"\nArgs:\n((?:[ ]+.*\n|\n)+)", f"{inspect.getdoc(function)}\n")
    if section is None:
        return []
    indent = re.match(" +", section[1])[0]
    return re.findall(rf"^{indent}(\S[^:\n]*):", section[1], re.MULTILINE)


def test_the_page_of_the_api_describes_arguments_that_there_are():
    """The site is built strictly, and a table of arguments has a type for each."""
    members = list(members_on_the_page())
    described = [(name, function, argument) for name, function in members for argument in described_arguments(function)]
    assert len(described) > 50
    assert not [(n, a) for n, function, a in described if a not in inspect.signature(function).parameters]
