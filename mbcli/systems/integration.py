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

FIRST_STEP = 1e-4  # [s], of a Simulator whose integrator nobody chose
FIRST_OF_LARGEST = 0.1  # the first step of others
SHORT_OF_WANTED, BEYOND_WANTED = 0.95, 1.001  # of the wanted step: below it is cut short, between it is as good
LOOSEST = {"runge_kutta5": 1e-3}  # accuracies that methods use
SLOWEST_CHANGE = 0.9, 1.2  # factors of steps between which they stay as they are


def _next_step(h: float, ratio: float, order: float) -> float:
    """The step after one h whose error is ratio times the accuracy, shorter if h has to be tried again.

    Drake's control (IntegratorBase), which has it of Simbody.
    """
    if not np.isfinite(ratio):
        return LARGEST_SHRINK * h
    factor = SAFETY * ratio ** (-1.0 / order) if ratio > 0.0 else LARGEST_GROWTH
    if ratio <= 1.0:
        return h * (min(factor, LARGEST_GROWTH) if factor >= SLOWEST_CHANGE[1] else 1.0)
    return h * max(LARGEST_SHRINK, min(factor, SLOWEST_CHANGE[0]))


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
        self.first_step: float | None = None
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
        start, longest = self.state(), config.max_step_size
        accuracy = min(config.accuracy, LOOSEST.get(config.integration_scheme, 0.1))
        wanted = self.next_step or self.first_step or FIRST_OF_LARGEST * longest if controlled else longest
        first = self.rates(time, start)
        while True:
            left, most = target - time, BEYOND_WANTED * wanted if controlled else stretch * wanted
            cut_short = controlled and left < SHORT_OF_WANTED * wanted
            meets_end = left <= most and (left <= longest or not controlled)
            h = left if meets_end else min(wanted, longest)
            end, error = self._try(method, time, h, start, first)
            following = h
            if controlled:
                following = min(longest, _next_step(h, error / accuracy, method.error_order + 1.0))
                if following < h:
                    wanted = self._shorter(time, start, following)
                    continue
            elif not np.isfinite(end).all():
                raise NumericalError(f"the continuous state of the diagram is not finite after t = {time:.9g} s")
            if self._finish(time + h, end):
                break
            wanted = self._shorter(time, start, OTHER_STEP * h)
            if wanted < SHORTEST_STEP * longest:
                self.set_state(time, start)
                raise NumericalError(f"no step leads to states that satisfy constraints after t = {time:.9g} s")
        if not cut_short:  # which says nothing against the longer one
            self.next_step = following
        self.steps += 1
        return target if meets_end else time + h

    def _try(self, method: Any, time: float, h: float, start: Vector, first: Vector) -> tuple[Vector, float]:
        """(The state after a step h from a state whose rates are known, the largest error of its numbers)."""
        rates = [first]
        for s in range(1, len(method.b)):
            stage = start + h * (method.A[s, :s] @ np.array(rates))
            rates.append(self.rates(time + h * method.A[s].sum(), stage))
        slopes = np.array(rates)
        error = np.abs(h * (method.error @ slopes)).max(initial=0.0) if method.error_order > 0 else 0.0
        return start + h * (method.b @ slopes), float(error)

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
