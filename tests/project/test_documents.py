"""The documents: the files that they name are there."""

import importlib
import inspect
import re

import pytest
import yaml
from repository import ROOT
from test_public_types import functions_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ROOMS = (ROOT, ROOT / "mbcli", ROOT / "docs", ROOT / "mbcli" / "engine", ROOT / "mbcli" / "multibody")
NAMES = {
    path.name
    for folder in ("mbcli", "parsers", "docs", "tests", "benchmarks")
    for path in ROOT.glob(f"{folder}/**/*.*")
}
FILE = re.compile(r"`([a-z][\w./-]*(?:\.py|\.md))`")


def name_of(page):
    """A page by its path from the root."""
    return page.relative_to(ROOT).as_posix()


def is_there(name):
    """Whether a file is there: from the root or a room, or anywhere if no folder is named."""
    return any((room / name).exists() for room in ROOMS) or name in NAMES


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_a_document_names_are_there(page):
    assert not [name for name in FILE.findall(page.read_text()) if not is_there(name)]


def test_a_file_that_is_not_there_is_found():
    assert FILE.findall("`nothing.py`, `engine/nothing.py`") == ["nothing.py", "engine/nothing.py"]
    assert not is_there("nothing.py") and not is_there("engine/nothing.py") and not is_there("engine/context.py")


SHOWN = re.compile(r'^--8<-- "([^"]+)"$', re.M)  # a file that a page of the site shows
LINK = re.compile(r"\]\(([^)\s]+)\)")
DOCUMENTS = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "benchmarks/README.md", "sample_models/README.md"))]


def without_code(text):
    """A document without its blocks of code and what stands between backticks."""
    return re.sub(r"`[^`\n]*`", "code", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S))


def anchors_of(page):
    """The anchors of the headings of a page, as Python-Markdown and code hosts make them."""
    text = SHOWN.sub(lambda name: (ROOT / name[1]).read_text(), page.read_text())
    heads = re.findall(r"^#+ (.+)$", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", head).strip().lower()) for head in heads}


def broken_links(page, text):
    """The links of a page to files that are not there, or to headings that they do not have."""
    broken = []
    for link in LINK.findall(without_code(text)):
        if link.startswith(("http:", "https:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", DOCUMENTS, ids=name_of)
def test_links_of_a_document_lead_somewhere(page):
    assert broken_links(page, page.read_text()) == []


def test_a_broken_link_is_found():
    page = ROOT / "docs" / "index.md"
    text = "[a](nothing.md) [b](reference/conventions.md#no-such-heading) [c](reference/conventions.md) `[d](code.md)`"
    assert broken_links(page, text) == ["nothing.md", "reference/conventions.md#no-such-heading"]


def names_in_navigation(entries):
    """The files of the navigation of the site, which may be in groups."""
    for entry in entries:
        for value in entry.values():
            yield from names_in_navigation(value) if isinstance(value, list) else [value]


def test_every_document_is_in_the_navigation_of_the_site():
    navigation = yaml.safe_load((ROOT / ".ci" / "mkdocs.yml").read_text())["nav"]
    docs = ROOT / "docs"
    pages = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    assert sorted(names_in_navigation(navigation)) == pages


def members_on_the_page():
    """(name, function) of what docs/reference/api.md shows."""
    text = (ROOT / "docs" / "reference" / "api.md").read_text()
    for name, members in re.findall(r"^::: (\S+)(?:\n    options: \{members: \[([\w, ]+)\]\})?", text, re.MULTILINE):
        if members:
            module = importlib.import_module(name)
            yield from ((f"{name}.{member}", getattr(module, member)) for member in members.split(", "))
        elif name.rpartition(".")[2][0].isupper():
            kind = getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
            yield name, kind
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
