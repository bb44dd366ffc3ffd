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
from mbcli.optimal_control.costs import END, RUN

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray, Vector
    from mbcli.optimal_control.costs import Costs
    from mbcli.optimal_control.plant_steps import PlantSteps

LENGTHS = 0.5 ** np.arange(8)  # of steps, all tried at once: as many as worlds share a register
SUFFICIENT = 1e-4  # of the decrease that a pass expects
LEAST_REGULARIZATION, MOST_REGULARIZATION, GROWTH = 1e-3, 1e8, 10.0
TINY = 1e-12  # of the largest number of the diagonal
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
    """The best motion found, the gains about it, if they were wanted, why the search ended, and its iterations."""

    trajectory: Trajectory
    K: FloatArray | None
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
        path_q, path_v = self._steps.along(q, v, 1, lambda k, q, v: u[k : k + 1], len(u))
        return self._motion(path_q[:, 0], path_v[:, 0], u)

    def improve(self, start: Trajectory, iterations: int, *, gains: bool = True) -> Solution:
        """The best motion after at most so many iterations; never one that costs more than the start.

        gains: whether those about it are wanted, which take one more pass along it.
        """
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
            if len(done) == iterations and not gains:
                return Solution(best, None, LIMIT, done)
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
        AB, diagonal = np.concatenate([slopes.A, slopes.B], axis=2), np.diag_indices(m)
        for i in range(count - 1, -1, -1):
            Q = slopes.second[i] + AB[i].T @ Vxx @ AB[i]
            g = slopes.gradient[i] + AB[i].T @ Vx
            Quu, Qux, Qu = Q[n:, n:], Q[n:, :n], g[n:]
            H = Quu.copy()
            H[diagonal] *= 1.0 + regularization
            H[diagonal] += TINY * H[diagonal].max()  # for efforts that cost and do nothing
            change, gain = _best(H, g[n:], Qux, low[i], high[i], change)
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
        u = np.empty((count, len(LENGTHS), steps.nu))

        def efforts(i: int, q: FloatArray, v: FloatArray) -> FloatArray:
            back = None if maps is None else maps[1][i]
            dx = steps.deviations.of(q, v, motion.q[i], motion.v[i], back)
            asked = motion.u[i] + LENGTHS[:, np.newaxis] * found.k[i] + dx @ found.K[i].T
            u[i] = np.minimum(np.maximum(asked, self._low), self._high)
            return u[i]

        q, v = steps.along(motion.q[0], motion.v[0], len(LENGTHS), efforts, count)
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
) -> tuple[Vector, FloatArray]:
    """The best change of efforts and the gains (m, n), 0 for efforts that a bound holds."""
    free_best = -np.linalg.solve(H, np.hstack([Qu[:, np.newaxis], Hux]))
    change: Vector = free_best[:, 0]
    if (change > low).all() and (change < high).all():
        return change, free_best[:, 1:]
    change, free = least_in_box(H, Qu, low, high, start)
    gain = np.zeros(Hux.shape)
    if free.any():
        gain[free] = -np.linalg.solve(H[np.ix_(free, free)], Hux[free])
    return change, gain
