"""Names of frames that have a meaning of their own."""

from __future__ import annotations

WORLD = "world"
MODEL = "__model__"
SEPARATOR = "::"


def is_reserved(name: str) -> bool:
    """Names that a file must not give to its elements: world, and those that start and end with two
    underscores."""
    return name == WORLD or (len(name) >= 4 and name.startswith("__") and name.endswith("__"))
