"""The table of a sweep: one row a point, as CSV, as Parquet (extra `parquet`), and as columns in Python."""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import require_extra
from mbcli.sweeps.stores import refuse_existing, written

if TYPE_CHECKING:
    from mbcli.sweeps.kept_rows import KeptRows

ROWS_AT_ONCE, ROWS_OF_BATCH = 20_000, 1000  # of a Parquet file; of Python's objects in memory

NOT_IN_TABLE = ("wall_time", "worker")  # equal sweeps have equal tables
TEXTS = ("status", "message")
FIGURES = (
    "end_time",
    "energy_start",
    "energy_end",
    "energy_drift",
    "contacts_max",
    "contact_force_max",
    "contact_depth_max",
)


@dataclass(frozen=True)
class ResultTable:
    """Rows in the order of the points.

    Attributes:
        columns: names: point, seed, what was varied, status, message, measures, end_time [s], energies [J], maxima of
            contact, the final state.
        rows: {column: number or text}; what a run has not given is None, a number that is not finite is kept.
        varied: the columns of what was varied.
        statuses: {class: how many points are of it}.
    """

    columns: tuple[str, ...]
    rows: Sequence[dict[str, Any]] = field(repr=False)
    varied: tuple[str, ...] = ()
    statuses: Mapping[str, int] = field(default_factory=dict, repr=False)

    def column(self, name: str) -> np.ndarray:
        """A column (n,): numbers, NaN where there is none, or texts. KeyError if there is no such column."""
        if name not in self.columns:
            raise KeyError(f"the table has no column {name!r}; it has {', '.join(self.columns)}")
        values = [row.get(name) for row in self.rows]
        if any(isinstance(value, str) for value in values):
            return np.array(["" if value is None else str(value) for value in values])
        return np.array([math.nan if value is None else value for value in values], dtype=float)

    def counts(self) -> dict[str, int]:
        """{class: how many points are of it}, those that there are."""
        return dict(self.statuses)

    def as_csv(self) -> str:
        """Numbers with all their digits; empty where there is none."""
        text = io.StringIO()
        self._write_rows(text)
        return text.getvalue()

    def _write_rows(self, file: IO[str]) -> None:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_cell(row.get(name)) for name in self.columns] for row in self.rows)

    def write_csv(self, path: str, *, force: bool = False) -> None:
        """Writes as_csv() to a file. OutputError if it cannot be written."""
        refuse_existing(path, force)
        with written(path) as name, open(name, "r+", encoding="utf-8", newline="") as file:
            self._write_rows(file)

    def write_parquet(self, path: str, *, force: bool = False, kinds: Mapping[str, type] | None = None) -> None:
        """Writes a Parquet file. kinds: {column: int, float or str}; None: those of the values, by a first pass.

        ResourceError without the package pyarrow, OutputError if the file cannot be written.
        """
        require_parquet(path)
        import pyarrow
        from pyarrow import parquet

        refuse_existing(path, force)
        types = {str: pyarrow.string(), float: pyarrow.float64(), int: pyarrow.int64(), type(None): pyarrow.null()}
        schema = pyarrow.schema([(name, types[kind]) for name, kind in (kinds or self._kinds()).items()])

        def batch(start: int, end: int) -> Any:
            rows = self.rows[start:end]
            columns = [_arrow([row.get(field.name) for row in rows], field.type) for field in schema]
            return pyarrow.record_batch(columns, schema=schema)

        with written(path) as place, parquet.ParquetWriter(place, schema) as writer:
            for start in range(0, len(self.rows), ROWS_AT_ONCE):
                end = min(start + ROWS_AT_ONCE, len(self.rows))
                batches = [batch(k, min(k + ROWS_OF_BATCH, end)) for k in range(start, end, ROWS_OF_BATCH)]
                writer.write_table(pyarrow.Table.from_batches(batches, schema))

    def _kinds(self) -> dict[str, type]:
        """{column: the most general kind of its values}."""
        kinds: dict[str, set[type]] = {name: set() for name in self.columns}
        for row in self.rows:
            for name, seen in kinds.items():
                seen.add(type(row.get(name)))
        return {
            name: next(kind for kind in (str, float, int, type(None)) if kind in seen) for name, seen in kinds.items()
        }


def _arrow(values: Sequence[Any], kind: Any) -> Any:
    """An array of Arrow. pyarrow.array() would import pandas where that is installed: 40 MB."""
    import pyarrow

    there = [value is not None for value in values]
    mask = None if all(there) else pyarrow.py_buffer(np.packbits(there, bitorder="little"))
    if pyarrow.types.is_null(kind):
        return pyarrow.nulls(len(values))
    if pyarrow.types.is_string(kind):
        texts = [b"" if value is None else str(value).encode() for value in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        buffers = [mask, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(texts))]
    else:
        numbers = array(
            "d" if pyarrow.types.is_floating(kind) else "q", (0 if value is None else value for value in values)
        )
        buffers = [mask, pyarrow.py_buffer(numbers)]
    return pyarrow.Array.from_buffers(kind, len(values), buffers)


def require_parquet(path: str) -> None:
    """ResourceError without the package pyarrow."""
    require_extra("pyarrow", "parquet", f"{path}: Parquet")


class TableRows(Sequence[dict[str, Any]]):
    """The rows of a table, made of those that are kept when they are asked for. indexes: their points; None: all."""

    def __init__(
        self, kept: KeptRows, varied: Sequence[str], results: Sequence[str], indexes: range | None = None
    ) -> None:
        self._kept, self._varied, self._results = kept, varied, results
        self._indexes = array("q", kept) if indexes is None else indexes

    def __len__(self) -> int:
        return len(self._indexes)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[number] for number in range(len(self))[k]]
        entry = self._kept.entry(self._indexes[k])
        row = entry["row"]
        of_point = dict(zip(self._varied, entry["cells"], strict=True))
        named = {name: row.get(name) for name in (*TEXTS, *self._results)}
        return {"point": self._indexes[k], "seed": entry["seed"], **of_point, **named}


def make_table(varied: Sequence[str], kept: KeptRows, measures: Sequence[str] = ()) -> ResultTable:
    """The table of rows. varied: columns of what varied. measures: the names of measures, which come first."""
    found = kept.names()
    results = [name for name in (*measures, *FIGURES) if name in found]
    results += [name for name in found if name not in (*NOT_IN_TABLE, *TEXTS, *results)]
    columns = ("point", "seed", *varied, *TEXTS, *results)
    return ResultTable(columns, TableRows(kept, varied, results), tuple(varied), kept.counts())


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else value
