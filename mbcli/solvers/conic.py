"""Programs of convex quadratic costs and lengths, linear constraints and second-order cones, by Clarabel.

Clarabel, the extra `solvers`, minimizes x' P x / 2 + q' x over A x + s = b with s in a product of cones (Goulart and
Chen 2024, arXiv:2405.12762).
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.solvers.evaluators import BoundingBoxConstraint, L2NormCost, LinearConstraint, LorentzConeConstraint

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.mathematical_program import MathematicalProgram

TOLERANCE = 1e-10  # of gaps and residuals
RESULTS = {  # {what Clarabel says: the SolutionResult that this is}
    "Solved": "kSolutionFound",
    "AlmostSolved": "kSolutionFound",
    "PrimalInfeasible": "kInfeasibleConstraints",
    "AlmostPrimalInfeasible": "kInfeasibleConstraints",
    "DualInfeasible": "kUnbounded",
    "AlmostDualInfeasible": "kUnbounded",
    "MaxIterations": "kIterationLimit",
    "MaxTime": "kIterationLimit",
}


def takes_constraints(prog: MathematicalProgram) -> bool:
    """Whether Clarabel is installed and has all kinds of constraints of a program."""
    kinds = (LinearConstraint, BoundingBoxConstraint, LorentzConeConstraint)
    return all(isinstance(b.evaluator(), kinds) for b in prog.constraints) and find_spec("clarabel") is not None


def minimize_quadratic(
    prog: MathematicalProgram, P: FloatArray, q: FloatArray, bounds: tuple[FloatArray, FloatArray], max_iterations: int
) -> tuple[FloatArray, str]:
    """(x, what Clarabel said, a key of RESULTS or an error) of the constraints of a program. P: (n, n), q: (n,).

    The program's costs that are lengths are added: each is a variable more, which is at least the length.
    """
    from scipy.sparse import csc_matrix

    clarabel: Any = import_module("clarabel")
    lengths = [b for b in prog.costs if isinstance(b.evaluator(), L2NormCost)]
    n, more = prog.num_vars() + len(lengths), (0, len(lengths))
    P, q = np.pad(P, more), np.pad(q, more, constant_values=1.0)
    bounds = np.pad(bounds[0], more, constant_values=-np.inf), np.pad(bounds[1], more, constant_values=np.inf)
    equal, free, cones = _Rows(n), _Rows(n), []
    for k, b in enumerate(lengths, prog.num_vars()):
        c = b.evaluator()
        cones.append((np.concatenate([np.eye(n)[[k]], _spread(c.A(), prog.positions_of(b), n)]), np.pad(c.b(), (1, 0))))
    for b in prog.constraints:
        c, places = b.evaluator(), prog.positions_of(b)
        if isinstance(c, LorentzConeConstraint):
            cones.append((_spread(c.A(), places, n), c.b()))
        elif not isinstance(c, BoundingBoxConstraint):
            _add(equal, free, _spread(c.A(), places, n), c.lower_bound(), c.upper_bound())
    _add(equal, free, np.eye(n), *bounds)
    A = np.concatenate([*equal.A, *free.A, *(-A for A, _ in cones), np.zeros((0, n))])
    right = np.concatenate([*equal.b, *free.b, *(b for _, b in cones), np.zeros(0)])
    kinds = [clarabel.ZeroConeT(equal.number), clarabel.NonnegativeConeT(free.number)]
    kinds += [clarabel.SecondOrderConeT(len(b)) for _, b in cones]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, max_iterations
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    solver = clarabel.DefaultSolver(csc_matrix(np.triu(P)), q, csc_matrix(A), right, kinds, settings)
    found = solver.solve()
    return np.array(found.x)[: prog.num_vars()], str(found.status)


class _Rows:
    """Blocks of A x <= b, or A x = b."""

    def __init__(self, n: int) -> None:
        self.A, self.b, self.number = [np.zeros((0, n))], [np.zeros(0)], 0

    def add(self, A: FloatArray, b: FloatArray) -> None:
        self.A.append(A)
        self.b.append(b)
        self.number += len(b)


def _add(equal: _Rows, free: _Rows, A: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
    same = lower == upper
    equal.add(A[same], lower[same])
    for sign, bound in ((1.0, upper), (-1.0, lower)):
        rows = ~same & np.isfinite(bound)
        free.add(sign * A[rows], sign * bound[rows])


def _spread(A: FloatArray, places: list[int], n: int) -> FloatArray:
    whole = np.zeros((len(A), n))
    np.add.at(whole.T, places, A.T)
    return whole
