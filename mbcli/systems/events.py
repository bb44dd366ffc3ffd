"""Events of systems: what is to be done when, and how it went, under the names of pydrake.systems.framework."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.numbered_enum import NumberedEnum

if TYPE_CHECKING:
    from collections.abc import Callable


class EventStatus:
    """The report of a monitor or of an event; made by its static methods."""

    class Severity(NumberedEnum):
        """How an event went: a simulation ends from kReachedTermination upwards."""

        kDidNothing = 0
        kSucceeded = 1
        kReachedTermination = 2
        kFailed = 3

    def __init__(self, severity: EventStatus.Severity, system: object = None, message: str = "") -> None:
        self._severity, self._system, self._message = severity, system, message

    @staticmethod
    def DidNothing() -> EventStatus:
        """The status of an event that had nothing to do."""
        return EventStatus(EventStatus.Severity.kDidNothing)

    @staticmethod
    def Succeeded() -> EventStatus:
        """The status of an event that did its work."""
        return EventStatus(EventStatus.Severity.kSucceeded)

    @staticmethod
    def ReachedTermination(system: object, message: str) -> EventStatus:
        """Ends the advance at this time."""
        return EventStatus(EventStatus.Severity.kReachedTermination, system, message)

    @staticmethod
    def Failed(system: object, message: str) -> EventStatus:
        """The advance raises RuntimeError with the message."""
        return EventStatus(EventStatus.Severity.kFailed, system, message)

    def KeepMoreSevere(self, candidate: EventStatus) -> EventStatus:
        """Becomes another status if that is more severe; returns itself."""
        if candidate.severity().value > self._severity.value:
            self._severity, self._system, self._message = candidate.severity(), candidate.system(), candidate.message()
        return self

    def severity(self) -> EventStatus.Severity:
        """How it went: a simulation ends from kReachedTermination upwards."""
        return self._severity

    def system(self) -> Any:
        """The system that reports the status, None if it was not given."""
        return self._system

    def message(self) -> str:
        """The reason for the end or failure, "" otherwise."""
        return self._message


SUCCEEDED = EventStatus.Succeeded()


class TriggerType(NumberedEnum):
    """When an event happens."""

    kUnknown = 0
    kInitialization = 1
    kForced = 2
    kTimed = 3
    kPeriodic = 4
    kPerStep = 5
    kWitness = 6


class WitnessFunctionDirection(NumberedEnum):
    """Which changes of sign of a witness function trigger it."""

    kNone = 0
    kPositiveThenNonPositive = 1
    kNegativeThenNonNegative = 2
    kCrossesZero = 3


PUBLISH, DISCRETE, UNRESTRICTED = "publish", "discrete", "unrestricted"


class Event:
    """Something that a system does at certain times. Events of users are made by the classes derived from it.

    Attributes:
        kind: PUBLISH: nothing changes; DISCRETE: discrete state; UNRESTRICTED: all state.
        period, offset: [s] of a periodic one.
        method: takes the context alone, and of updates the state to set; goes before callbacks.

    Args:
        trigger_type: when; set by the declaration of the event. May be left out.
        callback: function of (context, event) or (system, context, event), of updates with the state to set at the end.
    """

    kind = PUBLISH

    def __init__(
        self,
        trigger_type: TriggerType | Callable[..., Any] = TriggerType.kUnknown,
        callback: Callable[..., Any] | None = None,
        *,
        system_callback: Callable[..., Any] | None = None,
    ) -> None:
        if not isinstance(trigger_type, TriggerType):
            callback, trigger_type = trigger_type, TriggerType.kUnknown
        self._trigger, self._callback, self._system_callback = trigger_type, callback, system_callback
        self.period = self.offset = 0.0
        self.method: Callable[..., Any] | None = None

    @classmethod
    def calling(cls, method: Callable[..., Any]) -> Event:
        """One that calls a method of a system, which does not take the event."""
        made = cls()
        made.method = method
        return made

    def get_trigger_type(self) -> TriggerType:
        """When it happens."""
        return self._trigger

    def declared(self, trigger: TriggerType, period: float = 0.0, offset: float = 0.0) -> Event:
        """A copy with the time at which it happens."""
        other = type(self)(trigger, self._callback, system_callback=self._system_callback)
        other.period, other.offset, other.method = period, offset, self.method
        return other

    def handle(self, system: Any, context: Any, target: Any = None) -> EventStatus:
        """Does it; target: what an update sets."""
        targets = () if self.kind is PUBLISH else (target,)
        status = None
        if self.method is not None:
            status = self.method(context, *targets)
        elif self._system_callback is not None:
            status = self._system_callback(system, context, self, *targets)
        elif self._callback is not None:
            status = self._callback(context, self, *targets)
        return SUCCEEDED if status is None or not isinstance(status, EventStatus) else status


class PublishEvent(Event):
    """An event that changes nothing."""


class DiscreteUpdateEvent(Event):
    """An event that sets discrete state: its function takes (context, event, discrete_values)."""

    kind = DISCRETE


class UnrestrictedUpdateEvent(Event):
    """An event that sets any state: its function takes (context, event, state)."""

    kind = UNRESTRICTED


class WitnessFunction:
    """A function of a context whose change of sign ends a step; an event may be triggered there."""

    def __init__(
        self,
        system: Any,
        description: str,
        direction_type: WitnessFunctionDirection,
        calc: Callable[[Any], float],
        event: Event | None = None,
    ) -> None:
        self._system, self._description, self._direction = system, description, direction_type
        self._calc, self.event = calc, event

    def description(self) -> str:
        """What it is."""
        return self._description

    def direction_type(self) -> WitnessFunctionDirection:
        """Which changes of sign count."""
        return self._direction

    def CalcWitnessValue(self, context: Any) -> float:
        """Its value."""
        return float(self._calc(context))

    def should_trigger(self, w0: float, wf: float) -> bool:
        """Whether it triggers between two values."""
        falls, rises = w0 > 0.0 and wf <= 0.0, w0 < 0.0 and wf >= 0.0
        kind = WitnessFunctionDirection
        return {
            kind.kNone: False,
            kind.kPositiveThenNonPositive: falls,
            kind.kNegativeThenNonNegative: rises,
            kind.kCrossesZero: falls or rises,
        }[self._direction]
