"""The time loop of a diagram with systems of Python: events in their order, and steps between them.

At a time all unrestricted updates that are due start from the same state, steps of plants with sampled outputs among
them; then all discrete ones, those of other plants among them; then continuous states are advanced to the next event;
then what is published sees the state before the updates of that time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from mbcli.multibody.core.inputs import may_act_continuously
from mbcli.multibody.state.context import Context as PlantContext
from mbcli.multibody.stepping.discrete_steps import NEVER
from mbcli.multibody.stepping.run import Run
from mbcli.systems.contexts import TreeOfPlant
from mbcli.systems.events import DISCRETE, PUBLISH, SUCCEEDED, UNRESTRICTED, EventStatus, TriggerType
from mbcli.systems.integration import Integrator

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.systems.events import Event

NOTHING = EventStatus.DidNothing()
STRETCH = 1.01  # of a fixed step that would end shortly before an event, as in pydrake; none before the end of a run
ISOLATION = 1e-2  # of the accuracy times the largest step: how precisely a witness function's change of sign is found


class Schedule:
    """The times offset + k period, and what is due at them.

    Attributes:
        events: of leaf systems, (system, context, event); plants: the PlantSteps of plants.
        number, next: k of the next time, and the time [s].
    """

    def __init__(self, period: float, offset: float) -> None:
        self.period, self.offset = period, offset
        self.events: list[tuple[Any, Any, Event]] = []
        self.plants: list[PlantSteps] = []
        self.number, self.next = 0, offset

    def go_on(self) -> None:
        """To the next time."""
        self.number += 1
        self.next = self.offset + self.number * self.period

    def begin(self, t: float) -> None:
        """The next one is the first that is not before t, at the earliest the offset."""
        self.number = max(0, first_number(t, self.period, self.offset))
        self.next = self.offset + self.number * self.period


def first_number(t: float, period: float, offset: float = 0.0) -> int:
    """The least k whose time offset + k period, as a double, is not before the time t."""
    k = math.ceil((t - offset) / period)
    while offset + k * period < t:
        k += 1
    while offset + (k - 1) * period >= t:
        k -= 1
    return k


class PlantSteps:
    """The steps of a discrete plant in a diagram, each under the inputs at its start."""

    def __init__(self, plant: Any, context: Any) -> None:
        self.plant, self.context, self._h = plant, context, plant.time_step()
        self._run: Run | None = None
        self._values: dict[str, Any] = {}

    def evaluate_inputs(self) -> None:
        """Of the step that comes, before other systems change."""
        context = self.context
        self._values = {name: source(context) for name, source in context.inputs.followed.items()}

    def take(self, number: int) -> None:
        """The step of a number."""
        context, h = self.context, self._h
        time = context.state.time
        held = bool(self._values)
        if held:
            context.inputs.hold(self._values)
        try:
            if self._run is not None and self._run.take_step(number):
                return
            context.state.time = number * h
            if self._run is None:
                self._run = Run(self.plant, context, (number + 1) * h, sample_period=NEVER * h)
            else:
                self._run.go_on((number + 1) * h)
            for _ in self._run.blocks(has_turn=True):
                pass
        finally:
            if held:
                context.inputs.hold(None)
            context.state.time = time
            context.state.forget_inputs()


class EventLoop:
    """Advances a root context with all that its systems declare.

    Args:
        system, root: a leaf system or a diagram with its context.
        leaves: (system, context) of all parts that are no diagrams.
        config: () -> SimulatorConfig.
    """

    def __init__(self, system: Any, root: Any, leaves: list[tuple[Any, Any]], config: Callable[[], Any]) -> None:
        self._system, self._root, self._leaves, self._config = system, root, leaves, config
        self._tree = root.tree if hasattr(root, "tree") else TreeOfPlant(root)
        self.integrator = Integrator([(s, c) for s, c in leaves if c.num_continuous_states()], self._set_time)
        self._witnessed = [(s, c) for s, c in leaves if hasattr(s, "DoGetWitnessFunctions")]
        self._per_step = self._declared(TriggerType.kPerStep)
        self._at_start = self._declared(TriggerType.kInitialization)
        self.publish_every_step = self.publish_at_start = False
        self.reset_counts()
        schedules: dict[tuple[float, float], Schedule] = {}
        for own, context in leaves:
            if isinstance(context, PlantContext):
                if own.is_discrete():
                    key = own.time_step(), 0.0
                    schedules.setdefault(key, Schedule(*key)).plants.append(PlantSteps(own, context))
                continue
            for event in _events(own):
                if event.get_trigger_type() is TriggerType.kPeriodic:
                    key = event.period, event.offset
                    schedules.setdefault(key, Schedule(*key)).events.append((own, context, event))
        self._schedules = list(schedules.values())
        self._due: tuple[Schedule, ...] = ()  # their updates are still to come
        self._agendas: dict[tuple[Schedule, ...], Any] = {}  # what is to be updated where these are due
        self._to_publish: dict[tuple[Schedule, ...], Any] = {}
        self._triggered: list[tuple[Any, Any, Event]] = []  # by witness functions

    def _declared(self, trigger: TriggerType) -> dict[str, list[tuple[Any, Any, Event]]]:
        found: dict[str, list[tuple[Any, Any, Event]]] = {PUBLISH: [], DISCRETE: [], UNRESTRICTED: []}
        for system, context in self._leaves:
            for event in _events(system):
                if event.get_trigger_type() is trigger:
                    found[event.kind].append((system, context, event))
        return found

    def reset_counts(self) -> None:
        """Sets them to zero."""
        self.steps = self.publishes = self.discrete_updates = self.unrestricted_updates = 0

    def time(self) -> float:
        """[s] of the root context."""
        return self._tree.time

    def _set_time(self, time: float) -> None:
        """As SetTime() of the root, of a time that is finite."""
        self._tree.go_to(time)

    # events

    def initialize(self, with_events: bool = True) -> EventStatus:
        """Starts at the time of the context: initialization events, and what is published then."""
        now = self.time()
        status = NOTHING
        if with_events:
            for kind in (UNRESTRICTED, DISCRETE):
                if self._at_start[kind]:
                    status = self._update(kind, self._at_start[kind], [], status)
        for schedule in self._schedules:
            schedule.begin(now)
        self._due = tuple(s for s in self._schedules if s.next == now)
        for schedule in self._due:
            schedule.go_on()
        self._triggered = []
        self.integrator.next_step = None
        published = self._at_start[PUBLISH] if with_events else []
        status = self._publish([*published, *self._published(self._due)], status)
        if self.publish_every_step or self.publish_at_start:
            self._system.ForcedPublish(self._root)
            self.publishes += 1
        return status

    def _publish(self, events: list[tuple[Any, Any, Event]], status: EventStatus) -> EventStatus:
        for system, context, event in events:
            status = worse(status, event.handle(system, context))
        self.publishes += bool(events)
        return status

    def _published(self, due: tuple[Schedule, ...]) -> list[tuple[Any, Any, Event]]:
        """What is published after a step that ends where these are due."""
        events = self._to_publish.get(due)
        if events is None:
            events = self._to_publish[due] = [*self._per_step[PUBLISH], *_of_kind(due, PUBLISH)]
        return events

    def update(self) -> EventStatus:
        """All updates that are pending."""
        due, self._due = self._due, ()
        if not self._triggered:
            agenda = self._agendas.get(due)
            if agenda is None:
                agenda = self._agendas[due] = self._agenda(due, [])
        else:
            agenda, self._triggered = self._agenda(due, self._triggered), []
        status = NOTHING
        for kind, events, plants in agenda:
            status = self._update(kind, events, plants, status)
        return status

    def _agenda(self, due: tuple[Schedule, ...], triggered: list[tuple[Any, Any, Event]]) -> list[Any]:
        """(kind, events, plants) of the updates at such a time."""
        found = []
        # the state of a plant with sampled outputs has these too, and is none of numbers alone
        for kind, is_sampled in ((UNRESTRICTED, True), (DISCRETE, False)):
            events = [*self._per_step[kind], *_of_kind(due, kind), *_of(triggered, kind)]
            plants = [
                (steps, schedule)
                for schedule in due
                for steps in schedule.plants
                if steps.plant.has_sampled_output_ports() is is_sampled
            ]
            if events or plants:
                found.append((kind, events, plants))
        return found

    def _update(self, kind: str, events: list[Any], plants: list[Any], status: EventStatus) -> EventStatus:
        """Updates of a kind and the steps of plants, all from the same state."""
        pending: dict[int, tuple[Any, Any]] = {}  # by the number of the context
        for system, context, event in events:
            known = pending.get(id(context))
            if known is None:
                state = context.get_state() if kind is UNRESTRICTED else context.get_discrete_state()
                known = pending[id(context)] = state, state.Clone()
            status = worse(status, event.handle(system, context, known[1]))
        for steps, _ in plants:
            steps.evaluate_inputs()
        for steps, schedule in plants:
            steps.take(schedule.number - 1)
        for state, target in pending.values():
            state.SetFrom(target)  # vectors tell of their changes themselves
        if kind is UNRESTRICTED and pending:
            self._tree.note_change()
        self.unrestricted_updates += kind is UNRESTRICTED
        self.discrete_updates += kind is DISCRETE
        return status

    # time

    def advance(self, boundary: float, after_step: Callable[[EventStatus], bool]) -> None:
        """Advances to a time [s], or until after_step(status of the events of a step) is true."""
        tree, schedules = self._tree, self._schedules
        while True:
            status = self.update()
            target, stretch = boundary, 1.0
            for schedule in schedules:
                if schedule.next <= target:
                    target, stretch = schedule.next, STRETCH
            self._continue_to(tree.time, target, stretch)
            self.steps += 1
            reached = tree.time
            self._due = due = tuple([s for s in schedules if s.next <= reached])
            for schedule in due:
                schedule.go_on()
            events = self._published(due)
            if self._triggered:
                events = events + _of(self._triggered, PUBLISH)
            if events:
                status = self._publish(events, status)
            if self.publish_every_step:
                self._system.ForcedPublish(self._root)
                self.publishes += 1
            if after_step(status) or reached >= boundary:
                return

    def _continue_to(self, now: float, target: float, stretch: float) -> None:
        """One step of the continuous state towards a time, which it ends at where there is none; stretch: of step()."""
        continuous = self.integrator
        if target <= now:
            return
        if not self._witnessed and not continuous.has_parts():
            self._set_time(target)
            return
        witnesses = self._witnesses()
        before = [w.CalcWitnessValue(c) for _, w, c in witnesses]
        if not continuous.has_parts():
            self._set_time(target)
            self._trigger(witnesses, before)
            return
        start = continuous.state()
        reached = continuous.step(now, target, self._config(), stretch)
        self._set_time(reached)
        if self._trigger(witnesses, before):
            self._isolate(witnesses, before, now, start, reached)

    def _witnesses(self) -> list[tuple[Any, Any, Any]]:
        return [(s, w, context) for s, context in self._witnessed for w in s.GetWitnessFunctions(context)]

    def _trigger(self, witnesses: list[tuple[Any, Any, Any]], before: list[float]) -> bool:
        """Notes the events of those that changed their sign; whether there are any."""
        self._triggered, any_triggered = [], False
        for (system, witness, context), w0 in zip(witnesses, before, strict=True):
            if witness.should_trigger(w0, witness.CalcWitnessValue(context)):
                any_triggered = True
                if witness.event is not None:
                    self._triggered.append((system, context, witness.event))
        return any_triggered

    def _isolate(self, witnesses: Any, before: list[float], start_time: float, start: Any, end_time: float) -> None:
        """Goes back to where the first change of sign is, from a step that has one."""
        config = self._config()
        window = max(ISOLATION * config.accuracy * config.max_step_size, 1e-14 * max(1.0, abs(end_time)))
        a, b = start_time, end_time
        while b - a > window:
            middle = 0.5 * (a + b)
            self._step_from(start_time, start, middle)
            if self._trigger(witnesses, before):
                b = middle
            else:
                a = middle
        self._step_from(start_time, start, b)
        self._trigger(witnesses, before)

    def _step_from(self, time: float, start: Any, target: float) -> None:
        self.integrator.set_state(time, start)
        while time < target:
            time = self.integrator.step(time, target, self._config())
        self._set_time(target)


def _events(system: Any) -> list[Event]:
    declared = getattr(system, "declared", None)
    return [] if declared is None else declared.events


def _of(events: list[tuple[Any, Any, Event]], kind: str) -> list[tuple[Any, Any, Event]]:
    return [entry for entry in events if entry[2].kind == kind]


def _of_kind(schedules: tuple[Schedule, ...], kind: str) -> list[tuple[Any, Any, Event]]:
    return [entry for schedule in schedules for entry in schedule.events if entry[2].kind == kind]


def worse(a: EventStatus, b: EventStatus) -> EventStatus:
    """The one of two that is more severe, the first if they are equal."""
    return a if b is SUCCEEDED else b if b.severity().value > a.severity().value else a


def needs_events(leaves: list[tuple[Any, Any]]) -> bool:
    """Whether there is more than one plant to advance, beside systems whose outputs follow from their inputs."""
    plants = [(system, context) for system, context in leaves if isinstance(context, PlantContext)]
    others = [(system, context) for system, context in leaves if not isinstance(context, PlantContext)]
    if len(plants) != 1:
        return True
    if any(_events(s) or hasattr(s, "DoGetWitnessFunctions") or c.num_continuous_states() for s, c in others):
        return True
    plant, context = plants[0]
    # the loop below steps with what the ports give at the start of each step, the plant's own with compiled loops
    if not plant.is_discrete():
        return may_act_continuously(plant)
    return bool(context.inputs.followed) and not _applies(context)


def _applies(context: Any) -> bool:
    return any(name.startswith("applied_") for name in context.inputs.names())
