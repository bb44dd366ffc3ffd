"""Logs as files of other programs: Parquet and MATLAB. `mbcli.pictures.timelines` writes MCAP and rrd.

Most formats need a package each, which is imported when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra
from mbcli.errors import ArgumentError
from mbcli.log.column_names import column_names, flat_rows, short_name
from mbcli.log.export import Selection, chunks_of, require_rows

if TYPE_CHECKING:
    from mbcli.log.reader import Log

LARGEST_MAT_ARRAY = 1 << 31  # [bytes] that format 5 can hold in one array


def export_parquet(log: Log, selection: Selection, stream: IO[bytes]) -> None:
    """One column of doubles or integers a coordinate, named as in CSV; `units` in the metadata of each column."""
    pyarrow = import_extra("pyarrow", "parquet")
    parquet = import_module("pyarrow.parquet")
    require_rows(selection.fields)
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

    require_rows(selection.fields)
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


TABLES = {"parquet": export_parquet, "mat": export_mat}
