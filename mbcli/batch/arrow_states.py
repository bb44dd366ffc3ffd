"""States from tables of columns: Parquet files and Arrow streams (package pyarrow)."""

from __future__ import annotations

import io
import os
from collections.abc import Generator, Iterator
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch.array_states import until_not_finite
from mbcli.batch.arriving_bytes import RestoredStream
from mbcli.batch.state_columns import demanded_columns, fields_of_table
from mbcli.common.extra_packages import import_extra
from mbcli.common.text_tables import shown
from mbcli.errors import MbcliError, ModelError

if TYPE_CHECKING:
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_layout import StateLayout
    from mbcli.math.array_types import Array

PIECE = 1 << 16  # [bytes] of a column of Parquet
FILE_START = b"ARROW1\0\0"  # of an Arrow file: a stream with an index after it


def read_arrow(stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    """From an Arrow stream or file, as rows arrive."""
    ipc, pyarrow = import_extra("pyarrow.ipc", "parquet"), import_extra("pyarrow", "parquet")

    def batches() -> Iterator[Any]:
        path = _path_of(stream)
        if path is not None:
            with pyarrow.OSFile(path) as file:
                file.seek(len(FILE_START) if file.read(len(FILE_START)) == FILE_START else 0)
                yield from ipc.open_stream(file)
            return
        start = stream.read(len(FILE_START))
        if start == FILE_START:
            start = b""
        yield from ipc.open_stream(io.BufferedReader(RestoredStream(start, stream)))

    yield from _tables(batches, pyarrow, "an Arrow stream", name, layout, rows_per_chunk)


def read_parquet(
    stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int
) -> Generator[Table, None, None]:
    """From a Parquet file."""
    parquet, pyarrow = import_extra("pyarrow.parquet", "parquet"), import_extra("pyarrow", "parquet")

    def batches() -> Iterator[Any]:
        # a group of rows may be the whole file: it is read piece by piece
        file = parquet.ParquetFile(_path_of(stream) or stream, pre_buffer=False, buffer_size=PIECE)
        yield from file.iter_batches(batch_size=rows_per_chunk)

    yield from _tables(batches, pyarrow, "a Parquet file", name, layout, rows_per_chunk)


def _path_of(stream: IO[bytes]) -> str | None:
    """The file that a stream is, from its start: pyarrow reads it sooner by itself than through Python."""
    if type(stream) is not io.BufferedReader or not stream.seekable() or stream.tell() != 0:
        return None
    return stream.name if isinstance(stream.name, str) and os.path.isfile(stream.name) else None


def _tables(
    batches: Any, pyarrow: Any, what: str, name: str, layout: StateLayout, rows_per_chunk: int
) -> Generator[Table, None, None]:
    """Columns are named as those of CSV."""
    first_row = 0

    def label(_: str, column: int) -> str:
        return shown(header[column])

    try:
        rest = iter(batches())
        first = next(rest, None)
        if first is None:
            return
        header = list(first.schema.names)
        columns = demanded_columns(header, name, layout)
        for batch in chain([first], rest):
            for start in range(0, batch.num_rows, rows_per_chunk):
                values = _numbers(batch.slice(start, rows_per_chunk), header, pyarrow, name, first_row)
                count, cut, error = until_not_finite(len(values), {"": values}, first_row, name, label)
                yield count, fields_of_table(cut[""], columns, layout)
                if error:
                    raise error
                first_row += count
    except MbcliError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ModelError(f"{name}: error: not {what} that can be read: {reason}") from None


def _numbers(batch: Any, header: list[str], pyarrow: Any, name: str, first_row: int) -> Array:
    """The columns of a batch of rows as (n, width)."""
    values = np.empty((batch.num_rows, len(header)))
    for k, column in enumerate(batch.columns):
        kind = pyarrow.types
        if not (kind.is_floating(column.type) or kind.is_integer(column.type) or kind.is_decimal(column.type)):
            raise ModelError(f"{name}: error: column {shown(header[k])} is {column.type}, expected numbers")
        if column.null_count:
            row = first_row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise ModelError(f"{name}: error: row {row}: column {shown(header[k])} has no value")
        values[:, k] = column.to_numpy(zero_copy_only=False)
    return values
