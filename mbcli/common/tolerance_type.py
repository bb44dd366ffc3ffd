"""How a tolerance is meant, under the name of pydrake.common."""

from mbcli.numbered_enum import NumberedEnum


class ToleranceType(NumberedEnum):
    """A tolerance counts as it is, or times the larger of two numbers."""

    kAbsolute = 0
    kRelative = 1
