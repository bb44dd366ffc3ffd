"""DiagramBuilder: collects systems and connections."""

from __future__ import annotations

from typing import Any

from mbcli.other_names import also_named
from mbcli.systems.diagram import ConnectedSystems, Diagram, inputs_reaching
from mbcli.systems.ports import InputPort, OutputPort
from mbcli.systems.system import System


class DiagramBuilder(ConnectedSystems):
    """Collects systems and connections, and makes a Diagram of them."""

    def __init__(self) -> None:
        self._systems, self._connections = [], []
        self._exported_inputs: list[tuple[str, list[Any]]] = []
        self._exported_outputs: list[tuple[str, Any]] = []
        self._built = False

    def AddSystem(self, system: Any) -> Any:
        """Adds a system; returns it.

        Args:
          system: that is in no other diagram; without a name it gets one.

        Returns:
          The system.

        Raises:
          TypeError: it is none.
          RuntimeError: it is part of the diagram already, or the diagram is built.

        Example:
          >>> builder.AddSystem(ConstantVectorSource([1.0, 2.0])).get_output_port().size()
          2
        """
        self._require_not_built("AddSystem")
        if not isinstance(system, System):
            raise TypeError(f"AddSystem takes a System, not {system!r}")
        if any(system is other for other in self._systems):
            raise RuntimeError(f"AddSystem: {system.get_name()} is part of this diagram already")
        if not system.get_name():
            system.set_name(f"{type(system).__module__.split('.')[-1]}/{type(system).__name__}@{id(system):016x}")
        self._systems.append(system)
        return system

    def AddNamedSystem(self, name: str, system: Any) -> Any:
        """Adds a system under a name; returns it.

        Args:
          name: that no other system of the diagram has.
          system: that is in no other diagram.

        Returns:
          The system.

        Raises:
          TypeError: it is none.
          RuntimeError: it is part of the diagram already, or the diagram is built.

        Example:
          >>> builder.AddNamedSystem("aim", ConstantVectorSource([1.0])).get_name()
          'aim'
        """
        if isinstance(system, System):
            system.set_name(name)
        return self.AddSystem(system)

    def RemoveSystem(self, system: Any) -> None:
        """Takes a system away, with its connections and exported ports."""
        self._require_not_built("RemoveSystem")
        if not any(system is other for other in self._systems):
            raise RuntimeError(f"RemoveSystem: {system.get_name()} is not part of this diagram")
        self._systems = [other for other in self._systems if other is not system]
        self._connections = [
            (a, b) for a, b in self._connections if a.get_system() is not system and b.get_system() is not system
        ]
        kept = ((name, [p for p in ports if p.get_system() is not system]) for name, ports in self._exported_inputs)
        self._exported_inputs = [(name, ports) for name, ports in kept if ports]
        self._exported_outputs = [(n, port) for n, port in self._exported_outputs if port.get_system() is not system]

    def empty(self) -> bool:
        """Whether there is no system."""
        return not self._systems

    def already_built(self) -> bool:
        """Whether the diagram is built."""
        return self._built

    GetMutableSystems = ConnectedSystems.GetSystems
    GetMutableSubsystemByName = ConnectedSystems.GetSubsystemByName

    def num_input_ports(self) -> int:
        """The number of exported input ports."""
        return len(self._exported_inputs)

    def num_output_ports(self) -> int:
        """The number of exported output ports."""
        return len(self._exported_outputs)

    def Cascade(self, src: Any, dest: Any) -> None:
        """Connects the only output port of a system to the only input port of another."""
        self.Connect(src.get_output_port(), dest.get_input_port())

    def Connect(self, output: Any, input: Any) -> None:
        """Lets an input port have the value of an output port.

        Args:
          output: of a system of this diagram.
          input: of a system of this diagram, not connected yet, of the same size and kind.

        Raises:
          TypeError: not two ports.
          RuntimeError: it is connected already, or the ports do not fit.

        Example:
          >>> source, gain = builder.AddSystem(ConstantVectorSource([1.5])), builder.AddSystem(Gain(2.0, 1))
          >>> builder.Connect(source.get_output_port(), gain.get_input_port())
          >>> diagram = builder.Build()
          >>> gain.get_output_port().Eval(gain.GetMyContextFromRoot(diagram.CreateDefaultContext()))
          array([3.])
        """
        self._require_not_built("Connect")
        if not isinstance(output, OutputPort) or not isinstance(input, InputPort):
            raise TypeError(f"Connect takes an output port and an input port, not {output!r} and {input!r}")
        for port in (output, input):
            self._require_part(port, "Connect")
        kinds = [port.get_data_type().name for port in (output, input)]
        if kinds[0] != kinds[1]:
            raise RuntimeError(
                f"Connect: output '{output.get_name()}' is {kinds[0]}, input '{input.get_name()}' is {kinds[1]}"
            )
        if output.size() != input.size():
            raise RuntimeError(
                f"Connect: output '{output.get_name()}' has {output.size()} elements, "
                f"input '{input.get_name()}' has {input.size()}"
            )
        self._require_free(input, "Connect")
        self._connections.append((output, input))

    def ConnectToSame(self, exemplar: InputPort, dest: InputPort) -> None:
        """Lets an input port have what another one has: the same output, or the same exported input."""
        for output, port in self._connections:
            if _same(port, exemplar):
                return self.Connect(output, dest)
        for name, ports in self._exported_inputs:
            if any(_same(port, exemplar) for port in ports):
                return self.ConnectInput(name, dest)
        raise RuntimeError(f"ConnectToSame: input '{exemplar.get_name()}' is neither connected nor exported")

    def Disconnect(self, source: Any, dest: Any) -> None:
        """Takes a connection away. RuntimeError if there is none."""
        kept = [(a, b) for a, b in self._connections if not (a is source and _same(b, dest))]
        if len(kept) == len(self._connections):
            raise RuntimeError(f"Disconnect: '{source.get_name()}' and '{dest.get_name()}' are not connected")
        self._connections = kept

    def IsConnectedOrExported(self, port: InputPort) -> bool:
        """Whether an input port has a source."""
        exported = any(_same(port, other) for _, ports in self._exported_inputs for other in ports)
        return exported or any(_same(port, other) for _, other in self._connections)

    def ExportInput(self, input: InputPort, name: Any = None) -> int:
        """Makes an input port of a system one of the diagram.

        Args:
          input: of a system of this diagram, not connected.
          name: of the port of the diagram; default: from both names.

        Returns:
          Its index.

        Raises:
          RuntimeError: the port is of no system of the diagram or connected, or the name is taken.

        Example:
          >>> int(builder.ExportInput(builder.AddSystem(Gain(2.0, 1)).get_input_port(), "command"))
          0
        """
        self._require_port(input, InputPort, "ExportInput")
        self._require_free(input, "ExportInput")
        return self._export(self._exported_inputs, input, [input], name, "ExportInput")

    @also_named(diagram_port_name="diagram_port", diagram_port_index="diagram_port")
    def ConnectInput(self, diagram_port: Any, input: InputPort) -> None:
        """Lets another input port have the value of an exported one, by its name or index."""
        self._require_port(input, InputPort, "ConnectInput")
        self._require_free(input, "ConnectInput")
        names = [name for name, _ in self._exported_inputs]
        if isinstance(diagram_port, str):
            if diagram_port not in names:
                raise RuntimeError(f"ConnectInput: no exported input is named '{diagram_port}'; there are {names}")
            diagram_port = names.index(diagram_port)
        self._exported_inputs[int(diagram_port)][1].append(input)

    def ExportOutput(self, output: OutputPort, name: Any = None) -> int:
        """Makes an output port of a system one of the diagram.

        Args:
          output: of a system of this diagram.
          name: of the port of the diagram; default: from both names.

        Returns:
          Its index.

        Raises:
          RuntimeError: the port is of no system of the diagram, or the name is taken.

        Example:
          >>> index = builder.ExportOutput(builder.AddSystem(ConstantVectorSource([1.5])).get_output_port(), "aim")
          >>> diagram = builder.Build()
          >>> diagram.GetOutputPort("aim").Eval(diagram.CreateDefaultContext())
          array([1.5])
        """
        self._require_port(output, OutputPort, "ExportOutput")
        return self._export(self._exported_outputs, output, output, name, "ExportOutput")

    def _export(self, exported: Any, port: Any, value: Any, name: Any, method: str) -> int:
        self._require_not_built(method)
        name = name if isinstance(name, str) and name else f"{port.get_system().get_name()}_{port.get_name()}"
        if any(name == other for other, _ in exported):
            raise RuntimeError(f"{method}: the diagram has a port named '{name}' already")
        exported.append((name, value))
        return len(exported) - 1

    def Build(self) -> Diagram:
        """The Diagram; the builder is done then.

        Returns:
          The Diagram, a System of its own.

        Raises:
          RuntimeError: there is no system, two have one name, or there is an algebraic loop; the second time.

        Example:
          >>> source = builder.AddSystem(ConstantVectorSource([1.5]))
          >>> builder.Build().HasSubsystemNamed(source.get_name())
          True
        """
        diagram = Diagram()
        self.BuildInto(diagram)
        return diagram

    def BuildInto(self, target: Diagram) -> None:
        """Makes a Diagram of a user's class of the systems and connections."""
        self._require_not_built("Build")
        if not self._systems:
            raise RuntimeError("Build: the diagram has no systems")
        names = [system.get_name() for system in self._systems]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise RuntimeError(f"Build: several systems are named '{twice}'")
        for system in self._systems:
            system.output_ports()  # RuntimeError of a plant before its Finalize()
        self._require_no_loop()
        self._built = True
        target.take_parts(self._systems, self._connections, self._exported_inputs, self._exported_outputs)

    def _require_no_loop(self) -> None:
        """RuntimeError that names the ports of an algebraic loop."""
        sources = self._sources()
        open_ports: list[Any] = []
        done: set[int] = set()

        def visit(output: Any) -> None:
            key = id(output)
            if key in done:
                return
            if any(output is port for port in open_ports):
                names = [f"{p.get_system().get_name()}.{p.get_name()}" for p in [*open_ports, output]]
                raise RuntimeError(f"Build: an algebraic loop: {' from '.join(reversed(names))}")
            open_ports.append(output)
            system = output.get_system()
            for name in inputs_reaching(output):
                source = sources.get((id(system), name))
                if source is not None:
                    visit(source)
            open_ports.pop()
            done.add(key)

        for output, _ in self._connections:
            visit(output)

    def _require_port(self, port: Any, kind: type, method: str) -> None:
        if not isinstance(port, kind):
            raise TypeError(f"{method} takes an {kind.__name__}, not {port!r}")
        self._require_part(port, method)

    def _require_free(self, port: Any, method: str) -> None:
        if any(_same(port, other) for _, other in self._connections):
            raise RuntimeError(f"{method}: input '{port.get_name()}' is connected already")
        if any(_same(port, other) for _, ports in self._exported_inputs for other in ports):
            raise RuntimeError(f"{method}: input '{port.get_name()}' is exported already")

    def _require_not_built(self, method: str) -> None:
        if self._built:
            raise RuntimeError(f"{method}: the diagram is built, take a new DiagramBuilder")

    def _require_part(self, port: Any, method: str) -> None:
        if not any(port.get_system() is system for system in self._systems):
            raise RuntimeError(f"{method}: the system of port '{port.get_name()}' is not part of this diagram")


def _same(port: Any, other: Any) -> bool:
    return port.get_system() is other.get_system() and port.get_name() == other.get_name()
