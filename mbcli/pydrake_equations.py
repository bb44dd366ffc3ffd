"""`==` of symbolic expressions in scripts that were written for pydrake, where it makes a formula.

SymPy, whose expressions are those of mbcli.symbolic, compares at once. So each `==` of a script is a call of equal(),
which makes an equation where an expression is among what is compared, and compares everything else as `==` does.
"""

from __future__ import annotations

import ast
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
