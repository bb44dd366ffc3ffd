"""Whether a result may be written to a file: nothing that exists is replaced by accident, and no input at all."""

import os
import sys
from collections.abc import Iterable

from mbcli.common.argument_names import argument
from mbcli.errors import OutputError


def refuse_existing(path: str, force: bool) -> None:
    """OutputError if a file is there that `force` does not give free, or a folder."""
    if os.path.isdir(path):
        raise OutputError(f"{path}: error: is a directory")
    if os.path.lexists(path) and not force:
        raise OutputError(f"{path}: error: exists already; {argument('force', True)} replaces it")


def is_special(path: str) -> bool:
    """Whether it is a pipe or device, which are written to as they are."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def refuse_inputs(path: str, inputs: Iterable[str]) -> None:
    """OutputError if the file at path is one of the inputs ('-': stdin): `force` is not for them."""
    if not os.path.isfile(path):
        return
    here = os.stat(path)
    for name in inputs:
        there = _status(name)
        if there is not None and os.path.samestat(here, there):
            raise OutputError(f"{path}: error: is an input of this command; its result needs another name")


def _status(name: str) -> os.stat_result | None:
    try:
        return os.fstat(sys.stdin.fileno()) if name == "-" else os.stat(name)
    except (OSError, ValueError, AttributeError):  # no file of that name; a name with a zero; no stdin
        return None
