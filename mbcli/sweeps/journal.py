"""The journal of a sweep: the rows of finished points, one a line, each with a checksum, on the disk at once.

    {"journal": "mbcli-sweep", "version": 3, ...}  SHA256
    {"point": 0, "id": "...", "seed": 5, "cells": [0.1], "at": 1700000000.0, "row": {...}}  SHA256

A line counts if its checksum is right and its point is one of the sweep under the same id, which says what was run.
A line that was cut, or changed, is left out, and its point runs again; so does one whose row says what a machine did.
Of two lines of a point the last counts. Rows stay on the disk: in memory is where each begins. A journal at an address
of a store has its lines on this machine, too, and there as objects (stored_lines.py), a second later.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
import weakref
from array import array
from typing import TYPE_CHECKING, Any

from mbcli.common.output_files import replacing, write_in_place
from mbcli.errors import ModelError, OutputError, ResourceError
from mbcli.sweeps.kept_rows import KeptRows
from mbcli.sweeps.point_run import CLASSES, OF_MACHINES
from mbcli.sweeps.stored_lines import StoredLines
from mbcli.sweeps.stores import is_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

FORMAT, VERSION = "mbcli-sweep", 3
DIGITS = 16  # of a checksum


class StoredRows(KeptRows):
    """The rows of a journal, of at most `count` points. stored: the lines of a store that the file is of."""

    def __init__(self, path: str, count: int, stored: StoredLines | None = None) -> None:
        super().__init__()
        self.path, self._stored = path, stored  # which keeps the file
        self._offsets = array("q", [-1]) * count
        self._file: BinaryIO | None = None

    def put(self, offset: int, document: Mapping[str, Any]) -> None:
        """Notes where the line of a document begins."""
        self._offsets[document["point"]] = offset
        self.note(document["point"], document["row"])

    def drop(self, statuses: Iterable[str]) -> None:
        """Forgets rows of some statuses."""
        for index in self.indexes_of(statuses):
            self._offsets[index] = -1
            self.forget(index)

    def entry(self, index: int) -> dict[str, Any]:
        """All that a line says. ModelError if it was changed meanwhile."""
        if self._file is None:
            self._file = open(self.path, "rb")  # noqa: SIM115 - as long as rows are asked for
            weakref.finalize(self, self._file.close)
        self._file.seek(self._offsets[index])
        document = _document(self._file.readline())
        if document is None or document.get("point") != index:
            raise ModelError(f"{self.path}: error: was changed while it was read")
        return document

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.entry(index)["row"]


class Journal:
    """Rows of points on disk.

    Args:
        path: the file, or an address of a store.
        identity: what the sweep is, as a JSON document; a journal of another one is refused.
        points: of each point what its line says beside the row: at least its id.
        resume: whether the rows of an earlier journal are taken over.

    Raises:
        ModelError: the file is the journal of another sweep, or none.
        OutputError: the file cannot be written.
    """

    def __init__(
        self, path: str, identity: Mapping[str, Any], points: Sequence[Mapping[str, Any]], *, resume: bool = False
    ) -> None:
        self.path, self._points = path, points
        self._stored = StoredLines(path) if is_address(path) else None
        self._place = path if self._stored is None else self._stored.path
        head = {"journal": FORMAT, "version": VERSION, **identity, "count": len(points)}
        self.rows = StoredRows(self._place, len(points), self._stored)
        if self._stored is not None and resume:
            self._stored.fetch()
        try:
            if resume and os.path.exists(self._place) and os.path.getsize(self._place) > 0:
                is_new = self._take_over(head)
            else:
                is_new = True
                write_in_place(self._place, _line(head))
            self._file = open(self._place, "ab")  # noqa: SIM115 - close() closes it
        except OSError as error:
            raise self._unwritable(error) from None
        if self._stored is not None:
            if is_new:
                self._stored.replace()
            self._stored.start()

    def _take_over(self, head: Mapping[str, Any]) -> bool:
        """Takes over what counts; whether the file was written anew."""
        first = journal_head(self._place, self.path)
        differing = [key for key in head if first.get(key) != head[key] and key != "count"]  # more may follow
        if differing:
            raise ModelError(f"{self.path}: error: is of a sweep with other {', '.join(differing)}")
        whole = self._note_lines() and first.get("count") == head["count"]
        if not whole:  # what does not count is dropped, so that each line stands alone
            with replacing(self._place) as name, open(name, "r+b") as file:
                file.write(_line(head))
                file.writelines(_line(self.rows.entry(index)) for index in self.rows)
                file.flush()
                os.fsync(file.fileno())
            self.rows = StoredRows(self._place, len(self._points), self._stored)
            self._note_lines()
        self.rows.drop(OF_MACHINES)
        return not whole

    def _note_lines(self) -> bool:
        """Notes what counts; whether all lines do."""
        whole = True
        for offset, document in lines_of(self._place):
            if document is not None and self._counts(document):
                self.rows.put(offset, document)
            else:
                whole = False
        return whole

    def _counts(self, document: Mapping[str, Any]) -> bool:
        points = self._points
        return counts_in(document, len(points)) and document.get("id") == points[document["point"]]["id"]

    def add(self, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """Writes the rows of points, as (number, row); they are on the disk when this returns."""
        at = round(time.time(), 1)
        documents = [{"point": index, **self._points[index], "at": at, "row": row} for index, row in rows]
        try:
            for document in documents:
                offset = self._file.tell()
                self._file.write(_line(document))
                self.rows.put(offset, document)
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritable(error) from None
        if self._stored is not None and self._stored.fault is not None:
            warnings.warn(f"{self._stored.fault}; it is tried again", RuntimeWarning, stacklevel=2)
            self._stored.fault = None

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(f"{self.path}: error: cannot be written: {error.strerror}")

    def close(self) -> None:
        """Ends writing; rows can still be read."""
        self._file.close()
        if self._stored is not None:
            self._stored.close()


def counts_in(document: Mapping[str, Any], count: int) -> bool:
    """Whether a document is a row of one of so many points."""
    index, row = document.get("point"), document.get("row")
    if type(index) is not int or not 0 <= index < count:
        return False
    return isinstance(row, dict) and row.get("status") in CLASSES


def journal_head(path: str, name: str | None = None) -> dict[str, Any]:
    """What a journal says of its sweep. ResourceError if it is not there, ModelError if it is none; name: in these."""
    name = name or path
    try:
        with open(path, "rb") as file:
            first = _document(file.readline())
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot be read: {error.strerror}") from None
    if first is None or first.get("journal") != FORMAT:
        raise ModelError(f"{name}: error: is not the journal of a sweep, or its first line is damaged")
    return first


def lines_of(path: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(where it begins, its document or None if it was cut or changed) of each line of a journal but the first."""
    with open(path, "rb") as file:
        offset = len(file.readline())
        for line in file:
            yield offset, _document(line)
            offset += len(line)


def point_id(values: Mapping[str, Any]) -> str:
    """The id of what is run: a hash of it."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _line(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    return text + b"\t" + hashlib.sha256(text).hexdigest()[:DIGITS].encode() + b"\n"


def _document(line: bytes) -> dict[str, Any] | None:
    """The document of a line, None if it was cut or changed."""
    text, tab, checksum = line.rstrip(b"\n").rpartition(b"\t")
    if not tab or not line.endswith(b"\n") or hashlib.sha256(text).hexdigest()[:DIGITS].encode() != checksum:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
