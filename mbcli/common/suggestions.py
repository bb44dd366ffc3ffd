"""Names in messages: the likely meaning of an unknown one, and a choice of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

MAX_COMPARED = 200  # characters of a name; the comparison takes quadratic time
MOST_NAMES = 500  # that a name is compared with: a file can have as many unknown names as known ones


def closest(name: object, names: Collection[str]) -> str | None:
    """The one of `names` that `name` was probably meant to be, or None."""
    from difflib import get_close_matches  # only needed after a fault

    found = get_close_matches(str(name)[:MAX_COMPARED], names, n=1) if len(names) <= MOST_NAMES else ()
    return found[0] if found else None


def did_you_mean(name: object, names: Collection[str]) -> str | None:
    """The hint 'did you mean "..."?', or None if no name is close."""
    likely = closest(name, names)
    return f'did you mean "{likely}"?' if likely else None


def name_or_list(name: object, names: Collection[str]) -> str:
    """As `did_you_mean`; the list of names if none is close."""
    return did_you_mean(name, names) or "one of " + ", ".join(names)


def alternatives(names: Iterable[str]) -> str:
    """A choice in a sentence: a, b or c."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
