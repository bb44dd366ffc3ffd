"""Diagrams: systems whose ports are connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.value import AbstractValue
from mbcli.multibody.state.context import Context as PlantContext
from mbcli.systems.context_text import text_of_diagram
from mbcli.systems.contexts import Tree, TreeContext
from mbcli.systems.events import DISCRETE, UNRESTRICTED, TriggerType
from mbcli.systems.indices import InputPortIndex, OutputPortIndex
from mbcli.systems.leaf_system import LeafContext
from mbcli.systems.ports import InputPort, OutputPort, PortDataType
from mbcli.systems.system import System
from mbcli.systems.vectors import ContinuousState, Parameters, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mbcli.systems.vectors import DiscreteValues


class DiagramContext(TreeContext):
    """The contexts of all systems of a diagram.

    Attributes:
        system: the diagram that made it.
        contexts: {system: context} of its parts.
    """

    __slots__ = ("contexts",)

    def __init__(self, diagram: Diagram, tree: Tree) -> None:
        super().__init__(diagram, tree)
        self.contexts: dict[Any, Any] = {}
        for system in diagram.GetSystems():
            context = system.make_context(tree)
            if isinstance(context, PlantContext):
                tree.plants.append(context)
            self.contexts[system] = context

    def __getattr__(self, name: str) -> Any:
        if name in ("state", "last_step"):  # what plants and their elements work with
            raise RuntimeError(
                "a plant was given the root context of a diagram: call plant.GetMyContextFromRoot(context) first"
            )
        raise AttributeError(f"'DiagramContext' object has no attribute '{name}'")

    def text(self, path: str) -> str:
        """What the contexts of its systems hold. path: the name of the diagram after those it is part of."""
        return text_of_diagram(self, path, ((s.get_name() or "_", c) for s, c in self.contexts.items()))

    def find(self, system: Any) -> Any:
        """The context of a system in this diagram or one inside of it. RuntimeError if there is none."""
        found = self.find_maybe(system)
        if found is None:
            name = system.get_name() or type(system).__name__
            raise RuntimeError(f"system '{name}' has no part in the context of diagram '{self.system.GetSystemName()}'")
        return found

    def find_maybe(self, system: Any) -> Any:
        """The context of a system, None if it has none."""
        if system is self.system:
            return self
        if system in self.contexts:
            return self.contexts[system]
        parts = (
            context.find_maybe(system) for context in self.contexts.values() if isinstance(context, DiagramContext)
        )
        return next((found for found in parts if found is not None), None)

    def leaves(self) -> Iterator[tuple[Any, Any]]:
        """(system, context) of all parts that are not diagrams, in depth."""
        for system, context in self.contexts.items():
            if isinstance(context, DiagramContext):
                yield from context.leaves()
            else:
                yield system, context

    def _continuous(self) -> ContinuousState:
        parts = [context.get_continuous_state() for context in self.contexts.values()]
        return ContinuousState(joined([p.get_vector() for p in parts]), kinds="".join(p.kinds for p in parts))

    def _discrete(self) -> list[Any]:
        return [group for context in self.contexts.values() for group in context.get_discrete_state().get_data()]

    def _abstract(self) -> list[AbstractValue]:
        return [value for context in self.contexts.values() for value in context.get_abstract_state().get_data()]

    def _parameters(self) -> Parameters:
        all_of = [context.get_parameters() for context in self.contexts.values()]
        numeric = [group for p in all_of for group in p.get_numeric_parameters().get_data()]
        other = [p.get_abstract_parameters().get_value(k) for p in all_of for k in range(p.num_abstract_parameters())]
        return Parameters(numeric, other)

    def SetTimeStateAndParametersFrom(self, source: Any) -> None:
        """Takes them from a context of this diagram; see that of a plant's context."""
        self.system.check_context(source)
        self.take(source, with_inputs=False)

    def take(self, source: DiagramContext, with_inputs: bool) -> None:
        """Time, state and parameters of another context, and fixed inputs."""
        self.SetTime(source.get_time())
        for own, theirs in zip(self.contexts.values(), source.contexts.values(), strict=True):
            if isinstance(own, DiagramContext):
                own.take(theirs, with_inputs)
                continue
            fixed = own.inputs.fixed
            if isinstance(own, LeafContext):
                own.take_all(theirs)
            else:
                own.SetTimeStateAndParametersFrom(theirs)
            own.inputs.take(theirs.inputs.fixed if with_inputs else fixed)

    def Clone(self) -> DiagramContext:
        """An independent copy, connected in itself."""
        other = self.system.CreateDefaultContext()
        other.take(self, with_inputs=True)
        return other


class ConnectedSystems:
    """What a diagram and its builder tell of their systems and connections."""

    _systems: list[Any]
    _connections: list[tuple[Any, Any]]  # an output port and the input port that has its value

    def GetSystems(self) -> list[Any]:
        """The systems, in the order in which they were added."""
        return list(self._systems)

    def HasSubsystemNamed(self, name: str) -> bool:
        """Whether a system has that name."""
        return any(system.get_name() == name for system in self._systems)

    def GetSubsystemByName(self, name: str) -> Any:
        """The system of that name.

        Args:
          name: as AddNamedSystem() gave it.

        Returns:
          The system.

        Raises:
          RuntimeError: there is none; the message lists the names.

        Example:
          >>> source = builder.AddNamedSystem("aim", ConstantVectorSource([1.0]))
          >>> builder.Build().GetSubsystemByName("aim") is source
          True
        """
        for system in self._systems:
            if system.get_name() == name:
                return system
        names = ", ".join(system.get_name() for system in self._systems)
        raise RuntimeError(f"the diagram has no system named '{name}'; there are {names}")

    def connection_map(self) -> dict[Any, Any]:
        """{(system, index of its input): (system, index of its output)}"""
        return {
            (to.get_system(), to.get_index()): (source.get_system(), source.get_index())
            for source, to in self._connections
        }

    def _sources(self) -> dict[tuple[int, str], Any]:
        """{(id of a system, name of its input): the output port that it has its value from}"""
        return {(id(to.get_system()), to.get_name()): source for source, to in self._connections}


class Diagram(ConnectedSystems, System):
    """Connected systems, among which there may be other diagrams; made by DiagramBuilder.Build().

    A class derived from it calls builder.BuildInto(self) in its __init__.
    """

    def __init__(self) -> None:
        self._systems, self._connections = [], []
        self._inputs: list[ExportedInputPort] = []
        self._outputs: list[ExportedOutputPort] = []

    def take_parts(self, systems: list[Any], connections: Any, inputs: Any, outputs: Any) -> None:
        """Becomes the diagram of a builder: exported ports are pairs of a name and the port; inputs may be several."""
        self._systems, self._connections = list(systems), list(connections)
        self._inputs = [
            ExportedInputPort(self, ports, name, InputPortIndex(index)) for index, (name, ports) in enumerate(inputs)
        ]
        self._outputs = [
            ExportedOutputPort(self, port, name, OutputPortIndex(index)) for index, (name, port) in enumerate(outputs)
        ]

    def exported_inputs_reaching(self, output: OutputPort) -> list[str]:
        """The names of the diagram's input ports that an output of one of its systems follows from at once."""
        sources = self._sources()
        exported = {
            (id(port.get_system()), port.get_name()): own.get_name() for own in self._inputs for port in own.ports
        }
        found: set[str] = set()
        waiting, seen = [output], set()
        while waiting:
            port = waiting.pop()
            if id(port) in seen:
                continue
            seen.add(id(port))
            for name in inputs_reaching(port):
                key = (id(port.get_system()), name)
                if key in exported:
                    found.add(exported[key])
                elif key in sources:
                    waiting.append(sources[key])
        return sorted(found)

    def input_ports(self) -> list[Any]:
        """All input ports, by index."""
        return self._inputs

    def output_ports(self) -> list[Any]:
        """All output ports, by index."""
        return self._outputs

    def GetInputPortLocators(self, port_index: int) -> list[tuple[Any, Any]]:
        """(system, index of its input) of all that one of the diagram's input ports is connected to."""
        return [(port.get_system(), port.get_index()) for port in self._inputs[port_index].ports]

    def get_output_port_locator(self, port_index: int) -> tuple[Any, Any]:
        """(system, index of its output) of what one of the diagram's output ports gives."""
        port = self._outputs[port_index].inner
        return port.get_system(), port.get_index()

    def connections(self) -> list[tuple[Any, Any]]:
        """Pairs of an output port and the input port that has its value."""
        return list(self._connections)

    def AreConnected(self, output: OutputPort, input: InputPort) -> bool:
        """Whether an input port has the value of an output port."""
        return any(output is source and input is to for source, to in self._connections)

    def Clone(self) -> Diagram:
        """An independent diagram of the same parts. RuntimeError if one of them cannot be cloned."""
        return self._of_copies(lambda system: system.Clone())

    def _converted(self, scalar: str) -> Diagram:
        return self._of_copies(lambda system: system.ToScalarType[scalar]())

    def _of_copies(self, copy_of: Callable[[Any], Any]) -> Diagram:
        """A Diagram of copies of the systems, connected as they are."""
        copies: dict[int, Any] = {}
        for system in sorted(self._systems, key=lambda system: not hasattr(system, "scene_graph")):
            if id(system) in copies:  # the scene graph of a plant, which has copied it
                continue
            other = copies[id(system)] = copy_of(system)
            other.set_name(system.get_name())
            if getattr(system, "scene_graph", None) is not None:
                copies[id(system.scene_graph)] = other.scene_graph

        def output(port: OutputPort) -> Any:
            return copies[id(port.get_system())].output_ports()[port.get_index()]

        def input(port: InputPort) -> Any:
            return copies[id(port.get_system())].input_ports()[port.get_index()]

        diagram = Diagram()
        diagram.set_name(self.get_name())
        diagram.take_parts(
            [copies[id(system)] for system in self._systems],
            [(output(source), input(to)) for source, to in self._connections],
            [(port.get_name(), [input(inner) for inner in port.ports]) for port in self._inputs],
            [(port.get_name(), output(port.inner)) for port in self._outputs],
        )
        return diagram

    def CreateDefaultContext(self) -> DiagramContext:
        """A context with those of all systems, connected."""
        return self.make_context(Tree())

    def make_context(self, tree: Tree) -> DiagramContext:
        """A context below a root."""
        own = DiagramContext(self, tree)
        for output, port in self._connections:
            source, target = own.contexts[output.get_system()], own.contexts[port.get_system()]
            for inner, context in inner_inputs(port, target):
                inner.connect(context, _follower(output, source, context, tree))
        return own

    def GetSubsystemContext(self, subsystem: object, context: Any) -> Any:
        """The part of a context of this diagram that belongs to a system.

        Args:
          subsystem: of this diagram, or of a diagram in it.
          context: of this diagram.

        Returns:
          The Context of the system.

        Raises:
          RuntimeError: the context is another system's, or has no such part.

        Example:
          >>> source = builder.AddSystem(ConstantVectorSource([1.0]))
          >>> diagram = builder.Build()
          >>> diagram.GetSubsystemContext(source, diagram.CreateDefaultContext()).get_numeric_parameter(0).value()
          array([1.])
        """
        self.check_context(context)
        return context.find(subsystem)

    GetMutableSubsystemContext = GetSubsystemContext

    def GetMutableSubsystemState(self, subsystem: object, context: Any) -> Any:
        """The State of a system in a context of this diagram, to be changed."""
        return self.GetSubsystemContext(subsystem, context).get_mutable_state()

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        if not isinstance(context, DiagramContext) or context.system is not self:
            raise RuntimeError("the context was not made by this Diagram")

    def CalcTimeDerivatives(self, context: Any, derivatives: ContinuousState) -> None:
        """Sets the derivatives of the continuous state, those of one system after those of another."""
        self.check_context(context)
        parts = [
            system.EvalTimeDerivatives(own).CopyToVector()
            for system, own in context.leaves()
            if own.num_continuous_states()
        ]
        derivatives.SetFromVector([x for part in parts for x in part])

    def ForcedPublish(self, context: Any) -> None:
        """Calls what systems publish when it is asked for.

        Args:
          context: of this diagram.

        Raises:
          RuntimeError: the context is another system's.

        Example:
          >>> source = builder.AddSystem(ConstantVectorSource([1.0]))
          >>> sink = LogVectorOutput(source.get_output_port(), builder, {TriggerType.kForced})
          >>> diagram = builder.Build(); root = diagram.CreateDefaultContext(); diagram.ForcedPublish(root)
          >>> sink.FindLog(root).data()
          array([[1.]])
        """
        self.check_context(context)
        for system, own in context.contexts.items():
            system.ForcedPublish(own)

    def run_forced(self, kind: str, context: Any) -> None:
        """Does the forced updates of a kind of all systems below, from the state before them; plants take a step."""
        pending = []
        for system, own in context.leaves():
            if hasattr(system, "run_events"):
                target = own.get_discrete_state().Clone() if kind == DISCRETE else own.get_state().Clone()
                if system.run_events(kind, TriggerType.kForced, own, target):
                    pending.append((own, target))
        if kind == DISCRETE:
            for system, own in context.leaves():
                if isinstance(own, PlantContext):
                    system.ExecuteForcedEvents(own)
        for own, target in pending:
            (own.get_mutable_discrete_state() if kind == DISCRETE else own.get_mutable_state()).SetFrom(target)

    def ExecuteForcedEvents(self, context: Any, publish: bool = True) -> None:
        """Does all forced events; discrete plants take a step, the time stays."""
        self.check_context(context)
        self.run_forced(UNRESTRICTED, context)
        self.run_forced(DISCRETE, context)
        if publish:
            self.ForcedPublish(context)

    def CalcForcedDiscreteVariableUpdate(self, context: Any, discrete_state: DiscreteValues) -> None:
        """Sets what forced updates make of the discrete state of a context, which stays."""
        other = context.Clone()
        self.run_forced(DISCRETE, other)
        discrete_state.SetFrom(other.get_discrete_state())


def inputs_reaching(output: OutputPort) -> list[str]:
    """The names of the input ports of its system that an output follows from at once."""
    names = output.follows
    return [port.get_name() for port in output.get_system().input_ports()] if names is None else list(names)


def _follower(output: OutputPort, source: Any, target: Any, tree: Tree) -> Callable[[Any], Any]:
    """What an input port takes its value from; a plant that runs ahead brings the others along."""
    evaluate = output.evaluator()
    if type(target) is not PlantContext:
        return lambda context: evaluate(source)

    def value(context: Any) -> Any:
        if type(context) is PlantContext and tree.time != context.state.time:
            tree.time = context.state.time
            tree.note_change()
        return evaluate(source)

    return value


def inner_inputs(port: Any, context: Any) -> list[tuple[Any, Any]]:
    """The ports of leaf systems behind a port, with their contexts."""
    if not isinstance(port, ExportedInputPort):
        return [(port, context)]
    found = []
    for inner in port.ports:
        found += inner_inputs(inner, context.contexts[inner.get_system()])
    return found


class ExportedInputPort(InputPort):
    """A port of a diagram that is one of its systems', or several of them."""

    def __init__(self, diagram: Diagram, ports: list[Any], name: str, index: Any) -> None:
        first = ports[0]
        is_vector = first.get_data_type() is PortDataType.kVectorValued
        super().__init__(diagram, name, index, first.size() if is_vector else None)
        self.ports, self.inner = ports, first

    def _inner(self, context: Any) -> list[tuple[Any, Any]]:
        self._system.check_context(context)
        return inner_inputs(self, context)

    def FixValue(self, context: Any, value: Any) -> None:
        for port, inner in self._inner(context):
            port.FixValue(inner, value)

    def Follow(self, context: Any, source: Any) -> None:
        for port, inner in self._inner(context):
            port.Follow(inner, lambda _: source(context))

    def HasValue(self, context: Any) -> bool:
        port, inner = self._inner(context)[0]
        return port.HasValue(inner)

    def Eval(self, context: Any) -> Any:
        port, inner = self._inner(context)[0]
        return port.Eval(inner)


class ExportedOutputPort(OutputPort):
    """A port of a diagram that is one of its systems'."""

    def __init__(self, diagram: Diagram, port: Any, name: str, index: Any) -> None:
        self.inner = port
        is_vector = port.get_data_type() is PortDataType.kVectorValued
        size = port.size() if is_vector else None
        super().__init__(diagram, name, self._value, index, size, diagram.exported_inputs_reaching(port))
        self.allocator = port.allocator

    def _value(self, context: Any) -> Any:
        self._system.check_context(context)
        return self.inner.Eval(context.contexts[self.inner.get_system()])
