"""Which ports a linearization takes that is given no index."""

from enum import Enum


class InputPortSelection(Enum):
    """The input port of a linearization without an index."""

    kNoInput = -2
    kUseFirstInputIfItExists = -1


class OutputPortSelection(Enum):
    """The output port of a linearization without an index."""

    kNoOutput = -2
    kUseFirstOutputIfItExists = -1
