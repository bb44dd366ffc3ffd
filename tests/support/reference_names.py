"""The names of the reference pages and where they are.

`python tests/support/reference_names.py` writes the list and the table:

reference_names.txt    every name with its argument lists, read off the pages (written where the pages are there)
reference_absences.yaml    by hand: the exceptions by subject, and why other names are absent
../../docs/reference/reference_names.md    the table, from these two and from what can be imported
"""

import fnmatch
import importlib
import inspect
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import reference_pages
import yaml
from reference_pages import PAGES, Name
from repository import ROOT, SUPPORT

LIST = SUPPORT / "reference_names.txt"
ABSENCES = SUPPORT / "reference_absences.yaml"
TABLE = ROOT / "docs" / "reference" / "reference_names.md"


def pages_folder():
    """The folder of saved pages: MBCLI_REFERENCE, or shared/reference beside the repository; None without one."""
    folder = Path(os.environ.get("MBCLI_REFERENCE", ROOT / "../shared/reference")).resolve()
    return folder if folder.is_dir() else None


def read_pages(folder):
    """Page -> its names."""
    return {page: reference_pages.read_page(folder, page) for page in PAGES}


def listed_names():
    """Page -> its names, from the list in the tests."""
    names = {page: [] for page in PAGES}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        page, path, *signatures = line.split(" ")
        arguments = [signature.strip("()").split(",") if signature != "()" else [] for signature in signatures]
        names[page].append(Name(path, arguments))
    return names


def list_text(names):
    """The list as text: a line per name, an argument list in brackets per overload."""
    lines = []
    for page in PAGES:
        for name in names[page]:
            signatures = [f"({','.join(signature)})" for signature in name.signatures]
            lines.append(" ".join([page, name.path, *signatures]) + "\n")
    return "".join(lines)


MISSING = object()


def find(page, path):
    """The object of a name and the module it is written in; (MISSING, None) where there is none."""
    found = importlib.import_module(f"mbcli.multibody.{page}")
    module = found.__name__
    for part in path.split("."):
        part, _, scalar = part.partition("[")
        owner, found = found, _member(found, part)
        if found is MISSING:
            return MISSING, None
        module = _module_of(owner, part, found, module)
        if scalar:
            found = found[scalar.rstrip("]")]
            module = found.__module__
    return found, module


def _member(owner, name):
    """An attribute, or a field that only objects of the class have."""
    if name in getattr(owner, "__dataclass_fields__", ()):
        return owner.__dataclass_fields__[name]
    if inspect.ismodule(owner):
        return getattr(owner, name, MISSING)
    found = inspect.getattr_static(owner, name, MISSING)
    if found is not MISSING:
        return getattr(owner, name, found)  # an enumeration has `name` only on its values
    try:
        return vars(owner())[name]
    except (TypeError, KeyError):
        return MISSING


def _module_of(owner, name, found, module):
    if inspect.isclass(owner):
        base = next((base for base in owner.__mro__ if name in vars(base)), owner)
        member = vars(base).get(name)
        member = getattr(member, "fget", None) or getattr(member, "__func__", member)
        return member.__module__ if inspect.isfunction(member) else base.__module__
    if hasattr(found, "__module__") and not isinstance(found, (str, int)):
        return found.__module__
    return module


@dataclass
class Row:
    """A line of the table: `exception` names the subject that is left out, `absent` says why a name is not there."""

    page: str
    name: Name
    module: str | None
    exception: str | None
    absent: str | None


def rows(names):
    """All lines of the table."""
    decisions = yaml.safe_load(ABSENCES.read_text(encoding="utf-8"))
    result = []
    for page in PAGES:
        for name in names[page]:
            _, module = find(page, name.path)
            exception = _match(f"{page}.{name.path}", decisions["exceptions"])
            absent = _match(f"{page}.{name.path}", decisions["absent"])
            result.append(Row(page, name, module, exception, absent))
    return result


def _match(path, groups):
    """The key of the group with a pattern for the path; brackets in patterns are themselves."""
    for key, patterns in groups.items():
        if any(fnmatch.fnmatchcase(path, pattern.replace("[", "[[]")) for pattern in patterns):
            return key
    return None


@dataclass
class Count:
    """How many names there are, and how many of them are present."""

    total: int
    present: int

    @property
    def percent(self):
        return 100.0 * self.present / self.total


def count(table_rows):
    return Count(len(table_rows), sum(row.module is not None for row in table_rows))


def absent_by_reason(table_rows):
    """{subject or reason: number of names}"""
    return Counter(row.exception or row.absent or "NOT EXPLAINED" for row in table_rows if row.module is None)


def table_text(table_rows):
    """docs/reference/reference_names.md."""
    figures = count(table_rows)
    absent = ", ".join(f"{number} of {reason}" for reason, number in absent_by_reason(table_rows).items()) or "none"
    lines = [
        "# Names of the reference pages",
        "",
        "This page lists every public name on the pages of `pydrake.multibody.math`, `.tree` and `.plant`, and the",
        "module of mbcli that defines it. Import it from the package of the same name: `mbcli.multibody.math`,",
        "`.tree`, `.plant`. Members of `X_[float]`, `X_[AutoDiffXd]` and `X_[Expression]` are those of `X`.",
        "",
        f"{figures.present} of {figures.total} names are present ({figures.percent:.1f} %). Absent are {absent}.",
        "",
        "Written by `python tests/support/reference_names.py`; a test compares it with what can be imported.",
    ]
    for page in PAGES:
        lines += ["", f"## mbcli.multibody.{page}", "", "| name | where |", "|---|---|"]
        lines += [f"| `{row.name.path}` | {_where(row)} |" for row in table_rows if row.page == page]
    return "\n".join(lines) + "\n"


def _where(row):
    place = f"`{row.module}`" if row.module is not None else "absent"
    if row.exception is not None:
        return f"{place} ({row.exception})"
    if row.module is None:
        return f"absent: {row.absent or 'NOT EXPLAINED'}"
    return place


def main():
    folder = pages_folder()
    if folder is not None:
        LIST.write_text(list_text(read_pages(folder)), encoding="utf-8")
    table_rows = rows(listed_names())
    TABLE.write_text(table_text(table_rows), encoding="utf-8")
    print(count(table_rows), f"{count(table_rows).percent:.1f} %")


if __name__ == "__main__":
    main()
