"""Numbers in texts: from outside, and counts in messages."""

import math
import re

NUMBER = re.compile(r"[+-]?(\d++(?:\.\d*+)?|\.\d++)([eE][+-]?\d++)?", re.ASCII)


def parse_number(text: str) -> float | None:
    """A finite number in plain notation, or None: no inf, no nan, no 1_000."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def counted(number: int, one: str, several: str | None = None) -> str:
    """`1 row`, `2 rows`; `several` where it is not `one` with an s."""
    return f"{number} {one if number == 1 else several or one + 's'}"
