"""The constraints of a program, one below another, and positions at which they nearly hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbcli.math.array_types import BoolArray, FloatArray, IntArray
    from mbcli.solvers.mathematical_program import MathematicalProgram

MOST_STEPS = 100  # of a search
CLOSE = 1e-10  # the largest error of a constraint at which a search ends
FLAT = 1e-12  # the part of the errors' squares that a step is to take away, at least
DAMPING = 1.0  # of the first step, by the largest square of a column
PASSES = 6  # that a step takes to find which bounds it meets
TOUCHES = 1e-6  # of a bound, and of the balance of slopes
MOST_DAMPING = 1e10  # no step is left


class ConstraintRows:
    """Constraints of a program as functions of all of its variables; each is evaluated once at the same values.

    One that has another one as its attribute `regular` is that one here: the same set with slopes that do not vanish.

    Args:
        bindings: of constraints of the program.

    Attributes:
        lower, upper: bounds (m,).
    """

    def __init__(self, prog: MathematicalProgram, bindings: list[Any]) -> None:
        self._parts, self._num_vars, row = [], prog.num_vars(), 0
        for b in bindings:
            c = getattr(b.evaluator(), "regular", b.evaluator())
            self._parts.append((c, prog.positions_of(b), slice(row, row + c.num_constraints())))
            row += c.num_constraints()
        bounds = [(c.lower_bound(), c.upper_bound()) for c, _, _ in self._parts]
        self.lower, self.upper = (np.concatenate([np.zeros(0), *(pair[side] for pair in bounds)]) for side in (0, 1))
        self._of_values: tuple[bytes, FloatArray] | None = None
        self._of_slopes: tuple[bytes, FloatArray] | None = None

    def values(self, x: FloatArray) -> FloatArray:
        """(m,), which nobody may change."""
        key = x.tobytes()
        if self._of_values is None or self._of_values[0] != key:
            parts = [c.values(x[places]) for c, places, _ in self._parts]
            self._of_values = key, np.concatenate([np.zeros(0), *parts])
        return self._of_values[1]

    def slopes(self, x: FloatArray) -> FloatArray:
        """Derivatives (m, n), which nobody may change."""
        key = x.tobytes()
        if self._of_slopes is None or self._of_slopes[0] != key:
            J = np.zeros((self.lower.size, self._num_vars))
            for c, places, rows in self._parts:
                np.add.at(J[rows].T, places, c.jacobian(x[places]).T)
            self._of_slopes = key, J
        return self._of_slopes[1]

    def pattern(self) -> tuple[IntArray, IntArray]:
        """Rows and columns (k,) of slopes that may not be zero: of each constraint those of its variables."""
        blocks = [np.meshgrid(np.arange(r.start, r.stop), places, indexing="ij") for _, places, r in self._parts]
        rows, columns = (np.concatenate([np.zeros(0, dtype=int), *(b[k].ravel() for b in blocks)]) for k in (0, 1))
        return rows.astype(int), columns.astype(int)

    def off(self, x: FloatArray) -> FloatArray:
        """What the values (m,) are beyond their bounds."""
        return self._beyond(self.values(x))

    def is_stationary(self, x: FloatArray, gradient: FloatArray, bounds: tuple[FloatArray, FloatArray]) -> bool:
        """Whether the gradient (n,) of a cost is made up by pushes of the rows and bounds that x (n,) touches."""
        from scipy.optimize import lsq_linear

        y, J, one = self.values(x), self.slopes(x), np.eye(x.size)
        pushes = [
            side[np.abs(at - bound) <= TOUCHES] * sign
            for at, side, (low, high) in ((y, J, (self.lower, self.upper)), (x, one, bounds))
            for bound, sign in ((low, 1.0), (high, -1.0))
        ]
        G = np.concatenate(pushes)
        left = gradient if not G.size else lsq_linear(G.T, gradient, (0.0, np.inf)).fun
        return bool(np.abs(left).max(initial=0.0) <= TOUCHES * max(1.0, np.abs(gradient).max(initial=0.0)))

    def _beyond(self, y: FloatArray) -> FloatArray:
        return y - np.minimum(np.maximum(y, self.lower), self.upper)

    def nearly_feasible(self, x: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        """Where the squares of what constraints are off are least, near x (n,), within bounds (n,) of variables.

        Levenberg-Marquardt steps, each of which is the least of the linear models' squares within the bounds. Where
        they get stuck between bounds, SciPy's steps through the inside of them are tried from the same start.
        """
        start = np.clip(x, lower, upper)
        x = self._projected_steps(start, lower, upper)
        off = self.off(x)
        if np.abs(off).max(initial=0.0) <= CLOSE:
            return x
        other = self._inner_steps(start, lower, upper)
        other_off = self.off(other)
        return other if other_off @ other_off < off @ off else x

    def _inner_steps(self, x: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        from scipy.optimize import least_squares

        free = upper > lower
        low, high = np.where(free, lower, lower - 1e-9), np.where(free, upper, upper + 1e-9)

        def slopes(x: FloatArray) -> FloatArray:
            return np.where((self.off(x) != 0.0)[:, None], self.slopes(x), 0.0)

        return np.clip(least_squares(self.off, np.clip(x, low, high), slopes, bounds=(low, high)).x, lower, upper)

    def _projected_steps(self, x: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
        off = self.off(x)
        size, damping = float(off @ off), DAMPING
        for _ in range(MOST_STEPS):
            if not np.abs(off).max(initial=0.0) > CLOSE:
                break
            y, J = self.values(x), self.slopes(x)
            slope = off @ J
            free = ~((x <= lower) & (slope >= 0.0) | (x >= upper) & (slope <= 0.0))
            if not np.isfinite(J).all() or not slope[free].any():
                break
            scale, before = (J * J).sum(axis=0).max(), size
            while damping < MOST_DAMPING:
                trial = self._step(x, y, J, free, damping * scale, lower, upper)
                trial_off, foreseen = self.off(trial), self._beyond(y + J @ (trial - x))
                trial_size = float(trial_off @ trial_off)
                gain = (size - trial_size) / max(size - float(foreseen @ foreseen), 1e-300)
                if trial_size < size and gain > 1e-3:
                    x, off, size = trial, trial_off, trial_size
                    damping = max(damping * (0.1 if gain > 0.7 else 1.0 if gain > 0.25 else 4.0), 1e-14)
                    break
                damping *= 10.0
            if not size < (1.0 - FLAT) * before:
                break
        return x

    def _step(
        self,
        x: FloatArray,
        y: FloatArray,
        J: FloatArray,
        free: BoolArray,
        damping: float,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """x after a step of the free variables; those that would pass a bound stop there, and rows that would get
        beyond theirs count, too.
        """
        free, after = free.copy(), x.copy()
        off = self._beyond(y)
        counts = off != 0.0
        for _ in range(PASSES):
            part = J[:, free][counts]
            fixed = np.where(free, 0.0, after - x)
            normal = part.T @ part
            normal.flat[:: len(normal) + 1] += damping
            wanted = x[free] - np.linalg.solve(normal, (off + J @ fixed)[counts] @ part)
            after[free] = np.minimum(np.maximum(wanted, lower[free]), upper[free])
            passed = after[free] != wanted
            free[np.flatnonzero(free)[passed]] = False
            there = self._beyond(y + J @ (after - x))
            met = (there != 0.0) & ~counts
            if not (passed.any() or met.any()) or not free.any():
                break
            off[met] = (y - np.where(there > 0.0, self.upper, self.lower))[met]
            counts |= met
        return after
