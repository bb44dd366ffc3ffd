"""The table of a sweep: one row a point, as CSV, as Parquet (extra `parquet`), and as columns in Python."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbcli.common.extra_packages import require_extra
from mbcli.common.output_files import refuse_existing, replacing
from mbcli.errors import OutputError
from mbcli.sweeps.point_run import CLASSES
from mbcli.sweeps.points import Point
from mbcli.sweeps.variations import Variation

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
    """

    columns: tuple[str, ...]
    rows: list[dict[str, Any]] = field(repr=False)
    varied: tuple[str, ...] = ()

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
        statuses = [row["status"] for row in self.rows]
        return {name: statuses.count(name) for name in CLASSES if name in statuses}

    def as_csv(self) -> str:
        """Numbers with all their digits; empty where there is none."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([_cell(row.get(name)) for name in self.columns] for row in self.rows)
        return text.getvalue()

    def write_parquet(self, path: str, *, force: bool = False) -> None:
        """Writes a Parquet file. ResourceError without the package pyarrow, OutputError if it cannot be written."""
        require_parquet(path)
        import pyarrow
        from pyarrow import parquet

        refuse_existing(path, force)
        columns = {}
        for name in self.columns:
            values = [row.get(name) for row in self.rows]
            if any(isinstance(value, str) for value in values):
                values = [None if value is None else str(value) for value in values]
            columns[name] = pyarrow.array(values)
        try:
            with replacing(path) as name:
                parquet.write_table(pyarrow.table(columns), name)
        except OSError as error:
            raise OutputError(f"{path}: error: cannot be written: {error.strerror or error}") from None


def require_parquet(path: str) -> None:
    """ResourceError without the package pyarrow."""
    require_extra("pyarrow", "parquet", f"{path}: Parquet")


def make_table(
    variations: Sequence[Variation], points: Sequence[Point], rows: Mapping[int, Mapping], measures: Sequence[str] = ()
) -> ResultTable:
    """The table of the rows of points, {number of a point: row}. measures: the names of measures, which come first."""
    found: dict[str, None] = {}
    for index in sorted(rows):
        found |= dict.fromkeys(rows[index])
    results = [name for name in (*measures, *FIGURES) if name in found]
    results += [name for name in found if name not in (*NOT_IN_TABLE, *TEXTS, *results)]
    varied = {v.path: v for v in variations}
    columns = ("point", "seed", *(v.column for v in variations), *TEXTS, *results)
    table = []
    for point in points:
        if point.index in rows:
            of_point = {varied[path].column: varied[path].cell(text) for path, text in point.values.items()}
            row = rows[point.index]
            table.append({"point": point.index, "seed": point.seed, **of_point, **{n: row.get(n) for n in TEXTS}})
            table[-1] |= {name: row.get(name) for name in results}
    return ResultTable(columns, table, tuple(v.column for v in variations))


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else value
