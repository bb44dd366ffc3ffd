"""Where the elements of a xacro file, and of the files that it includes, stand: xacro's own reader forgets it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from xml.dom import Node as Kinds, expatbuilder

from mbcli.parsers.spec import SourceLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.parsers.xml_node import Node

KEY = "place"


class _Copies:
    """Copies of an element, as of the body of a macro, stand where it stands."""

    def handle(self, operation: int, key: str, data: Any, source: Any, copy: Any) -> None:
        copy.setUserData(key, data, self)


COPIES = _Copies()


class _Builder(expatbuilder.ExpatBuilderNS):
    """A reader whose elements know their place."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def start_element_handler(self, name: str, attributes: list[str]) -> None:
        super().start_element_handler(name, attributes)
        parser = self.getParser()
        place = SourceLocation(self._file, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        self.curNode.setUserData(KEY, place, COPIES)


def read_with_places(file: str, root_dir: str, arguments: set[str]) -> Any:
    """The DOM document of a file. Adds the arguments that it declares, in parts that are left out too."""
    with open(os.path.join(root_dir, file), "rb") as stream:
        document = _Builder(file).parseFile(stream)
    arguments.update(node.getAttribute("name") for node in elements(document) if node.tagName == "xacro:arg")
    return document


def elements(document: Any) -> Iterator[Any]:
    """The elements of a DOM document, in the order of their start tags."""
    stack = [document.documentElement]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in reversed(node.childNodes) if child.nodeType == Kinds.ELEMENT_NODE]


def place_of(element: Any) -> SourceLocation | None:
    """Where a DOM element stands; None of one that is not of a file."""
    place: SourceLocation | None = element.getUserData(KEY)
    return place


def place_of_fault(error: BaseException) -> tuple[SourceLocation | None, list[SourceLocation]]:
    """Where xacro was in its files when it failed, and the calls of macros that led there, the innermost first.

    xacro goes down the elements by calls of its own: the element that each works on is the `node` or `elt` in it.
    """
    found, calls, trace = None, [], error.__traceback__
    while trace is not None:
        values = trace.tb_frame.f_locals
        element = values.get("node", values.get("elt"))
        if getattr(element, "nodeType", None) != Kinds.ELEMENT_NODE:
            element = getattr(element, "parentNode", None)  # of a text
        place = place_of(element) if getattr(element, "nodeType", None) == Kinds.ELEMENT_NODE else None
        if place is not None:
            found = place
            if trace.tb_frame.f_code.co_name == "handle_macro_call":
                calls.append(place)
        trace = trace.tb_next
    return found, [place for place in reversed(calls) if place != found]


class ExpandedTree:
    """Nodes of an expanded document by their places in the files that it came of; of copies the first."""

    def __init__(self, root: Node) -> None:
        self._root = root
        self._nodes: dict[SourceLocation, Node] = {}
        for node in root.walk():
            self._nodes.setdefault(node.place, node)

    def find_place(self, place: SourceLocation) -> Node | None:
        """The node of a place, or None."""
        return self._nodes.get(place)

    def take_apart(self) -> None:
        """As of the root."""
        self._nodes.clear()
        self._root.take_apart()
