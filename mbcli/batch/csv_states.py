"""States from CSV: a header, then numbers."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import orjson

from mbcli.batch.arriving_bytes import text_of_line
from mbcli.batch.state_columns import fields_of_table, shown, targets_of_header
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.batch.arriving_bytes import LineBatch
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_reader import StateLayout
    from mbcli.math.array_types import Array

NUMBER = re.compile(r"[ \t]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*\r?", re.ASCII)
CHARACTERS_OF_NUMBERS = b"0123456789+-.eE, \t\r\n"
SEPARATORS = (",", ";", "\t")


def read_csv(batches: Iterator[LineBatch], name: str, layout: StateLayout) -> Iterator[Table]:
    header, batches = _header(batches, name)
    if all(NUMBER.fullmatch(cell) for cell in header.cells):
        raise ModelError(f"{header.where}: error: numbers where the names of the columns are expected")
    targets = targets_of_header(header.cells, header.where, layout)
    for number, text in batches:
        values = _plain_numbers(text, header)
        error = None
        if values is None:
            values, error = _checked_numbers(text, number, header, name)
        yield len(values), fields_of_table(values, targets, layout)
        if error:
            raise error


@dataclass(frozen=True)
class _Header:
    cells: list[str]
    where: str
    separator: str  # of the columns: a comma, else a semicolon or a tab, as spreadsheets write them


def _header(batches: Iterator[LineBatch], name: str) -> tuple[_Header, Iterator[LineBatch]]:
    """The first line that is not blank, and the lines after it."""
    for number, lines in batches:
        for offset, line in enumerate(lines.split(b"\n")):
            if line.strip():
                where = f"{name}:{number + offset}"
                text = text_of_line(line, where)
                separator = next((mark for mark in SEPARATORS if mark in text), ",")
                cells = [cell.strip() for cell in _cells(text, where, separator)]
                rest = lines.split(b"\n", offset + 1)[offset + 1 :]
                return _Header(cells, where, separator), _followed(number + offset + 1, rest, batches)
    raise ModelError(f"{name}:1: error: empty, expected a header with the names of the columns")


def _followed(number: int, lines: list[bytes], batches: Iterator[LineBatch]) -> Iterator[LineBatch]:
    for text in lines:  # one, unless the header ends its batch
        yield number, text
    yield from batches


def _cells(line: str, where: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise ModelError(f"{where}: error: not CSV: {error}") from None


def _plain_numbers(text: bytes, header: _Header) -> Array | None:
    """The table of numbers (n, width) of lines, or None if a line needs the careful look."""
    separator = header.separator.encode()
    if text.translate(None, CHARACTERS_OF_NUMBERS + separator) or (separator != b"," and b"," in text):
        return None
    if b"\r" in text or b"\n\n" in text or text[:1] in (b"", b"\n") or text[-1:] == b"\n":
        text = b"\n".join([line for line in text.split(b"\n") if line and line != b"\r"])
    width = len(header.cells)
    if not text:
        return np.empty((0, width))
    try:
        rows = orjson.loads(b"[[" + text.replace(separator, b",").replace(b"\n", b"],[") + b"]]")
        values = np.array(rows, dtype=float)
    except ValueError:  # numbers may be of another form than those of JSON: +1, .5, 1.
        try:
            values = np.loadtxt(text.split(b"\n"), delimiter=header.separator, comments=None, ndmin=2)
        except ValueError:
            return None
    whole = values.shape == (text.count(b"\n") + 1, width) and np.isfinite(values).all()
    return values if whole else None


def _checked_numbers(text: bytes, number: int, header: _Header, name: str) -> tuple[Array, ModelError | None]:
    """Reads line by line: the rows before the first bad line, and the error that the bad line is."""
    rows: list[list[float]] = []
    names, error = header.cells, None
    try:
        for offset, line in enumerate(text.split(b"\n")):
            if line.strip():
                where = f"{name}:{number + offset}"
                rows.append(_checked_row(_cells(text_of_line(line, where), where, header.separator), names, where))
    except ModelError as bad_line:
        error = bad_line
    return np.array(rows, dtype=float).reshape(len(rows), len(names)), error


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
