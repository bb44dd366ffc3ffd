"""Logs as CSV, JSON lines and NPZ, a chunk at a time: a log larger than memory goes through a pipe.

Columns and keys are those that `--states` reads back: `time`, the names of positions and velocities, `u:NAME`.
"""

import csv
import io
import json
import os
import zipfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path

import numpy as np

from mbcli.errors import OutputError
from mbcli.log.reader import Log

SHORT_NAMES = {"state/q": "q", "state/v": "v", "input/u": "u"}
CHUNK_ROWS = 1024


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a log to export: fields beside the time, by path, and the rows start, start + every, ... < stop."""

    fields: tuple[str, ...]
    start: int
    stop: int
    every: int = 1

    @property
    def row_count(self) -> int:
        return len(range(self.start, self.stop, self.every))


def select(log: Log, *, fields=None, from_time=None, to_time=None, every=1) -> Selection:
    """Chooses rows and fields of a log.

    Args:
      fields: paths ("derived/com"), their last parts ("com", "q", "v", "u") or groups ("derived"); default all.
      from_time, to_time: [s], both ends included.
      every: every how many rows.

    Raises:
      LookupError: a field is not in the log; the message lists those that are.
    """
    paths = [path for path in log.fields() if path != "time"]
    if fields is not None:
        paths = list(dict.fromkeys(path for name in fields for path in _paths_of(name, paths)))
    start = 0 if from_time is None else log.first_row_at(from_time)
    stop = log.row_count if to_time is None else log.first_row_at(np.nextafter(to_time, np.inf))
    return Selection(tuple(paths), start, stop, every)


def export_csv(log: Log, selection: Selection, stream):
    """A header of names and one line a row; numbers as the shortest decimals that read back the same."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(["time", *column_names(log, selection.fields)])
    stream.write(header.getvalue().encode("utf-8", "backslashreplace"))
    for chunk in _chunks(log, selection):
        columns = [column for array in chunk.values() for column in _flat(array).T.tolist()]
        lines = (",".join(map(repr, row)) for row in zip(*columns, strict=True))
        stream.write(("\n".join(lines) + "\n").encode("ascii"))


def export_jsonl(log: Log, selection: Selection, stream):
    """One object a row: time, q, v, u, and other fields by their path; what is not finite is null."""
    keys = ["time", *map(_key, selection.fields)]
    for chunk in _chunks(log, selection):
        values = [_finite_lists(array) for array in chunk.values()]
        lines = (json.dumps(dict(zip(keys, row, strict=True))) for row in zip(*values, strict=True))
        stream.write(("\n".join(lines) + "\n").encode("ascii"))


def export_npz(log: Log, selection: Selection, stream):
    """Arrays time, q, v, u, and other fields by their path."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for path in ("time", *selection.fields):
            shape = (selection.row_count, *log.row_shape(path))
            member = zipfile.ZipInfo(f"{_key(path)}.npy")  # without a date: equal logs give equal files
            with archive.open(member, "w", force_zip64=True) as array_stream:
                description = {"descr": log.dtype(path).str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(array_stream, description)
                for chunk in _chunks(log, selection, only=path):
                    array_stream.write(np.ascontiguousarray(chunk[path]).tobytes())


EXPORTERS = {"csv": export_csv, "jsonl": export_jsonl, "npz": export_npz}


def column_names(log: Log, fields) -> list[str]:
    """CSV columns: coordinates by their own name where it says which, `FIELD` or `FIELD:NAME` for the rest."""
    coordinates = Counter(name for path in ("state/q", "state/v") for name in log.names[path])
    endings = Counter(path.rpartition("/")[2] for path in log.fields())
    names = []
    for path in fields:
        ending = path.rpartition("/")[2]
        field = ending if endings[ending] == 1 else path
        for name in log.names[path]:
            own = path in ("state/q", "state/v") and coordinates[name] == 1 and name != "time"
            names.append(name if own else f"{field}:{name}" if log.row_shape(path) else field)
    return names


@contextmanager
def output_file(path, force=False):
    """A file that appears under its name when it is whole; yields a binary stream.

    Raises:
      OutputError: it exists already, or cannot be written.
    """
    path = Path(path)
    partial = Path(f"{path}.partial")
    if path.exists() and not force:
        raise OutputError(f"{path}: error: exists already; --force replaces it")
    try:
        with open(partial, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise OutputError(f"{path}: error: cannot be written: {error.strerror}") from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _paths_of(name, paths):
    found = [path for path in paths if name in (path, path.rpartition("/")[2]) or path.startswith(f"{name}/")]
    if not found:
        raise LookupError(f"the log has no field {name!r}; it has {', '.join(map(_key, paths))}")
    return found


def _key(path):
    return SHORT_NAMES.get(path, path)


def _chunks(log, selection, only=None):
    """Chunks of the selected rows, `time` first in each."""
    fields = ("time", *selection.fields) if only is None else (only,)
    rows = max(CHUNK_ROWS // selection.every, 1) * selection.every  # so that `every` fits across chunks
    for chunk in log.chunks(fields, rows, selection.start, selection.stop):
        yield {path: array[:: selection.every] for path, array in chunk.items()}


def _flat(array):
    return array.reshape(len(array), prod(array.shape[1:]))


def _finite_lists(array):
    if np.isfinite(array).all():
        return array.tolist()
    return _null_where_not_finite(array.tolist())


def _null_where_not_finite(values):
    if isinstance(values, list):
        return [_null_where_not_finite(value) for value in values]
    return values if isfinite(values) else None
