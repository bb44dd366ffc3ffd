"""Polynomials of symbolic variables, under the names of pydrake.symbolic; SymPy's Poly does the algebra."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from mbcli.other_names import also_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.math.array_types import Array


class Variables(set[Any]):
    """A set of variables."""

    def size(self) -> int:
        """The number of variables."""
        return len(self)

    def empty(self) -> bool:
        """Whether there is none."""
        return not self

    @also_named(var="variables", vars="variables")
    def insert(self, variables: Any) -> None:
        """Adds one, or several."""
        self.update(variables if np.iterable(variables) else [variables])

    @also_named(key="variable")
    def include(self, variable: Any) -> bool:
        """Whether a variable is one of them."""
        return variable in self


class Monomial:
    """A product of powers of variables.

    Args:
        powers: {variable: exponent}, a variable, or nothing for 1.
        exponent: of the variable.
    """

    @also_named(var="powers", vars="powers", exponents="exponent")
    def __init__(self, powers: Any = None, exponent: Any = 1) -> None:
        if isinstance(powers, (list, tuple, np.ndarray)):
            powers = dict(zip(powers, exponent, strict=True))
        given = {} if powers is None else powers if isinstance(powers, dict) else {powers: exponent}
        self._powers = {v: int(k) for v, k in given.items() if k}

    def get_powers(self) -> dict[Any, int]:
        """{variable: exponent}"""
        return dict(self._powers)

    def degree(self, v: Any) -> int:
        """The exponent of a variable."""
        return self._powers.get(v, 0)

    def total_degree(self) -> int:
        """The sum of the exponents."""
        return sum(self._powers.values())

    def ToExpression(self) -> Any:
        """As an expression."""
        return sympy.sympify(sympy.prod([v**k for v, k in self._powers.items()]))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Monomial):
            return Polynomial(self) * other
        powers = other.get_powers()
        return Monomial({v: self.degree(v) + other.degree(v) for v in {**self._powers, **powers}})

    def __rmul__(self, other: Any) -> Any:
        return Polynomial(self) * other

    def __pow__(self, exponent: int) -> Monomial:
        return Monomial({v: k * exponent for v, k in self._powers.items()})

    def __add__(self, other: Any) -> Any:
        return Polynomial(self) + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return Polynomial(self) - other

    def __rsub__(self, other: Any) -> Any:
        return other - Polynomial(self)

    def __neg__(self) -> Any:
        return Polynomial(self) * -1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Monomial) and self._powers == other.get_powers()

    def __hash__(self) -> int:
        return hash(frozenset(self._powers.items()))

    def __repr__(self) -> str:
        return str(self.ToExpression())


def _number(c: Any, env: dict[Any, float]) -> Any:
    return c.subs(env) if getattr(c, "free_symbols", None) else c


class Polynomial:
    """A polynomial in indeterminates, whose coefficients may be expressions of other variables.

    Attributes:
        variables: sorted by their names; terms: {exponents of these: coefficient}.

    Args:
        e: an expression, a Monomial, or {Monomial: coefficient}. RuntimeError if it is no polynomial.
        indeterminates: all variables of the expression if not given.
    """

    def __init__(self, e: Any = 0, indeterminates: Iterable[Any] | None = None) -> None:
        if isinstance(e, dict):
            indeterminates = {v for m in e for v in m.get_powers()} if indeterminates is None else indeterminates
            e = sum(m.ToExpression() * c for m, c in e.items())
        e = e.ToExpression() if isinstance(e, (Monomial, Polynomial)) else sympy.sympify(e)
        variables = sorted(e.free_symbols if indeterminates is None else set(np.ravel(list(indeterminates))), key=str)
        self.variables = variables
        try:
            self.terms = sympy.Poly(e, *variables).as_dict() if variables else {(): e} if e != 0 else {}
        except sympy.PolynomialError:
            raise RuntimeError(f"{e} is not a polynomial in {', '.join(map(str, variables))}") from None

    @classmethod
    def of_terms(cls, terms: dict[Monomial, Any]) -> Polynomial:
        """The polynomial {Monomial: coefficient}, as it is, without SymPy's algebra."""
        made = cls()
        made.variables = sorted({v for m in terms for v in m.get_powers()}, key=str)
        made.terms = {tuple(m.degree(v) for v in made.variables): c for m, c in terms.items() if c != 0}
        return made

    def indeterminates(self) -> Variables:
        """The variables that it is a polynomial in."""
        return Variables(v for powers in self.terms for v, k in zip(self.variables, powers, strict=True) if k)

    def decision_variables(self) -> Variables:
        """The variables of the coefficients."""
        return Variables(v for c in self.terms.values() for v in sympy.sympify(c).free_symbols)

    def monomial_to_coefficient_map(self) -> dict[Monomial, Any]:
        """{Monomial: coefficient}"""
        return {Monomial(dict(zip(self.variables, p, strict=True))): c for p, c in self.terms.items()}

    def ToExpression(self) -> Any:
        """As an expression, a sum of monomials."""
        return sympy.Add(*(c * m.ToExpression() for m, c in self.monomial_to_coefficient_map().items()))

    def TotalDegree(self) -> int:
        """The largest degree of a monomial."""
        return max((sum(p) for p in self.terms), default=0)

    def Degree(self, v: Any) -> int:
        """The largest exponent of a variable."""
        return max((m.degree(v) for m in self.monomial_to_coefficient_map()), default=0)

    def Differentiate(self, x: Any) -> Polynomial:
        """The derivative by a variable."""
        return self._same(sympy.diff(self.ToExpression(), x))

    def Jacobian(self, vars: Any) -> Array:
        """The derivatives by variables (n,), an array of polynomials."""
        return np.array([self.Differentiate(v) for v in np.ravel(vars)], dtype=object)

    def Evaluate(self, env: dict[Any, float]) -> float:
        """The value. RuntimeError if a variable has none."""
        missing = {*self.indeterminates(), *self.decision_variables()} - set(env)
        if missing:
            raise RuntimeError(f"Evaluate: there is no value for {', '.join(sorted(map(str, missing)))}")
        x = [float(env.get(v, 0.0)) for v in self.variables]
        return sum(float(_number(c, env)) * prod(map(pow, x, powers)) for powers, c in self.terms.items())

    def EvaluateIndeterminates(self, indeterminates: Any, indeterminates_values: Any) -> Array:
        """Values (k,) at the columns of values (n, k) of the variables (n,)."""
        function = sympy.lambdify(list(np.ravel(indeterminates)), self.ToExpression())
        return np.array([function(*x) for x in np.reshape(indeterminates_values, (np.size(indeterminates), -1)).T])

    def EvaluatePartial(self, env: dict[Any, float]) -> Polynomial:
        """With values in place of some variables."""
        return self._same(self.ToExpression().subs(env), set(self.variables) - set(env))

    def RemoveTermsWithSmallCoefficients(self, coefficient_tol: float) -> Polynomial:
        """Without the terms whose coefficients are numbers of at most this size."""
        terms = self.monomial_to_coefficient_map().items()
        kept = {m: c for m, c in terms if not (sympy.sympify(c).is_number and abs(c) <= coefficient_tol)}
        return Polynomial(kept, self.variables)

    def CoefficientsAlmostEqual(self, p: Polynomial, tolerance: float) -> bool:
        """Whether coefficients differ by at most a tolerance."""
        return not (self - p).RemoveTermsWithSmallCoefficients(tolerance).terms

    def EqualTo(self, p: Polynomial) -> bool:
        """Whether the terms are equal."""
        return self.monomial_to_coefficient_map() == p.monomial_to_coefficient_map()

    def _same(self, e: Any, variables: Iterable[Any] | None = None) -> Polynomial:
        return Polynomial(e, self.variables if variables is None else variables)

    def _with(self, other: Any, e: Any) -> Polynomial:
        more = other.variables if isinstance(other, Polynomial) else set()
        return self._same(e, {*self.variables, *more})

    def __add__(self, other: Any) -> Polynomial:
        return self._with(other, self.ToExpression() + _expression(other))

    def __sub__(self, other: Any) -> Polynomial:
        return self._with(other, self.ToExpression() - _expression(other))

    def __mul__(self, other: Any) -> Polynomial:
        return self._with(other, self.ToExpression() * _expression(other))

    def __truediv__(self, other: float) -> Polynomial:
        return self._same(self.ToExpression() / other)

    def __pow__(self, exponent: int) -> Polynomial:
        return self._same(self.ToExpression() ** exponent)

    def __neg__(self) -> Polynomial:
        return self._same(-self.ToExpression())

    def __rsub__(self, other: Any) -> Polynomial:
        return -self + other

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        return str(self.ToExpression())


def _expression(value: Any) -> Any:
    return value.ToExpression() if isinstance(value, (Monomial, Polynomial)) else value


def MonomialBasis(vars: Any, degree: int) -> Array:
    """All Monomials of variables up to a degree, those of the highest degree first."""
    variables = list(np.ravel(np.array(list(vars), dtype=object)))
    found = [c for d in range(degree, -1, -1) for c in combinations_with_replacement(variables, d)]
    return np.array([Monomial({v: c.count(v) for v in c}) for c in found], dtype=object)


def EvenDegreeMonomialBasis(vars: Any, degree: int) -> Array:
    """Those of MonomialBasis() whose degree is even."""
    return np.array([m for m in MonomialBasis(vars, degree) if m.total_degree() % 2 == 0], dtype=object)


def OddDegreeMonomialBasis(vars: Any, degree: int) -> Array:
    """Those of MonomialBasis() whose degree is odd."""
    return np.array([m for m in MonomialBasis(vars, degree) if m.total_degree() % 2], dtype=object)
