"""Programs of convex quadratic costs and norms with constraints that are convex cones, by Clarabel.

Clarabel, the extra `solvers`, minimizes x' P x / 2 + q' x over A x + s = b with s in a product of cones (Goulart and
Chen 2024, arXiv:2405.12762).
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ResourceError
from mbcli.solvers.cone_rows import OF_MATRICES, SECOND_ORDER, TOLERANCE, ConeRows, Elements
from mbcli.solvers.cones import ConeConstraint, RotatedLorentzConeConstraint
from mbcli.solvers.evaluators import (
    BoundingBoxConstraint,
    LinearConstraint,
    LinearCost,
    QuadraticConstraint,
    QuadraticCost,
)
from mbcli.solvers.norms import L1NormCost, L2NormCost, LInfNormCost, NormCost, PerspectiveQuadraticCost

if TYPE_CHECKING:
    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.binding import Binding
    from mbcli.solvers.evaluators import EvaluatorBase
    from mbcli.solvers.mathematical_program import MathematicalProgram

RESULTS = {  # {what Clarabel says: the SolutionResult that this is}
    "Solved": "kSolutionFound",
    "AlmostSolved": "kSolutionFound",
    "PrimalInfeasible": "kInfeasibleConstraints",
    "AlmostPrimalInfeasible": "kInfeasibleConstraints",
    "DualInfeasible": "kDualInfeasible",
    "AlmostDualInfeasible": "kDualInfeasible",
    "MaxIterations": "kIterationLimit",
    "MaxTime": "kIterationLimit",
}


def is_convex_cost(c: EvaluatorBase) -> bool:
    """Whether a cost is one that Clarabel takes."""
    return isinstance(c, (LinearCost, NormCost)) or (isinstance(c, QuadraticCost) and c.is_convex())


def takes_constraints(prog: MathematicalProgram) -> bool:
    """Whether Clarabel is installed and has all kinds of constraints of a program."""
    return all(_takes(b.evaluator()) for b in prog.constraints) and find_spec("clarabel") is not None


def _takes(c: EvaluatorBase) -> bool:
    return isinstance(c, (LinearConstraint, ConeConstraint)) or (isinstance(c, QuadraticConstraint) and c.is_convex())


def needs_cones(prog: MathematicalProgram) -> bool:
    """Whether a program has constraints that no other solver takes.

    ResourceError if Clarabel is not installed then; RuntimeError if the program has what it does not take beside them.
    """
    if not any(_is_of_matrices(b) for b in prog.constraints):
        return False
    if find_spec("clarabel") is None:
        raise ResourceError("semidefinite and exponential cones need Clarabel: pip install 'mbcli[solvers]'")
    others = [b for b in prog.costs if not is_convex_cost(b.evaluator())]
    others += [b for b in prog.constraints if not _takes(b.evaluator())]
    if others:
        raise RuntimeError(
            f"beside semidefinite and exponential cones costs and constraints are convex, not {others[0]!r}"
        )
    return True


def _is_of_matrices(b: Binding) -> bool:
    return isinstance(b.evaluator(), ConeConstraint) and b.evaluator().KIND != SECOND_ORDER


def minimize_quadratic(
    prog: MathematicalProgram, P: Elements, q: FloatArray, bounds: tuple[FloatArray, FloatArray], max_iterations: int
) -> tuple[FloatArray, str]:
    """(x, what Clarabel said, a key of RESULTS or an error) of the constraints of a program. P: (n, n), q: (n,).

    The program's costs that are norms are added, by variables more that are at least the norms.
    """
    rows = ConeRows(prog.num_vars() + sum(_num_slacks(b.evaluator()) for b in prog.costs))
    first = slack = prog.num_vars()
    q = np.concatenate([q, np.ones(rows.n - first)])
    for b in prog.costs:
        c = b.evaluator()
        if isinstance(c, NormCost):
            _add_norm(rows, c, prog.positions_of(b), slack)
            slack += _num_slacks(c)
    for b in prog.constraints:
        _add_constraint(rows, b.evaluator(), prog.positions_of(b))
    rows.add_between(Elements(first, np.arange(first), np.arange(first), np.ones(first)), *bounds)
    tolerance = OF_MATRICES if any(map(_is_of_matrices, prog.constraints)) else TOLERANCE
    x, said = rows.minimize(P, q, tolerance, max_iterations)
    return x[:first], said


def _num_slacks(c: EvaluatorBase) -> int:
    if not isinstance(c, NormCost):
        return 0
    return len(c.b()) if isinstance(c, L1NormCost) else 1


def _add_norm(rows: ConeRows, c: NormCost, places: list[int], slack: int) -> None:
    """A norm as variables from a place on whose sum is at least it."""
    Z, z, count = _wide(c.A(), places, rows.n), c.b(), _num_slacks(c)
    T = np.eye(rows.n)[slack : slack + count]
    if isinstance(c, L2NormCost):
        rows.add_cone(SECOND_ORDER, np.concatenate([T, Z]), np.pad(z, (1, 0)))
    elif isinstance(c, PerspectiveQuadraticCost):
        cone = RotatedLorentzConeConstraint(np.concatenate([T, Z]), np.pad(z, (1, 0)))
        rows.add_cone(SECOND_ORDER, *cone.cone())
    elif isinstance(c, (L1NormCost, LInfNormCost)):  # one variable for each element, or for all
        for sign in (1.0, -1.0):
            rows.add_between(T - sign * Z, sign * z, np.full(len(z), np.inf))
    else:
        raise RuntimeError(f"{type(c).__name__} is not known here")


def _add_constraint(rows: ConeRows, c: EvaluatorBase, places: list[int]) -> None:
    if isinstance(c, ConeConstraint):
        A, b = c.cone()
        rows.add_cone(c.KIND, Elements.of(A, places), b)
    elif isinstance(c, QuadraticConstraint) and not c.Q().any():
        rows.add_between(Elements.of(c.b()[None], places), c.lower_bound(), c.upper_bound())
    elif isinstance(c, QuadraticConstraint):
        A, b = _as_cone(c).cone()
        rows.add_cone(SECOND_ORDER, Elements.of(A, places), b)
    elif isinstance(c, LinearConstraint) and not isinstance(c, BoundingBoxConstraint):
        rows.add_between(Elements.of(c.A(), places), c.lower_bound(), c.upper_bound())


def _as_cone(c: QuadraticConstraint) -> RotatedLorentzConeConstraint:
    """A convex quadratic constraint: what is left of its bound is at least the square of a length."""
    sign = 1.0 if np.isfinite(c.upper_bound()[0]) else -1.0
    bound = sign * (c.upper_bound() if sign > 0.0 else c.lower_bound())[0]
    values, vectors = np.linalg.eigh(0.5 * sign * c.Q())
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    A = np.concatenate([-sign * c.b()[None], np.zeros((1, len(root))), root])
    return RotatedLorentzConeConstraint(A, np.concatenate([[bound, 1.0], np.zeros(len(root))]))


def _wide(A: FloatArray, places: list[int], n: int) -> FloatArray:
    whole = np.zeros((len(A), n))
    np.add.at(whole.T, places, A.T)
    return whole
