"""Which links of a model are twins by their names: left_hand and right_hand, FL_hip and FR_hip, LElbow and RElbow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# what a name calls the left, and the right
_SIDES = {"left": "right", "l": "r", "fl": "fr", "rl": "rr", "bl": "br", "hl": "hr", "lf": "rf", "lh": "rh", "lb": "rb"}
# words of a name: between other characters, or before a capital
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z](?=[A-Z][a-z])")


def twins(names: Iterable[str]) -> list[tuple[str, str]]:
    """(left, right) of the names that differ in the words for left and right, in their order."""
    known = list(names)
    present, found = set(known), []
    for name in known:
        right = next((other for other in _mirrored(name) if other in present), None)
        if right is not None:
            found.append((name, right))
    return found


def _mirrored(name: str) -> Iterator[str]:
    """The names that the twin on the right of a left one may have."""
    for word in _words(name):
        text = word[0]
        other = _SIDES.get(text.lower())
        if other is not None:
            yield name[: word.start()] + _in_case_of(text, other) + name[word.end() :]


def _words(name: str) -> Iterator[re.Match[str]]:
    """The words of a name, and the capital that a word of capitals and small letters begins with: LHip."""
    yield from _WORDS.finditer(name)
    yield from re.finditer(r"(?<![A-Za-z])[LF](?=[A-Z][a-z])|(?<![A-Za-z])L(?=[A-Z])", name)


def _in_case_of(text: str, other: str) -> str:
    if text.isupper():
        return other.upper()
    return other.capitalize() if text[0].isupper() else other
