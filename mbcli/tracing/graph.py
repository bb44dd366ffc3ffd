"""Operations on numbers as a table in which equal ones stand once: what a Recorded number writes.

A node is a row (operation, a, b): of constants a is the value, of inputs the number of the element, else a and b are
the rows of the operands. A constant is folded into what follows from it, products with 0 and 1, sums with 0 and double
signs are gone, and signs move outwards, where they join sums. All this changes a result by rounding at most, and only
where factors that are constants come together; infinite constants, by which the engine locks joints, stay infinite.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    Row = tuple[str, float, int]

CONST, INPUT = "const", "input"
ADD, SUB, MUL, DIV, NEG = "add", "sub", "mul", "div", "neg"
SIN, COS, SQRT = "sin", "cos", "sqrt"
SIGN = "sign"  # 1, or -1 where a number is negative: the selection of which limits are made
TANH, ARCTAN2 = "tanh", "arctan2"
LEAVES = (CONST, INPUT)
TWO_OPERANDS = (ADD, SUB, MUL, DIV, ARCTAN2)
FUNCTIONS = {SIN: math.sin, COS: math.cos, SQRT: math.sqrt, TANH: math.tanh, SIGN: lambda x: math.copysign(1.0, x)}


class Graph:
    """A table of operations. Methods take rows and return the row of their result.

    Attributes:
        rows: of each node, (operation, a, b), operands before what is made of them.
        values: of each node, the float that it is, or None.
        first_free: the first of the inputs that are parameters, not of a state: infinity if there are none.
    """

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.values: list[float | None] = []
        self._known: dict[Row, int] = {}
        self.first_free = math.inf
        self.zero, self.one = self.constant(0.0), self.constant(1.0)

    def constant(self, value: float) -> int:
        """The node of a float."""
        return self._node((CONST, float(value) + 0.0, 0), float(value) + 0.0)

    def input(self, number: int) -> int:
        """The node of an element of the inputs."""
        return self._node((INPUT, number, 0))

    def _node(self, row: Row, value: float | None = None) -> int:
        found = self._known.get(row)
        if found is None:
            found = self._known[row] = len(self.rows)
            self.rows.append(row)
            self.values.append(value)
        return found

    def _negated(self, a: int) -> int | None:
        """What a is the negative of, if it is a negative."""
        operation, inner, _ = self.rows[a]
        return int(inner) if operation == NEG else None

    def add(self, a: int, b: int) -> int:
        """a + b"""
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None:
            return self.constant(x + y)
        if x == 0.0 or (y is not None and math.isinf(y)):
            return b
        if y == 0.0 or (x is not None and math.isinf(x)):
            return a
        inner = self._negated(b)
        if inner is not None:
            return self.sub(a, inner)
        inner = self._negated(a)
        if inner is not None:
            return self.sub(b, inner)
        return self._node((ADD, a, b) if a < b else (ADD, b, a))

    def sub(self, a: int, b: int) -> int:
        """a - b"""
        if a == b:
            return self.zero
        y = self.values[b]
        if y is not None:
            return self.add(a, self.constant(-y))
        x = self.values[a]
        if x == 0.0:
            return self.neg(b)
        if x is not None and math.isinf(x):
            return a
        inner = self._negated(b)
        if inner is not None:
            return self.add(a, inner)
        inner = self._negated(a)
        if inner is not None:
            return self.neg(self.add(inner, b))
        mirrored = self._known.get((SUB, b, a))
        return self._node((SUB, a, b)) if mirrored is None else self.neg(mirrored)

    def neg(self, a: int) -> int:
        """-a"""
        x = self.values[a]
        if x is not None:
            return self.constant(-x)
        inner = self._negated(a)
        return self._node((NEG, a, 0)) if inner is None else inner

    def mul(self, a: int, b: int) -> int:
        """a b; 0 times a number is 0, whatever the number comes to be."""
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None:
            return self.constant(x * y)
        if y is not None:
            a, b, x = b, a, y
        if x is not None:
            if x == 0.0 or x == 1.0:
                return b if x else self.zero
            if x == -1.0:
                return self.neg(b)
            if x < 0.0:
                return self.neg(self.mul(self.constant(-x), b))
            operation, c, inner = self.rows[b]
            if operation == MUL and self.values[int(c)] is not None:
                return self.mul(self.mul(a, int(c)), inner)
        for one, other in ((a, b), (b, a)):
            inner_one = self._negated(one)
            if inner_one is not None:
                return self.neg(self.mul(inner_one, other))
        return self._node((MUL, a, b) if x is not None or a < b else (MUL, b, a))

    def div(self, a: int, b: int) -> int:
        """a / b; 0 by a number is 0."""
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None and y != 0.0:
            return self.constant(x / y)
        if x == 0.0:
            return a
        if y is not None and y != 0.0:
            return self.mul(self.constant(1.0 / y), a)
        for one, other in ((a, True), (b, False)):
            inner = self._negated(one)
            if inner is not None:
                return self.neg(self.div(inner, b) if other else self.div(a, inner))
        return self._node((DIV, a, b))

    def function(self, name: str, a: int) -> int:
        """sin, cos, sqrt, sign or tanh of a number."""
        x = self.values[a]
        if x is not None and not (name == SQRT and x < 0.0):
            return self.constant(FUNCTIONS[name](x))
        inner = self._negated(a)
        if inner is not None and name in (SIN, TANH):
            return self.neg(self.function(name, inner))
        if inner is not None and name == COS:
            return self.function(name, inner)
        return self._node((name, a, 0))

    def arctan2(self, a: int, b: int) -> int:
        """The angle [rad] of the point (b, a)."""
        x, y = self.values[a], self.values[b]
        if x is not None and y is not None:
            return self.constant(math.atan2(x, y))
        return self._node((ARCTAN2, a, b))

    def again(self, operation: str, a: int, b: int) -> int:
        """An operation of another table on nodes of this one."""
        if operation in TWO_OPERANDS or operation == NEG:
            method = getattr(self, operation)
            return int(method(a) if operation == NEG else method(a, b))
        return self.function(operation, a)

    def operands(self, node: int) -> tuple[int, ...]:
        """The rows of a node's operands."""
        operation, a, b = self.rows[node]
        if operation in LEAVES:
            return ()
        return (int(a), b) if operation in TWO_OPERANDS else (int(a),)

    def order(self, wanted: Iterable[int]) -> list[int]:
        """The nodes that wanted ones are made of, operands first and shortly before they are used.

        Each wanted node comes as soon as it can, the operand with the longer way to the inputs first (Sethi and Ullman
        1970), so that few values wait at a time.
        """
        depth = [0] * len(self.rows)
        for node in range(len(self.rows)):
            inner = self.operands(node)
            depth[node] = 1 + max(depth[i] for i in inner) if inner else 0
        done: set[int] = set()
        result: list[int] = []
        waiting: list[tuple[int, bool]] = [(node, False) for node in reversed(list(wanted))]
        while waiting:
            node, ready = waiting.pop()
            if node in done:
                continue
            if ready:
                done.add(node)
                result.append(node)
                continue
            waiting.append((node, True))
            nearer_first = sorted(self.operands(node), key=lambda i: depth[i])
            waiting.extend((i, False) for i in nearer_first if i not in done)
        return result
