"""Record: what a function does with its inputs, as one list of operations in the order in which they are done."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbcli.tracing.graph import CONST, INPUT, LEAVES, TWO_OPERANDS, Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.tracing.graph import Row


@dataclass(frozen=True)
class Variable:
    """An input or output of a record: its name, its shape, and what it is, with its unit."""

    name: str
    shape: tuple[int, ...]
    words: str = ""

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.shape))


class Record:
    """A function as operations.

    Args:
        inputs: whose elements are numbered through in the graph's inputs, in this order.
        outputs: of which `nodes` are the elements, one after another, row by row.
        sparsity: of outputs that are matrices of derivatives, {name: (rows, columns) of the elements that can differ
            from 0}.

    Attributes:
        rows: operations (operation, a, b) that the outputs need, operands before their use; a and b count rows here.
        results: the row of each element of the outputs.
    """

    def __init__(
        self,
        name: str,
        graph: Graph,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        nodes: Sequence[int],
        sparsity: dict[str, tuple[list[int], list[int]]] | None = None,
    ) -> None:
        self.name, self.inputs, self.outputs = name, tuple(inputs), tuple(outputs)
        self.sparsity = sparsity or {}
        order = graph.order(nodes)
        place = {node: k for k, node in enumerate(order)}
        self.rows: list[Row] = []
        for node in order:
            operation, a, b = graph.rows[node]
            if operation in LEAVES:
                self.rows.append((operation, a, b))
            else:
                inner = [place[i] for i in graph.operands(node)]
                self.rows.append((operation, inner[0], inner[-1] if len(inner) > 1 else 0))
        self.results = [place[node] for node in nodes]

    def counts(self) -> Counter[str]:
        """{operation: how often}, without constants and inputs."""
        return Counter(operation for operation, _, _ in self.rows if operation not in LEAVES)

    @property
    def num_operations(self) -> int:
        """The number of operations, each function of a number counted as one."""
        return sum(self.counts().values())

    def operands(self, row: int) -> tuple[int, ...]:
        """The rows of the operands of a row."""
        operation, a, b = self.rows[row]
        if operation in LEAVES:
            return ()
        return (int(a), b) if operation in TWO_OPERANDS else (int(a),)

    def element(self, number: int) -> tuple[Variable, int]:
        """The input that an element belongs to, and its number there."""
        for variable in self.inputs:
            if number < variable.size:
                return variable, number
            number -= variable.size
        raise IndexError(number)

    def replayed(self) -> tuple[Graph, list[int]]:
        """Its operations in a new Graph, and the node of each of its rows there."""
        graph = Graph()
        nodes: list[int] = []
        for operation, a, b in self.rows:
            if operation == CONST:
                nodes.append(graph.constant(a))
            elif operation == INPUT:
                nodes.append(graph.input(int(a)))
            else:
                nodes.append(graph.again(operation, nodes[int(a)], nodes[b]))
        return graph, nodes
