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


class AssemblySearch:
    """The search on a ConstrainedModel for its constraints: in one kernel if kernels are compiled.

    Args:
        constrained: a ConstrainedModel, which no other search may use while this one runs.
        attempts: how many other starts nearest() may take.
        take_rows: q -> None: writes the rows of `constrained` that the caller gives, at each q; None without such.
        bounds: rows (place in q, place in v, lower, upper) for within_bounds().
    """

    def __init__(self, constrained, attempts=0, take_rows=None, bounds=()):
        num_rows, compiled, sizes = len(constrained.row_number), constrained.compiled, constrained.model.sizes
        self._num_equations, self._constrained, self._take_rows = num_rows, constrained, take_rows
        self._arrays = arrays = AssemblyArrays(sizes, num_rows, attempts, len(bounds))
        arrays.restart_moves[:] = restart_moves(attempts, sizes["nv"])
        table = np.reshape(bounds, (-1, 4))
        arrays.bound_q[:], arrays.bound_dof[:], arrays.bounds[:] = table[:, 0], table[:, 1], table[:, 2:]
        handles = *constrained.handles, arrays.handle(compiled)
        self._bound = BoundKernels(constrained.kernels, *handles, owners=(constrained, arrays))
        self._is_whole = compiled and take_rows is None and num_rows <= MOST_ROWS
        self._interpreted = None if self._is_whole else link_interpreted({"python"}, self._in_python(), only=LOOPS)
        self._objects = constrained.model, None, None, None, arrays

    def _in_python(self):
        """What stands in for slots where loops are interpreted: LAPACK, which takes all rows."""
        return {
            nearest_positions.evaluate_equations: self._evaluate_equations,
            orthogonal_rows.orthogonalize_rows: orthogonalize_by_lapack,
            orthogonal_rows.complete_rows: complete_by_lapack,
            nearest_positions.set_clear_step: lambda arrays, damping: False,
            nearest_positions.project_on_clear_rows: lambda arrays: -1,
        }

    def _evaluate_equations(self, model, data, cons, work, assembly, q):
        if self._take_rows is not None:
            self._take_rows(q)
        self._bound.evaluate_equations(q)

    def _run(self, name, *arguments):
        """A kernel of nearest_positions.py on what was given to the arrays."""
        if self._is_whole:
            getattr(self._bound, name)(*arguments)
        else:
            getattr(self._interpreted, name)(*self._objects, *arguments)

    def nearest(self, q, weights, tolerance, most_steps, minimize=True):
        """The Nearest to q, whose quaternions have length 1; other starts are tried as often as allowed."""
        counts = self._arrays.assembly_counts
        self._give(q, weights, tolerance, most_steps)
        counts[ASSEMBLY_ATTEMPTS], counts[ASSEMBLY_MINIMIZE] = len(self._arrays.restart_moves), minimize
        self._run("find_nearest")
        return self._found(self._arrays.q_best.copy(), counts, self._arrays.assembly_numbers)

    def within_bounds(self, starts, weights, tolerance, most_steps):
        """The Nearest, within bounds, that the first of the starts (n, nq) leads to that leads anywhere; its rank is 0.

        restarts is the number of that start, of the best one if not converged.
        """
        arrays = self._arrays
        self._give(starts[0], weights, tolerance, most_steps)
        arrays.assembly_counts[ASSEMBLY_RANK] = 0
        self._run("find_within_bounds", starts)
        return self._found(arrays.q_best.copy(), arrays.assembly_counts, arrays.assembly_numbers)

    def _give(self, q, weights, tolerance, most_steps):
        arrays = self._arrays
        arrays.q_wanted[:], arrays.assembly_weights[:] = q, weights
        arrays.assembly_counts[ASSEMBLY_MOST_STEPS] = most_steps
        arrays.assembly_numbers[ASSEMBLY_TOLERANCE] = tolerance

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
