"""The steps of the run of a continuous plant."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.fields.run_fields import (
    CLOCK_NEXT_STEP,
    CLOCK_PENDING,
    CLOCK_REFUSED,
    CLOCK_STEPS,
    CLOCK_TIME,
    EXPLICIT,
    IMPLICIT,
    SEMI_EXPLICIT,
)
from mbcli.engine.stepping.integrators import METHODS, Integration
from mbcli.engine.stepping.loop import BUFFER_FULL, FINISHED, RUNNING, STEP_FAULT, STEP_TOO_SMALL, TICK_FAULT
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.stepping.call_budget import SECONDS_PER_CALL, TIME_TOLERANCE, adapted
from mbcli.multibody.stepping.step_failures import NO_NEXT_STEP, failure, fault_of_tick, models_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.math.array_types import FloatArray, Vector

SCHEMES = ("semi_explicit_euler", *METHODS)


class ContinuousSteps:
    """Integrates a continuous plant. run: the Run, whose context, figures and samples it changes."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._arrays: Any = None  # Integration, once it has begun

    def begin(self) -> None:
        """The next steps start anew."""
        self._arrays = None

    def end(self) -> None:
        """The run has been to its end."""

    def has_samples_left(self) -> bool:
        """Whether some samples of the step that was taken last are still to come."""
        return self._arrays is not None and self._arrays.clock[CLOCK_PENDING] != 0.0

    def take_step(self, number: int) -> bool:
        """Steps are of no numbers: Run.blocks() takes them."""
        return False

    def goes_on_from(self) -> tuple[float, float, Vector] | None:
        """Time [s], length [s] and state of the step before the last, which was cut to meet the end; None if it was
        not."""
        arrays = self._arrays
        if arrays is None or arrays.kept[0] == 0.0:
            return None
        return float(arrays.kept[1]), float(arrays.kept[2]), arrays.kept[3:]

    def advance(self, budget: int = 16) -> Iterator[tuple[bool, int]]:
        """Whether the end is reached, and the number of new samples, after each call of the loop."""
        run = self._run
        context, config, plant = run.context, run.config, run.plant
        state, recording = context.state, run.recording
        self._arrays = arrays = self._integration()
        if run.balance is not None:
            run.balance.attach(arrays.handle(state.compiled))
        chunks = self._sample_times(context.get_time())
        recording.want(next(chunks))
        later = next(chunks, None)
        while True:
            started = time.perf_counter()
            try:
                status = self._call(arrays, 1 if run.stopping else budget)
            finally:  # an error in a user's force too leaves the last good state
                state.set_q(arrays.y[: state.q.size])
                state.set_v(arrays.y[state.q.size :])
                state.time = float(arrays.clock[CLOCK_TIME])
            run.next_step = float(arrays.clock[CLOCK_NEXT_STEP])
            run.steps, run.refused_steps = int(arrays.clock[CLOCK_STEPS]), int(arrays.clock[CLOCK_REFUSED])
            rows = int(recording.rows_written[0])
            if status == STEP_FAULT:
                run.make_room(rows)
            if status == FINISHED and later is not None:
                recording.want(later)
                status, later = RUNNING, next(chunks, None)
            if status not in (BUFFER_FULL, STEP_FAULT):
                budget = adapted(budget, time.perf_counter() - started)
            if status == TICK_FAULT:
                yield False, rows
                raise fault_of_tick(run)
            if status in NO_NEXT_STEP:
                error = failure(run, status, arrays.y_end)
                yield False, rows
                raise error
            if status == STEP_TOO_SMALL:
                yield False, rows
                raise NumericalError(
                    f"the step of {config.integration_scheme} became too small at t = {arrays.clock[CLOCK_TIME]:.9g} s "
                    f"in '{models_of(plant)}': the system is too stiff for it or the accuracy {config.accuracy:g} too "
                    "high"
                )
            yield status == FINISHED, rows

    def _integration(self) -> Any:
        """The Integration from the state in the context. ModelError for a scheme that cannot."""
        run = self._run
        config, state = run.config, run.context.state
        if config.integration_scheme not in SCHEMES:
            known = ", ".join(SCHEMES)
            raise ModelError(f"integration scheme '{config.integration_scheme}' is not supported; there are {known}")
        method = METHODS.get(config.integration_scheme, METHODS["explicit_euler"])
        scheme = IMPLICIT if method.implicit else EXPLICIT
        if config.integration_scheme == "semi_explicit_euler":
            scheme = SEMI_EXPLICIT
        if scheme == IMPLICIT and run.loops is not state.kernels:
            raise ModelError(
                f"integration scheme '{config.integration_scheme}' cannot run with force elements of a user, "
                "applied forces or inputs that follow a source: choose an explicit one"
            )
        y, first = np.concatenate([state.q, state.v]), run.next_step or config.max_step_size
        arrays: Any = Integration(method, y, run.context.get_time(), first)
        arrays.scheme[0], arrays.accuracy[0] = scheme, config.accuracy if run.has_error_control() else 0.0
        arrays.constraint_tolerance[0], arrays.largest_step[0] = run.constraint_tolerance, config.max_step_size
        arrays.end_time[0] = run.until
        return arrays

    def _call(self, arrays: Any, budget: int) -> int:
        """Calls the loop; with a controller once a step, for SECONDS_PER_CALL."""
        run = self._run
        ticks, handles = run.ticks, run.handles(arrays)
        if ticks is None or budget == 0:
            return int(run.loops.run_continuous(*handles, budget))
        state, nq, clock = run.stepped.state, run.stepped.state.q.size, arrays.clock
        if ticks.last < 0:
            ticks.begin_at(clock[CLOCK_TIME])
        deadline = time.perf_counter() + SECONDS_PER_CALL
        while True:
            t = float(clock[CLOCK_TIME])
            if clock[CLOCK_PENDING] == 0.0 and t >= ticks.next_time() and t < run.until:
                state.set_q(arrays.y[:nq])
                state.set_v(arrays.y[nq:])
                state.time = t
                if not ticks.call(t, arrays.y[:nq], arrays.y[nq:], ticks.last + 1):
                    return TICK_FAULT
            run.series.actuation_times[1] = ticks.next_time()
            status = int(run.loops.run_continuous(*handles, 1))
            if status != RUNNING or run.stopping or time.perf_counter() > deadline:
                return status

    def _sample_times(self, start: float) -> Iterator[FloatArray]:
        """Yields arrays of times one after another: start, the multiples of the sample period, end."""
        until, period = self._run.until, self._run.sample_period
        ends = [until] if until > start else []
        if period is None:
            yield np.array([start, *ends])
            return
        yield np.array([start])
        first = math.floor(start / period + TIME_TOLERANCE) + 1
        last = math.ceil(until / period - TIME_TOLERANCE)
        block = len(self._run.recording.recorded_time)
        for k in range(first, last, block):
            yield np.arange(k, min(k + block, last)) * period
        if ends:
            yield np.array(ends)
