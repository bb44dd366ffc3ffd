"""Numbers in texts: from outside, and counts in messages."""

import math
import re

NUMBER = re.compile(r"[+-]?(\d++(?:\.\d*+)?|\.\d++)([eE][+-]?\d++)?", re.ASCII)
OF_PI = re.compile(r"([+-]?)(?:(\d++(?:\.\d*+)?|\.\d++)\*?)?pi(?:/(\d++(?:\.\d*+)?|\.\d++))?", re.ASCII)


def parse_number(text: str) -> float | None:
    """A finite number in plain notation, or None: no inf, no nan, no 1_000."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def parse_angle(text: str, degrees: bool = False) -> float | None:
    """[rad] `0.5`, `30deg`, `30°`, `0.5rad`, `pi/2`, `-2*pi/3`, `1.5pi`; None for none. degrees: of a plain number."""
    text = f"{text[:-1]}deg" if text.endswith("°") else text
    of_pi = OF_PI.fullmatch(text)
    if of_pi:
        sign, factor, divisor = of_pi.groups()
        divisor = float(divisor or 1.0)
        return float(sign + "1") * float(factor or 1.0) * math.pi / divisor if divisor else None
    plain = text.removesuffix("deg").removesuffix("rad")
    value = parse_number(plain)
    in_degrees = text.endswith("deg") or (degrees and plain == text)
    return math.radians(value) if value is not None and in_degrees else value


def counted(number: int, one: str, several: str | None = None) -> str:
    """`1 row`, `2 rows`; `several` where it is not `one` with an s."""
    return f"{number} {one if number == 1 else several or one + 's'}"
