"""States from JSON lines: an object a row."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

from mbcli.batch.arriving_bytes import text_of_line
from mbcli.batch.number_lines import LinePlan, NumberLines
from mbcli.batch.state_columns import OPTIONAL_FIELDS, StateColumns
from mbcli.common.text_tables import shown
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from typing import NoReturn

    from mbcli.batch.arriving_bytes import ArrivingLines
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_layout import StateLayout
    from mbcli.math.array_types import Array

LONG_NAMES = {
    "positions": "q",
    "velocities": "v",
    "accelerations": "vdot",
    "forces": "tau",
    "actuation": "u",
}
FIELDS = ("q", "v", *OPTIONAL_FIELDS)
FIELD = re.compile(rb'[] \t]*[,{][ \t]*"([a-z]+)"[ \t]*:[ \t]*\[?[ \t]*')
NUMBERS = re.compile(rb"[-+.eE0-9]+(?:[ \t]*,[ \t]*[-+.eE0-9]+)*")


def read_json_lines(lines: ArrivingLines, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    reader = _JsonRowReader(layout)
    while lines.wait() and not lines.look()[0].strip():
        lines.take()
    if not lines.wait():
        return
    columns = reader.columns(*lines.look())
    width = max((column.stop for column in columns.values()), default=0)
    for values, error in NumberLines(lines, width, rows_per_chunk, reader.read_line).tables():
        arrays = {field: values[:, column] for field, column in columns.items() if field in reader.given}
        if "time" in arrays:
            arrays["time"] = arrays["time"][:, 0]
        yield len(values), arrays
        if error:
            raise error


class _JsonRowReader:
    """Reads one JSON object per line; optional fields of the first row must be in all rows."""

    def __init__(self, layout: StateLayout) -> None:
        self._columns, self._demands, self._told = StateColumns(layout), layout.demands, set[str]()
        self._names = {field: list(layout.names(field)) for field in ("q", "v", "vdot", "tau", "u")}
        self._defaults = {field: layout.default(field).tolist() for field in self._names}
        self.given: set[str] = set()  # the fields that rows gave
        self._optional: set[str] | None = None
        self._places: dict[str, slice] = {}
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)

    def columns(self, line: bytes, where: str) -> dict[str, slice]:
        """{field: its columns in a row}, if this is the first line."""
        given, start = self.row(text_of_line(line, where), where), 0
        for field in FIELDS:
            if field in given:
                width = 1 if field == "time" else len(self._names[field])
                self._places[field] = slice(start, start + width)
                start += width
        return self._places

    def read_line(self, line: bytes, where: str, row: Array) -> LinePlan | None:
        """Reads a line into a row with columns(); says how lines with the same fields as whole lists are alike."""
        for field, values in self.row(text_of_line(line, where), where).items():
            row[self._places[field]] = values
        return self._plan_of(line)

    def _plan_of(self, line: bytes) -> LinePlan | None:
        """Lines with the fields of a line that was read, in the same order; None if it does not give them whole."""
        groups, fields, place = [], set(), 0
        while start := FIELD.match(line, place):
            key = start[1].decode()
            field = LONG_NAMES.get(key, key)
            numbers = NUMBERS.match(line, start.end())
            if numbers is None or field not in self._places:
                return None
            column = self._places[field]
            groups.append((start[0].strip(), column.stop - column.start, column.start))
            fields.add(field)
            place = numbers.end()
        end = line[place:].strip()
        missing = self._places.keys() - fields
        if not missing <= {"q", "v"} or end.replace(b" ", b"") not in (b"}", b"]}"):
            return None
        others = [(self._places[field], self._defaults[field]) for field in missing]
        return LinePlan([*groups, (end, 0, 0)], b",", strict=True, others=others)

    def row(self, line: str, where: str) -> dict[str, list[float] | float]:
        """{field: values}: q and v always, the optional fields if they are given."""
        fields: dict[str, list[float] | float] = {}
        named: dict[str, dict[int, float]] = {}
        unknown: list[str] = []
        for key, value in self._object(line, where).items():
            field = LONG_NAMES.get(key, key)
            if field not in self._names and not self._columns.means_something(key):
                unknown.append(key)
            elif field not in self._names:
                self._add_component(self._columns.find(key, where), key, value, fields, named, where)
            elif isinstance(value, dict):
                for name, number in value.items():
                    target = (field, self._columns.component(field, name, where))
                    self._add_component(target, name, number, fields, named, where)
            elif field in fields or field in named:
                raise ModelError(f"{where}: error: {shown(key)} gives {field} a second time")
            else:
                fields[field] = self._array(field, value, where)
        self._check_demands(fields, named, [key for key in unknown if key not in self._told], where)
        for field, values in named.items():
            filled = self._defaults[field].copy()
            for index, number in values.items():
                filled[index] = number
            fields[field] = filled
        self._check_optional(fields, where)
        self.given.update(fields)
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

    def _check_demands(
        self, fields: Mapping[str, Any], named: Mapping[str, Any], unknown: list[str], where: str
    ) -> None:
        if unknown and not fields and not named:
            self._columns.find(unknown[0], where)  # raises
        given: dict[str, Any] = {field: range(len(self._names[field])) for field in fields if field != "time"}
        given |= {field: list(values) for field, values in named.items()}
        self._demands.check(given, where, self._names, [self._columns.unknown(key) for key in unknown])
        self._told.update(unknown)

    def _check_optional(self, fields: Mapping[str, Any], where: str) -> None:
        given = {field for field in OPTIONAL_FIELDS if field in fields}
        if self._optional is None:
            self._optional = given
        for field in sorted(given ^ self._optional):
            has, had = ("has", "did not have") if field in given else ("does not have", "had")
            raise ModelError(f"{where}: error: this row {has} {field}, the rows before it {had}")


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
