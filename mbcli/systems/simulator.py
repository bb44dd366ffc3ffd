"""Simulator: pydrake's interface to the time loops of a plant, alone or in a diagram."""

from __future__ import annotations

import math
import time
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ModelError
from mbcli.multibody.stepping.run import SCHEMES, Run
from mbcli.simulation.start_limits import in_words, positions_outside_limits, what_limits_do

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.multibody.plant.context import Context
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant
    from mbcli.systems.framework import Diagram, DiagramContext, EventStatus

NEVER = 1 << 60  # steps from one sample to the next


class Simulator:
    """Advances a plant in time, under the names of pydrake.systems.analysis.

    A discrete plant with step h has its updates at the times k h, products of doubles. The state at such a time is the
    one before the update, which the next AdvanceTo() begins with, also one to the same time; AdvancePendingEvents()
    does no more.

    Args:
        system: a finalized MultibodyPlant, or a Diagram with one.
        context: its state; a default context if not given.
    """

    def __init__(self, system: MultibodyPlant | Diagram, context: Context | DiagramContext | None = None) -> None:
        self._system = system
        self._root = system.CreateDefaultContext() if context is None else context
        self._plant: Any = getattr(system, "plant_of_diagram", system)
        self._context = self._plant.GetMyContextFromRoot(self._root)
        self._monitor: Callable[[Any], EventStatus | None] | None = None
        self._rate = 0.0
        self._updating: Run | None = None  # the run of a discrete plant, which goes on
        if self._plant.asks_to_be_held and not self._plant.controlled_actuators():
            warnings.warn(
                "the model was loaded with joints to be held or driven: a Simulator does so from a context of "
                "mbcli.simulation.context_that_holds(loaded)",
                stacklevel=2,
            )
        self._start()

    def _start(self):
        self._steps = self._updates = 0
        self._next_step = None
        self._updated_at = None  # the number k of the last update
        self._began = None  # wall-clock and simulated time of the first advance

    def get_context(self) -> Any:
        """The context that is advanced: a Context of a plant, a DiagramContext of a diagram."""
        return self._root

    get_mutable_context = get_context

    def reset_context(self, context: Context | DiagramContext) -> None:
        """Goes on from another context of the same system."""
        self._context = self._plant.GetMyContextFromRoot(context)
        self._root = context
        self._updating = None
        self._start()

    def get_system(self) -> MultibodyPlant | Diagram:
        """The plant or diagram that is simulated."""
        return self._system

    @cached_property
    def config(self) -> SimulatorConfig:
        """The settings of the integrator; those that a discrete plant does without are made when they are asked for."""
        return SimulatorConfig()

    def has_context(self) -> bool:
        """True: a Simulator always has one."""
        return True

    def Initialize(self) -> SimulatorStatus:
        """Starts anew at the time of the context: counts are zero, an update at this time is still to come."""
        self._start()
        return self._status()

    def AdvanceTo(self, boundary_time: float) -> SimulatorStatus:
        """Advances the context to a time [s].

        RuntimeError for one before the context's, and while another thread advances the context.
        """
        turn = self._context.state.turn
        if not turn.take(False):
            raise turn.refusal()
        try:
            start = self._context.get_time()
            if not boundary_time >= start:
                raise RuntimeError(f"time {boundary_time} is before the context's time {start}")
            if self._began is None:
                self._began = time.perf_counter(), start
                self._warn_of_limits()
            if self._plant.is_discrete():
                self._advance_discrete(float(boundary_time))
            else:
                self._advance_continuous(float(boundary_time))
            return self._status()
        finally:
            turn.give_back()

    def _warn_of_limits(self):
        outside = positions_outside_limits(self._plant, self._context)
        if outside:
            start = f"the start is outside of limits, {what_limits_do(self._plant)}: {in_words(outside)}"
            warnings.warn(start, stacklevel=3)

    def AdvancePendingEvents(self) -> SimulatorStatus:
        """Does the update that is due at the context's time, if there is one; the time stays."""
        with self._context.state.turn:
            if self._plant.is_discrete():
                self._update_if_due()
            self._steps += 1
            self._call_monitor()
            return self._status()

    def _advance_discrete(self, end):
        if self._monitor is None and self._rate == 0.0:
            self._run_updates(end)
            return
        while True:
            target = min(end, self._next_update() * self._plant.time_step())
            self._run_updates(target)
            self._wait()
            if self._call_monitor() or target >= end:
                return

    def _run_updates(self, end):
        """All updates before the time `end`, and the one that is due now, in one run."""
        following = self._next_update()
        last = max(following, self._first_update(end))  # the first update that is left
        due = self._due()
        self._update(following if due is None else due, last)
        self._steps += last - following + 1
        self._context.SetTime(end)

    def _update_if_due(self):
        k = self._due()
        if k is not None:
            now = self._context.get_time()
            self._update(k, k + 1)
            self._context.SetTime(now)

    def _update(self, first, end):
        """The updates of the numbers first to end - 1."""
        if end > first:
            h = self._plant.time_step()
            self._context.SetTime(first * h)
            if self._updating is None:
                self._updating = Run(self._plant, self._context, end * h, sample_period=NEVER * h)
            else:
                self._updating.go_on(end * h)
            self._run(self._updating)
            self._updates += end - first
            self._updated_at = end - 1

    def _due(self):
        """The number of the update that is due at the context's time, None if there is none."""
        now = self._context.get_time()
        k = self._first_update(now)
        return k if k * self._plant.time_step() == now and k != self._updated_at else None

    def _next_update(self):
        """The number of the first update after the context's time."""
        return self._first_update(math.nextafter(self._context.get_time(), math.inf))

    def _first_update(self, t):
        """The least k whose update, at the time k h as a double, is not before the time t."""
        h = self._plant.time_step()
        k = math.ceil(t / h)
        while k * h < t:
            k += 1
        while (k - 1) * h >= t:
            k -= 1
        return k

    def _advance_continuous(self, end):
        while True:
            now = self._context.get_time()
            target = end
            if self._monitor is not None or self._rate != 0.0:
                target = min(end, now + self.config.max_step_size)
            run = Run(self._plant, self._context, target, config=self.config, next_step=self._next_step)
            self._run(run)
            self._steps += max(run.steps, 1)
            self._next_step = run.next_step
            self._context.SetTime(target)
            self._wait()
            if self._call_monitor() or target >= end:
                return

    @staticmethod
    def _run(run):
        for _ in run.blocks(has_turn=True):
            pass
        complaint = None if run.contact is None else run.contact.complaint()
        if complaint is not None:
            warnings.warn(complaint, stacklevel=6)

    # events beside the steps

    def set_monitor(self, monitor: Callable[[Any], EventStatus | None]) -> None:
        """Calls monitor(root context) after every step; it may return an EventStatus, that of a termination stops.

        A continuous plant then advances by at most max_step_size of its SimulatorConfig from call to call.
        """
        self._monitor = monitor

    def clear_monitor(self) -> None:
        """Takes the monitor away."""
        self._monitor = None

    def get_monitor(self) -> Callable[[Any], EventStatus | None] | None:
        """The monitor, None if there is none."""
        return self._monitor

    def _call_monitor(self):
        """Whether the monitor ends the advance."""
        from mbcli.systems.framework import EventStatus

        status = None if self._monitor is None else self._monitor(self._root)
        if not isinstance(status, EventStatus):
            return False
        if status.severity() == EventStatus.Severity.kFailed:
            raise RuntimeError(f"the monitor failed at t = {self._context.get_time():g} s: {status.message()}")
        return status.severity() == EventStatus.Severity.kReachedTermination

    def _status(self):
        return SimulatorStatus(self._context.get_time())

    def set_target_realtime_rate(self, realtime_rate: float) -> None:
        """Simulated seconds per second of the clock to hold back to; 0 runs as fast as possible."""
        if not 0.0 <= realtime_rate < math.inf:
            raise RuntimeError(f"a realtime rate must be finite and not negative, it is {realtime_rate}")
        self._rate = float(realtime_rate)

    def get_target_realtime_rate(self) -> float:
        """Simulated seconds in a second of the clock, at most; 0 if there is no limit."""
        return self._rate

    def get_actual_realtime_rate(self) -> float:
        """Simulated seconds per second of the clock since the first advance; 0 before it."""
        if self._began is None:
            return 0.0
        clock, start = self._began
        return (self._context.get_time() - start) / max(time.perf_counter() - clock, 1e-9)

    def _wait(self):
        if self._rate > 0.0:
            clock, start = self._began
            due = clock + (self._context.get_time() - start) / self._rate
            time.sleep(max(0.0, due - time.perf_counter()))

    # counts

    def get_num_steps_taken(self) -> int:
        """Steps of the integrator, of a discrete plant the advances between updates, since Initialize()."""
        return self._steps

    def ResetStatistics(self) -> None:
        """Sets all counts to zero."""
        self._steps = self._updates = 0
        self._began = None

    def get_num_discrete_updates(self) -> int:
        """Updates of a plant whose outputs are live: its state is plain numbers."""
        return 0 if self._plant.has_sampled_output_ports() else self._updates

    def get_num_unrestricted_updates(self) -> int:
        """Updates of a plant with sampled outputs."""
        return self._updates if self._plant.has_sampled_output_ports() else 0


class SimulatorStatus:
    """The end of an advance."""

    def __init__(self, return_time: float) -> None:
        self._return_time = return_time

    def return_time(self) -> float:
        """[s]"""
        return self._return_time

    def succeeded(self) -> bool:
        return True


def ApplySimulatorConfig(config: SimulatorConfig, simulator: Simulator) -> None:
    """Uses the integrator, accuracy and step settings of a SimulatorConfig, its start time and realtime rate."""
    if config.integration_scheme not in SCHEMES:
        raise ModelError(f"integration scheme '{config.integration_scheme}' is not supported")
    simulator.config = config
    simulator.set_target_realtime_rate(config.target_realtime_rate)
    simulator.get_mutable_context().SetTime(config.start_time)
