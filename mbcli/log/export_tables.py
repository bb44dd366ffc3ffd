"""Logs as files of other programs: Parquet, MATLAB, MCAP (Foxglove, PlotJuggler) and rrd (Rerun).

Parquet, MCAP and rrd need a package each, which is imported when it is used.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.errors import ArgumentError
from mbcli.log.export import RAGGED, Selection, chunks_of, column_names, flat_rows, short_name

if TYPE_CHECKING:
    from mbcli.log.reader import Log

LARGEST_MAT_ARRAY = 1 << 31  # [bytes] that format 5 can hold in one array
NANOSECONDS = 1e9


def export_parquet(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """One column of doubles or integers a coordinate, named as in CSV; `units` in the metadata of each column."""
    pyarrow = import_extra("pyarrow", "parquet")
    parquet = import_module("pyarrow.parquet")
    _require_rows(selection, "Parquet")
    paths = ("time", *selection.fields)
    names = ["time", *column_names(log, selection.fields)]
    units = [unit for path in paths for unit in log.units[path]]
    types = [pyarrow.from_numpy_dtype(log.dtype(path)) for path in paths for _ in log.names[path]]
    fields = [
        pyarrow.field(name, kind, metadata={"units": unit})
        for name, kind, unit in zip(names, types, units, strict=True)
    ]
    about = {key: str(log.attrs[key]) for key in ("format_version", "status", "model_name") if key in log.attrs}
    schema = pyarrow.schema(fields, metadata=about)
    with parquet.ParquetWriter(stream, schema) as writer:
        for chunk in chunks_of(log, selection):
            columns = [column for array in chunk.values() for column in flat_rows(array).T]
            writer.write_table(pyarrow.table([pyarrow.array(column) for column in columns], schema=schema))


def export_mat(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """Variables time, q, v, u and the others by their path with `_` for `/`; `names` and `units` have theirs."""
    from scipy.io import savemat

    _require_rows(selection, "MATLAB")
    variables: dict[str, Any] = {"names": {}, "units": {}}
    for path in ("time", *selection.fields):
        rows = [chunk[path] for chunk in chunks_of(log, selection, only=path)]
        array = np.concatenate(rows) if rows else np.empty((0, *log.row_shape(path)))
        if array.nbytes >= LARGEST_MAT_ARRAY:
            raise ArgumentError(f"{path} has {array.nbytes} bytes, a MATLAB file holds 2 GB: choose rows or fields")
        name = short_name(path).replace("/", "_")
        variables[name] = array[:, None] if array.ndim == 1 else array
        variables["names"][name] = np.array(log.names[path], dtype=object)
        variables["units"][name] = np.array(log.units[path], dtype=object)
    savemat(stream, variables, long_field_names=True, do_compression=True)


def export_mcap(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """A topic of JSON messages for each field, /state/q and so on: {name of the column: number}. Time 0 is 1970."""
    writer_of = import_extra("mcap.writer", "mcap").Writer
    _require_rows(selection, "MCAP")
    writer = writer_of(stream)
    writer.start(profile="", library="mbcli")
    channels = {path: _register(writer, log, path) for path in selection.fields}
    for chunk in chunks_of(log, selection):
        times = chunk["time"].tolist()
        rows = {path: flat_rows(chunk[path]).tolist() for path in selection.fields}
        for k, time in enumerate(times):
            stamp = round(time * NANOSECONDS)
            for path, channel in channels.items():
                values = (value if np.isfinite(value) else None for value in rows[path][k])
                message = json.dumps(dict(zip(log.names[path], values, strict=True))).encode()
                writer.add_message(channel, log_time=max(stamp, 0), data=message, publish_time=max(stamp, 0))
    writer.finish()


def _register(writer, log, path):
    """The channel of a field; its JSON Schema has the units."""
    units = dict(zip(log.names[path], log.units[path], strict=True))
    properties = {name: {"type": "number", "description": unit} for name, unit in units.items()}
    schema = {"type": "object", "title": path, "properties": properties}
    number = writer.register_schema(name=f"mbcli.{path}", encoding="jsonschema", data=json.dumps(schema).encode())
    return writer.register_channel(topic=f"/{path}", message_encoding="json", schema_id=number)


def export_rrd(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """A series over the timeline `time` for each column, under its field and name: /state/q/NAME."""
    rerun = import_extra("rerun", "rerun")
    _require_rows(selection, "rrd")
    recording = rerun.RecordingStream("mbcli", recording_id=log.attrs.get("model_sha256"))
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "log.rrd")
        recording.save(target)
        for chunk in chunks_of(log, selection):
            index = rerun.TimeColumn("time", duration=chunk["time"])
            for path in selection.fields:
                for name, column in zip(log.names[path], flat_rows(chunk[path]).T, strict=True):
                    entity = rerun.escape_entity_path_part(name) if log.row_shape(path) else ""
                    series = rerun.Scalars.columns(scalars=np.ascontiguousarray(column, dtype=float))
                    recording.send_columns(f"/{path}/{entity}".rstrip("/"), indexes=[index], columns=series)
        recording.disconnect()
        with open(target, "rb") as written:
            shutil.copyfileobj(written, stream)


TABLES = {"parquet": export_parquet, "mat": export_mat, "mcap": export_mcap, "rrd": export_rrd}


def _require_rows(selection, what):
    for path in RAGGED.keys() & selection.fields:
        raise ArgumentError(f"{what} has fields with a row a sample: {RAGGED[path]} go into csv, jsonl or npz")
