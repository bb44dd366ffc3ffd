"""The log of a run: its header, rows, events and checkpoints, and how it ends."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import ControlError, NumericalError
from mbcli.multibody.stepping.inputs import constant_input
from mbcli.simulation.actors.holding import Holding
from mbcli.simulation.actors.sensors import Sensors
from mbcli.simulation.actors.user_controller import UserController
from mbcli.simulation.recording import RowMaker, kernels_in_words, loads_of_rows, log_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from mbcli.log.memory import MemoryLog
    from mbcli.log.writer import LogWriter
    from mbcli.multibody.stepping.run import Run
    from mbcli.multibody.stepping.samples import Samples
    from mbcli.simulation.acted_run import ActedRun
    from mbcli.simulation.earlier_run import EarlierRun
    from mbcli.simulation.observer import Observer

CHECKPOINT_SECONDS = 0.5  # of wall-clock time that a killed run may lose


class RunLog:
    """Writes the samples of a run to a file, or keeps them in memory.

    Args:
        recorded: the ActedRun, prepared.
        run: its steps.
        observer: is shown the samples.
        path: of the file, None for none; force: replaces an existing one.
        described: whether a log in memory has the model and the configuration.

    Attributes:
        memory: MemoryLog, None if there is a file.
    """

    def __init__(
        self, recorded: ActedRun, run: Run, observer: Observer, path: str | None, force: bool, described: bool
    ) -> None:
        self._recorded, self._run, self._observer = recorded, run, observer
        self._path, self._force, self._described = path, force, described
        self.memory: MemoryLog | None = None
        self._last_time = -np.inf
        self._kept_at, self._kept_rows = time.monotonic(), 0

    def write(
        self,
        blocks: Callable[[Callable[[], None]], Iterable[Samples]],
        earlier: EarlierRun | None,
        aside: str | None,
    ) -> int:
        """Writes all, behind the rows of an earlier run; returns the number of rows.

        blocks: (what is called between the steps) -> the samples of the run. aside: the file that is deleted once the
        log has the earlier rows. Errors of the run as they are, with the name of the log, which has the rows before.
        """
        recorded, run = self._recorded, self._run
        with self._opened() as log:

            def event(t: float, *what: Any, at_start: bool = False) -> None:
                discrete = recorded.plant.is_discrete()
                step = round(t / recorded.plant.time_step()) if discrete else 0 if at_start else run.steps
                log.event(t, step, *what)

            try:
                self._begin(log, earlier)
                if aside is not None:
                    os.unlink(aside)
                for samples in blocks(lambda: self._keep(log)):
                    self._observer.see(samples, event)
                    self._append(log, samples)
                for what in [each for actor in recorded.actors for each in actor.events()]:
                    event(recorded.context.get_time(), *what)
                stopped, code = recorded.is_to_end(), int(recorded.should_stop())
                if stopped or not self._rows_are_enough():
                    log.checkpoint(self._checkpoint())
            except (NumericalError, ControlError) as error:
                self._append_last_good_row(log)
                log.event(recorded.context.get_time(), run.steps, "error", error.code, str(error))
                log.finish("failed", error.exit_code, str(error))
                if self._path is None:
                    raise
                raise type(error)(f"{error}; the rows before it are in {self._path}") from None
            if stopped:
                log.finish("interrupted", code, "stopped by a signal" if code else "ended by who watched it")
            else:
                log.finish("complete", 0)
            return log.row_count

    def _opened(self) -> AbstractContextManager[MemoryLog | LogWriter]:
        recorded = self._recorded
        header = log_header(
            recorded.loaded,
            recorded.fields,
            argv=recorded.command,
            seed=recorded.seed,
            held=recorded.actor(Holding).held,
            lent=recorded.lent(),
            controller=recorded.actor(UserController).in_words(),
            kernels=kernels_in_words(recorded.context),
            described=self._described or self._path is not None,
            checkpoint=self._checkpoint(),
            expected_rows=recorded.sampling.expected_rows(recorded.until),
        )
        if self._path is None:
            from mbcli.log.memory import MemoryLog

            self.memory = MemoryLog(header)
            return nullcontext(self.memory)
        from mbcli.log.writer import LogWriter

        return LogWriter(self._path, header, force=self._force)

    def _begin(self, log: MemoryLog | LogWriter, earlier: EarlierRun | None) -> None:
        """The rows of the earlier log, and the needs of a run that goes on from here."""
        recorded = self._recorded
        known = [force for force in recorded.forces if np.isfinite(force.start)]  # plugins change theirs in each step
        loads = loads_of_rows(recorded.plant, recorded.context, recorded.fields, known)
        self._rows_of = RowMaker(recorded.plant, recorded.fields, recorded.lent(), loads)
        if "sensors" in recorded.fields:
            self._rows_of.sense(recorded.actor(Sensors).seed)
        if earlier is not None:
            for rows in earlier.blocks():
                self._observer.see_rows(rows)
                self._rows_of.go_on(rows)
                log.append(**rows)
            for event in earlier.events():
                log.event(**event)
            self._last_time = earlier.last_time
        if not self._rows_are_enough() or earlier is not None:
            log.checkpoint(self._checkpoint())

    def _append(self, log: MemoryLog | LogWriter, samples: Samples) -> None:
        """The rows that a run without a break has; one that goes on also samples its beginning."""
        recorded = self._recorded
        chosen = samples.time > self._last_time
        begins_here = samples.time.size and samples.time[0] == recorded.began
        if begins_here and recorded.began not in (recorded.start, recorded.until):
            chosen[0] &= recorded.sampling.is_sample(recorded.began)
        if chosen.any():
            rows = self._rows_of.rows(samples, chosen)
            self._last_time = float(rows["time"][-1])
            log.append(**rows)

    def _append_last_good_row(self, log: MemoryLog | LogWriter) -> None:
        """The state before the step that failed, which the context has."""
        recorded = self._recorded
        actuation = recorded.actuation if recorded.controller is None else constant_input(self._run.actuation_now())
        for samples in recorded.steps(recorded.context.get_time(), actuation).blocks():
            self._append(log, samples)

    def _rows_are_enough(self) -> bool:
        """Whether a run can go on from a row: not between integration steps, nor without more than q and v."""
        recorded, run = self._recorded, self._run
        remembers = run.sleep is not None or run.ticks is not None or recorded.actor(Holding).held
        remembers = remembers or recorded.plant.model.sizes["nactivation"]
        return recorded.plant.is_discrete() and not recorded.context.state.deformables and not remembers

    def _checkpoint(self) -> dict[str, Any]:
        """What a run needs that goes on from here."""
        deformables = self._recorded.context.state.deformables
        kept = {"deformables": np.concatenate([own.values for own in deformables])} if deformables else {}
        return self._run.checkpoint() | kept

    def _keep(self, log: MemoryLog | LogWriter) -> None:
        """What a run needs that goes on, as often as the log reaches the disk, unless rows are enough."""
        log.flush_if_due()
        if time.monotonic() - self._kept_at < CHECKPOINT_SECONDS:
            return
        if not self._rows_are_enough() or log.row_count == self._kept_rows:
            log.checkpoint(self._checkpoint())
        self._kept_at, self._kept_rows = time.monotonic(), log.row_count
