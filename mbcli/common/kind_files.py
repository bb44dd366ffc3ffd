"""Kinds that are one file each: what one lacks, and what two claim, are errors when they are imported."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


NEAR = 0.8  # of 1, how alike a misspelled name is


def give_defaults(file: Any, constants: Mapping[str, type], operations: Mapping[str, Any]) -> None:
    """Gives a file the constants that it does not state, which are empty then, and functions that it has not.

    TypeError for a constant whose name is nearly one of these: it would count for nothing.
    """
    for name in [name for name in vars(file) if name.isupper() and name not in constants]:
        if meant := difflib.get_close_matches(name, [each for each in constants if not hasattr(file, each)], 1, NEAR):
            raise TypeError(f"{file.__name__} has {name}: did you mean {meant[0]}?")
    for name, kind in constants.items():
        vars(file).setdefault(name, kind())
    for name, operation in operations.items():
        vars(file).setdefault(name, operation)


def require_contents(
    what: str, file: Any, constants: Mapping[str, type], operations: Iterable[str], others: Iterable[str] = ()
) -> None:
    """TypeError if a file lacks a constant of its type, a function among `operations`, or a name among `others`.

    what: the file in the message: the log field 'com'.
    """
    wrong = [name for name, kind in constants.items() if not isinstance(getattr(file, name, None), kind)]
    wrong += [f"{name}()" for name in operations if not callable(getattr(file, name, None))]
    wrong += [name for name in others if not hasattr(file, name)]
    if wrong:
        raise TypeError(f"{what} lacks {', '.join(wrong)}")


def require_single_owners(what: str, claims: Mapping[str, Iterable[str]]) -> None:
    """TypeError if two files claim the same. claims: what each has for itself, by its name; what: "the log fields"."""
    owners: dict[str, str] = {}
    for name, marks in claims.items():
        for mark in marks:
            if owners.setdefault(mark, name) != name:
                raise TypeError(f"{what} '{owners[mark]}' and '{name}' have both {mark}")
