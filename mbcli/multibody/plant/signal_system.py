"""Stateless systems with ports beside a plant: the common parts of Propeller and Wing."""

from __future__ import annotations

from typing import Any

from mbcli.multibody.plant.ports import InputPort, InputValues, OutputPort, port_at, port_named


class SignalContext:
    """The values of the input ports of a system."""

    def __init__(self, system):
        self.system, self.inputs = system, InputValues()


class SignalSystem:
    """A system whose outputs follow from its inputs.

    Args:
        inputs: {name: number of elements, or None for objects}
        outputs: {name: function of a context}
    """

    def __init__(self, inputs, outputs):
        self._input_ports = [InputPort(self, name, k, size) for k, (name, size) in enumerate(inputs.items())]
        self._output_ports = [
            OutputPort(self, name, self._checked(evaluate), k) for k, (name, evaluate) in enumerate(outputs.items())
        ]

    def CreateDefaultContext(self) -> SignalContext:
        """A context without values of the inputs."""
        return SignalContext(self)

    def num_input_ports(self) -> int:
        """The number of input ports."""
        return len(self._input_ports)

    def get_input_port(self, port_index: int) -> InputPort:
        """The input port with an index. RuntimeError if there is none."""
        return port_at(self._input_ports, port_index, "input")

    def GetInputPort(self, port_name: str) -> InputPort:
        """The input port of that name. RuntimeError if there is none."""
        return port_named(self._input_ports, port_name, "input")

    def num_output_ports(self) -> int:
        """The number of output ports."""
        return len(self._output_ports)

    def get_output_port(self, port_index: int = 0) -> OutputPort:
        """The output port with an index. RuntimeError if there is none."""
        return port_at(self._output_ports, port_index, "output")

    def GetOutputPort(self, port_name: str) -> OutputPort:
        """The output port of that name. RuntimeError if there is none."""
        return port_named(self._output_ports, port_name, "output")

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        if not isinstance(context, SignalContext) or context.system is not self:
            raise RuntimeError(f"the context was not made by this {type(self).__name__}")

    def _checked(self, evaluate):
        def checked(context):
            self.check_context(context)
            return evaluate(context)

        return checked

    def _required(self, context, name):
        return self.GetInputPort(name).Eval(context)
