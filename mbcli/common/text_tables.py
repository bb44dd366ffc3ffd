"""Tables in texts, as laboratories and spreadsheets write them: comments, a header, perhaps a row of units, and rows.

Columns are separated by semicolons, tabs, commas, or by blanks alone; with another separator than the comma a number
may have a decimal comma. Lines that begin with # or % are comments; where the first row has numbers, the comment before
it is the header, as numpy.savetxt() writes it. A unit stands in a row of its own after the header, or after a name, in
brackets.
"""

from __future__ import annotations

import csv
import math
import os
import re
from dataclasses import dataclass
from itertools import dropwhile
from typing import TYPE_CHECKING

from mbcli.common.number_text import NUMBER, parse_number
from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

COMMENTS = ("#", "%")
SEPARATORS = (";", "\t", ",")
BLANK = " "
UNUSED = "-"  # the name of a column that is not to be used
MOST_SHOWN = 80  # characters of a text from the input
UNIT_AFTER_NAME = re.compile(r"\S\s*+[\[(][^\[\]()]*+[\])]")
DEGREE = math.pi / 180.0
UNITS = {  # unit: (the one that mbcli counts in, how many of that it is)
    "rad": ("rad", 1.0),
    "radian": ("rad", 1.0),
    "radians": ("rad", 1.0),
    "deg": ("rad", DEGREE),
    "degree": ("rad", DEGREE),
    "degrees": ("rad", DEGREE),
    "°": ("rad", DEGREE),
    "m": ("m", 1.0),
    "cm": ("m", 0.01),
    "mm": ("m", 0.001),
    "s": ("s", 1.0),
    "sec": ("s", 1.0),
    "ms": ("s", 0.001),
    "us": ("s", 1e-6),
    "rad/s": ("rad/s", 1.0),
    "deg/s": ("rad/s", DEGREE),
    "°/s": ("rad/s", DEGREE),
    "rpm": ("rad/s", math.pi / 30.0),
    "m/s": ("m/s", 1.0),
    "mm/s": ("m/s", 0.001),
    "rad/s^2": ("rad/s^2", 1.0),
    "deg/s^2": ("rad/s^2", DEGREE),
    "m/s^2": ("m/s^2", 1.0),
    "nm": ("N m", 1.0),
    "n": ("N", 1.0),
    "a": ("A", 1.0),
    "ma": ("A", 0.001),
    "1": ("1", 1.0),
}
SPELLINGS = {
    "²": "^2",
    "s2": "s^2",
    "s^-2": "/s^2",
    "s-2": "/s^2",
    "s^-1": "/s",
    "s-1": "/s",
    "·": "",
    "*": "",
    " ": "",
}


@dataclass(frozen=True)
class Unit:
    """What a column is given in: its name in the text, the unit that mbcli counts in, and how many of that it is."""

    said: str
    base: str
    scale: float


@dataclass(frozen=True)
class TableHeader:
    """The columns of a table in a text.

    Attributes:
        names: of the columns, without units.
        units: Unit of each column, None where none is said.
        where: FILE:LINE of it.
        separator: of cells; BLANK: any number of blanks.
    """

    names: tuple[str, ...]
    units: tuple[Unit | None, ...]
    where: str
    separator: str

    def cells(self, line: str, where: str) -> list[str]:
        """The cells of a row, one a column; ModelError if there are more or fewer."""
        found = cells_of(line, self.separator, where)
        if len(found) != len(self.names):
            raise ModelError(f"{where}: error: {len(found)} values, the header has {len(self.names)} columns")
        return found

    def number(self, cell: str) -> float | None:
        """A finite number in a cell, with a decimal comma if it does not separate cells; None if it is none."""
        return parse_number(self.plain(cell))

    def plain(self, cell: str) -> str:
        """A cell, a decimal comma of which is a point."""
        with_point = cell.replace(",", ".")
        return with_point if self.separator != "," and NUMBER.fullmatch(with_point) else cell

    def with_units(self, cells: Sequence[str], where: str) -> TableHeader | None:
        """This header with the units that a row says, if it is a row of units; ModelError if only part of it is."""
        words = [cell.strip().strip("[]()").strip() for cell in cells]
        if len(words) != len(self.names) or all(self.number(word) is not None or not word for word in words):
            return None
        units = [None if word in ("", "-") else unit_of(word) for word in words]
        wrong = [w for w, unit in zip(words, units, strict=True) if unit is None and w not in ("", "-")]
        named = [word for word, unit in zip(words, units, strict=True) if unit is not None and word != "1"]
        if not named or any(self.number(word) is not None and word != "1" for word in words):
            return None
        if wrong:
            raise ModelError(f"{where}: error: {shown(wrong[0])} is no unit that is known, and no number")
        both = [own or unit for own, unit in zip(self.units, units, strict=True)]
        return TableHeader(self.names, tuple(both), self.where, self.separator)


def scale_to(base: str | None, unit: Unit | None, column: str) -> float:
    """What numbers in a unit, None: in the base one, are multiplied by; ModelError if it is of another quantity.

    Args:
        base: what mbcli counts in, None if that is not known.
        column: "FILE:LINE: error: column NAME".
    """
    if unit is None:
        return 1.0
    if base is not None and unit.base != base:
        raise ModelError(f"{column} is in {unit.said}, expected {base} or what can be converted to it")
    return unit.scale


def unit_of(word: str) -> Unit | None:
    """The Unit of a text, None if it is none: "deg", "rad/s", "mm s-1"."""
    plain = word.strip()
    for spelling, meant in SPELLINGS.items():
        plain = plain.replace(spelling, meant)
    found = UNITS.get(plain if plain in UNITS else plain.lower())
    return None if found is None else Unit(word.strip(), *found)


def is_comment(line: str) -> bool:
    return line.lstrip().startswith(COMMENTS)


def cells_of(line: str, separator: str, where: str) -> list[str]:
    """The cells of a line, without the blanks around them."""
    if separator == BLANK:
        return line.split()
    try:
        cells = next(csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True), [])
    except csv.Error as error:
        raise ModelError(f"{where}: error: not CSV: {error}") from None
    return [cell.strip() for cell in cells]


class HeaderSearch:
    """Finds the header in the first lines of a text, and the units of a row after it: line by line, up to the rows.

    Args:
        names: of the columns, in place of those of a header, which need not be there then; columns after the last name
            are called UNUSED.

    Attributes:
        header: the TableHeader, once it is known.
    """

    def __init__(self, names: Sequence[str] | None = None) -> None:
        self._comment: tuple[str, str] | None = None
        self._header: TableHeader | None = None
        self._names = names

    def header(self, name: str) -> TableHeader:
        """After the lines: the header; ModelError if the text of that name has none."""
        if self._header is None:
            raise ModelError(f"{name}:1: error: empty, expected a header with the names of the columns")
        return self._header

    def take(self, line: str, where: str) -> bool:
        """Whether the line is before the rows: blank, a comment, the header, or units. The first that is not is a row.

        ModelError if rows have no header.
        """
        text = line.strip("\r\n")
        if not text.strip():
            return True
        if is_comment(text):
            self._comment = text.lstrip().lstrip("".join(COMMENTS)), where
            return True
        if self._header is not None:
            return self._take_units(self._header, text, where)
        if not _has_numbers_alone(text, where):
            self._header = _header(text, where)
            if self._names is not None:
                self._header = self._named(len(self._header.names), self._header.separator, where)
            return True
        if self._names is not None:
            separator = _separator(text)
            self._header = self._named(len(cells_of(text, separator, where)), separator, where)
            return False
        if self._comment is not None:
            header = _header(*self._comment)
            same = _separator(text)
            if len(cells_of(text, same, where)) == len(header.names) and not _has_numbers_alone(*self._comment):
                self._header = TableHeader(header.names, header.units, header.where, same)
                return False
        raise ModelError(f"{where}: error: numbers where the names of the columns are expected")

    def _named(self, width: int, separator: str, where: str) -> TableHeader:
        """The header of so many columns with the names that were given; ModelError if there are more names."""
        names = tuple(self._names or ())
        if len(names) > width:
            raise ModelError(f"{where}: error: {width} columns, but {len(names)} names of columns are given")
        return TableHeader(names + (UNUSED,) * (width - len(names)), (None,) * width, where, separator)

    def _take_units(self, header: TableHeader, text: str, where: str) -> bool:
        """Whether a line after the header is the row of its units."""
        cells = cells_of(text, header.separator, where)
        with_units = header.with_units(cells, where)
        if with_units is None:
            return False
        self._header = with_units
        return True


def _separator(text: str) -> str:
    return next((mark for mark in SEPARATORS if mark in text), BLANK if len(text.split()) > 1 else ",")


def _has_numbers_alone(text: str, where: str) -> bool:
    cells = cells_of(text, _separator(text), where)
    return bool(cells) and all(NUMBER.fullmatch(cell.replace(",", ".")) for cell in cells)


def _name_and_unit(cell: str) -> tuple[str, str | None]:
    """The parts of `name [unit]` or `name (unit)`; no unit where a cell has none."""
    start = max(cell.rfind("["), cell.rfind("("))
    name, unit = cell[: max(start, 0)].rstrip(), cell[start + 1 : -1]
    closed = bool(name) and cell[-1] in "])" and not any(mark in unit for mark in "])")
    return (name, unit.strip()) if closed else (cell, None)


def _header(text: str, where: str) -> TableHeader:
    bracketed = any(mark in text for mark in SEPARATORS)  # blanks may stand before a unit then
    separator = _separator(text) if bracketed or not UNIT_AFTER_NAME.search(text) else ","
    names, units = [], []
    for cell in cells_of(text, separator, where):
        name, unit_text = _name_and_unit(cell)
        unit = None if unit_text is None else unit_of(unit_text)
        names.append(cell if unit is None else name)
        units.append(unit)
    return TableHeader(tuple(names), tuple(units), where, separator)


@dataclass(frozen=True)
class TextTable:
    """A whole table: its header, and (FILE:LINE, cells) of each row."""

    header: TableHeader
    rows: tuple[tuple[str, list[str]], ...]


def read_text_table(path: str | os.PathLike[str], lines: Iterable[str] | None = None) -> TextTable:
    """The table in a file of UTF-8 text, with line ends of any kind.

    Args:
        lines: are read in place of the file; path is their name in messages then.

    Raises:
        ResourceError: there is no such file. ModelError: it is no table; the message names the line.
    """
    name = os.fspath(path)
    if lines is not None:
        return _table(lines, name)
    if not os.path.exists(name):
        raise ResourceError(f"{name}: error: no such file")
    try:
        with open(name, encoding="utf-8-sig", newline=None) as file:
            return _table(file, name)
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot be read: {error.strerror}") from None


def _table(lines: Iterable[str], name: str) -> TextTable:
    search = HeaderSearch()
    rest = list(dropwhile(lambda line: search.take(*line), _numbered(lines, name)))
    header = search.header(name)
    empty = f" \t\r\n{header.separator}"  # spreadsheets write rows of separators alone
    rows = [(line, where) for line, where in rest if line.strip(empty) and not is_comment(line)]
    return TextTable(header, tuple((where, header.cells(line.rstrip("\r\n"), where)) for line, where in rows))


def _numbered(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    """(line, FILE:LINE)"""
    try:
        for number, line in enumerate(lines, start=1):
            yield (line.removeprefix("\ufeff") if number == 1 else line), f"{name}:{number}"
    except UnicodeDecodeError as error:
        raise ModelError(f"{name}: error: not UTF-8 text: {error.reason}") from None


def shown(text: str) -> str:
    """Text from the input, quoted, shortened and safe for a terminal."""
    return repr(text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "...")
