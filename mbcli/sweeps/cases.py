"""The cases of a sweep that are not done: which is next, what ended for good, and what is tried again.

A row says `ok`, what the model did, or what the machine did: the last kind is no result. Such a case is tried again on
another worker, as often as `retries` says, and once more by a sweep that goes on. A case at which workers end is set
aside after three, with the row of the last.
"""

from __future__ import annotations

from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, Any

from mbcli.common.number_text import counted
from mbcli.sweeps.point_run import LOST, OF_MACHINES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mbcli.sweeps.points import Point

RETRIES = 2
MOST_LOST = 3  # workers that a case may cost


class Cases:
    """The points that are left of a sweep.

    Args:
        points: in their order.
        count: how many they are.
        retries: how often a case is tried again for what a machine did; None: others see to that.
    """

    def __init__(self, points: Iterable[Point], count: int, retries: int | None) -> None:
        self.left, self._retries = count, retries
        self._fresh: Iterator[Point] = iter(points)
        self._again: deque[Point] = deque()
        self._tries: dict[int, int] = {}

    def first(self) -> Point:
        """The first of all cases, which stays in the queue."""
        point = next(self._fresh)
        self._fresh = chain([point], self._fresh)
        return point

    def take(self, most: int = 1) -> list[Point]:
        """The next cases, which leave the queue; one that ended a worker comes alone."""
        if self._again:
            return [self._again.popleft()]
        found = []
        for point in self._fresh:
            found.append(point)
            if len(found) == most:
                break
        return found

    def put_back(self, points: Iterable[Point]) -> None:
        """Of cases that did not begin."""
        self._again.extend(points)

    def settle(self, point: Point, row: dict[str, Any]) -> bool:
        """Whether the row of a case stays; else the case is in the queue again. A case that is set aside says so."""
        if row["status"] in OF_MACHINES and self._retries is not None:
            tries = self._tries[point.index] = self._tries.get(point.index, 0) + 1
            most = self._retries + 1
            if tries < (min(most, MOST_LOST) if row["status"] == LOST else most):
                self._again.append(point)
                return False
            row["message"] = f"set aside after {counted(tries, 'try', 'tries')}: {row['message']}"
        self._tries.pop(point.index, None)
        self.left -= 1
        return True
