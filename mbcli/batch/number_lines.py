"""Rows of numbers from lines: those that are alike by a kernel, any other line with care."""

from __future__ import annotations

import functools
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
        self._kernel, self._patience = None, FEW_ROWS

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
        if kernel is None or plan is None:
            return count
        place = np.zeros(2, dtype=np.int64)
        place[PLACE_TEXT], place[PLACE_ROW] = lines.start, count
        kernel(lines.text, plan.marks, plan.numbers, powers_of_ten(), values, place)
        start, row = place.tolist()
        lines.move_to(start, row - count)
        for columns, defaults in plan.others:
            values[count:row, columns] = defaults
        return row

    def _load(self, count: int) -> Any:
        rows = self._row_count + count
        if may_compile() and (rows >= self._patience or precompiled_library() is not None):
            kernel = load_kernels(True).read_lines
            if rows >= MANY_ROWS or is_compiled(kernel):
                self._kernel = kernel
            self._patience = MANY_ROWS
        return self._kernel


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
