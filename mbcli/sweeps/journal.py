"""The journal of a sweep: the rows of finished points, one a line, each with a checksum, on the disk at once.

    {"journal": "mbcli-sweep", "version": 1, ...}  SHA256
    {"point": 0, "id": "...", "row": {...}}  SHA256

A line counts if its checksum is right and its point is one of the sweep under the same id, which says what was run.
A line that was cut, or changed, is left out, and its point runs again; so does one whose row says what a machine did.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from mbcli.common.output_files import write_in_place
from mbcli.errors import ModelError, OutputError
from mbcli.sweeps.point_run import OF_MACHINES

FORMAT, VERSION = "mbcli-sweep", 1
DIGITS = 16  # of a checksum


class Journal:
    """Rows of points on disk.

    Args:
        path: the file.
        identity: what the sweep is, as a JSON document; a journal of another one is refused.
        ids: the id of each point, in their order.
        resume: whether the rows of an earlier journal are taken over.

    Raises:
        ModelError: the file is the journal of another sweep, or none.
        OutputError: the file cannot be written.
    """

    def __init__(self, path: str, identity: Mapping[str, Any], ids: list[str], *, resume: bool = False) -> None:
        self.path, self._ids = path, ids
        self.rows: dict[int, dict] = {}
        head = {"journal": FORMAT, "version": VERSION, **identity}
        there = resume and os.path.exists(path) and os.path.getsize(path) > 0
        kept = self._read(head) if there else [head]
        try:  # what does not count is dropped, so that each line stands alone
            write_in_place(path, b"".join(_line(document) for document in kept))
            self._file = open(path, "ab")  # noqa: SIM115 - close() closes it
        except OSError as error:
            raise self._unwritable(error) from None

    def _read(self, head: dict[str, Any]) -> list[dict[str, Any]]:
        with open(self.path, "rb") as file:
            documents = [_document(line) for line in file]
        first = documents[0] if documents else None
        if first is None or first.get("journal") != FORMAT:
            raise ModelError(f"{self.path}: error: is not the journal of a sweep, or its first line is damaged")
        differing = [key for key in head if first.get(key) != head[key]]
        if differing:
            raise ModelError(f"{self.path}: error: is of a sweep with other {', '.join(differing)}")
        for document in documents[1:]:
            if document is not None and self._counts(document):
                self.rows[document["point"]] = document["row"]
        self.rows = {index: row for index, row in self.rows.items() if row.get("status") not in OF_MACHINES}
        return [head, *(self._entry(index, row) for index, row in self.rows.items())]

    def _counts(self, document: Mapping[str, Any]) -> bool:
        index = document.get("point")
        if not isinstance(index, int) or not 0 <= index < len(self._ids):
            return False
        return document.get("id") == self._ids[index] and isinstance(document.get("row"), dict)

    def _entry(self, index: int, row: Mapping[str, Any]) -> dict[str, Any]:
        return {"point": index, "id": self._ids[index], "row": row}

    def add(self, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
        """Writes the rows of points, as (number, row); they are on the disk when this returns."""
        found = {index: dict(row) for index, row in rows}
        self.rows |= found
        try:
            self._file.write(b"".join(_line(self._entry(index, row)) for index, row in found.items()))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> OutputError:
        return OutputError(f"{self.path}: error: cannot be written: {error.strerror}")

    def close(self) -> None:
        """Ends writing."""
        self._file.close()


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
