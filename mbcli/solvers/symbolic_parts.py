"""From symbolic expressions and formulas, which are SymPy's, to matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.math.array_types import Array, FloatArray


class DecisionVariable(sympy.Dummy):
    """A variable of a program; two of one name are two variables."""

    def get_name(self) -> str:
        """The name."""
        return str(self.name)

    def get_id(self) -> int:
        """A number of its own."""
        return int(self.dummy_index)

    def _sympystr(self, printer: Any) -> str:
        return str(self.name)


def named_variables(rows: int, cols: Any, name: str) -> Array:
    """New variables (rows,), or (rows, cols), with names such as x(0) or x(0,1). A text for cols is the name."""
    if isinstance(cols, str):
        cols, name = None, cols
    shape = (int(rows),) if cols is None else (int(rows), int(cols))
    made = np.empty(shape, dtype=object)
    for place in np.ndindex(shape):
        made[place] = DecisionVariable(f"{name}({','.join(map(str, place))})", real=True)
    return made


class Polynomials:
    """Expressions of degree 2 at most: A x + c + terms, of the variables that occur in them.

    Attributes:
        variables: list; A: (m, n); c: (m,); quadratic: [Q (n, n) with 0.5 x' Q x], zero where it is linear.
        is_linear: whether all are.
    """

    def __init__(self, variables: list[Any], A: FloatArray, c: FloatArray, quadratic: list[FloatArray]) -> None:
        self.variables, self.A, self.c, self.quadratic = variables, A, c, quadratic
        self.is_linear = not any(Q.any() for Q in quadratic)


def variables_of(expressions: Sequence[Any]) -> list[Any]:
    """All variables, in the order of their making."""
    found: set[Any] = set()
    for e in expressions:
        found |= sympy.sympify(e).free_symbols
    return sorted(found, key=lambda v: (getattr(v, "dummy_index", 0), str(v)))


def polynomials(expressions: Sequence[Any]) -> Polynomials | None:
    """The Polynomials that expressions are; None if one is of a higher degree, or none."""
    variables = variables_of(expressions)
    index = {v: k for k, v in enumerate(variables)}
    m, n = len(expressions), len(variables)
    A, c, quadratic = np.zeros((m, n)), np.zeros(m), [np.zeros((n, n)) for _ in range(m)]
    for row, e in enumerate(expressions):
        for monomial, factor in sympy.expand(sympy.sympify(e)).as_coefficients_dict().items():
            powers = monomial.as_powers_dict()
            factors = [index[v] for v, p in powers.items() if v in index and p in (1, 2) for _ in range(int(p))]
            known = all(v in index and p in (1, 2) for v, p in powers.items() if v != 1)
            if not known or len(factors) > 2:
                return None
            if not factors:
                c[row] += float(factor * monomial)
            elif len(factors) == 1:
                A[row, factors[0]] += float(factor)
            else:
                i, j = factors
                quadratic[row][i, j] += float(factor)
                quadratic[row][j, i] += float(factor)
    return Polynomials(variables, A, c, quadratic)


def function_of(expressions: Sequence[Any], variables: Sequence[Any]) -> Callable[[Any], Any]:
    """A function of an array of numbers or AutoDiffXd in the order of the variables."""
    made = sympy.lambdify([list(variables)], [sympy.sympify(e) for e in expressions], modules="numpy")
    return lambda x: np.array(made(list(x)))


def bounded(formulas: Sequence[Any]) -> tuple[list[Any], FloatArray, FloatArray]:
    """(expressions, lower, upper) that say the same as formulas: e >= 0 and the like, joined by And.

    TypeError for True and False, which `==` gives: eq(a, b) of mbcli.math makes a formula of an equation.
    """
    expressions, lower, upper = [], [], []
    waiting = list(formulas)
    while waiting:
        f = waiting.pop(0)
        if isinstance(f, sympy.And):
            waiting = [*f.args, *waiting]
            continue
        if not isinstance(f, sympy.core.relational.Relational) or isinstance(f, sympy.Ne):
            hint = ": equations are made by eq(a, b), `==` compares at once" if f in (True, False) else ""
            raise TypeError(f"a constraint is an equation or an inequality, not {f!r}{hint}")
        less, equal = isinstance(f, (sympy.Le, sympy.Lt)), isinstance(f, sympy.Eq)
        expressions.append(f.lhs - f.rhs)
        lower.append(-np.inf if less else 0.0)
        upper.append(0.0 if less or equal else np.inf)
    return expressions, np.array(lower), np.array(upper)
