"""YAML as Python data, by the rules of PyYAML and within the limits of `yaml_source`.

Plain scalars mean what YAML 1.1 takes them for: `yes` is True, and `1e3` is a string. No tag makes an object: one that
YAML does not define is the item "_tag" of its mapping. The parser is libyaml where PyYAML has it.
"""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import yaml
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.yaml_source import MAX_BYTES, MAX_DEPTH, MAX_NODES

from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DIGITS = 3500  # of an integer in any notation: Python takes quadratic time, and prints no more than 4300


def read_data(text: str | bytes, name: str) -> Any:
    """The data of one document, called `name` in messages.

    An error of PyYAML, in one line, for what is no YAML; ValueError, KeyError, OverflowError or AttributeError for a
    scalar that is not what its tag or its form says, as the date 2020-13-45; ModelError beyond a limit.
    """
    if len(text) > MAX_BYTES:
        raise ModelError(f"{name}: the document is larger than {MAX_BYTES // 2**20} MiB")
    try:
        _require_limits(text, name)
        loader = _Loader(text)
        loader.document = name
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:  # a character that YAML does not have
        error.name = name
        raise
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise type(error)(problem=f"{_place(name, error.problem_mark or error.context_mark)}: {problem}") from None


def data_text(data: Any) -> str:
    """The text of data: keys sorted, and what is flat in one line."""
    try:
        return yaml.dump(data, Dumper=_Dumper, default_flow_style=None)
    except yaml.representer.RepresenterError as error:
        error.args = (f"{error.args[0]}; for objects of classes use yaml_dump_typed", *error.args[1:])
        raise


def object_text(data: Any) -> str:
    """The text of the data of an object: keys as they are, each in a line; flat lists in one line."""
    return yaml.dump(data, Dumper=_BlockDumper, default_flow_style=None, sort_keys=False)


@dataclasses.dataclass
class Tagged:
    """A scalar whose tag `object_text` writes, though its text would tell it."""

    value: Any


@contextmanager
def placed(place: object) -> Iterator[None]:
    """An error inside has the place before its message."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        error.args = (f"{place}: {error}",)
        raise


def _place(name: str, mark: Any) -> SourceLocation:
    return SourceLocation(name, mark.line + 1, mark.column + 1) if mark else SourceLocation(name)


def _require_limits(text: str | bytes, name: str) -> None:
    """ModelError for a document with too many nodes, aliases expanded, or too deep, or with an anchor inside itself."""
    count = 0
    anchors: dict[str | None, tuple[int, int]] = {}  # how many nodes are there, and how many levels
    around: list[list[Any]] = []  # nodes that are not at their end: anchor, count before it, deepest level inside
    for event in yaml.parse(text, Loader=_BASE):
        if isinstance(event, yaml.NodeEvent):
            size, height = 1, 1
            if isinstance(event, yaml.AliasEvent):
                if any(event.anchor == node[0] for node in around):
                    place = _place(name, event.start_mark)
                    raise ModelError(f'{place}: alias "*{event.anchor}" stands inside its own anchor')
                size, height = anchors.get(event.anchor, (1, 1))  # if it has none, the loader says so
            around.append([event.anchor, count, len(around) + height])
            count += size
            if count > MAX_NODES:
                raise ModelError(f"{_place(name, event.start_mark)}: more than {MAX_NODES} nodes, aliases expanded")
            if around[-1][2] > MAX_DEPTH:
                raise ModelError(f"{_place(name, event.start_mark)}: nesting is deeper than {MAX_DEPTH} levels")
        if isinstance(event, (yaml.AliasEvent, yaml.ScalarEvent, yaml.CollectionEndEvent)):
            anchor, before, deepest = around.pop()
            anchors[anchor] = count - before, deepest - len(around)
            if around:
                around[-1][2] = max(around[-1][2], deepest)


_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):
    """PyYAML's safe loader; a tag that YAML does not define becomes an item of its mapping."""

    document = ""  # its name

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            return super().construct_object(node, deep)
        with placed(_place(self.document, node.start_mark)):
            if node.tag == "tag:yaml.org,2002:int" and len(node.value) > MAX_DIGITS:
                raise ValueError("the integer has too many digits")
            return super().construct_object(node, deep)

    def construct_tagged(self, node: Any) -> dict[Any, Any]:
        return {**self.construct_mapping(node, deep=True), "_tag": node.tag}


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper; the item "_tag" of a dict becomes its tag."""

    def represent_tagged(self, data: dict[Any, Any]) -> Any:
        if "_tag" not in data:
            return self.represent_dict(data)
        return self.represent_mapping(data["_tag"], {key: value for key, value in data.items() if key != "_tag"})


class _BlockDumper(_Dumper):
    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = False) -> Any:
        return super().represent_mapping(tag, mapping, flow_style)

    def represent_scalar_with_tag(self, data: Tagged) -> Any:
        node = self.represent_data(data.value)
        return yaml.ScalarNode(node.tag, _TaggedText(node.value))

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        return None if isinstance(value, _TaggedText) else super().resolve(kind, value, implicit)


class _TaggedText(str):
    """The text of such a scalar: no tag follows from it."""


_Loader.add_constructor(None, _Loader.construct_tagged)
_Dumper.add_representer(dict, _Dumper.represent_tagged)
_BlockDumper.add_representer(Tagged, _BlockDumper.represent_scalar_with_tag)
