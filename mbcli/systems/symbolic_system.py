"""SymbolicVectorSystem: a system whose dynamics and outputs are expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.systems.signals import STATE, Reproducible
from mbcli.systems.vectors import BasicVector

if TYPE_CHECKING:
    from collections.abc import Sequence


class SymbolicVectorSystem(Reproducible):
    """xdot, or with a time period the next x, and y as expressions of variables.

    Args:
        time: the variable that is the time.
        state, input, parameter: variables.
        dynamics: an expression for each state; output: for each element of the output.
    """

    def __init__(
        self,
        time: Any = None,
        state: Sequence[Any] = (),
        input: Sequence[Any] = (),
        parameter: Sequence[Any] = (),
        dynamics: Sequence[Any] = (),
        output: Sequence[Any] = (),
        time_period: float = 0.0,
    ) -> None:
        from mbcli.solvers.symbolic_parts import Form  # late: needs SymPy, an extra

        super().__init__()
        state, input, parameter = (np.ravel(np.asarray(x, dtype=object)).tolist() for x in (state, input, parameter))
        dynamics, output = (np.ravel(np.asarray(x, dtype=object)).tolist() for x in (dynamics, output))
        if len(dynamics) != len(state):
            raise RuntimeError(f"{len(state)} states have {len(dynamics)} expressions of their dynamics")
        self._dynamics, self._state, self._period = list(dynamics), list(state), float(time_period)
        variables = [*([] if time is None else [time]), *state, *input, *parameter]
        self._has_time = time is not None
        self._next = Form.of(dynamics, variables).values
        value = Form.of(output, variables).values
        if parameter:
            self.DeclareNumericParameter(BasicVector(len(parameter)))
        self._u = self.DeclareVectorInputPort("u0", len(input)) if input else None
        if state and self._period:
            self.DeclareDiscreteState(len(state))
            self.DeclarePeriodicDiscreteUpdateEvent(
                self._period, 0.0, lambda c, values: values.set_value(self._next(self._values(c)))
            )
        elif state:
            self.DeclareContinuousState(len(state))
        if output:
            used = {s for e in output for s in getattr(e, "free_symbols", ())}
            through = bool(used & set(input))
            self.DeclareVectorOutputPort(
                "y0",
                len(output),
                lambda c, out: out.SetFromVector(value(self._values(c, through))),
                None if through else STATE,
            )

    def _values(self, context: Any, input_acts: bool = True) -> list[Any]:
        values: list[Any] = [context.get_time()] if self._has_time else []
        if self._state:
            x = context.get_discrete_state_vector() if self._period else context.get_continuous_state_vector()
            values += list(x.CopyToVector())
        if self._u is not None:
            given = input_acts and self._u.HasValue(context)  # an input that does not act may depend on the output
            values += list(self._u.Eval(context)) if given else [0.0] * self._u.size()
        if self.declared.numeric:
            values += list(context.get_numeric_parameter(0).CopyToVector())
        return values

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """The expressions of the dynamics at a context."""
        if derivatives.size():
            derivatives.SetFromVector(self._next(self._values(context)))

    def dynamics_for_variable(self, var: Any) -> Any:
        """The expression of a state's dynamics. RuntimeError if the variable is none of them."""
        if var not in self._state:
            raise RuntimeError(f"{var} is not a state of this system")
        return self._dynamics[self._state.index(var)]


SymbolicVectorSystem_ = ScalarTemplate(SymbolicVectorSystem)
