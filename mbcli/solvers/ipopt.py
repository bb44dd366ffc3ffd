"""Nonlinear programs by IPOPT, as the package casadi brings it (the extra `casadi`): sparse, with the exact slopes of
costs and constraints, and curvature by differences of these (L-BFGS).

Waechter and Biegler 2006, doi:10.1007/s10107-004-0559-y.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.extra_packages import import_extra

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.math.array_types import FloatArray
    from mbcli.solvers.constraint_rows import ConstraintRows
    from mbcli.solvers.mathematical_program import MathematicalProgram

RESULTS = {  # {what IPOPT says: the SolutionResult that this is}
    "Solve_Succeeded": "kSolutionFound",
    "Solved_To_Acceptable_Level": "kSolutionFound",
    "Feasible_Point_Found": "kSolutionFound",
    "Infeasible_Problem_Detected": "kInfeasibleConstraints",
    "Diverging_Iterates": "kUnbounded",
    "Maximum_Iterations_Exceeded": "kIterationLimit",
    "Maximum_CpuTime_Exceeded": "kIterationLimit",
    "Maximum_WallTime_Exceeded": "kIterationLimit",
}


def is_installed() -> bool:
    """Whether the package is there."""
    return find_spec("casadi") is not None


def minimize(
    prog: MathematicalProgram,
    rows: ConstraintRows,
    costs: tuple[Callable[[FloatArray], float], Callable[[FloatArray], FloatArray]],
    start: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    options: dict[str, Any],
) -> tuple[FloatArray, str]:
    """(x, what IPOPT said, a key of RESULTS or an error).

    Args:
        costs: the sum of all and its gradient; rows: all constraints that are no bounds (n,) of variables.
        options: of IPOPT, by their names.
    """
    casadi: Any = import_extra("casadi", "casadi", "IPOPT")
    n, (f, gradient) = start.size, costs
    places, columns = rows.pattern()
    one, column = casadi.Sparsity.dense(1, 1), casadi.Sparsity.dense(n, 1)
    values = casadi.Sparsity.dense(rows.lower.size, 1)
    slopes = casadi.Sparsity.triplet(rows.lower.size, n, places.tolist(), columns.tolist())
    where = np.array(slopes.row()), np.array(slopes.get_col())
    failed: list[BaseException] = []

    class Call(casadi.Callback):
        """A function of x and of no parameters."""

        def __init__(self, name: str, outputs: dict[str, Any], evaluate: Callable[[FloatArray], list[Any]]) -> None:
            casadi.Callback.__init__(self)
            self.outputs, self.evaluate = list(outputs.items()), evaluate
            self.construct(name, {})

        def get_n_in(self) -> int:
            return 2

        def get_n_out(self) -> int:
            return len(self.outputs)

        def get_name_in(self, k: int) -> str:
            return "xp"[k]

        def get_name_out(self, k: int) -> str:
            return self.outputs[k][0]

        def get_sparsity_in(self, k: int) -> Any:
            return column if k == 0 else casadi.Sparsity(0, 0)

        def get_sparsity_out(self, k: int) -> Any:
            return self.outputs[k][1]

        def eval(self, given: Any) -> list[Any]:
            try:
                return self.evaluate(np.array(given[0], dtype=float).reshape(-1))
            except BaseException as error:  # casadi tells of it as of a failed evaluation
                failed.append(error)
                raise

    functions = (
        Call("nlp", {"f": one, "g": values}, lambda x: [f(x), rows.values(x)]),
        Call("grad_f", {"f": one, "grad_f_x": column}, lambda x: [f(x), gradient(x)]),
        Call(
            "jac_g",
            {"g": values, "jac_g_x": slopes},
            lambda x: [rows.values(x), casadi.DM(slopes, rows.slopes(x)[where])],
        ),
    )
    nlp, grad_f, jac_g = functions
    settings = {
        "grad_f": grad_f,
        "jac_g": jac_g,
        "no_nlp_grad": True,
        "print_time": False,
        "show_eval_warnings": False,
        "ipopt": {"hessian_approximation": "limited-memory", "print_level": 0, "sb": "yes", **options},
    }
    solver = casadi.nlpsol("program", "ipopt", nlp, settings)
    lower, upper = bounds
    found = solver(x0=start, lbx=lower, ubx=upper, lbg=rows.lower, ubg=rows.upper)
    for error in failed:
        if not isinstance(error, (ArithmeticError, np.linalg.LinAlgError)):
            raise error
    x = np.clip(np.array(found["x"], dtype=float).reshape(-1), lower, upper)
    return x, str(solver.stats()["return_status"])
