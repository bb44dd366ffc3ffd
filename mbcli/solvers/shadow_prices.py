"""Shadow prices of constraints: the numbers by which gradients of constraints that hold exactly add up to the costs'.

At a solution grad f = sum of p grad g, with p of any sign for an equation, not negative where g is at its lower bound,
not positive at its upper one, and 0 in between (the conditions of Karush, Kuhn and Tucker). Then p is the derivative of
the least cost by the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbcli.solvers.cones import ConeConstraint

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.binding import Binding
    from mbcli.solvers.mathematical_program import MathematicalProgram

REACHED = 1e-5  # of the size of a value: within this of its bound it is there
OFF = 1e-4  # of the costs' gradient, which the sum may miss


def shadow_prices(prog: MathematicalProgram, x: FloatArray) -> dict[Binding, FloatArray]:
    """The prices (m,) of each constraint at a solution x (n,). RuntimeError if there are none, or one is a cone."""
    from scipy.optimize import lsq_linear

    gradient = np.zeros(x.size)
    for b in prog.costs:
        np.add.at(gradient, prog.positions_of(b), b.evaluator().jacobian(x[prog.positions_of(b)])[0])
    rows, low, high, places = [], [], [], []
    prices: dict[Binding, FloatArray] = {}
    for b in prog.constraints:
        c, own = b.evaluator(), prog.positions_of(b)
        if isinstance(c, ConeConstraint):
            raise RuntimeError("shadow prices of cones are not here")
        values, jacobian = c.values(x[own]), c.jacobian(x[own])
        prices[b] = np.zeros(len(values))
        for k, (value, lower, upper) in enumerate(zip(values, c.lower_bound(), c.upper_bound(), strict=True)):
            near = REACHED * max(1.0, abs(value))
            at_lower, at_upper = value <= lower + near, value >= upper - near
            if at_lower or at_upper:
                row = np.zeros(x.size)
                np.add.at(row, own, jacobian[k])
                rows.append(row)
                low.append(-np.inf if at_upper else 0.0)
                high.append(np.inf if at_lower else 0.0)
                places.append((b, k))
    missed = gradient
    if rows:
        A = np.array(rows).T
        found = lsq_linear(A, gradient, (low, high), tol=1e-12).x
        missed = A @ found - gradient
        for (b, k), price in zip(places, found, strict=True):
            prices[b][k] = price
    if np.abs(missed).max(initial=0.0) > OFF * np.abs(gradient).max(initial=1.0):
        raise RuntimeError("constraints have no shadow prices here: this is no least cost, or they are not regular")
    return prices
