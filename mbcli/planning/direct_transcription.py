"""Motions by direct transcription: each state is the step from the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import ExtractValue
from mbcli.planning.multiple_shooting import MultipleShooting
from mbcli.solvers.evaluators import Constraint, LinearEqualityConstraint, carried
from mbcli.systems.linear_systems import AffineSystem
from mbcli.systems.motion_slopes import MotionSlopes
from mbcli.systems.port_selection import InputPortSelection
from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.solve import MathematicalProgramResult


@dataclass(frozen=True)
class TimeStep:
    """A time step [s], so that it is taken for no index of a port."""

    value: float


class DirectTranscription(MultipleShooting):
    """A program for a motion in steps, the last input being the one before it.

    DirectTranscription(system, context, num_time_samples, input_port_index) of a system with discrete state and one
    period, and DirectTranscription(system, context, num_time_samples, fixed_time_step, input_port_index) of one with
    continuous state, by explicit Euler steps; fixed_time_step: a DirectTranscription.TimeStep.
    """

    TimeStep = TimeStep

    def __init__(self, system: Any, context: Any, num_time_samples: int, *given: Any, **named: Any) -> None:
        found = dict(zip(("fixed_time_step", "input_port_index"), given, strict=False))
        if given and not isinstance(given[0], TimeStep):
            found = dict(zip(("input_port_index",), given, strict=True))
        found |= named
        step, port = found.pop("fixed_time_step", None), found.pop("input_port_index", None)
        if found:
            raise TypeError(f"unexpected argument '{next(iter(found))}'")
        if (step is None) == bool(context.num_continuous_states()):
            kind = "discrete" if step is None else "continuous"
            raise RuntimeError(
                f"direct transcription {'without' if step is None else 'with'} a step is of {kind} state"
            )
        motion = MotionSlopes(system, context, InputPortSelection.kUseFirstInputIfItExists if port is None else port)
        h = motion.time_period if step is None else float(step.value)
        super().__init__(motion.num_inputs, motion.num_states, num_time_samples, h, None)
        made: Constraint = _Step(motion, None if step is None else h)
        if isinstance(system, AffineSystem):  # linear constraints let convex costs be solved at once
            zero = np.zeros(made.num_vars())
            made = LinearEqualityConstraint(made.jacobian(zero), -made.values(zero))
        for k in range(self.num_samples - 1):
            parts = self.input(k), self.state(k), self.state(k + 1)
            self._prog.AddConstraint(made, np.concatenate(parts))
        if motion.num_inputs:
            n = motion.num_inputs
            same = LinearEqualityConstraint(np.hstack([np.eye(n), -np.eye(n)]), np.zeros(n))
            self._prog.AddConstraint(same, np.concatenate([self.input(-2), self.input(-1)]))

    def _weights_of_running_cost(self, index: int) -> dict[int, float]:
        return {index: 1.0} if index < self.num_samples - 1 else {}

    def ReconstructInputTrajectory(self, result: MathematicalProgramResult) -> PiecewisePolynomial:
        """The inputs, each held for a step."""
        return PiecewisePolynomial.ZeroOrderHold(self.GetSampleTimes(result), self.GetInputSamples(result))

    def ReconstructStateTrajectory(self, result: MathematicalProgramResult) -> PiecewisePolynomial:
        """The states, each held for a step."""
        return PiecewisePolynomial.ZeroOrderHold(self.GetSampleTimes(result), self.GetStateSamples(result))


class _Step(Constraint):
    """x' - next(x, u), or x' - x - h xdot(x, u), is 0, of [u, x, x']."""

    def __init__(self, motion: MotionSlopes, h: float | None) -> None:
        self._motion, self._h, n = motion, h, motion.num_states
        super().__init__(self._defects, np.zeros(n), np.zeros(n), motion.num_inputs + 2 * n)

    def _parts(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        u, x0, x1 = np.split(x, [self._motion.num_inputs, self._motion.num_inputs + self._motion.num_states])
        return np.concatenate([x0, u]), x1

    def _defects(self, x: Any) -> Any:
        if x.dtype == object:
            at = ExtractValue(x).reshape(-1)
            return carried(self._defects(at), self.jacobian(at), x)
        z, after = self._parts(x)
        f = self._motion.values(z)
        return after - (f if self._h is None else z[: f.size] + self._h * f)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (nx, nu + 2 nx)."""
        _, J = self._motion.slopes(self._parts(x)[0])
        n = len(J)
        J = J if self._h is None else np.eye(*J.shape) + self._h * J
        return np.hstack([-J[:, n:], -J[:, :n], np.eye(n)])
