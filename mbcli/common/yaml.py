"""YAML as Python data, and as objects of a schema, under the names of pydrake.common.yaml.

Documents are untrusted: their size, their depth and their nodes, aliases expanded, are bounded, and no tag makes an
object. What is no YAML is an error of PyYAML, and what does not fit a schema a ModelError (a RuntimeError), unless a
function says otherwise. Messages are one line: file, line and column or keys, and what is wrong there.
"""

from __future__ import annotations

import copy
import typing
from typing import TYPE_CHECKING, Any

from mbcli.errors import ModelError
from mbcli.parsers.yaml_data import data_text, object_text, read_data
from mbcli.parsers.yaml_schemas import ABSENT, MAPPINGS, SchemaReader, in_words, object_data
from mbcli.parsers.yaml_source import MAX_BYTES

if TYPE_CHECKING:
    from os import PathLike
    from typing import IO

__all__ = ["yaml_dump", "yaml_dump_typed", "yaml_load", "yaml_load_data", "yaml_load_file", "yaml_load_typed"]


def yaml_load(
    *, data: str | bytes | IO[Any] | None = None, filename: str | PathLike[str] | None = None, private: bool = False
) -> Any:
    """yaml_load_data(data) or yaml_load_file(filename), whichever is given; RuntimeError if not exactly one is."""
    if data is not None and filename is None:
        return yaml_load_data(data, private=private)
    if filename is not None and data is None:
        return yaml_load_file(filename, private=private)
    both = "None" if data is None else "non-None"
    raise RuntimeError(f"one of data and filename must be given, but both were {both}")


def yaml_load_data(data: str | bytes | IO[Any], *, private: bool = False) -> Any:
    """The data of one document: dict, list, str, int, float, bool, None, bytes or a date.

    Plain scalars mean what YAML 1.1 takes them for: `yes` is True, and `1e3` is a string.

    Args:
        data: the document, or a stream of it. A mapping with a tag, as `!Name {x: 1}`, gets the item "_tag": "!Name".
        private: whether the root keeps its keys that begin with an underscore, where templates for anchors stand.
    """
    text = data if isinstance(data, (str, bytes)) else data.read(MAX_BYTES + 1)
    return _without_private(read_data(text, "<string>"), private)


def yaml_load_file(filename: str | PathLike[str], *, private: bool = False) -> Any:
    """As yaml_load_data(), of a file; OSError if it cannot be read, UnicodeDecodeError if it is not UTF-8."""
    with open(filename, encoding="utf-8") as file:
        try:
            text = file.read(MAX_BYTES + 1)
        except UnicodeDecodeError as error:
            error.reason += f" in {filename}"
            raise
    return _without_private(read_data(text, str(filename)), private)


def _without_private(root: Any, private: bool) -> Any:
    if private or not isinstance(root, dict):
        return root
    return {key: value for key, value in root.items() if not str(key).startswith("_")}


def yaml_dump(data: Any, *, filename: str | PathLike[str] | None = None) -> str | None:
    """The text of such data, from which yaml_load(private=True) makes them again; None if it is written to a file."""
    return _written(data_text(data), filename)


def _written(text: str, filename: str | PathLike[str] | None) -> str | None:
    if filename is None:
        return text
    with open(filename, "w", encoding="utf-8") as file:
        file.write(text)
    return None


def yaml_load_typed(
    *,
    schema: Any = None,
    data: str | bytes | IO[Any] | None = None,
    filename: str | PathLike[str] | None = None,
    child_name: str | None = None,
    defaults: Any = None,
    allow_yaml_with_no_schema: bool = False,
    allow_schema_with_no_yaml: bool = True,
    retain_map_defaults: bool = True,
) -> Any:
    """A new object of a schema, filled from one document.

    Types of fields are bool, int, float, str, bytes, Path, np.ndarray, list, tuple, dict and Mapping with string keys,
    other schemas, Optional and unions. In a union the tag `!Name` chooses a class; without a tag a scalar is of its own
    type, if the union has it, and all else of the first type.

    Args:
        schema: a dataclass, a class with `__fields__` or a Mapping from str; default: the type of `defaults`.
        data: the document; or filename: its file.
        child_name: the key of the root where the object is; default: the root itself is the object.
        defaults: has the values of what the document does not name, instead of the schema's own; it stays as it is.
        allow_yaml_with_no_schema: whether keys that the schema does not have are passed over.
        allow_schema_with_no_yaml: whether keys may be missing; if not, Optional fields without their key are None.
        retain_map_defaults: whether a Mapping keeps the defaults of other keys than the document's.

    Raises:
        ValueError: neither schema nor defaults; a string for a number; a tuple of another length.
        KeyError: there is no child of that name.
        TypeError: not a list where one is wanted; a field without a default is missing; defaults of another type.
        AttributeError: not a mapping where a Mapping is wanted.
        AssertionError: not a mapping where a schema is wanted.
        NotImplementedError: a type that is not supported.
    """
    if schema is None and defaults is None:
        raise ValueError("schema or defaults must be given")
    schema = type(defaults) if schema is None else schema
    if not isinstance(schema, type) and typing.get_origin(schema) not in MAPPINGS:
        raise TypeError(f"the schema of a document should have been a dict or a class, not {schema}")
    if defaults is not None and isinstance(schema, type) and not isinstance(defaults, schema):
        raise TypeError(f"defaults must be of the schema {schema.__name__}, not {type(defaults).__name__}")
    root, path = yaml_load(data=data, filename=filename), child_name or ""
    name = "<string>" if filename is None else str(filename)
    reader = SchemaReader(name, allow_yaml_with_no_schema, not allow_schema_with_no_yaml, retain_map_defaults)
    if child_name is not None:
        if not isinstance(root, dict):
            raise TypeError(f'{name}: must be a mapping with the key "{child_name}"; found {in_words(root)}')
        if child_name not in root:
            raise KeyError(f'{name}: the root has no key "{child_name}"')
        root = root[child_name]
    if not isinstance(root, dict):
        raise ModelError(f"{reader.at(path)}: must be a mapping; found {in_words(root)}")
    return reader.read(schema, root, copy.deepcopy(defaults), path)


def yaml_dump_typed(
    data: Any,
    *,
    filename: str | PathLike[str] | None = None,
    schema: Any = None,
    child_name: str | None = None,
    defaults: Any = None,
) -> str | None:
    """The text from which yaml_load_typed() makes an object again; None if it is written to a file.

    Args:
        data: the object.
        schema: as that of yaml_load_typed(); default: the type of the object.
        child_name: the key of the root where it is written; default: it is the root itself.
        defaults: what is equal in this object is left out. That a Mapping lacks a key of its default cannot be said.

    Raises:
        NotImplementedError: a type that is not supported.
        TypeError: a value that is not of its type, or one of a union that no tag can tell, as a list beside others.
    """
    schema = type(data) if schema is None else schema
    tree = object_data(schema, data, ABSENT if defaults is None else defaults, getattr(schema, "__name__", str(schema)))
    tree = tree if child_name is None else {child_name: tree}
    if not isinstance(tree, dict):
        raise ModelError(f"the root of a document should have been a dict; found {in_words(tree)}")
    return _written(object_text(tree), filename)
