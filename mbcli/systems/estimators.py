"""Observers of states, under the names of pydrake.systems.estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.scalar_template import ScalarTemplate
from mbcli.systems.linear_systems import Linearize, LinearSystem
from mbcli.systems.regulators import DiscreteTimeLinearQuadraticRegulator, LinearQuadraticRegulator
from mbcli.systems.signals import Reproducible

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray
    from mbcli.systems.ports import InputPort, OutputPort

__all__ = [
    "DiscreteTimeSteadyStateKalmanFilter",
    "LuenbergerObserver",
    "LuenbergerObserver_",
    "SteadyStateKalmanFilter",
]


class LuenbergerObserver(Reproducible):
    """x^' = f(x^, u) + L (y - g(x^, u)) of a system x' = f(x, u), y = g(x, u); in discrete time x^[n + 1] for x^'.

    Args:
        observed_system: of one output and at most one input; its state is continuous, or one discrete vector.
        observed_system_context: whose parameters count, and whose state is that at first.
        observer_gain: L (nx, ny).
    """

    def __init__(self, observed_system: Any, observed_system_context: Any, observer_gain: ArrayLike) -> None:
        super().__init__()
        self._system, self._there = observed_system, observed_system_context.Clone()
        self._output = observed_system.get_output_port()
        self._L = np.atleast_2d(np.array(observer_gain, dtype=float))
        discrete, period = observed_system.IsDifferenceEquationSystem()
        state = self._there.get_discrete_state_vector() if discrete else self._there.get_continuous_state_vector()
        if self._L.shape != (state.size(), self._output.size()):
            sizes = f"{state.size()} states and {self._output.size()} outputs"
            raise RuntimeError(f"LuenbergerObserver: the gain has shape {self._L.shape}, there are {sizes}")
        inputs = observed_system.get_input_port().size() if observed_system.num_input_ports() else 0
        self._u = self.DeclareVectorInputPort("observed_system_input", inputs)
        self._y = self.DeclareVectorInputPort("observed_system_output", self._output.size())
        initial = state.CopyToVector()
        index = self.DeclareDiscreteState(initial) if discrete else self.DeclareContinuousState(initial)
        self.DeclareStateOutputPort("estimated_state", index)
        if discrete:
            self.DeclarePeriodicDiscreteUpdateEvent(period, 0.0, self._update)

    def _difference(self, context: Any, estimate: FloatArray) -> FloatArray:
        """L (y - g), with the estimate and the input in the context of the system."""
        if self._u.size():
            self._system.get_input_port().FixValue(self._there, self._u.Eval(context))
        if self._there.num_continuous_states():
            self._there.SetContinuousState(estimate)
        else:
            self._there.SetDiscreteState(estimate)
        return self._L @ (self._y.Eval(context) - self._output.Eval(self._there))

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """That of the estimate."""
        off = self._difference(context, context.get_continuous_state_vector().CopyToVector())
        derivatives.SetFromVector(self._system.EvalTimeDerivatives(self._there).CopyToVector() + off)

    def _update(self, context: Any, values: Any) -> None:
        off = self._difference(context, context.get_discrete_state_vector().CopyToVector())
        values.set_value(self._system.EvalUniquePeriodicDiscreteUpdate(self._there).get_value() + off)

    def get_observed_system_input_input_port(self) -> InputPort:
        """u"""
        return self._u

    def get_observed_system_output_input_port(self) -> InputPort:
        """y"""
        return self._y

    def get_estimated_state_output_port(self) -> OutputPort:
        """The estimate."""
        return self.get_output_port()

    def observer_gain(self) -> FloatArray:
        """L (nx, ny)"""
        return self._L.copy()

    L = observer_gain


LuenbergerObserver_ = ScalarTemplate(LuenbergerObserver)


def DiscreteTimeSteadyStateKalmanFilter(A: ArrayLike, C: ArrayLike, W: ArrayLike, V: ArrayLike) -> FloatArray:
    """As SteadyStateKalmanFilter(A, C, W, V), of x[n + 1] = A x[n] + w and x^[n + 1] = A x^[n] + L (y[n] - C x^[n])."""
    return DiscreteTimeLinearQuadraticRegulator(np.transpose(A), np.transpose(C), W, V)[0].T


def SteadyStateKalmanFilter(*given: Any, **named: Any) -> Any:
    """The gain L (nx, ny) of x^' = A x^ + L (y - C x^), or a LuenbergerObserver with it.

    SteadyStateKalmanFilter(A, C, W, V) gives the gain for covariances W (nx, nx) of noise of x' = A x and V (ny, ny) of
    y = C x, by the dual regulator. SteadyStateKalmanFilter(system, W, V) gives the observer of a LinearSystem,
    SteadyStateKalmanFilter(system, context, W, V) that of a system linearized at a context. RuntimeError for
    covariances that are not symmetric, W that is negative or V that is not positive.
    """
    matrices = "A" in named or (bool(given) and not hasattr(given[0], "CreateDefaultContext"))
    linear = "context" not in named and len(given) + len(named) == 3
    keys = ("A", "C", "W", "V") if matrices else ("system", "W", "V") if linear else ("system", "context", "W", "V")
    values = dict(zip(keys, given, strict=False)) | named
    W, V = values["W"], values["V"]
    if matrices:
        return LinearQuadraticRegulator(np.transpose(values["A"]), np.transpose(values["C"]), W, V)[0].T
    system = values["system"]
    context = system.CreateDefaultContext() if linear else values["context"]
    model = system if isinstance(system, LinearSystem) else Linearize(system, context)
    gain = DiscreteTimeSteadyStateKalmanFilter if model.time_period() > 0.0 else SteadyStateKalmanFilter
    return LuenbergerObserver(system, context, gain(model.A(), model.C(), W, V))
