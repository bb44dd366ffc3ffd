"""Symbolic expressions in scripts that were written for pydrake: `==` makes a formula, and they have its methods.

SymPy, whose expressions are those of mbcli.symbolic, compares at once. So each `==` of a script is a call of equal(),
which makes an equation where an expression is among what is compared, and compares everything else as `==` does.
"""

from __future__ import annotations

import ast
import sys
from typing import Any

import numpy as np

from mbcli.math import eq

EQUAL = "__mbcli_equal__"  # what a script has equal() under


def equal(a: Any, b: Any) -> Any:
    """a == b, or an equation, or an array of them."""
    if not _has_expressions(a) and not _has_expressions(b):
        return a == b
    found = eq(a, b)
    return found if found.shape else found.item()


def _has_expressions(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(hasattr(each, "free_symbols") for each in value.flat)
    return hasattr(value, "free_symbols")


class _Equations(ast.NodeTransformer):
    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], ast.Eq):
            return node
        call = ast.Call(ast.Name(EQUAL, ast.Load()), [node.left, node.comparators[0]], [])
        return ast.copy_location(call, node)


def with_equations(tree: ast.Module) -> ast.Module:
    """The same program, in which `==` is equal(); it needs that under the name EQUAL."""
    return ast.fix_missing_locations(_Equations().visit(tree))


FUNCTIONS = ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")


def give_methods() -> None:
    """Gives SymPy's expressions, where it is imported, the methods that NumPy's functions and scripts call."""
    sympy, symbolic = sys.modules.get("sympy"), sys.modules.get("mbcli.symbolic")
    if sympy is None or symbolic is None or hasattr(sympy.Expr, "Evaluate"):
        return

    def substituted(e: Any, *pairs: Any) -> Any:
        return symbolic.Substitute(e, *pairs)

    def value(e: Any, env: Any = None, generator: Any = None) -> Any:
        found = symbolic.Evaluate([e], env)[0, 0]
        return bool(found) if isinstance(e, sympy.logic.boolalg.Boolean) else float(found)

    relational = sympy.core.relational.Relational
    undecided = relational.__bool__

    def truth(f: Any) -> bool:
        """Formulas of numbers alone are true or false, as the smaller of two numbers may be an expression."""
        return undecided(f) if f.free_symbols else bool(f.doit())

    relational.__bool__ = truth
    methods = {
        "Evaluate": value,
        "EvaluatePartial": substituted,
        "Substitute": substituted,
        "Differentiate": lambda e, x: sympy.diff(e, x),
        "Jacobian": lambda e, vars: symbolic.Jacobian([e], vars)[0],
        "Expand": lambda e: sympy.expand(e),
        "EqualTo": lambda e, other: e == other,
        "GetVariables": lambda e: symbolic.Variables(e.free_symbols),
        "to_string": lambda e: str(e),
        "get_kind": symbolic.kind_of,
    }
    functions = {name: getattr(symbolic, name) for name in FUNCTIONS}
    for name, method in methods.items():
        setattr(sympy.Expr, name, method)
        setattr(symbolic.Expression, name, method)  # scripts map Expression.Evaluate over arrays
    for name, function in functions.items():
        setattr(sympy.Expr, name, lambda e, function=function: function(e))
    for name in ("Evaluate", "Substitute", "EqualTo"):
        setattr(sympy.logic.boolalg.Boolean, name, methods[name])
    sympy.Float.is_zero = property(lambda e: e == 0)  # SymPy deduces all that it knows of each number that is made
    sympy.logic.boolalg.Boolean.GetFreeVariables = methods["GetVariables"]
    sympy.Symbol.get_name = lambda e: e.name
    sympy.Symbol.get_type = symbolic.type_of
