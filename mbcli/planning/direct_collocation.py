"""Motions by direct collocation: states are cubics between samples, which follow the dynamics at ends and middles.

Hargraves and Paris 1987, doi:10.2514/3.20223.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.autodiffutils import ExtractValue
from mbcli.planning.multiple_shooting import MultipleShooting
from mbcli.solvers.binding import Binding
from mbcli.solvers.evaluators import Constraint, carried
from mbcli.systems.motion_slopes import MotionSlopes
from mbcli.systems.port_selection import InputPortSelection
from mbcli.trajectories.piecewise_polynomial import PiecewisePolynomial

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.mathematical_program import MathematicalProgram
    from mbcli.solvers.solve import MathematicalProgramResult


class DirectCollocationConstraint(Constraint):
    """The rate of the cubic between two states less that of the system, in the middle: 0, of [h, x, x', u, u'].

    Args:
        system: a plant, a LeafSystem or a Diagram with continuous state.
        context: its parameters and other inputs.
    """

    def __init__(
        self,
        system: Any,
        context: Any,
        input_port_index: Any = InputPortSelection.kUseFirstInputIfItExists,
        assume_non_continuous_states_are_fixed: bool = False,
    ) -> None:
        if not context.num_continuous_states():
            raise RuntimeError("direct collocation is for systems with continuous state")
        self.motion = MotionSlopes(system, context, input_port_index, assume_non_continuous_states_are_fixed)
        n, m = self.motion.num_states, self.motion.num_inputs
        self._one = np.eye(n, n + m)
        super().__init__(self._defects, np.zeros(n), np.zeros(n), 1 + 2 * (n + m))

    def _parts(self, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """h and [x, u] at both ends."""
        n, m = self.motion.num_states, self.motion.num_inputs
        u = 1 + 2 * n
        z0, z1 = np.concatenate([x[1 : 1 + n], x[u : u + m]]), np.concatenate([x[1 + n : u], x[u + m :]])
        return float(x[0]), z0, z1

    def _middle(self, h: float, z0: FloatArray, z1: FloatArray, f0: FloatArray, f1: FloatArray) -> FloatArray:
        middle = 0.5 * (z0 + z1)
        middle[: f0.size] += h / 8.0 * (f0 - f1)
        return middle

    def _defects(self, x: Any) -> Any:
        if x.dtype == object:
            at = ExtractValue(x).reshape(-1)
            return carried(self._defects(at), self.jacobian(at), x)
        h, z0, z1 = self._parts(x)
        f0, f1 = self.motion.values(z0), self.motion.values(z1)
        rate = 1.5 * (z1 - z0)[: f0.size] / h - 0.25 * (f0 + f1)
        return rate - self.motion.values(self._middle(h, z0, z1, f0, f1))

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Derivatives (nx, 1 + 2 nx + 2 nu)."""
        h, z0, z1 = self._parts(x)
        (f0, J0), (f1, J1) = self.motion.slopes(z0), self.motion.slopes(z1)
        n, m, found = f0.size, self.motion.num_inputs, np.empty((f0.size, x.size))
        _, J = self.motion.slopes(self._middle(h, z0, z1, f0, f1))
        A, step = J[:, :n], 1.5 / h * self._one
        found[:, 0] = -1.5 * (z1 - z0)[:n] / h**2 - A @ (f0 - f1) / 8.0
        for k, (own, sign) in enumerate(((J0, -1.0), (J1, 1.0))):
            by = sign * (step + h / 8.0 * A @ own) - 0.25 * own - 0.5 * J
            found[:, 1 + k * n : 1 + (k + 1) * n] = by[:, :n]
            found[:, 1 + 2 * n + k * m : 1 + 2 * n + (k + 1) * m] = by[:, n:]
        return found


def AddDirectCollocationConstraint(
    constraint: DirectCollocationConstraint,
    time_step: Any,
    state: Any,
    next_state: Any,
    input: Any,
    next_input: Any,
    prog: MathematicalProgram,
) -> Binding:
    """Adds a constraint, of these variables, to a program."""
    parts = [np.ravel(np.asarray(part, dtype=object)) for part in (time_step, state, next_state, input, next_input)]
    return prog.AddConstraint(constraint, np.concatenate(parts))


class DirectCollocation(MultipleShooting):
    """A program for a motion of a system with continuous state, by cubics of states and lines of inputs.

    Args:
        system: a plant, a LeafSystem or a Diagram; context: its parameters and other inputs, which is copied.
        num_time_samples: of states and inputs.
        minimum_time_step, maximum_time_step: [s]
        input_port_index: the input that is sought, an index or an InputPortSelection.
        assume_non_continuous_states_are_fixed: whether discrete and abstract states may be there, which stay.
        prog: that takes variables and constraints; a new one if not given.
    """

    def __init__(
        self,
        system: Any,
        context: Any,
        num_time_samples: int,
        minimum_time_step: float,
        maximum_time_step: float,
        input_port_index: Any = InputPortSelection.kUseFirstInputIfItExists,
        assume_non_continuous_states_are_fixed: bool = False,
        prog: MathematicalProgram | None = None,
    ) -> None:
        made = DirectCollocationConstraint(system, context, input_port_index, assume_non_continuous_states_are_fixed)
        self._motion = made.motion
        steps = float(minimum_time_step), float(maximum_time_step)
        super().__init__(self._motion.num_inputs, self._motion.num_states, num_time_samples, steps, prog)
        made.set_description("collocation constraint")
        for k in range(self.num_samples - 1):
            ends = self.state(k), self.state(k + 1), self.input(k), self.input(k + 1)
            AddDirectCollocationConstraint(made, self.time_step(k), *ends, self._prog)

    def _weights_of_running_cost(self, index: int) -> dict[int, float]:
        return {k: 0.5 for k in (index - 1, index) if 0 <= k < self.num_samples - 1}

    def ReconstructInputTrajectory(self, result: MathematicalProgramResult) -> PiecewisePolynomial:
        """Lines between the inputs."""
        return PiecewisePolynomial.FirstOrderHold(self.GetSampleTimes(result), self.GetInputSamples(result))

    def ReconstructStateTrajectory(self, result: MathematicalProgramResult) -> PiecewisePolynomial:
        """The cubics of the states."""
        x, u = self.GetStateSamples(result), self.GetInputSamples(result)
        rates = np.array([self._motion.values(z) for z in np.vstack([x, u]).T]).T
        return PiecewisePolynomial.CubicHermite(self.GetSampleTimes(result), x, rates)
