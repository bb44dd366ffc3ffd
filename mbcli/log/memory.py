"""MemoryLog: the log of a run that writes no file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log import format as layout
from mbcli.log.datasets import ROW_GROUPS, Field
from mbcli.log.fields.faces import CORNER_FIELDS, CORNERS_OFFSET, FACES_OFFSET
from mbcli.log.rows import State
from mbcli.log.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from mbcli.math.array_types import Array, IntArray


def _place_in_logs(field: Field) -> tuple[int, str]:
    """Sorts fields as Log has them: time, q, v, then the other groups, each by path."""
    first = ("time", "state/q", "state/v")
    if field.path in first:
        return first.index(field.path), ""
    return len(first) + ROW_GROUPS.index(field.path.partition("/")[0]), field.path


class MemoryLog(Table):
    """Takes rows as LogWriter does, and gives them as Log does.

    Args:
      header: LogHeader of the run.
    """

    path = "<memory>"

    def __init__(self, header: layout.LogHeader) -> None:
        self.header, self.status, self.exit_code, self.message = header, "running", 0, ""
        self.summary: Any = None  # Summary of the run, once it has ended
        described = sorted(header.row_fields(), key=_place_in_logs)
        self.names = {field.path: field.names for field in described}
        self.units = {field.path: field.units for field in described}
        self.actuator_names = header.actuator_names
        self._empty = {field.path: np.empty((0, *field.row_shape), dtype=field.dtype) for field in described}
        self._blocks: dict[str, list[np.ndarray]] = {path: [] for path in self._empty}
        self._contacts: list[dict] = []
        self._events: list[dict] = []
        self.row_count = 0

    # as LogWriter

    def append(
        self, *, time: np.ndarray, q: np.ndarray, v: np.ndarray, contact: dict | None = None, **fields: np.ndarray
    ) -> None:
        """Takes rows: time (n,), q (n, nq), v (n, nv), contacts and fields by their paths."""
        for path, values in {"time": time, "state/q": q, "state/v": v, **fields}.items():
            self._blocks[path].append(np.array(values))
        if contact is not None:
            self._contacts.append(contact)
        self.row_count += len(time)

    def event(self, time: float, step: int, severity: str, code: str, message: str) -> None:
        """Notes what happened at a time [s] and step."""
        self._events.append(
            {"time": float(time), "step": int(step), "severity": severity, "code": code, "message": message}
        )

    def flush_if_due(self) -> None:
        """Nothing is to be written."""

    def checkpoint(self, values: dict) -> None:
        """Nothing goes on from here."""

    def finish(self, status: str, exit_code: int, message: str = "") -> None:
        """Ends the log as "complete", "interrupted" or "failed"."""
        self.status, self.exit_code, self.message = status, exit_code, message

    def __enter__(self) -> MemoryLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """An error leaves the rows as they are."""

    # as Log

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return self.status in layout.FINAL_STATUSES

    @property
    def model(self) -> str:
        """The JSON document of the model."""
        return self.header.model

    def fields(self) -> tuple[str, ...]:
        """The paths of what has one row a sample."""
        return tuple(self._empty)

    def field(self, path: str) -> np.ndarray:
        """All rows of a field, (n, ...)."""
        if path not in self._empty:
            raise KeyError(f"the log has no field {path}; it has {', '.join(self._empty)}")
        blocks = self._blocks[path]
        if len(blocks) > 1:
            blocks[:] = [np.concatenate(blocks)]
        return blocks[0] if blocks else self._empty[path]

    def row_shape(self, path: str) -> tuple[int, ...]:
        """The shape of one row of a field."""
        return self.field(path).shape[1:]

    def dtype(self, path: str) -> np.dtype:
        """The type of the numbers of a field."""
        return self.field(path).dtype

    def chunks(
        self, fields: Iterable[str] | None = None, rows: int = 1024, start: int = 0, stop: int | None = None
    ) -> Iterator[dict[str, np.ndarray]]:
        """As Log.chunks()."""
        stop = self.row_count if stop is None else min(stop, self.row_count)
        paths = list(fields or self.fields())
        for first in range(start, stop, rows):
            yield {path: self.field(path)[first : min(first + rows, stop)] for path in paths}

    def events(self) -> list[dict]:
        """time [s], step, severity, code and message of every event, in order."""
        return list(self._events)

    @property
    def has_contacts(self) -> bool:
        """Whether the run has logged its contacts."""
        return self.header.contact is not None

    @property
    def contact_fields(self) -> tuple[Field, ...]:
        """Those under contact/."""
        return () if self.header.contact is None else self.header.contact.fields

    @property
    def has_faces(self) -> bool:
        """Whether the faces of contact surfaces were logged."""
        return self.header.contact is not None and self.header.contact.faces

    def contact_names(self) -> layout.ContactNames | None:
        """ContactNames: what body_a, body_b, geometry_a and geometry_b count."""
        return self.header.contact

    def contacts(self, start: int = 0, stop: int | None = None) -> dict:
        """The contacts of rows start to stop: "offset" (n + 1,), from 0, and contact_fields by their path.

        KeyError if they were not logged.
        """
        self._require_contacts()
        offset = self._all_offsets("offset")[start : None if stop is None else stop + 1]
        return {"offset": offset - offset[0], **self._columns(self.contact_fields, offset)}

    def faces(self, start: int = 0, stop: int | None = None) -> dict:
        """As Log.faces()."""
        self._require_faces()
        contacts = self._all_offsets("offset")[start : None if stop is None else stop + 1]
        faces = self._all_offsets(FACES_OFFSET)[contacts[0] : contacts[-1] + 1]
        corners = self._all_offsets(CORNERS_OFFSET)[faces[0] : faces[-1] + 1]
        return {
            FACES_OFFSET: faces - faces[0],
            CORNERS_OFFSET: corners - corners[0],
            **self._columns(CORNER_FIELDS, corners),
        }

    def _all_offsets(self, key: str) -> IntArray:
        """The offsets of all blocks as one."""
        counts = np.concatenate([np.empty(0, dtype=int), *(np.diff(block[key]) for block in self._contacts)])
        return np.concatenate([[0], np.cumsum(counts)]).astype(int)

    def _columns(self, fields: Sequence[Field], offset: IntArray) -> dict[str, Array]:
        """The values of fields that belong to the entries between the first and the last offset."""
        result = {}
        for field in fields:
            rows = [np.empty((0, *field.row_shape), dtype=field.dtype), *(b[field.path] for b in self._contacts)]
            result[field.path] = np.concatenate(rows)[offset[0] : offset[-1]]
        return result

    def close(self) -> None:
        """Nothing is open."""

    def _time_of(self, row: int) -> float:
        return float(self.field("time")[row])

    def _state_of(self, row: int) -> State:
        return State(self.q[row], self.v[row])
