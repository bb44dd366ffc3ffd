"""Results as tables of columns: Parquet files and Arrow streams (package pyarrow)."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, cast

from mbcli.batch.result_encoder import Encoder, column_names, column_units
from mbcli.common.extra_packages import import_extra

if TYPE_CHECKING:
    from mbcli.math.array_types import Array


ROWS_OF_GROUP = 1 << 16  # of a Parquet file


class Table(Encoder):
    """One column a component, named as in CSV, with its unit among the metadata of the column.

    Args:
        stream: of bytes.
        metadata: statements about all rows.
        names: {name of a result: names of its components}
        units: {name of a result: its unit, or those of its components}
    """

    def __init__(
        self,
        stream: IO[bytes],
        metadata: Mapping[str, Any],
        names: Mapping[str, Sequence[str]],
        units: Mapping[str, str | Sequence[str]],
    ) -> None:
        self._arrow = import_extra("pyarrow", "parquet")
        self._stream, self._names, self._units = stream, names, units
        about = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
        self._schema, self._writer = self._arrow.schema([], metadata=about), cast(Any, None)

    def begin(self, arrays: Mapping[str, Array]) -> None:
        fields = []
        for name, array in arrays.items():
            shape = array.shape[1:]
            components = column_names(self._names, name, shape)
            units = column_units(self._units, name, math.prod(shape)) or [""] * len(components)
            kind = self._arrow.from_numpy_dtype(array.dtype)
            for component, unit in zip(components, units, strict=True):
                fields.append(self._arrow.field(component, kind, metadata={"units": unit} if unit else None))
        self._schema = self._arrow.schema(fields, metadata=self._schema.metadata)
        self._writer = self._new_writer()

    def _new_writer(self) -> Any:
        raise NotImplementedError

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        flat = (array.reshape(len(array), math.prod(array.shape[1:])).T for array in arrays.values())
        columns = [self._arrow.array(column) for rows in flat for column in rows]
        self._write(self._arrow.record_batch(columns, schema=self._schema))

    def _write(self, batch: Any) -> None:
        self._writer.write_batch(batch)

    def finish(self) -> None:
        writer = self._new_writer() if self._writer is None else self._writer
        writer.close()

    def discard(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._writer is not None:
                self._writer.close()  # it would try when it is collected, and the stream is closed then


class Parquet(Table):
    def _new_writer(self) -> Any:
        self._waiting: list[Any] = []
        parquet = import_extra("pyarrow.parquet", "parquet")
        return parquet.ParquetWriter(self._stream, self._schema, use_dictionary=False)  # of numbers that differ

    def _write(self, batch: Any) -> None:
        self._waiting.append(batch)
        if sum(batch.num_rows for batch in self._waiting) >= ROWS_OF_GROUP:
            self._write_group()

    def _write_group(self) -> None:
        self._writer.write_table(self._arrow.Table.from_batches(self._waiting))
        self._waiting = []

    def finish(self) -> None:
        if self._writer is not None and self._waiting:
            self._write_group()
        super().finish()


class Arrow(Table):
    def _new_writer(self) -> Any:
        return import_extra("pyarrow.ipc", "parquet").new_stream(self._stream, self._schema)
