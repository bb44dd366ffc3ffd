"""Polynomials of a program: indeterminates, coefficients that are decision variables, and sums of squares.

A polynomial is a sum of squares if it is m' Q m with a semidefinite matrix Q and monomials m (Parrilo 2000). If none
are given, m has the monomials whose squares lie in the Newton polytope of the polynomial (Reznick 1978).
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from mbcli.math.symbolic_polynomial import (
    EvenDegreeMonomialBasis,
    Monomial,
    MonomialBasis,
    OddDegreeMonomialBasis,
    Polynomial as SymbolicPolynomial,
)
from mbcli.numbered_enum import NumberedEnum
from mbcli.solvers.conic_program import ConicProgram
from mbcli.solvers.given_arguments import ordered_arguments
from mbcli.solvers.symbolic_parts import named_variables, polynomials

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbcli.math.array_types import Array, FloatArray
    from mbcli.solvers.binding import Binding


class _NonnegativePolynomial(NumberedEnum):
    """What makes a polynomial nonnegative: a semidefinite Gram matrix, or a (scaled) diagonally dominant one."""

    kSos = 1
    kSdsos = 2
    kDsos = 3


class PolynomialProgram(ConicProgram):
    """What sums of squares need."""

    NonnegativePolynomial = _NonnegativePolynomial

    # indeterminates

    def NewIndeterminates(self, rows: int, cols: Any = None, name: str = "x") -> Array:
        """New variables of polynomials, which no solver decides: (rows,), or (rows, cols)."""
        made = named_variables(rows, cols, name)
        self.AddIndeterminates(made)
        return made

    def AddIndeterminates(self, new_indeterminates: Any) -> None:
        """Takes variables that were made elsewhere. RuntimeError for one that is here."""
        given = new_indeterminates
        for v in sorted(given, key=str) if isinstance(given, (set, frozenset)) else np.ravel(given):
            self.AddIndeterminate(v)

    def AddIndeterminate(self, new_indeterminate: Any) -> int:
        """Takes one; returns its place."""
        if new_indeterminate in self._indeterminates or self.has_variable(new_indeterminate):
            raise RuntimeError(f"{new_indeterminate} is a variable of this program already")
        return self._indeterminates.setdefault(new_indeterminate, len(self._indeterminates))

    def num_indeterminates(self) -> int:
        """The number of indeterminates."""
        return len(self._indeterminates)

    def indeterminates(self) -> Array:
        """All of them (k,)."""
        return np.array(list(self._indeterminates), dtype=object)

    def indeterminate(self, i: int) -> Any:
        """One of them."""
        return list(self._indeterminates)[i]

    def FindIndeterminateIndex(self, new_indeterminate: Any) -> int:
        """Its place. RuntimeError if it is none."""
        if new_indeterminate not in self._indeterminates:
            raise RuntimeError(f"{new_indeterminate} is no indeterminate of this program")
        return self._indeterminates[new_indeterminate]

    def indeterminates_index(self) -> dict[int, int]:
        """{get_id() of an indeterminate: its place}"""
        return {v.get_id(): place for v, place in self._indeterminates.items()}

    # polynomials

    def MakePolynomial(self, e: Any) -> SymbolicPolynomial:
        """An expression as a polynomial in the indeterminates of this program."""
        e = sympy.sympify(e)
        return SymbolicPolynomial(e, [v for v in self._indeterminates if v in e.free_symbols])

    def Reparse(self, p: SymbolicPolynomial) -> None:
        """A polynomial becomes one in the indeterminates of this program."""
        own = self.MakePolynomial(p.ToExpression())
        p.variables, p.terms = own.variables, own.terms

    def NewFreePolynomial(self, indeterminates: Any, deg: int, coeff_name: str = "a") -> SymbolicPolynomial:
        """A polynomial of a degree whose coefficients are new decision variables."""
        return self._free(MonomialBasis(indeterminates, deg), coeff_name)

    def NewEvenDegreeFreePolynomial(
        self, indeterminates: Any, degree: int, coeff_name: str = "a"
    ) -> SymbolicPolynomial:
        """The same with monomials of even degree alone."""
        return self._free(EvenDegreeMonomialBasis(indeterminates, degree), coeff_name)

    def NewOddDegreeFreePolynomial(self, indeterminates: Any, degree: int, coeff_name: str = "a") -> SymbolicPolynomial:
        """The same with monomials of odd degree alone."""
        return self._free(OddDegreeMonomialBasis(indeterminates, degree), coeff_name)

    def _free(self, basis: Array, name: str) -> SymbolicPolynomial:
        return SymbolicPolynomial(dict(zip(basis, self.NewContinuousVariables(len(basis), name), strict=True)))

    def NewSosPolynomial(self, *given: Any, **named: Any) -> tuple[SymbolicPolynomial, Array]:
        """NewSosPolynomial(indeterminates, degree), (monomial_basis) or (gramian, monomial_basis): (p, Q), p = m' Q m.

        Args:
          given: these, by position; then type, a NonnegativePolynomial, and gram_name, of Q's variables.
          named: the same by name.

        Returns:
          The polynomial, and Q (n, n) of new decision variables, or the gramian.

        Raises:
          RuntimeError: the degree is odd.

        Example:
          >>> prog = MathematicalProgram()
          >>> x = prog.NewIndeterminates(1)
          >>> p, Q = prog.NewSosPolynomial(x, 2)
          >>> p.TotalDegree(), Q.shape
          (2, (2, 2))
        """
        first = given[0] if given else None
        if "gramian" in named or (isinstance(first, np.ndarray) and first.ndim == 2):
            keys = ("gramian", "monomial_basis", "type", "gram_name")
            Q, basis, kind, _ = ordered_arguments(given, named, keys)
            self._require_nonnegative(Q, kind)
            return gram_polynomial(Q, basis), Q
        if "degree" in named or (len(given) > 1 and isinstance(given[1], (int, np.integer))):
            keys = ("indeterminates", "degree", "type", "gram_name")
            variables, degree, kind, name = ordered_arguments(given, named, keys)
            basis = MonomialBasis(variables, _half(degree))
        else:
            basis, kind, name = ordered_arguments(given, named, ("monomial_basis", "type", "gram_name"))
        Q = self._gramian(len(basis), kind, name)
        return gram_polynomial(Q, basis), Q

    def NewEvenDegreeNonnegativePolynomial(
        self, indeterminates: Any, degree: int, type: _NonnegativePolynomial
    ) -> tuple[SymbolicPolynomial, Array, Array]:
        """(p, Q_oo, Q_ee): a nonnegative polynomial of even monomials, by squares of odd and of even ones."""
        half = _half(degree)
        odd, even = OddDegreeMonomialBasis(indeterminates, half), EvenDegreeMonomialBasis(indeterminates, half)
        Q_oo, Q_ee = self._gramian(len(odd), type, "Q"), self._gramian(len(even), type, "Q")
        return gram_polynomial(Q_oo, odd) + gram_polynomial(Q_ee, even), Q_oo, Q_ee

    def NewEvenDegreeSosPolynomial(self, indeterminates: Any, degree: int) -> tuple[SymbolicPolynomial, Array, Array]:
        """With semidefinite matrices."""
        return self.NewEvenDegreeNonnegativePolynomial(indeterminates, degree, _NonnegativePolynomial.kSos)

    def NewEvenDegreeSdsosPolynomial(self, indeterminates: Any, degree: int) -> tuple[SymbolicPolynomial, Array, Array]:
        """With scaled diagonally dominant matrices."""
        return self.NewEvenDegreeNonnegativePolynomial(indeterminates, degree, _NonnegativePolynomial.kSdsos)

    def NewEvenDegreeDsosPolynomial(self, indeterminates: Any, degree: int) -> tuple[SymbolicPolynomial, Array, Array]:
        """With diagonally dominant matrices."""
        return self.NewEvenDegreeNonnegativePolynomial(indeterminates, degree, _NonnegativePolynomial.kDsos)

    def _gramian(self, size: int, kind: _NonnegativePolynomial | None, name: str | None) -> Array:
        Q = self.NewSymmetricContinuousVariables(size, name or "S")
        self._require_nonnegative(Q, kind)
        return Q

    def _require_nonnegative(self, Q: Array, kind: _NonnegativePolynomial | None) -> None:
        if kind is None or kind is _NonnegativePolynomial.kSos:
            self.AddPositiveSemidefiniteConstraint(Q)
        elif kind is _NonnegativePolynomial.kSdsos:
            self.AddScaledDiagonallyDominantMatrixConstraint(Q)
        else:
            self.AddPositiveDiagonallyDominantMatrixConstraint(Q)

    # constraints

    def AddSosConstraint(self, *given: Any, **named: Any) -> Any:
        """AddSosConstraint(p, monomial_basis) -> Q, or AddSosConstraint(p) -> (Q, monomials): p is a sum of squares.

        Args:
          given: these, by position: p a polynomial or an expression; then type, a NonnegativePolynomial, and gram_name.
          named: the same by name.

        Returns:
          The Gram matrix Q (n, n) of new decision variables, and the monomials if they were not given.

        Raises:
          RuntimeError: a coefficient is not affine in decision variables.

        Example:
          >>> prog = MathematicalProgram()
          >>> x, (low,) = prog.NewIndeterminates(1)[0], prog.NewContinuousVariables(1)
          >>> Q, m = prog.AddSosConstraint(x**4 - 2 * x**2 - low)
          >>> cost = prog.AddLinearCost(-low)
          >>> round(Solve(prog).GetSolution(low), 4)
          -1.0
        """
        second = given[1] if len(given) > 1 else None
        has_basis = "monomial_basis" in named or isinstance(second, (list, tuple, np.ndarray))
        keys = ("p", *(("monomial_basis",) if has_basis else ()), "type", "gram_name")
        p, *basis, kind, name = ordered_arguments(given, named, keys, ("e",))
        p = p if isinstance(p, SymbolicPolynomial) else self.MakePolynomial(p)
        m = basis[0] if has_basis else newton_basis(p)
        Q = self._gramian(len(m), kind, name)
        self._equal_coefficients(p, gram_polynomial(Q, m))
        return Q if has_basis else (Q, m)

    def AddEqualityConstraintBetweenPolynomials(self, p1: Any, p2: Any) -> list[Binding]:
        """All coefficients are equal; RuntimeError where one is not affine in decision variables."""
        for p in (p1, p2):
            self.Reparse(p)
        return self._equal_coefficients(p1, p2)

    def _equal_coefficients(self, p: SymbolicPolynomial, other: SymbolicPolynomial) -> list[Binding]:
        """A linear equation for each monomial; those without variables must hold."""
        first, second = p.monomial_to_coefficient_map(), other.monomial_to_coefficient_map()
        found = []
        for monomial in dict.fromkeys((*first, *second)):
            difference = first.get(monomial, 0) - second.get(monomial, 0)
            row = polynomials([difference])
            if row is None or not row.is_linear:
                raise RuntimeError(f"the coefficient of {monomial} is not affine in decision variables")
            if row.variables:
                found.append(self.AddLinearEqualityConstraint(row.A, -row.c, np.array(row.variables, dtype=object)))
            elif abs(row.c[0]) > 0.0:  # no polynomial of these monomials: a row that does not hold
                everything = self.decision_variables()
                empty = np.zeros((1, everything.size))
                found.append(self.AddLinearEqualityConstraint(empty, -row.c, everything))
        return found


def _half(degree: int) -> int:
    if degree % 2:
        raise RuntimeError(f"a sum of squares has an even degree, not {degree}")
    return int(degree) // 2


def gram_polynomial(Q: Array, basis: Iterable[Monomial]) -> SymbolicPolynomial:
    """m' Q m of monomials m (n,) and a symmetric matrix Q (n, n)."""
    m = list(basis)
    terms: dict[Monomial, list[Any]] = {}
    for i, j in product(range(len(m)), repeat=2):
        terms.setdefault(m[i] * m[j], []).append(Q[i, j])
    return SymbolicPolynomial.of_terms({monomial: sympy.Add(*summands) for monomial, summands in terms.items()})


def newton_basis(p: SymbolicPolynomial) -> Array:
    """The monomials whose squares lie in the Newton polytope of p, those of the highest degree first."""
    known = {tuple(powers) for powers, c in p.terms.items() if sympy.sympify(c) != 0}
    if not known or not p.variables:
        return np.array([Monomial()], dtype=object)
    corners = np.array(list(known), dtype=float)
    low, high = np.ceil(corners.min(axis=0) / 2.0).astype(int), np.floor(corners.max(axis=0) / 2.0).astype(int)
    least, most = corners.sum(axis=1).min() / 2.0, corners.sum(axis=1).max() / 2.0
    found = []
    for powers in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))):
        halfway = any(tuple(4 * k - e for k, e in zip(powers, given, strict=True)) in known for given in known)
        if least <= sum(powers) <= most and (halfway or _is_between(corners, 2.0 * np.array(powers))):
            found.append(powers)
    found.sort(key=lambda powers: (-sum(powers), tuple(-k for k in powers)))
    return np.array([Monomial(dict(zip(p.variables, powers, strict=True))) for powers in found], dtype=object)


def _is_between(corners: FloatArray, point: FloatArray) -> bool:
    """Whether a point (n,) lies in the convex hull of others (m, n)."""
    near = corners.mean(axis=0)
    for _ in range(20):  # towards the nearest point of the hull (Gilbert 1966), which a plane may show first
        away = point - near
        most = corners[np.argmax(corners @ away)]
        if (point - most) @ away > 1e-9:
            return False
        edge = most - near
        near = near + min(1.0, edge @ away / max(edge @ edge, 1e-300)) * edge
    from scipy.optimize import linprog  # its import takes longer than a small program

    rows = np.vstack([corners.T, np.ones(len(corners))])
    return bool(linprog(np.zeros(len(corners)), A_eq=rows, b_eq=[*point, 1.0]).status == 0)
