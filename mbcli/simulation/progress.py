"""How far a run is, and the wall-clock time of its steps."""

from __future__ import annotations

import time

from mbcli.common.fast_dataclass import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a run is: its time [s] between start and end, and the wall-clock time [s] of its steps until now."""

    time: float
    start: float
    end: float
    began: float
    wall_time: float

    @property
    def part(self) -> float:
        """0 at the start of the run, 1 at its end."""
        return (self.time - self.start) / max(self.end - self.start, 1e-300)

    @property
    def realtime_rate(self) -> float:
        """Simulated seconds for each second of wall-clock time."""
        return (self.time - self.began) / max(self.wall_time, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """Of wall-clock time; None as long as it cannot be known."""
        return (self.end - self.time) / self.realtime_rate if self.realtime_rate > 0.0 else None


class Stopwatch:
    """Adds up wall-clock time while it runs."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._since: float | None = None

    def start(self) -> None:
        self._since = time.perf_counter()

    def stop(self) -> None:
        if self._since is not None:
            self.seconds += time.perf_counter() - self._since
            self._since = None
