"""Objects of schemas, that is of dataclasses and of classes with `__fields__`, from YAML's data and back.

Types of fields are bool, int, float, str, bytes, Path, np.ndarray, list, tuple, dict and Mapping with string keys,
other schemas, Optional and unions. `yaml_records` reads records of mbcli's own files, with a finding for each fault;
here, as pydrake.common.yaml does it, the first fault is an exception, and objects that are there already are filled.
"""

from __future__ import annotations

import collections.abc
import copy
import dataclasses
import types
import typing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from mbcli.parsers.spec import SourceLocation
from mbcli.parsers.yaml_data import Tagged, placed

from mbcli.common.suggestions import name_or_list
from mbcli.config.config_fields import describe
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCALARS: dict[Any, Any] = {  # {type: what makes YAML's data of its values}
    bool: bool,
    int: int,
    float: float,
    str: str,
    bytes: lambda value: bytes(memoryview(value)),
    Path: str,
}
UNIONS = (typing.Union, types.UnionType)
SEQUENCES = (list, tuple)
MAPPINGS = (dict, collections.abc.Mapping)
ABSENT = object()


class UnsupportedSchemaError(NotImplementedError, AssertionError):
    """A type that is no schema, nor of a field of one: pydrake raises one or the other."""


@lru_cache(maxsize=256)
def _fields(kind: Any) -> dict[str, Any] | None:
    """{name: type} of a schema; None of other types."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)  # the place of a record in a file is no key of it
        return {f.name: hints[f.name] for f in dataclasses.fields(kind) if hints[f.name] is not SourceLocation}
    return {field.name: field.type for field in kind.__fields__} if hasattr(kind, "__fields__") else None


def _default(kind: Any, name: str) -> Any:
    """The default of a field, which may be changed; None without one."""
    field = getattr(kind, "__dataclass_fields__", {}).get(name)
    if field is None or field.default_factory is field.default:
        return None
    return copy.deepcopy(field.default if field.default is not dataclasses.MISSING else field.default_factory())


def _is_optional(kind: Any) -> bool:
    return typing.get_origin(kind) in UNIONS and types.NoneType in typing.get_args(kind)


def _item_kinds(origin: Any, arguments: Sequence[Any], count: int) -> Sequence[Any]:
    """The types of the items of a list or tuple; ValueError if a tuple has another number of items."""
    if origin is list or arguments[-1] is Ellipsis:
        return [arguments[0]] * count
    if len(arguments) != count:
        raise ValueError(f"must have {len(arguments)} items; found {count}")
    return arguments


def in_words(value: Any) -> str:
    """A value in a message."""
    if isinstance(value, (dict, list, set)):
        return f"a {'mapping' if isinstance(value, dict) else type(value).__name__} of {len(value)}"
    return describe(value)


def _names(kinds: Sequence[Any]) -> str:
    return ", ".join(str(getattr(kind, "__name__", kind)) for kind in kinds)


def _below(path: str, key: Any) -> str:
    """The path of an item, as `a.b`; what a file says stays in one line."""
    text = (str(key) if str(key).isprintable() else repr(key))[:60]
    return f"{path}.{text}" if path else text


# ---------------------------------------------------------------------------------------- data to objects


@dataclasses.dataclass
class SchemaReader:
    """Makes objects of data.

    name: of the document in messages. allows_more: whether keys that a schema does not have are passed over.
    wants_all: whether keys may not be missing, but those of Optional fields, which are None then. retains: whether a
    Mapping keeps the defaults of other keys than the document's.
    """

    name: str
    allows_more: bool = False
    wants_all: bool = False
    retains: bool = True

    def at(self, path: str) -> str:
        """The document and the keys of a value in it, as `file.yaml: a.b[2]`."""
        return f"{self.name}: {path}" if path else self.name

    def read(self, kind: Any, value: Any, old: Any = None, path: str = "") -> Any:
        """The value of a type; `old`, if it is of that type, has what the data do not have, and may be changed."""
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in UNIONS:
            return self._read_union(arguments, value, old, path)
        if kind in SCALARS:
            return self._read_scalar(kind, value, path)
        if kind is np.ndarray:
            with placed(self.at(path)):
                return np.array(value, dtype=float)
        if origin in SEQUENCES and arguments:
            if not isinstance(value, list):
                raise TypeError(f"{self.at(path)}: must be a list; found {in_words(value)}")
            with placed(self.at(path)):
                kinds = _item_kinds(origin, arguments, len(value))
            return origin(self.read(kinds[k], item, None, f"{path}[{k}]") for k, item in enumerate(value))
        if origin in MAPPINGS and arguments[:1] == (str,):
            if not isinstance(value, dict):
                raise AttributeError(f"{self.at(path)}: must be a mapping; found {in_words(value)}")
            kept = dict(old) if self.retains and isinstance(old, dict) else {}
            return kept | {k: self.read(arguments[1], v, kept.get(k), _below(path, k)) for k, v in value.items()}
        fields = _fields(kind)
        if fields is None:
            raise UnsupportedSchemaError(f"{self.at(path)}: {kind} lacks __fields__, it cannot be read")
        return self._read_record(kind, fields, value, old, path)

    def _read_scalar(self, kind: Any, value: Any, path: str) -> Any:
        number = type(value) in (int, float)
        if kind is bool and value in ("true", "false"):
            return value == "true"
        if (
            type(value) is kind
            or (type(value) is str and kind in (int, float, Path))
            or (number and (kind is float or (kind is int and value % 1 == 0)))
        ):
            with placed(self.at(path)):
                return kind(value)
        raise ModelError(f"{self.at(path)}: must be {kind.__name__}; found {in_words(value)}")

    def _read_union(self, kinds: Sequence[Any], value: Any, old: Any, path: str) -> Any:
        members = [kind for kind in kinds if kind is not types.NoneType]
        if value is None and len(members) < len(kinds):
            return None
        if len(members) == 1:
            return self.read(members[0], value, old, path)
        chosen = type(value) if type(value) in members else members[0]
        if isinstance(value, dict) and "_tag" in value:
            tags = {f"!{getattr(kind, '__name__', kind)}": kind for kind in members}
            tag = _below("", value["_tag"])
            if tag not in tags:
                raise ModelError(f'{self.at(path)}: takes no tag "{tag}", {name_or_list(tag, tags)}')
            chosen = tags[tag]
            value = {key: item for key, item in value.items() if key != "_tag"}
        elif chosen not in SCALARS and not isinstance(value, (dict, list)):
            raise ModelError(f"{self.at(path)}: must be one of {_names(members)}; found {in_words(value)}")
        return self.read(chosen, value, old, path)

    def _read_record(self, kind: Any, fields: Mapping[str, Any], value: Any, old: Any, path: str) -> Any:
        if not isinstance(value, dict):
            raise AssertionError(f"{self.at(path)}: {kind.__name__} must be a mapping; found {in_words(value)}")
        unknown = [_below("", key) for key in value if key not in fields]
        if unknown and not self.allows_more:
            hint = name_or_list(unknown[0], fields) if fields else "it has none"
            raise ModelError(f'{self.at(path)}: unknown key "{unknown[0]}" in {kind.__name__}, {hint}')
        missing = [name for name in fields if name not in value] if self.wants_all else []
        lacking = ", ".join(name for name in missing if not _is_optional(fields[name]))
        if lacking:
            raise ModelError(f"{self.at(path)}: {lacking} missing in {kind.__name__}")
        given = dict.fromkeys(missing)
        for name in [name for name in fields if name in value]:
            before = getattr(old, name, None) if isinstance(old, kind) else _default(kind, name)
            given[name] = self.read(fields[name], value[name], before, _below(path, name))
        with placed(self.at(path)):
            return _filled(kind, given, old)


def _filled(kind: Any, values: Mapping[str, Any], old: Any) -> Any:
    """An object with these values: a new one, or `old` if it is of that type and is not frozen."""
    record = old
    if not isinstance(old, kind):
        known = {name for name, field in getattr(kind, "__dataclass_fields__", {}).items() if field.init}
        record = kind(**{name: value for name, value in values.items() if name in known})
        values = {name: value for name, value in values.items() if name not in known}
    try:
        for name, value in values.items():
            setattr(record, name, value)
    except dataclasses.FrozenInstanceError:
        return dataclasses.replace(record, **values)
    return record


# ---------------------------------------------------------------------------------------- objects to data


def object_data(kind: Any, value: Any, default: Any, path: str) -> Any:
    """The data of a value of a type, without what is equal in `default`, unless that is ABSENT."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in UNIONS:
        return _union_data(arguments, value, default, path)
    with placed(path):
        if kind in SCALARS:
            if value is None:
                raise TypeError(f"must be {kind.__name__}; found None")
            return SCALARS[kind](value)
        if kind is np.ndarray:
            return np.asarray(value, dtype=float).tolist()
        kinds = _item_kinds(origin, arguments, len(value)) if origin in SEQUENCES and arguments else None
    if kinds is not None:
        return [object_data(kinds[k], item, ABSENT, f"{path}[{k}]") for k, item in enumerate(value)]
    if origin in MAPPINGS and arguments[:1] == (str,):
        if not all(isinstance(key, str) for key in value):
            raise ModelError(f"{path}: keys must be strings")
        old = default if isinstance(default, dict) else {}
        return _changed({key: (arguments[1], value[key], old.get(key, ABSENT)) for key in sorted(value)}, path)
    fields = _fields(kind)
    if fields is None:
        raise UnsupportedSchemaError(f"{path}: {kind} lacks __fields__, it cannot be written")
    items = {}
    for name, field in fields.items():
        old = ABSENT if default is ABSENT else getattr(default, name)
        needless = _is_optional(field) and len(typing.get_args(field)) == 2 and old is ABSENT
        if not (needless and getattr(value, name) is None and _default(kind, name) is None):
            items[name] = field, getattr(value, name), old
    return _changed(items, path)


def _changed(items: Mapping[str, tuple[Any, Any, Any]], path: str) -> dict[str, Any]:
    """The data of {key: (type, value, default)} that are not those of the defaults."""
    return {
        key: object_data(kind, value, old, f"{path}.{key}")
        for key, (kind, value, old) in items.items()
        if old is ABSENT or repr(object_data(kind, value, ABSENT, path)) != repr(object_data(kind, old, ABSENT, path))
    }


def _union_data(kinds: Sequence[Any], value: Any, default: Any, path: str) -> Any:
    members = [kind for kind in kinds if kind is not types.NoneType]
    if value is None and len(members) < len(kinds):
        return None
    exact = [kind for kind in members if type(value) is kind]
    chosen: Any = next((kind for kind in exact or members if _is_of(value, kind)), None)
    if chosen is None:
        raise ModelError(f"{path}: must be one of {_names(members)}; found {in_words(value)}")
    data = object_data(chosen, value, default if _is_of(default, chosen) else ABSENT, path)
    if chosen is members[0] or chosen is bytes:
        return data
    if _fields(chosen) is not None:
        return {"_tag": f"!{chosen.__name__}", **data}
    if chosen not in (bool, int, float, str):
        raise TypeError(f"{path}: {chosen} must be the first type of its union to be written")
    return Tagged(data)


def _is_of(value: Any, kind: Any) -> bool:
    """Whether a value can be written as one of a type."""
    kind = typing.get_origin(kind) or kind
    if kind in (list, tuple, np.ndarray):
        return isinstance(value, (list, tuple, np.ndarray))
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind)
