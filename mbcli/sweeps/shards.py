"""Parts of a sweep that run apart, as in an array of a scheduler, and what their journals say together.

Part K of N has the points whose number leaves K - 1 when it is divided by N. Its rows are in the journal
OUTPUT.K-of-N.journal, that of a whole sweep in OUTPUT.journal.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.common.argument_names import argument
from mbcli.common.coordinate_names import listed
from mbcli.common.number_text import counted
from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.sweeps.data_set import DataSet
from mbcli.sweeps.journal import StoredRows, counts_in, journal_head, lines_of
from mbcli.sweeps.kept_rows import KeptRows
from mbcli.sweeps.measures import Measure
from mbcli.sweeps.points import MOST_POINTS
from mbcli.sweeps.result_table import make_table
from mbcli.sweeps.stored_lines import StoredLines
from mbcli.sweeps.stores import is_address, names_in

if TYPE_CHECKING:
    from mbcli.sweeps.result_table import ResultTable

MOST_SHARDS = 100_000
OF_SHARDS = ("shard", "count")  # of the first line of a journal: what differs, or is not compared


class Shard(NamedTuple):
    """Part `number` of `parts`, from 1."""

    number: int
    parts: int

    def has(self, index: int) -> bool:
        """Whether the point of a number is in it."""
        return index % self.parts == self.number - 1

    def indexes(self, points: int) -> range:
        """Which points of so many are in it."""
        return range(self.number - 1, points, self.parts)

    def size(self, points: int) -> int:
        """How many these are."""
        return len(self.indexes(points))


def parse_shard(text: str) -> Shard:
    """K/N. ArgumentError if a text is not that."""
    found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]) <= MOST_SHARDS:
        raise ArgumentError(f"{argument('shard')} is K/N with K from 1 to N, at most {MOST_SHARDS}, not '{text[:40]}'")
    return Shard(int(found[1]), int(found[2]))


def journal_of(output: str, shard: Shard | None = None) -> str:
    """The journal beside an output."""
    output = output.rstrip("/")
    return f"{output}.journal" if shard is None else f"{output}.{shard.number}-of-{shard.parts}.journal"


class Journals(KeptRows):
    """The rows of the journals beside an output: of a whole sweep, or of its parts, as far as they are there.

    Raises:
        ResourceError: there is none. ModelError: one is damaged, or of another sweep than the others.
    """

    def __init__(self, output: str) -> None:
        super().__init__()
        self.paths = _journals(output)
        self.rows: dict[int, StoredRows] = {}  # by the number of the part
        self.head: dict[str, Any] = {}
        for path in self.paths:
            self._add(path)

    def _add(self, path: str) -> None:
        stored = StoredLines(path) if is_address(path) else None
        place = path
        if stored is not None:
            stored.fetch()
            place = stored.path
        head = journal_head(place, path)
        given = head.get("shard", [1, 1])
        fields = (given, head.get("count"), head.get("columns"), head.get("measures"))
        if [type(field) for field in fields] != [list, int, list, list] or not 0 <= head["count"] <= MOST_POINTS:
            raise ModelError(f"{path}: error: its first line is damaged")
        shard = parse_shard("/".join(map(str, given)))
        alike = {name: value for name, value in head.items() if name not in OF_SHARDS} | {"parts": shard.parts}
        differing = [name for name in alike if self.head and self.head.get(name) != alike[name]]
        if differing:
            raise ModelError(f"{path}: error: is of a sweep with other {', '.join(differing)} than {self.paths[0]}")
        self.head = {**alike, "count": max(head["count"], self.head.get("count", 0))}
        rows = self.rows[shard.number] = StoredRows(place, head["count"], stored)
        for offset, document in lines_of(place):
            if document is not None and counts_in(document, head["count"]) and shard.has(document["point"]):
                rows.put(offset, document)
                self.note(document["point"], document["row"])

    @property
    def parts(self) -> int:
        """How many parts the sweep has."""
        return self.head["parts"]

    @property
    def count(self) -> int:
        """How many points the sweep has."""
        return self.head["count"]

    def entry(self, index: int) -> dict[str, Any]:
        return self.rows[index % self.parts + 1].entry(index)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.entry(index)["row"]

    def unfinished(self) -> list[int]:
        """The parts that lack points."""
        done = [0] * self.parts
        for index in self:
            done[index % self.parts] += 1
        return [k + 1 for k in range(self.parts) if done[k] < Shard(k + 1, self.parts).size(self.count)]

    def table(self) -> ResultTable:
        """All rows in the order of points. ModelError if some are missing."""
        self._require_all()
        measures = [Measure(text).name for text in self.head["measures"]]
        return make_table(self.head["columns"], self, measures)

    def write_data_set(self, folder: str) -> None:
        """Writes all rows as a data set. ModelError if some are missing."""
        self._require_all()
        if "table" not in self.head:
            raise ModelError(f"{self.paths[0]}: error: is of an earlier version, which had no data sets")
        DataSet(folder, self.head, self, self.count)

    def _require_all(self) -> None:
        if len(self) < self.count:
            names = listed([f"{k}/{self.parts}" for k in self.unfinished()])
            missing = f"{self.count - len(self)} of {counted(self.count, 'run')} are missing"
            raise ModelError(f"{missing}: run {argument('shard')} {names} with {argument('resume')}")


def _journals(output: str) -> list[str]:
    whole = journal_of(output)
    base = os.path.basename(whole).removesuffix(".journal")
    folder = whole.removesuffix(f"{base}.journal")
    names = names_in(folder)
    if f"{base}.journal" in names:
        return [whole]
    pattern = re.compile(re.escape(base) + r"\.(\d{1,6})-of-(\d{1,6})\.journal")
    found = [(int(m[2]), int(m[1]), name) for name in names if (m := pattern.fullmatch(name))]
    if not found:
        raise ResourceError(f"{output}: error: there is no {base}.journal, and no {base}.K-of-N.journal")
    return [folder + name for *_, name in sorted(found)]
