"""Records (dataclasses) filled from YAML nodes.

`read_into` takes types, ranges and choices from the fields of the record, reports unknown and missing keys, and
gives each finding its place.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import TYPE_CHECKING

from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.yaml_source import ANY_TAG, read_yaml

from mbcli.common.suggestions import name_or_list
from mbcli.config.config_fields import ValueProblem, accept

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeVar

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import SourceFile
    from mbcli.parsers.yaml_source import YamlNode

    T = TypeVar("T")  # a record

_FAILED = object()


def read_into(
    record_type: type[T],
    node: YamlNode,
    diagnostics: Diagnostics,
    unsupported: Sequence[str] = (),
    elsewhere: Sequence[str] = (),
) -> T | None:
    """A dataclass filled from a mapping, or None if the mapping has errors (they are in `diagnostics`).

    unsupported: keys that the format defines and the program does not use yet; each that occurs is a warning.
    elsewhere: keys that the caller reads into another record.

    Field types: bool, int, float, str, another dataclass, `T | None`, `tuple[T, ...]`, `tuple[T, T, T]`,
    `list[T]`, `dict[str, T]`, and `T | Record1 | Record2`, of which the tag `!Record1` chooses one and T is read
    without a tag. Ranges and choices are those of `config_fields.setting`. Fields without a default must be
    there. A field `place: SourceLocation` is not a key: it receives the place of the mapping.
    """
    if _has_tag(node, record_type.__name__, diagnostics):
        return None
    return _read_record(record_type, node, diagnostics, unsupported, elsewhere)


def read_file(
    record_type: type[T],
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    name: str | None = None,
    sources: list[SourceFile] | None = None,
) -> T | None:
    """read_into() of a whole file, a path or bytes, called `name` in places; it is added to `sources`, if given."""
    root = read_yaml(source, diagnostics, tags=ANY_TAG, name=name)
    if root is None:
        return None
    if sources is not None:
        sources.append(root.document)
    return read_into(record_type, root, diagnostics)


def _read_record(
    record_type: type[T],
    node: YamlNode,
    diagnostics: Diagnostics,
    unsupported: Sequence[str] = (),
    elsewhere: Sequence[str] = (),
) -> T | None:
    """read_into() whatever the tag of the node."""
    if node.kind != "mapping":
        message = f"{record_type.__name__} must be a mapping; found {node.describe()}"
        diagnostics.error("VALUE_TYPE", message, place=node.place)
        return None
    kinds = typing.get_type_hints(record_type)
    record: Any = record_type
    fields = {field.name: field for field in dataclasses.fields(record) if field.init}
    placed = kinds.get("place") is SourceLocation and fields.pop("place", None) is not None
    values = {
        key: _read_value(kinds[key], child, fields[key].metadata, key, diagnostics)
        for key, child in node.items()
        if key in fields
    }
    complete = _report_keys(record_type, node, fields, diagnostics, unsupported, elsewhere)
    if not complete or any(value is _FAILED for value in values.values()):
        return None
    if placed:
        values["place"] = node.place
    try:
        return record_type(**values)
    except (ValueError, RuntimeError) as error:  # the checks of the record itself
        diagnostics.error("VALUE_INVALID", str(error), place=node.place)
        return None


def _has_tag(node: YamlNode, label: str, diagnostics: Diagnostics) -> bool:
    """Report a custom tag if none is expected; True if there is one."""
    if node.tag is not None:
        message = f'{label} takes no tag; found "{node.tag}"'
        diagnostics.error("YAML_TAG", message, place=node.place, attribute=label, value=node.tag)
    return node.tag is not None


def _report_keys(
    record_type: type,
    node: YamlNode,
    fields: Mapping[str, dataclasses.Field[Any]],
    diagnostics: Diagnostics,
    unsupported: Sequence[str],
    elsewhere: Sequence[str],
) -> bool:
    """Report unsupported, unknown and missing keys; True if none is unknown or missing."""
    for key in unsupported:
        if node.get(key) is not None:
            message = f'"{key}" is not used yet'
            diagnostics.warning("KEY_UNSUPPORTED", message, place=node.key_place(key), attribute=key)
    known = [*fields, *elsewhere, *unsupported]
    unknown = [key for key, _ in node.items() if key not in known]
    for key in unknown:
        hint = name_or_list(key, known) if known else None
        message = f'unknown key "{key}" in {record_type.__name__}'
        diagnostics.error("KEY_UNKNOWN", message, place=node.key_place(key), attribute=key, hint=hint)
    required = [field.name for field in fields.values() if _is_required(field)]
    missing = [name for name in required if node.get(name) is None]
    for name in missing:
        message = f'key "{name}" of {record_type.__name__} is missing'
        diagnostics.error("KEY_MISSING", message, place=node.place, attribute=name)
    return not unknown and not missing


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _read_value(kind: Any, node: YamlNode, declaration: Mapping[str, Any], label: str, diagnostics: Diagnostics) -> Any:
    """The node as a value of a field type, or _FAILED after reporting why not."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _read_alternative(arguments, node, declaration, label, diagnostics)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        record = read_into(kind, node, diagnostics)
        return _FAILED if record is None else record
    if _has_tag(node, label, diagnostics):
        return _FAILED
    if origin in (tuple, list):
        return _read_sequence(origin, arguments, node, declaration, label, diagnostics)
    if origin is dict:
        return _read_mapping(arguments[1], node, declaration, label, diagnostics)
    try:
        return accept(kind, node.value if node.kind == "scalar" else _Described(node), declaration)
    except ValueProblem as problem:
        diagnostics.error(
            problem.code,
            f"{label} {problem}",
            place=node.place,
            attribute=label,
            value=node.text,
            hint=problem.hint,
        )
        return _FAILED


def _read_alternative(
    kinds: Sequence[Any], node: YamlNode, declaration: Mapping[str, Any], label: str, diagnostics: Diagnostics
) -> Any:
    """The node as the one of several types that its tag names, or as the first without a tag."""
    tagged = {f"!{kind.__name__}": kind for kind in kinds if isinstance(kind, type) and dataclasses.is_dataclass(kind)}
    if node.tag is None:
        if types.NoneType in kinds and node.kind == "scalar" and node.value is None:
            return None
        first = next(kind for kind in kinds if kind is not types.NoneType)
        if not _lacks_tag(first, tagged, node, label, diagnostics):
            return _read_value(first, node, declaration, label, diagnostics)
        return _FAILED
    if not tagged:
        _has_tag(node, label, diagnostics)
        return _FAILED
    if node.tag not in tagged:
        message = f'{label} takes no tag "{node.tag}"'
        hint = name_or_list(node.tag, tagged)
        diagnostics.error("YAML_TAG", message, place=node.place, attribute=label, value=node.tag, hint=hint)
        return _FAILED
    record = _read_record(tagged[node.tag], node, diagnostics)
    return _FAILED if record is None else record


def _lacks_tag(first: Any, tagged: Mapping[str, Any], node: YamlNode, label: str, diagnostics: Diagnostics) -> bool:
    """Report a mapping without a tag whose keys are those of a type that needs one; True if it is such."""
    if node.kind != "mapping" or not node.keys():
        return False
    fitting = [tag for tag, kind in tagged.items() if node.keys() <= {field.name for field in dataclasses.fields(kind)}]
    if not fitting or tagged[fitting[0]] is first:
        return False
    message = f"{label} with the keys {', '.join(node.keys())} needs the tag {' or '.join(fitting)}"
    diagnostics.error("YAML_TAG", message, place=node.place, attribute=label)
    return True


class _Described:
    """Stands for a collection if a scalar is wanted, so that the message describes it."""

    def __init__(self, node: YamlNode) -> None:
        self._node = node

    def __repr__(self) -> str:
        return self._node.describe()


def _read_sequence(
    origin: Any,
    kinds: Sequence[Any],
    node: YamlNode,
    declaration: Mapping[str, Any],
    label: str,
    diagnostics: Diagnostics,
) -> Any:
    fixed = len(kinds) if origin is tuple and kinds[-1] is not Ellipsis else None
    wanted = "a list" if fixed is None else f"a list of {fixed} items"
    if node.kind != "sequence" or (fixed is not None and len(node) != fixed):
        message = f"{label} must be {wanted}; found {node.describe()}"
        diagnostics.error("VALUE_TYPE", message, place=node.place, attribute=label, value=node.text)
        return _FAILED
    values = [
        _read_value(kinds[0] if fixed is None else kinds[i], item, declaration, f"{label}[{i}]", diagnostics)
        for i, item in enumerate(node)
    ]
    return _FAILED if any(value is _FAILED for value in values) else origin(values)


def _read_mapping(
    kind: Any, node: YamlNode, declaration: Mapping[str, Any], label: str, diagnostics: Diagnostics
) -> Any:
    if node.kind != "mapping":
        message = f"{label} must be a mapping; found {node.describe()}"
        diagnostics.error("VALUE_TYPE", message, place=node.place, attribute=label, value=node.text)
        return _FAILED
    values = {key: _read_value(kind, child, declaration, f"{label}.{key}", diagnostics) for key, child in node.items()}
    return _FAILED if any(value is _FAILED for value in values.values()) else values
