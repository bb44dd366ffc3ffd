"""Logs of many worlds that stepped together: one array for each quantity, its first axis the worlds.

docs/log_format.md describes the files. A world's rows are those of a log of its own: WorldsLog.world() makes it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from mbcli.errors import MbcliError, ModelError, OutputError, ResourceError
from mbcli.log.format import WORLDS_FORMAT as FORMAT
from mbcli.log.format import LogHeader
from mbcli.log.memory import MemoryLog
from mbcli.log.provenance import collect_provenance, utc_now
from mbcli.log.stored_rows import open_file
from mbcli.log.stored_texts import create_texts, encoded, text_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.math.array_types import FloatArray

FORMAT_VERSION = "1.0"
CHUNK_BYTES = 1 << 18
DAMAGE = (OSError, RuntimeError, LookupError, ValueError, TypeError, AttributeError, MemoryError)


def is_worlds_log(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a log of many worlds; False too for what cannot be read."""
    try:
        with h5py.File(path, "r", locking="best-effort") as file:
            return _text(file.attrs.get("format", "")) == FORMAT
    except (OSError, RuntimeError):
        return False


class WorldsWriter:
    """A log of worlds being written: OUT.partial until finish() renames it.

    Args:
        path: the log.
        header: LogHeader, with names, units, model, configuration and command; its fields are those of rows here.
        times: [s] (k,) of all rows.
        count: number of worlds.

    OutputError if it cannot be written.
    """

    def __init__(self, path: str, header: LogHeader, times: FloatArray, count: int) -> None:
        self.path, self.partial_path, self._next = os.fspath(path), f"{path}.partial", 0
        try:
            self._file: Any = h5py.File(self.partial_path, "w", locking="best-effort")
            self._create(header, times, count)
        except (OSError, RuntimeError) as error:
            raise OutputError(f"{self.partial_path}: error: cannot be written: {error}") from None

    def _create(self, header, times, count):
        attributes = {"format": FORMAT, "format_version": FORMAT_VERSION, "model_name": header.model_name}
        provenance = collect_provenance() | {"argv": list(header.argv), "created_utc": utc_now()}
        for name, value in (attributes | provenance).items():
            create_texts(self._file.attrs, name, [value if isinstance(value, str) else json.dumps(value)], scalar=True)
        for path, text in (("model/resolved", header.model), ("config/resolved", header.config)):
            data = encoded(text)
            self._file.create_dataset(path, data=np.bytes_(data), dtype=text_dtype(len(data)))
        time = self._file.create_dataset("time", data=times)
        create_texts(time.attrs, "units", ["s"], scalar=True)
        for field in header.row_fields()[1:]:
            width = field.row_shape[0]
            rows = max(1, min(len(times), CHUNK_BYTES // (8 * max(width, 1))))
            dataset = self._file.create_dataset(
                field.path,
                shape=(count, len(times), width),
                chunks=(1, rows, width) if width and len(times) else None,
                fillvalue=np.nan if width and len(times) else None,
                dtype="f8",
                **({"compression": 1, "shuffle": True, "fletcher32": True} if width and len(times) else {}),
            )
            create_texts(dataset.attrs, "names", field.names)
            create_texts(dataset.attrs, "units", field.units)

    def append(self, **fields: FloatArray) -> None:
        """Writes the next rows of all worlds, (n, rows, width) of each field by its path."""
        rows = next(iter(fields.values())).shape[1]
        try:
            for path, values in fields.items():
                self._file[path][:, self._next : self._next + rows] = values
        except (OSError, RuntimeError) as error:
            raise OutputError(f"{self.partial_path}: error: cannot be written: {error}") from None
        self._next += rows

    def finish(self, status: str, end_times: FloatArray, messages: Sequence[str]) -> None:
        """Ends the log: "complete" or "interrupted"; [s] where each world ended, and why if it stopped, else ""."""
        try:
            create_texts(self._file.attrs, "status", [status], scalar=True)
            self._file.attrs["rows"] = self._next
            time = self._file.create_dataset("worlds/end_time", data=end_times)
            create_texts(time.attrs, "units", ["s"], scalar=True)
            data = [encoded(message) for message in messages]
            dtype = text_dtype(max(map(len, data)))
            self._file.create_dataset("worlds/message", data=np.array(data, dtype=dtype), dtype=dtype)
            self._file.close()
            os.replace(self.partial_path, self.path)
        except (OSError, RuntimeError) as error:
            raise OutputError(f"{self.path}: error: cannot be written: {error}") from None

    def abandon(self) -> None:
        """Leaves no file behind."""
        with suppress(OSError, RuntimeError):
            self._file.close()
        with suppress(OSError):
            os.unlink(self.partial_path)


class WorldsLog:
    """A log of many worlds, open for reading; a context manager.

    Attributes:
        path; count: number of worlds; times: [s] (k,); end_times: [s] (n,); messages: (n,) texts, "" of worlds that
        did not stop; attrs: root attributes; names and units of the columns by the path of a field.

    ResourceError or ModelError for a file that is not there or not such a log.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        try:
            self._file = open_file(self.path)
        except (OSError, RuntimeError) as error:
            raise ResourceError(f"{self.path}: error: cannot be read: {error}") from None
        try:
            self._read()
        except MbcliError:
            self.close()
            raise
        except DAMAGE as error:
            self.close()
            raise ModelError(f"{self.path}: error: is damaged: {error}") from None

    def _read(self):
        self.attrs = {name: value if name == "rows" else _text(value) for name, value in self._file.attrs.items()}
        if self.attrs.get("format") != FORMAT:
            raise ModelError(f"{self.path}: error: is not a log of worlds")
        if self.attrs["format_version"].partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
            raise ModelError(f"{self.path}: error: has format version {self.attrs['format_version']}, a later one")
        rows = int(self.attrs["rows"])
        self.times = self._file["time"][:rows]
        self.end_times = self._file["worlds/end_time"][()]
        self.messages = [_text(text) for text in self._file["worlds/message"][()]]
        self.count = len(self.end_times)
        self._fields = [path for path in ("state/q", "state/v", "input/u") if path in self._file]
        self.names = {path: tuple(map(_text, self._file[path].attrs["names"])) for path in self._fields}
        self.units = {path: tuple(map(_text, self._file[path].attrs["units"])) for path in self._fields}
        for path in self._fields:
            shape = self._file[path].shape
            if len(shape) != 3 or shape[0] != self.count or shape[1] < rows or shape[2] != len(self.names[path]):
                raise ModelError(f"{self.path}: error: is damaged: {path} has shape {shape}")

    def fields(self) -> tuple[str, ...]:
        """The paths of what has rows."""
        return tuple(self._fields)

    def field(self, path: str) -> FloatArray:
        """All rows of a field, (n, k, width); NaN after the end of a world that stopped."""
        return self._rows(path, slice(None))

    @property
    def q(self) -> FloatArray:
        """(n, k, nq) [rad or m]"""
        return self.field("state/q")

    @property
    def v(self) -> FloatArray:
        """(n, k, nv) [rad/s or m/s]"""
        return self.field("state/v")

    def world(self, number: int) -> MemoryLog:
        """The log of one world: the rows up to where it stopped. ResourceError if there is no such world."""
        if not 0 <= number < self.count:
            raise ResourceError(f"{self.path}: error: there is no world {number}, the last is {self.count - 1}")
        header = LogHeader(
            model_name=self.attrs["model_name"],
            position_names=self.names["state/q"],
            position_units=self.units["state/q"],
            velocity_names=self.names["state/v"],
            velocity_units=self.units["state/v"],
            actuator_names=self.names.get("input/u", ()),
            actuator_units=self.units.get("input/u", ()),
        )
        if "input/u" in self._fields:
            header = dataclasses.replace(header, fields=(header.input_field(),))
        log = MemoryLog(header)
        rows = {path: self._rows(path, number) for path in self._fields}
        count = int((self.times <= self.end_times[number] * (1.0 + 1e-12)).sum())
        others = {path: values[:count] for path, values in rows.items() if path not in ("state/q", "state/v")}
        log.append(time=self.times[:count], q=rows["state/q"][:count], v=rows["state/v"][:count], **others)
        message = self.messages[number]
        log.finish("failed" if message else self.attrs["status"], 5 if message else 0, message)
        return log

    def _rows(self, path, worlds):
        try:
            return self._file[path][worlds, : len(self.times)]
        except DAMAGE as error:
            raise ModelError(f"{self.path}: error: is damaged: {path}: {error}") from None

    def close(self) -> None:
        """Closes the file; what was read stays."""
        with suppress(OSError, RuntimeError):
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
        "argv": json.loads(log.attrs["argv"]),
        "mbcli_version": log.attrs["mbcli_version"],
    }


def _text(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)
