"""Numbers in the texts of XML files."""

from __future__ import annotations

import re
from math import copysign, inf

LARGEST_NUMBER = 1e100  # in a file; products of three of them are finite
ZEROS = (0.0, 0.0, 0.0)  # the object of each vector "0 0 0"

_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)
_INFINITY = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)


def usual_number(text: str) -> float | None:
    """The number of a text that says nothing but a number of usual size, or None: then to_float() decides."""
    try:
        number = float(text)
    except ValueError:
        return None
    # what else Python takes for a number: 1_000, digits of other scripts, infinity and NaN
    return number if -LARGEST_NUMBER <= number <= LARGEST_NUMBER and text.isascii() and "_" not in text else None


def usual_numbers(text: str, count: int) -> tuple[float, ...] | None:
    """The tuple of so many numbers in a text, as `usual_number`, or None."""
    if text == "0 0 0" and count == 3:
        return ZEROS
    try:
        numbers = tuple(map(float, text.split()))
    except ValueError:
        return None
    for number in numbers:
        if not -LARGEST_NUMBER <= number <= LARGEST_NUMBER:
            return None
    return numbers if len(numbers) == count and text.isascii() and "_" not in text else None


def to_float(token: str, allow_inf: bool) -> float | None:
    """The number that a token is, or None. Python's own float() takes 1_000 and full-width digits, too."""
    if _NUMBER.fullmatch(token):
        number = float(token)
        if abs(number) <= LARGEST_NUMBER:
            return number
        return copysign(inf, number) if allow_inf else None
    if allow_inf and _INFINITY.fullmatch(token):
        return -inf if token[0] == "-" else inf
    return None


def value_hint(value: str) -> str | None:
    """What a text that is no number may have meant; None if that is not known."""
    if "${" in value or "$(" in value:
        return "the file contains unexpanded xacro: run xacro on it first"
    if "," in value:
        return "the decimal sign is a point, and numbers are separated by blanks"
    if _INFINITY.match(value.strip()):
        return "leave it out if there is no limit"
    if any(_NUMBER.fullmatch(token) and abs(float(token)) > LARGEST_NUMBER for token in value.split()):
        return f"the largest number that is read is {LARGEST_NUMBER:g}"
    return None
