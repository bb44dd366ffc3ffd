"""Logs as CSV, JSON lines and NPZ, a chunk at a time: a log larger than memory goes through a pipe.

Columns and keys are those that `--states` reads back: `time`, the names of positions and velocities, `u:NAME`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.output_files import is_special, replacing
from mbcli.errors import ArgumentError, OutputError, ResourceError
from mbcli.log.chosen_columns import WithColumns, meant_by
from mbcli.log.column_names import column_names, flat_rows, short_name
from mbcli.log.fields.contact import OFFSET
from mbcli.log.fields.faces import CORNER_FIELDS, CORNERS_OFFSET, FACES_OFFSET
from mbcli.log.reader import Log
from mbcli.log.surfaces import surfaces_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from zipfile import ZipFile

    from numpy.typing import DTypeLike

    from mbcli.log.datasets import Field
    from mbcli.log.format import ContactNames
    from mbcli.math.array_types import Array, BoolArray, IntArray

CONTACT = "contact"  # stands for all datasets under /contact
FACES = "faces"  # stands for those under /faces
RAGGED = {CONTACT: "contacts", FACES: "faces of contact surfaces"}  # a row has any number of them
NAMED = {f"contact/{kind}_{side}": f"{kind}_names" for kind in ("body", "geometry") for side in "ab"}
CHUNK_ROWS = 1024
CHUNK_ROWS_WITH_FACES = 64  # a row may have thousands of corners


@dataclass(frozen=True, slots=True)
class Selection:
    """The part of a log to export: fields beside the time, by path, and the rows start, start + every, ... < stop.

    CONTACT and FACES among the fields stand for the contacts of these rows and for the faces of their surfaces.
    """

    fields: tuple[str, ...]
    start: int
    stop: int
    every: int = 1

    @property
    def row_count(self) -> int:
        return len(range(self.start, self.stop, self.every))


def select(
    log: Log,
    *,
    fields: Iterable[str] | None = None,
    from_time: float | None = None,
    to_time: float | None = None,
    every: int = 1,
) -> tuple[Any, Selection]:
    """Chooses rows, and fields or columns, of a log; returns the log, with these columns as fields, and the Selection.

    Args:
      fields: paths ("derived/com"), their last parts ("com", "q", "v", "u"), groups ("derived"), "contact", "faces", or
        columns by any unambiguous end of their names; default all fields that have a row a sample.
      from_time, to_time: [s], both ends included.
      every: every how many rows.

    Raises:
      LookupError: a field is not in the log, or a name can mean several columns; the message lists those that are.
      ResourceError: there are rows, and none between the times.
    """
    paths = [path for path in log.fields() if path != "time"]
    whole: Any = log
    if fields is not None:
        meant = meant_by(log, fields, [CONTACT] * log.has_contacts + [FACES] * log.has_faces)
        columns = [(path, k) for path, k in meant if k is not None]
        whole = WithColumns(log, columns) if columns else log
        names = iter(whole.columns if columns else ())
        paths = [path if k is None else next(names) for path, k in meant]
    start = 0 if from_time is None else log.first_row_at(from_time)
    stop = log.row_count if to_time is None else log.first_row_at(np.nextafter(to_time, np.inf))
    if log.row_count and start >= stop:
        first, last = (f"{log.times[k]:.12g}" for k in (0, -1))
        raise ResourceError(f"{log.path}: error: no rows between these times: the log goes from {first} to {last} s")
    return whole, Selection(tuple(paths), start, stop, every)


def require_rows(fields: Iterable[str]) -> None:
    """ArgumentError for fields without a row a sample."""
    for path in RAGGED.keys() & set(fields):
        raise ArgumentError(f"{RAGGED[path]} have no row a sample: `log export` writes them as csv, jsonl or npz")


def export_csv(log: Log, selection: Selection, stream: IO[Any]) -> None:
    """A header of names and one line a row; numbers as the shortest decimals that read back the same.

    Of contacts, which must be selected alone, one line each; of faces, so too, one line for each corner.
    """
    for name, write in ((CONTACT, _export_contacts_csv), (FACES, _export_faces_csv)):
        if name in selection.fields:
            with _text_lines(stream) as lines:
                write(log, selection, csv.writer(lines, lineterminator="\n"))
            return
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(["time", *column_names(log, selection.fields)])
    stream.write(header.getvalue().encode("utf-8", "backslashreplace"))
    for chunk in chunks_of(log, selection):
        columns = [column for array in chunk.values() for column in flat_rows(array).T.tolist()]
        texts = (",".join(map(repr, row)) for row in zip(*columns, strict=True))
        stream.write(("\n".join(texts) + "\n").encode("ascii"))


@contextmanager
def _text_lines(stream: IO[Any]) -> Iterator[io.TextIOWrapper]:
    lines = io.TextIOWrapper(stream, "utf-8", "backslashreplace", newline="", write_through=True)
    yield lines
    lines.detach()


def _export_contacts_csv(log: Log, selection: Selection, table: Any) -> None:
    columns = [name for field in log.contact_fields for name in _columns_of(field)]
    table.writerow(["time", *columns])
    for chunk in chunks_of(log, selection):
        for time, contacts in zip(chunk["time"].tolist(), chunk[CONTACT], strict=True):
            for contact in contacts:
                values = (contact[field.path.removeprefix("contact/")] for field in log.contact_fields)
                flat = (x for value in values for x in (value if isinstance(value, list) else [value]))
                table.writerow([repr(time), *(repr(x) if isinstance(x, float) else x for x in flat)])


def _export_faces_csv(log: Log, selection: Selection, table: Any) -> None:
    """Faces are counted from 0 in each surface."""
    names = ("body_a", "body_b", "geometry_a", "geometry_b", "face")
    table.writerow(["time", *names, *(f"corner:{axis}" for axis in "xyz"), "pressure"])
    for chunk in chunks_of(log, selection):
        for time, faces in zip(chunk["time"].tolist(), chunk[FACES], strict=True):
            for face in faces:
                start = [repr(time), *(face[name] for name in names)]
                for corner, pressure in zip(face["corners"], face["pressures"], strict=True):
                    table.writerow([*start, *map(repr, corner), repr(pressure)])


def _columns_of(field: Field) -> list[str]:
    name = field.path.removeprefix("contact/")
    return [f"{name}:{axis}" for axis in field.names] if field.row_shape else [name]


def export_jsonl(log: Log, selection: Selection, stream: IO[Any]) -> None:
    """One object a row: time, q, v, u, and other fields by their path; numbers that are not finite are null.

    Contacts are a list of objects, and so are faces.
    """
    keys = ["time", *map(short_name, selection.fields)]
    for chunk in chunks_of(log, selection):
        values = [_without_nan(rows) if path in RAGGED else _finite_lists(rows) for path, rows in chunk.items()]
        lines = (json.dumps(dict(zip(keys, row, strict=True))) for row in zip(*values, strict=True))
        stream.write(("\n".join(lines) + "\n").encode("ascii"))


def export_npz(log: Log, selection: Selection, stream: IO[Any]) -> None:
    """Arrays time, q, v, u, and other fields by their path; those of contacts with the names they count.

    Faces come with the contacts that they belong to.
    """
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        if not RAGGED.keys().isdisjoint(selection.fields):
            _write_contact_arrays(log, selection, archive)
        for path in ("time", *(path for path in selection.fields if path not in RAGGED)):
            shape = (selection.row_count, *log.row_shape(path))
            member = zipfile.ZipInfo(f"{short_name(path)}.npy")  # without a date: equal logs give equal files
            with archive.open(member, "w", force_zip64=True) as array_stream:
                description = {"descr": log.dtype(path).str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(array_stream, description)
                for chunk in chunks_of(log, selection, only=path):
                    array_stream.write(np.ascontiguousarray(chunk[path]).tobytes())


def _write_contact_arrays(log: Log, selection: Selection, archive: ZipFile) -> None:
    """A chunk of rows at a time, once for each dataset."""

    def write(path: str, dtype: DTypeLike, shape: tuple[int, ...], parts: Iterable[Array]) -> None:
        with archive.open(zipfile.ZipInfo(f"{path}.npy"), "w", force_zip64=True) as stream:
            description = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(stream, description)
            for part in parts:
                stream.write(np.ascontiguousarray(part, dtype).tobytes())

    offset = _offsets(np.diff(chunk["offset"])[:: selection.every] for chunk in _contact_chunks(log, selection))
    write(OFFSET, "i8", offset.shape, [offset])
    for field in log.contact_fields:
        parts = (chunk[field.path][_chosen(chunk["offset"], selection)] for chunk in _contact_chunks(log, selection))
        write(field.path, field.dtype, (int(offset[-1]), *field.row_shape), parts)
    for name in ("body_names", "geometry_names"):
        texts = np.array(getattr(log.contact_names(), name))
        write(f"contact/{name}", texts.dtype, texts.shape, [texts])
    if FACES in selection.fields:
        _write_face_arrays(log, selection, write)


def _write_face_arrays(
    log: Log, selection: Selection, write: Callable[[str, DTypeLike, tuple[int, ...], Iterable[Array]], None]
) -> None:
    for path, by in ((FACES_OFFSET, None), (CORNERS_OFFSET, FACES_OFFSET)):
        counts = (_kept_faces(c, f, selection, by, np.diff(f[path])) for c, f in _face_chunks(log, selection))
        offset = _offsets(counts)
        write(path, "i8", offset.shape, [offset])
    for field in CORNER_FIELDS:
        parts = (_kept_faces(c, f, selection, CORNERS_OFFSET, f[field.path]) for c, f in _face_chunks(log, selection))
        write(field.path, field.dtype, (int(offset[-1]), *field.row_shape), parts)


def _face_chunks(log: Log, selection: Selection) -> Iterator[tuple[dict[str, Array], dict[str, Array]]]:
    for start, stop in _bounds_of_chunks(selection):
        yield log.contacts(start, stop), log.faces(start, stop)


def _kept_faces(
    contacts: Mapping[str, Array], faces: Mapping[str, Array], selection: Selection, by: str | None, values: Array
) -> Array:
    """The values, one a contact, face or corner (by: the offsets that end with it), of every how manieth row."""
    kept = _chosen(contacts["offset"], selection)
    for path in (FACES_OFFSET, CORNERS_OFFSET):
        if by is None:
            break
        kept = np.repeat(kept, np.diff(faces[path]))
        if by == path:
            break
    return values[kept]


def _offsets(counts: Iterable[IntArray]) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, int), *counts]))])


def _contact_chunks(log: Log, selection: Selection) -> Iterator[dict[str, Array]]:
    for start, stop in _bounds_of_chunks(selection):
        yield log.contacts(start, stop)


def _bounds_of_chunks(selection: Selection) -> Iterator[tuple[int, int]]:
    rows = _rows_of_chunks(selection)
    for start in range(selection.start, selection.stop, rows):
        yield start, min(start + rows, selection.stop)


def _chosen(offset: IntArray, selection: Selection) -> BoolArray:
    """Which contacts of a chunk are in every how manieth row."""
    rows = np.zeros(len(offset) - 1, dtype=bool)
    rows[:: selection.every] = True
    return np.repeat(rows, np.diff(offset))


EXPORTERS = {"csv": export_csv, "jsonl": export_jsonl, "npz": export_npz}


@contextmanager
def output_file(path: str | os.PathLike[str], force: bool = False) -> Iterator[IO[bytes]]:
    """A file that appears under its name when it is whole; yields a binary stream. Pipes and devices are written to.

    Raises:
      OutputError: it exists already, or cannot be written.
    """
    if is_special(os.fspath(path)):
        with open(path, "wb") as stream:
            yield stream
        return
    if os.path.lexists(path) and not force:
        raise OutputError(f"{path}: error: exists already; {argument('force', True)} replaces it")
    try:
        with replacing(path) as name, open(name, "r+b") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise OutputError(f"{path}: error: cannot be written: {error.strerror}") from None


def chunks_of(log: Log, selection: Selection, only: str | None = None) -> Iterator[dict[str, Any]]:
    """Chunks of the selected rows, `time` first in each."""
    fields = ("time", *selection.fields) if only is None else (only,)
    names = None if RAGGED.keys().isdisjoint(fields) else log.contact_names()
    rows, start = _rows_of_chunks(selection), selection.start
    for chunk in log.chunks([path for path in fields if path not in RAGGED], rows, selection.start, selection.stop):
        count = len(chunk[next(iter(chunk))])
        rows_of: dict[str, Any] = {path: array[:: selection.every] for path, array in chunk.items()}
        if names is not None:
            contacts = log.contacts(start, start + count)
            if CONTACT in fields:
                rows_of[CONTACT] = _named_contacts(contacts, names)[:: selection.every]
            if FACES in fields:
                rows_of[FACES] = _named_faces(contacts, log.faces(start, start + count), names)[:: selection.every]
        yield {path: rows_of[path] for path in fields}
        start += count


def _rows_of_chunks(selection: Selection) -> int:
    rows = CHUNK_ROWS_WITH_FACES if FACES in selection.fields else CHUNK_ROWS
    return max(rows // selection.every, 1) * selection.every  # so that `every` fits across chunks


def _named_contacts(contacts: Mapping[str, Array], names: ContactNames) -> list[list[dict[str, Any]]]:
    """For each row a list of dictionaries, with names in place of numbers."""
    columns = {}
    for field in names.fields:
        values = contacts[field.path].tolist()
        if field.path in NAMED:
            table = getattr(names, NAMED[field.path])
            values = [table[k] if 0 <= k < len(table) else str(k) for k in values]
        columns[field.path.removeprefix("contact/")] = values
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    offset = contacts["offset"]
    return [rows[first:last] for first, last in zip(offset[:-1], offset[1:], strict=True)]


def _named_faces(
    contacts: Mapping[str, Array], faces: Mapping[str, Array], names: ContactNames
) -> list[list[dict[str, Any]]]:
    """For each row a list of dictionaries, one a face, of one surface after the other."""
    rows = []
    for row in range(len(contacts["offset"]) - 1):
        first, last = contacts["offset"][row : row + 2]
        bounds = faces[FACES_OFFSET][first : last + 1]
        corners = faces[CORNERS_OFFSET][bounds[0] : bounds[-1] + 1]
        part = {key: values[first:last] for key, values in contacts.items() if key != "offset"}
        span = slice(corners[0], corners[-1])
        part |= {FACES_OFFSET: bounds - bounds[0], CORNERS_OFFSET: corners - corners[0]}
        part |= {field.path: faces[field.path][span] for field in CORNER_FIELDS}
        rows.append(
            [
                {
                    **{key: getattr(surface, key) for key in ("body_a", "body_b", "geometry_a", "geometry_b")},
                    "face": number,
                    "corners": polygon.tolist(),
                    "pressures": pressures.tolist(),
                }
                for surface in surfaces_of(part, part, names)
                for number, (polygon, pressures) in enumerate(zip(surface.polygons, surface.pressures, strict=True))
            ]
        )
    return rows


def _finite_lists(array: Array) -> Any:
    if np.isfinite(array).all():
        return array.tolist()
    return _null_where_not_finite(array.tolist())


def _null_where_not_finite(values: Any) -> Any:
    if isinstance(values, list):
        return [_null_where_not_finite(value) for value in values]
    return values if isfinite(values) else None


def _without_nan(rows: Iterable[Iterable[Mapping[str, Any]]]) -> list[list[dict[str, Any]]]:
    """Lists of contacts with null for numbers that are not finite."""
    return [
        [{key: x if isinstance(x, str) else _null_where_not_finite(x) for key, x in c.items()} for c in contacts]
        for contacts in rows
    ]
