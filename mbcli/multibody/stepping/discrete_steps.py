"""The steps of the run of a discrete plant."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.runtime.addresses import address_of_function
from mbcli.engine.stepping.loop import FINISHED, RUNNING, STEP_FAULT, TICK_FAULT
from mbcli.engine.stepping.run_arrays import Stepping
from mbcli.errors import NumericalError
from mbcli.multibody.contact.meeting_contact import prepare_contact
from mbcli.multibody.contact.python_forces import needs_python
from mbcli.multibody.core.dynamics import implicit_damping
from mbcli.multibody.core.inputs import has_controllers
from mbcli.multibody.stepping.call_budget import SECONDS_PER_CALL, TIME_TOLERANCE, adapted, whole_steps
from mbcli.multibody.stepping.step_failures import NO_NEXT_STEP, failure, fault_of_tick, placed

if TYPE_CHECKING:
    from collections.abc import Iterator

NEVER = 1 << 60  # steps from one sample to the next


class DiscreteSteps:
    """Steps a discrete plant. run: the Run, whose context, figures and samples it changes."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._arrays: Any = None  # Stepping, once it has begun
        self._single: Any = None  # once single steps are taken

    def begin(self) -> None:
        """The next steps start anew."""
        self._single = None

    def end(self) -> None:
        """The run has been to its end, from which take_step() goes on."""
        self._arrays.led_to = self._run.context.state.x.copy()

    def has_samples_left(self) -> bool:
        """Samples are at the ends of steps."""
        return False

    def goes_on_from(self) -> None:
        """The last step is a whole one."""

    def advance(self, budget: int = 64) -> Iterator[tuple[bool, int]]:
        """Whether the end is reached, and the number of new samples, after each call of the loop."""
        run = self._run
        context, h, sleep, contact, recording = (
            run.context,
            run.plant.time_step(),
            run.sleep,
            run.contact,
            run.recording,
        )
        state = run.stepped.state
        first = whole_steps(context.get_time(), h)
        last = max(first, math.ceil(run.until / h - TIME_TOLERANCE))
        every = 1 if run.sample_period is None else max(1, round(run.sample_period / h))
        nq = state.q.size
        if self._arrays is None:
            self._arrays = Stepping(nq + state.v.size)
        arrays = self._arrays
        arrays.start(first, last, every, h, implicit_damping(run.plant))
        self._attach(arrays)
        previous = arrays.state_before
        elastic = run.plant.elements.deformable_bodies
        keeps_step = (contact is not None and contact.keeps) or run.keep_accelerations
        while True:
            started, step_before = time.perf_counter(), int(arrays.next_step[0])
            if elastic:
                budget = min(budget, 1)
                if step_before < last or first == last or keeps_step:  # a row at the end needs no step
                    self._prepare(state)
                run.vertices_before = tuple(own.values.copy() for own in state.deformables)
            if sleep is not None:
                sleep.follow(context.state)
            status = self._call(arrays, budget)
            step, rows = int(arrays.next_step[0]), int(recording.rows_written[0])
            run.steps = step - first
            state.time = step * h
            if sleep is not None:
                if status == STEP_FAULT or (status == FINISHED and keeps_step):
                    sleep.undo_step()  # which the run goes on with, or that of the contacts of the last row
                context.state.go_to(state.time, state.q, state.v)
            if elastic and contact is not None and rows:
                recording.recorded_energy[:rows, :2] += contact.elastic_energies()
            if contact is not None and step > step_before:
                contact.take_step()
            budget = adapted(budget, time.perf_counter() - started)
            if status == STEP_FAULT:
                redone = contact is not None and contact.failed()
                try:
                    run.make_room(rows)
                except NumericalError as unsolved:
                    yield False, rows
                    raise placed(run, unsolved) from None
                if redone and rows and recording.recorded_time[rows - 1] == step * h:
                    rows -= 1  # its sample comes with the step that is taken again
            elif status == TICK_FAULT:
                yield False, rows
                raise fault_of_tick(run)
            elif status in NO_NEXT_STEP:
                reached = np.concatenate([state.q, state.v])
                context.state.go_to(state.time, previous[:nq], previous[nq:])
                error = failure(run, status, reached)
                yield False, rows
                raise error
            if step > step_before:
                u = run.actuation_at((step - 1) * h)
                context.last_step.remember(
                    context, (step - 1) * h, previous[:nq], previous[nq:], u, run.vertices_before
                )
            yield status == FINISHED, rows

    def take_step(self, number: int) -> bool:
        """Takes the step of a number with the actuation that the ports give now; False if Run.blocks() has to.

        This is for callers that have something to do after each step: beginning anew costs as much as ten steps. The
        run has been at its end, and goes on from where it led.
        """
        run, arrays = self._run, self._arrays
        plant, context = run.plant, run.context
        state, h = context.state, plant.time_step()
        if self._single is None:
            self._single = self._single_step()
        if not self._single or not state.parameters_current or run.loops is not state.kernels:
            return False
        constraints = state.constraints
        if constraints is not None and (state.x != arrays.led_to).any() or needs_python(plant, context):
            return False
        handles, before, q, v, with_controllers = self._single
        u = run.series.actuation_values[0]
        u[:] = plant.actuation(context)
        if with_controllers:
            plant.set_controllers(context)
        arrays.next_step[0], arrays.last_step[0] = number, number + 2
        status = run.loops.run_discrete(state.model_handle, state.data_handle, *handles, 1)
        if status != RUNNING:
            state.go_to(number * h, q, v)
            return False
        state.time = (number + 1) * h
        state.forget_positions()
        if constraints is not None:
            arrays.led_to = state.x.copy()
        if plant.has_sampled_output_ports():
            context.last_step.remember(context, number * h, q, v, u)
        return True

    def _single_step(self) -> tuple[Any, ...]:
        """What take_step() needs that stays: handles, the state before the step, whether there are controllers; ()
        where it cannot be used."""
        run, arrays = self._run, self._arrays
        plant, state = run.plant, run.context.state
        own_ways = run.sleep is not None or run.balance is not None or plant.elements.deformable_bodies
        if arrays is None or run.stepped is not run.context or run.loops is not state.kernels or own_ways:
            return ()
        arrays.start(0, 0, NEVER, plant.time_step(), implicit_damping(plant))
        before, nq = arrays.state_before, state.q.size
        return run.handles(arrays)[2:], before, before[:nq], before[nq:], has_controllers(plant)

    def _attach(self, arrays: Any) -> None:
        """Lets the loop call a compiled controller, and keep the balance and the loads of its steps."""
        run = self._run
        state, ticks = run.stepped.state, run.ticks
        own = run.loops is state.kernels
        if ticks is not None:
            calls = None
            if own and state.compiled:
                calls = ticks.controller.compiled_calls(state, run.series.actuation_values[0])
            arrays.tick_steps[:] = (0 if calls is None else ticks.steps), ticks.last
            if calls is not None:
                arrays.tick_calls[:] = calls
        if run.balance is not None:
            run.balance.attach(run.series.handle(state.compiled), len(run.series.push_link))
        if not run.keep_loads:
            return
        recording = run.recording
        if not own:
            recording.load_calls = [run.loops.record_loads, None, None, recording, None]
            return
        _, _, _, series, record = run.handles(arrays)
        function, compiled = state.kernels.record_loads, state.compiled
        at = [address_of_function(function) if compiled else function, state.model_handle, state.data_handle]
        if compiled:
            recording.load_calls[:] = [*at, record, series]
        else:  # any object can be an address
            recording.load_calls = [*at, record, series]

    def _call(self, arrays: Any, budget: int) -> int:
        """Calls the loop; with a controller of Python, once from tick to tick, so many steps or SECONDS_PER_CALL."""
        run = self._run
        ticks, handles = run.ticks, run.handles(arrays)
        if ticks is None or arrays.tick_steps[0] or budget == 0:
            status = int(run.loops.run_discrete(*handles, budget))
            if ticks is not None:
                ticks.last = int(arrays.tick_steps[1])
            return status
        state, h, next_step = run.stepped.state, arrays.step_length[0], arrays.next_step
        single = run.sleep is not None or budget == 1
        deadline = time.perf_counter() + SECONDS_PER_CALL
        while True:
            step = int(next_step[0])
            if ticks.is_due(step) and not ticks.call(step * h, state.q, state.v, step):
                return TICK_FAULT
            status = int(run.loops.run_discrete(*handles, min(budget, ticks.steps_from(step))))
            if status != RUNNING or single or time.perf_counter() > deadline:
                return status

    def _prepare(self, state: Any) -> None:
        """Makes elastic bodies ready for the next step."""
        try:
            prepare_contact(state)
        except NumericalError as error:
            raise placed(self._run, error) from None
