"""Symbols and expressions, under the names of pydrake.symbolic; they are SymPy's.

Needs SymPy, the extra `symbolic`: importing this module without it is an ImportError that names the extra.
"""

try:
    import sympy
except ImportError:
    raise ImportError("symbolic expressions need SymPy: pip install 'mbcli[symbolic]'", name="sympy") from None
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.math.array_arguments import describe

if TYPE_CHECKING:
    from mbcli.math.array_types import Vector


class ExpressionType(type):
    """Lets Expression(value) make a SymPy expression, and every SymPy expression be an Expression."""

    def __call__(cls, value: Any = 0) -> Any:
        """The expression of a number, of a variable or of another expression. TypeError for anything else."""
        if isinstance(value, sympy.Expr):
            return value
        if not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"Expression: expected a number or an expression, got {describe(value)}")
        return sympy.sympify(value)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, sympy.Expr)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, sympy.Expr)


class Expression(metaclass=ExpressionType):
    """A symbolic expression: SymPy's sympy.Expr."""

    if TYPE_CHECKING:  # made by ExpressionType.__call__

        def __init__(self, value: Any = 0) -> None: ...


sin, cos, tan = sympy.sin, sympy.cos, sympy.tan
asin, acos, atan, atan2 = sympy.asin, sympy.acos, sympy.atan, sympy.atan2
sinh, cosh, tanh = sympy.sinh, sympy.cosh, sympy.tanh
exp, log, sqrt = sympy.exp, sympy.log, sympy.sqrt

__all__ = ["Expression", "Variable", "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "log", "sin", "sinh"]
__all__ += ["MakeVectorContinuousVariable", "sqrt", "tan", "tanh"]


def Variable(name: str) -> Any:
    """A real variable, a sympy.Symbol; those of one name are one variable."""
    return sympy.Symbol(name, real=True)


def MakeVectorContinuousVariable(rows: int, name: str) -> "Vector":
    """An object array (rows,) of the variables name(0), name(1), ..."""
    return np.array([Variable(f"{name}({k})") for k in range(rows)], dtype=object)
