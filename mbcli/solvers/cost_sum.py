"""All costs of a program as one function of all of its variables: those of degree 2 at most are one polynomial."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.solvers.evaluators import LinearCost, QuadraticCost

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.mathematical_program import MathematicalProgram


class CostSum:
    """x' Q x / 2 + g' x + c and the costs that are no polynomials. Coefficients are those when it is made."""

    def __init__(self, prog: MathematicalProgram) -> None:
        from scipy.sparse import csr_array

        n = prog.num_vars()
        self._g, self._c, self._others = np.zeros(n), 0.0, []
        rows, columns, values = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)], [np.zeros(0)]
        for b in prog.costs:
            c, places = b.evaluator(), np.array(prog.positions_of(b), dtype=int)
            if not isinstance(c, (LinearCost, QuadraticCost)):
                self._others.append((c, places))
                continue
            zero = np.zeros(places.size)
            np.add.at(self._g, places, c.jacobian(zero)[0])
            self._c += float(c.values(zero)[0])
            if isinstance(c, QuadraticCost):
                rows.append(np.repeat(places, places.size))
                columns.append(np.tile(places, places.size))
                values.append(c.Q().ravel())
        at = np.concatenate(rows), np.concatenate(columns)
        self._Q = csr_array((np.concatenate(values), at), shape=(n, n))  # of equal places the sum

    def value(self, x: FloatArray) -> float:
        """At values (n,) of all variables."""
        own = x @ (0.5 * (self._Q @ x) + self._g) + self._c
        return float(own + sum(c.values(x[places])[0] for c, places in self._others))

    def gradient(self, x: FloatArray) -> FloatArray:
        """(n,)"""
        total = self._Q @ x + self._g
        for c, places in self._others:
            if places.size:
                np.add.at(total, places, c.jacobian(x[places])[0])
        return total
