"""Reads the names and argument names off the saved reference pages, each of which was saved in a format of its own.

A saved page is text of a web page: entries are found by how their first line begins.
"""

import re
from dataclasses import dataclass, field

PAGES = ("math", "tree", "plant")
INSTANTIATIONS = ("AutoDiffXd", "Expression")


@dataclass
class Name:
    """A public name: `path` is Class.member, Class or function; `signatures` are argument lists, "name" or "name="."""

    path: str
    signatures: list = field(default_factory=list)


def read_page(folder, page):
    """The names of one page in its order; members of X_[float], X_[AutoDiffXd], ... count as those of X."""
    lines = (folder / f"pydrake_multibody_{page}.txt").read_text(encoding="utf-8").splitlines()
    entries = list({"math": _math_entries, "tree": _tree_entries, "plant": _plant_entries}[page](lines))
    ends = [start for start, _, _ in entries[1:]] + [len(lines)]
    names = {}
    for (start, owner, name), end in zip(entries, ends, strict=True):
        if owner is not None:
            owner = owner.partition("_[")[0]
        if owner is None and name.endswith("_[float]"):
            continue
        path = name if owner is None else f"{owner}.{name}"
        if name == "__init__":
            path = owner
        entry = names.setdefault(path, Name(path))
        for signature in _signatures(name, "\n".join(lines[start:end])):
            if signature not in entry.signatures:
                entry.signatures.append(signature)
    return list(names.values())


def _plant_entries(lines):
    owner = None
    pattern = re.compile(r"- (class |template |static |property )?(pydrake\.multibody\.plant\.)?(\w+(?:\[\w+\])?)(.*)$")
    for number, line in enumerate(lines):
        match = pattern.match(line)
        if match is None:
            continue
        kind, module, name, rest = match.groups()
        if module is not None:
            owner = name if kind == "class " else owner
            yield number, None, name
        elif kind is not None or rest.startswith(("(", " = <")):
            yield number, owner, name


def _math_entries(lines):
    owner = None
    pattern = re.compile(r"(class |template |static |property )?(pydrake\.multibody\.math\.)?(\w+(?:\[\w+\])?)(.*)$")
    for number, line in enumerate(lines):
        match = pattern.match(line)
        if match is None:
            continue
        kind, module, name, rest = match.groups()
        if module is not None and kind is not None:
            owner = name if kind == "class " else owner
            yield number, None, name
        elif (kind is not None and module is None) or rest.startswith(("(self:", "(*args")):
            yield number, owner, name


def _tree_entries(lines):
    owner = None
    for number in range(2, len(lines)):
        name = lines[number - 1]
        if not re.fullmatch(r"\w+(_\[\w+\])?", name) or not _opens_entry(lines, number):
            continue
        before = lines[number - 2]
        if before == "pydrake.multibody.tree." or before == "class":
            if lines[number - 3] == "class" or before == "class":
                owner = name
            yield number - 1, None, name
        else:
            yield number - 1, owner, name


def _opens_entry(lines, number):
    """After its name an entry has its pilcrow, its value or its arguments; the page is cut within the last one."""
    line = lines[number]
    return line.startswith(("¶", "= <", "(self:")) or (line.startswith("(") and "¶" in line)


def _signatures(name, text):
    """The argument lists of all overloads in the text of an entry: `name(self: T, a: T, b: T = x) -> T`."""
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        arguments, end = _balanced(text, match.end())
        if arguments is None:
            continue
        parts = _split(arguments)
        typed = all(re.match(r"\w+: ", part) for part in parts)
        if typed or text[: match.start()].endswith("static "):
            parts = [part for part in parts if part and not part.startswith("self: ")]
            yield [part.partition(":")[0] + ("=" if " = " in part else "") for part in parts]


def _balanced(text, start):
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return " ".join(text[start:position].split()), position + 1
    return None, start


def _split(arguments):
    parts, depth = [""], 0
    for character in arguments:
        depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
