"""Integration of the continuous state of a diagram, by the explicit methods of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.engine.stepping.integrators import METHODS
from mbcli.engine.stepping.loop import LARGEST_GROWTH, LARGEST_SHRINK, OTHER_STEP, SAFETY, SHORTEST_STEP
from mbcli.errors import ModelError, NumericalError
from mbcli.multibody.state.context import Context as PlantContext
from mbcli.multibody.stepping.run import CONSTRAINT_TOLERANCE
from mbcli.systems.vectors import BasicVector, ContinuousState

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.config.simulator_config import SimulatorConfig
    from mbcli.math.array_types import Vector


class Integrator:
    """Steps the continuous states of (system, context) pairs together.

    Args:
        leaves: the pairs that have continuous state.
        set_time: called with the time [s] at which derivatives are wanted.
    """

    def __init__(self, leaves: list[tuple[Any, Any]], set_time: Callable[[float], object]) -> None:
        self._leaves, self._set_time = leaves, set_time
        sizes = [context.num_continuous_states() for _, context in leaves]
        ends = np.cumsum([0, *sizes])
        self._parts = [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]
        self._vectors = [context.get_continuous_state_vector() for _, context in leaves]
        self._kinds = [context.get_continuous_state().kinds for _, context in leaves]
        self.next_step: float | None = None
        self.steps = self.refused = 0

    def has_parts(self) -> bool:
        """Whether there is any continuous state."""
        return bool(self._leaves)

    def state(self) -> Vector:
        """All of it, a new array (n,)."""
        parts = [vector.CopyToVector() for vector in self._vectors]
        return np.concatenate(parts) if parts else np.zeros(0)

    def set_state(self, time: float, y: Vector) -> None:
        """Gives the contexts a state."""
        for vector, part in zip(self._vectors, self._parts, strict=True):
            vector.SetFromVector(y[part])
        self._set_time(time)

    def rates(self, time: float, y: Vector) -> Vector:
        """dy/dt (n,)"""
        self.set_state(time, y)
        rates = np.empty_like(y)
        for (system, context), part, kinds in zip(self._leaves, self._parts, self._kinds, strict=True):
            if isinstance(context, PlantContext):
                rates[part] = system.EvalTimeDerivatives(context).CopyToVector()
            else:
                derivatives = BasicVector(part.stop - part.start)
                system.CalcTimeDerivatives(context, ContinuousState(derivatives, kinds=kinds))
                rates[part] = derivatives.get_value()
        return rates

    def step(self, time: float, target: float, config: SimulatorConfig, stretch: float = 1.0) -> float:
        """Takes one step, at most to a time [s]; returns the time that it reaches.

        stretch: of a fixed step, by which it may be longer to reach that time.

        ModelError for a method that is not explicit; NumericalError where no step is short enough.
        """
        method = METHODS.get(config.integration_scheme)
        if method is None or method.implicit:
            raise ModelError(
                f"integration scheme '{config.integration_scheme}' is for a plant alone: a diagram of systems with "
                f"continuous state takes one of {', '.join(name for name, m in METHODS.items() if not m.implicit)}"
            )
        controlled = config.use_error_control and method.error_order > 0
        start, wanted = self.state(), self.next_step if controlled and self.next_step else config.max_step_size
        h = min(wanted, config.max_step_size)
        meets_end = time + (1.000001 if controlled else stretch) * h >= target
        h = target - time if meets_end else h
        first = self.rates(time, start)
        while True:
            rates = [first]
            for s in range(1, len(method.b)):
                stage = start + h * (method.A[s, :s] @ np.array(rates))
                rates.append(self.rates(time + h * method.A[s].sum(), stage))
            slopes = np.array(rates)
            end = start + h * (method.b @ slopes)
            good = bool(np.isfinite(end).all())
            ratio = 0.0
            if controlled:
                error = np.abs(h * (method.error @ slopes)) / np.maximum(1.0, np.abs(end))
                ratio = float(error.max(initial=0.0)) / config.accuracy
                if not good or not ratio <= 1.0:
                    shrink = max(LARGEST_SHRINK, SAFETY * ratio ** (-1.0 / (method.error_order + 1.0))) if good else 0.1
                    h, meets_end = self._shorter(time, start, shrink * h), False
                    continue
            elif not good:
                raise NumericalError(f"the continuous state of the diagram is not finite after t = {time:.9g} s")
            if not self._finish(time + h, end):
                h, meets_end = self._shorter(time, start, OTHER_STEP * h), False
                if h < SHORTEST_STEP * config.max_step_size:
                    self.set_state(time, start)
                    raise NumericalError(f"no step leads to states that satisfy constraints after t = {time:.9g} s")
                continue
            break
        growth = LARGEST_GROWTH
        if ratio > 0.0:
            growth = min(LARGEST_GROWTH, SAFETY * ratio ** (-1.0 / (method.error_order + 1.0)))
        # a step cut short to meet an end says nothing against the longer one
        self.next_step = max(wanted, growth * h) if meets_end else growth * h
        self.steps += 1
        return target if meets_end else time + h

    def _shorter(self, time: float, start: Vector, h: float) -> float:
        self.refused += 1
        if h < 1e-14 * max(1.0, abs(time)):
            self.set_state(time, start)
            raise NumericalError(f"the step became too small at t = {time:.9g} s: the diagram is too stiff")
        return h

    def _finish(self, time: float, y: Vector) -> bool:
        """Gives the contexts the state at the end of a step, plants one on their constraints; whether that is found."""
        self.set_state(time, y)
        for (_, context), part in zip(self._leaves, self._parts, strict=True):
            if isinstance(context, PlantContext):
                own = y[part].copy()
                if context.state.calls.finish_state(own, CONSTRAINT_TOLERANCE) != 0:
                    return False
                context.state.set_q(own[: context.state.q.size])
                context.state.set_v(own[context.state.q.size :])
        return True
