"""Which ports a linearization, or motions at many states, take that are given no index."""

from typing import Any

from mbcli.numbered_enum import NumberedEnum


class InputPortSelection(NumberedEnum):
    """The input port of a linearization without an index."""

    kNoInput = -1
    kUseFirstInputIfItExists = -2


class OutputPortSelection(NumberedEnum):
    """The output port of a linearization without an index."""

    kNoOutput = -1
    kUseFirstOutputIfItExists = -2


def selected_port(port: Any, ports: list[Any], selection: Any) -> Any:
    """The one of some ports that an index or a member of a selection means; None for none.

    RuntimeError if it has no vector.
    """
    if isinstance(port, selection):
        return None if port.name.startswith("kNo") or not ports else ports[0]
    found = ports[int(port)]
    if found.get_data_type().name != "kVectorValued":
        raise RuntimeError(f"port '{found.get_name()}' is not a vector")
    return found
