"""JSON Schemas (draft 2020-12) of configuration records, from the declarations of their fields."""

from __future__ import annotations

import dataclasses
import types
import typing
from math import isfinite
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_SCALARS = {bool: "boolean", int: "integer", float: "number", str: "string", types.NoneType: "null"}


def json_schema(record_type: type, definitions: dict[str, Any] | None = None) -> dict[str, Any]:
    """The schema of a record as a dict; those of the records in it go to `definitions`, {name: schema}.

    A record whose class states `exactly_one_key` has one of its keys. Fields named `place` and those that are not given
    to the constructor are not keys. A JSON Schema knows no tags: the alternatives of a tagged value stand in `anyOf`.
    """
    definitions = {} if definitions is None else definitions
    kinds = typing.get_type_hints(record_type)
    keys = [field for field in dataclasses.fields(record_type) if field.init and field.name != "place"]
    schema = {
        "title": record_type.__name__,
        "description": (record_type.__doc__ or "").strip().splitlines()[0],
        "type": "object",
        "additionalProperties": False,
        "properties": {field.name: _field_schema(field, kinds[field.name], definitions) for field in keys},
    }
    required = [field.name for field in keys if _is_required(field)]
    if required:
        schema["required"] = required
    if getattr(record_type, "exactly_one_key", False):
        schema |= {"minProperties": 1, "maxProperties": 1}
    return schema


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _field_schema(field: dataclasses.Field[Any], kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    declaration = field.metadata
    schema = _kind_schema(kind, definitions)
    if not declaration:
        return schema
    unit = f" [{declaration['unit']}]" if declaration["unit"] else ""
    schema = schema | {"description": declaration["doc"] + unit}
    if declaration["choices"]:
        schema["enum"] = list(declaration["choices"])
    if declaration["minimum"] is not None:
        schema["minimum"] = declaration["minimum"]
    if declaration["above"] is not None:
        schema["exclusiveMinimum"] = declaration["above"]
    finite = not isinstance(field.default, float) or isfinite(field.default)  # JSON has no infinity
    if finite and isinstance(field.default, tuple(_SCALARS)):
        schema["default"] = field.default
    return schema


def _kind_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _reference(kind, definitions)
    if origin in (types.UnionType, typing.Union):
        if all(argument in _SCALARS for argument in arguments):
            return {"type": [_SCALARS[argument] for argument in arguments]}
        return {"anyOf": [_kind_schema(argument, definitions) for argument in arguments]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _kind_schema(arguments[1], definitions)}
    if origin is list or (origin is tuple and arguments[-1] is Ellipsis):
        return {"type": "array", "items": _kind_schema(arguments[0], definitions)}
    if origin is tuple:
        size = {"minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", "items": _kind_schema(arguments[0], definitions), **size}
    return {"type": _SCALARS[kind]}


def _reference(record_type: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    name = record_type.__qualname__
    if name not in definitions:
        definitions[name] = None  # being written
        definitions[name] = json_schema(record_type, definitions)
    return {"$ref": f"#/$defs/{name}"}
