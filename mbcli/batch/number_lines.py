"""Rows of numbers from lines: those that are alike by a kernel, any other line with care."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.line_fields import PLACE_ROW, PLACE_TEXT
from mbcli.engine.runtime.kernel import may_compile
from mbcli.engine.runtime.kernel_cache import is_compiled
from mbcli.engine.runtime.linking import load_kernels
from mbcli.engine.runtime.precompiled import precompiled_library
from mbcli.engine.text.number_rows import LARGEST_POWER, halves_of
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from typing import TypeAlias

    from mbcli.batch.arriving_bytes import ArrivingLines
    from mbcli.math.array_types import Array

    # reads a line with care into a row: (line, place in messages, row); says how lines are alike, if it has found out
    ReadLine: TypeAlias = Callable[[bytes, str, Array], "LinePlan | None"]

FEW_ROWS = 100  # that are read with care before a kernel is loaded for them
FEWEST_PLAIN = 8  # that NumPy is asked to read at once
PLAIN = frozenset(b"0123456789+-.eE \r\n")  # characters of such lines, beside separators
MANY_ROWS = 10_000  # for which a kernel is compiled: reading so many with care takes as long


class LinePlan:
    """Lines that are alike, as read_lines() of engine/text/number_rows.py takes them.

    Args:
        groups: of numbers in a line: the text before it, how many there are, the column of the first one.
        separator: between numbers of a group.
        strict: whether numbers are as JSON has them.
        others: columns without a group, and what stands there.
    """

    def __init__(
        self,
        groups: Sequence[tuple[bytes, int, int]],
        separator: bytes,
        strict: bool,
        others: Sequence[tuple[slice, Sequence[float]]] = (),
    ) -> None:
        numbers = [ord(separator), ord(" " if separator == b"\t" else "\t"), int(strict), len(groups)]
        marks = b""
        for mark, count, column in groups:
            numbers += [len(marks), len(mark), count, column]
            marks += mark
        self.numbers = np.array(numbers, dtype=np.int64)
        self.marks, self.others = np.frombuffer(marks, np.int8), others
        # characters of lines that are nothing but separated numbers
        self.plain: Array | None = None
        if not strict and marks == b"" and separator not in (b".", b"+", b"-"):
            self.separator = separator.decode("ascii")
            self.plain = np.isin(np.arange(-128, 128), [*PLAIN, ord(separator)])


class NumberLines:
    """Tables of the rows of lines, as they arrive.

    Args:
        lines: from where they are.
        width: numbers in a row.
        most_rows: of a table.
        read_line: a line into a row; ModelError if it is wrong.
        plan: how lines are alike, as far as that is known.
        comments: beginnings of lines that are no rows.
    """

    def __init__(
        self,
        lines: ArrivingLines,
        width: int,
        most_rows: int,
        read_line: ReadLine,
        plan: LinePlan | None = None,
        comments: tuple[bytes, ...] = (),
    ) -> None:
        self._lines, self._width, self._most_rows, self._read_line = lines, width, most_rows, read_line
        self._plan, self._row_count, self._comments = plan, 0, comments
        self._kernel, self._patience, self._next_plain = None, FEW_ROWS, 0

    def tables(self) -> Iterator[tuple[Array, ModelError | None]]:
        """The rows (n, width) until lines end or have to be waited for, and the error of the line after them."""
        while self._lines.wait():
            values = np.empty((self._most_rows, self._width))
            count, error = 0, None
            try:
                while count < len(values) and self._lines.has_arrived():
                    count = self._read_alike(values, count)
                    if count < len(values) and self._lines.start < len(self._lines.text):
                        line, where = self._lines.take()
                        if line.strip() and not (self._comments and line.lstrip().startswith(self._comments)):
                            self._plan = self._read_line(line, where, values[count]) or self._plan
                            count += 1
            except ModelError as bad_line:
                error = bad_line
            self._row_count += count
            yield values[:count], error

    def _read_alike(self, values: Array, count: int) -> int:
        """Reads the next lines as far as they are alike into rows from count on; returns how many there are then."""
        kernel, lines, plan = self._kernel or self._load(count), self._lines, self._plan
        if plan is None:
            return count
        if kernel is None:
            return self._read_plain(plan, values, count)
        place = np.zeros(2, dtype=np.int64)
        place[PLACE_TEXT], place[PLACE_ROW] = lines.start, count
        kernel(lines.text, plan.marks, plan.numbers, powers_of_ten(), values, place)
        start, row = place.tolist()
        lines.move_to(start, row - count)
        for columns, defaults in plan.others:
            values[count:row, columns] = defaults
        return row

    def _read_plain(self, plan: LinePlan, values: Array, count: int) -> int:
        """As _read_alike(), by NumPy, for rows that are too few for a kernel."""
        lines = self._lines
        text = lines.text[lines.start :]
        if plan.plain is None or self._row_count + count < self._next_plain or not len(text):
            return count
        other = ~plan.plain[text.astype(np.int64) + 128]
        if other.any():
            text = text[: int(np.argmax(other))]
        ends = np.flatnonzero(text == ord("\n"))[: len(values) - count] + 1
        few = len(ends)
        while few >= FEWEST_PLAIN:
            part = text[: ends[few - 1]].tobytes().decode("ascii")
            rows = _rows_of(part.replace("\r\n", "\n"), plan.separator)
            if rows is not None and rows.shape[1:] == (self._width,):
                values[count : count + len(rows)] = rows
                lines.move_to(lines.start + int(ends[few - 1]), few)
                return count + len(rows)
            few //= 8
        self._next_plain = self._row_count + count + FEWEST_PLAIN
        return count

    def _load(self, count: int) -> Any:
        rows = self._row_count + count
        if may_compile() and (rows >= self._patience or precompiled_library() is not None):
            kernel = load_kernels(True).read_lines
            if rows >= MANY_ROWS or is_compiled(kernel):
                self._kernel = kernel
            self._patience = MANY_ROWS
        return self._kernel


def _rows_of(text: str, separator: str) -> Array | None:
    """The rows of lines of finite numbers; None if a line is anything else."""
    if "\r" in text:
        return None
    try:
        rows = np.loadtxt(io.StringIO(text), delimiter=separator, comments=None, ndmin=2)
    except ValueError:
        return None
    return rows if np.isfinite(rows).all() else None


@functools.cache
def powers_of_ten() -> Array:
    """10^k for k from -LARGEST_POWER to LARGEST_POWER: a double, what is missing from it, the halves of the double."""
    rows = []
    for k in range(-LARGEST_POWER, LARGEST_POWER + 1):
        above, below = (10**k, 1) if k >= 0 else (1, 10**-k)
        high = above / below
        numerator, denominator = high.as_integer_ratio()
        low = (above * denominator - numerator * below) / (below * denominator)
        rows.append((high, low, *halves_of(high)))
    return np.array(rows)
