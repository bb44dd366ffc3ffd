"""A record as assignments of a programming language, one an operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbcli.tracing.graph import ADD, ARCTAN2, CONST, DIV, INPUT, MUL, NEG, SUB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mbcli.tracing.record import Record

SYMBOLS = {ADD: "+", SUB: "-", MUL: "*", DIV: "/"}


@dataclass(frozen=True)
class Spelling:
    """How a language writes what a record has.

    Args:
        number: a float -> its literal.
        element: (name of an input, number of the element) -> the expression.
        functions: {operation: format with {0}, and {1} for arctan2}.
        assign: format of an assignment, with {name} and {value}.
    """

    number: Callable[[float], str]
    element: Callable[[str, int], str]
    functions: dict[str, str]
    assign: str


def statements(record: Record, spelling: Spelling) -> tuple[list[str], list[str]]:
    """The assignments of a record, and the expression of each element of its outputs.

    KeyError, of the operation, if the language has no such function.
    """
    lines: list[str] = []
    terms: list[str] = []
    for operation, a, b in record.rows:
        if operation == CONST:
            terms.append(spelling.number(a))
            continue
        if operation == INPUT:
            variable, place = record.element(int(a))
            terms.append(spelling.element(variable.name, place))
            continue
        x, y = terms[int(a)], terms[b]
        if operation in SYMBOLS:
            value = f"{x} {SYMBOLS[operation]} {y}"
        elif operation == NEG:
            value = f"-{x}"
        else:
            value = (
                spelling.functions[operation].format(x, y)
                if operation == ARCTAN2
                else (spelling.functions[operation].format(x))
            )
        name = f"t{len(lines)}"
        lines.append(spelling.assign.format(name=name, value=value))
        terms.append(name)
    return lines, [terms[k] for k in record.results]


def elements(record: Record, terms: list[str]) -> Iterator[tuple[str, tuple[int, ...], list[str]]]:
    """(name, shape, terms) of each output."""
    first = 0
    for output in record.outputs:
        yield output.name, output.shape, terms[first : first + output.size]
        first += output.size
