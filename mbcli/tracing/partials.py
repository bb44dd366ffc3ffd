"""First derivatives of a record, as a record: by passes over its operations, forward or backward.

Forward, every row carries its derivatives by the inputs on which it depends; backward, every row gathers those of one
output by it. Zeros are never written down, so which elements can differ from zero is known. The pass with fewer
operations is kept (Griewank and Walther 2008, chapter 3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.tracing.graph import (
    ADD,
    ARCTAN2,
    COS,
    DIV,
    INPUT,
    LEAVES,
    MUL,
    NEG,
    SIN,
    SQRT,
    SUB,
    TANH,
)
from mbcli.tracing.record import Record, Variable

if TYPE_CHECKING:
    from mbcli.tracing.graph import Graph

    Slopes = list[tuple[int, int]]  # (row of an operand, node of the derivative by it)
    Elements = dict[int, int]  # {number of an input: node of the derivative by it}


def partials(record: Record) -> Record:
    """All first derivatives of the outputs of a record by its inputs; those of y (m,) by x (n,) are `dy_dx` (m, n).

    Where a selection of limits changes, the derivative is that of one side.
    """
    ways = (_forward(record), _backward(record))
    graph, elements = min(ways, key=lambda way: len(way[0].order([n for row in way[1] for n in row.values()])))
    outputs: list[Variable] = []
    nodes: list[int] = []
    sparsity: dict[str, tuple[list[int], list[int]]] = {}
    first = 0
    for output in record.outputs:
        rows = elements[first : first + output.size]
        first += output.size
        start = 0
        for each in record.inputs:
            columns = range(start, start + each.size)
            start += each.size
            name = f"d{output.name}_d{each.name}"
            outputs.append(Variable(name, (*output.shape, *each.shape), f"derivative of {output.name} by {each.name}"))
            nodes.extend(row.get(k, graph.zero) for row in rows for k in columns)
            found = [(i, k - columns.start) for i, row in enumerate(rows) for k in columns if k in row]
            sparsity[name] = ([i for i, _ in found], [k for _, k in found])
    return Record(f"{record.name}_partials", graph, record.inputs, outputs, nodes, sparsity)


def _slopes(graph: Graph, operation: str, node: int, inner: tuple[int, ...]) -> list[int]:
    """The derivatives of an operation's result by its operands, as nodes."""
    one, x = graph.one, inner[0]
    if operation in (ADD, SUB):
        return [one, one if operation == ADD else graph.constant(-1.0)]
    if operation == NEG:
        return [graph.constant(-1.0)]
    if operation == MUL:
        return [inner[1], x]
    if operation == DIV:
        inverse = graph.div(one, inner[1])
        return [inverse, graph.neg(graph.mul(node, inverse))]
    if operation == SIN:
        return [graph.function(COS, x)]
    if operation == COS:
        return [graph.neg(graph.function(SIN, x))]
    if operation == SQRT:
        return [graph.div(graph.constant(0.5), node)]
    if operation == TANH:
        return [graph.sub(one, graph.mul(node, node))]
    if operation == ARCTAN2:
        y, x = inner
        inverse = graph.div(one, graph.add(graph.mul(x, x), graph.mul(y, y)))
        return [graph.mul(x, inverse), graph.neg(graph.mul(y, inverse))]
    return [graph.zero]  # of a sign


def _with_slopes(record: Record) -> tuple[Graph, list[int], list[Slopes]]:
    """The record's operations in a new graph, the node of each row, and of each row its operands with slopes."""
    graph, nodes = record.replayed()
    slopes: list[Slopes] = []
    for k, (operation, a, b) in enumerate(record.rows):
        if operation in LEAVES:
            slopes.append([])
            continue
        inner = (int(a), b) if operation in (ADD, SUB, MUL, DIV, ARCTAN2) else (int(a),)
        found = _slopes(graph, operation, nodes[k], tuple(nodes[i] for i in inner))
        slopes.append([(i, slope) for i, slope in zip(inner, found, strict=True) if slope != graph.zero])
    return graph, nodes, slopes


def _forward(record: Record) -> tuple[Graph, list[Elements]]:
    """Derivatives of each element of the outputs, by passing those of each row on to what is made of it."""
    graph, _, slopes = _with_slopes(record)
    known: list[Elements] = []
    for (operation, a, _), steps in zip(record.rows, slopes, strict=True):
        total: Elements = {int(a): graph.one} if operation == INPUT else {}
        for inner, slope in steps:
            for k, derivative in known[inner].items():
                _gather(graph, total, k, graph.mul(slope, derivative))
        known.append(total)
    return graph, [known[row] for row in record.results]


def _backward(record: Record) -> tuple[Graph, list[Elements]]:
    """The same, output by output, from it to the inputs."""
    graph, _, slopes = _with_slopes(record)
    found = []
    for result in record.results:
        weights: Elements = {result: graph.one}
        elements: Elements = {}
        for row in range(result, -1, -1):
            weight = weights.pop(row, None)
            if weight is None or weight == graph.zero:
                continue
            operation, a, _ = record.rows[row]
            if operation == INPUT:
                elements[int(a)] = weight
            for inner, slope in slopes[row]:
                _gather(graph, weights, inner, graph.mul(weight, slope))
        found.append(elements)
    return graph, found


def _gather(graph: Graph, sums: Elements, key: int, term: int) -> None:
    sums[key] = graph.add(sums[key], term) if key in sums else term
