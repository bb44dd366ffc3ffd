"""Logs of many worlds that stepped together: one array for each quantity, its first axis the worlds.

docs/reference/log_format.md describes the files. A world's rows are those of a log of its own:
WorldsLog.world() makes it.
"""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mbcli.errors import MbcliError, ModelError, ResourceError
from mbcli.log.contact_reader import StoredContacts
from mbcli.log.datasets import Field
from mbcli.log.format import FINAL_STATUSES, WORLDS_FORMAT as FORMAT, WORLDS_VERSION, ContactNames, LogHeader
from mbcli.log.guarded_file import GuardedFile
from mbcli.log.memory import MemoryLog
from mbcli.log.stored_sources import LARGEST_TEXT, read_sources
from mbcli.log.stored_texts import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.log.writer import LogWriter
    from mbcli.math.array_types import Array, FloatArray
    from mbcli.parsers.spec import SourceFile

FIELDS = ("state/q", "state/v")  # that every log has
OTHERS = ("input", "derived", "solver", "sensors")  # groups that it may have
SOFTWARE = ("python", "cpu", "platform")  # attributes of that which wrote it
TEXTS = ("format_version", "status", "model_name", "created_utc", "argv", "mbcli_version")  # root attributes


def is_worlds_log(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a log of many worlds; False too for what cannot be read."""
    try:
        with GuardedFile(path) as file:
            return file.has_attribute("format") and file.text("format") == FORMAT
    except MbcliError:
        return False


class WorldsLog:
    """A log of many worlds, open for reading; a context manager.

    Attributes:
        path; count: number of worlds; times: [s] (k,); end_times: [s] (n,); messages: (n,) texts, "" of worlds that
        did not stop; attrs: root attributes; names and units of the columns by the path of a field; summary: the
        WorldsSummary of simulate_each(), else None.

    ResourceError or ModelError for a file that is not there or not such a log.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self.summary: Any = None
        self._file = GuardedFile(self.path)
        try:
            with self._file.reading(""):
                self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> None:
        file = self._file
        if not file.has_attribute("format") or file.text("format") != FORMAT:
            raise ModelError(f"{self.path}: error: is not a log of worlds")
        self.attrs: dict[str, Any] = {name: file.text(name) for name in TEXTS}
        if file.has_attribute("packages"):
            self.attrs["packages"] = json.loads(file.text("packages"))
        for name in SOFTWARE:
            if file.has_attribute(name):
                self.attrs[name] = file.text(name)
        if self.attrs["format_version"].partition(".")[0] != WORLDS_VERSION.partition(".")[0]:
            raise ModelError(f"{self.path}: error: has format version {self.attrs['format_version']}, a later one")
        if self.attrs["status"] not in FINAL_STATUSES:
            raise file.damaged(f"status {self.attrs['status']!r} is unknown")
        self.arguments = json.loads(self.attrs["argv"])
        if not isinstance(self.arguments, list):
            raise file.damaged("argv is not a list")
        self.attrs |= {"argv": self.arguments}
        rows, time = int(file.attribute("rows")), file.dataset("time")
        if not 0 <= rows <= len(time):
            raise file.damaged(f"it states {rows} rows, and time has {len(time)}")
        self.times = self._numbers("time")[:rows]
        if not np.isfinite(self.times).all() or (np.diff(self.times) <= 0.0).any():
            raise file.damaged("the times do not increase")
        self.end_times = self._numbers("worlds/end_time")
        self.messages = list(texts_of(file.dataset("worlds/message").content()))
        self.count = len(self.end_times)
        if len(self.messages) != self.count:
            raise file.damaged(f"it has {self.count} worlds and {len(self.messages)} messages")
        others = [path for group in OTHERS if file.has(group) for path in file.datasets(group)]
        self._sets = {path: file.dataset(path) for path in (*FIELDS, *others)}
        self._fields = list(self._sets)
        self.names = {path: file.texts("names", path) for path in self._fields}
        self.units = {path: file.texts("units", path) for path in self._fields}
        for path, dataset in self._sets.items():
            shape, columns = dataset.shape, len(self.names[path])
            fits = len(shape) == 3 and shape[0] == self.count and shape[1] >= rows and shape[2] == columns
            if not fits or len(self.units[path]) != columns or dataset.dtype.kind != "f":
                raise file.damaged(f"{path} has shape {shape}, type {dataset.dtype}")
        self._contacts = StoredContacts(file, lambda dataset, first, last: dataset.rows(first, last))
        if self._contacts:
            self._contacts.lengths(rows * self.count)

    def _numbers(self, path: str) -> FloatArray:
        """A column of floats."""
        values = self._file.dataset(path).content()
        if np.ndim(values) != 1 or values.dtype.kind != "f":
            raise self._file.damaged(f"{path} is not a column of numbers")
        return values

    @property
    def status(self) -> str:
        """How the run ended."""
        return str(self.attrs["status"])

    @property
    def row_count(self) -> int:
        """Of each world."""
        return len(self.times)

    def fields(self) -> tuple[str, ...]:
        """The paths of what has rows."""
        return tuple(self._fields)

    def field(self, path: str) -> FloatArray:
        """All rows of a field, (n, k, width); NaN after the end of a world that stopped."""
        return self._sets[path].block(slice(None), len(self.times))

    def rows(self, path: str, first: int, last: int) -> FloatArray:
        """Rows of a field of all worlds, (n, last - first, width)."""
        return self._sets[path].block(slice(None), min(last, len(self.times)), first)

    def of_world(self, path: str, number: int) -> FloatArray:
        """The rows of a field of one world, (k, width)."""
        return self._sets[path].part(number, len(self.times))

    @property
    def q(self) -> FloatArray:
        """(n, k, nq) [rad or m]"""
        return self.field("state/q")

    @property
    def v(self) -> FloatArray:
        """(n, k, nv) [rad/s or m/s]"""
        return self.field("state/v")

    @property
    def has_contacts(self) -> bool:
        """Whether the runs have logged their contacts."""
        return bool(self._contacts)

    def contacts_of_rows(self, first: int, last: int) -> dict[str, Any]:
        """As Log.contacts() and Log.faces(), of rows of all worlds: row by row, and in each world by world."""
        with self._file.reading("contact"):
            return self._contacts_between(first * self.count, last * self.count)

    def _contacts_between(self, first: int, last: int) -> dict[str, Any]:
        return self._contacts.contacts(first, last) | (
            self._contacts.faces(first, last) if self._contacts.has_faces else {}
        )

    def contacts_of_world(self, number: int) -> Iterator[dict[str, Any]]:
        """As Log.contacts() and Log.faces(), of each row of one world."""
        for row in range(len(self.times)):
            with self._file.reading("contact"):
                place = row * self.count + number
                found = self._contacts_between(place, place + 1)
            yield found

    def contact_names(self) -> ContactNames | None:
        """What body_a, body_b, geometry_a and geometry_b count; None if contacts were not logged."""
        if not self._contacts:
            return None
        with self._file.reading("contact"):
            names = [self._file.texts(name, "contact") for name in ("body_names", "geometry_names")]
        return self._contacts.names(*names)

    def checkpoint(self) -> dict[str, Array]:
        """{name: (n, ...)} of what runs need that go on; {} of old logs (1.3; 1.4 under a controller)."""
        found = self._contents("checkpoint")
        for name, values in found.items():
            if np.ndim(values) < 1 or len(values) != self.count or values.dtype.kind not in "fi":
                raise self._file.damaged(f"checkpoint/{name} is not of {self.count} worlds")
        return found

    def controller_state(self) -> dict[str, Array]:
        """{name: what a controller needs that goes on}; {} of runs without one, and in logs before 1.5."""
        return self._contents("controller")

    def _contents(self, group: str) -> dict[str, Array]:
        """{name: array} of a group; {} without it."""
        with self._file.reading(group):
            paths = self._file.datasets(group) if self._file.has(group) else ()
            return {path.removeprefix(f"{group}/"): self._file.dataset(path).content() for path in paths}

    def read_sources(self) -> list[SourceFile]:
        """The model files as they were read; none in logs before 1.3."""
        with self._file.reading(""):
            return read_sources(self._file)

    @property
    def model(self) -> str:
        """The resolved model, JSON."""
        return self._text("model/resolved")

    @property
    def config(self) -> str:
        """The resolved configuration, YAML."""
        return self._text("config/resolved")

    def _text(self, path: str) -> str:
        return texts_of(self._file.dataset(path).content(LARGEST_TEXT))[0] if self._file.has(path) else ""

    @cached_property
    def header(self) -> LogHeader:
        """That of the log of one world; it has the model files."""
        others = [path for path in self._fields if path not in FIELDS]
        own = (Field(path, self.units[path], self.names[path], row_shape_of(path, self.names[path])) for path in others)
        return LogHeader(
            model_name=self.attrs["model_name"],
            position_names=self.names["state/q"],
            position_units=self.units["state/q"],
            velocity_names=self.names["state/v"],
            velocity_units=self.units["state/v"],
            actuator_names=self.names.get("input/u", ()),
            actuator_units=self.units.get("input/u", ()),
            fields=tuple(own),
            contact=self.contact_names(),
            sources=tuple(self.read_sources()),
            config=self.config,
            model=self.model,
            argv=tuple(self.arguments),
        )

    def count_of_rows(self, number: int) -> int:
        """Of a world, up to where it stopped."""
        return int((self.times <= self.end_times[number] * (1.0 + 1e-12)).sum())

    def world(self, number: int) -> MemoryLog:
        """The log of one world: the rows up to where it stopped. ResourceError if there is no such world."""
        log = MemoryLog(self.header)
        self.write_world(number, log)
        return log

    def write_world(self, number: int, log: MemoryLog | LogWriter) -> None:
        """Gives the rows of a world to a log with `header`, and ends that. ResourceError as of world()."""
        if not 0 <= number < self.count:
            raise ResourceError(f"{self.path}: error: there is no world {number}, the last is {self.count - 1}")
        others = [path for path in self._fields if path not in FIELDS]
        rows = {path: dataset.part(number, len(self.times)) for path, dataset in self._sets.items()}
        count = self.count_of_rows(number)
        more: dict[str, Any] = {
            path: rows[path][:count].reshape(count, *row_shape_of(path, self.names[path])) for path in others
        }
        state: dict[str, Any] = {"time": self.times[:count], "q": rows["state/q"][:count], "v": rows["state/v"][:count]}
        if not self._contacts:
            log.append(**state, **more)
        for row, contact in zip(range(count if self._contacts else 0), self.contacts_of_world(number), strict=False):
            of_row = {name: values[row : row + 1] for name, values in (state | more).items()}
            log.append(**of_row, contact=contact)
        message = self.messages[number]
        log.finish("failed" if message else self.attrs["status"], 5 if message else 0, message)

    def __len__(self) -> int:
        """The number of worlds."""
        return self.count

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...

    @overload
    def __getitem__(self, key: int) -> MemoryLog: ...

    def __getitem__(self, key: str | int) -> np.ndarray | MemoryLog:
        """A column (n, k) or field (n, k, width) of all worlds by its name, as of a single log; or the log of a world.

        KeyError if a name means none of them, IndexError if there is no such world, TypeError for another key.
        """
        if isinstance(key, str):
            from mbcli.log.tables import values_of_worlds

            return values_of_worlds(self, key)
        if not isinstance(key, (int, np.integer)):
            raise TypeError(
                f"a log of worlds has names of columns, as log['elbow_q'], and worlds, as log[0], not {key!r}"
            )
        if not -self.count <= key < self.count:
            raise IndexError(f"{self.path}: there is no world {key}, the last is {self.count - 1}")
        return self.world(int(key) % self.count)

    def row_shape(self, path: str) -> tuple[int, ...]:
        """Of a row of a field in the log of one world."""
        return row_shape_of(path, self.names[path])

    def __repr__(self) -> str:
        return f"<WorldsLog {self.path}: {self.count} worlds of {len(self.times)} rows>"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of all columns, by the number of the world and the time [s]. ResourceError where pandas is
        missing."""
        from mbcli.log.tables import pandas_frame_of_worlds

        return pandas_frame_of_worlds(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame of all columns, `world` and `time` [s] first. ResourceError where polars is missing."""
        from mbcli.log.tables import polars_frame_of_worlds

        return polars_frame_of_worlds(self)

    def to_xarray(self) -> Any:
        """An xarray.Dataset of all fields, along `world` and `time` [s]; NaN after the end of a world that stopped.
        ResourceError where xarray is missing."""
        from mbcli.log.tables import xarray_dataset

        return xarray_dataset(self, self.count)

    def close(self) -> None:
        """Closes the file; what was read stays."""
        self._file.close()

    def __enter__(self) -> WorldsLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def describe_worlds(log: WorldsLog) -> dict[str, Any]:
    """The document of `log info --json`."""
    stopped = [k for k, message in enumerate(log.messages) if message]
    return {
        "schema": "mbcli/log-info-worlds",
        "schema_version": 1,
        "log": log.path,
        "bytes": os.path.getsize(log.path),
        "format_version": log.attrs["format_version"],
        "status": log.attrs["status"],
        "model": log.attrs["model_name"],
        "worlds": log.count,
        "rows": len(log.times),
        "start": float(log.times[0]) if len(log.times) else None,
        "end": float(log.times[-1]) if len(log.times) else None,
        "fields": [
            {"path": path, "names": list(log.names[path]), "units": list(log.units[path])} for path in log.fields()
        ],
        "stopped": [{"world": k, "time": float(log.end_times[k]), "message": log.messages[k]} for k in stopped],
        "created_utc": log.attrs["created_utc"],
        "argv": log.arguments,
        "mbcli_version": log.attrs["mbcli_version"],
    }


def row_shape_of(path: str, names: tuple[str, ...]) -> tuple[int, ...]:
    """Of a row of a field in the log of a single run: () of one number, which is named as its dataset."""
    return () if names == (path.rpartition("/")[2],) else (len(names),)
