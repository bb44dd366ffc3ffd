"""C code of huge functions in parts: compilers take far more than twice the time for a block of twice the size.

Values that a later part needs cross in one array on the stack, whose elements are used again once no part needs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbcli.codegen.statements import elements
from mbcli.tracing.graph import INPUT, LEAVES

if TYPE_CHECKING:
    from mbcli.tracing.record import Record

WHOLE, PART = 5000, 500  # statements: of a function that is one block; of a part of another one, at most
WORK = "work"  # the array by which values cross


def part_name(function: str, number: int | str) -> str:
    """Of a part of a C function, counted from 1."""
    return f"{function}_part_{number}"


def stack_of_function(stack: dict[str, int], function: str) -> int | None:
    """Bytes of the stack of a C function with its deepest part, of those that a compiler tells; None if it does not."""
    parts = (size for name, size in stack.items() if name.startswith(part_name(function, "")))
    return stack[function] + max(parts, default=0) if function in stack else None


@dataclass(frozen=True)
class Statement:
    """A line of C.

    Args:
        line: its text.
        arrays: the inputs and outputs in it.
        reads: numbers of the operations whose results it needs.
        result: the number of the operation that it is, None for the store of an output.
    """

    line: str
    arrays: frozenset[str]
    reads: frozenset[int]
    result: int | None = None


@dataclass(frozen=True)
class Part:
    """Lines, and the arrays in them."""

    lines: list[str]
    arrays: set[str]


def block(record: Record, assignments: list[str], terms: list[str]) -> list[Statement]:
    """A record as statements; outputs are stored as soon as they are known, so that few values wait.

    assignments, terms: as statements() gives them.
    """
    stores: dict[int, list[Statement]] = {}
    number: dict[int, int] = {}  # of the operation that a row is
    arrays = [{record.element(int(a))[0].name} if operation == INPUT else set() for operation, a, _ in record.rows]
    for row, (operation, _, _) in enumerate(record.rows):
        if operation not in LEAVES:
            number[row] = len(number)
    places = ((name, k) for name, _, values in elements(record, terms) for k in range(len(values)))
    for (name, k), row, term in zip(places, record.results, terms, strict=True):
        reads = frozenset([number[row]] if row in number else ())
        stores.setdefault(row, []).append(Statement(f"{name}[{k}] = {term};", frozenset({name} | arrays[row]), reads))
    found: list[Statement] = []
    for row, n in number.items():
        operands = record.operands(row)
        used = frozenset().union(*(arrays[i] for i in operands))
        found.append(Statement(assignments[n], used, frozenset(number[i] for i in operands if i in number), n))
        found += stores.pop(row, ())
    return [*found, *(each for rest in stores.values() for each in rest)]


def split(statements: list[Statement], real: str) -> tuple[list[Part], int]:
    """Statements as parts of the same size, one of up to WHOLE; and the size of the array WORK that they share."""
    size = len(statements)
    if size > WHOLE:
        size = -(-size // -(-size // PART))
    parts = [statements[k : k + size] for k in range(0, len(statements), size)] if size else [statements]
    made: dict[int, int] = {}  # {operation: the part that it is in}
    last: dict[int, int] = {}  # {operation: the last part that needs it}
    for p, part in enumerate(parts):
        for each in part:
            last |= dict.fromkeys(each.reads, p)
            if each.result is not None:
                made[each.result] = p
    crossing = {n for n, p in last.items() if p > made[n]}
    place: dict[int, int] = {}
    free: list[int] = []
    ended: list[list[int]] = [[] for _ in parts]
    taken, result = 0, list[Part]()
    for p, part in enumerate(parts):
        lines, known, arrays = list[str](), set[int](), set().union(*(each.arrays for each in part))
        for each in part:
            lines += [f"const {real} t{n} = {WORK}[{place[n]}];" for n in sorted(each.reads - known) if made[n] < p]
            known |= each.reads
            lines.append(each.line)
            if each.result in crossing:
                n = each.result
                place[n] = free.pop() if free else taken
                taken += place[n] == taken
                ended[last[n]].append(place[n])
                lines.append(f"{WORK}[{place[n]}] = t{n};")
        free += ended[p]
        crosses = any(made[n] < p for n in known) or any(each.result in crossing for each in part)
        result.append(Part(lines, arrays | {WORK} if crosses else arrays))
    return result, taken
