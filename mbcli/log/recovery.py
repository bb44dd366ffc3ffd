"""recover(): what is left of a log whose writer was killed, or that a disk has damaged, as a finished log."""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
from bisect import bisect_left
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.left_behind import folder_prefix
from mbcli.common.output_files import refuse_missing_folder, replacing
from mbcli.common.write_errors import reason_of_system
from mbcli.errors import MbcliError, ModelError, OutputError, ResourceError
from mbcli.log import format as layout
from mbcli.log.datasets import ROW_GROUPS
from mbcli.log.fields.contact import CONTACT_FIELDS, OFFSET, SURFACE_FIELDS
from mbcli.log.fields.faces import CORNER_FIELDS, CORNERS_OFFSET, FACES_OFFSET
from mbcli.log.guarded_file import DamagedLogError, DamagedRowsError, GuardedFile
from mbcli.log.packing import rows_of_block, write_packed
from mbcli.log.write_lock import refuse_written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mbcli.log.guarded_file import StoredDataset
    from mbcli.math.array_types import Array, IntArray

KILLED = 137  # the exit code that a shell reports of a process ended by kill -9
END_OF_FILE = 28  # place in an HDF5 file (superblock 2 or 3) of the number of its bytes, 8 of them
NO_NUMBER = {"f": np.nan, "i": -1, "u": 0}  # in place of a number that cannot be read
MOST_MISSING = 1 << 30  # [bytes] at the end of a file, or
PART_MISSING = 15  # times what is there


@dataclass(frozen=True)
class Recovered:
    """What recover() has written.

    rows: of the new log. dropped: rows whose time cannot be read, or does not increase.
    damage: one line for each piece of another dataset that cannot be read; its numbers are NaN, integers -1.
    missing_bytes: by which the file was too short.
    """

    log: str
    rows: int
    dropped: int
    damage: tuple[str, ...]
    missing_bytes: int


def recover(path: str | os.PathLike[str], to: str | os.PathLike[str], *, force: bool = False) -> Recovered:
    """Writes every sample that can be read to a new log, which ends as "interrupted" unless it had ended otherwise.

    Args:
      path: a log, or the .partial file of a run whose process has died.
      to: the log to write.
      force: replace one that is there.

    Raises:
      ResourceError: there is no such file.
      ModelError: it is no log, or the parts that describe it are destroyed.
      OutputError: `to` exists or cannot be written, or the log is still being written.
    """
    path, target = os.fspath(path), Path(to)
    if not os.path.exists(path):
        raise ResourceError(f"{path}: error: no such file")
    if not os.path.isfile(path):
        raise ResourceError(f"{path}: error: cannot be read: is not a file")
    if os.path.exists(target) and os.path.samefile(path, target):
        raise OutputError(f"{target}: error: is the log to recover: its result needs another name")
    if os.path.lexists(target) and not force:
        raise OutputError(f"{target}: error: exists already; {argument('force', True)} replaces it")
    refuse_missing_folder(os.fspath(target))
    refuse_written(path)
    missing = _missing_bytes(path)
    with _whole(path, missing) as whole, GuardedFile(whole, name=path) as file:
        rows = _RowsLeft(file)
        _write(file, rows, target)
    return Recovered(str(target), int(rows.kept.sum()), rows.dropped, tuple(rows.damage), missing)


class _RowsLeft:
    """The rows of a file that can be read. ModelError if what describes them is lost."""

    def __init__(self, file: GuardedFile) -> None:
        self._file = file
        self.damage: list[str] = []
        with file.reading(""):
            self._look()

    def _look(self) -> None:
        file = self._file
        if not file.has_attribute("format") or file.text("format") != layout.FORMAT:
            raise ModelError(f"{file.name}: error: is not an mbcli log: its format is not {layout.FORMAT}")
        self.status = file.text("status")
        self.growing = self.status not in layout.FINAL_STATUSES
        self._tables = [
            (offset, [field.path for field in fields if self._is_there(field.path)])
            for offset, fields in (
                (OFFSET, CONTACT_FIELDS + SURFACE_FIELDS),
                (FACES_OFFSET, ()),
                (CORNERS_OFFSET, CORNER_FIELDS),
            )
            if self._is_there(offset)
        ]
        self._row_sets = set(self._find_rows())
        self._count = self._common_length()
        times = self._numbers(file.dataset("time"), 0, self._count)
        latest = np.fmax.accumulate(np.concatenate([[-np.inf], times]))[:-1]
        self.kept = np.isfinite(times) & (times > latest)
        last = int(np.flatnonzero(self.kept)[-1]) + 1 if self.kept.any() else 0
        if self.growing:  # rows after the last that has a time were never complete
            self.kept = self.kept[:last]
        self.dropped = len(self.kept) - int(self.kept.sum())
        self._find_parts()

    def _is_there(self, path: str) -> bool:
        """Whether a dataset can be read as far as its description goes; else its loss is noted when all is copied."""
        try:
            return bool(self._file.has(path) and self._file.dataset(path).chunks)
        except DamagedLogError:
            return False

    def _find_rows(self) -> Iterator[str]:
        yield "time"
        for group in ROW_GROUPS:
            with suppress(DamagedLogError):
                yield from (path for path in self._file.datasets(group) if self._is_there(path))

    def _common_length(self) -> int:
        lengths = [len(self._file.dataset(name)) for name in self._row_sets]
        if not self.growing:
            return len(self._file.dataset("time"))
        count = min(lengths)
        if self._tables:
            count = self._whole(count)
        return max(count, 0)

    def _whole(self, count: int) -> int:
        """Of how many of so many rows all contacts, with their faces and corners, are there."""
        stored: int | None = None  # parts of the table that are whole
        for offset, columns in reversed(self._tables):
            dataset = self._file.dataset(offset)
            lengths = [len(self._file.dataset(path)) for path in columns] + ([] if stored is None else [stored])
            entries = min(count, len(dataset) - 1) if offset == OFFSET else len(dataset) - 1
            ends = self._numbers(dataset, 0, entries + 1, report=False)
            stored = bisect_left(range(len(ends)), True, key=lambda k: ends[k] > min(lengths)) - 1
        return count if stored is None else stored

    def _find_parts(self) -> None:
        """Which contacts the kept rows have, and which faces and corners: all between two offsets that make sense."""
        self._counts: dict[str, IntArray] = {}
        self._ranges: dict[str, list[list[int]]] = {}
        kept = np.flatnonzero(self.kept)
        entries = len(self.kept)
        for k, (name, columns) in enumerate(self._tables):
            following = self._tables[k + 1][0] if k + 1 < len(self._tables) else None
            offset = self._numbers(self._file.dataset(name), 0, entries + 1)
            stored = [len(self._file.dataset(path)) for path in columns]
            entries = max(stored) if following is None else len(self._file.dataset(following)) - 1
            first, last = offset[:-1][kept], offset[1:][kept]
            sound = (first >= 0) & (last >= first) & (last <= max([*stored, entries]))
            ends = np.maximum.accumulate(np.concatenate([[0], np.where(sound, last, 0)]))
            sound &= first >= ends[:-1]  # parts of two rows do not overlap
            self._counts[name] = np.where(sound, last - first, 0)
            full = sound & (last > first)
            ranges = _joined(zip(first[full].tolist(), last[full].tolist(), strict=True))
            self._ranges |= dict.fromkeys(columns, ranges)
            kept = np.concatenate([np.empty(0, int), *(np.arange(a, b) for a, b in ranges)])
            entries = max([entries, *kept[-1:] + 1])

    def blocks(self, dataset: StoredDataset) -> Iterator[np.ndarray]:
        """The rows of a dataset that go into the new log."""
        name = dataset.path
        if name in self._row_sets:
            yield from self._row_blocks(dataset)
        elif name in self._counts:
            yield np.concatenate([[0], np.cumsum(self._counts[name])]).astype(dataset.dtype)
        elif name in self._ranges:
            for first, last in self._ranges[name]:
                yield self._numbers(dataset, first, last)
        else:
            yield from self._others(dataset)

    def _row_blocks(self, dataset: StoredDataset) -> Iterator[Array]:
        step, count = rows_of_block(dataset), len(self.kept)
        dataset.require_bytes(count * dataset.row_bytes)
        for first in range(0, count, step):
            last = min(first + step, count)
            yield self._numbers(dataset, first, last)[self.kept[first:last]]

    def _others(self, dataset: StoredDataset) -> Iterator[Array]:
        step = rows_of_block(dataset)
        for first in range(0, len(dataset), step):
            try:
                yield dataset.rows(first, first + step, growing=self.growing)
            except DamagedLogError as error:
                self._note(error.part)

    def _numbers(self, dataset: StoredDataset, first: int, last: int, report: bool = True) -> Array:
        """Rows first to last; those that cannot be read, or are not there, have no numbers."""
        if dataset.dtype.kind not in NO_NUMBER:
            raise dataset.file.damaged(f"{dataset.path} has type {dataset.dtype}")
        result = np.full((last - first, *dataset.shape[1:]), NO_NUMBER[dataset.dtype.kind], dataset.dtype)
        rows = dataset.chunks[0]
        there = min(last, len(dataset))
        with suppress(DamagedLogError):  # the usual case, in one piece
            result[: max(there - first, 0)] = dataset.rows(first, there, growing=self.growing)
            return result
        for start in range(first - first % rows, there, rows):
            a, b = max(start, first), min(start + rows, there)
            try:
                result[a - first : b - first] = dataset.rows(a, b, growing=self.growing)
            except DamagedRowsError as error:
                self._note(error.part, report)
            except DamagedLogError as error:
                self._note(f"{dataset.path}, rows {a} to {b - 1}: {error.part.rpartition(': ')[2]}", report)
        return result

    def _note(self, text: str, report: bool = True) -> None:
        if report and text not in self.damage:
            self.damage.append(text)


def _joined(ranges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Ranges in order, those that touch as one."""
    result: list[list[int]] = []
    for first, last in ranges:
        if result and result[-1][1] == first:
            result[-1][1] = last
        else:
            result.append([first, last])
    return result


def _write(file: GuardedFile, rows: _RowsLeft, target: Path) -> None:
    changed: dict[str, Any] = {}
    if rows.growing:
        message = f"its process was killed; recovered {int(rows.kept.sum())} rows"
        changed = {"status": b"interrupted", "exit_code": KILLED, "message": message.encode()}
    try:
        with replacing(target) as name:
            write_packed(file, Path(name), rows.blocks, changed, on_lost=partial(_note_lost, rows))
    except MbcliError:
        raise
    except (OSError, RuntimeError) as error:
        raise OutputError(f"{target}: error: cannot be written: {reason_of_system(error)}") from None


def _note_lost(rows: _RowsLeft, name: str, error: MbcliError) -> None:
    part = getattr(error, "part", str(error))
    rows.damage.append(f"{name}: is lost: {part.removeprefix(name).lstrip(':, ')}")


def _missing_bytes(path: str) -> int:
    """By how much a file is shorter than its first block says: its end was never written, or was cut off."""
    with open(path, "rb") as file:
        head = file.read(END_OF_FILE + 8)
    if len(head) < END_OF_FILE + 8 or not head.startswith(b"\x89HDF\r\n\x1a\n") or head[8] not in (2, 3):
        return 0
    stated, there = struct.unpack("<Q", head[END_OF_FILE:])[0], os.path.getsize(path)
    if stated - there > max(MOST_MISSING, PART_MISSING * there):
        raise ModelError(f"{path}: error: is damaged: it has {there} of the {stated} bytes that it states")
    return max(stated - there, 0)


@contextmanager
def _whole(path: str, missing: int) -> Iterator[str]:
    """The path of a file of full length: a file that is too short in a copy with zeros behind it."""
    if not missing:
        yield path
        return
    folder = tempfile.mkdtemp(prefix=folder_prefix("log"))
    try:
        copy = os.path.join(folder, "log.h5")
        try:
            shutil.copyfile(path, copy)
            os.truncate(copy, os.path.getsize(path) + missing)
        except OSError as error:
            raise OutputError(f"{folder}: error: cannot be written: {error.strerror}") from None
        yield copy
    finally:
        shutil.rmtree(folder, ignore_errors=True)
