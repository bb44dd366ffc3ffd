"""LeafSystem: a system of a user's own, with ports, state, parameters and events that it declares."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.value import AbstractValue, copied, held
from mbcli.multibody.tree.index import DiscreteStateIndex
from mbcli.systems.cache_entries import CacheEntry
from mbcli.systems.contexts import Tree, TreeContext
from mbcli.systems.events import (
    DISCRETE,
    PUBLISH,
    UNRESTRICTED,
    DiscreteUpdateEvent,
    Event,
    PublishEvent,
    TriggerType,
    UnrestrictedUpdateEvent,
    WitnessFunction,
)
from mbcli.systems.indices import AbstractStateIndex, ContinuousStateIndex, InputPortIndex, OutputPortIndex
from mbcli.systems.ports import InputPort, OutputPort
from mbcli.systems.system import System
from mbcli.systems.vectors import BasicVector, ContinuousState, Parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from mbcli.math.array_types import Array
    from mbcli.systems.cache_entries import ValueProducer
    from mbcli.systems.events import WitnessFunctionDirection
    from mbcli.systems.vectors import DiscreteValues


class LeafContext(TreeContext):
    """The context of a LeafSystem."""

    __slots__ = ("_x", "_kinds", "_groups", "_objects", "_numeric", "_others", "results")

    system: LeafSystem

    def __init__(self, system: LeafSystem, tree: Tree) -> None:
        super().__init__(system, tree)
        made = system.declared
        changed = tree.note_change
        self._x, self._kinds = copy(made.continuous).follow_changes(changed), made.kinds
        self._groups = [copy(group).follow_changes(changed) for group in made.discrete]
        self._objects = [value.Clone() for value in made.abstract]
        self._numeric = [copy(group).follow_changes(changed) for group in made.numeric]
        self._others = [value.Clone() for value in made.other_parameters]
        self.results: dict[Any, Any] = {}  # of outputs and cache entries, each with the stamp of the tree before it

    def remembered(self, key: Any, compute: Callable[[Any], Any]) -> Any:
        """What compute(self) gives, computed again if anything in the tree has changed since."""
        stamp, known = self.tree.stamp(), self.results.get(key)
        if known is None or known[0] != stamp:
            known = self.results[key] = stamp, compute(self)
        return known[1]

    def _continuous(self) -> ContinuousState:
        return ContinuousState(self._x, kinds=self._kinds)

    def _discrete(self) -> list[Any]:
        return self._groups

    def _abstract(self) -> list[AbstractValue]:
        return self._objects

    def _parameters(self) -> Parameters:
        return Parameters(self._numeric, self._others)

    def take_all(self, source: LeafContext) -> None:
        """State and parameters of another one; fixed inputs too."""
        for own, theirs in zip((self._x, *self._groups, *self._numeric), source.vectors(), strict=True):
            own.SetFromVector(theirs.CopyToVector())
        for value, other in zip((*self._objects, *self._others), source.objects(), strict=True):
            value.set_value(copied(other.get_value()))
        self.inputs.take(source.inputs.fixed)

    def vectors(self) -> tuple[BasicVector, ...]:
        """Continuous state, groups of discrete state, parameters."""
        return (self._x, *self._groups, *self._numeric)

    def objects(self) -> tuple[AbstractValue, ...]:
        """Abstract state and parameters."""
        return (*self._objects, *self._others)

    def Clone(self) -> LeafContext:
        """An independent copy, with its fixed inputs."""
        other = self.system.CreateDefaultContext()
        other.tree.time = self.tree.time
        other.take_all(self)
        return other


class Declared:
    """What a LeafSystem has declared, with default values."""

    def __init__(self) -> None:
        self.inputs: list[InputPort] = []
        self.outputs: list[OutputPort] = []
        self.continuous, self.kinds = BasicVector(0), ""
        self.discrete: list[BasicVector] = []
        self.abstract: list[AbstractValue] = []
        self.numeric: list[BasicVector] = []
        self.other_parameters: list[AbstractValue] = []
        self.events: list[Event] = []
        self.cache_entries: list[CacheEntry] = []


class LeafSystem(System):
    """A system without parts. A class derived from it declares in its __init__ what it has.

    DoCalcTimeDerivatives(context, derivatives) gives the derivatives of a continuous state, DoGetWitnessFunctions(
    context) a list of WitnessFunction.
    """

    def __init__(self, converter: Any = None) -> None:
        self.declared = Declared()

    def input_ports(self) -> list[Any]:
        """All input ports, by index."""
        return self._made().inputs

    def output_ports(self) -> list[Any]:
        """All output ports, by index."""
        return self._made().outputs

    def _made(self) -> Declared:
        if "declared" not in self.__dict__:
            raise RuntimeError(f"{type(self).__name__}.__init__() does not call LeafSystem.__init__(self)")
        return self.declared

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere; it names GetMyContextFromRoot() for that of a diagram."""
        if type(context) is not LeafContext or context.system is not self:
            name = self.get_name() or type(self).__name__
            if hasattr(type(context), "find"):
                raise RuntimeError(f"{name} was given the root context of a diagram: call GetMyContextFromRoot() first")
            raise RuntimeError(f"the context was not made by {name}")

    def CreateDefaultContext(self) -> LeafContext:
        """A context with default state and parameters, of its own."""
        return self.make_context(Tree())

    def make_context(self, tree: Tree) -> LeafContext:
        """A context below a root."""
        self._made()
        return LeafContext(self, tree)

    # ports

    def DeclareVectorInputPort(self, name: str, size: Any = None, *more: Any, **named: Any) -> InputPort:
        """An input port of so many elements, or of those that a BasicVector has.

        Args:
          name: that no other input port of the system has.
          size: the number, or a BasicVector.
          more: not used.
          named: model_vector, another name of size.

        Returns:
          The InputPort.

        Raises:
          RuntimeError: the name is taken.

        Example:
          >>> LeafSystem().DeclareVectorInputPort("torque", 2).size()
          2
        """
        size = named.get("model_vector", named.get("model_value", size))
        return self._add_input(name, size.size() if isinstance(size, BasicVector) else int(size))

    def DeclareAbstractInputPort(self, name: str, model_value: Any = None) -> InputPort:
        """An input port of an object.

        Args:
          name: that no other input port of the system has.
          model_value: an AbstractValue of such an object.

        Returns:
          The InputPort.

        Raises:
          RuntimeError: the name is taken; of the port, for a value of another type than a number, text or truth has.

        Example:
          >>> LeafSystem().DeclareAbstractInputPort("poses", AbstractValue.Make([RigidTransform()])).get_name()
          'poses'
        """
        kind = type(held(model_value))

        def check(value: Any) -> None:
            known = kind in (int, float, str, bool) and not isinstance(value, (int, float, np.number, kind))
            if known:
                raise RuntimeError(f"input '{name}' takes {kind.__name__}, not {type(value).__name__}")

        port = self._add_input(name, None, check)
        port.allocator = getattr(model_value, "Clone", None)
        return port

    def DeclareInputPort(self, name: str, type: Any, size: int, random_type: Any = None) -> InputPort:
        """An input port of a PortDataType."""
        return self._add_input(name, int(size) if type.name == "kVectorValued" else None)

    def _add_input(self, name: Any, size: int | None, check: Callable[[Any], object] = lambda value: None) -> InputPort:
        ports = self._made().inputs
        if not isinstance(name, str):
            name = f"u{len(ports)}"
        if any(port.get_name() == name for port in ports):
            raise RuntimeError(f"{type(self).__name__} has an input port named '{name}' already")
        ports.append(InputPort(self, name, InputPortIndex(len(ports)), size, check))
        return ports[-1]

    def DeclareVectorOutputPort(
        self,
        name: str,
        size: Any = None,
        calc: Callable[[Any, BasicVector], object] | None = None,
        prerequisites_of_calc: Iterable[str] | None = None,
        **named: Any,
    ) -> OutputPort:
        """An output port of so many elements: calc(context, output) sets the BasicVector `output`.

        Args:
          name: that no other output port of the system has.
          size: number of elements, or a BasicVector of the same kind as `output`.
          calc: sets the output.
          prerequisites_of_calc: tickets of what it follows from; everything if not given.
          named: model_value, another name of size.

        Returns:
          The OutputPort.

        Raises:
          RuntimeError: the name is taken.

        Example:
          >>> clock = LeafSystem()
          >>> port = clock.DeclareVectorOutputPort("t", 1, lambda context, t: t.SetAtIndex(0, context.get_time()))
          >>> port.Eval(clock.CreateDefaultContext())
          array([0.])
        """
        size = named.get("model_value", named.get("model_vector", size))
        model = size if isinstance(size, BasicVector) else BasicVector(int(size))
        size = model.size()

        def evaluate(context: LeafContext) -> Array:
            output = copy(model)
            if calc is not None:
                calc(context, output)
            if output.size() != size:
                raise RuntimeError(f"output '{name}' has {size} elements, not {output.size()}")
            return output.numbers

        return self._add_output(name, evaluate, size, prerequisites_of_calc)

    def DeclareAbstractOutputPort(
        self,
        name: str,
        alloc: Callable[[], Any],
        calc: Callable[[Any, AbstractValue], object],
        prerequisites_of_calc: Iterable[str] | None = None,
    ) -> OutputPort:
        """An output port of an object: calc(context, output) sets the AbstractValue `output`, made by alloc()."""

        def evaluate(context: LeafContext) -> Any:
            output = alloc()
            output = output if isinstance(output, AbstractValue) else AbstractValue.Make(output)
            calc(context, output)
            return output.get_value()

        port = self._add_output(name, evaluate, None, prerequisites_of_calc)
        port.allocator = alloc
        return port

    def DeclareCacheEntry(
        self, description: str, value_producer: ValueProducer, prerequisites_of_calc: Iterable[str] | None = None
    ) -> CacheEntry:
        """A value that is computed when it is asked for, and again when anything has changed, as outputs are."""
        entries = self._made().cache_entries
        entries.append(CacheEntry(self, len(entries), description, value_producer))
        return entries[-1]

    def get_cache_entry(self, index: int) -> CacheEntry:
        """By its index. IndexError if there is none."""
        return self._made().cache_entries[index]

    def DeclareStateOutputPort(self, name: Any, state_index: Any) -> OutputPort:
        """An output port of a continuous, discrete or abstract state, by its index."""
        index = int(state_index)
        size: int | None
        if isinstance(state_index, AbstractStateIndex):
            size, evaluate = None, lambda context: context.get_abstract_state(index).get_value()
        elif isinstance(state_index, DiscreteStateIndex):
            size, evaluate = self.declared.discrete[index].size(), lambda context: context.vectors()[1 + index].numbers
        else:
            size, evaluate = self.declared.continuous.size(), lambda context: context.vectors()[0].numbers
        return self._add_output(name, evaluate, size, ["state"])

    def _add_output(
        self,
        name: Any,
        evaluate: Callable[[Any], Any],
        size: int | None,
        prerequisites: Iterable[str] | None,
    ) -> OutputPort:
        made = self._made()
        index = len(made.outputs)
        if not isinstance(name, str):
            name = f"y{index}"
        if any(port.get_name() == name for port in made.outputs):
            raise RuntimeError(f"{type(self).__name__} has an output port named '{name}' already")

        def value(context: Any) -> Any:
            if type(context) is not LeafContext or context.system is not self:
                self.check_context(context)  # raises
            found = context.remembered(index, evaluate) if port.remembers else evaluate(context)
            return found if size is None else found.copy()

        port = OutputPort(self, name, value, OutputPortIndex(index), size, self._inputs_of(prerequisites))
        made.outputs.append(port)
        return port

    def _inputs_of(self, prerequisites: Iterable[str] | None) -> list[str] | None:
        """The names of the input ports among prerequisites; None for all of them."""
        names: list[str] = []
        for ticket in () if prerequisites is None else prerequisites:
            kind, _, index = ticket.partition(" ")
            if kind == "input":
                names.append(self.declared.inputs[int(index)].get_name())
            elif kind == "output":
                followed = self.declared.outputs[int(index)].follows
                if followed is None:
                    return None
                names += followed
            elif kind == "all":
                return None
        return None if prerequisites is None else names

    # state and parameters

    def DeclareContinuousState(self, *sizes: Any, **named: Any) -> ContinuousStateIndex:
        """DeclareContinuousState(n), (num_q, num_v, num_z), or the same with a BasicVector of default values first.

        Args:
          sizes: these.
          named: the same by name.

        Returns:
          The index of the state.

        Raises:
          RuntimeError: the numbers are not those of the default values.

        Example:
          >>> system = LeafSystem()
          >>> index = system.DeclareContinuousState(BasicVector([0.5, 0.0]), 1, 1, 0)
          >>> system.CreateDefaultContext().get_continuous_state_vector().CopyToVector()
          array([0.5, 0. ])
        """
        given: list[Any] = [*sizes, *named.values()]
        model = given.pop(0) if isinstance(given[0], BasicVector) else None
        if model is None and len(given) == 1 and not isinstance(given[0], (int, np.integer)):
            model, given = BasicVector(given[0]), []
        counts = [int(n) for n in given]
        total = model.size() if model is not None and not counts else sum(counts)
        kinds = "z" * total if len(counts) < 3 else "q" * counts[0] + "v" * counts[1] + "z" * counts[2]
        model = BasicVector(total) if model is None else model
        if model.size() != total:
            raise RuntimeError(f"a continuous state of {total} elements has a model of {model.size()}")
        self._made().continuous, self._made().kinds = copy(model), kinds
        return ContinuousStateIndex(0)

    def DeclareDiscreteState(self, *size_or_values: Any, **named: Any) -> DiscreteStateIndex:
        """A group of discrete state: of so many zeros, or with default values.

        Args:
          size_or_values: the number, or (n,) values in [unit of each].
          named: the same by name.

        Returns:
          The index of the group.

        Example:
          >>> system = LeafSystem()
          >>> index = system.DeclareDiscreteState([0.5, 0.0])
          >>> system.CreateDefaultContext().get_discrete_state_vector().CopyToVector()
          array([0.5, 0. ])
        """
        (given,) = (*size_or_values, *named.values())
        self._made().discrete.append(copy(given) if isinstance(given, BasicVector) else BasicVector(given))
        return DiscreteStateIndex(len(self.declared.discrete) - 1)

    def DeclareAbstractState(self, model_value: Any) -> AbstractStateIndex:
        """An abstract state with its default; returns its index."""
        self._made().abstract.append(AbstractValue.Make(copied(held(model_value))))
        return AbstractStateIndex(len(self.declared.abstract) - 1)

    def DeclareNumericParameter(self, model_vector: BasicVector | ArrayLike) -> int:
        """A vector of parameters with its defaults; returns its index."""
        given: Any = model_vector
        self._made().numeric.append(copy(given) if isinstance(given, BasicVector) else BasicVector(given))
        return len(self.declared.numeric) - 1

    def DeclareAbstractParameter(self, model_value: Any) -> int:
        """Another parameter with its default; returns its index."""
        self._made().other_parameters.append(AbstractValue.Make(copied(held(model_value))))
        return len(self.declared.other_parameters) - 1

    # events

    def DeclarePeriodicEvent(self, period_sec: float, offset_sec: float, event: Event) -> None:
        """An event at offset + k period [s]."""
        if not float(period_sec) > 0.0 or not float(offset_sec) >= 0.0:
            raise RuntimeError(f"a period must be positive and its offset not negative: {period_sec}, {offset_sec}")
        self._made().events.append(event.declared(TriggerType.kPeriodic, float(period_sec), float(offset_sec)))

    def DeclarePeriodicPublishEvent(
        self, period_sec: float, offset_sec: float = 0.0, publish: Callable[[Any], Any] = lambda context: None
    ) -> None:
        """Calls publish(context) at offset + k period [s]."""
        self.DeclarePeriodicEvent(period_sec, offset_sec, PublishEvent.calling(publish))

    def DeclarePeriodicDiscreteUpdateEvent(
        self, period_sec: float, offset_sec: float, update: Callable[[Any, DiscreteValues], Any]
    ) -> None:
        """Calls update(context, discrete_values) at offset + k period.

        Args:
          period_sec: greater than 0 [s].
          offset_sec: 0 or more [s].
          update: sets the values of the next sample.

        Raises:
          RuntimeError: the period or the offset is out of its range.

        Example:
          >>> clock, tell = LeafSystem(), lambda context, values: print(round(context.get_time(), 1))
          >>> index = clock.DeclareDiscreteState(1)
          >>> clock.DeclarePeriodicDiscreteUpdateEvent(0.1, 0.0, tell)
          >>> status = Simulator(clock).AdvanceTo(0.25)
          0.0
          0.1
          0.2
        """
        self.DeclarePeriodicEvent(period_sec, offset_sec, DiscreteUpdateEvent.calling(update))

    def DeclarePeriodicUnrestrictedUpdateEvent(
        self, period_sec: float, offset_sec: float, update: Callable[[Any, Any], Any]
    ) -> None:
        """Calls update(context, state) at offset + k period [s]."""
        self.DeclarePeriodicEvent(period_sec, offset_sec, UnrestrictedUpdateEvent.calling(update))

    def DeclarePerStepEvent(self, event: Event) -> None:
        """An event at the start and after every step."""
        self._made().events.append(event.declared(TriggerType.kPerStep))

    def DeclarePerStepPublishEvent(self, publish: Callable[[Any], Any]) -> None:
        """Calls publish(context) at the start and after every step."""
        self.DeclarePerStepEvent(PublishEvent.calling(publish))

    def DeclarePerStepDiscreteUpdateEvent(self, update: Callable[[Any, DiscreteValues], Any]) -> None:
        """Calls update(context, discrete_values) at the start of every step."""
        self.DeclarePerStepEvent(DiscreteUpdateEvent.calling(update))

    def DeclarePerStepUnrestrictedUpdateEvent(self, update: Callable[[Any, Any], Any]) -> None:
        """Calls update(context, state) at the start of every step."""
        self.DeclarePerStepEvent(UnrestrictedUpdateEvent.calling(update))

    def DeclareInitializationEvent(self, event: Event) -> None:
        """An event when a Simulator is initialized."""
        self._made().events.append(event.declared(TriggerType.kInitialization))

    def DeclareInitializationPublishEvent(self, publish: Callable[[Any], Any]) -> None:
        """Calls publish(context) when a Simulator is initialized."""
        self.DeclareInitializationEvent(PublishEvent.calling(publish))

    def DeclareInitializationDiscreteUpdateEvent(self, update: Callable[[Any, DiscreteValues], Any]) -> None:
        """Calls update(context, discrete_values) when a Simulator is initialized."""
        self.DeclareInitializationEvent(DiscreteUpdateEvent.calling(update))

    def DeclareInitializationUnrestrictedUpdateEvent(self, update: Callable[[Any, Any], Any]) -> None:
        """Calls update(context, state) when a Simulator is initialized."""
        self.DeclareInitializationEvent(UnrestrictedUpdateEvent.calling(update))

    def DeclareForcedPublishEvent(self, publish: Callable[[Any], Any]) -> None:
        """Calls publish(context) in ForcedPublish()."""
        self._made().events.append(PublishEvent.calling(publish).declared(TriggerType.kForced))

    def DeclareForcedDiscreteUpdateEvent(self, update: Callable[[Any, DiscreteValues], Any]) -> None:
        """Calls update(context, discrete_values) in CalcForcedDiscreteVariableUpdate()."""
        self._made().events.append(DiscreteUpdateEvent.calling(update).declared(TriggerType.kForced))

    def DeclareForcedUnrestrictedUpdateEvent(self, update: Callable[[Any, Any], Any]) -> None:
        """Calls update(context, state) in CalcForcedUnrestrictedUpdate()."""
        self._made().events.append(UnrestrictedUpdateEvent.calling(update).declared(TriggerType.kForced))

    def MakeWitnessFunction(
        self,
        description: str,
        direction_type: WitnessFunctionDirection,
        calc: Callable[[Any], float],
        e: Event | None = None,
    ) -> WitnessFunction:
        """A WitnessFunction with the event that it triggers; DoGetWitnessFunctions() returns those that count."""
        event = None if e is None else e.declared(TriggerType.kWitness)
        return WitnessFunction(self, description, direction_type, calc, event)

    def GetWitnessFunctions(self, context: Any) -> list[WitnessFunction]:
        """Those that count in a context."""
        self.check_context(context)
        get = getattr(self, "DoGetWitnessFunctions", None)
        return [] if get is None else list(get(context))

    # what happens

    def DoCalcTimeDerivatives(self, context: Any, derivatives: ContinuousState) -> None:
        """Sets the derivatives of the continuous state; a class with such a state has its own."""
        if derivatives.size():
            raise RuntimeError(f"{type(self).__name__} has continuous state and no DoCalcTimeDerivatives()")

    def CalcTimeDerivatives(self, context: Any, derivatives: ContinuousState) -> None:
        """Sets the derivatives of the continuous state."""
        self.check_context(context)
        self.DoCalcTimeDerivatives(context, derivatives)

    def _events(self, kind: str, trigger: TriggerType) -> list[Event]:
        return [e for e in self._made().events if e.kind == kind and e.get_trigger_type() is trigger]

    def run_events(self, kind: str, trigger: TriggerType, context: Any, target: Any = None) -> bool:
        """Does all events of a kind and trigger; whether there were any."""
        found = self._events(kind, trigger)
        for event in found:
            event.handle(self, context, target)
        return bool(found)

    def ForcedPublish(self, context: Any) -> None:
        """Calls what is published when it is asked for."""
        self.check_context(context)
        self.run_events(PUBLISH, TriggerType.kForced, context)

    def CalcForcedDiscreteVariableUpdate(self, context: Any, discrete_state: DiscreteValues) -> None:
        """Sets what a forced update makes of the discrete state of the context, which stays."""
        self.check_context(context)
        discrete_state.SetFrom(context.get_discrete_state())
        self.run_events(DISCRETE, TriggerType.kForced, context, discrete_state)

    def CalcForcedUnrestrictedUpdate(self, context: Any, state: Any) -> None:
        """Sets what a forced update makes of the state of the context, which stays."""
        self.check_context(context)
        state.SetFrom(context.get_state())
        self.run_events(UNRESTRICTED, TriggerType.kForced, context, state)

    def EvalUniquePeriodicDiscreteUpdate(self, context: Any) -> DiscreteValues:
        """The discrete state after the periodic update. RuntimeError if there are several periods, or none."""
        self.check_context(context)
        events = self._events(DISCRETE, TriggerType.kPeriodic)
        if len({(e.period, e.offset) for e in events}) != 1:
            raise RuntimeError(f"{type(self).__name__} has no unique periodic discrete update")
        values = context.get_discrete_state().Clone()
        for event in events:
            event.handle(self, context, values)
        return values

    def ExecuteForcedEvents(self, context: Any, publish: bool = True) -> None:
        """Does all forced events: updates change the context."""
        self.check_context(context)
        if self._events(UNRESTRICTED, TriggerType.kForced):
            state = context.get_state().Clone()
            self.run_events(UNRESTRICTED, TriggerType.kForced, context, state)
            context.get_mutable_state().SetFrom(state)
        values = context.get_discrete_state().Clone()
        if self.run_events(DISCRETE, TriggerType.kForced, context, values):
            context.get_mutable_discrete_state().SetFrom(values)
        if publish:
            self.ForcedPublish(context)

    def IsDifferenceEquationSystem(self) -> tuple[bool, float]:
        """Whether all state is one group of discrete state with one period, and the period [s], else 0."""
        made = self._made()
        periods = {e.period for e in self._events(DISCRETE, TriggerType.kPeriodic)}
        holds = len(made.discrete) == 1 and not made.continuous.size() and not made.abstract and len(periods) == 1
        return (True, periods.pop()) if holds else (False, 0.0)

    def _converted(self, scalar: str) -> Any:
        # objects of this class compute with numbers of every kind
        return self.Clone()

    def Clone(self) -> Any:
        """A system made of the same parts, with ports of its own."""
        raise RuntimeError(f"{self.GetSystemType()} cannot be cloned")
