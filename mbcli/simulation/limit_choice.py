"""What a run does at the limits of efforts and of velocities: the choice there is, and how what was found is listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CHOICES = ("clamp", "warn", "ignore")
MOST_LISTED = 5


def listed(found: Sequence[str]) -> str:
    """The first few, and how many there are in all."""
    more = f", ... ({len(found)} in all)" if len(found) > MOST_LISTED else ""
    return ", ".join(found[:MOST_LISTED]) + more
