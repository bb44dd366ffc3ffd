"""VectorSystem: a system of a user's own with one vector in and one out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.systems.leaf_system import LeafSystem

if TYPE_CHECKING:
    from mbcli.math.array_types import Array
    from mbcli.systems.vectors import BasicVector, ContinuousState


class VectorSystem(LeafSystem):
    """A system with one input vector and one output vector; a class derived from it has DoCalcVectorOutput(context,
    u, x, y) and, with state, DoCalcVectorTimeDerivatives or DoCalcVectorDiscreteVariableUpdates(context, u, x, new).
    """

    def __init__(self, input_size: int, output_size: int, direct_feedthrough: bool | None = None) -> None:
        super().__init__()
        if input_size:
            self.DeclareVectorInputPort("u0", input_size)
        through = direct_feedthrough is not False and input_size > 0
        if output_size:
            tickets = None if through else [self.all_state_ticket()]
            self.DeclareVectorOutputPort("y0", output_size, self._output, tickets)

    def _given(self, context: Any) -> tuple[Array, Array]:
        port = self.input_ports()
        u = port[0].Eval(context) if port and port[0].HasValue(context) else np.zeros(0)
        groups = context.get_discrete_state().get_data()
        x = groups[0] if groups else context.get_continuous_state_vector()
        return u, x.CopyToVector()

    def _output(self, context: Any, output: BasicVector) -> None:
        self.DoCalcVectorOutput(context, *self._given(context), output.get_mutable_value())

    def DoCalcVectorOutput(self, context: Any, u: Array, x: Array, y: Array) -> None:
        """Sets the output y."""

    def DoCalcVectorTimeDerivatives(self, context: Any, u: Array, x: Array, derivatives: Array) -> None:
        """Sets the derivatives of the continuous state."""

    def DoCalcTimeDerivatives(self, context: Any, derivatives: ContinuousState) -> None:
        """Sets the derivatives of the continuous state."""
        values = np.zeros(derivatives.size())
        self.DoCalcVectorTimeDerivatives(context, *self._given(context), values)
        derivatives.SetFromVector(values)
