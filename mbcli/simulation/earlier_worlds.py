"""Going on with the runs of a log of many worlds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError, ControlError, ModelError
from mbcli.log.fields.u import INPUT
from mbcli.log.rows import SAME_TIME
from mbcli.log.worlds import WorldsLog
from mbcli.simulation.same_model import require_same_model
from mbcli.simulation.world_checkpoint import go_on
from mbcli.simulation.world_starts import Starts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mbcli.math.array_types import Array, FloatArray, Vector
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.simulation.world_ticks import WorldTicks
    from mbcli.simulation.worlds import Worlds

BLOCK_BYTES = 1 << 26  # of rows that are copied at once
STATE = ("state/q", "state/v")


class EarlierWorlds:
    """A log of many worlds to go on from, open for reading; a context manager.

    The state is that of its last row, at which all worlds that run had taken the same steps. What rows do not have is
    in its checkpoint: logs before 1.4, and before 1.5 those of runs under a controller, have none.

    Args:
        path: the log.

    Attributes:
        starts: of its first row. row_count: of the rows that the runs which go on have too: all but the last one, if
            it was the end of the run then and is between two samples now. steps_done: to the last row.
        has_actuation: whether some u is not zero at the end.

    ModelError for a log to which nothing can be added.
    """

    def __init__(self, path: str) -> None:
        self.path, self.log = path, WorldsLog(path)
        try:
            log = self.log
            if not len(log.times):
                raise ModelError(f"{path}: error: the log has no rows to go on from")
            self._saved = log.checkpoint()
            if not self._saved:
                raise ModelError(
                    f"{path}: error: has no checkpoint to go on from: logs before 1.4, runs under a controller before "
                    "1.5 and those that failed have none"
                )
            self._of_controller = log.controller_state()
            rows = [self._row(path, 0) for path in STATE]
            if not np.isfinite(rows[0]).all() or not np.isfinite(rows[1]).all():
                raise ModelError(f"{path}: error: its first row is not finite")
            self.starts = Starts(*rows)
        except BaseException:
            self.log.close()
            raise
        self.row_count, self.steps_done = len(self.log.times), 0
        self.has_actuation = bool(np.any(self._saved.get("u", 0.0)))

    def __enter__(self) -> EarlierWorlds:
        return self

    def __exit__(self, *_: object) -> None:
        self.log.close()

    def _row(self, path: str, row: int) -> FloatArray:
        """(n, columns) of all worlds."""
        return self.log.rows(path, row, row + 1)[:, 0]

    def check(
        self, loaded: LoadedModel, fields: Sequence[str], paths: Sequence[str], times: Vector, series: Array | None
    ) -> None:
        """ModelError unless the log is of the same model and settings, with these fields and, as far as it goes, times.

        Args:
            loaded: the model. fields: of the log.
            paths: of these fields' datasets.
            times: [s] of all rows of the runs now.
            series: u (steps, nu) of their steps, None without inputs.
        """
        log, h = self.log, loaded.plant.time_step()
        digests = {source.sha256 for source in log.read_sources()}
        require_same_model(self.path, loaded, digests, [log.names[path] for path in STATE], log.model, log.config)
        if set(log.fields()) != {*STATE, *paths} or log.has_contacts != ("contact" in fields):
            raise ModelError(
                f"{self.path}: error: has the fields {', '.join(log.fields())}: give the same {argument('fields')}"
            )
        end = float(log.times[-1])
        slack = SAME_TIME * max(1.0, abs(end))
        if float(times[-1]) < end - slack:
            raise ArgumentError(
                f"{self.path}: error: goes to {end:.9g} s, and the runs are to end at {times[-1]:.9g} s already"
            )
        known = min(len(times), len(log.times))
        if abs(times[known - 1] - log.times[known - 1]) > slack:
            self.row_count = known = known - 1  # the end of the runs as it was then
        if known and np.abs(times[:known] - log.times[:known]).max() > slack:
            raise ModelError(f"{self.path}: error: has rows at other times: give the same {argument('log_rate')}")
        self.steps_done = round((end - float(log.times[0])) / h)
        if series is not None and self.row_count > 1 and INPUT in log.fields():
            row = self.row_count - 2
            expected = series[round((float(log.times[row]) - float(log.times[0])) / h)]
            there = self._row(INPUT, row)
            if not np.array_equal(there[np.isfinite(there).all(axis=1)][:1], expected[np.newaxis]):
                raise ModelError(
                    f"{self.path}: error: was run with other actuation: give the same {argument('inputs')}"
                )

    def begin(self, worlds: Worlds) -> float:
        """Puts worlds that are at the starts to where the log ends; returns the time [s]. ModelError for a checkpoint
        that is not theirs."""
        last = len(self.log.times) - 1
        q, v = (self._row(path, last) for path in STATE)
        try:
            go_on(worlds, q, v, self._saved, self.log.messages)
        except (KeyError, ValueError) as error:
            raise ModelError(f"{self.path}: error: its checkpoint does not fit the model: {error}") from None
        return float(self.log.times[last])

    def require_controller(self, given: bool) -> None:
        """ArgumentError unless the runs had a controller if they are to have one."""
        if given != bool(self._of_controller):
            had, how = ("a", "give the same") if self._of_controller else ("no", "leave out")
            raise ArgumentError(f"{self.path}: error: was run under {had} controller: {how} {argument('controller')}")

    def begin_ticks(self, ticks: WorldTicks) -> None:
        """The controller goes on from where it was. ModelError for another one's state."""
        try:
            ticks.load(self._of_controller, self.steps_done)
        except (KeyError, IndexError, ValueError) as error:
            raise ModelError(f"{self.path}: error: has no state of this controller: {error}") from None
        except ControlError as error:
            raise ModelError(str(error)) from None

    def blocks(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(number of the first row, {path: (n, rows, columns)}) of the rows that stay."""
        log = self.log
        width = sum(len(names) for names in log.names.values())
        rows = max(1, BLOCK_BYTES // max(1, 8 * log.count * width))
        for first in range(0, self.row_count, rows):
            last = min(first + rows, self.row_count)
            block: dict[str, Any] = {path: log.rows(path, first, last) for path in log.fields()}
            if log.has_contacts:
                block["contact"] = log.contacts_of_rows(first, last)
            yield first, block
