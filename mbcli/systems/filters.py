"""Systems with a state of their own: integrators, holds, delays, filters and random sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.random_distributions import RandomDistribution
from mbcli.common.value import AbstractValue
from mbcli.math.scalar_template import ScalarTemplate
from mbcli.other_names import also_named
from mbcli.systems.signals import STATE, Reproducible

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray


class Integrator(Reproducible):
    """The integral of its input over time: Integrator(size), or Integrator(initial_value)."""

    def __init__(self, size: int | ArrayLike | None = None, *, initial_value: ArrayLike | None = None) -> None:
        super().__init__()
        given: Any = initial_value if size is None else size
        initial = np.zeros(given) if isinstance(given, (int, np.integer)) else np.asarray(given, dtype=float)
        self.DeclareContinuousState(initial)
        self._u = self.DeclareVectorInputPort("u0", initial.size)
        self.DeclareVectorOutputPort(
            "y0", initial.size, lambda c, out: out.SetFrom(c.get_continuous_state_vector()), STATE
        )

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """The input."""
        derivatives.SetFromVector(self._u.Eval(context))

    def set_integral_value(self, context: Any, value: ArrayLike) -> None:
        """Replaces the integral."""
        context.SetContinuousState(value)

    def set_default_integral_value(self, initial_value: ArrayLike) -> None:
        """That of new contexts."""
        self.declared.continuous.SetFromVector(initial_value)


class FirstOrderLowPassFilter(Reproducible):
    """z' = (u - z) / time constant, by elements."""

    def __init__(
        self,
        time_constant: float | ArrayLike | None = None,
        size: int = 1,
        *,
        time_constants: ArrayLike | None = None,
    ) -> None:
        super().__init__()
        given: Any = time_constants if time_constant is None else time_constant
        self._T = np.full(size, float(given)) if np.ndim(given) == 0 else np.asarray(given, dtype=float)
        if not (self._T > 0.0).all():
            raise RuntimeError(f"time constants must be positive, they are {self._T}")
        n = self._T.size
        self.DeclareContinuousState(n)
        self._u = self.DeclareVectorInputPort("u0", n)
        self.DeclareVectorOutputPort("y0", n, lambda c, out: out.SetFrom(c.get_continuous_state_vector()), STATE)

    def get_time_constant(self) -> float:
        """The one of all elements [s]. RuntimeError if they differ."""
        if not (self._T[0] == self._T).all():
            raise RuntimeError(f"the time constants differ: {self._T}")
        return float(self._T[0])

    def get_time_constants_vector(self) -> FloatArray:
        """(n,) [s]"""
        return self._T.copy()

    def set_initial_output_value(self, context: Any, z0: ArrayLike) -> None:
        """Replaces the output."""
        context.SetContinuousState(z0)

    def DoCalcTimeDerivatives(self, context: Any, derivatives: Any) -> None:
        """(u - z) / time constant"""
        z = context.get_continuous_state_vector().CopyToVector()
        derivatives.SetFromVector((self._u.Eval(context) - z) / self._T)


class ZeroOrderHold(Reproducible):
    """Keeps its input from one period to the next: a vector of a size, or an object like an AbstractValue's."""

    def __init__(
        self,
        period_sec: float,
        vector_size: int | AbstractValue | None = None,
        offset_sec: float = 0.0,
        *,
        abstract_model_value: AbstractValue | None = None,
    ) -> None:
        super().__init__()
        self._period, self._offset = float(period_sec), float(offset_sec)
        given: Any = abstract_model_value if vector_size is None else vector_size
        if isinstance(given, AbstractValue):
            u = self.DeclareAbstractInputPort("u", given)
            self.DeclareStateOutputPort("y", self.DeclareAbstractState(given))
            self.DeclarePeriodicUnrestrictedUpdateEvent(
                period_sec, offset_sec, lambda c, state: state.get_mutable_abstract_state(0).set_value(u.Eval(c))
            )
            return
        u = self.DeclareVectorInputPort("u", int(given))
        self.DeclareStateOutputPort("y", self.DeclareDiscreteState(int(given)))
        self.DeclarePeriodicDiscreteUpdateEvent(period_sec, offset_sec, lambda c, x: x.set_value(u.Eval(c)))

    def period(self) -> float:
        """[s]"""
        return self._period

    def offset(self) -> float:
        """[s] of the first one."""
        return self._offset

    def SetVectorState(self, context: Any, value: ArrayLike) -> None:
        """Replaces what it keeps."""
        context.SetDiscreteState(value)


class DiscreteTimeDelay(Reproducible):
    """Gives a vector, or an object like an AbstractValue's, as it was some updates ago."""

    def __init__(
        self, update_sec: float, delay_time_steps: int, vector_size: Any = None, *, abstract_model_value: Any = None
    ) -> None:
        super().__init__()
        model = vector_size if abstract_model_value is None else abstract_model_value
        if isinstance(model, AbstractValue):
            self._delay_objects(update_sec, int(delay_time_steps), model)
            return
        n = int(model)
        self.DeclareDiscreteState(n * (int(delay_time_steps) + 1))
        u = self.DeclareVectorInputPort("u", n)
        self.DeclareVectorOutputPort(
            "delayed_u", n, lambda c, out: out.SetFromVector(c.get_discrete_state_vector().CopyToVector()[:n]), STATE
        )

        def shift(context: Any, values: Any) -> None:
            before = context.get_discrete_state_vector().CopyToVector()
            values.set_value(np.concatenate([before[n:], u.Eval(context)]))

        self.DeclarePeriodicDiscreteUpdateEvent(update_sec, 0.0, shift)

    def _delay_objects(self, update_sec: float, steps: int, model: AbstractValue) -> None:
        self.DeclareAbstractState(AbstractValue.Make([model.get_value()] * (steps + 1)))
        u = self.DeclareAbstractInputPort("u", model)

        def give(context: Any, output: Any) -> None:
            output.set_value(context.get_abstract_state(0).get_value()[0])

        def shift(context: Any, state: Any) -> None:
            state.get_mutable_abstract_state(0).set_value(
                [*context.get_abstract_state(0).get_value()[1:], u.Eval(context)]
            )

        self.DeclareAbstractOutputPort("delayed_u", model.Clone, give, STATE)
        self.DeclarePeriodicUnrestrictedUpdateEvent(update_sec, 0.0, shift)


class DiscreteTimeIntegrator(Reproducible):
    """x[n + 1] = x[n] + h u[n]"""

    def __init__(self, size: int, time_step: float) -> None:
        super().__init__()
        self._h = float(time_step)
        u = self.DeclareVectorInputPort("u", size)
        self.DeclareStateOutputPort("y", self.DeclareDiscreteState(size))
        self.DeclarePeriodicDiscreteUpdateEvent(
            time_step, 0.0, lambda c, x: x.set_value(c.get_discrete_state_vector().CopyToVector() + self._h * u.Eval(c))
        )

    def set_integral_value(self, context: Any, value: ArrayLike) -> None:
        """Replaces the integral."""
        context.SetDiscreteState(value)

    def time_step(self) -> float:
        """[s]"""
        return self._h


class _Differences(Reproducible):
    """Keeps an input and the one before, and how many there were."""

    def _keep(self, n: int, time_step: float, suppress_initial_transient: bool) -> None:
        if not time_step > 0.0:
            raise RuntimeError(f"a time step must be positive, it is {time_step}")
        self._h, self._suppresses = float(time_step), bool(suppress_initial_transient)
        for size in (n, n, 1):  # the last input, the one before, the number of them
            self.DeclareDiscreteState(size)
        self._n = n

    def _shift(self, context: Any, values: Any) -> None:
        values.get_mutable_vector(0).SetFromVector(self.get_input_port().Eval(context))
        values.get_mutable_vector(1).SetFromVector(context.get_discrete_state(0).CopyToVector())
        values.get_mutable_vector(2).SetFromVector(context.get_discrete_state(2).CopyToVector() + 1.0)

    def _difference(self, context: Any) -> Any:
        now, before, count = (context.get_discrete_state(k).CopyToVector() for k in range(3))
        return np.zeros(self._n) if self._suppresses and count[0] < 2.0 else (now - before) / self._h

    def suppress_initial_transient(self) -> bool:
        """Whether the derivative is zero until two inputs were seen."""
        return self._suppresses


class DiscreteDerivative(_Differences):
    """(u[n] - u[n - 1]) / h of the inputs at the last two updates."""

    def __init__(self, num_inputs: int, time_step: float, suppress_initial_transient: bool = True) -> None:
        super().__init__()
        self._keep(num_inputs, time_step, suppress_initial_transient)
        self.DeclareVectorInputPort("u", num_inputs)
        self.DeclareVectorOutputPort("dudt", num_inputs, lambda c, out: out.SetFromVector(self._difference(c)), STATE)
        self.DeclarePeriodicDiscreteUpdateEvent(time_step, 0.0, self._shift)

    def time_step(self) -> float:
        """[s]"""
        return self._h


class StateInterpolatorWithDiscreteDerivative(_Differences):
    """[u; (u[n] - u[n - 1]) / h]: positions as they are, with velocities from those of the last two updates."""

    def __init__(self, num_positions: int, time_step: float, suppress_initial_transient: bool = True) -> None:
        super().__init__()
        self._keep(num_positions, time_step, suppress_initial_transient)
        u = self.DeclareVectorInputPort("position", num_positions)

        def state(context: Any, output: Any) -> None:
            output.SetFromVector(np.concatenate([u.Eval(context), self._difference(context)]))

        self.DeclareVectorOutputPort("state", 2 * num_positions, state)
        self.DeclarePeriodicDiscreteUpdateEvent(time_step, 0.0, self._shift)

    @also_named(state="context")
    def set_initial_position(self, context: Any, position: ArrayLike) -> None:
        """The position in a context or a State; the velocity is zero."""
        mutable = context.get_mutable_discrete_state()
        mutable.get_mutable_vector(0).SetFromVector(position)
        mutable.get_mutable_vector(1).SetFromVector(position)


class RandomSource(Reproducible):
    """Numbers of a RandomDistribution, drawn anew at each interval [s]. They follow from the seed of the context.

    The numbers are NumPy's: other ones than pydrake's.
    """

    def __init__(self, distribution: RandomDistribution, num_outputs: int, sampling_interval_sec: float) -> None:
        super().__init__()
        self._distribution, self._n = distribution, num_outputs
        self.DeclareAbstractState(AbstractValue.Make(np.random.default_rng(0)))
        self.DeclareStateOutputPort("output", self.DeclareDiscreteState(num_outputs))
        self.DeclareInitializationUnrestrictedUpdateEvent(self._draw)
        self.DeclarePeriodicUnrestrictedUpdateEvent(sampling_interval_sec, sampling_interval_sec, self._draw)

    def _draw(self, context: Any, state: Any) -> None:
        rng = state.get_mutable_abstract_state(0).get_value()
        draws = {
            RandomDistribution.kUniform: rng.uniform,
            RandomDistribution.kGaussian: lambda size: rng.normal(size=size),
            RandomDistribution.kExponential: lambda size: rng.exponential(size=size),
        }
        state.get_mutable_discrete_state(0).SetFromVector(draws[self._distribution](size=self._n))


DiscreteDerivative_ = ScalarTemplate(DiscreteDerivative)
DiscreteTimeDelay_ = ScalarTemplate(DiscreteTimeDelay)
DiscreteTimeIntegrator_ = ScalarTemplate(DiscreteTimeIntegrator)
FirstOrderLowPassFilter_ = ScalarTemplate(FirstOrderLowPassFilter)
Integrator_ = ScalarTemplate(Integrator)
StateInterpolatorWithDiscreteDerivative_ = ScalarTemplate(StateInterpolatorWithDiscreteDerivative)
ZeroOrderHold_ = ScalarTemplate(ZeroOrderHold)
