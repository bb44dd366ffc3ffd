"""What plugins read from files beside numbers and words, as SETTINGS declares it, and what may be asked of them."""

from __future__ import annotations

from typing import NamedTuple


class Flag(NamedTuple):
    """True or false."""

    setting: str
    default: bool


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
