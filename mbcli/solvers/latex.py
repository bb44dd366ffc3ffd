"""Costs and constraints in LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.solvers.evaluators import (
    Constraint,
    ExpressionConstraint,
    ExpressionCost,
    LinearConstraint,
    LinearCost,
    QuadraticConstraint,
    QuadraticCost,
)
from mbcli.symbolic import ToLatex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Array
    from mbcli.solvers.evaluators import EvaluatorBase

WRITTEN = (LinearCost, QuadraticCost, LinearConstraint, QuadraticConstraint)  # those whose function takes expressions


def in_latex(evaluator: EvaluatorBase, variables: Array, precision: int = 3) -> str:
    """A cost, or a constraint with its bounds; of functions of Python the kind and the variables."""
    if isinstance(evaluator, (ExpressionCost, ExpressionConstraint)):
        own = dict(zip(evaluator.vars(), variables, strict=True))
        given = [evaluator.expression()] if isinstance(evaluator, ExpressionCost) else list(evaluator.expressions())
        values = np.array([e.subs(own, simultaneous=True) for e in given], dtype=object)
    elif isinstance(evaluator, WRITTEN):
        values = evaluator.Eval(variables)
    else:
        return rf"\text{{{type(evaluator).__name__}}}({', '.join(ToLatex(v) for v in variables)})"
    text = ToLatex(values[0] if values.size == 1 else values, precision)
    if not isinstance(evaluator, Constraint):
        return f"({text})"
    low, high = evaluator.lower_bound(), evaluator.upper_bound()
    if (low == high).all():
        return f"{text} = {_numbers(low, precision)}"
    below = f"{_numbers(low, precision)} \\le " if np.isfinite(low).any() else ""
    above = f" \\le {_numbers(high, precision)}" if np.isfinite(high).any() else ""
    return below + text + above


def _numbers(values: np.ndarray, precision: int) -> str:
    return ToLatex(values[0] if values.size == 1 else values.astype(object), precision)


def program_in_latex(variables: Sequence[Any], costs: Sequence[Any], constraints: Sequence[Any], precision: int) -> str:
    """A program in LaTeX, by the Bindings of its costs and constraints, numbers to so many decimals."""
    summands = [in_latex(b.evaluator(), b.variables(), precision) for b in costs]
    kept = ", ".join(ToLatex(v) for v in variables)
    lines = [
        rf"\min_{{{kept}}} \quad & " + "\\\\\n &  + ".join(summands)
        if summands
        else rf"\text{{find}}_{{{kept}}} \quad &"
    ]
    for k, b in enumerate(constraints):
        lines.append(
            (r" \text{subject to}\quad & " if k == 0 else " & ") + in_latex(b.evaluator(), b.variables(), precision)
        )
    return "\\begin{align*}\n" + "\\\\\n".join(lines) + "\n\\end{align*}\n"
