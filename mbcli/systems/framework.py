"""Diagrams of one plant and the systems beside it, under the names of pydrake.systems.framework.

No general framework of systems: a diagram holds one MultibodyPlant, and systems without a state whose outputs follow
from their inputs, as Propeller. Connections are functions that a context's input ports call.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from mbcli.geometry.scene_graph import SceneGraph
from mbcli.multibody.plant.ports import InputPort, OutputPort, port_at, port_named
from mbcli.multibody.tree.index import DiscreteStateIndex

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.multibody.plant.context import StateVector
    from mbcli.multibody.plant.multibody_plant import MultibodyPlant

__all__ = [
    "Diagram",
    "DiagramBuilder",
    "DiagramContext",
    "DiscreteStateIndex",
    "EventStatus",
    "InputPort",
    "OutputPort",
    "SceneGraph",
]


class EventStatus:
    """The report of a monitor on a simulation; made by its static methods."""

    class Severity(Enum):
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

    def severity(self) -> EventStatus.Severity:
        """How it went: a simulation ends from kReachedTermination upwards."""
        return self._severity

    def system(self) -> Any:
        """The system that reports the status, None if it was not given."""
        return self._system

    def message(self) -> str:
        """The reason for the end or failure, "" otherwise."""
        return self._message


class DiagramBuilder:
    """Collects one plant, systems beside it and connections, and makes a Diagram of them."""

    def __init__(self) -> None:
        self._systems: list[Any] = []
        self._connections: list[tuple[OutputPort, InputPort]] = []
        self._exported_inputs: list[Any] = []
        self._exported_outputs: list[Any] = []
        self._built = False

    def AddSystem(self, system: Any) -> Any:
        """Adds a system; returns it. RuntimeError for a second plant."""
        self._require_not_built("AddSystem")
        if any(system is other for other in self._systems):
            raise RuntimeError(f"AddSystem: {_name_of(system)} is part of this diagram already")
        if _is_plant(system) and any(_is_plant(other) for other in self._systems):
            raise RuntimeError("AddSystem: a diagram holds one plant, there is one already")
        self._systems.append(system)
        return system

    def AddNamedSystem(self, name: str, system: Any) -> Any:
        """Adds a system under a name; returns it."""
        self.AddSystem(system)
        if hasattr(system, "set_name"):
            system.set_name(name)
        return system

    def GetSystems(self) -> list[Any]:
        """The systems, in the order in which they were added."""
        return list(self._systems)

    def Connect(self, output: OutputPort, input: InputPort) -> None:
        """Lets an input port have the value of an output port. RuntimeError if it is connected already."""
        self._require_not_built("Connect")
        for port in (output, input):
            self._require_part(port, "Connect")
        if not isinstance(output, OutputPort) or not isinstance(input, InputPort):
            raise TypeError(f"Connect takes an output port and an input port, not {output!r} and {input!r}")
        if output.size() != input.size():
            raise RuntimeError(
                f"Connect: output '{output.get_name()}' has {output.size()} elements, "
                f"input '{input.get_name()}' has {input.size()}"
            )
        taken = [(i.get_system(), i.get_name()) for _, i in self._connections]
        if any(system is input.get_system() and name == input.get_name() for system, name in taken):
            raise RuntimeError(f"Connect: input '{input.get_name()}' is connected already")
        self._connections.append((output, input))

    def ExportInput(self, input: InputPort, name: str | None = None) -> int:
        """Makes an input port of the plant or another system one of the diagram; returns its index."""
        return self._export(self._exported_inputs, input, name, "ExportInput")

    def ExportOutput(self, output: OutputPort, name: str | None = None) -> int:
        """Makes an output port of a system one of the diagram; returns its index."""
        return self._export(self._exported_outputs, output, name, "ExportOutput")

    def _export(self, exported, port, name, method):
        self._require_not_built(method)
        self._require_part(port, method)
        name = name or f"{_name_of(port.get_system())}_{port.get_name()}"
        if any(name == other for other, _ in exported):
            raise RuntimeError(f"{method}: the diagram has a port named '{name}' already")
        exported.append((name, port))
        return len(exported) - 1

    def Build(self) -> Diagram:
        """The Diagram; the builder is empty afterwards. RuntimeError without a plant or before its Finalize()."""
        self._require_not_built("Build")
        plants = [system for system in self._systems if _is_plant(system)]
        if not plants:
            raise RuntimeError("Build: the diagram has no plant")
        plants[0].require_finalized("Build")
        self._built = True
        return Diagram(plants[0], self._systems, self._connections, self._exported_inputs, self._exported_outputs)

    def _require_not_built(self, method):
        if self._built:
            raise RuntimeError(f"{method}: the diagram is built, take a new DiagramBuilder")

    def _require_part(self, port, method):
        if not any(port.get_system() is system for system in self._systems):
            raise RuntimeError(f"{method}: the system of port '{port.get_name()}' is not part of this diagram")


class Diagram:
    """A plant, `plant_of_diagram`, with its connected systems; made by DiagramBuilder.Build()."""

    def __init__(self, plant: MultibodyPlant, systems: Any, connections: Any, inputs: Any, outputs: Any) -> None:
        self.plant_of_diagram, self._systems, self._connections = plant, systems, connections
        self._name = ""
        self._inputs = [ExportedInputPort(self, port, name, index) for index, (name, port) in enumerate(inputs)]
        self._outputs = [
            OutputPort(
                self,
                name,
                lambda root, port=port: port.Eval(self.GetSubsystemContext(port.get_system(), root)),  # type: ignore[misc]
                index,
                port.size() or None,
            )
            for index, (name, port) in enumerate(outputs)
        ]

    def get_name(self) -> str:
        """The name."""
        return self._name

    def set_name(self, name: str) -> None:
        """Replaces the name."""
        self._name = str(name)

    def GetSystems(self) -> list[Any]:
        """The systems, in the order in which they were added."""
        return list(self._systems)

    def HasSubsystemNamed(self, name: str) -> bool:
        """Whether a system has that name."""
        return any(_name_of(system) == name for system in self._systems)

    def GetSubsystemByName(self, name: str) -> Any:
        """The system of that name. RuntimeError if there is none."""
        for system in self._systems:
            if _name_of(system) == name:
                return system
        raise RuntimeError(f"the diagram has no system named '{name}'")

    def CreateDefaultContext(self) -> DiagramContext:
        """A context with those of all systems, connected."""
        root = DiagramContext(self)
        for output, port in self._connections:
            source = root.contexts[output.get_system()]
            port.Follow(root.contexts[port.get_system()], lambda _, output=output, source=source: output.Eval(source))
        return root

    def GetSubsystemContext(self, subsystem: object, context: DiagramContext) -> Any:
        """The part of a root context that belongs to a system."""
        self.check_context(context)
        if subsystem not in context.contexts:
            raise RuntimeError(f"{_name_of(subsystem)} has no context in this diagram")
        return context.contexts[subsystem]

    GetMutableSubsystemContext = GetSubsystemContext

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        if not isinstance(context, DiagramContext) or context.diagram is not self:
            raise RuntimeError("the context was not made by this Diagram")

    def num_input_ports(self) -> int:
        """The number of exported input ports."""
        return len(self._inputs)

    def num_output_ports(self) -> int:
        """The number of exported output ports."""
        return len(self._outputs)

    def get_input_port(self, port_index: int = 0) -> ExportedInputPort:
        """The exported input port with an index. RuntimeError if there is none."""
        return port_at(self._inputs, port_index, "input")

    def GetInputPort(self, port_name: str) -> ExportedInputPort:
        """The exported input port of that name. RuntimeError if there is none."""
        return port_named(self._inputs, port_name, "input")

    def get_output_port(self, port_index: int = 0) -> OutputPort:
        """The exported output port with an index. RuntimeError if there is none."""
        return port_at(self._outputs, port_index, "output")

    def GetOutputPort(self, port_name: str) -> OutputPort:
        """The exported output port of that name. RuntimeError if there is none."""
        return port_named(self._outputs, port_name, "output")

    def ExecuteForcedEvents(self, context: DiagramContext, publish: bool = True) -> None:
        """One update of a discrete plant; the time stays."""
        self.check_context(context)
        self.plant_of_diagram.ExecuteForcedEvents(context.of_plant)


class ExportedInputPort(InputPort):
    """A port of a diagram that is one of its systems'."""

    def __init__(self, diagram: Diagram, port: Any, name: str, index: int) -> None:
        super().__init__(diagram, name, index, port.size() or None)
        self._port = port

    def _context(self, root):
        return self._system.GetSubsystemContext(self._port.get_system(), root)

    def FixValue(self, context: DiagramContext, value: Any) -> None:
        self._port.FixValue(self._context(context), value)

    def Follow(self, context: DiagramContext, source: Any) -> None:
        self._port.Follow(self._context(context), lambda _: source(context))

    def HasValue(self, context: DiagramContext) -> bool:
        return self._port.HasValue(self._context(context))

    def Eval(self, context: DiagramContext) -> Any:
        return self._port.Eval(self._context(context))


class DiagramContext:
    """The contexts of all systems of a diagram; time and state are those of the plant.

    Attributes:
        diagram: that made it.
        contexts: {system: context}, of the systems that have one; of_plant: that of the plant.
    """

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.contexts = {
            system: system.CreateDefaultContext()
            for system in diagram.GetSystems()
            if hasattr(system, "CreateDefaultContext")
        }
        self.of_plant = self.contexts[diagram.plant_of_diagram]

    def get_time(self) -> float:
        """[s]"""
        return self.of_plant.get_time()

    def SetTime(self, time_sec: float) -> None:
        """Replaces the time [s]."""
        self.of_plant.SetTime(time_sec)

    def SetContinuousState(self, xc: ArrayLike) -> None:
        """Replaces the state [q; v] of a plant with time step 0."""
        self.of_plant.SetContinuousState(xc)

    def SetDiscreteState(self, xd: ArrayLike) -> None:
        """Replaces the state [q; v] of a discrete plant."""
        self.of_plant.SetDiscreteState(xd)

    def get_continuous_state_vector(self) -> StateVector:
        """[q; v] of a plant with time step 0; without elements if the plant is discrete."""
        return self.of_plant.get_continuous_state_vector()

    def get_discrete_state_vector(self) -> StateVector:
        """[q; v] of a discrete plant; without elements if the plant is continuous."""
        return self.of_plant.get_discrete_state_vector()

    def SetTimeStateAndParametersFrom(self, source: DiagramContext) -> None:
        """Takes them from a context of this diagram; see that of a plant's context."""
        self.diagram.check_context(source)
        self.of_plant.SetTimeStateAndParametersFrom(source.of_plant)

    def Clone(self) -> DiagramContext:
        """An independent copy, connected in itself."""
        other = self.diagram.CreateDefaultContext()
        for system, context in self.contexts.items():
            other.contexts[system].inputs.take(context.inputs.fixed)
        other.of_plant.SetTimeStateAndParametersFrom(self.of_plant)
        return other


def _is_plant(system):
    return hasattr(system, "GetMyContextFromRoot")


def _name_of(system):
    return system.get_name() if hasattr(system, "get_name") else type(system).__name__
