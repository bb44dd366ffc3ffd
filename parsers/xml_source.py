"""XML files as trees of nodes that know their place and which of their parts were read.

`read_xml` is the only door: it refuses XML that a model file has no use for (a DTD, entities, network, great
size) and tolerates a few faults that real robot files have. A parser then asks the nodes for children,
attributes and numbers; each question marks its subject as read, and `report_unread` names the rest, so that
nothing in a file is ignored in silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.source_bytes import named_content
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.xml_document import MAX_RELATED, Document, parse, times
from mbcli.parsers.xml_node import MAX_QUOTED, STATEMENTS

from mbcli.common.suggestions import closest, did_you_mean

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.xml_node import Node

    Known: TypeAlias = Mapping[str, Collection[str]]  # {tag, or PARENT/TAG: names}

MAX_BYTES = 128 * 2**20
MAX_TAGS = 4_000_000  # start and end tags, comments: bounds the memory of the tree, about 250 bytes for each
MAX_HINTS = 1000  # the likely meaning of an unknown name takes time to find
ANY = "*"  # in a table of names: every name that the format does not define for itself

_OWN_PREFIX = "drake:"  # its elements carry physics: never foreign


def read_xml(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    *,
    name: str | None = None,
    deep: bool = False,
    origins: Sequence[SourceLocation | None] = (),
) -> Node | None:
    """The root node of an XML file, or None if it cannot be used (the errors are in `diagnostics`).

    source: a path, or the bytes of a document. name: that of the file in places; default: the path as given. deep: of a
    format whose chains nest: elements may be nested 2048 deep instead of 256, in UTF-8. origins: of a document that was
    made of files: where in these its elements stand, in the order of their start tags.
    """
    name, content = named_content(source, MAX_BYTES + 1, name, diagnostics)
    if content is None:
        return None
    problem = _size_problem(content)
    if problem:
        diagnostics.error("XML_ERROR", problem, place=SourceLocation(name))
        return None
    document = Document(name, content, diagnostics)
    root = parse(document, deep)
    if len(origins) == document.count_of_tags:
        document.origins = origins
    if root is not None:
        diagnostics.trees[name] = root
    return root


def report_unread(
    node: Node, diagnostics: Diagnostics, known: Known | None = None, foreign: Known | None = None
) -> None:
    """Report once the elements that the parser did not read below `node`, equal findings grouped with their count.

    known: the names of the file format, {tag: names}, a name being a child's tag or "@attribute"; the key may
    be "parent/tag" if a tag means different things. A defined name that is unread is "unsupported", anything
    else "unknown" (both warnings); elements of another program's namespace, subtrees marked as foreign and the
    names in `foreign`, a table like `known`, are notes.
    """
    groups: dict[Any, Any] = {}
    for owner, kind, item, reason_class, reason in _unread(node, (known or {}, foreign or {})):
        label = item.tag if kind == "element" else item
        key = (reason_class, kind, owner.tag if owner is not None else "", label, reason)
        groups.setdefault(key, []).append((owner, item))
    for n, ((reason_class, kind, _, label, reason), found) in enumerate(groups.items()):
        hint = None
        if reason_class == "unknown" and n < MAX_HINTS:
            hint = _hint(kind, label, _known_names(found[0][0], known or {}))
        _report_group(diagnostics, reason_class, kind, label, reason, found, hint)


# --------------------------------------------------------------------------------------- unread parts


def _unread(root: Node, tables: tuple[Known, Known]) -> Iterator[tuple[Node, str, Any, str, str]]:
    """Yields (owner, kind, item, reason class, reason) for everything unread below a node, in file order."""
    for node in root.not_read():
        if node.ignored is not None:
            reason_class, reason = node.ignored
            if reason_class != "settled":
                yield _owner(node), "element", node, reason_class, reason
        elif not node.used:
            owner = _owner(node)
            yield owner, "element", node, _reason_class(owner, node.tag, node.tag, tables), ""
        else:
            for kind, name in node.unread_parts():
                reason_class = _reason_class(node, name, "@" + name, tables) if kind == "attribute" else "unknown"
                yield node, kind, name, reason_class, ""


def _owner(node: Node) -> Node:
    """What an element that was not read stands in: the root was read."""
    return node if node.parent is None else node.parent


def _reason_class(owner: Node, name: str, entry: str, tables: tuple[Known, Known]) -> str:
    known, foreign = tables
    own = name.startswith(_OWN_PREFIX)
    foreign_names = _known_names(owner, foreign)
    if (":" in name and not own) or entry in foreign_names or (ANY in foreign_names and not own):
        return "foreign"
    return "unsupported" if entry in _known_names(owner, known) else "unknown"


def _known_names(owner: Node, known: Known) -> Collection[str]:
    parent = owner.parent.tag if owner.parent is not None else ""
    return known.get(f"{parent}/{owner.tag}", known.get(owner.tag, ()))


def _report_group(
    diagnostics: Diagnostics,
    reason_class: str,
    kind: str,
    label: str,
    reason: str,
    found: Sequence[tuple[Node, Any]],
    hint: str | None,
) -> None:
    owner, item = found[0]
    nodes = [item if kind == "element" else owner for owner, item in found]
    inside = f" in <{owner.tag}>" if owner is not None else ""
    subject = {
        "element": f"<{label}>{inside}",
        "attribute": f'attribute "{label}"{inside}',
        "text": f"text{inside}",
    }[kind]
    report = diagnostics.note if reason_class in ("foreign", "meaningless") else diagnostics.warning
    report(
        f"{kind.upper()}_{reason_class.upper()}",
        f"{subject} {STATEMENTS[reason_class]}{': ' + reason if reason else ''}{times(nodes)}",
        nodes[0],
        attribute=label if kind == "attribute" else None,
        value=_text_of(owner, kind, label),
        hint=hint,
        related=[node.place for node in nodes[1 : 1 + MAX_RELATED]],
    )


def _hint(kind: str, label: str, names: Collection[str]) -> str | None:
    """The likely meaning of an unknown name, of the names that its element knows."""
    attributes = {name.removeprefix("@") for name in names if name.startswith("@")}
    elements = {name for name in names if not name.startswith("@")}
    same, other = (attributes, elements) if kind == "attribute" else (elements, attributes)
    if label in other:
        return f'"{label}" is {"an element" if kind == "attribute" else "an attribute"} here'
    if label.startswith(_OWN_PREFIX):  # in common, it would make any two names alike
        alike = [name.removeprefix(_OWN_PREFIX) for name in same if name.startswith(_OWN_PREFIX)]
        likely = closest(label.removeprefix(_OWN_PREFIX), alike)
        return f'did you mean "{_OWN_PREFIX}{likely}"?' if likely else None
    return did_you_mean(label, same)


def _text_of(owner: Node, kind: str, label: str) -> str | None:
    """The text in the file if a finding is about an attribute or a text."""
    if kind == "attribute":
        return owner.raw(label)
    return owner.raw_text[:MAX_QUOTED] if kind == "text" else None


def _size_problem(content: bytes) -> str | None:
    if len(content) > MAX_BYTES:
        return f"the file is larger than {MAX_BYTES // 2**20} MiB"
    if content.count(b"<") > MAX_TAGS:
        return f"the file has more than {MAX_TAGS} tags"
    return None
