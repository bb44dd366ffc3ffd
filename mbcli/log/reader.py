"""Log: reads a simulation log, complete or unfinished. The file is untrusted input."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import re
from bisect import bisect_left
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.errors import MbcliError, ModelError
from mbcli.log import format as layout
from mbcli.log.contact_reader import StoredContacts
from mbcli.log.datasets import FIELD_PATH, ROW_GROUPS, Field
from mbcli.log.fields import STANDARD_FIELDS
from mbcli.log.format import ContactNames
from mbcli.log.guarded_file import DamagedLogError, GuardedFile, reason_of
from mbcli.log.rows import State
from mbcli.log.stored_sources import LARGEST_TEXT, read_bytes, read_sources, sources_in
from mbcli.log.stored_texts import text_of, texts_of
from mbcli.log.tables import Table
from mbcli.parsers.spec import SourceFile

__all__ = ["Log", "State"]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType

    from mbcli.log.guarded_file import StoredDataset
    from mbcli.math.array_types import Array

ROWS_AT_ONCE = 1 << 16
CLOCK = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", re.ASCII)


class Log(Table):
    """A simulation log, open for reading; a context manager.

    All datasets with one row a sample are taken to the length that they have in common. Of a log that is
    still being written these are the rows that were there when it was opened.

    Args:
      path: the log, or the .partial file of a run that is going on or has died.

    Raises:
      ResourceError: the file is missing or cannot be read.
      ModelError: the file is not a log, is damaged, or is of a later format version.
    """

    summary = None  # of the run, in the log that simulate() returns

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._file = GuardedFile(self.path)
        try:
            with self._reading():
                self.attrs = self._read_attributes()
                self._check_version()
                self._datasets = self._find_rows()
                self.names = {path: self._file.texts("names", path) for path in self._datasets}
                self.units = {path: self._file.texts("units", path) for path in self._datasets}
                self._check_rows()
                self._contacts = StoredContacts(self._file, self._read)
                self.row_count = self._count_rows()
                self._check_time()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the file; what was read stays.

        Example:
          >>> run = mbcli.simulate("sample_models/pendulum.urdf", until=0.02, log="short.h5")
          >>> run.close()
        """
        self._file.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ----------------------------------------------------------------------------------- what it is of

    @property
    def status(self) -> str:
        """How the run ended.

        Returns:
          One of format.STATUSES; "running" also stays in the log of a process that was killed.

        Example:
          >>> log.status
          'complete'
        """
        return self.attrs["status"]

    @property
    def finished(self) -> bool:
        """False: the run goes on, or its process was killed."""
        return self.status in layout.FINAL_STATUSES

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of u, in the order of its columns."""
        return self._group_texts("input", "actuator_names")

    @property
    def config(self) -> str:
        """The resolved configuration, YAML."""
        return self._resolved("config")

    @property
    def model(self) -> str:
        """The resolved model, JSON."""
        return self._resolved("model")

    @property
    def scene(self) -> str | None:
        """How the model is drawn, JSON (docs/how-to/pictures.md); None if the log does not have it."""
        with self._reading():
            return read_bytes(self._file, layout.SCENE).decode("utf-8") if self._file.has(layout.SCENE) else None

    def _resolved(self, name: str) -> str:
        text = self._read_text(f"{name}/resolved")
        expected = self.attrs.get(f"{name}_sha256")
        if expected not in (None, hashlib.sha256(text.encode("utf-8")).hexdigest()):
            raise ModelError(f"{self.path}: error: {name}/resolved is damaged: its sha256 differs")
        return text

    def run_clock(self) -> dict:
        """created_utc, finished_utc ("" if unfinished) and wall_time [s] (nan if unfinished)."""
        with self._reading():
            clock = {
                name: self._read_text(f"run/{name}", layout.CLOCK_BYTES) for name in ("created_utc", "finished_utc")
            }
            for name, text in clock.items():
                if not CLOCK.fullmatch(text) and (text or name == "created_utc"):
                    raise ModelError(f"{self.path}: error: is damaged: run/{name} is not a time")
            return {**clock, "wall_time": float(self._file.dataset("run/wall_time").content(8))}

    def source_digests(self) -> list[dict]:
        """path, sha256 and bytes of every model file, in the order in which they were read."""
        with self._reading():
            return [
                {"path": source, "sha256": sha256, "bytes": len(self._file.dataset(path))}
                for source, sha256, path in sources_in(self._file)
            ]

    def read_sources(self) -> list[SourceFile]:
        """The model files as they were read. The paths are for information: they come from the log."""
        with self._reading():
            return read_sources(self._file)

    def events(self) -> list[dict]:
        """What happened: limits that were passed, deep overlaps, errors.

        Returns:
          time [s], step, severity, code and message of every event, in order.

        Raises:
          ModelError: the file is damaged.

        Example:
          >>> log.events()
          []
        """
        with self._reading():
            events = self._file.dataset("events")
            records = self._read(events, 0, len(events))
            return [
                {
                    "time": float(record["time"]),
                    "step": int(record["step"]),
                    **{name: text_of(record[name]) for name in layout.EVENT_TEXT},
                }
                for record in records
            ]

    def read_checkpoint(self) -> dict | None:
        """The newest checkpoint that is whole: {name: array or number}; None if there is none."""
        with self._reading():
            if not self._file.has("checkpoint"):
                return None
            sequence = self._read(self._file.dataset("checkpoint/sequence"), 0, 2)
            slot = int(np.argmax(sequence))
            if sequence[slot] <= 0:
                return None
            names = [name for name in self._file.names("checkpoint") if name != "sequence"]
            return {name: self._read_slot(f"checkpoint/{name}", slot) for name in names}

    def _read_slot(self, path: str, slot: int) -> Array:
        values = self._read(self._file.dataset(path), slot, slot + 1)[0]
        if values.dtype.kind not in "fiu":
            raise DamagedLogError(self.path, f"{path} has type {values.dtype}")
        return values

    def damage(self) -> list[str]:
        """Reads all of the file; one line for each part of it that is damaged, by its name."""
        found = []
        parts: list[Callable[[], object]] = []
        parts += [partial(self._read_all, path) for path in (*self._datasets, *self._contacts.datasets)]
        parts += [self.events, self.read_checkpoint, self.read_sources, self.run_clock, self._check_lengths]
        parts += [partial(self._check_columns, path) for path in self._datasets]
        parts += [partial(self._resolved, name) for name in ("model", "config")]
        for read in parts:
            try:
                with self._reading():
                    read()
            except DamagedLogError as error:
                found.append(error.part)
            except ModelError as error:
                found.append(str(error).removeprefix(f"{self.path}: error: ").removeprefix("is damaged: "))
        return found

    def _read_all(self, path: str) -> None:
        dataset = self._datasets[path] if path in self._datasets else self._contacts.datasets[path]
        for first in range(0, len(dataset), ROWS_AT_ONCE):
            self._read(dataset, first, min(first + ROWS_AT_ONCE, len(dataset)))

    def _check_columns(self, path: str) -> None:
        """The names of columns stand twice in a file: as attribute, and as dimension scale for other programs."""
        name = layout.columns_of(path)
        if self._file.has(name) and texts_of(self._file.dataset(name).content(LARGEST_TEXT)) != self.names[path]:
            raise ModelError(f"{self.path}: error: is damaged: {name}: has other names than {path}")

    def _check_lengths(self) -> None:
        """A finished log has all of its datasets to the last row."""
        for path, dataset in self._datasets.items():
            if self.finished and len(dataset) != self.row_count:
                raise ModelError(f"{self.path}: error: {path} has {len(dataset)} rows, the log {self.row_count}")

    def layout(self) -> dict:
        """What is in the file as JSON: root attributes; type, shape and attributes of every dataset.

        schemas/log.schema.json describes this document.
        """
        with self._reading():
            paths = list(self._file.datasets())
            return {"attributes": self.attrs, "datasets": {path: self._described(path) for path in paths}}

    def _described(self, path: str) -> dict[str, Any]:
        dataset, file = self._file.dataset(path), self._file
        attributes = {
            name: list(file.texts(name, path)) if name in ("names", "units") else text_of(file.attribute(name, path))
            for name in ("names", "units", "path", "sha256")
            if file.has_attribute(name, path)
        }
        dtype = "text" if dataset.dtype.kind == "S" else "compound" if dataset.dtype.names else dataset.dtype.str[1:]
        return {"dtype": dtype, "shape": list(dataset.shape), "attributes": attributes}

    # --------------------------------------------------------------------------------------- the rows

    def fields(self) -> tuple[str, ...]:
        """The paths of the datasets with one row a sample: time, state/q, state/v, the others by path.

        Returns:
          Paths, as field() takes them.

        Example:
          >>> log.fields()
          ('time', 'state/q', 'state/v', 'input/u', 'derived/energy_kinetic', 'derived/energy_potential')
        """
        return tuple(self._datasets)

    @property
    def has_contacts(self) -> bool:
        """Whether the run has logged its contacts."""
        return bool(self._contacts)

    @property
    def has_faces(self) -> bool:
        """Whether the faces of contact surfaces were logged."""
        return self._contacts.has_faces

    @property
    def contact_fields(self) -> tuple[Field, ...]:
        """Those under contact/."""
        return self._contacts.contact_fields

    @property
    def contact_count(self) -> int:
        """Contacts of all rows together."""
        return self._contacts.lengths(self.row_count)[0] if self._contacts else 0

    def contact_lengths(self) -> dict[str, int]:
        """How long each dataset under contact/ and faces/ is up to the last row, by path."""
        with self._reading():
            return self._contacts.lengths_by_path(self.row_count)

    def contact_names(self) -> ContactNames:
        """What body_a, body_b, geometry_a and geometry_b count. KeyError if contacts were not logged."""
        self._require_contacts()
        bodies, geometries = (self._group_texts("contact", name) for name in ("body_names", "geometry_names"))
        return self._contacts.names(bodies, geometries)

    def contacts(self, start: int = 0, stop: int | None = None) -> dict:
        """The contacts of rows start to stop: "offset" (n + 1,), from 0, and contact_fields by their path.

        KeyError if they were not logged; TypeError for what is no row, as a time.
        """
        start = operator.index(start)
        self._require_contacts()
        with self._reading():
            return self._contacts.contacts(start, self.row_count if stop is None else min(stop, self.row_count))

    def faces(self, start: int = 0, stop: int | None = None) -> dict:
        """The faces of the contacts of rows start to stop, by path.

        "faces/offset" (contacts + 1,) and "faces/corner_offset" (faces + 1,), both from 0; "faces/corner" (k, 3) [m],
        "faces/pressure" (k,) [Pa]. KeyError if they were not logged; TypeError for what is no row.
        """
        start = operator.index(start)
        self._require_faces()
        with self._reading():
            return self._contacts.faces(start, self.row_count if stop is None else min(stop, self.row_count))

    def row_shape(self, path: str) -> tuple[int, ...]:
        """The shape of one row of a field."""
        return self._field_dataset(path).shape[1:]

    def dtype(self, path: str) -> np.dtype:
        """The type of the numbers of a field."""
        return self._field_dataset(path).dtype

    def field(self, path: str) -> np.ndarray:
        """All rows of a field.

        Args:
          path: as fields() lists them.

        Returns:
          (n, ...), in [unit of each column], of `units[path]`.

        Raises:
          KeyError: there is no such field.
          ModelError: the file is damaged.

        Example:
          >>> log.field("derived/energy_kinetic").shape
          (101,)
        """
        dataset = self._field_dataset(path)
        with self._reading():
            return self._read(dataset, 0, self.row_count)

    def chunks(
        self, fields: Iterable[str] | None = None, rows: int = 1024, start: int = 0, stop: int | None = None
    ) -> Iterator[dict[str, np.ndarray]]:
        """Goes through the log: yields {path: array (n, ...)} for rows start to stop, n up to `rows`.

        Args:
          fields: paths; default all.
          rows: the most rows of a chunk.
        """
        stop = self.row_count if stop is None else min(stop, self.row_count)
        datasets = {path: self._field_dataset(path) for path in (fields or self.fields())}
        for first in range(start, stop, rows):
            with self._reading():
                chunk = {path: self._read(data, first, min(first + rows, stop)) for path, data in datasets.items()}
            yield chunk

    # ----------------------------------------------------------------------------------- checked numbers

    def _read(self, dataset: StoredDataset, first: int, last: int) -> Array:
        """Rows first to last of a dataset; ModelError that names those whose checksum is wrong."""
        return dataset.rows(first, last, growing=not self.finished)

    def refresh(self) -> int:
        """Takes up the rows that a running writer has handed over since; returns row_count.

        A run that ends gives its log another name: this file then has the rows to its end.
        """
        known = self.row_count
        with self._reading():
            for dataset in (*self._datasets.values(), *self._contacts.datasets.values()):
                dataset.refresh()
            self.row_count = max(known, self._count_rows())
            self._check_time(known)
        return self.row_count

    def _check_time(self, start: int = 0) -> None:
        """Searches for times take them to increase, and so does whoever reads the rows."""
        dataset = self._datasets["time"]
        last = self._time_of(start - 1) if start else -np.inf
        for first in range(start, self.row_count, ROWS_AT_ONCE):
            times = self._read(dataset, first, min(first + ROWS_AT_ONCE, self.row_count))
            rising = times > np.concatenate([[last], times[:-1]])
            if not (rising & np.isfinite(times)).all():
                row = first + int(np.argmin(rising & np.isfinite(times)))
                raise ModelError(f"{self.path}: error: is damaged: the time of row {row} does not increase")
            last = times[-1]

    # --------------------------------------------------------------------------------------- the file

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except MbcliError:
            raise
        except Exception as error:  # what numpy, json and this module make of contents that are not of the format
            raise DamagedLogError(self.path, reason_of(error)) from None

    def _read_attributes(self) -> dict[str, Any]:
        attributes, there = {}, set(self._file.attributes())
        form = self._file.text("format") if "format" in there else ""
        if form == layout.WORLDS_FORMAT:
            raise ModelError(f"{self.path}: error: is of many worlds: `log info`, `log show --world N` read it")
        if form != layout.FORMAT:
            raise ModelError(f"{self.path}: error: is not an mbcli log")
        for name, kind in layout.ROOT_ATTRIBUTES.items():
            if name in there:
                with self._file.reading(f"root attribute {name}"):
                    attributes[name] = _ATTRIBUTE_READERS[kind](self._file.attribute(name))
        for name in ("format_version", "status", "model_name"):
            if name not in attributes:
                raise ModelError(f"{self.path}: error: root attribute {name} is missing")
        if attributes["status"] not in layout.STATUSES:
            raise ModelError(f"{self.path}: error: status {attributes['status']!r} is unknown")
        return attributes

    def _check_version(self) -> None:
        version = self.attrs["format_version"]
        major = version.partition(".")[0]
        known = layout.FORMAT_VERSION.partition(".")[0]
        if major != known:
            raise ModelError(f"{self.path}: error: has log format {version}, this version of mbcli reads {known}.x")

    def _find_rows(self) -> dict[str, StoredDataset]:
        """{path: dataset}, `time`, `state/q` and `state/v` first."""
        paths = ["time", "state/q", "state/v"]
        for group in ROW_GROUPS[1:]:
            found = list(self._file.datasets(group))
            if wrong := [path for path in found if not FIELD_PATH.fullmatch(path)]:
                raise ModelError(f"{self.path}: error: {wrong[0]!r} is not the path of a field")
            paths += found
        if missing := set(self.attrs.get("fields", ())) - set(paths):
            raise DamagedLogError(self.path, f"{', '.join(sorted(missing))} is missing")
        return {path: self._file.dataset(path) for path in paths}

    def _check_rows(self) -> None:
        for path, dataset in self._datasets.items():
            columns = int(np.prod(dataset.shape[1:], dtype=int))
            described = len(self.names[path]) == len(self.units[path]) == columns
            ranks = {"time": 1, "state/q": 2, "state/v": 2}
            if not dataset.shape or dataset.ndim != ranks.get(path, dataset.ndim) or not described:
                raise ModelError(
                    f"{self.path}: error: {path} has shape {dataset.shape}, {len(self.names[path])} names "
                    f"and {len(self.units[path])} units"
                )
            standard = STANDARD_FIELDS.get(path)
            kinds, expected = ("iu", "integers") if standard and standard.dtype == "i8" else ("fiu", "numbers")
            if dataset.dtype.kind not in kinds:
                raise ModelError(f"{self.path}: error: {path} has type {dataset.dtype}, expected {expected}")

    def _count_rows(self) -> int:
        """The common length, without rows at the end of which not all was written before the process died."""
        count = min(len(dataset) for dataset in self._datasets.values())
        if self._contacts:
            count = self._contacts.whole_rows(count)
        return bisect_left(range(count), True, key=lambda row: np.isnan(self._time_of(row)))

    def _time_of(self, row: int) -> float:
        with self._reading():
            return float(self._read(self._datasets["time"], row, row + 1)[0])

    def _state_of(self, row: int) -> State:
        with self._reading():
            return State(*(self._read(self._datasets[path], row, row + 1)[0] for path in ("state/q", "state/v")))

    def _field_dataset(self, path: str) -> StoredDataset:
        if path not in self._datasets:
            raise KeyError(f"the log has no field {path}; it has {', '.join(self._datasets)}")
        return self._datasets[path]

    def _group_texts(self, group: str, name: str) -> tuple[str, ...]:
        with self._reading():
            return self._file.texts(name, group)

    def _read_text(self, path: str, largest: int = LARGEST_TEXT) -> str:
        with self._reading():
            content = self._file.dataset(path).content(largest)
            if not isinstance(content, bytes):
                raise DamagedLogError(self.path, f"{path} is not a text")
            return text_of(content)


def _texts(value: bytes | str) -> list[str]:
    """A JSON list of texts."""
    document = json.loads(text_of(value))
    if not isinstance(document, list) or not all(isinstance(item, str) for item in document):
        raise ValueError("is not a list of texts")
    return document


def _mapping(value: bytes | str) -> dict[str, Any]:
    document = json.loads(text_of(value))
    if not isinstance(document, dict):
        raise ValueError("is not a mapping")
    return document


_ATTRIBUTE_READERS: dict[str, Callable[[Any], object]] = {
    "text": text_of,
    "integer": int,
    "boolean": bool,
    "texts": _texts,
    "mapping": _mapping,
}
