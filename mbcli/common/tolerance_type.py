"""How a tolerance is meant, under the name of pydrake.common."""

from enum import Enum


class ToleranceType(Enum):
    """A tolerance counts as it is, or times the larger of two numbers."""

    kAbsolute = 0
    kRelative = 1
