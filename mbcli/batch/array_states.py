"""States from arrays: NPZ and HDF5 logs."""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch.state_columns import OPTIONAL_FIELDS, columns_of_header, did_you_mean, fields_of_table
from mbcli.common.text_tables import shown
from mbcli.errors import MbcliError, ModelError

if TYPE_CHECKING:
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_layout import StateLayout
    from mbcli.log.reader import Log
    from mbcli.math.array_types import Array, FloatArray

INPUT = "input/u"
LOG_FIELDS = {"state/q": "q", "state/v": "v", INPUT: "u"}
EFFORT = "derived/effort"  # of actuators, with what controllers add to u
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


def until_not_finite(
    count: int, arrays: Mapping[str, Array], first_row: int, name: str, label: Callable[[str, int], str]
) -> tuple[int, dict[str, Array], ModelError | None]:
    """Cuts a table before its first row that is not finite; label(field, index) names a component."""
    first: dict[str, list[int]] = {}
    for field, array in arrays.items():
        finite = np.isfinite(array)
        if not finite.all():
            first[field] = np.argwhere(~finite)[0].tolist()
    if not first:
        return count, dict(arrays), None
    field = min(first, key=lambda field: first[field][0])
    row, component = first[field][0], first[field][1:]
    place = label(field, component[0]) if component else field
    error = ModelError(f"{name}: error: row {first_row + row}: {place} is not finite")
    return row, {field: array[:row] for field, array in arrays.items()}, error


def read_npz(stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    def label(field: str, index: int) -> str:
        return f"{field}[{index}] ({shown(layout.names(field)[index])})"

    with ExitStack() as resources:
        try:
            archive = resources.enter_context(zipfile.ZipFile(stream))
            members = _open_members(archive, name, layout, resources)
            for first_row in range(0, _common_length(members, name), rows_per_chunk):
                parts = {field: member.read(rows_per_chunk) for field, member in members.items()}
                count = len(next(iter(parts.values())))
                count, arrays, error = until_not_finite(count, parts, first_row, name, label)
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
    unknown: list[str] = []
    for info in archive.infolist():
        field = info.filename.removesuffix(".npy")
        where = f"{name}: error: array {shown(field)}"
        if field not in fields:
            unknown.append(field)
            continue
        if field in members:
            raise ModelError(f"{where} is there twice")
        if info.flag_bits & 1:
            raise ModelError(f"{where} is encrypted")
        width = None if field == "time" else len(layout.names(field))
        members[field] = _NpzMember(resources.enter_context(archive.open(info)), info, width, where)
    if not members and unknown:
        what = f"array {shown(unknown[0])} is unknown{did_you_mean(unknown[0], fields)}"
        raise ModelError(f"{name}: error: {what}; expected q, v, vdot, tau, u, time")
    if not members:
        raise ModelError(f"{name}: error: no arrays, expected q, v, vdot, tau, u, time")
    given = {field: range(len(layout.names(field))) for field in members if field != "time"}
    layout.demands.check(given, name, layout.all_names(), [shown(field) for field in unknown])
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


def read_log(stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    from mbcli.log.reader import Log

    try:
        with Log(stream.name) as log:
            yield from _log_tables(log, name, layout, rows_per_chunk)
    except ModelError as error:  # the copy of a pipe has a name that nobody knows
        raise ModelError(str(error).replace(stream.name, name, 1)) from None


def _log_tables(log: Log, name: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    paths = [path for path in ("time", *LOG_FIELDS) if path in log.fields()]
    names = {path: [f"{LOG_FIELDS[path]}:{column}" for column in log.names[path]] for path in paths[1:]}
    chosen: list[bool] = []  # inputs in whose place stands what acted
    if layout.efforts_of and INPUT in names:
        from mbcli.log.fields.effort import acted, require_efforts

        require_efforts(log, name)
        if EFFORT in log.fields():
            chosen = acted(log)
    names["time"] = ["time"]
    # a log of another model has no place here
    targets = {path: columns_of_header(names[path], name, layout, short=False) for path in paths}
    given = {field: components for path in paths for field, components in targets[path].given().items()}
    layout.demands.check(given, name, layout.all_names())
    first_row = 0
    for parts in log.chunks([*paths, EFFORT] if chosen else paths, rows=rows_per_chunk):
        if chosen:
            parts[INPUT] = np.where(chosen, parts[EFFORT], parts[INPUT])
        columns = {path: parts[path].reshape(-1, len(names[path])).astype(float, copy=False) for path in paths}
        count, cut, error = until_not_finite(
            len(columns["time"]), columns, first_row, name, lambda path, column: shown(names[path][column])
        )
        fields: dict[str, Array] = {}
        for path in paths:
            fields |= fields_of_table(cut[path], targets[path], layout)
        yield count, fields
        if error:
            raise error
        first_row += count
