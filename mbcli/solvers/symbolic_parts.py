"""From symbolic expressions and formulas, which are SymPy's, to matrices."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sympy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from mbcli.math.array_types import Array, FloatArray

    Terms: TypeAlias = dict[tuple[Any, ...], float]


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
    return sorted(found, key=_order)


def _order(v: Any) -> tuple[int, str]:
    return getattr(v, "dummy_index", 0), str(v)


class Difference(NamedTuple):
    """more - less, which nobody has subtracted yet: SymPy takes milliseconds for a sum of some variables."""

    more: Any
    less: Any

    def expression(self) -> Any:
        """It as an expression."""
        return self.more - self.less


def polynomials(expressions: Sequence[Any]) -> Polynomials | None:
    """The Polynomials that expressions and Differences are; None if one is of a higher degree, or none."""
    terms = [_terms_of(e) for e in expressions]
    if any(of_row is None for of_row in terms):
        return None
    found = [of_row for of_row in terms if of_row is not None]
    names: set[Any] = set().union(*(_names_of(e, of_row) for e, of_row in zip(expressions, found, strict=True)))
    variables = sorted(names, key=_order)
    index = {v: k for k, v in enumerate(variables)}
    m, n = len(expressions), len(variables)
    A, c, quadratic = np.zeros((m, n)), np.zeros(m), [np.zeros((n, n)) for _ in range(m)]
    for row, of_row in enumerate(found):
        for monomial, factor in of_row.items():
            places = [index[v] for v in monomial]
            if not places:
                c[row] += factor
            elif len(places) == 1:
                A[row, places[0]] += factor
            else:
                i, j = places
                quadratic[row][i, j] += factor
                quadratic[row][j, i] += factor
    return Polynomials(variables, A, c, quadratic)


def _names_of(e: Any, terms: Terms) -> set[Any]:
    """The variables of an expression; of a Difference without those that go away."""
    if isinstance(e, Difference):
        return {v for monomial, factor in terms.items() if factor for v in monomial}
    return set(sympy.sympify(e).free_symbols)


def _terms_of(e: Any) -> Terms | None:
    """{its variables, two at most: factor}; None if it is no such polynomial."""
    parts = ((e.more, 1.0), (e.less, -1.0)) if isinstance(e, Difference) else ((e, 1.0),)
    terms: Terms = defaultdict(float)
    if all(_collects(sympy.sympify(part), factor, terms) for part, factor in parts):
        return terms if not isinstance(e, Difference) else {k: x for k, x in terms.items() if x}
    terms = defaultdict(float)  # products of sums, and what is none
    whole = sympy.expand(sympy.sympify(e.expression() if isinstance(e, Difference) else e))
    return terms if all(_collects(part, 1.0, terms) for part in sympy.Add.make_args(whole)) else None


def _collects(e: Any, factor: float, terms: Terms) -> bool:
    """Adds factor times an expression to the terms; False if it is no sum of monomials of degree 2 at most."""
    if e.is_Symbol:
        terms[(e,)] += factor
    elif e.is_Number or e.is_NumberSymbol:
        terms[()] += factor * float(e)
    elif e.is_Add:
        return all(_collects(part, factor, terms) for part in e.args)
    elif e.is_Mul:
        rest = [part for part in e.args if not (part.is_Number or part.is_NumberSymbol)]
        for part in e.args:
            factor = factor * float(part) if part.is_Number or part.is_NumberSymbol else factor
        if len(rest) == 1 and not rest[0].is_Symbol:
            return _collects(rest[0], factor, terms)
        if len(rest) > 2 or not all(part.is_Symbol for part in rest):
            return False
        terms[tuple(sorted(rest, key=_order))] += factor
    elif e.is_Pow and e.exp == 2 and e.base.is_Symbol:
        terms[(e.base, e.base)] += factor
    else:
        return False
    return True


def function_of(expressions: Sequence[Any], variables: Sequence[Any]) -> Callable[[Any], Any]:
    """A function of an array of numbers or AutoDiffXd in the order of the variables."""
    made = sympy.lambdify([list(variables)], [sympy.sympify(e) for e in expressions], modules="numpy")
    return lambda x: np.array(made(list(x)))


def bounded(formulas: Sequence[Any]) -> tuple[list[Difference], FloatArray, FloatArray]:
    """(Differences, lower, upper) that say the same as formulas: e >= 0 and the like, joined by And.

    TypeError for True and False, which `==` gives: eq(a, b) of mbcli.math makes a formula of an equation.
    """
    differences, lower, upper = [], [], []
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
        differences.append(Difference(f.lhs, f.rhs))
        lower.append(-np.inf if less else 0.0)
        upper.append(0.0 if less or equal else np.inf)
    return differences, np.array(lower), np.array(upper)
