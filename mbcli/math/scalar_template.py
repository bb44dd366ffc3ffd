"""X_[T]: the class X of a scalar type."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")


class ScalarTemplate(Generic[T]):
    """X_ of a class X: X_[float], X_[AutoDiffXd] and X_[Expression]; the names of the types as text do as well.

    Objects hold scalars of any type, so the three are the same class if no others are given.

    Args:
        default: the class X of floats.
        autodiff, expression: the classes of the other scalar types.
    """

    def __init__(self, default: type[T], autodiff: type | None = None, expression: type | None = None) -> None:
        self._name = default.__name__
        autodiff, expression = autodiff or default, expression or default
        # Expr is SymPy's name of the class; types go by their names, so that SymPy is not imported here.
        self._classes = {"float": default, "AutoDiffXd": autodiff, "Expression": expression, "Expr": expression}

    def __getitem__(self, scalar: type | str) -> type[T]:
        name = scalar if isinstance(scalar, str) else getattr(scalar or float, "__name__", None)
        if name not in self._classes:
            raise TypeError(f"{self._name}_ has float, AutoDiffXd and Expression, not {scalar!r}")
        return self._classes[name]

    def __call__(self, *given: Any, **named: Any) -> T:
        """An object of the class of floats."""
        return self[float](*given, **named)

    def __repr__(self) -> str:
        return f"{self._name}_"
