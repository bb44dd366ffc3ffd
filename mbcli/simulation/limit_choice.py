"""What a run does at the limits of efforts and of velocities: the choice there is, and how what was found is listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.common.argument_names import argument
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

CHOICES = ("clamp", "warn", "ignore")
MOST_LISTED = 5


def require_choice(name: str, choice: str) -> str:
    """The choice of the argument of this name. ArgumentError if it is none of CHOICES."""
    if choice not in CHOICES:
        raise ArgumentError(f"{argument(name)} is 'clamp', 'warn' or 'ignore', not {choice!r}")
    return choice


def listed(found: Sequence[str]) -> str:
    """The first few, and how many there are in all."""
    more = f", ... ({len(found)} in all)" if len(found) > MOST_LISTED else ""
    return ", ".join(found[:MOST_LISTED]) + more
