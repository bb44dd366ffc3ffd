"""Which ports a linearization takes that is given no index."""

from mbcli.numbered_enum import NumberedEnum


class InputPortSelection(NumberedEnum):
    """The input port of a linearization without an index."""

    kNoInput = -1
    kUseFirstInputIfItExists = -2


class OutputPortSelection(NumberedEnum):
    """The output port of a linearization without an index."""

    kNoOutput = -1
    kUseFirstOutputIfItExists = -2
