"""The log of many worlds, run again: from which starts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.output_files import write_in_place
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from mbcli.log.worlds import WorldsLog

GIVEN = ("--input", "--u", "--controller", "--trajectory")  # options beside which starts have no actuation


def starts_of(log: WorldsLog, folder: str) -> dict[str, Any]:
    """Parameters of `simulate` by which all worlds start at the first row of a log, from a file in a folder.

    ModelError for a log without rows.
    """
    if not len(log.times):
        raise ModelError(f"{log.path}: error: has no rows to start from")
    parts = {"state/q": "", "state/v": ""}
    if "input/u" in log.fields() and not any(word.partition("=")[0] in GIVEN for word in log.arguments):
        parts["input/u"] = "u:"
    rows = np.hstack([log.field(path)[:, 0] for path in parts])
    names = [prefix + name for path, prefix in parts.items() for name in log.names[path]]
    path = os.path.join(folder, "starts.csv")
    lines = [",".join(names), *(",".join(map(repr, row)) for row in rows.tolist())]
    write_in_place(path, "\n".join([*lines, ""]).encode())
    return {"states": path, "states_format": "csv"}
