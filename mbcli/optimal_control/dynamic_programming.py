"""The efforts of a motion that cost least within bounds: differential dynamic programming with control limits.

From the last knot backwards the cost to go is a quadratic function of the deviation dx, and the best change of the
efforts is k + K dx, within bounds. Forwards the motion is run under u + a k + K dx for eight lengths a at once, in the
lanes of worlds, and the cheapest goes on. Second derivatives of the steps are left out (iLQR), those of costs are Gauss
and Newton's: so the quadratic functions have least values, and the first pass already solves linear quadratic problems.

Source: Y. Tassa, N. Mansard, E. Todorov, Control-Limited Differential Dynamic Programming, ICRA 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbcli.optimal_control.box_newton import least_in_box
from mbcli.optimal_control.cost_terms import END, RUN

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.optimal_control.costs import Costs
    from mbcli.optimal_control.plant_steps import PlantSteps

LENGTHS = 0.5 ** np.arange(8)  # of steps, all tried at once: as many as worlds share a register
SUFFICIENT = 1e-4  # of the decrease that a pass expects
LEAST_REGULARIZATION, MOST_REGULARIZATION, GROWTH = 1e-6, 1e10, 4.0
CONVERGED, LIMIT, STUCK = "converged", "iterations", "stuck"


class Trajectory(NamedTuple):
    """Knots: q (N + 1, nq), v (N + 1, nv), u (N, nu); costs of terms (N, terms) and of the end (terms,)."""

    q: FloatArray
    v: FloatArray
    u: FloatArray
    running: FloatArray
    end: FloatArray

    @property
    def cost(self) -> float:
        """In all."""
        return float(self.running.sum() + self.end.sum())


class Slopes(NamedTuple):
    """At the knots: the steps by deviation A (N, n, n) and efforts B (N, n, m); costs' gradients and second ones."""

    A: FloatArray
    B: FloatArray
    gradient: FloatArray  # (N, n + m)
    second: FloatArray  # (N, n + m, n + m)
    end_gradient: FloatArray  # (n,)
    end_second: FloatArray  # (n, n)


class Pass(NamedTuple):
    """Changes k (N, m) and gains K (N, m, n) of efforts; the cost changes by a first + a^2 second for a length a."""

    k: FloatArray
    K: FloatArray
    first: float
    second: float


@dataclass(frozen=True)
class Iteration:
    """What an iteration did: the cost after it, the length of its step, the regularization."""

    cost: float
    length: float
    regularization: float


@dataclass(frozen=True)
class Solution:
    """The best motion found, the gains about it, why the search ended, and its iterations."""

    trajectory: Trajectory
    K: FloatArray
    status: str
    iterations: list[Iteration]


class Search:
    """Improves motions of a plant.

    Args:
        steps: PlantSteps.
        costs: Costs.
        low, high: (nu,) bounds of the efforts [N m or N].
        tolerance: decrease that a pass expects, relative to the cost, which ends the search.
    """

    def __init__(self, steps: PlantSteps, costs: Costs, low: Vector, high: Vector, tolerance: float) -> None:
        self._steps, self._costs, self._low, self._high, self._tolerance = steps, costs, low, high, tolerance

    def run(self, q: Vector, v: Vector, u: FloatArray) -> Trajectory | None:
        """The motion from a state under efforts (N, nu), clipped to their bounds; None if it does not reach its end."""
        u = np.clip(u, self._low, self._high)
        path_q, path_v = [q], [v]
        for row in u:
            after_q, after_v = self._steps.after(path_q[-1][None], path_v[-1][None], row[None])
            path_q.append(after_q[0])
            path_v.append(after_v[0])
        return self._motion(np.array(path_q), np.array(path_v), u)

    def improve(self, start: Trajectory, iterations: int) -> Solution:
        """The best motion after at most so many iterations; never one that costs more than the start."""
        best, done, regularization = start, list[Iteration](), 0.0
        slopes = self.slopes(best)
        while True:
            found = self.backward(best, slopes, regularization)
            if -(found.first + found.second) <= self._tolerance * max(abs(best.cost), 1e-300):
                return Solution(best, self._gains(best, slopes, found, regularization), CONVERGED, done)
            if len(done) == iterations:
                return Solution(best, self._gains(best, slopes, found, regularization), LIMIT, done)
            trial, length = self._forward(best, found)
            if trial is None:
                regularization = max(LEAST_REGULARIZATION, GROWTH * regularization)
                if regularization > MOST_REGULARIZATION:
                    return Solution(best, self._gains(best, slopes, found, regularization), STUCK, done)
                continue
            done.append(Iteration(trial.cost, length, regularization))
            regularization = regularization / GROWTH if regularization > LEAST_REGULARIZATION else 0.0
            best = trial
            slopes = self.slopes(best)

    def _gains(self, best: Trajectory, slopes: Slopes, found: Pass, regularization: float) -> FloatArray:
        return (found if not regularization else self.backward(best, slopes, 0.0)).K

    def _motion(self, q: FloatArray, v: FloatArray, u: FloatArray) -> Trajectory | None:
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            return None
        running, end = self._costs.of_running(q[:-1], v[:-1], u), self._costs.of_end(q[-1:], v[-1:])[0]
        made = Trajectory(q, v, u, running, end)
        return made if np.isfinite(made.cost) else None

    def slopes(self, motion: Trajectory) -> Slopes:
        """Derivatives of the steps and of the costs along a motion."""
        steps, (q, v, u) = self._steps, (motion.q, motion.v, motion.u)
        maps = steps.deviations.maps(q)
        N, back = (None, None) if maps is None else maps
        here = q[:-1], v[:-1], u
        around = [(name, steps.perturbed(name, *here, None if N is None else N[:-1])) for name in "qvu"]
        found = steps.derivatives([each for _, each in around], q[1:], v[1:], None if back is None else back[1:])
        n = 2 * steps.nv
        gradient, second = self._costs.derivatives(*here, around, RUN)
        last = q[-1:], v[-1:], np.zeros((1, steps.nu))
        at_end = [(name, steps.perturbed(name, *last, None if N is None else N[-1:])) for name in "qv"]
        end_gradient, end_second = self._costs.derivatives(*last, at_end, END)
        return Slopes(found[:, :, :n], found[:, :, n:], gradient, second, end_gradient[0], end_second[0])

    def backward(self, motion: Trajectory, slopes: Slopes, regularization: float) -> Pass:
        """The best changes of the efforts, from the last knot to the first."""
        count, m, n = len(motion.u), motion.u.shape[1], slopes.A.shape[1]
        k, K = np.zeros((count, m)), np.zeros((count, m, n))
        Vx, Vxx, first, second = slopes.end_gradient, slopes.end_second, 0.0, 0.0
        low, high, change = self._low - motion.u, self._high - motion.u, np.zeros(m)
        AB = np.concatenate([slopes.A, slopes.B], axis=2)
        for i in range(count - 1, -1, -1):
            Q = slopes.second[i] + AB[i].T @ Vxx @ AB[i]
            g = slopes.gradient[i] + AB[i].T @ Vx
            Quu, Qux, Qu = Q[n:, n:], Q[n:, :n], g[n:]
            H, Hux = Quu, Qux
            if regularization:
                B = slopes.B[i]
                H, Hux = Quu + regularization * (B.T @ B), Qux + regularization * (B.T @ slopes.A[i])
            change, free, gain = _best(H, Qu, Hux, low[i], high[i], change)
            k[i] = change
            K[i] = gain
            first += Qu @ change
            second += 0.5 * change @ Quu @ change
            Vx = g[:n] + gain.T @ (Quu @ change + Qu) + Qux.T @ change
            Vxx = Q[:n, :n] + gain.T @ Quu @ gain + gain.T @ Qux + Qux.T @ gain
            Vxx = 0.5 * (Vxx + Vxx.T)
        return Pass(k, K, first, second)

    def _forward(self, motion: Trajectory, found: Pass) -> tuple[Trajectory | None, float]:
        """The cheapest of the motions of all LENGTHS that decreases the cost enough, and its length."""
        steps, count = self._steps, len(motion.u)
        maps = steps.deviations.maps(motion.q)
        q, v = (np.empty((count + 1, len(LENGTHS), size)) for size in (steps.nq, steps.nv))
        u = np.empty((count, len(LENGTHS), steps.nu))
        q[0], v[0] = motion.q[0], motion.v[0]
        for i in range(count):
            back = None if maps is None else maps[1][i]
            dx = steps.deviations.of(q[i], v[i], motion.q[i], motion.v[i], back)
            u[i] = np.clip(motion.u[i] + LENGTHS[:, None] * found.k[i] + dx @ found.K[i].T, self._low, self._high)
            q[i + 1], v[i + 1] = steps.after(q[i], v[i], u[i])
        best, length = None, 0.0
        for j, a in enumerate(LENGTHS):
            trial = self._motion(q[:, j], v[:, j], u[:, j])
            if trial is None or motion.cost - trial.cost <= -SUFFICIENT * (a * found.first + a * a * found.second):
                continue
            if best is None or trial.cost < best.cost:
                best, length = trial, float(a)
        return best, length


def _best(
    H: FloatArray, Qu: Vector, Hux: FloatArray, low: Vector, high: Vector, start: Vector
) -> tuple[Vector, FloatArray, FloatArray]:
    """The best change of efforts, which of them no bound holds, and the gains (m, n), 0 for those that one holds."""
    tiny = 1e-12 * max(np.trace(H) / len(H), 1e-300)
    H = H + tiny * np.eye(len(H))  # efforts that cost and do nothing
    change, free = least_in_box(H, Qu, low, high, start)
    gain = np.zeros_like(Hux)
    if free.all():
        gain = -np.linalg.solve(H, Hux)
    elif free.any():
        gain[free] = -np.linalg.solve(H[np.ix_(free, free)], Hux[free])
    return change, free, gain
