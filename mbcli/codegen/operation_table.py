"""A record as tables that one loop runs, for languages whose compilers take long for straight code.

Numbers lie in one array: inputs, constants, then the results of rounds. A round takes WIDTH operations that do not need
each other: a b + s c, a / b, or sqrt(a). Other functions stand between the loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mbcli.tracing.graph import ADD, CONST, DIV, INPUT, MUL, NEG, SQRT, SUB, TWO_OPERANDS

if TYPE_CHECKING:
    from mbcli.tracing.record import Record

WIDTH = 32
IN_ROUNDS = (ADD, SUB, MUL, DIV, NEG, SQRT)
SUM_OR_PRODUCT, QUOTIENT, ROOT = range(3)


@dataclass
class Part:
    """Rounds or, where `operation` is not "", one function of the numbers at `a` (and `b`).

    rows: of each round (kinds, a, b, c, s), each of WIDTH; first: the place of the first result.
    """

    first: int
    rows: list[tuple[list[int], ...]] = field(default_factory=list)
    operation: str = ""
    a: list[int] = field(default_factory=list)
    b: list[int] = field(default_factory=list)


@dataclass
class Table:
    """constants: behind the inputs, 0 and 1 first; size: of the array; results: places of the outputs' elements."""

    constants: list[float]
    parts: list[Part]
    size: int
    results: list[int]


def operation_table(record: Record) -> Table:
    """The table of a record; its inputs are all elements of its variables, one after another."""
    inputs = sum(each.size for each in record.inputs)
    constants = [0.0, 1.0, *(float(a) for operation, a, _ in record.rows if operation == CONST)]
    place, known = {}, inputs + 2
    for row, (operation, a, _) in enumerate(record.rows):
        if operation == CONST:
            place[row], known = known, known + 1
        elif operation == INPUT:
            place[row] = int(a)
    size, parts = inputs + len(constants), list[Part]()
    for stage in _stages(record):
        size = _add_part(record, stage, place, size, parts, inputs)
    return Table(constants, parts, size, [place[row] for row in record.results])


def _stages(record: Record) -> list[list[int]]:
    """The rows of operations in the order of loops and functions: even stages are of loops, odd ones of functions."""
    stage: list[int] = []
    for row, (operation, _, _) in enumerate(record.rows):
        if operation in (CONST, INPUT):
            stage.append(0)
            continue
        needed = max(stage[k] for k in record.operands(row))
        stage.append(needed + (needed + (operation not in IN_ROUNDS)) % 2)
    rows: list[list[int]] = [[] for _ in range(max(stage, default=0) + 1)]
    for row, (operation, _, _) in enumerate(record.rows):
        if operation not in (CONST, INPUT):
            rows[stage[row]].append(row)
    return rows


def _add_part(record: Record, stage: list[int], place: dict[int, int], size: int, parts: list[Part], zero: int) -> int:
    """Places the results of a stage; the size of the array after it."""
    if stage and record.rows[stage[0]][0] not in IN_ROUNDS:
        for operation in sorted({record.rows[row][0] for row in stage}):
            own = [row for row in stage if record.rows[row][0] == operation]
            part = Part(size, operation=operation)
            part.a = [place[int(record.rows[row][1])] for row in own]
            part.b = [place[int(record.rows[row][2])] for row in own] if operation in TWO_OPERANDS else []
            place |= {row: size + k for k, row in enumerate(own)}
            parts.append(part)
            size += len(own)
        return size
    part, rounds, round_of = Part(size), list[list[int]](), dict[int, int]()
    open_from = 0
    for row in stage:
        k = max(open_from, 1 + max(round_of.get(each, -1) for each in record.operands(row)))
        while k < len(rounds) and len(rounds[k]) == WIDTH:
            k += 1
        rounds += [[]] if k == len(rounds) else []
        rounds[k].append(row)
        round_of[row] = k
        place[row] = size + k * WIDTH + len(rounds[k]) - 1
        while open_from < len(rounds) and len(rounds[open_from]) == WIDTH:
            open_from += 1
    for own in rounds:
        terms = [_term(*record.rows[row], place, zero) for row in own]
        terms += [(SUM_OR_PRODUCT, zero, zero, zero, 0)] * (WIDTH - len(own))
        part.rows.append(tuple(map(list, zip(*terms, strict=True))))
    if rounds:
        parts.append(part)
    return size + WIDTH * len(rounds)


def _term(operation: str, a: float, b: int, place: dict[int, int], zero: int) -> tuple[int, int, int, int, int]:
    """(kind, a, b, c, s) of an operation; zero and the place behind it hold 0 and 1."""
    first = place[int(a)]
    second = place[b] if operation in TWO_OPERANDS else zero
    if operation in (ADD, SUB):
        return SUM_OR_PRODUCT, first, zero + 1, second, 1 if operation == ADD else -1
    if operation == NEG:
        return SUM_OR_PRODUCT, zero, zero, first, -1
    if operation == MUL:
        return SUM_OR_PRODUCT, first, second, zero, 0
    return (QUOTIENT if operation == DIV else ROOT), first, second, zero, 0
