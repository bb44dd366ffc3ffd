"""States from CSV: a header, then numbers."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbcli.batch.arriving_bytes import text_of_line
from mbcli.batch.number_lines import LinePlan, NumberLines
from mbcli.batch.state_columns import fields_of_table, shown, targets_of_header
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.batch.arriving_bytes import ArrivingLines
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_reader import StateLayout
    from mbcli.math.array_types import Array

NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*\r?", re.ASCII)
SEPARATORS = (",", ";", "\t")


def read_csv(lines: ArrivingLines, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    header = _header(lines)
    if all(NUMBER.fullmatch(cell) for cell in header.cells):
        raise ModelError(f"{header.where}: error: numbers where the names of the columns are expected")
    targets = targets_of_header(header.cells, header.where, layout)
    width = len(header.cells)
    plan = LinePlan([(b"", width, 0)], header.separator.encode(), strict=False)
    for values, error in NumberLines(lines, width, rows_per_chunk, header.read_line, plan).tables():
        yield len(values), fields_of_table(values, targets, layout)
        if error:
            raise error


@dataclass(frozen=True)
class _Header:
    cells: list[str]
    where: str
    separator: str  # of the columns: a comma, else a semicolon or a tab, as spreadsheets write them

    def read_line(self, line: bytes, where: str, row: Array) -> None:
        """Reads a line into a row, cell by cell; ModelError if it is wrong."""
        cells = _cells(text_of_line(line, where), where, self.separator)
        row[:] = _checked_row(cells, self.cells, where)


def _header(lines: ArrivingLines) -> _Header:
    """The first line that is not blank."""
    while lines.wait():
        line, where = lines.take()
        if line.strip():
            text = text_of_line(line, where)
            separator = next((mark for mark in SEPARATORS if mark in text), ",")
            cells = [cell.strip() for cell in _cells(text, where, separator)]
            return _Header(cells, where, separator)
    raise ModelError(f"{lines.name}:1: error: empty, expected a header with the names of the columns")


def _cells(line: str, where: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise ModelError(f"{where}: error: not CSV: {error}") from None


def _checked_row(cells: list[str], names: list[str], where: str) -> list[float]:
    if len(cells) != len(names):
        raise ModelError(f"{where}: error: {len(cells)} values, the header has {len(names)} columns")
    row = []
    for name, cell in zip(names, cells, strict=True):
        column = f"{where}: error: column {shown(name)}"
        if not cell.strip():
            raise ModelError(f"{column} has no value")
        if not NUMBER.fullmatch(cell):
            raise ModelError(f"{column}: {shown(cell.strip())} is not a number")
        if not math.isfinite(float(cell)):
            raise ModelError(f"{column}: {shown(cell.strip())} is too large")
        row.append(float(cell))
    return row
