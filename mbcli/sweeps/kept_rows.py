"""The rows of finished points by their numbers, wherever they lie, and what there is of them in all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbcli.sweeps.point_run import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable


class KeptRows(Mapping[int, dict[str, Any]]):
    """Statuses of points, in a byte each, and the names in their rows; subclasses have the rows."""

    def __init__(self) -> None:
        self._statuses = bytearray()
        self._count = 0
        self._named: dict[tuple[str, ...], int] = {}  # the names of a row, and the first point with them

    def note(self, index: int, row: Mapping[str, Any]) -> None:
        """That a point has this row now."""
        if index >= len(self._statuses):
            self._statuses.extend(bytes(index + 1 - len(self._statuses)))
        self._count += not self._statuses[index]
        self._statuses[index] = 1 + CLASSES.index(row["status"])
        names = tuple(row)
        self._named[names] = min(self._named.get(names, index), index)

    def forget(self, index: int) -> None:
        """That a point has none."""
        self._count -= bool(self._statuses[index])
        self._statuses[index] = 0

    def indexes_of(self, statuses: Iterable[str]) -> list[int]:
        """The points with one of some statuses, in order."""
        wanted = {1 + CLASSES.index(status) for status in statuses}
        return [index for index, status in enumerate(self._statuses) if status in wanted]

    def counts(self) -> dict[str, int]:
        """{status: how many points have it}, those that there are."""
        found = {name: self._statuses.count(1 + k) for k, name in enumerate(CLASSES)}
        return {name: count for name, count in found.items() if count}

    def names(self) -> list[str]:
        """All names in rows, in the order of points."""
        return list(dict.fromkeys(name for names in sorted(self._named, key=self._named.__getitem__) for name in names))

    def entry(self, index: int) -> dict[str, Any]:
        """{"seed", "cells", "row"} of a point; cells: what varied, as the table has it."""
        raise NotImplementedError

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int) and 0 <= index < len(self._statuses) and bool(self._statuses[index])

    def __iter__(self) -> Iterator[int]:
        return (index for index, status in enumerate(self._statuses) if status)

    def __len__(self) -> int:
        return self._count


class RowsInMemory(KeptRows):
    """Rows of a sweep that has no journal. points: of each what entry() has beside the row."""

    def __init__(self, points: Sequence[Mapping[str, Any]]) -> None:
        super().__init__()
        self._points, self._rows = points, dict[int, dict[str, Any]]()

    def add(self, rows: Iterable[tuple[int, dict[str, Any]]]) -> None:
        """Keeps the rows of points, as (number, row)."""
        for index, row in rows:
            self._rows[index] = row
            self.note(index, row)

    def entry(self, index: int) -> dict[str, Any]:
        return {**self._points[index], "row": self._rows[index]}

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self._rows[index]
