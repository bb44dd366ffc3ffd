"""Elements of an XML file that know their place and which of their parts were read, and the values in their texts."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING, Any

from mbcli.parsers.number_texts import to_float, usual_number, usual_numbers, value_hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence
    from typing import Literal, Protocol, TypeVar, overload

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SourceFile, SourceLocation

    # What is required and is not there is an error, and then None: what it is for is not used. Its type is Any.
    Default = TypeVar("Default")
    Value = TypeVar("Value", covariant=True)

    class AttributeReader(Protocol[Value]):
        """A method of Node: the value of an attribute."""

        @overload
        def __call__(
            self, name: str, default: Default, *, required: bool = False, allow_inf: bool = False
        ) -> Value | Default: ...
        @overload
        def __call__(
            self, name: str, default: None = None, *, required: Literal[True], allow_inf: bool = False
        ) -> Any: ...
        @overload
        def __call__(
            self, name: str, default: None = None, *, required: bool = False, allow_inf: bool = False
        ) -> Value | None: ...

    class TextReader(Protocol[Value]):
        """The same of the element's text."""

        @overload
        def __call__(self, default: Default, *, required: bool = False, allow_inf: bool = False) -> Value | Default: ...
        @overload
        def __call__(self, default: None = None, *, required: Literal[True], allow_inf: bool = False) -> Any: ...
        @overload
        def __call__(
            self, default: None = None, *, required: bool = False, allow_inf: bool = False
        ) -> Value | None: ...

    class Document(Protocol):
        """What nodes ask of the document that they stand in, see xml_document.py."""

        source: SourceFile
        diagnostics: Diagnostics

        def numbers_of(self, attributes: Mapping[str, str]) -> Mapping[str, int]: ...

        def place(self, offset: int) -> SourceLocation: ...

        def place_of_tag(self, number: int) -> SourceLocation: ...

        def attribute_offsets(self, number: int) -> Mapping[str, int]: ...


MAX_STEPS = 64  # of the path to an element in a finding
MAX_QUOTED = 60  # characters of a file's text quoted in a message

# what a subtree that is marked as not used has in common with others: the end of the finding about it
STATEMENTS = {
    "unsupported": "is not supported and not used",
    "unknown": "is unknown and not used",
    "foreign": "is for another program and not used",
    "meaningless": "has no meaning here and is not used",
}

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
NO_NAMES: dict[str, int] = {}


def read_attribute(kind: type[Value]) -> Callable[[Callable[..., Any]], AttributeReader[Value]]:
    """Marks a method that gives an attribute as a value of a type, or the default."""
    return lambda method: method


def read_text(kind: type[Value]) -> Callable[[Callable[..., Any]], TextReader[Value]]:
    """Marks a method that gives the text as a value of a type, or the default."""
    return lambda method: method


class Node:
    """One element of an XML file.

    Reading marks the parts that were read; a value that is wrong is recorded as an error and gives the default.
    tag: with its prefix as in `drake:joint`, whether or not the file declares the prefix.
    child_nodes, raw_text: its children and its text, without reading them.
    tag_number: which of the start tags of its file is its own.
    used: whether it was asked for; ignored: (reason class, reason) if its subtree is marked as not used, else None.
    attribute_numbers: name -> number of an attribute, from 1 on; attribute_values: their texts in that order.
    read_bits: the bit 1 << n stands for attribute n, and 1 for the text: whether it was read.
    """

    __slots__ = (
        *("tag", "parent", "child_nodes", "raw_text", "tag_number", "used", "ignored"),
        *("_document", "attribute_numbers", "attribute_values", "read_bits"),
        *("_has_included", "_indices"),  # of few elements: not set before they are needed
    )

    child_nodes: Any  # a list where there are any
    raw_text: Any
    _indices: dict[int, str] | None
    ignored: tuple[str, str] | None

    def __init__(
        self, tag: str, parent: Node | None, document: Document, number: int, attributes: Mapping[str, str] | None
    ) -> None:
        self.tag = tag
        self.parent = parent
        self.child_nodes = ()
        self.raw_text = ""
        self.tag_number = number
        self.used = False
        self.ignored = None
        self._document = document
        self.read_bits = 0
        if attributes:
            self.attribute_numbers = document.numbers_of(attributes)
            self.attribute_values = (*attributes.values(),)
        else:
            self.attribute_numbers, self.attribute_values = NO_NAMES, ()

    # ------------------------------------------------------------------------------------------ place

    @property
    def document(self) -> SourceFile:
        """The file it stands in (`spec.SourceFile`)."""
        return self._document.source

    @property
    def has_included(self) -> bool:
        """Whether children are from another file."""
        return getattr(self, "_has_included", False)

    @property
    def diagnostics(self) -> Diagnostics:
        return self._document.diagnostics

    @property
    def place(self) -> SourceLocation:
        """Start of its tag."""
        return self._document.place_of_tag(self.tag_number)

    def place_of(self, attribute: str | None) -> SourceLocation:
        """The place of one of its attributes; the start of its tag if it has no such attribute."""
        if attribute is None or attribute not in self.attribute_numbers:
            return self.place
        offset = self._document.attribute_offsets(self.tag_number).get(attribute.rpartition(":")[2])
        return self.place if offset is None else self._document.place(offset)

    @property
    def lineage(self) -> Iterator[Node]:
        """The node and everything that it stands in, from the inside out."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def find_place(self, place: SourceLocation) -> Node | None:
        """The node at or below this one whose tag starts at a place of its file, or None."""
        wanted = (place.line, place.column)
        node: Node | None = self
        while node is not None:
            if (node.place.line, node.place.column) == wanted:
                return node
            children = node.child_nodes
            if node.has_included:
                children = [child for child in children if child.document is node.document]
            at = bisect_right(children, wanted, key=lambda child: (child.place.line, child.place.column))
            node = children[at - 1] if at else None
        return None

    def raw(self, name: str) -> str | None:
        """The text of an attribute, or None, without reading it."""
        number = self.attribute_numbers.get(name)
        return None if number is None else self.attribute_values[number - 1]

    @property
    def is_text_read(self) -> bool:
        """Whether the text was read."""
        return bool(self.read_bits & 1)

    def peek(self, tag: str) -> Node | None:
        """The first child of that tag, or None, without reading it."""
        for child in self.child_nodes:
            if child.tag == tag:
                return child
        return None

    def walk(self) -> Iterator[Node]:
        """Yields the node and everything below it in the order of the file, without reading it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.child_nodes)

    @property
    def attribute_names(self) -> KeysView[str]:
        """The names of its attributes, without reading them."""
        return self.attribute_numbers.keys()

    @property
    def xpath(self) -> str:
        """Readable path, by name if an element has one: /robot[@name='r']/link[@name='b']/inertial.

        Of a very deep element only the last steps.
        """
        steps = [node.step for node in islice(self.lineage, MAX_STEPS + 1)]
        if len(steps) > MAX_STEPS:
            steps[-1] = "/..."
        return "".join(reversed(steps))

    @property
    def step(self) -> str:
        """The last step of the path, by name or by number: /link[@name='b'], /visual[2]."""
        step = "/" + self.tag
        name = self.raw("name")
        if name is not None:
            name = name if len(name) <= MAX_QUOTED else name[:MAX_QUOTED] + "..."
            return step + (f'[@name="{name}"]' if "'" in name else f"[@name='{name}']")
        return step + (self.parent.index_of(self) if self.parent is not None else "")

    def index_of(self, child: Node) -> str:
        """[2] for the second of several children of one tag, else nothing."""
        indices = getattr(self, "_indices", None)
        if indices is None:
            counts: dict[str, list[Node]] = {}
            for node in self.child_nodes:
                counts.setdefault(node.tag, []).append(node)
            indices = self._indices = {
                id(node): f"[{i}]" if len(twins) > 1 else ""
                for twins in counts.values()
                for i, node in enumerate(twins, 1)
            }
        return indices[id(child)]

    # --------------------------------------------------------------------------------------- children

    if TYPE_CHECKING:

        @overload
        def child(self, tag: str, *, required: Literal[True]) -> Any: ...

        @overload
        def child(self, tag: str, *, required: bool = False) -> Node | None: ...

    def child(self, tag: str, *, required: bool = False) -> Node | None:
        """The child of that tag or None; further ones of the same tag are reported and not used."""
        first = None
        for child in self.child_nodes:
            if child.tag != tag:
                continue
            child.used = True
            if first is None:
                first = child
            elif child.ignored is None:
                child.ignore("settled")
                self.diagnostics.warning(
                    "ELEMENT_DUPLICATE",
                    f"<{self.tag}> has more than one <{tag}>: only the first is used",
                    child,
                    related=(first.place,),
                )
        if first is None and required:
            self.diagnostics.error("ELEMENT_MISSING", f"<{self.tag}> must have a <{tag}>", self)
        return first

    @property
    def child_tags(self) -> list[str]:
        """The tags of all children, without reading them."""
        return [child.tag for child in self.child_nodes]

    def children(self, *tags: str) -> list[Node]:
        """The children of these tags in the order of the file; without tags all of them."""
        if len(tags) == 1:
            (tag,) = tags
            found = [child for child in self.child_nodes if child.tag == tag]
        else:
            found = [child for child in self.child_nodes if child.tag in tags] if tags else list(self.child_nodes)
        for child in found:
            child.used = True
        return found

    def find_all(self, tag: str) -> list[Node]:
        """Everything of that tag below it in the order of the file, without reading it."""
        found, pending = [], [*reversed(self.child_nodes)]
        while pending:
            node = pending.pop()
            if node.tag == tag:
                found.append(node)
            pending += reversed(node.child_nodes)
        return found

    def include(self, child: Node, root: Node) -> None:
        """Puts the children of another file's root in the place of a child, as if they stood here."""
        self._exchange(child, root.child_nodes)
        for node in root.child_nodes:
            node.parent = self
        self._has_included = True

    def state(self, name: str, text: str) -> None:
        """Gives a new node, or a copy, another attribute."""
        attributes = dict(zip(self.attribute_numbers, self.attribute_values, strict=True)) | {name: text}
        self.attribute_numbers, self.attribute_values = self._document.numbers_of(attributes), (*attributes.values(),)

    def without(self, tag: str) -> Node:
        """The node, a new one or a copy, without its children of a tag."""
        self.child_nodes = [child for child in self.child_nodes if child.tag != tag]
        self._indices = None
        return self

    def substitute(self, tag: str, attributes: Mapping[str, str]) -> Node:
        """A new node of other contents at the place of this one, not yet among the children of any."""
        node = Node(tag, None, self._document, self.tag_number, attributes)
        node.used = True
        return node

    def copied(self, renamed: Callable[[Node, str, str], str]) -> Node:
        """A copy of the node and all below it, not yet read, and not yet among the children of any.

        renamed: (node, attribute, text) -> the text of an attribute in the copy.
        """
        top = self.copied_alone(None, renamed)
        waiting = [(self, top)]
        while waiting:
            node, copy = waiting.pop()
            copy.child_nodes = [child.copied_alone(copy, renamed) for child in node.child_nodes]
            waiting += zip(node.child_nodes, copy.child_nodes, strict=True)
        return top

    def copied_alone(self, parent: Node | None, renamed: Callable[[Node, str, str], str]) -> Node:
        """A copy of the element without what is below it."""
        texts = zip(self.attribute_numbers, self.attribute_values, strict=True)
        attributes = {name: renamed(self, name, text) for name, text in texts}
        copy = Node(self.tag, parent, self._document, self.tag_number, attributes)
        copy.raw_text = self.raw_text
        if self.has_included:
            copy._has_included = True
        return copy

    def adopt(self, nodes: Iterable[Node]) -> None:
        """Appends nodes to the children."""
        nodes = list(nodes)
        for node in nodes:
            node.parent, node.used = self, False
        self.child_nodes = [*self.child_nodes, *nodes]
        self._indices = None

    def exchange(self, child: Node, nodes: Sequence[Node]) -> None:
        """Puts nodes in the place of a child."""
        self._exchange(child, nodes)
        for node in nodes:
            node.parent, node.used = self, False

    def _exchange(self, child: Node, nodes: Sequence[Node]) -> None:
        at = self.child_nodes.index(child)
        self.child_nodes = [*self.child_nodes[:at], *nodes, *self.child_nodes[at + 1 :]]
        self._indices = None

    def not_read(self) -> Iterator[Node]:
        """Yields, in the order of the file, the nodes from this one on of which something was not read: those that are
        not used or ignored, nothing below them, and those that have `unread_parts`."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.ignored is not None or not node.used:
                yield node
                continue
            read = node.read_bits
            if read | 1 != (2 << len(node.attribute_values)) - 1 or (node.raw_text and not read & 1):
                yield node
            if node.child_nodes:
                waiting += node.child_nodes[::-1]

    def unread_parts(self) -> list[tuple[str, str]]:
        """("attribute", name) and ("text", "") of what was not read of the element itself."""
        numbers = self.attribute_numbers.items()
        found = [("attribute", name) for name, number in numbers if not self.read_bits >> number & 1]
        return [*found, ("text", "")] if self.raw_text and not self.read_bits & 1 else found

    def ignore(self, reason_class: str, reason: str = "") -> None:
        """Mark the whole subtree as not used: "unsupported" (in the format, not here), "foreign" (for another
        program), "meaningless" (without meaning at its place) or "settled" (nothing is to be reported)."""
        if reason_class != "settled" and reason_class not in STATEMENTS:
            raise ValueError(f"unknown reason class {reason_class!r}")
        self.used = True
        self.ignored = (reason_class, reason)

    def unsupported(self, reason: str = "") -> None:
        """Mark the whole subtree as defined by the format and not used here."""
        self.ignore("unsupported", reason)

    def take_apart(self) -> None:
        """Ends the use of the node and all below it: their memory is free without the garbage collector."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            waiting += [child for child in node.child_nodes if child.child_nodes]
            node.child_nodes = ()

    # ------------------------------------------------------------------------------------- attributes

    @read_attribute(str)
    def attribute(self, name: str, default: Any = None, *, required: bool = False) -> Any:
        """The text of an attribute."""
        number = self.attribute_numbers.get(name)
        if number is not None:
            self.read_bits |= 1 << number
            return self.attribute_values[number - 1]
        return self._missing(name, default) if required else default

    def _missing(self, name: str, default: Default) -> Default:
        """The default, after an error."""
        self.diagnostics.error(
            "ATTRIBUTE_MISSING", f'<{self.tag}> must have the attribute "{name}"', self, attribute=name
        )
        return default

    @read_attribute(float)
    def number(self, name: str, default: Any = None, *, required: bool = False, allow_inf: bool = False) -> Any:
        """A finite number (float); with `allow_inf`, infinity as well, which numbers above LARGEST_NUMBER are then."""
        index = self.attribute_numbers.get(name)
        if index is None:
            return self._missing(name, default) if required else default
        self.read_bits |= 1 << index
        value = self.attribute_values[index - 1]
        number = usual_number(value)
        return number if number is not None else self._as_number(value, name, default, allow_inf)

    @read_attribute(int)
    def integer(self, name: str, default: Any = None, *, required: bool = False) -> Any:
        """A decimal integer (int)."""
        value = self.attribute(name, required=required)
        return default if value is None else self._as_integer(value, name, default)

    @read_attribute(bool)
    def boolean(self, name: str, default: Any = None, *, required: bool = False) -> Any:
        """true, false, 1 or 0."""
        value = self.attribute(name, required=required)
        return default if value is None else self._as_boolean(value, name, default)

    def vector(
        self, name: str, count: int, default: Any = None, *, required: bool = False, allow_inf: bool = False
    ) -> Any:
        """Exactly `count` numbers separated by white space: tuple of float."""
        index = self.attribute_numbers.get(name)
        if index is None:
            return self._missing(name, default) if required else default
        self.read_bits |= 1 << index
        value = self.attribute_values[index - 1]
        numbers = usual_numbers(value, count)
        return numbers if numbers is not None else self._as_vector(value, count, name, default, allow_inf)

    def refuse(self, attribute: str | None, problem: str, *, value: str | None = None, hint: str | None = None) -> None:
        """Records that an attribute is not what it may be."""
        self.diagnostics.error("ATTRIBUTE_INVALID", problem, self, attribute=attribute, value=value, hint=hint)

    # ------------------------------------------------------------------------------------ element text

    @read_text(str)
    def text(self, default: Any = None, *, required: bool = False) -> Any:
        """The text of the element without the white space around it; empty text counts as missing."""
        self.read_bits |= 1
        if self.raw_text:
            return self.raw_text
        if required:
            self.diagnostics.error("ELEMENT_INVALID", f"<{self.tag}> must not be empty", self)
        return default

    @read_text(float)
    def text_number(self, default: Any = None, *, required: bool = False, allow_inf: bool = False) -> Any:
        """The element's text as `number`."""
        value = self.text(required=required)
        return default if value is None else self._as_number(value, None, default, allow_inf)

    @read_text(bool)
    def text_boolean(self, default: Any = None, *, required: bool = False) -> Any:
        """The element's text as `boolean`."""
        value = self.text(required=required)
        return default if value is None else self._as_boolean(value, None, default)

    def text_vector(self, count: int, default: Any = None, *, required: bool = False, allow_inf: bool = False) -> Any:
        """The element's text as `vector`."""
        value = self.text(required=required)
        return default if value is None else self._as_vector(value, count, None, default, allow_inf)

    # ------------------------------------------------------------------- texts to values, or an error

    def _as_number(self, value: str, attribute: str | None, default: Default, allow_inf: bool) -> float | Default:
        number = to_float(value.strip(), allow_inf)
        if number is None:
            kind = "number" if allow_inf else "finite number"
            self._invalid(value, attribute, f"must be a {kind}, found {quoted(value)}")
            return default
        return number

    def _as_integer(self, value: str, attribute: str | None, default: Default) -> int | Default:
        if not _INTEGER.fullmatch(value.strip()):
            self._invalid(value, attribute, f"must be an integer, found {quoted(value)}")
            return default
        return int(value)

    def _as_boolean(self, value: str, attribute: str | None, default: Default) -> bool | Default:
        boolean = _BOOLEANS.get(value.strip().lower())
        if boolean is None:
            self._invalid(value, attribute, f"must be true or false, found {quoted(value)}")
            return default
        return boolean

    def _as_vector(self, value: str, count: int, attribute: str | None, default: Any, allow_inf: bool) -> Any:
        tokens = value.split()
        if len(tokens) != count:
            zeros = " ".join(["0"] * count)
            hint = f'write "{zeros}"' if tokens and all(to_float(token, False) == 0 for token in tokens) else None
            self._invalid(value, attribute, f"must be {count} numbers, found {len(tokens)}: {quoted(value)}", hint)
            return default
        numbers = tuple([to_float(token, allow_inf) for token in tokens])
        if None in numbers:
            bad = tokens[numbers.index(None)]
            self._invalid(value, attribute, f"must be {count} finite numbers, found {quoted(bad)} in {quoted(value)}")
            return default
        return numbers

    def _invalid(self, value: str, attribute: str | None, problem: str, hint: str | None = None) -> None:
        subject = f"<{self.tag}>" if attribute is None else f'attribute "{attribute}" of <{self.tag}>'
        code = "ELEMENT_INVALID" if attribute is None else "ATTRIBUTE_INVALID"
        self.diagnostics.error(
            code, f"{subject} {problem}", self, attribute=attribute, value=value, hint=hint or value_hint(value)
        )


def quoted(text: str) -> str:
    """A file's text in quotation marks for a message, shortened."""
    return f'"{text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."}"'
