"""The table of a sweep as a folder of Parquet files, each written once its points have ended (extra `parquet`).

    table/part-00000.parquet     points 0 to ROWS - 1, in order; and so on

All files have the same columns, known before the first run: so a sweep that goes on, and one that ran in parts, end in
the same bytes. Rows are read from where they are kept, ROWS at most at a time.
"""

from __future__ import annotations

import os
import re
from array import array
from typing import TYPE_CHECKING, Any

from mbcli.common import output_files
from mbcli.common.argument_names import argument
from mbcli.errors import MbcliError, OutputError
from mbcli.sweeps.measures import Measure
from mbcli.sweeps.point_run import BALANCE
from mbcli.sweeps.result_table import FIGURES, NOT_IN_TABLE, TEXTS, ResultTable, TableRows, require_parquet
from mbcli.sweeps.stores import is_address, names_in, remove

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mbcli.sweeps.kept_rows import KeptRows

ROWS = 20_000  # of a file
PART = re.compile(r"part-(\d{5,7})\.parquet")


def is_folder(output: str) -> bool:
    """Whether an output is a data set: what its name ends in says so."""
    return output.endswith("/")


def check_folder(folder: str, replace: bool) -> None:
    """Errors of a folder that a data set cannot go to: it has files, other ones than `replace` gives free."""
    require_parquet(folder)
    if not is_address(folder):
        output_files.refuse_missing_folder(folder.rstrip("/"))
        if os.path.exists(folder.rstrip("/")) and not os.path.isdir(folder):
            raise OutputError(f"{folder}: error: is a file")
    names = names_in(folder)
    others = [name for name in names if not PART.fullmatch(name)]
    if others:
        raise OutputError(f"{folder}: error: has {others[0]}, which is no part of a data set")
    if names and not replace:
        raise OutputError(f"{folder}: error: exists already; {argument('force', True)} replaces it")


class DataSet:
    """The files of a sweep.

    Args:
        folder: a folder or an address, with "/" at its end. Parts that are there and none of this sweep's are removed.
        identity: what the sweep is, as its journal has it.
        rows: of all points that have ended; those that are there already are written.
        count: of all points.

    Raises:
        OutputError: it cannot be written.
    """

    def __init__(self, folder: str, identity: Mapping[str, Any], rows: KeptRows, count: int) -> None:
        self._folder, self._rows, self._count = folder, rows, count
        self._varied = tuple(identity["columns"])
        finals, texts = identity["table"]["finals"], identity["table"]["texts"]
        balance = BALANCE if identity["run"].get("balance") else ()
        numbers = [*(Measure(text).name for text in identity["measures"]), *FIGURES, *balance, *finals]
        kinds: dict[str, type] = {"point": int, "seed": int}
        kinds |= {name: str if name in texts else float for name in self._varied}
        self._kinds = kinds | dict.fromkeys(TEXTS, str) | dict.fromkeys(numbers, float)
        self._results = list(dict.fromkeys(numbers))
        self._left = array("q", (min(ROWS, count - first) for first in range(0, count, ROWS)))
        if not is_address(folder):
            output_files.refuse_missing_folder(folder.rstrip("/"))
            os.makedirs(folder, exist_ok=True)
        own = len(self._left) if rows else 0
        for name in names_in(folder):
            if (part := PART.fullmatch(name)) and int(part[1]) >= own:
                remove(folder + name)
        self.note(rows)

    def note(self, indexes: Iterable[int]) -> None:
        """That points have ended, each told once."""
        for index in indexes:
            part = index // ROWS
            self._left[part] -= 1
            if not self._left[part]:
                self._write(part)

    def _write(self, part: int) -> None:
        strange = {*self._rows.names()} - {*self._kinds, *NOT_IN_TABLE}
        if strange:
            raise MbcliError(f"{self._folder}: error: rows have columns of which it does not know: {sorted(strange)}")
        indexes = range(part * ROWS, min((part + 1) * ROWS, self._count))
        rows = TableRows(self._rows, self._varied, self._results, indexes)
        table = ResultTable(tuple(self._kinds), rows, self._varied)
        table.write_parquet(f"{self._folder}part-{part:05d}.parquet", force=True, kinds=self._kinds)
