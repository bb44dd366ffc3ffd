"""Symbols and expressions, under the names of pydrake.symbolic; they are SymPy's.

Needs SymPy, the extra `symbolic`: importing this module without it is an ImportError that says so.
"""

try:
    import sympy
except ImportError:
    raise ImportError("symbolic expressions need SymPy: pip install 'mbcli[symbolic]'", name="sympy") from None

Expression = sympy.Expr
sin, cos, tan = sympy.sin, sympy.cos, sympy.tan
asin, acos, atan, atan2 = sympy.asin, sympy.acos, sympy.atan, sympy.atan2
sinh, cosh, tanh = sympy.sinh, sympy.cosh, sympy.tanh
exp, log, sqrt = sympy.exp, sympy.log, sympy.sqrt

__all__ = ["Expression", "Variable", "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "log", "sin", "sinh"]
__all__ += ["MakeVectorContinuousVariable", "sqrt", "tan", "tanh"]


def Variable(name):
    """A real variable; those of one name are one variable."""
    return sympy.Symbol(name, real=True)


def MakeVectorContinuousVariable(rows, name):
    """An object array (rows,) of the variables name(0), name(1), ..."""
    import numpy as np

    return np.array([Variable(f"{name}({k})") for k in range(rows)], dtype=object)
