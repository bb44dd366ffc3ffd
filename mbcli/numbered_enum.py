"""Enumerations whose members have numbers, as those of pydrake."""

from enum import Enum
from typing import Any


class Numbered:
    """int(member) is its number; a member is equal to no number."""

    value: Any

    def __int__(self) -> int:
        return int(self.value)


class NumberedEnum(Numbered, Enum):
    """An enumeration of them."""
