"""Binding: a cost or constraint with the variables that it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.solvers.evaluators import EvaluatorBase, LinearConstraint, LinearCost, QuadraticCost
from mbcli.solvers.latex import in_latex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import Array, FloatArray


class _BindingOfAny(type):
    """Binding[kind]: a Binding of an evaluator of that kind; one derived from it is another one, as in pydrake.

    Functions of Python and what other rooms add, as constraints of plants, are a Cost or Constraint.
    """

    def __getitem__(cls, kind: type) -> type:
        return _BindingOfKind(f"Binding[{kind.__name__}]", (Binding,), {"kind": kind})


class _BindingOfKind(_BindingOfAny):
    def __call__(cls, *given: Any, **named: Any) -> Any:
        return Binding(*given, **named)

    def __instancecheck__(cls, found: Any) -> bool:
        if not isinstance(found, Binding):
            return False
        own = (kind for kind in type(found.evaluator()).__mro__ if kind.__module__.startswith("mbcli.solvers."))
        return next(kind for kind in own if not kind.__name__.startswith("Py")) is cls.kind  # type: ignore[attr-defined]


class Binding(metaclass=_BindingOfAny):
    """A cost or constraint with the variables that it is of."""

    def __init__(self, c: EvaluatorBase, v: Any) -> None:
        self._evaluator, self._variables = c, np.asarray(v, dtype=object).reshape(-1)
        self._hash: int | None = None
        if self._variables.size != c.num_vars():
            raise RuntimeError(f"{type(c).__name__} is of {c.num_vars()} variables, not of {self._variables.size}")

    def evaluator(self) -> Any:
        """The cost or constraint."""
        return self._evaluator

    def variables(self) -> Array:
        """Its variables (n,)."""
        return self._variables

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Binding):
            return self is other
        return self._evaluator is other.evaluator() and tuple(self._variables) == tuple(other.variables())

    def __hash__(self) -> int:
        if self._hash is None:  # programs look bindings up in each iteration
            self._hash = hash((id(self._evaluator), tuple(self._variables)))
        return self._hash

    def ToLatex(self, precision: int = 3) -> str:
        """In LaTeX, numbers to so many decimals."""
        return in_latex(self._evaluator, self._variables, precision)

    def GetNumElements(self) -> int:
        """The number of variables."""
        return self._variables.size

    def __repr__(self) -> str:
        return f"{type(self._evaluator).__name__}({', '.join(str(v) for v in self._variables)})"

    def __str__(self) -> str:
        evaluator, names = self._evaluator, [str(v) for v in self._variables]
        about = evaluator.get_description()
        kind, about = type(evaluator).__name__, f" described as '{about}'" if about else ""
        if isinstance(evaluator, LinearCost):
            return f"{kind} ({_sum_of(evaluator.b(), evaluator.a(), names)}){about}"
        if isinstance(evaluator, QuadraticCost):
            rows = [_in_parentheses(_sum_of(0.0, row, names)) for row in 0.5 * evaluator.Q()]
            products = [f"({name} * {row})" for name, row in zip(names, rows, strict=True) if row != "0"]
            return f"{kind} ({_sum_of(evaluator.c(), evaluator.b(), names, products)}){about}"
        if isinstance(evaluator, LinearConstraint):
            lines = [kind + about]
            for low, row, high in zip(evaluator.lower_bound(), evaluator.A(), evaluator.upper_bound(), strict=True):
                text = _in_parentheses(_sum_of(0.0, row, names))
                lines.append(f"{text} == {low:g}" if low == high else f"{low:g} <= {text} <= {high:g}")
            return "\n".join(lines) + "\n"
        return f"{kind}{about} with {len(names)} decision variables {' '.join(names)}\n"


def _sum_of(constant: float, factors: FloatArray, names: list[str], others: Sequence[str] = ()) -> str:
    """The sum in words."""
    parts = [f"{constant:g}"] if constant else []
    parts += [name if a == 1.0 else f"{a:g} * {name}" for a, name in zip(factors, names, strict=True) if a]
    parts += others
    return " + ".join(parts).replace(" + -", " - ") or "0"


def _in_parentheses(text: str) -> str:
    return f"({text})" if " " in text.replace(" * ", "") else text


def bindings_of(bindings: list[Binding], kind: type[EvaluatorBase]) -> list[Binding]:
    """Those whose cost or constraint is of this very kind."""
    return [b for b in bindings if type(b.evaluator()) is kind]
