"""The XML of an MJCF file with everything that it includes in its place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mbcli.parsers.name_spellings import resolve_spelled
from mbcli.parsers.xml_source import MAX_BYTES, read_xml

from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mbcli.parsers.package_map import PackageMap
    from mbcli.parsers.spec import SourceFile
    from mbcli.parsers.xml_node import Node

MAX_FILES = 1000
MAX_DEPTH = 64  # of an <include>: bounds the depth of the tree together with the one of each file


def insert_includes(
    root: Node, source: str | os.PathLike[str] | bytes, packages: PackageMap, base_dir: str
) -> tuple[list[SourceFile], dict[str, str]]:
    """Puts the file that each <include> names in its place.

    Returns the documents (`SourceFile`), the root's own first, and {path of an included one: its directory}.

    File names are relative to base_dir, the directory of the main file, or else to that of the file in which the
    <include> stands. A name of a file may be included once, and a file not within itself, so that there are no cycles:
    links to one file are several names, as in MuJoCo. source: the path of the main file, or
    its bytes. Faults are errors at the <include>.
    """
    documents = [root.document]
    folders: dict[str, str] = {}
    included_by = {} if isinstance(source, bytes) else {os.path.abspath(source): root}
    pending = root.find_all("include")
    while pending:
        node = pending.pop(0)
        included = _read(node, packages, (base_dir, folders.get(node.document.path)), included_by)
        if included is None:
            node.ignore("settled")
            continue
        documents.append(included.document)
        folders[included.document.path] = os.path.dirname(included.document.path)
        if len(documents) > MAX_FILES or sum(len(document.content) for document in documents) > MAX_BYTES:
            node.diagnostics.error("XML_ERROR", "the included files are too many or too large", node)
            break
        pending += included.find_all("include")
        assert node.parent is not None
        node.parent.include(node, included)
    return documents, folders


def _read(node: Node, packages: PackageMap, folders: Sequence[str | None], included_by: dict[str, Node]) -> Node | None:
    """The root node of the file that an <include> names, or None after an error."""
    name = node.attribute("file", required=True)
    if name is None:
        return None
    if len(list(node.lineage)) > MAX_DEPTH:
        node.diagnostics.error("XML_ERROR", f"an <include> must not be deeper than {MAX_DEPTH} elements", node)
        return None
    path = _resolved(node, name, packages, folders)
    if path is None:
        return None
    first = included_by.setdefault(os.path.abspath(path), node)
    real = os.path.realpath(path)
    holder = next((above for above in node.lineage if os.path.realpath(above.document.path) == real), None)
    if first is not node or holder is not None:
        problem = "includes itself" if first.parent is None or holder is not None else "is included already"
        node.diagnostics.error(
            "INCLUDE_REPEATED",
            f'"{name}" {problem}: a file can be included once',
            node,
            attribute="file",
            value=name,
            related=(first.place,),
        )
        return None
    return read_xml(path, node.diagnostics, deep=True)


def _resolved(node: Node, name: str, packages: PackageMap, folders: Sequence[str | None]) -> str | None:
    """The path of a file that is looked for in some directories, or None after an error, the one of the first."""
    problem: Any = None
    for folder in folders:
        if folder is not None:
            try:
                path, note = resolve_spelled(name, folder, packages.resolve)
            except ResourceError as error:
                problem = problem or str(error)
                continue
            if note is not None:
                node.diagnostics.note("URI_LOOKUP", note, node, attribute="file", value=name)
            return path
    node.diagnostics.error("URI_LOOKUP", problem, node, attribute="file", value=name)
    return None
