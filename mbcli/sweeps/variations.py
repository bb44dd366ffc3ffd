"""What varies in a sweep: PATH=VALUES, as text or from Python.

joint.elbow.damping=0.1,0.2,0.5           these values
joint.elbow.damping=linspace(0, 1, 11)    11 values from 0 to 1; geomspace(0.01, 10, 7), arange(0, 1, 0.1)
body.*.mass=*0.8,*1,*1.2                  relative: factors; +X adds
body.*.mass=*uniform(0.8, 1.2)            a distribution, of which samples are drawn: uniform(least, most),
                                          loguniform(least, most), normal(mean, deviation),
                                          integers(least, most), choice(a, b, ...)
state.elbow=linspace(-1, 1, 5)            a position or velocity at the start, by the names of --at
state=random                              a random start of each point, drawn by its seed
u.motor=0,1,2                             constant actuation
plant_config.time_step=0.001,0.002        a setting
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.number_text import parse_number
from mbcli.common.suggestions import closest
from mbcli.errors import ArgumentError
from mbcli.models.parameter_assignments import is_parameter_path
from mbcli.parsers.scenes.plant_config import setting_paths

CALL = re.compile(r"(?P<operator>[+*]?)\s*(?P<name>[a-z_]+)\s*\((?P<arguments>[^()]*)\)\s*")
MOST_VALUES = 1_000_000  # of one variation
RANDOM_STATE = "state"  # the path of `state=random`
OF_STATE, OF_INPUT = "state.", "u."


@dataclass(frozen=True)
class Variation:
    """One path and what it becomes.

    values: texts of the values, where a list is given.
    draw: from a number in (0, 1) to the text of a value, where a distribution is given; of values the one at that part.
    operator: "+" or "*" if all values are relative, else "".
    has_texts: whether one of the values is no number.
    """

    path: str
    values: tuple[str, ...] | None
    draw: Callable[[float], str]
    operator: str = ""
    description: str = ""
    has_texts: bool = False

    @property
    def column(self) -> str:
        """The name of its column in the table."""
        return f"{self.path} ({self.operator})" if self.operator else self.path

    def cell(self, text: str) -> float | str:
        """A value as the table has it: a number if it is one."""
        if not self.operator and text[:1] in ("+", "*"):  # relative, others of the list are not
            return text
        number = parse_number(text.removeprefix(self.operator).strip())
        return text if number is None else number


def parse_variations(given: Iterable[str] | Mapping[str, Any]) -> list[Variation]:
    """Variations of PATH=VALUES texts, or of {path: text, number or sequence}. ArgumentError for what is none."""
    pairs = [_split(text) for text in given] if not isinstance(given, Mapping) else list(given.items())
    found = [_of_value(path, value) for path, value in pairs]
    for k, variation in enumerate(found):
        if variation.path in [other.path for other in found[:k]]:
            raise _fault(variation.path, "is varied twice")
    return found


def require_kinds(variations: Iterable[Variation]) -> None:
    """ArgumentError for a path that is a name alone, and none of a setting."""
    for variation in variations:
        name = variation.path
        if "." not in name and not is_path(name):
            meant = (
                f"state.{name} for the start, u.{name} for an actuator, joint.NAME.damping and the like for a parameter"
            )
            raise _fault(name, f"is no setting; {meant}")


def is_path(name: str) -> bool:
    """Whether something can vary under this name, if the model has it."""
    if name == RANDOM_STATE or name.startswith((OF_STATE, OF_INPUT)) or is_parameter_path(name):
        return True
    return name in setting_paths()


def _split(text: str) -> tuple[str, str]:
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise _fault(text, "must be PATH=VALUES, as joint.elbow.damping=0.1,0.2 or =uniform(0.1, 0.5)")
    return path.strip(), values.strip()


def _of_value(path: str, value: Any) -> Variation:
    if isinstance(value, str):
        return _of_text(path, value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    values = list(value) if isinstance(value, Sequence) else [value]
    return _of_values(path, [v if isinstance(v, str) else value_text(v) for v in values], "")


def value_text(value: Any) -> str:
    """A value as VALUE of PATH=VALUE, from which the same number is read."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(value_text, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _of_text(path: str, text: str) -> Variation:
    if path == RANDOM_STATE:
        if text != "random":
            raise _fault(path, f"is 'random', not '{text}'; state.NAME varies one position or velocity")
        return Variation(path, ("random",), lambda part: "random", has_texts=True)
    call = CALL.fullmatch(text)
    if call is None:
        return _of_values(path, _parts(path, text), text)
    name, operator = call["name"], call["operator"]
    words = [word.strip() for word in call["arguments"].split(",")]
    if name == "choice":
        return _of_values(path, [f"{operator}{word}" for word in words], text, samples_only=True)
    if name not in FUNCTIONS:
        likely = closest(name, [*FUNCTIONS, "choice"])
        hint = f"did you mean {likely}?" if likely else f"there are {', '.join([*FUNCTIONS, 'choice'])}"
        raise _fault(path, f"there is no {name}(); {hint}")
    numbers = [parse_number(word) for word in words]
    names, make = FUNCTIONS[name]
    if None in numbers or len(numbers) != len(names):
        raise _fault(path, f"{name}() takes the numbers {', '.join(names)}, not ({call['arguments'].strip()})")
    made = make(path, *numbers)
    if callable(made):
        return Variation(path, None, lambda part: operator + value_text(made(part)), operator, text)
    return _of_values(path, [operator + value_text(value) for value in made], text)


def _parts(path: str, text: str) -> list[str]:
    """The values of a list; commas in brackets do not end one."""
    hidden = re.sub(r"[^\[\]]*+(?:[\[\]]|\Z)", lambda m: m[0].replace(",", "\0") if m[0][-1:] == "]" else m[0], text)
    parts = [part.replace("\0", ",").strip() for part in hidden.split(",")]
    if not all(parts):
        raise _fault(path, f"a value is missing in '{text[:60]}'")
    return parts


def _of_values(path: str, values: Sequence[str], text: str, *, samples_only: bool = False) -> Variation:
    if not values:
        raise _fault(path, "there are no values")
    for value in values if _takes_numbers(path) else ():
        words = value.removeprefix("+").removeprefix("*").strip().removeprefix("[").removesuffix("]").split(",")
        if any(parse_number(word.strip()) is None for word in words):
            raise _fault(path, f"'{value[:60]}' is not a number, nor a list of numbers [x, y, z]")
    operators = {value[:1] if value[:1] in ("+", "*") else "" for value in values}
    operator = operators.pop() if len(operators) == 1 else ""
    values = tuple(values)

    def draw(part: float) -> str:
        return values[min(int(part * len(values)), len(values) - 1)]

    made = Variation(path, None if samples_only else values, draw, operator, text)
    return replace(made, has_texts=any(isinstance(made.cell(value), str) for value in values))


def _takes_numbers(path: str) -> bool:
    """Whether values are numbers, as of all but some settings."""
    return path.startswith(("state.", "u.")) or (is_parameter_path(path) and not path.endswith("_limit"))


# -------------------------------------------------------------------------------- ranges and distributions


def _count(path: str, n: float) -> int:
    if n != int(n) or not 1 <= n <= MOST_VALUES:
        raise _fault(path, f"the number of values is a whole number from 1 to {MOST_VALUES}, not {n:g}")
    return int(n)


def _ordered(path: str, low: float, high: float) -> None:
    if not low < high:
        raise _fault(path, f"{low:g} is not less than {high:g}")


def _linspace(path: str, start: float, stop: float, n: float) -> list[float]:
    return np.linspace(start, stop, _count(path, n)).tolist()


def _geomspace(path: str, start: float, stop: float, n: float) -> list[float]:
    if not start * stop > 0.0:
        raise _fault(path, "geomspace() takes two numbers of one sign, neither 0")
    return np.geomspace(start, stop, _count(path, n)).tolist()


def _arange(path: str, start: float, stop: float, step: float) -> list[float]:
    if step == 0.0 or (stop - start) / step <= 0.0:
        raise _fault(path, f"no step of {step:g} leads from {start:g} to {stop:g}")
    count = math.ceil((stop - start) / step - 1e-9)
    return [start + k * step for k in range(_count(path, count))]


def _uniform(path: str, low: float, high: float) -> Callable[[float], float]:
    _ordered(path, low, high)
    return lambda part: low + part * (high - low)


def _loguniform(path: str, low: float, high: float) -> Callable[[float], float]:
    _ordered(path, low, high)
    if low <= 0.0:
        raise _fault(path, "loguniform() takes numbers greater than 0")
    return lambda part: math.exp(math.log(low) + part * (math.log(high) - math.log(low)))


def _normal(path: str, mean: float, deviation: float) -> Callable[[float], float]:
    if deviation < 0.0:
        raise _fault(path, f"the standard deviation must not be negative, it is {deviation:g}")

    def draw(part: float) -> float:
        from scipy.special import ndtri

        return mean + deviation * float(ndtri(part))

    return draw


def _integers(path: str, low: float, high: float) -> Callable[[float], int]:
    if low != int(low) or high != int(high) or high < low:
        raise _fault(path, f"integers() takes two whole numbers in order, not {low:g} and {high:g}")
    return lambda part: int(low) + min(int(part * (high - low + 1)), int(high - low))


FUNCTIONS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "linspace": (("first", "last", "count"), _linspace),
    "geomspace": (("first", "last", "count"), _geomspace),
    "arange": (("first", "end", "step"), _arange),
    "uniform": (("least", "most"), _uniform),
    "loguniform": (("least", "most"), _loguniform),
    "normal": (("mean", "deviation"), _normal),
    "integers": (("least", "most"), _integers),
}


def _fault(path: str, message: str) -> ArgumentError:
    return ArgumentError(f"{argument('vary')} {path}: {message}")
