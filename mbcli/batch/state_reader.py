"""Reads the states of a batch: CSV, JSON lines, NPZ or an HDF5 log, in chunks, from a file or a pipe.

A state sets positions q [rad or m], velocities v [rad/s or m/s] and, if the analysis wants them,
accelerations vdot, generalized forces tau, actuation u and the time. The names of CSV columns and of the keys
of JSON lines follow one convention:

    NAME                the position or the velocity of that name
    q:NAME  v:NAME      the same, stated explicitly (needed if a position and a velocity share a name)
    vdot:NAME tau:NAME  acceleration or generalized force, by the name of the velocity
    u:NAME              actuation, by the name of the actuator
    time                seconds

Short names are enough if they mean one coordinate (mbcli/common/coordinate_names.py): `elbow` is the
position of that joint.
Logs are read by whole names.

Missing values have their default: the model's for q and v, zero for the rest of a vdot, tau or u that is
given in part. Everything else is an error that names the file, the line and the column. The rows before a bad
row are still delivered, whatever the size of the chunks.

A JSON line may also give a whole field, as an array in the order of the model or as an object of
NAME: number: q or positions, v or velocities, vdot or accelerations, tau or forces, u or actuation. An NPZ
file has arrays q, v, vdot, tau, u of shape (n, number of components) and time (n,). Of a log, time, q, v and
u are read, by their names.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import select
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch import FORMAT_OF_SUFFIX, FORMATS
from mbcli.common.coordinate_names import NamedCoordinates, StateNames, listed
from mbcli.common.suggestions import closest
from mbcli.errors import MbcliError, ModelError, ResourceError

if TYPE_CHECKING:
    from typing import NoReturn, TypeAlias

    from mbcli.log.reader import Log
    from mbcli.math.array_types import Array, FloatArray

    Table: TypeAlias = tuple[int, dict[str, Array]]  # how many rows, and an array a field
    LineBatch: TypeAlias = tuple[int, list[bytes]]  # the number of the first line, and lines
    Targets: TypeAlias = dict[str, tuple[list[int], list[int]]]  # columns of a table, components of the field

READ_SIZE = 1 << 20
LONGEST_LINE = 1 << 26
OPTIONAL_FIELDS = ("vdot", "tau", "u", "time")
LONG_NAMES = {
    "positions": "q",
    "velocities": "v",
    "accelerations": "vdot",
    "forces": "tau",
    "actuation": "u",
}
LOG_FIELDS = {"state/q": "q", "state/v": "v", "input/u": "u"}
SIGNATURES = {b"PK\x03\x04": "npz", b"PK\x05\x06": "npz", b"\x89HDF\r\n\x1a\n": "hdf5"}
lzma: Any = getattr(zipfile, "lzma", None)  # None if Python was built without it
DAMAGE_OF_ZIP = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    LookupError,
    OverflowError,
    MemoryError,
    struct.error,
    zlib.error,
    *([lzma.LZMAError] if lzma else []),
)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*\r?", re.ASCII)
CHARACTERS_OF_NUMBERS = b"0123456789+-.eE, \t\r\n"
SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class StateLayout:
    """The coordinates of a model: the names of the columns of a batch, and the defaults.

    Args:
      position_names: names of q, (nq,).
      velocity_names: names of v, vdot and tau, (nv,).
      actuator_names: names of u, (nu,).
      default_q: default positions [rad or m], (nq,).
      default_v: default velocities [rad/s or m/s], (nv,).
    """

    position_names: Sequence[str]
    velocity_names: Sequence[str]
    actuator_names: Sequence[str]
    default_q: FloatArray
    default_v: FloatArray

    def __post_init__(self) -> None:
        for field, names in (("q", self.position_names), ("v", self.velocity_names)):
            default = np.asarray(getattr(self, f"default_{field}"), dtype=float)
            if default.shape != (len(names),):
                raise ValueError(f"default_{field} has shape {default.shape}, expected ({len(names)},)")
            object.__setattr__(self, f"default_{field}", default)

    def names(self, field: str) -> Sequence[str]:
        """The names of the components of q, v, vdot, tau or u."""
        if field == "q":
            return self.position_names
        return self.actuator_names if field == "u" else self.velocity_names

    def default(self, field: str) -> FloatArray:
        """The values of the components of a field without input."""
        if field in ("q", "v"):
            return self.default_q if field == "q" else self.default_v
        return np.zeros(len(self.names(field)))


@dataclass(frozen=True)
class StateChunk:
    """Consecutive rows of a batch. vdot, tau, u and time are None if the input does not have them.

    q (n, nq) [rad or m], v (n, nv) [rad/s or m/s], vdot (n, nv), tau (n, nv) [N m or N], u (n, nu),
    time (n,) [s]. first_row is the index of the first row in the batch, counted from 0.
    """

    q: Array
    v: Array
    vdot: Array | None
    tau: Array | None
    u: Array | None
    time: Array | None
    first_row: int

    def __len__(self) -> int:
        return len(self.q)


def open_states(
    source: str | os.PathLike[str] | IO[bytes],
    layout: StateLayout,
    *,
    input_format: str | None = None,
    rows_per_chunk: int = 1024,
) -> Iterator[StateChunk]:
    """Opens a batch of states and returns an iterator of its chunks, in the order of the input.

    A chunk holds at most rows_per_chunk rows. From a pipe, CSV and JSON lines are delivered as soon as they
    have arrived; NPZ and HDF5 cannot be read before their end and are first spooled to a temporary file. An
    input without rows gives no chunk.

    Args:
      source: a path, "-" for standard input, or a binary file object.
      layout: the coordinates of the model.
      input_format: "csv", "jsonl", "npz" or "hdf5"; by default the suffix decides, then the content.
      rows_per_chunk: the most rows of a chunk.

    Raises:
      ResourceError: the file is missing or cannot be read.
      ModelError: the content is wrong: `FILE:LINE: error: ...`; raised here or by the iterator.
    """
    if input_format is not None and input_format not in FORMATS:
        raise ValueError(f"unknown input format {input_format!r}, expected one of {', '.join(FORMATS)}")
    if rows_per_chunk < 1:
        raise ValueError(f"rows_per_chunk is {rows_per_chunk}, expected at least 1")
    with ExitStack() as resources:
        stream, name, suffix = _open_source(source, resources)
        input_format = input_format or FORMAT_OF_SUFFIX.get(suffix)
        head = b""
        if input_format is None:
            head = _read_head(stream, name)
            input_format = _format_of_content(head)
        if input_format == "npz" and stream.seekable():
            stream.seek(-len(head), os.SEEK_CUR)
        elif input_format == "npz" or (input_format == "hdf5" and not os.path.isfile(name)):
            stream = _temporary_copy(stream, head, name, resources)
        kept = resources.pop_all()
    if input_format in ("csv", "jsonl"):
        read_rows = _read_csv if input_format == "csv" else _read_json_lines
        tables = read_rows(_line_batches(stream, name, rows_per_chunk, head), name, layout)
    else:
        read_arrays = _read_npz if input_format == "npz" else _read_log
        tables = read_arrays(stream, name, layout, rows_per_chunk)
    return _chunks(tables, layout, kept)


def _chunks(tables: Iterator[Table], layout: StateLayout, resources: ExitStack) -> Iterator[StateChunk]:
    """Makes chunks of (number of rows, {field: array}) pairs and closes the input at their end."""
    first_row = 0
    with resources:
        for count, arrays in tables:
            if not count:
                continue
            for field in ("q", "v"):
                if field not in arrays:
                    arrays[field] = np.tile(layout.default(field), (count, 1))
            optional = {field: arrays.get(field) for field in OPTIONAL_FIELDS}
            yield StateChunk(q=arrays["q"], v=arrays["v"], first_row=first_row, **optional)
            first_row += count


# --- sources --------------------------------------------------------------------------------------


def _open_source(source: Any, resources: ExitStack) -> tuple[IO[bytes], str, str]:
    """The stream, the name it has in messages, and its suffix."""
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return source, name if isinstance(name, str) else "<stream>", ""
    name = os.fspath(source)
    if name == "-":
        return sys.stdin.buffer, "<stdin>", ""
    try:
        stream = resources.enter_context(open(name, "rb"))  # noqa: SIM115
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot read the states: {error.strerror}") from None
    return stream, name, os.path.splitext(name)[1].lower()


def _read(stream: IO[bytes], name: str) -> bytes:
    """The bytes that have arrived on the stream, up to READ_SIZE; waits only if there is nothing; empty at the end."""
    try:
        return getattr(stream, "read1", stream.read)(READ_SIZE)
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot read the states: {error.strerror}") from None


def _more_has_arrived(stream: IO[bytes]) -> bool:
    """Whether a read would return at once (files and other inputs that are not pipes always would)."""
    try:
        return bool(select.select([stream.fileno()], [], [], 0)[0])
    except (AttributeError, OSError, ValueError):
        return True


def _read_head(stream: IO[bytes], name: str) -> bytes:
    """The first bytes: enough to tell the format, and no more than that is waited for."""
    head = b""
    beginnings = (BYTE_ORDER_MARK, *SIGNATURES)
    while True:
        undecided = not head.removeprefix(BYTE_ORDER_MARK).strip() or any(
            len(head) < len(beginning) and beginning.startswith(head) for beginning in beginnings
        )
        if not undecided or len(head) > LONGEST_LINE:
            return head
        data = _read(stream, name)
        if not data:
            return head
        head += data


def _format_of_content(head: bytes) -> str:
    for signature, input_format in SIGNATURES.items():
        if head.startswith(signature):
            return input_format
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    return "jsonl" if text[:1] in (b"{", b"[") else "csv"


def _temporary_copy(stream: IO[bytes], head: bytes, name: str, resources: ExitStack) -> IO[bytes]:
    """A named temporary file with all bytes of a pipe until its end."""
    copy = resources.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
    copy.write(head)
    try:
        shutil.copyfileobj(stream, copy, READ_SIZE)
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot keep a copy of the pipe: {error.strerror}") from None
    copy.seek(0)
    return copy


# --- names ----------------------------------------------------------------------------------------


class _Columns:
    """Finds the field and the component that a column or key names."""

    def __init__(self, layout: StateLayout, *, short: bool = True) -> None:
        self._short = short
        self._state = StateNames(layout.names("q"), layout.names("v"))
        self._quantities = {
            "q": self._state.q,
            "v": self._state.v,
            "vdot": NamedCoordinates(layout.names("v"), "velocity"),
            "tau": NamedCoordinates(layout.names("v"), "velocity"),
            "u": NamedCoordinates(layout.names("u"), "actuator"),
        }
        self._found: dict[str, tuple[str, int]] = {"time": ("time", 0)}
        self._components: dict[str, dict[str, int]] = {field: {} for field in self._quantities}

    def find(self, column: str, where: str) -> tuple[str, int]:
        """The field and component of a column; ModelError if there is none, or if it can mean several."""
        target = self._found.get(column)
        if target is None:
            target = self._found[column] = self._only(self._candidates(column), column, where)
        return target

    def component(self, field: str, name: str, where: str) -> int:
        """The component of a field that a name in an object of it means."""
        index = self._components[field].get(name)
        if index is None:
            candidates = [(field, k) for k in self._indices(self._quantities[field], name)]
            if not candidates:
                hint = _hint("", self._quantities[field].likely(name))
                raise ModelError(f"{where}: error: {field} has no component {_shown(name)}{hint}")
            index = self._components[field][name] = self._only(candidates, name, where)[1]
        return index

    def _candidates(self, column: str) -> list[tuple[str, int]]:
        field, colon, name = column.partition(":")
        if colon and field in self._quantities:
            return [(field, k) for k in self._indices(self._quantities[field], name)]
        if self._short:
            return self._state.candidates(column)
        return [(field, k) for field in ("q", "v") for k in self._quantities[field].whole(column)]

    def _indices(self, quantity: NamedCoordinates, name: str) -> list[int]:
        return quantity.whole(name) or (quantity.endings(name) if self._short else [])

    def _only(self, candidates: list[tuple[str, int]], column: str, where: str) -> tuple[str, int]:
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            raise ModelError(f"{where}: error: unknown column {_shown(column)}{self._likely(column)}")
        names = [f"{field}:{self._quantities[field].names[k]}" for field, k in candidates]
        raise ModelError(f"{where}: error: column {_shown(column)} is ambiguous: it can mean {listed(names)}")

    def _likely(self, column: str) -> str:
        """A hint at another name of the same quantity."""
        field, colon, name = column.partition(":")
        if colon and field in self._quantities:
            return _hint(f"{field}:", self._quantities[field].likely(name))
        return _hint("", closest(column, ["time"]) or self._state.meant(column).likely(column))


def _hint(prefix: str, likely: str | None) -> str:
    return f"; did you mean {_shown(prefix + likely)}?" if likely else ""


def _did_you_mean(word: str, known: Collection[str]) -> str:
    likely = closest(word, known)
    return f"; did you mean {_shown(likely)}?" if likely else ""


def _shown(text: str) -> str:
    """Text from the input, quoted, shortened and safe for a terminal."""
    return repr(text if len(text) <= 80 else text[:77] + "...")


# --- lines ----------------------------------------------------------------------------------------


def _line_batches(stream: IO[bytes], name: str, limit: int, head: bytes) -> Iterator[LineBatch]:
    """Yields the number of the first line and at most `limit` complete lines, without their line feeds.

    A batch is shorter only at the end, or if a pipe has nothing more to read now.
    """
    number = 1
    lines: list[bytes] = []
    tail: list[bytes] = []
    data = head or _read(stream, name)
    while data:
        first, *rest = data.split(b"\n")
        tail.append(first)
        if rest:
            lines.append(b"".join(tail))
            lines += rest[:-1]
            tail = [rest[-1]]
        elif len(tail) * READ_SIZE > LONGEST_LINE and sum(map(len, tail)) > LONGEST_LINE:
            raise ModelError(f"{name}:{number + len(lines)}: error: longer than {LONGEST_LINE} bytes")
        if lines and number == 1:
            lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
        complete = len(lines) - len(lines) % limit
        for start in range(0, complete, limit):
            yield number, lines[start : start + limit]
            number += limit
        lines = lines[complete:]
        if lines and not _more_has_arrived(stream):
            yield number, lines
            number += len(lines)
            lines = []
        data = _read(stream, name)
    last = b"".join(tail)
    if number == 1 and not lines:
        last = last.removeprefix(BYTE_ORDER_MARK)
    lines += [last] if last else []
    if lines:
        yield number, lines


def _text(line: bytes, where: str) -> str:
    try:
        return line.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        raise ModelError(f"{where}: error: byte {error.start + 1} of the line is not UTF-8") from None


# --- CSV ------------------------------------------------------------------------------------------


def _read_csv(batches: Iterator[LineBatch], name: str, layout: StateLayout) -> Iterator[Table]:
    header, batches = _header(batches, name)
    if all(NUMBER.fullmatch(cell) for cell in header.cells):
        raise ModelError(f"{header.where}: error: numbers where the names of the columns are expected")
    targets = _targets_of_header(header.cells, header.where, layout)
    for number, lines in batches:
        values = _plain_numbers(lines, header)
        error = None
        if values is None:
            values, error = _checked_numbers(lines, number, header, name)
        yield len(values), _fields_of_table(values, targets, layout)
        if error:
            raise error


@dataclass(frozen=True)
class _Header:
    cells: list[str]
    where: str
    separator: str  # of the columns: a comma, else a semicolon or a tab, as spreadsheets write them


def _header(batches: Iterator[LineBatch], name: str) -> tuple[_Header, Iterator[LineBatch]]:
    """The first line that is not blank, and the lines after it."""
    for number, lines in batches:
        for offset, line in enumerate(lines):
            if line.strip():
                where = f"{name}:{number + offset}"
                text = _text(line, where)
                separator = next((mark for mark in SEPARATORS if mark in text), ",")
                cells = [cell.strip() for cell in _cells(text, where, separator)]
                return _Header(cells, where, separator), _followed(number + offset + 1, lines[offset + 1 :], batches)
    raise ModelError(f"{name}:1: error: empty, expected a header with the names of the columns")


def _followed(number: int, lines: list[bytes], batches: Iterator[LineBatch]) -> Iterator[LineBatch]:
    if lines:
        yield number, lines
    yield from batches


def _cells(line: str, where: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise ModelError(f"{where}: error: not CSV: {error}") from None


def _targets_of_header(cells: list[str], where: str, layout: StateLayout, *, short: bool = True) -> Targets:
    """{field: (columns of the table, components of the field)}."""
    columns = _Columns(layout, short=short)
    seen: dict[tuple[str, int], str] = {}
    targets: Targets = {}
    for column, cell in enumerate(cells):
        if not cell:
            raise ModelError(f"{where}: error: column {column + 1} has no name")
        target = columns.find(cell, where)
        if target in seen:
            first = seen[target]
            also = "" if first == cell else f" ({_shown(first)} is the same)"
            raise ModelError(f"{where}: error: duplicate column {_shown(cell)}{also}")
        seen[target] = cell
        from_columns, to_components = targets.setdefault(target[0], ([], []))
        from_columns.append(column)
        to_components.append(target[1])
    return targets


def _fields_of_table(values: Array, targets: Targets, layout: StateLayout) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for field, (from_columns, to_components) in targets.items():
        if field == "time":
            arrays[field] = values[:, from_columns[0]].copy()
        else:
            arrays[field] = np.tile(layout.default(field), (len(values), 1))
            arrays[field][:, to_components] = values[:, from_columns]
    return arrays


def _plain_numbers(lines: list[bytes], header: _Header) -> Array | None:
    """The table of numbers (n, width), or None if a line needs the careful look."""
    width = len(header.cells)
    if b"\n".join(lines).translate(None, CHARACTERS_OF_NUMBERS + header.separator.encode()):
        return None
    filled = [line for line in lines if line and line != b"\r"]
    if not filled:
        return np.empty((0, width))
    try:
        values = np.loadtxt(filled, delimiter=header.separator, comments=None, ndmin=2)
    except ValueError:
        return None
    whole = values.shape == (len(filled), width) and np.isfinite(values).all()
    return values if whole else None


def _checked_numbers(lines: list[bytes], number: int, header: _Header, name: str) -> tuple[Array, ModelError | None]:
    """Reads line by line: the rows before the first bad line, and the error that the bad line is."""
    rows: list[list[float]] = []
    names, error = header.cells, None
    try:
        for offset, line in enumerate(lines):
            if line.strip():
                where = f"{name}:{number + offset}"
                rows.append(_checked_row(_cells(_text(line, where), where, header.separator), names, where))
    except ModelError as bad_line:
        error = bad_line
    return np.array(rows, dtype=float).reshape(len(rows), len(names)), error


def _checked_row(cells: list[str], names: list[str], where: str) -> list[float]:
    if len(cells) != len(names):
        raise ModelError(f"{where}: error: {len(cells)} values, the header has {len(names)} columns")
    row = []
    for name, cell in zip(names, cells, strict=True):
        column = f"{where}: error: column {_shown(name)}"
        if not cell.strip():
            raise ModelError(f"{column} has no value")
        if not NUMBER.fullmatch(cell):
            raise ModelError(f"{column}: {_shown(cell.strip())} is not a number")
        if not math.isfinite(float(cell)):
            raise ModelError(f"{column}: {_shown(cell.strip())} is too large")
        row.append(float(cell))
    return row


# --- JSON lines -----------------------------------------------------------------------------------


def _read_json_lines(batches: Iterator[LineBatch], name: str, layout: StateLayout) -> Iterator[Table]:
    reader = _JsonRowReader(layout)
    for number, lines in batches:
        rows: list[dict[str, list[float] | float]] = []
        error = None
        try:
            for offset, line in enumerate(lines):
                if line.strip():
                    where = f"{name}:{number + offset}"
                    rows.append(reader.row(_text(line, where), where))
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
        self._columns = _Columns(layout)
        self._names = {field: list(layout.names(field)) for field in ("q", "v", "vdot", "tau", "u")}
        self._defaults = {field: layout.default(field).tolist() for field in self._names}
        self._optional: set[str] | None = None
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)

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
                raise ModelError(f"{where}: error: {_shown(key)} gives {field} a second time")
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
                _number(number, f"{where}: error: {field}[{index}] ({_shown(names[index])})")
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
        number = _number(value, f"{where}: error: {_shown(name)}")
        if field in fields or index in named.get(field, ()):
            raise ModelError(f"{where}: error: {_shown(name)} is given a second time")
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


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"duplicate key {_shown(key)}")
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


# --- arrays: NPZ and logs -------------------------------------------------------------------------


def _until_not_finite(
    count: int, arrays: Mapping[str, Array], first_row: int, name: str, label: Callable[[str, int], str]
) -> tuple[int, dict[str, Array], ModelError | None]:
    """Cuts a table before its first row that is not finite; label(field, index) names a component."""
    places = {field: np.argwhere(~np.isfinite(array)) for field, array in arrays.items()}
    first: dict[str, list[int]] = {field: found[0].tolist() for field, found in places.items() if len(found)}
    if not first:
        return count, dict(arrays), None
    field = min(first, key=lambda field: first[field][0])
    row, component = first[field][0], first[field][1:]
    place = label(field, component[0]) if component else field
    error = ModelError(f"{name}: error: row {first_row + row}: {place} is not finite")
    return row, {field: array[:row] for field, array in arrays.items()}, error


def _read_npz(stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int) -> Iterator[Table]:
    def label(field: str, index: int) -> str:
        return f"{field}[{index}] ({_shown(layout.names(field)[index])})"

    with ExitStack() as resources:
        try:
            archive = resources.enter_context(zipfile.ZipFile(stream))
            members = _open_members(archive, name, layout, resources)
            for first_row in range(0, _common_length(members, name), rows_per_chunk):
                parts = {field: member.read(rows_per_chunk) for field, member in members.items()}
                count = len(next(iter(parts.values())))
                count, arrays, error = _until_not_finite(count, parts, first_row, name, label)
                yield count, arrays
                if error:
                    raise error
        except MbcliError:
            raise
        except DAMAGE_OF_ZIP as error:  # zipfile lets through whatever wrong numbers in the file lead to
            raise ModelError(f"{name}: error: not a readable NPZ file: {error or type(error).__name__}") from None


def _open_members(
    archive: zipfile.ZipFile, name: str, layout: StateLayout, resources: ExitStack
) -> dict[str, _NpzMember]:
    fields = {"q", "v", *OPTIONAL_FIELDS}
    members: dict[str, _NpzMember] = {}
    for info in archive.infolist():
        field = info.filename.removesuffix(".npy")
        where = f"{name}: error: array {_shown(field)}"
        if field not in fields:
            expected = "q, v, vdot, tau, u, time"
            raise ModelError(f"{where} is unknown{_did_you_mean(field, fields)}; expected {expected}")
        if field in members:
            raise ModelError(f"{where} is there twice")
        if info.flag_bits & 1:
            raise ModelError(f"{where} is encrypted")
        width = None if field == "time" else len(layout.names(field))
        members[field] = _NpzMember(resources.enter_context(archive.open(info)), info, width, where)
    if not members:
        raise ModelError(f"{name}: error: no arrays, expected q, v, vdot, tau, u, time")
    return members


def _common_length(members: Mapping[str, _NpzMember], name: str) -> int:
    lengths = {field: member.length for field, member in members.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{field} {length}" for field, length in lengths.items())
        raise ModelError(f"{name}: error: the arrays have different numbers of rows: {each}")
    return next(iter(lengths.values()))


class _NpzMember:
    """The rows of one array of an NPZ file, read forward; only Fortran order needs the array in memory."""

    def __init__(self, stream: IO[bytes], info: zipfile.ZipInfo, width: int | None, where: str) -> None:
        self._stream, self._where = stream, where
        shape, fortran_order, self._dtype = self._read_header()
        if self._dtype.kind not in "fiu":
            raise ModelError(f"{where} has type {self._dtype}, expected real numbers")
        if len(shape) != (1 if width is None else 2) or shape[1:] != (() if width is None else (width,)):
            expected = "(n,)" if width is None else f"(n, {width})"
            raise ModelError(f"{where} has shape {shape}, expected {expected}")
        self.length = shape[0]
        self._row_shape = shape[1:]
        self._row_size = self._dtype.itemsize * math.prod(shape[1:])
        if stream.tell() + self.length * self._row_size != info.file_size:
            raise ModelError(f"{where} is cut short")
        self._whole = self._read_fortran(shape) if fortran_order and len(shape) > 1 else None
        self._next_row = 0

    def read(self, rows: int) -> FloatArray:
        """The next rows as doubles, (rows, ...), fewer at the end."""
        start, stop = self._next_row, min(self._next_row + rows, self.length)
        self._next_row = stop
        if self._whole is not None:
            return np.ascontiguousarray(self._whole[start:stop], dtype=float)
        data = self._stream.read((stop - start) * self._row_size)
        if len(data) != (stop - start) * self._row_size:
            raise ModelError(f"{self._where} is cut short")
        return np.frombuffer(data, self._dtype).reshape(stop - start, *self._row_shape).astype(float)

    def _read_header(self) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
        try:
            version = np.lib.format.read_magic(self._stream)
            if version == (1, 0):
                return np.lib.format.read_array_header_1_0(self._stream)
            if version == (2, 0):
                return np.lib.format.read_array_header_2_0(self._stream)
        except Exception as error:  # numpy lets through whatever its tokenizer and ast raise on bad bytes
            raise ModelError(f"{self._where} is not an NPY array: {type(error).__name__}") from None
        raise ModelError(f"{self._where} has NPY version {version}, expected 1.0 or 2.0")

    def _read_fortran(self, shape: tuple[int, ...]) -> Array:
        data = self._stream.read(self.length * self._row_size)
        if len(data) != self.length * self._row_size:
            raise ModelError(f"{self._where} is cut short")
        return np.frombuffer(data, self._dtype).reshape(shape, order="F")


def _read_log(stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int) -> Iterator[Table]:
    from mbcli.log.reader import Log

    try:
        with Log(stream.name) as log:
            yield from _log_tables(log, name, layout, rows_per_chunk)
    except ModelError as error:  # the copy of a pipe has a name that nobody knows
        raise ModelError(str(error).replace(stream.name, name, 1)) from None


def _log_tables(log: Log, name: str, layout: StateLayout, rows_per_chunk: int) -> Iterator[Table]:
    paths = [path for path in ("time", *LOG_FIELDS) if path in log.fields()]
    header = ["time"]
    header += [f"{LOG_FIELDS[path]}:{column}" for path in paths[1:] for column in log.names[path]]
    targets = _targets_of_header(header, name, layout, short=False)  # a log of another model has no place here
    first_row = 0
    for parts in log.chunks(paths, rows=rows_per_chunk):
        columns = np.column_stack([parts[path] for path in paths]).astype(float)
        count, cut, error = _until_not_finite(
            len(columns), {"": columns}, first_row, name, lambda _, column: _shown(header[column])
        )
        yield count, _fields_of_table(cut[""], targets, layout)
        if error:
            raise error
        first_row += count
