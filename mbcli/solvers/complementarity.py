"""Linear complementarity: z >= 0, M z + q >= 0 and z' (M z + q) = 0, by Lemke's pivots.

Lemke's algorithm: Cottle, Pang and Stone, The Linear Complementarity Problem, 1992, section 4.4. It ends with a
solution or on a ray, where for many classes of M there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.solvers.evaluators import Constraint

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mbcli.math.array_types import FloatArray

TOLERANCE = 1e-10  # of an element of a column, to be no zero
MOST_PIVOTS = 100  # for each row


class LinearComplementarityConstraint(Constraint):
    """z >= 0, M z + q >= 0 and z' (M z + q) = 0; its values are z, M z + q and the product."""

    def __init__(self, M: ArrayLike, q: ArrayLike) -> None:
        self._M, self._q = np.asarray(M, dtype=float), np.asarray(q, dtype=float).reshape(-1)
        n = self._q.size
        if self._M.shape != (n, n):
            raise RuntimeError(f"a linear complementarity constraint with M {self._M.shape} and q ({n},)")
        super().__init__(self._values, np.zeros(2 * n + 1), np.r_[np.full(2 * n, np.inf), 0.0], n)

    def _values(self, x: Any) -> Any:
        w = self._M @ x + self._q
        return np.concatenate([x, w, [x @ w]])

    def M(self) -> FloatArray:
        """(n, n)"""
        return self._M

    def q(self) -> FloatArray:
        """(n,)"""
        return self._q


def lemke(M: FloatArray, q: FloatArray) -> FloatArray | None:
    """z (n,) with z >= 0, w = M z + q >= 0 and z' w = 0; None if the pivots end on a ray or do not end."""
    n = q.size
    if n == 0 or q.min() >= 0.0:
        return np.zeros(n)
    # the columns w (n), z (n) and the artificial one, of w - M z - e z0 = q
    table = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]])
    basis = np.arange(n)
    row, entering = int(np.argmin(q)), 2 * n
    for _ in range(MOST_PIVOTS * n):
        table[row] /= table[row, entering]
        others = np.arange(n) != row
        table[others] -= np.outer(table[others, entering], table[row])
        leaving, basis[row] = basis[row], entering
        if leaving == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = table[:, -1]
            return np.maximum(z[n : 2 * n], 0.0)
        entering = leaving + n if leaving < n else leaving - n
        column = table[:, entering]
        rises = column > TOLERANCE
        if not rises.any():
            return None
        ratios = np.where(rises, table[:, -1] / np.where(rises, column, 1.0), np.inf)
        row = _least(table, ratios, column, basis, 2 * n)
    return None


def _least(table: FloatArray, ratios: FloatArray, column: FloatArray, basis: Any, artificial: int) -> int:
    """The row that blocks: the artificial variable's if it is among the least, else by their order, without circles."""
    ties = np.flatnonzero(ratios <= ratios.min() + 1e-12 * max(1.0, abs(ratios.min())))
    for row in ties:
        if basis[row] == artificial:
            return int(row)
    n = len(ratios)
    return int(min(ties, key=lambda row: tuple(table[row, :n] / column[row])))
