"""States from CSV: a header, perhaps units, then numbers; text_tables.py says what else may be there."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from mbcli.batch.arriving_bytes import text_of_line
from mbcli.batch.number_lines import LinePlan, NumberLines
from mbcli.batch.state_columns import demanded_columns, fields_of_table
from mbcli.common.number_text import NUMBER
from mbcli.common.text_tables import BLANK, COMMENTS, HeaderSearch, TableHeader, shown
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.batch.arriving_bytes import ArrivingLines
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_layout import StateLayout
    from mbcli.math.array_types import Array

COMMENT_BYTES = tuple(mark.encode() for mark in COMMENTS)


def read_csv(lines: ArrivingLines, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    header = _header(lines, layout)
    columns = demanded_columns(header.names, header.where, layout, header.units)
    width = len(header.names)
    plan = LinePlan([(b"", width, 0)], header.separator.encode(), strict=False) if header.separator != BLANK else None
    rows, is_empty = NumberLines(lines, width, rows_per_chunk, RowReader(header), plan, COMMENT_BYTES), True
    for values, error in rows.tables():
        is_empty = is_empty and not len(values)
        yield len(values), fields_of_table(values, columns, layout)
        if error:
            raise error
    if is_empty:
        layout.demands.tell(f"{header.where}: no rows follow this header")


class RowReader:
    """Reads a line into a row, cell by cell; ModelError if it is wrong."""

    def __init__(self, header: TableHeader) -> None:
        self._header = header

    def __call__(self, line: bytes, where: str, row: Array) -> None:
        header = self._header
        for k, cell in enumerate(header.cells(text_of_line(line, where), where)):
            value = header.number(cell)
            if value is None:
                raise ModelError(f"{where}: error: column {shown(header.names[k])}{self._fault(cell)}")
            row[k] = value

    def _fault(self, cell: str) -> str:
        if not cell:
            return " has no value"
        return f": {shown(cell)} is {'too large' if NUMBER.fullmatch(self._header.plain(cell)) else 'not a number'}"


def _header(lines: ArrivingLines, layout: StateLayout) -> TableHeader:
    """From the lines before the rows."""
    search = HeaderSearch(layout.column_names)
    while lines.wait():
        line, where = lines.look()
        if not search.take(text_of_line(line, where), where):
            break
        lines.take()
    return search.header(lines.name)
