"""Stateless systems with ports beside a plant: the common parts of Propeller and Wing."""

from __future__ import annotations

from typing import Any

from mbcli.systems.contexts import StatelessContext, Tree
from mbcli.systems.ports import InputPort, OutputPort
from mbcli.systems.system import System


class SignalSystem(System):
    """A system whose outputs follow from its inputs.

    Args:
        inputs: {name: number of elements, or None for objects}
        outputs: {name: function of a context}
    """

    def __init__(self, inputs, outputs):
        self._inputs = [InputPort(self, name, k, size) for k, (name, size) in enumerate(inputs.items())]
        self._outputs = [
            OutputPort(self, name, self._checked(evaluate), k) for k, (name, evaluate) in enumerate(outputs.items())
        ]

    def input_ports(self) -> list[Any]:
        """All input ports, by index."""
        return self._inputs

    def output_ports(self) -> list[Any]:
        """All output ports, by index."""
        return self._outputs

    def CreateDefaultContext(self) -> StatelessContext:
        """A context without values of the inputs."""
        return self.make_context(Tree())

    def make_context(self, tree: Tree) -> StatelessContext:
        """A context below a root."""
        return StatelessContext(self, tree)

    def check_context(self, context: Any) -> None:
        """RuntimeError for a context that belongs elsewhere."""
        if not isinstance(context, StatelessContext) or context.system is not self:
            raise RuntimeError(f"the context was not made by this {type(self).__name__}")

    def _checked(self, evaluate):
        def checked(context):
            self.check_context(context)
            return evaluate(context)

        return checked

    def _required(self, context, name):
        return self.GetInputPort(name).Eval(context)
