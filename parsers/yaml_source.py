"""YAML files as trees of nodes that know their place.

`read_yaml` is the only door. It builds nodes, never objects, from the events of PyYAML and is strict where
YAML files go wrong without a word: numbers and booleans as in the YAML 1.2 core schema (`1e-3` is a number,
`yes` a string, `017` decimal, `1:30` a string), no duplicate keys, one document, UTF-8, no tags but those
that the caller lists. Size, number of nodes with every alias expanded, and nesting are bounded. Keys are
strings, as written. `<<` merges mappings: it is not a part of YAML 1.2, but Drake reads it.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from mbcli.parsers.source_bytes import named_content
from mbcli.parsers.spec import SourceFile, SourceLocation

from mbcli.common.suggestions import name_or_list
from mbcli.config.config_fields import ValueProblem, describe

if TYPE_CHECKING:
    import os
    from collections.abc import ItemsView, Iterator, KeysView
    from types import ModuleType
    from typing import NoReturn

    from mbcli.parsers.diagnostics import Diagnostics

MAX_BYTES = 4 * 2**20
MAX_NODES = 250_000  # with every alias counted by its anchor
MAX_DEPTH = 64

ANY_TAG = object()  # as `tags` of read_yaml: every local tag may occur; whoever reads a node checks its tag

_STANDARD = "tag:yaml.org,2002:"

_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


def read_yaml(
    source: str | os.PathLike[str] | bytes, diagnostics: Diagnostics, tags: Any = (), *, name: str | None = None
) -> YamlNode | None:
    """The root node of a YAML file, or None if it cannot be used (the errors are in `diagnostics`).

    source: a path, or the bytes of a document. tags: the custom tags that may occur, as written ("!Rpy"),
    any other is an error; or ANY_TAG. name: that of the file in places; default: the path as given.
    """
    name, content = named_content(source, MAX_BYTES + 1, name, diagnostics)
    if content is None:
        return None
    text = _decode(content, name, diagnostics)
    if text is None:
        return None
    document = SourceFile(name, hashlib.sha256(content).hexdigest(), content)
    try:
        return _Composer(document, text, diagnostics, tags).root()
    except _Stop:
        return None


def scalar_value(text: str) -> bool | float | str | None:
    """The meaning of a plain scalar in the YAML 1.2 core schema: None, bool, int, float or str.

    :raises ValueProblem: a number too large for its type.
    """
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _OCTAL_OR_HEX.fullmatch(text):
        return int(text, 0)
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
    except ValueError:  # more digits than Python converts
        raise ValueProblem("VALUE_RANGE", "the integer has too many digits") from None
    if _FLOAT.fullmatch(text):
        number = float(text)
        if number in (float("inf"), float("-inf")):
            raise ValueProblem("VALUE_RANGE", f"the number {text[:60]} is too large", "infinity is written .inf")
        return number
    found = _NOT_FINITE.fullmatch(text)
    if found:
        return float("nan") if found[1] is None else float(found[1] + "inf")
    return text


class YamlNode:
    """A scalar, sequence or mapping of a YAML file.

    kind: "scalar", "sequence" or "mapping". value: None, bool, int, float or str; a list of nodes; a dict
    of nodes by key. tag: the custom tag, else None. text: a scalar as written. place: that of its start (of
    an alias: that of its anchor). document: the file (`spec.SourceFile`). key_places: those of a mapping's keys.
    size: how many nodes it is, itself and keys' values counted; height: how deep they are nested, 1 for a scalar.
    """

    __slots__ = ("kind", "value", "tag", "text", "place", "document", "key_places", "size", "height")

    def __init__(
        self,
        kind: str,
        value: Any,
        place: SourceLocation,
        document: SourceFile,
        tag: str | None = None,
        text: str | None = None,
    ) -> None:
        self.kind = kind
        self.value = value
        self.place = place
        self.document = document
        self.tag = tag
        self.text = text
        self.key_places: dict[str, SourceLocation] = {}
        self.size = 1
        self.height = 1

    def get(self, key: str) -> YamlNode | None:
        """The node under a key; None if there is none or this is not a mapping."""
        return self.value.get(key) if self.kind == "mapping" else None

    def keys(self) -> KeysView[str]:
        """The keys of a mapping; of anything else none."""
        return self.value.keys() if self.kind == "mapping" else {}.keys()

    def items(self) -> ItemsView[str, YamlNode]:
        """The (key, node) pairs of a mapping; of anything else none."""
        return self.value.items() if self.kind == "mapping" else {}.items()

    def key_place(self, key: str) -> SourceLocation:
        """The place of a key of a mapping."""
        return self.key_places.get(key, self.place)

    def __iter__(self) -> Iterator[YamlNode]:
        """The items of a sequence; of anything else none."""
        return iter(self.value if self.kind == "sequence" else ())

    def __len__(self) -> int:
        """Number of items or keys; 0 for a scalar."""
        return 0 if self.kind == "scalar" else len(self.value)

    def __bool__(self) -> bool:
        return True  # an empty mapping is still a node

    def __repr__(self) -> str:
        return f"<YamlNode {self.place}: {self.describe()}>"

    def describe(self) -> str:
        """The node in words, for a message."""
        if self.kind == "mapping":
            return f"a mapping of {len(self)} keys"
        if self.kind == "sequence":
            return f"a list of {len(self)} items"
        return describe(self.value)

    def adopt(self, child: YamlNode) -> None:
        """Counts what a child brings to the size and the height; `value` holds the child itself."""
        self.size += child.size
        self.height = max(self.height, child.height + 1)

    def plain(self) -> Any:
        """The node as Python data: dict, list and scalars; a node with a custom tag is the pair (tag,
        data)."""
        if self.kind == "mapping":
            data: Any = {key: child.plain() for key, child in self.value.items()}
        elif self.kind == "sequence":
            data = [child.plain() for child in self.value]
        else:
            data = self.value
        return data if self.tag is None else (self.tag, data)


# -------------------------------------------------------------------------------------- from bytes to nodes


class _Stop(Exception):
    """The document cannot be read further; the reason is already in the diagnostics."""


def _loader(yaml: ModuleType) -> Any:
    """That of libyaml, if PyYAML is built with it: the same events, 20 times faster."""
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Composer:
    """Builds the nodes of one document from the parser's events, within the budgets."""

    def __init__(self, document: SourceFile, text: str, diagnostics: Diagnostics, tags: Any) -> None:
        import yaml  # late: a command that reads no YAML does not wait for it

        self._document = document
        self._diagnostics = diagnostics
        self._tags = () if tags is ANY_TAG else tuple(tags)
        self._any_tag = tags is ANY_TAG
        self._yaml = yaml
        self._events = yaml.parse(text, Loader=_loader(yaml))
        self._anchors: dict[str, YamlNode | None] = {}  # name -> node, None while the node is being built
        self._nodes = 0

    def root(self) -> YamlNode:
        self._next()  # the start of the stream
        event = self._next()
        if isinstance(event, self._yaml.StreamEndEvent):
            return YamlNode("scalar", None, SourceLocation(self._document.path), self._document, text="")
        if event.version is not None and event.version != (1, 2):
            found = ".".join(str(part) for part in event.version)
            self._stop("YAML_VERSION", f"the document states YAML {found}; only 1.2 is read", event.start_mark)
        node = self._node(self._next(), 1)
        self._next()  # the end of the document
        event = self._next()
        if not isinstance(event, self._yaml.StreamEndEvent):
            self._stop("YAML_DOCUMENTS", "the file has more than one document", event.start_mark)
        return node

    # ------------------------------------------------------------------------------------------ nodes

    def _node(self, event: Any, depth: int) -> YamlNode:
        if isinstance(event, self._yaml.AliasEvent):
            return self._alias(event, depth)
        self._count(1, depth, event.start_mark)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        if isinstance(event, self._yaml.ScalarEvent):
            node = self._scalar(event)
        elif isinstance(event, self._yaml.SequenceStartEvent):
            node = self._sequence(event, depth)
        else:
            node = self._mapping(event, depth)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any, depth: int) -> YamlNode:
        if event.anchor not in self._anchors:
            self._stop("YAML_ALIAS", f'alias "*{event.anchor}" has no anchor before it', event.start_mark)
        node = self._anchors[event.anchor]
        if node is None:
            self._stop("YAML_ALIAS", f'alias "*{event.anchor}" stands inside its own anchor', event.start_mark)
        self._count(node.size, depth + node.height - 1, event.start_mark)
        return node

    def _scalar(self, event: Any) -> YamlNode:
        place = self._place(event.start_mark)
        tag = self._tag(event, "scalar")
        try:
            if tag is not None and tag.startswith(_STANDARD):
                value = _standard_value(tag.removeprefix(_STANDARD), event.value)
            else:
                value = scalar_value(event.value) if not event.style and tag != "!" else event.value
        except ValueProblem as problem:
            self._diagnostics.error(problem.code, str(problem), place=place, value=event.value[:60], hint=problem.hint)
            value = None
        return YamlNode("scalar", value, place, self._document, self._custom(tag), event.value)

    def _sequence(self, event: Any, depth: int) -> YamlNode:
        tag = self._tag(event, "seq")
        node = YamlNode("sequence", [], self._place(event.start_mark), self._document, self._custom(tag))
        item = self._next()
        while not isinstance(item, self._yaml.SequenceEndEvent):
            child = self._node(item, depth + 1)
            node.value.append(child)
            node.adopt(child)
            item = self._next()
        return node

    def _mapping(self, event: Any, depth: int) -> YamlNode:
        tag = self._tag(event, "map")
        node = YamlNode("mapping", {}, self._place(event.start_mark), self._document, self._custom(tag))
        merged: dict[Any, Any] = {}
        key_event = self._next()
        while not isinstance(key_event, self._yaml.MappingEndEvent):
            key, place = self._key(key_event, depth), self._place(key_event.start_mark)
            child = self._node(self._next(), depth + 1)
            node.adopt(child)
            target = merged if key == "<<" and not key_event.style else node.value
            if key in target:
                self._diagnostics.error(
                    "DUPLICATE_KEY",
                    f'duplicate key "{key}"',
                    place=place,
                    attribute=key,
                    related=(node.key_places[key],),
                )
            else:
                target[key] = child
                node.key_places[key] = place
            key_event = self._next()
        for child in merged.values():
            self._merge(node, child)
        return node

    def _key(self, event: Any, depth: int) -> str:
        self._count(1, depth, event.start_mark)
        if not isinstance(event, self._yaml.ScalarEvent) or event.tag is not None or event.anchor is not None:
            self._stop("YAML_KEY", "a key must be a plain or quoted string", event.start_mark)
        if event.value == "" and not event.style:
            self._stop("YAML_KEY", "a key is missing before this colon", event.start_mark)
        return event.value

    def _merge(self, node: YamlNode, source: YamlNode) -> None:
        """Take over the keys of the mapping(s) under `<<`: keys of the node itself and earlier ones win."""
        for mapping in source if source.kind == "sequence" else (source,):
            if mapping.kind != "mapping":
                message = f'"<<" takes a mapping or a list of mappings; found {mapping.describe()}'
                self._diagnostics.error("YAML_MERGE", message, place=mapping.place)
                continue
            for key, child in mapping.items():
                if key not in node.value:
                    node.value[key] = child
                    node.key_places[key] = mapping.key_place(key)

    # ------------------------------------------------------------------------------------------ tags

    def _tag(self, event: Any, shape: str) -> str | None:
        """The tag of an event, checked; None without one. shape: "scalar", "seq" or "map"."""
        tag = event.tag
        if tag is None or tag == "!" or self._custom(tag):
            return tag
        standard = _STANDARD_SCALARS if shape == "scalar" else {shape}
        if tag.startswith(_STANDARD) and tag.removeprefix(_STANDARD) in standard:
            return tag
        written = tag.replace(_STANDARD, "!!")[:60]
        hint = name_or_list(written, self._tags) if self._tags else "no custom tags are read here"
        self._diagnostics.error(
            "YAML_TAG",
            f'unknown tag "{written}"',
            place=self._place(event.start_mark),
            value=written,
            hint=hint,
        )
        return None

    def _custom(self, tag: str | None) -> str | None:
        """The tag if it is a custom one that may occur, else None."""
        local = tag is not None and tag.startswith("!") and tag != "!"
        return tag if tag in self._tags or (local and self._any_tag) else None

    # ----------------------------------------------------------------------------------- events and budgets

    def _next(self) -> Any:
        try:
            return next(self._events)
        except self._yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            if "nesting depth" in (error.problem or ""):  # of libyaml, which reads ahead of the events that it gives
                self._too_deep(mark)
            problem = ", ".join(part for part in (error.context, error.problem) if part)
            self._stop("YAML_SYNTAX", problem, mark)
        except self._yaml.reader.ReaderError as error:
            self._stop("YAML_SYNTAX", f"the character U+{_code_point(error.character):04X} is not allowed", None)
        except ValueError as error:  # PyYAML converts the numbers of a %YAML line without checking them
            self._stop("YAML_SYNTAX", f"the document cannot be read: {error}", None)

    def _count(self, size: int, depth: int, mark: Any) -> None:
        self._nodes += size
        if self._nodes > MAX_NODES:
            self._stop("YAML_TOO_LARGE", f"the file has more than {MAX_NODES} nodes, aliases expanded", mark)
        if depth > MAX_DEPTH:
            self._too_deep(mark)

    def _too_deep(self, mark: Any) -> NoReturn:
        self._stop("YAML_TOO_DEEP", f"nesting is deeper than {MAX_DEPTH} levels", mark)

    def _place(self, mark: Any) -> SourceLocation:
        if mark is None:
            return SourceLocation(self._document.path)
        return SourceLocation(self._document.path, mark.line + 1, mark.column + 1)

    def _stop(self, code: str, message: str, mark: Any) -> NoReturn:
        self._diagnostics.error(code, message, place=self._place(mark))
        raise _Stop


_STANDARD_SCALARS = {"str": str, "int": int, "float": float, "bool": bool, "null": type(None)}


def _standard_value(name: str, text: str) -> float | str | None:
    """The value of a scalar with one of the core schema's own tags, as `!!float 1`."""
    if name == "str":
        return text
    value = scalar_value(text)
    if name == "float" and type(value) is int:
        return float(value)
    if type(value) is not _STANDARD_SCALARS[name]:
        raise ValueProblem("VALUE_TYPE", f'"{text[:60]}" is not a !!{name}')
    return value


def _code_point(character: int | str | bytes) -> int:
    return character if isinstance(character, int) else ord(character[:1])


def _decode(content: bytes, name: str, diagnostics: Diagnostics) -> str | None:
    if len(content) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 2**20} MiB"
        diagnostics.error("YAML_TOO_LARGE", message, place=SourceLocation(name))
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        diagnostics.error("YAML_ENCODING", "the file is not UTF-8 here", place=SourceLocation(name, line))
        return None
