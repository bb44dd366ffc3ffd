"""Searches for the positions nearest to given ones that satisfy equations (engine/constraints/nearest_positions.py)."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from mbcli.engine.constraints import nearest_positions, orthogonal_rows
from mbcli.engine.fields.assembly_fields import (
    ASSEMBLY_ATTEMPTS,
    ASSEMBLY_CONVERGED,
    ASSEMBLY_ERROR,
    ASSEMBLY_MINIMIZE,
    ASSEMBLY_MOST_STEPS,
    ASSEMBLY_RANK,
    ASSEMBLY_RESTARTS,
    ASSEMBLY_STATIONARITY,
    ASSEMBLY_STEPS,
    ASSEMBLY_TOLERANCE,
)
from mbcli.engine.runtime.bound_kernels import BoundKernels
from mbcli.engine.runtime.linking import link_interpreted
from mbcli.engine.runtime.model import AssemblyArrays

MOST_ROWS = 100  # in compiled kernels: of so many LAPACK is faster by more than loops of Python lose
LOOPS = [
    function.__name__
    for function in vars(nearest_positions).values()
    if getattr(function, "__module__", "") == nearest_positions.__name__ and callable(function)
]


@dataclass
class Nearest:
    """Fields as those of AssemblyResult."""

    q: np.ndarray
    converged: bool
    iterations: int
    position_error: float
    rank: int = 0
    redundant: int = 0
    stationarity: float = np.inf
    restarts: int = 0


ROWS_OF_A_CALL = 16  # between calls Python sees signals


class PositionSearch:
    """The search on a model for num_equations equations, which a function of Python evaluates.

    Args:
        model: of the engine, of floats.
        evaluate: q -> (phi (n,), derivative (n, nv)); fewer equations than there may be are taken too.
        attempts: how many other starts may be asked for.
    """

    def __init__(self, model, num_equations, evaluate, attempts=0):
        self._sizes, self._num_equations, self._evaluate = model.sizes, num_equations, evaluate
        self._arrays = AssemblyArrays(model.sizes, num_equations, attempts)
        self._arrays.restart_moves[:] = restart_moves(attempts, model.sizes["nv"])
        given = {
            nearest_positions.evaluate_equations: self._evaluate_equations,
            orthogonal_rows.orthogonalize_rows: orthogonalize_by_lapack,
            orthogonal_rows.complete_rows: complete_by_lapack,
            nearest_positions.set_clear_step: lambda arrays, damping: False,  # LAPACK takes all rows
            nearest_positions.project_on_clear_rows: lambda arrays: -1,
        }
        self._interpreted = link_interpreted({"python"}, given, only=LOOPS)
        self._handles = model, None, None, None, self._arrays

    def _evaluate_equations(self, model, data, cons, work, assembly, q):
        phi, slope = self._evaluate(q.copy())
        count = len(phi)
        assembly.phi[:count], assembly.phi[count:] = phi, 0.0
        assembly.phi_slope[:count], assembly.phi_slope[count:] = slope, 0.0

    def feasible(self, q, weights, tolerance, most_steps):
        """The Nearest that the steps from q lead to; not converged if they get stuck or are too many."""
        arrays = self._arrays
        self._give(q, weights, tolerance, most_steps)
        self._interpreted.start_nearest(arrays)
        arrays.q_reached[:] = q
        steps = self._interpreted.find_feasible(*self._handles, most_steps)
        error = arrays.assembly_numbers[ASSEMBLY_ERROR]
        return Nearest(arrays.q_reached.copy(), bool(error <= tolerance), steps, float(error))

    def nearest(self, q, weights, tolerance, most_steps, minimize=True):
        """The Nearest to q, whose quaternions have length 1; other starts are tried as often as allowed."""
        counts = self._arrays.assembly_counts
        self._give(q, weights, tolerance, most_steps)
        counts[ASSEMBLY_ATTEMPTS], counts[ASSEMBLY_MINIMIZE] = len(self._arrays.restart_moves), minimize
        self.run()
        return self._found(self._arrays.q_best.copy(), counts, self._arrays.assembly_numbers)

    def _give(self, q, weights, tolerance, most_steps):
        arrays = self._arrays
        arrays.q_wanted[:], arrays.assembly_weights[:] = q, weights
        arrays.assembly_counts[ASSEMBLY_MOST_STEPS] = most_steps
        arrays.assembly_numbers[ASSEMBLY_TOLERANCE] = tolerance

    def run(self):
        """The search that was given to the arrays."""
        self._interpreted.find_nearest(*self._handles)

    def _found(self, q, counts, numbers):
        rank = int(counts[ASSEMBLY_RANK])
        return Nearest(
            q=q,
            converged=bool(counts[ASSEMBLY_CONVERGED]),
            iterations=int(counts[ASSEMBLY_STEPS]),
            position_error=float(numbers[ASSEMBLY_ERROR]),
            rank=rank,
            redundant=self._num_equations - rank,
            stationarity=float(numbers[ASSEMBLY_STATIONARITY]),
            restarts=int(counts[ASSEMBLY_RESTARTS]),
        )


class AssemblySearch(PositionSearch):
    """The search on a ConstrainedModel for its constraints: in one kernel if kernels are compiled.

    Args:
        constrained: a ConstrainedModel, which no other search may use while this one runs.
        take_rows: q -> None: writes the rows of `constrained` that the caller gives, at each q; None without such.
    """

    def __init__(self, constrained, attempts, take_rows=None):
        num_rows, compiled = len(constrained.row_number), constrained.compiled
        super().__init__(constrained.model, num_rows, None, attempts)
        handles = *constrained.handles, self._arrays.handle(compiled)
        self._constrained, self._take_rows = constrained, take_rows
        self._bound = BoundKernels(constrained.kernels, *handles, owners=(constrained, self._arrays))
        self._is_whole = compiled and take_rows is None and num_rows <= MOST_ROWS

    def _evaluate_equations(self, model, data, cons, work, assembly, q):
        if self._take_rows is not None:
            self._take_rows(q)
        self._bound.evaluate_equations(q)

    def run(self):
        if self._is_whole:
            self._bound.find_nearest()
        else:
            super().run()

    def nearest_of_all(self, starts, weights, tolerance, most_steps, minimize=True):
        """The Nearest to each row of starts (n, nq), some in each call, during which other threads run."""
        arrays, nq = self._arrays, starts.shape[1]
        if not self._is_whole:
            return [self.nearest(q, weights, tolerance, most_steps, minimize) for q in starts]
        self._give(starts[:1].sum(axis=0), weights, tolerance, most_steps)
        arrays.assembly_counts[ASSEMBLY_ATTEMPTS] = len(arrays.restart_moves)
        arrays.assembly_counts[ASSEMBLY_MINIMIZE] = minimize
        count = len(arrays.assembly_counts)
        results = np.empty((len(starts), nq + count + len(arrays.assembly_numbers)))
        for first in range(0, len(starts), ROWS_OF_A_CALL):
            part = slice(first, first + ROWS_OF_A_CALL)
            self._bound.find_all_nearest(starts[part], results[part])
        return [self._found(row[:nq], row[nq : nq + count], row[nq + count :]) for row in results]


@cache
def restart_moves(attempts, nv):
    """From the start to other ones: random, farther and farther, and the same in every search."""
    rng = np.random.default_rng(0)
    spreads = [min(0.05 * 2.0 ** (k + 1), np.pi) for k in range(attempts)]
    return np.array([rng.uniform(-spread, spread, nv) for spread in spreads]).reshape(attempts, nv)


def orthogonalize_by_lapack(rows, turned_by, lengths, m, n):
    """In place of the kernel."""
    U, singular, V = np.linalg.svd(rows[:m, :n], full_matrices=False)
    count = len(singular)
    rows[:m, :n], turned_by[:m, :m], lengths[:m] = 0.0, 0.0, 0.0
    rows[:count, :n], turned_by[:count, :m], lengths[:count] = singular[:, None] * V, U.T, singular


def complete_by_lapack(basis, rank, n):
    """In place of the kernel."""
    basis[rank:n, :n] = np.linalg.svd(basis[:rank, :n])[2][rank:]
