"""<attach> of MJCF files that names a body or frame of the same file: a copy of it stands in its place.

All names in the copy get the prefix; its classes stay those of the original. Tendons and contacts that refer to it, and
actuators and equalities that refer to nothing else, are copied with it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from mbcli.parsers.mjcf.mjcf_replicas import MAX_COPIES, copy_references, key_of, renaming
from mbcli.parsers.mjcf.mjcf_values import MAIN, find_named

from mbcli.common.fast_dataclass import dataclass

if TYPE_CHECKING:
    from mbcli.parsers.mjcf.mjcf_compiler import CompilerSettings
    from mbcli.parsers.spec import SourceFile
    from mbcli.parsers.xml_node import Node

PARTS = ("body", "frame")


@dataclass
class Attached:
    """What the files have that are attached.

    Attributes:
        settings: {path of a document: its CompilerSettings}; meshdir starts at the folder of the main file.
        classes: default classes that stand in no other.
        documents: `SourceFile`s.
        folders: {path of an included document: its directory}.
    """

    settings: dict[str, CompilerSettings] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)
    documents: list[SourceFile] = field(default_factory=list)
    folders: dict[str, str] = field(default_factory=dict)
    made: int = 0  # elements

    def may_make(self, part: Node, node: Node) -> bool:
        """Whether an <attach> may copy a part; else there is an error."""
        self.made += sum(1 for _ in part.walk())
        if self.made > MAX_COPIES:
            problem = f"the file has more than {MAX_COPIES} elements with all that is attached"
            node.diagnostics.error("XML_ERROR", problem, node)
        return self.made <= MAX_COPIES


def kind_of_part(node: Node) -> str | None:
    """ "body" or "frame", which an <attach> names; None if it names neither."""
    stated = [tag for tag in PARTS if node.raw(tag) is not None]
    if len(stated) > 1:
        problem = "<attach> names a body and a frame: only the body counts"
        node.diagnostics.warning("ATTRIBUTE_UNSUPPORTED", problem, node, attribute="frame")
        node.attribute("frame")
    return stated[0] if stated else None


class OwnCopies:
    """Copies parts of a file within it. Parts stand before the <attach> that names them, as MuJoCo reads them."""

    def __init__(self, root: Node, attached: Attached) -> None:
        self._root, self._attached = root, attached
        self._positions: dict[int, int] = {}  # id of a node: its number in the order of the file
        # {name: (the number of its place, node)}
        self._parts: dict[str, dict[str, tuple[int, Node]]] = {tag: {} for tag in PARTS}
        for number, node in enumerate(root.walk()):
            self._positions[id(node)] = number
            self._note(node, number)

    def _note(self, node: Node, number: int) -> None:
        if node.tag in self._parts and (name := node.raw("name")):
            self._parts[node.tag].setdefault(name, (number, node))

    def attach(self, node: Node) -> bool:
        """Puts the copy in the place of an <attach>; False if nothing more can be made."""
        part, prefix = self._part(node), node.attribute("prefix", required=True)
        if part is None or prefix is None:
            node.ignore("settled")
            return True
        if not self._attached.may_make(part, node):
            return False
        names = {key_of(inner, inner.raw("name")) for inner in part.walk() if inner.raw("name")}
        rename = renaming(names, prefix=prefix)
        frame = node.substitute("frame", {"childclass": _class_around(part)})
        frame.adopt([part.copied(rename)])
        assert node.parent is not None
        node.parent.exchange(node, [frame])
        for copy in frame.walk():
            self._note(copy, self._positions[id(node)])
        copy_references(self._root, names, [rename], in_place=False)
        return True

    def _part(self, node: Node) -> Node | None:
        tag = kind_of_part(node)
        if tag is None:
            problem = '<attach> must have the attribute "model", "body" or "frame"'
            node.diagnostics.error("ATTRIBUTE_MISSING", problem, node)
            return None
        before = self._positions[id(node)]
        parts = {name: part for name, (number, part) in self._parts[tag].items() if number < before}
        name = find_named(node, tag, f"{tag} before the <attach>", parts)
        if name is None:
            return None
        if any(around is parts[name] for around in node.lineage):
            problem = f'<attach> stands in the {tag} "{name}" that it attaches'
            node.diagnostics.error("ELEMENT_INVALID", problem, node, attribute=tag, value=name)
            return None
        return parts[name]


def _class_around(part: Node) -> str:
    """The class that holds for what is in the elements around a part."""
    around = part.parent
    while around is not None:
        if stated := around.raw("childclass"):
            return stated
        around = around.parent
    return MAIN
