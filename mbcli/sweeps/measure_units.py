"""Units of measures: that of an expression from those of its series, in plain spelling ("rad/s", "N m", "" for none).

None stands for a unit that is not known, as of `com_x ** 2` or of the sum of a length and a time.
"""

from __future__ import annotations

SAME = {"abs", "min", "max", "mean", "std", "rms", "first", "final", "span", "hypot", "+", "-"}
OF_NUMBERS = {"sqrt", "exp", "log", "sin", "cos", "tan", "**"}
NUMBERS = {"sign", "fraction", "<", "<=", ">", ">=", "==", "!=", "and", "or", "not"}
FIXED = {"time_of": "s", "time_of_min": "s", "time_of_max": "s", "atan2": "rad"} | dict.fromkeys(NUMBERS, "")
POWER_AND_WORK = {frozenset(("rad/s", "N m")): "W", frozenset(("m/s", "N")): "W", frozenset(("W", "s")): "J"}


def unit_of(function: str, *units: str | None) -> str | None:
    """The unit of what a function or operator of measures.py gives of arguments with these units."""
    if function in FIXED:
        return FIXED[function]
    known = [unit for unit in units if unit is not None]
    if len(known) < len(units):
        return None
    if function == "integral":
        return _product(known[0], "s")
    if function in ("*", "/"):
        return (_product if function == "*" else _quotient)(*known)
    others = {unit for unit in known if unit}
    if function in OF_NUMBERS:
        return None if others - {"rad"} else ""
    if function in SAME and len(others) < 2:  # a plain number has the unit of what it is added to
        return others.pop() if others else ""
    return None


def _product(a: str, b: str) -> str | None:
    if not a or not b:
        return a or b
    if frozenset((a, b)) in POWER_AND_WORK:
        return POWER_AND_WORK[frozenset((a, b))]
    if a.endswith(f"/{b}"):
        return a.removesuffix(f"/{b}")
    return None if "/" in a + b else f"{a} {b}"


def _quotient(a: str, b: str) -> str | None:
    if not b or a == b:
        return "" if b else a
    return None if "/" in a + b or " " in b else f"{a or '1'}/{b}"
