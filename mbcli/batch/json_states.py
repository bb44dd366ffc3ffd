"""States from JSON lines: an object a row."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from mbcli.batch.arriving_bytes import text_of_line
from mbcli.batch.state_columns import OPTIONAL_FIELDS, StateColumns, shown
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from typing import NoReturn

    from mbcli.batch.arriving_bytes import LineBatch
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_reader import StateLayout
    from mbcli.math.array_types import Array

LONG_NAMES = {
    "positions": "q",
    "velocities": "v",
    "accelerations": "vdot",
    "forces": "tau",
    "actuation": "u",
}
CHARACTERS_OF_ARRAYS = b"0123456789+-.eE, \t[]"
FIELD = re.compile(rb'[] \t]*[,{][ \t]*"([a-z]+)"[ \t]*:[ \t]*\[?[ \t]*')
NUMBERS = re.compile(rb"[-+.eE0-9]+(?:[ \t]*,[ \t]*[-+.eE0-9]+)*")


def read_json_lines(batches: Iterator[LineBatch], name: str, layout: StateLayout) -> Iterator[Table]:
    reader = _JsonRowReader(layout)
    for number, text in batches:
        table = reader.plain_table(text)
        if table is not None:
            yield table
            continue
        rows: list[dict[str, list[float] | float]] = []
        error = None
        try:
            for offset, line in enumerate(text.split(b"\n")):
                if line.strip():
                    where = f"{name}:{number + offset}"
                    rows.append(reader.row(text_of_line(line, where), where))
        except ModelError as bad_line:
            error = bad_line
        yield len(rows), _stacked(rows)
        if error:
            raise error


def _stacked(rows: list[dict[str, list[float] | float]]) -> dict[str, Array]:
    """Rows of equal fields to one array a field; q and v may come and go, and are filled by the reader."""
    return {field: np.array([row[field] for row in rows], dtype=float) for field in rows[0]} if rows else {}


class _JsonRowReader:
    """Reads one JSON object per line; optional fields of the first row must be in all rows."""

    def __init__(self, layout: StateLayout) -> None:
        self._columns = StateColumns(layout)
        self._names = {field: list(layout.names(field)) for field in ("q", "v", "vdot", "tau", "u")}
        self._defaults = {field: layout.default(field).tolist() for field in self._names}
        self._optional: set[str] | None = None
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)

    def plain_table(self, text: bytes) -> Table | None:
        """The rows of lines that all have the same whole fields in the same order; None if they need a careful look.

        Between the numbers of two fields, all lines have the same text. A bracket and the number of the field take its
        place, so that the lines become one list with a list of numbers for each field of each row.
        """
        marks = _marks_of_line(text.partition(b"\n")[0])
        if marks is None:
            return None
        fields, starts, end = marks
        count, join = text.count(b"\n") + 1, end + b"\n" + starts[0]
        whole = text.startswith(starts[0]) and text.endswith(end) and text.count(join) == count - 1
        if not whole or any(text.count(start) != count for start in starts[1:]):
            return None
        text = text[len(starts[0]) : len(text) - len(end)].replace(join, b"],[0,")
        for k, start in enumerate(starts[1:], 1):
            text = text.replace(start, b"],[%d," % k)
        if text.translate(None, CHARACTERS_OF_ARRAYS):
            return None
        try:
            rows = orjson.loads(b"[[0," + text + b"]]")
            arrays = {field: np.array(rows[k :: len(fields)], dtype=float) for k, field in enumerate(fields)}
        except ValueError:
            return None
        for k, (field, values) in enumerate(arrays.items()):
            width = 1 if field == "time" else len(self._names.get(field, ()))
            if width == 0 or values.shape != (count, 1 + width) or (values[:, 0] != k).any():
                return None
            arrays[field] = values[:, 1] if field == "time" else values[:, 1:]
        given = {field for field in OPTIONAL_FIELDS if field in arrays}
        if self._optional not in (None, given):
            return None
        self._optional = given
        return count, arrays

    def row(self, line: str, where: str) -> dict[str, list[float] | float]:
        """{field: values}: q and v always, the optional fields if they are given."""
        fields: dict[str, list[float] | float] = {}
        named: dict[str, dict[int, float]] = {}
        for key, value in self._object(line, where).items():
            field = LONG_NAMES.get(key, key)
            if field not in self._names:
                self._add_component(self._columns.find(key, where), key, value, fields, named, where)
            elif isinstance(value, dict):
                for name, number in value.items():
                    target = (field, self._columns.component(field, name, where))
                    self._add_component(target, name, number, fields, named, where)
            elif field in fields or field in named:
                raise ModelError(f"{where}: error: {shown(key)} gives {field} a second time")
            else:
                fields[field] = self._array(field, value, where)
        for field, values in named.items():
            filled = self._defaults[field].copy()
            for index, number in values.items():
                filled[index] = number
            fields[field] = filled
        self._check_optional(fields, where)
        return {"q": self._defaults["q"], "v": self._defaults["v"], **fields}

    def _object(self, line: str, where: str) -> dict[str, Any]:
        try:
            value = self._decoder.decode(line)
        except json.JSONDecodeError as error:
            raise ModelError(f"{where}:{error.colno}: error: not JSON: {error.msg}") from None
        except RecursionError:
            raise ModelError(f"{where}: error: nested too deeply") from None
        except ValueError as error:
            raise ModelError(f"{where}: error: {error}") from None
        if not isinstance(value, dict):
            raise ModelError(f"{where}: error: expected one JSON object per line, got {_kind(value)}")
        return value

    def _array(self, field: str, value: Any, where: str) -> list[float]:
        names = self._names[field]
        if not isinstance(value, list):
            raise ModelError(f"{where}: error: {field} is {_kind(value)}, expected an array or an object")
        if len(value) != len(names):
            raise ModelError(f"{where}: error: {field} has {len(value)} values, the model has {len(names)}")
        if not _are_numbers(value):
            for index, number in enumerate(value):
                _number(number, f"{where}: error: {field}[{index}] ({shown(names[index])})")
        return value

    def _add_component(
        self,
        target: tuple[str, int],
        name: str,
        value: Any,
        fields: dict[str, list[float] | float],
        named: dict[str, dict[int, float]],
        where: str,
    ) -> None:
        field, index = target
        number = _number(value, f"{where}: error: {shown(name)}")
        if field in fields or index in named.get(field, ()):
            raise ModelError(f"{where}: error: {shown(name)} is given a second time")
        if field == "time":
            fields[field] = number
        else:
            named.setdefault(field, {})[index] = number

    def _check_optional(self, fields: Mapping[str, Any], where: str) -> None:
        given = {field for field in OPTIONAL_FIELDS if field in fields}
        if self._optional is None:
            self._optional = given
        for field in sorted(given ^ self._optional):
            has, had = ("has", "did not have") if field in given else ("does not have", "had")
            raise ModelError(f"{where}: error: this row {has} {field}, the rows before it {had}")


def _marks_of_line(line: bytes) -> tuple[list[str], list[bytes], bytes] | None:
    """Fields of a line of whole fields, the text before the numbers of each, and that after the last; else None."""
    fields, starts, place = [], [], 0
    while start := FIELD.match(line, place):
        numbers = NUMBERS.match(line, start.end())
        if numbers is None:
            return None
        key = start[1].decode()
        fields.append(LONG_NAMES.get(key, key))
        starts.append(start[0])
        place = numbers.end()
    try:
        known = fields and len(set(fields)) == len(fields) == len(orjson.loads(line))
    except ValueError:
        return None
    return (fields, starts, line[place:]) if known else None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"duplicate key {shown(key)}")
            seen.add(key)
    return unique


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number of JSON")


def _kind(value: Any) -> str:
    kinds: dict[type, str] = {
        dict: "an object",
        list: "an array",
        str: "a string",
        bool: "true or false",
        type(None): "null",
    }
    return kinds.get(type(value), "a number")


def _are_numbers(values: list[Any]) -> bool:
    try:
        return set(map(type, values)) <= {float, int} and all(map(math.isfinite, values))
    except OverflowError:
        return False


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _number(value: Any, place: str) -> float:
    if type(value) not in (float, int):
        raise ModelError(f"{place} is {_kind(value)}, expected a number")
    if not _is_finite(value):
        raise ModelError(f"{place} is too large")
    return float(value)
