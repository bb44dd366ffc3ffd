"""What the settings of plugins are read from, as SETTINGS declares them, and what may be asked of a plugin."""

from __future__ import annotations

from typing import Any, NamedTuple


class Number(NamedTuple):
    """A finite number; at_least: the smallest that it may be, None for none."""

    setting: str
    default: float | None
    at_least: float | None = None


class Flag(NamedTuple):
    """True or false."""

    setting: str
    default: bool


class Word(NamedTuple):
    """One of some words, the first of which is the default."""

    setting: str
    words: tuple[str, ...]


class Triple(NamedTuple):
    """Three numbers."""

    setting: str
    default: tuple[float, float, float]


class Words(NamedTuple):
    """The texts of all elements of the tag, a tuple."""

    setting: str


class Numbers(NamedTuple):
    """The numbers in all elements of the tag, a tuple."""

    setting: str


class Rows(NamedTuple):
    """The numbers of these tags in each element of the path: a tuple of tuples. All must be there."""

    setting: str
    tags: tuple[str, ...]


class Command(NamedTuple):
    """What a user may ask of a plugin: its name, unit ("" none), and what it is until something else is asked."""

    name: str
    unit: str
    start: float = 0.0


def no_problem(settings: dict[str, Any]) -> str:
    """Nothing is wrong with any settings."""
    return ""
