"""The process for files of a command over many: `python -m mbcli.cli.file_worker FOLDER`, as sweeps/worker.py says."""

from __future__ import annotations

import io
import json
import os
import time
import warnings
from contextlib import redirect_stderr
from typing import TYPE_CHECKING, Any

from mbcli.cli import check, compare, conversions, identify, log_verify, show_warning
from mbcli.cli.options import Options
from mbcli.sweeps.carried_files import CarriedFiles
from mbcli.sweeps.file_cases import ASKS
from mbcli.sweeps.point_run import CRASHED, FILE, OK, OUT_OF_MEMORY
from mbcli.sweeps.worker import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.sweeps.points import Point

CASES = {
    "check": check.case,
    "compare": compare.case,
    "convert": conversions.case,
    "identify": identify.case,
    "log verify": log_verify.case,
}


class FileRunner:
    """Runs a command on one file after the other. text: of many_files.results()."""

    def __init__(self, text: str) -> None:
        document = json.loads(text)
        self._case, self._options = CASES[document["command"]], document["options"]
        warnings.showwarning = show_warning

    def row(self, point: Point, on_begin: Callable[[], None]) -> dict[str, Any]:
        """What the command makes of a file, and what it says; or which questions are to be answered before."""
        on_begin()
        began = time.perf_counter()
        values = dict(point.values)
        carried, top = values.pop("carried", None), values.pop("top", "")
        options = Options(**{name: _moved(value, top) for name, value in self._options.items()})
        if carried is not None:
            options.package_map = CarriedFiles(document=json.loads(carried) | {"top": top})
            os.chdir(values.pop("folder"))
        row: dict[str, Any] = {"status": OK, "message": ""}
        said = io.StringIO()
        try:
            with redirect_stderr(said):
                row["result"] = self._case(options, {name: _moved(value, top) for name, value in values.items()})
        except MemoryError as error:
            row = {"status": OUT_OF_MEMORY, "message": f"no memory is left: {error}".rstrip(": ")}
        except OSError as error:
            row = {"status": FILE, "message": str(error)}
        except Exception as error:  # a bug, or what an open question led to
            row = {"status": CRASHED, "message": f"{type(error).__name__}: {error}"}
        if options.package_map is not None and options.package_map.unanswered:
            row = {"status": OK, "message": "", ASKS: list(options.package_map.unanswered)}
        return row | {"said": said.getvalue(), "wall_time": time.perf_counter() - began}


def _moved(value: Any, top: str) -> Any:
    """A value of an option; an absolute path below the folder that stands for the root of the client."""
    if isinstance(value, list):
        return tuple(_moved(item, top) for item in value)
    return top + value if isinstance(value, str) and os.path.isabs(value) else value


if __name__ == "__main__":
    run(FileRunner)
