"""The coefficients of polynomials in variables, as lists of summands, from expressions of SymPy's."""

from __future__ import annotations

from operator import add
from typing import Any

import sympy


def summands_of(e: Any, places: dict[Any, int], whole: Any) -> dict[tuple[int, ...], list[Any]]:
    """{exponents: summands of the coefficient} of an expression, by its sums, products and powers; SymPy's way takes
    ten times as long. RuntimeError if it is no polynomial in the variables with these places.
    """
    none = (0,) * len(places)
    if e in places:
        return {tuple(int(k == places[e]) for k in range(len(places))): [sympy.S.One]}
    if e.is_Add:
        total: dict[tuple[int, ...], list[Any]] = {}
        for part in e.args:
            for powers, summands in summands_of(part, places, whole).items():
                total.setdefault(powers, []).extend(summands)
        return total
    if e.is_Mul or (e.is_Pow and e.exp.is_Integer and e.exp > 0 and not e.base.is_Symbol):
        factors = e.args if e.is_Mul else [e.base] * int(e.exp)
        made: dict[tuple[int, ...], list[Any]] = {none: [sympy.S.One]}
        for factor in factors:
            made = _times(made, summands_of(factor, places, whole))
        return made
    if e.is_Pow and e.base in places and e.exp.is_Integer and e.exp > 0:
        return {tuple(int(e.exp) * (k == places[e.base]) for k in range(len(places))): [sympy.S.One]}
    if e.free_symbols & places.keys():
        raise RuntimeError(f"{whole} is not a polynomial in {', '.join(map(str, places))}")
    return {none: [e]}


def _times(
    a: dict[tuple[int, ...], list[Any]], b: dict[tuple[int, ...], list[Any]]
) -> dict[tuple[int, ...], list[Any]]:
    sums = [(p, sympy.Add(*c)) for p, c in b.items()]
    made: dict[tuple[int, ...], list[Any]] = {}
    for powers, summands in a.items():
        coefficient = sympy.Add(*summands)
        for others, c in sums:
            made.setdefault(tuple(map(add, powers, others)), []).append(coefficient * c)
    return made
