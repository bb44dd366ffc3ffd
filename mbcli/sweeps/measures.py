"""Figures of a run as small expressions: `max(abs(elbow))`, `time_of(trunk_z < 0.2)`, `rms(elbow_w - 1)`.

Names are those of positions and velocities (the end of a name will do; in quotes if it has other signs than letters,
digits, `_`, `.` and `::`), `u.ACTUATOR`, `effort.ACTUATOR`, `reaction.JOINT.PART`, `sensor.NAME.COLUMN`, and the SERIES
below; each is a series with one number a row of the log.
REDUCTIONS make one number of a series. An expression is parsed into a tree of these and nothing else: no Python runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.suggestions import closest
from mbcli.errors import ArgumentError
from mbcli.sweeps.measure_units import unit_of

if TYPE_CHECKING:
    from typing import TypeAlias

    from mbcli.math.array_types import Array, Vector

    Value: TypeAlias = Callable[[Callable[[str], Any], Any], Any]  # of (series, time)
    Unit: TypeAlias = Callable[[Callable[[str], str | None]], str | None]  # of the units of series

LONGEST, DEEPEST, MOST_OPERATORS = 2000, 60, 200  # characters; levels of brackets
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d](?:\w|\.|::)*)"
    r"|(?P<quoted>'[^']*'|\"[^\"]*\")|(?P<sign>\*\*|<=|>=|==|!=|[-+*/(),<>]))"
)
SERIES = {
    "time": "[s]",
    "energy": "kinetic and potential [J]",
    "energy_kinetic": "[J]",
    "energy_potential": "[J]",
    "com_x": "centre of mass in World [m]",
    "com_y": "",
    "com_z": "",
    "constraint_error": "norm of the position errors of constraints",
    "contacts": "how many contact points there are",
    "contact_force": "the largest force of a contact [N]",
    "contact_force_sum": "the sum of the sizes of contact forces [N]",
    "contact_depth": "the deepest overlap [m]",
    "slip_speed": "of the contact that slips fastest [m/s]",
}


def _integral(values: Vector, time: Vector) -> float:
    return float(np.trapezoid(values, time))


def _time_of(values: Vector, time: Vector) -> float:
    there = np.flatnonzero(values)
    return float(time[there[0]]) if there.size else math.nan


def _as_number(condition: Callable[..., Any]) -> Callable[..., Array]:
    """A condition that gives 1.0 and 0.0: sums and integrals of truth values would be others."""
    return lambda *values: np.asarray(condition(*values), dtype=float)


REDUCTIONS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "min": lambda x, t: float(np.min(x)),
    "max": lambda x, t: float(np.max(x)),
    "mean": lambda x, t: float(np.mean(x)),
    "std": lambda x, t: float(np.std(x)),
    "rms": lambda x, t: float(np.sqrt(np.mean(np.square(x)))),
    "first": lambda x, t: float(x[0]),
    "final": lambda x, t: float(x[-1]),
    "span": lambda x, t: float(np.max(x) - np.min(x)),
    "integral": _integral,
    "time_of": _time_of,
    "time_of_min": lambda x, t: float(t[np.argmin(x)]),
    "time_of_max": lambda x, t: float(t[np.argmax(x)]),
    "fraction": lambda x, t: float(np.mean(np.asarray(x) != 0.0)),
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sign": np.sign,
}
PAIRS = {"min": np.minimum, "max": np.maximum, "atan2": np.arctan2, "hypot": np.hypot}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": lambda a, b: np.power(np.asarray(a, dtype=float), b),
    "<": _as_number(np.less),
    "<=": _as_number(np.less_equal),
    ">": _as_number(np.greater),
    ">=": _as_number(np.greater_equal),
    "==": _as_number(np.equal),
    "!=": _as_number(np.not_equal),
    "and": _as_number(np.logical_and),
    "or": _as_number(np.logical_or),
}
NOT = _as_number(np.logical_not)
BINDING = {"or": 1, "and": 2, "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "+": 4, "-": 4, "*": 5, "/": 5}
BINDING |= {"**": 7}
COMPARISON = OF_NOT = 3
OF_SIGN = 6
CONSTANTS = {"pi": math.pi}


class Node(NamedTuple):
    """A part of an expression: its value, whether that is a series, and its unit."""

    value: Value
    is_series: bool
    unit: Unit


class Measure:
    """One figure of a run.

    Args:
        text: an expression, or NAME=EXPRESSION.

    Attributes:
        name: of its column, the text of the expression if it has none.
        names: of the series that it needs.

    Raises:
        ArgumentError: the text is not an expression, or its value is a series.
    """

    def __init__(self, text: str) -> None:
        named = re.fullmatch(r"\s*([^\W\d]\w*)\s*=(?!=)(.*)", text, re.DOTALL)
        self.text = named[2].strip() if named else text.strip()
        self.name = named[1] if named else self.text
        (self._value, is_series, self._unit), self.names = _Parser(self.text).parse()
        if is_series:
            raise _fault(self.text, f"is a series: {', '.join(REDUCTIONS)} make one number of it")

    def __call__(self, series: Callable[[str], np.ndarray], time: np.ndarray) -> float:
        """The figure of a run with at least one row. series: name -> its numbers (n,)."""
        with np.errstate(all="ignore"):
            return float(self._value(series, time))

    def unit(self, of_series: Callable[[str], str | None]) -> str | None:
        """Its unit from those of its series, "" for a plain number, None if that is not known."""
        return self._unit(of_series)


class _Parser:
    """Operator precedence climbing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[str] = []
        if len(text) > LONGEST:
            raise _fault(text[:40] + "...", f"is longer than {LONGEST} characters")
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while text[at:].strip():
            found = TOKEN.match(text, at)
            if found is None:
                raise _fault(text, f"cannot be read from '{text[at:].strip()[:20]}' on")
            kind = str(found.lastgroup)  # each alternative of TOKEN is a group
            self.tokens.append((kind, found[kind]))
            at = found.end()
        self.at = self.depth = self.operators = 0

    def parse(self) -> tuple[Node, tuple[str, ...]]:
        node = self.expression(0)
        if self.at < len(self.tokens):
            raise _fault(self.text, f"'{self.peek()[1]}' is not expected there")
        return node, tuple(dict.fromkeys(self.names))

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "its end")

    def take(self, sign: str | None = None) -> tuple[str, str]:
        kind, text = self.peek()
        if sign is not None and text != sign:
            raise _fault(self.text, f"'{sign}' is expected, not {text if kind == 'end' else repr(text)}")
        self.at += 1
        return kind, text

    def expression(self, least: int) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _fault(self.text, f"has more than {DEEPEST} levels")
        left, compared = self.operand(), False
        while True:
            kind, sign = self.peek()
            binding = BINDING.get(sign, 0) if kind in ("sign", "name") else 0
            if binding == 0 or binding < least or (binding == COMPARISON and compared):
                break
            compared = binding == COMPARISON
            self.operators += 1
            if self.operators > MOST_OPERATORS:
                raise _fault(f"{self.text[:40]}...", f"has more than {MOST_OPERATORS} operators")
            self.take()
            right = self.expression(binding if sign == "**" else binding + 1)
            left = self.apply(sign, OPERATORS[sign], left, right)
        self.depth -= 1
        return left

    def operand(self) -> Node:
        kind, text = self.take()
        if kind == "number":
            number = float(text)
            return Node(lambda series, time: number, False, lambda of_series: "")
        if text == "(":
            inner = self.expression(0)
            self.take(")")
            return inner
        if kind == "sign" and text in ("-", "+"):
            inner = self.expression(OF_SIGN)
            return self.apply("-", np.negative, inner) if text == "-" else inner
        if kind == "name" and text == "not":
            return self.apply("not", NOT, self.expression(OF_NOT))
        if kind == "name" and self.peek()[1] == "(":
            return self.call(text)
        if kind == "name" and text in CONSTANTS:
            return Node(lambda series, time: CONSTANTS[text], False, lambda of_series: "")
        if kind in ("name", "quoted"):
            name = text[1:-1] if kind == "quoted" else text
            self.names.append(name)
            return Node(lambda series, time: series(name), True, lambda of_series: of_series(name))
        raise _fault(self.text, f"a number, name or bracket is expected, not {text if kind == 'end' else repr(text)}")

    def call(self, name: str) -> Node:
        self.take("(")
        arguments = [self.expression(0)]
        while self.peek()[1] == ",":
            self.take()
            arguments.append(self.expression(0))
        self.take(")")
        if len(arguments) == 2 and name in PAIRS:
            return self.apply(name, PAIRS[name], *arguments)
        if name not in REDUCTIONS and name not in FUNCTIONS:
            known = [*REDUCTIONS, *FUNCTIONS, *PAIRS]
            likely = closest(name, known)
            hint = f"did you mean {likely}()?" if likely else f"there are {', '.join(dict.fromkeys(known))}"
            raise _fault(self.text, f"there is no function {name}(); {hint}")
        if len(arguments) != 1:
            raise _fault(self.text, f"{name}() takes one argument, not {len(arguments)}")
        if name in FUNCTIONS:
            return self.apply(name, FUNCTIONS[name], *arguments)
        (inner, is_series, unit), reduce = arguments[0], REDUCTIONS[name]
        if not is_series:
            raise _fault(self.text, f"{name}() takes a series, not one number")
        return Node(
            lambda series, time: reduce(inner(series, time), time),
            False,
            lambda of_series: unit_of(name, unit(of_series)),
        )

    @staticmethod
    def apply(name: str, function: Callable[..., Any], *nodes: Node) -> Node:
        return Node(
            lambda series, time: function(*(node.value(series, time) for node in nodes)),
            any(node.is_series for node in nodes),
            lambda of_series: unit_of(name, *(node.unit(of_series) for node in nodes)),
        )


def _fault(text: str, message: str) -> ArgumentError:
    return ArgumentError(f"{argument('measures')} '{text}': {message}")
