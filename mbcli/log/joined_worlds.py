"""The rows of all worlds of a log, one world after the other, as those of one log: for exports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ResourceError
from mbcli.log.worlds import row_shape_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mbcli.log.worlds import WorldsLog
    from mbcli.math.array_types import Array

WORLD = "world"  # the field that counts the worlds, from 0


class JoinedWorlds:
    """What exports ask of a log; `world` is a field of it, a number a row.

    Args:
        worlds: a log of many. from_time, to_time: [s] the span, both ends included. every: every how many rows.

    ResourceError if there are rows, and none in the span.
    """

    has_contacts = has_faces = False

    def __init__(
        self, worlds: WorldsLog, *, from_time: float | None = None, to_time: float | None = None, every: int = 1
    ) -> None:
        times = worlds.times
        start = 0 if from_time is None else int(np.searchsorted(times, from_time, "left"))
        stop = len(times) if to_time is None else int(np.searchsorted(times, to_time, "right"))
        if len(times) and start >= stop:
            first, last = (f"{times[k]:.12g}" for k in (0, -1))
            raise ResourceError(
                f"{worlds.path}: error: no rows between these times: the log goes from {first} to {last} s"
            )
        self._worlds, self.path, self.attrs = worlds, worlds.path, worlds.attrs
        self._rows = [np.arange(start, min(stop, worlds.count_of_rows(k)), every) for k in range(worlds.count)]
        self.row_count = sum(map(len, self._rows))
        self.names = {"time": ("time",), WORLD: (WORLD,), **worlds.names}
        self.units = {"time": ("s",), WORLD: ("1",), **worlds.units}

    def fields(self) -> tuple[str, ...]:
        """The time, the number of the world, and the fields of the log."""
        return ("time", WORLD, *self._worlds.fields())

    def row_shape(self, path: str) -> tuple[int, ...]:
        """() of one number."""
        return row_shape_of(path, self.names[path])

    def dtype(self, path: str) -> np.dtype:
        """Of the rows of a field."""
        return np.dtype("i8" if path == WORLD else "f8")

    def chunks(
        self, fields: Iterable[str] | None = None, rows: int = 1024, start: int = 0, stop: int | None = None
    ) -> Iterator[dict[str, Array]]:
        """Rows start to stop of fields, so many at a time at most, of one world each."""
        wanted = list(fields or self.fields())
        last = self.row_count if stop is None else stop
        before = 0
        for k, picked in enumerate(self._rows):
            own = picked[max(start - before, 0) : max(last - before, 0)]
            before += len(picked)
            if not len(own):
                continue
            values = {path: self._values(path, k, own) for path in wanted}
            for first in range(0, len(own), rows):
                yield {path: array[first : first + rows] for path, array in values.items()}

    def _values(self, path: str, world: int, rows: Array) -> Array:
        if path == WORLD:
            return np.full(len(rows), world)
        if path == "time":
            return self._worlds.times[rows]
        values = self._worlds.of_world(path, world)[rows].astype(float, copy=False)
        return values.reshape(len(rows), *self.row_shape(path))
