"""Polynomials of symbolic variables and their quotients, under the names of pydrake.symbolic."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from mbcli.math.symbolic_summands import summands_of
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

    @also_named(key="variables", vars="variables")
    def erase(self, variables: Any) -> int:
        """Takes one away, or several; returns how many there were."""
        gone = self & set(variables if np.iterable(variables) else [variables])
        self.difference_update(gone)
        return len(gone)

    def EqualTo(self, vars: Any) -> bool:
        """Whether they are the same."""
        return self == vars

    def IsSubsetOf(self, vars: Any) -> bool:
        """Whether all are among others."""
        return self <= vars

    def IsStrictSubsetOf(self, vars: Any) -> bool:
        """Whether all are among others, which are more."""
        return self < vars

    def IsSupersetOf(self, vars: Any) -> bool:
        """Whether others are all among them."""
        return self >= vars

    def IsStrictSupersetOf(self, vars: Any) -> bool:
        """Whether others, which are fewer, are all among them."""
        return self > vars

    def to_string(self) -> str:
        """Their names in braces."""
        return f"{{{', '.join(sorted(map(str, self)))}}}"

    __str__ = to_string

    def __repr__(self) -> str:
        return f'<Variables "{self.to_string()}">'

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))

    def __add__(self, other: Any) -> Variables:
        return Variables(self | set(other if np.iterable(other) else [other]))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Variables:
        return Variables(set.__sub__(self, set(other if np.iterable(other) else [other])))

    __iadd__, __isub__ = __add__, __sub__

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

    def GetVariables(self) -> Variables:
        """The variables."""
        return Variables(self._powers)

    def EqualTo(self, other: Any) -> bool:
        """Whether the powers are equal."""
        return self == other

    def Evaluate(self, env: dict[Any, float] | None = None, vars: Any = None, vars_values: Any = None) -> Any:
        """The value by {variable: number}, or values (k,) at the columns of values (n, k) of variables (n,).

        RuntimeError if a variable has none, or one that is not a number.
        """
        if env is None:
            values = np.asarray(vars_values, dtype=float)
            return self.Evaluate(dict(zip(np.ravel(vars), values, strict=True)))
        _require_numbers(self._powers, env)
        return prod((env[v] ** k for v, k in self._powers.items()), start=1.0)

    def EvaluatePartial(self, env: dict[Any, float]) -> tuple[float, Monomial]:
        """(the value of the powers that have one, the Monomial of the others)"""
        known = {v: k for v, k in self._powers.items() if v in env}
        rest = {v: k for v, k in self._powers.items() if v not in env}
        return Monomial(known).Evaluate(env), Monomial(rest)

    def pow_in_place(self, p: int) -> Monomial:
        """Becomes its power, and is returned."""
        self._powers = {v: k * p for v, k in self._powers.items()}
        return self

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
        if isinstance(other, sympy.Expr) and not other.is_number:
            return self.ToExpression() * other
        if not isinstance(other, Monomial):
            return Polynomial(self) * other
        powers = other.get_powers()
        return Monomial({v: self.degree(v) + other.degree(v) for v in {**self._powers, **powers}})

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        return self.ToExpression() / other if isinstance(other, sympy.Expr) else Polynomial(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.ToExpression()

    def __pow__(self, exponent: int) -> Monomial:
        return Monomial({v: k * exponent for v, k in self._powers.items()})

    def __add__(self, other: Any) -> Any:
        return self.ToExpression() + other if isinstance(other, sympy.Expr) else Polynomial(self) + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return other - (self.ToExpression() if isinstance(other, sympy.Expr) else Polynomial(self))

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


def _require_numbers(variables: Iterable[Any], env: dict[Any, Any]) -> None:
    lacking = [v for v in variables if v not in env]
    if lacking:
        raise RuntimeError(f"Evaluate: there is no value for {', '.join(sorted(map(str, lacking)))}")
    bad = [v for v in variables if np.isnan(env[v]).any()]
    if bad:
        raise RuntimeError(f"Evaluate: {', '.join(sorted(map(str, bad)))} is NaN")


@lru_cache(maxsize=1024)
def _parts(c: Any) -> tuple[tuple[Any, float], ...]:
    """((part without a number, its factor), ...) of a coefficient: SymPy takes milliseconds for a multiple of a sum."""
    return tuple((part, float(factor)) for part, factor in c.as_coefficients_dict().items())


def _multiple(x: float, part: Any) -> Any:
    return sympy.Mul(sympy.Float(x), part, evaluate=False) if part.is_Symbol and x != 1.0 else x * part


class Polynomial:
    """A polynomial in indeterminates, whose coefficients may be expressions of other variables.

    Attributes:
        variables: sorted by their names.

    Args:
        e: an expression, a Monomial, or {Monomial: coefficient}. RuntimeError if it is no polynomial.
        indeterminates: all variables of the expression if not given.
    """

    @also_named(map="e", m="e")
    def __init__(self, e: Any = 0, indeterminates: Iterable[Any] | None = None) -> None:
        if isinstance(e, dict):
            indeterminates = {v for m in e for v in m.get_powers()} if indeterminates is None else indeterminates
            e = sum(m.ToExpression() * c for m, c in e.items())
        e = e.ToExpression() if isinstance(e, (Monomial, Polynomial)) else sympy.sympify(e)
        variables = sorted(e.free_symbols if indeterminates is None else set(np.ravel(list(indeterminates))), key=str)
        self.variables = variables
        places = {v: k for k, v in enumerate(variables)}
        found = {powers: sympy.Add(*summands) for powers, summands in summands_of(e, places, e).items()}
        self.terms = {powers: c for powers, c in found.items() if c != 0}

    @classmethod
    def of_terms(cls, terms: dict[Monomial, Any]) -> Polynomial:
        """The polynomial {Monomial: coefficient}, as it is, without SymPy's algebra."""
        variables = sorted({v for m in terms for v in m.get_powers()}, key=str)
        return cls._of(variables, {tuple(m.degree(v) for v in variables): c for m, c in terms.items()})

    @classmethod
    def _of(cls, variables: list[Any], terms: dict[tuple[int, ...], Any]) -> Polynomial:
        made = cls()
        made.variables, made.terms = variables, {powers: c for powers, c in terms.items() if c != 0}
        return made

    @classmethod
    def _of_sums(cls, variables: list[Any], sums: dict[tuple[int, ...], dict[Any, float]]) -> Polynomial:
        """Of coefficients {part: factor}, which become expressions when somebody asks: SymPy's sums take long."""
        made = cls()
        made.variables, made.sums = variables, sums
        return made

    sums: dict[tuple[int, ...], dict[Any, float]] | None

    @property
    def terms(self) -> dict[tuple[int, ...], Any]:
        """{exponents of the variables: coefficient}"""
        if self.sums is not None:
            of_parts = {p: sympy.Add(*(_multiple(x, c) for c, x in s.items() if x)) for p, s in self.sums.items()}
            self.terms = {powers: c for powers, c in of_parts.items() if c != 0}
        return self._terms

    @terms.setter
    def terms(self, terms: dict[tuple[int, ...], Any]) -> None:
        self._terms = terms
        self.sums = None

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

    def SetIndeterminates(self, new_indeterminates: Iterable[Any]) -> None:
        """Becomes the same expression as a polynomial in others."""
        same = Polynomial(self.ToExpression(), new_indeterminates)
        self.variables, self.terms = same.variables, same.terms

    def AddProduct(self, coeff: Any, m: Monomial) -> Polynomial:
        """Becomes itself and a monomial times a coefficient, and is returned."""
        terms = self.monomial_to_coefficient_map()
        same = Polynomial.of_terms(terms | {m: terms.get(m, 0) + sympy.sympify(coeff)})
        self.variables, self.terms = same.variables, same.terms
        return self

    def Expand(self) -> Polynomial:
        """With coefficients that are sums of products, without those that are 0."""
        expanded = {m: sympy.expand(c) for m, c in self.monomial_to_coefficient_map().items()}
        return Polynomial.of_terms(expanded)

    def SubstituteAndExpand(
        self, indeterminate_substitution: dict[Any, Any], substitutions_cached_data: Any = None
    ) -> Polynomial:
        """With polynomials in place of indeterminates."""
        given = {v: _expression(p) for v, p in indeterminate_substitution.items()}
        return Polynomial(self.ToExpression().subs(given, simultaneous=True)).Expand()

    def IsEven(self) -> bool:
        """Whether all monomials have even degrees."""
        return all(sum(p) % 2 == 0 for p in self.terms)

    def IsOdd(self) -> bool:
        """Whether all monomials have odd degrees."""
        return all(sum(p) % 2 == 1 for p in self.terms)

    def Roots(self) -> Array:
        """The roots (n,), complex, of a polynomial in one variable with numbers as coefficients; RuntimeError else."""
        if len(self.indeterminates()) != 1 or self.decision_variables():
            raise RuntimeError(f"{self} is no polynomial in one variable with numbers as coefficients")
        powers = {sum(p): float(c) for p, c in self.terms.items()}
        return np.roots([powers.get(k, 0.0) for k in range(self.TotalDegree(), -1, -1)])

    @also_named(indeterminates_values="values")
    def EvaluateWithAffineCoefficients(self, indeterminates: Any, values: Any) -> tuple[Array, Array, Array]:
        """(A (k, m), decision variables (m,), b (k,)): values A d + b at the columns of values (n, k) of variables."""
        variables = sorted(self.decision_variables(), key=str)
        columns = np.reshape(np.asarray(values, dtype=float), (np.size(indeterminates), -1)).T
        A, b = np.zeros((len(columns), len(variables))), np.zeros(len(columns))
        for m, c in self.monomial_to_coefficient_map().items():
            slopes = np.array([sympy.diff(c, v) for v in variables], dtype=float)
            at = [m.Evaluate(dict(zip(np.ravel(indeterminates), x, strict=True))) for x in columns]
            A += np.outer(at, slopes)
            b += np.multiply(at, float(sympy.sympify(c).subs(dict.fromkeys(variables, 0))))
        return A, np.array(variables, dtype=object), b

    @also_named(a="lower", b="upper")
    def Integrate(self, x: Any, lower: Any = None, upper: Any = None) -> Polynomial:
        """The integral over a variable, 0 where it is 0; or that between two numbers."""
        bounds = x if lower is None else (x, lower, upper)
        rest = self.variables if lower is None else [v for v in self.variables if v is not x]
        return Polynomial(sympy.integrate(self.ToExpression(), bounds), {*rest, *([x] if lower is None else [])})

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
        _require_numbers(env, env)
        x = [float(env.get(v, 0.0)) for v in self.variables]
        return sum(float(_number(c, env)) * prod(map(pow, x, powers)) for powers, c in self.terms.items())

    def EvaluateIndeterminates(self, indeterminates: Any, indeterminates_values: Any) -> Array:
        """Values (k,) at the columns of values (n, k) of the variables (n,)."""
        function = sympy.lambdify(list(np.ravel(indeterminates)), self.ToExpression())
        return np.array([function(*x) for x in np.reshape(indeterminates_values, (np.size(indeterminates), -1)).T])

    def EvaluatePartial(self, env: dict[Any, float]) -> Polynomial:
        """With values in place of some variables."""
        kept = [v not in env for v in self.variables]
        variables = [v for v, keep in zip(self.variables, kept, strict=True) if keep]
        found: dict[tuple[int, ...], dict[Any, float]] = {}
        for powers, c in self.terms.items():
            left = tuple(k for k, keep in zip(powers, kept, strict=True) if keep)
            number = prod(
                float(env[v]) ** k for v, k, keep in zip(self.variables, powers, kept, strict=True) if not keep
            )
            parts = found.setdefault(left, {})
            for part, factor in _parts(c.subs(env) if c.free_symbols & env.keys() else c):
                parts[part] = parts.get(part, 0) + number * factor
        return self._of_sums(variables, found)

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
        return all(sympy.expand(c) == 0 for c in (self - p).terms.values())

    def _same(self, e: Any, variables: Iterable[Any] | None = None) -> Polynomial:
        return Polynomial(e, self.variables if variables is None else variables)

    def _with(self, other: Any, e: Any) -> Polynomial:
        more = other.variables if isinstance(other, Polynomial) else set()
        return self._same(e, {*self.variables, *more})

    def __add__(self, other: Any) -> Polynomial:
        if isinstance(other, RationalFunction):  # which adds it
            return NotImplemented
        if isinstance(other, Polynomial) and other.variables == self.variables:
            if self.sums is not None and other.sums is not None:
                sums = {powers: dict(parts) for powers, parts in self.sums.items()}
                for powers, parts in other.sums.items():
                    own = sums.setdefault(powers, {})
                    for part, x in parts.items():
                        own[part] = own.get(part, 0.0) + x
                return self._of_sums(self.variables, sums)
            both = {p: self.terms.get(p, 0) + other.terms.get(p, 0) for p in {**self.terms, **other.terms}}
            return self._of(self.variables, both)
        return self._with(other, self.ToExpression() + _expression(other))

    def __sub__(self, other: Any) -> Polynomial:
        if isinstance(other, RationalFunction):
            return NotImplemented
        return self._with(other, self.ToExpression() - _expression(other))

    def __mul__(self, other: Any) -> Polynomial:
        if isinstance(other, RationalFunction):
            return NotImplemented
        return self._with(other, self.ToExpression() * _expression(other))

    def __truediv__(self, other: float) -> Polynomial:
        if isinstance(other, RationalFunction):
            return NotImplemented
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


class RationalFunction:
    """numerator / denominator; common factors stay, as in pydrake.

    Args:
        numerator: a Polynomial, a Monomial or a number.
        denominator: the same. RuntimeError if it is 0.
    """

    @also_named(p="numerator", m="numerator", c="numerator")
    def __init__(self, numerator: Any = 0, denominator: Any = 1) -> None:
        self._numerator, self._denominator = _polynomial(numerator), _polynomial(denominator)
        if not self._denominator.terms:
            raise RuntimeError("the denominator of a rational function is 0")

    def numerator(self) -> Polynomial:
        """The polynomial above."""
        return self._numerator

    def denominator(self) -> Polynomial:
        """The polynomial below."""
        return self._denominator

    def SetIndeterminates(self, new_indeterminates: Iterable[Any]) -> None:
        """Both become polynomials in others."""
        self._numerator.SetIndeterminates(new_indeterminates)
        self._denominator.SetIndeterminates(new_indeterminates)

    def ToExpression(self) -> Any:
        """As an expression."""
        return self._numerator.ToExpression() / self._denominator.ToExpression()

    def Evaluate(self, env: dict[Any, float]) -> float:
        """The value. RuntimeError if a variable has none, or NaN, or the denominator is 0."""
        below = self._denominator.Evaluate(env)
        if below == 0.0:
            raise RuntimeError("Evaluate: a division by zero")
        return self._numerator.Evaluate(env) / below

    def EqualTo(self, f: RationalFunction) -> bool:
        """Whether they are one function."""
        return (self._numerator * f.denominator()).EqualTo(f.numerator() * self._denominator)

    def __neg__(self) -> RationalFunction:
        return RationalFunction(-self._numerator, self._denominator)

    def __add__(self, other: Any) -> RationalFunction:
        f = _function(other)
        if f.denominator().EqualTo(self._denominator):
            return RationalFunction(self._numerator + f.numerator(), self._denominator)
        above = self._numerator * f.denominator() + f.numerator() * self._denominator
        return RationalFunction(above, self._denominator * f.denominator())

    def __sub__(self, other: Any) -> RationalFunction:
        return self + -_function(other)

    def __rsub__(self, other: Any) -> RationalFunction:
        return -self + other

    def __mul__(self, other: Any) -> RationalFunction:
        f = _function(other)
        return RationalFunction(self._numerator * f.numerator(), self._denominator * f.denominator())

    def __truediv__(self, other: Any) -> RationalFunction:
        f = _function(other)
        if not f.numerator().terms:
            raise RuntimeError("a rational function is divided by 0")
        return RationalFunction(self._numerator * f.denominator(), self._denominator * f.numerator())

    def __rtruediv__(self, other: Any) -> RationalFunction:
        return _function(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __repr__(self) -> str:
        return f'<RationalFunction "({self._numerator}) / ({self._denominator})">'


def _polynomial(value: Any) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial(value)


def _function(value: Any) -> RationalFunction:
    return value if isinstance(value, RationalFunction) else RationalFunction(value)


def MonomialBasis(vars: Any = None, degree: int = 0, vars_degree: Any = None) -> Array:
    """All Monomials of variables up to a degree, those of the highest degree first.

    vars_degree: {Variables: degree} in place of both: all products of such monomials.
    """
    if vars_degree is not None:
        factors = [MonomialBasis(own, most) for own, most in vars_degree.items()]
        products = [prod(chosen, start=Monomial()) for chosen in product(*factors)]
        return np.array(sorted(products, key=lambda m: -m.total_degree()), dtype=object)
    variables = list(np.ravel(np.array(list(vars), dtype=object)))
    found = [c for d in range(degree, -1, -1) for c in combinations_with_replacement(variables, d)]
    return np.array([Monomial({v: c.count(v) for v in c}) for c in found], dtype=object)


def EvenDegreeMonomialBasis(vars: Any, degree: int) -> Array:
    """Those of MonomialBasis() whose degree is even."""
    return np.array([m for m in MonomialBasis(vars, degree) if m.total_degree() % 2 == 0], dtype=object)


def OddDegreeMonomialBasis(vars: Any, degree: int) -> Array:
    """Those of MonomialBasis() whose degree is odd."""
    return np.array([m for m in MonomialBasis(vars, degree) if m.total_degree() % 2], dtype=object)
