"""Simulator: pydrake's interface to the time loops of a plant alone, and to the one of diagrams with other dynamics."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mbcli.common.fast_dataclass import dataclass
from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ModelError
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.multibody.core.inputs import controlled_actuators
from mbcli.multibody.state.context import Context as PlantContext
from mbcli.multibody.stepping.continuous_steps import SCHEMES
from mbcli.multibody.stepping.discrete_steps import NEVER
from mbcli.multibody.stepping.run import Run
from mbcli.numbered_enum import NumberedEnum
from mbcli.simulation.start_limits import in_words, positions_outside_limits, what_limits_do
from mbcli.systems.event_loop import NOTHING, EventLoop, first_number, needs_events, worse
from mbcli.systems.events import SUCCEEDED, EventStatus
from mbcli.systems.integration import FIRST_STEP

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.systems.system import System


class Simulator:
    """Advances a system in time, under the names of pydrake.systems.analysis.

    A discrete plant with step h has its updates at the times k h, products of doubles. The state at such a time is the
    one before the update, which the next AdvanceTo() begins with, also one to the same time; AdvancePendingEvents()
    does no more. If a plant is all that moves in a diagram, the compiled loop advances it to the end in one call.

    Args:
        system: a finalized MultibodyPlant, a LeafSystem or a Diagram.
        context: its state; a default context if not given.

    Raises:
        RuntimeError: the context is another system's.

    Example:
        >>> simulator = Simulator(plant)
        >>> simulator.get_context().get_time()
        0.0
    """

    def __init__(self, system: System, context: Any = None) -> None:
        self._system = system
        self._monitor: Callable[[Any], EventStatus | None] | None = None
        self._rate = 0.0
        self._publishes_every_step = self._publishes_at_start = False
        self._first_step: float | None = FIRST_STEP
        self._use(system.CreateDefaultContext() if context is None else context)

    def _use(self, root: Any) -> None:
        system = self._system
        system.check_context(root)
        self._root = root
        leaves = list(root.leaves()) if hasattr(root, "leaves") else [(system, root)]
        self._loop: EventLoop | None = None
        self._updating: Run | None = None  # the run of a discrete plant, which goes on
        if needs_events(leaves):
            self._loop = EventLoop(system, root, leaves, lambda: self.config)
            self._loop.integrator.first_step = self._first_step
        else:
            found: Any = next((s, c) for s, c in leaves if isinstance(c, PlantContext))
            self._context = found[1]
            self._plant = self._context.state.plant  # with what acts in its steps alone, if it is one of a run
            if self._plant.asks_to_be_held and not controlled_actuators(self._plant):
                warnings.warn(
                    "the model was loaded with joints to be held or driven: a Simulator does so from a context of "
                    "mbcli.simulation.context_that_holds(loaded)",
                    stacklevel=3,
                )
        self._initialized = False
        self._start()

    def _start(self) -> None:
        self._steps = self._updates = 0
        self._next_step: float | None = None
        self._updated_at: int | None = None  # the number k of the last update
        self._began: tuple[float, float] | None = None  # wall-clock and simulated time of the first advance
        self._ending: EventStatus | None = None  # what ended the last advance before its time
        self._publishes = 0

    def get_context(self) -> Any:
        """The context that is advanced.

        Returns:
          A Context of a plant, a DiagramContext of a diagram.

        Example:
          >>> Simulator(plant, context).get_context() is context
          True
        """
        return self._root

    get_mutable_context = get_context

    def reset_context(self, context: Any) -> None:
        """Goes on from another context of the same system."""
        self._use(context)

    def get_system(self) -> Any:
        """The system that is simulated."""
        return self._system

    @cached_property
    def config(self) -> SimulatorConfig:
        """The settings of the integrator; those that a discrete plant does without are made when they are asked for."""
        return SimulatorConfig()

    def use_another_integrator(self) -> None:
        """Begins anew with the settings, by a tenth of the largest step."""
        self._first_step = None
        if self._loop is not None:
            self._loop.integrator.first_step = self._loop.integrator.next_step = None

    def has_context(self) -> bool:
        """True: a Simulator always has one."""
        return True

    def get_mutable_integrator(self) -> IntegratorBase:
        """The settings and counts of the integrator."""
        return IntegratorBase(self)

    get_integrator = get_mutable_integrator

    def Initialize(self, params: InitializeParams | None = None) -> SimulatorStatus:
        """Starts anew at the time of the context: counts are zero, an update at this time is still to come.

        Initialization events happen, then what is published at this time, then the monitor is called.

        Args:
          params: whether initialization events happen.

        Returns:
          The SimulatorStatus.

        Example:
          >>> simulator = Simulator(plant, context)
          >>> simulator.Initialize().succeeded()
          True
        """
        self._start()
        self._initialized = True
        status = EventStatus.DidNothing()
        if self._loop is not None:
            self._tell_loop()
            self._loop.reset_counts()
            status = self._loop.initialize(params is None or not params.suppress_initialization_events)
            self._ended_by(status)
        else:
            with self._context.state.turn:
                self._ended_by(status)
        return self._status(self._root.get_time())

    def _tell_loop(self) -> None:
        loop = self._loop
        if loop is not None:
            loop.publish_every_step, loop.publish_at_start = self._publishes_every_step, self._publishes_at_start

    def AdvanceTo(self, boundary_time: float, interruptible: bool = True) -> SimulatorStatus:
        """Advances the context to a time.

        Args:
          boundary_time: [s].
          interruptible: not used.

        Returns:
          The SimulatorStatus: whether the time was reached.

        Raises:
          RuntimeError: the time is before the context's; another thread advances the context; an event or the monitor
            fails.

        Example:
          >>> simulator = Simulator(plant, context)
          >>> status = simulator.AdvanceTo(0.1)
          >>> plant.GetPositions(context).round(3)
          array([ 0.47 , -0.827])
        """
        end = float(boundary_time)
        if not self._initialized:
            self.Initialize()
        start = self._root.get_time()
        if not end >= start:
            raise RuntimeError(f"time {boundary_time} is before the context's time {start}")
        if self._began is None:
            self._began = time.perf_counter(), start
            if self._loop is None:
                self._warn_of_limits()
        if self._loop is not None:
            self._tell_loop()
            self._loop.advance(end, self._after_step)
            return self._status(end)
        turn = self._context.state.turn
        if not turn.take(False):
            raise turn.refusal()
        try:
            self._ending = None
            if self._plant.is_discrete():
                self._advance_discrete(end)
            else:
                self._advance_continuous(end)
            self._root.SetTime(self._context.get_time())
            return self._status(end)
        finally:
            turn.give_back()

    def _after_step(self, status: EventStatus) -> bool:
        if self._rate > 0.0:
            self._wait()
        return self._ended_by(status)

    def _warn_of_limits(self) -> None:
        outside = positions_outside_limits(self._plant, self._context)
        if outside:
            start = f"the start is outside of limits, {what_limits_do(self._plant)}: {in_words(outside)}"
            warnings.warn(start, stacklevel=3)

    def AdvancePendingEvents(self) -> SimulatorStatus:
        """Does the updates that are due at the context's time, if there are any; the time stays."""
        if not self._initialized:
            self.Initialize()
        if self._loop is not None:
            self._tell_loop()
            self._ended_by(self._loop.update())
            self._loop.steps += 1
            return self._status(self._root.get_time())
        with self._context.state.turn:
            if self._plant.is_discrete():
                self._update_if_due()
            self._steps += 1
            self._ended_by(EventStatus.DidNothing())
            return self._status(self._root.get_time())

    def _advance_discrete(self, end: float) -> None:
        if self._monitor is None and self._rate == 0.0 and not self._publishes_every_step:
            self._run_updates(end)
            return
        while True:
            target = min(end, self._next_update() * self._plant.time_step())
            self._run_updates(target)
            if self._after_plain_step() or target >= end:
                return

    def _run_updates(self, end: float) -> None:
        """All updates before the time `end`, and the one that is due now, in one run."""
        following = self._next_update()
        last = max(following, self._first_update(end))  # the first update that is left
        due = self._due()
        self._update(following if due is None else due, last)
        self._steps += last - following + 1
        self._context.SetTime(end)

    def _update_if_due(self) -> None:
        k = self._due()
        if k is not None:
            now = self._context.get_time()
            self._update(k, k + 1)
            self._context.SetTime(now)

    def _update(self, first: int, end: int) -> None:
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

    def _due(self) -> int | None:
        """The number of the update that is due at the context's time, None if there is none."""
        now = self._context.get_time()
        k = self._first_update(now)
        return k if k * self._plant.time_step() == now and k != self._updated_at else None

    def _next_update(self) -> int:
        """The number of the first update after the context's time."""
        return self._first_update(math.nextafter(self._context.get_time(), math.inf))

    def _first_update(self, t: float) -> int:
        """The least k whose update, at the time k h as a double, is not before the time t."""
        return first_number(t, self._plant.time_step())

    def _advance_continuous(self, end: float) -> None:
        while True:
            now = self._context.get_time()
            target = end
            if self._monitor is not None or self._rate != 0.0 or self._publishes_every_step:
                target = min(end, now + self.config.max_step_size)
            run = Run(self._plant, self._context, target, config=self.config, going_on={"next_step": self._next_step})
            self._run(run)
            self._steps += max(run.steps, 1)
            self._next_step = run.next_step
            self._context.SetTime(target)
            if self._after_plain_step() or target >= end:
                return

    def _run(self, run: Run) -> None:
        try:
            for _ in run.blocks(has_turn=True):
                pass
        except BaseException:
            self._root.SetTime(self._context.get_time())  # that of the last good state, where the plant is
            raise
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

    def _after_plain_step(self) -> bool:
        """After a step of a plant alone: whether the advance ends."""
        self._root.SetTime(self._context.get_time())
        self._wait()
        if self._publishes_every_step:
            self._system.ForcedPublish(self._root)
            self._publishes += 1
        return self._ended_by(EventStatus.DidNothing())

    def _ended_by(self, status: EventStatus) -> bool:
        """Whether events of this status, or the monitor, end the advance. RuntimeError if one of them failed."""
        if self._monitor is None and (status is SUCCEEDED or status is NOTHING):  # most are
            self._ending = None
            return False
        answer = None if self._monitor is None else self._monitor(self._root)
        by_monitor = isinstance(answer, EventStatus) and answer.severity().value > status.severity().value
        if isinstance(answer, EventStatus):
            status = worse(status, answer)
        if status.severity() is EventStatus.Severity.kFailed:
            what = "the monitor" if by_monitor else "an event"
            raise RuntimeError(f"{what} failed at t = {self._root.get_time():g} s: {status.message()}")
        self._ending = status if status.severity() is EventStatus.Severity.kReachedTermination else None
        return self._ending is not None

    def _status(self, boundary: float) -> SimulatorStatus:
        return SimulatorStatus(self._root.get_time(), boundary, self._ending)

    def set_publish_every_time_step(self, publish: bool) -> None:
        """Whether ForcedPublish() is called at the start and after every step."""
        self._publishes_every_step = bool(publish)

    def set_publish_at_initialization(self, publish: bool) -> None:
        """Whether ForcedPublish() is called at the start."""
        self._publishes_at_start = bool(publish)

    def set_target_realtime_rate(self, realtime_rate: float) -> None:
        """How fast a run may be against the clock.

        Args:
          realtime_rate: simulated seconds per second [1]; 0: as fast as possible.

        Raises:
          RuntimeError: it is negative or not finite.

        Example:
          >>> simulator = Simulator(plant)
          >>> simulator.set_target_realtime_rate(1.0)
        """
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
        return (self._root.get_time() - start) / max(time.perf_counter() - clock, 1e-9)

    def _wait(self) -> None:
        if self._rate > 0.0 and self._began is not None:
            clock, start = self._began
            due = clock + (self._root.get_time() - start) / self._rate
            ahead = due - time.perf_counter()
            if ahead > 0.0:  # a sleep of nothing waits for the other processes
                time.sleep(ahead)

    # counts

    def get_num_steps_taken(self) -> int:
        """Steps of the integrator, of a discrete system the advances between updates, since Initialize()."""
        return self._steps if self._loop is None else self._loop.steps

    def ResetStatistics(self) -> None:
        """Sets all counts to zero."""
        self._steps = self._updates = self._publishes = 0
        self._began = None
        if self._loop is not None:
            self._loop.reset_counts()

    def get_num_publishes(self) -> int:
        """How often something was published."""
        return self._publishes if self._loop is None else self._loop.publishes

    def get_num_discrete_updates(self) -> int:
        """Discrete updates; those of a plant whose outputs are live among them, since its state is plain numbers."""
        if self._loop is not None:
            return self._loop.discrete_updates
        return 0 if self._plant.has_sampled_output_ports() else self._updates

    def get_num_unrestricted_updates(self) -> int:
        """Unrestricted updates, those of a plant with sampled outputs among them."""
        if self._loop is not None:
            return self._loop.unrestricted_updates
        return self._updates if self._plant.has_sampled_output_ports() else 0

    def integrator_steps(self) -> tuple[int, int]:
        """Steps of the integrator that were taken, and that were refused."""
        return (self._steps, 0) if self._loop is None else (self._loop.integrator.steps, self._loop.integrator.refused)


@dataclass
class InitializeParams:
    """How Initialize() starts.

    Args:
        suppress_initialization_events: whether initialization events are left out.
    """

    suppress_initialization_events: bool = False


class SimulatorStatus:
    """The end of an advance."""

    class ReturnReason(NumberedEnum):
        """Why an advance ended."""

        kReachedBoundaryTime = 0
        kReachedTerminationCondition = 1
        kEventHandlerFailed = 2

    def __init__(self, return_time: float, boundary_time: float, ending: EventStatus | None) -> None:
        self._return_time, self._boundary_time, self._ending = return_time, boundary_time, ending

    def return_time(self) -> float:
        """[s]"""
        return self._return_time

    def boundary_time(self) -> float:
        """The time [s] to which the advance was to go."""
        return self._boundary_time

    def reason(self) -> ReturnReason:
        """Why it ended."""
        reasons = SimulatorStatus.ReturnReason
        return reasons.kReachedBoundaryTime if self._ending is None else reasons.kReachedTerminationCondition

    def succeeded(self) -> bool:
        """Whether it reached its time."""
        return self._ending is None

    def IsIdenticalStatus(self, other: SimulatorStatus) -> bool:
        """Whether all that it says is the same."""
        mine, its = ((s.FormatMessage(), s.return_time(), s.reason(), s.system()) for s in (self, other))
        return mine == its

    def system(self) -> Any:
        """The system that ended it, None if none did."""
        return None if self._ending is None else self._ending.system()

    def message(self) -> str:
        """Why a system or the monitor ended it, "" if none did."""
        return "" if self._ending is None else self._ending.message()

    def FormatMessage(self) -> str:
        """The end in words."""
        if self._ending is None:
            return f"Simulator successfully reached the boundary time {self._boundary_time:g} s."
        return f"Simulator ended at {self._return_time:g} s before {self._boundary_time:g} s: {self.message()}"


class IntegratorBase:
    """The settings and counts of a Simulator's integrator, under the names of IntegratorBase."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def set_fixed_step_mode(self, flag: bool) -> None:
        """Whether all steps are as long as the largest."""
        self._simulator.config.use_error_control = not flag

    def get_fixed_step_mode(self) -> bool:
        """Whether all steps are as long as the largest."""
        return not self._simulator.config.use_error_control

    def set_maximum_step_size(self, max_step_size: float) -> None:
        """[s]"""
        self._simulator.config.max_step_size = float(max_step_size)

    def get_maximum_step_size(self) -> float:
        """[s]"""
        return self._simulator.config.max_step_size

    def set_target_accuracy(self, accuracy: float) -> None:
        """Of error control."""
        self._simulator.config.accuracy = float(accuracy)

    def get_target_accuracy(self) -> float:
        """Of error control."""
        return self._simulator.config.accuracy

    get_accuracy_in_use = get_target_accuracy

    def get_num_steps_taken(self) -> int:
        """Since the start."""
        return self._simulator.integrator_steps()[0]

    def get_num_step_shrinkages_from_error_control(self) -> int:
        """Steps that were refused."""
        return self._simulator.integrator_steps()[1]


def ResetIntegratorFromFlags(simulator: Simulator, scheme: str, max_step_size: float) -> IntegratorBase:
    """Uses another integrator with a largest step [s]. ModelError (a RuntimeError) for an unknown one."""
    if scheme not in SCHEMES:
        raise ModelError(f"integration scheme '{scheme}' is not supported; there are {', '.join(SCHEMES)}")
    simulator.config.integration_scheme, simulator.config.max_step_size = scheme, float(max_step_size)
    simulator.use_another_integrator()
    return simulator.get_mutable_integrator()


def GetIntegrationSchemes() -> list[str]:
    """The names of the integrators."""
    return sorted(SCHEMES)


def ApplySimulatorConfig(config: SimulatorConfig, simulator: Simulator) -> None:
    """Uses the integrator, accuracy and step settings of a SimulatorConfig, its start time and realtime rate."""
    if config.integration_scheme not in SCHEMES:
        raise ModelError(f"integration scheme '{config.integration_scheme}' is not supported")
    simulator.config = config
    simulator.use_another_integrator()
    simulator.set_target_realtime_rate(config.target_realtime_rate)
    simulator.set_publish_every_time_step(config.publish_every_time_step)
    simulator.get_mutable_context().SetTime(config.start_time)


def ExtractSimulatorConfig(simulator: Simulator) -> SimulatorConfig:
    """The settings of a Simulator."""
    return replace(
        simulator.config,
        start_time=simulator.get_context().get_time(),
        target_realtime_rate=simulator.get_target_realtime_rate(),
    )


def PrintSimulatorStatistics(simulator: Simulator) -> None:
    """Prints the time reached, steps and events."""
    print(f"Simulated to t = {simulator.get_context().get_time():g} s")
    print(f"Steps: {simulator.get_num_steps_taken()}, publishes: {simulator.get_num_publishes()}")
    print(f"Discrete updates: {simulator.get_num_discrete_updates()}")
    print(f"Unrestricted updates: {simulator.get_num_unrestricted_updates()}")


Simulator_ = ScalarTemplate(Simulator)
