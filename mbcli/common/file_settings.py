"""What kinds of sensors and plugins declare that they read from files."""

from __future__ import annotations

from typing import Any, NamedTuple


class Number(NamedTuple):
    """A number; default where the file states none; at_least: the smallest that it may be, None for none; whole: an
    integer.
    """

    setting: str
    default: float | None
    at_least: float | None = None
    whole: bool = False

    def problem(self, value: float) -> str:
        """Why a value cannot be; "" if it can."""
        if self.whole and not float(value).is_integer():
            return "must be an integer"
        if self.at_least is not None and value < self.at_least:
            return f"must be at least {self.at_least:g}"
        return ""


class Word(NamedTuple):
    """One of some words, the first of which is the default."""

    setting: str
    words: tuple[str, ...]


class Triple(NamedTuple):
    """Three numbers."""

    setting: str
    default: tuple[float, float, float]


def no_problem(settings: dict[str, Any]) -> str:
    """Nothing is wrong with any settings."""
    return ""
