"""From symbolic expressions and formulas, which are SymPy's, to matrices."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import sympy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from mbcli.math.array_types import Array, FloatArray

    Terms: TypeAlias = dict[tuple[Any, ...], float]


MOST_KEPT = 512  # forms
FEW_SLOPES = 64
WITH_CORNERS = (sympy.Piecewise, sympy.Abs, sympy.Max, sympy.Min, sympy.sign, sympy.floor, sympy.ceiling)


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

    def __mul__(self, other: Any) -> Any:
        """SymPy's product; of a number it is found at once that there is nothing to simplify."""
        if isinstance(other, float) and 0.0 < abs(other) < np.inf:
            return sympy.Mul(sympy.Float(float(other)), self, evaluate=False)
        return super().__mul__(other)

    def __rmul__(self, other: Any) -> Any:
        """As __mul__."""
        return self * other if isinstance(other, float) else super().__rmul__(other)


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
    """All variables of expressions and Differences, in the order of their making."""
    found: set[Any] = set()
    for e in expressions:
        for side in (e.more, e.less) if isinstance(e, Difference) else (e,):
            found |= sympy.sympify(side).free_symbols
    return sorted(found, key=_order)


def _order(v: Any) -> tuple[int, str]:
    return getattr(v, "dummy_index", 0), v.name


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
    if isinstance(e, Difference):
        more, less = _product(sympy.sympify(e.more)), _product(sympy.sympify(e.less))
        terms = None if more is None or less is None else _sum(more, less, -1.0)
        e = e.expression() if terms is None else e
    else:
        terms = _product(e := sympy.sympify(e))
    if terms is None and _expands(e):
        terms = _product(sympy.expand(e))  # what is of higher degree may go away
    return terms and {monomial: factor for monomial, factor in terms.items() if factor}


def _product(e: Any) -> Terms | None:
    """The terms of an expression as it stands: SymPy takes milliseconds for a square of a sum."""
    if e.is_Symbol:
        return {(e,): 1.0}
    if e.is_Number or e.is_NumberSymbol:
        return {(): float(e)}
    if e.is_Add:
        total: Terms = {}
        for part in e.args:
            terms = _product(part)
            if terms is None:
                return None
            _sum(total, terms)
        return total
    if e.is_Mul or (e.is_Pow and e.exp == 2):
        product: Terms = {(): 1.0}
        for part in e.args if e.is_Mul else (e.base, e.base):
            terms = _product(part)
            if terms is None or not (product := _times(product, terms)):
                return None
        return product
    return None


def _expands(e: Any) -> bool:
    """Whether an expression has a sum in a product or in a power, without which SymPy has added all that there is."""
    if e.is_Add:
        return any(_expands(part) for part in e.args)
    return bool((e.is_Mul or e.is_Pow) and any(part.is_Add or _expands(part) for part in e.args))


def _sum(total: Terms, terms: Terms, factor: float = 1.0) -> Terms:
    """The total, to which a multiple of terms is added."""
    for monomial, x in terms.items():
        total[monomial] = total.get(monomial, 0.0) + factor * x
    return total


def _times(left: Terms, right: Terms) -> Terms:
    """The product of terms; empty if it has one of degree 3."""
    product: Terms = {}
    for a, x in left.items():
        for b, y in right.items():
            monomial = tuple(sorted((*a, *b), key=_order)) if a and b else a or b
            if len(monomial) > 2:
                return {}
            product[monomial] = product.get(monomial, 0.0) + x * y
    return product


class Form:
    """What expressions and Differences that are alike but for their variables have in common: functions of numbers.

    Constraints of a trajectory are of few forms.
    """

    known: ClassVar[dict[tuple[Any, ...], Form]] = {}

    def __init__(self, pairs: list[tuple[Any, Any]], variables: list[Any]) -> None:
        self._pairs, self._variables = pairs, variables
        sides = [[pair[side] for pair in pairs] for side in (0, 1)]
        self._sides = sympy.lambdify([variables], sides, modules="numpy")

    @classmethod
    def of(cls, expressions: Sequence[Any], variables: Sequence[Any]) -> Form:
        """That of expressions in the order of these variables."""
        places = {v: place for place, v in enumerate(variables)}
        both = [(e.more, e.less) if isinstance(e, Difference) else (e, 0) for e in expressions]
        pairs = [(sympy.sympify(more), sympy.sympify(less)) for more, less in both]
        form = (len(places), *(_form(side, places) for pair in pairs for side in pair))
        if form not in cls.known:
            while len(cls.known) >= MOST_KEPT:
                del cls.known[next(iter(cls.known))]
            cls.known[form] = cls(pairs, list(variables))
        return cls.known[form]

    def values(self, x: Any) -> Any:
        """(m,) of an array (n,) of numbers or AutoDiffXd."""
        more, less = self._sides(list(x))
        return np.array([a - b for a, b in zip(more, less, strict=True)])

    @cached_property
    def slopes(self) -> Callable[[list[Any]], Any] | None:
        """A function of a list of numbers: derivatives (m, n). None for many, or with corners: AutoDiffXd is better."""
        has_corners = any(side.has(*WITH_CORNERS) for pair in self._pairs for side in pair)
        if len(self._pairs) * len(self._variables) > FEW_SLOPES or has_corners:
            return None
        of_pairs = [[sympy.diff(a, x) - sympy.diff(b, x) for x in self._variables] for a, b in self._pairs]
        made: Callable[[list[Any]], Any] = sympy.lambdify([self._variables], of_pairs, modules="numpy", cse=True)
        return made


def _form(e: Any, places: dict[Any, int]) -> Any:
    """An expression with the places of its variables in their stead."""
    if e in places:
        return (places[e],)  # no number, which an exponent is
    return (e.func, *(_form(part, places) for part in e.args)) if e.args else e


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
