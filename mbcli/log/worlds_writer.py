"""WorldsWriter: writes the log of many worlds that step together; worlds.py reads it."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from mbcli.common.write_errors import ErrorKeeper, reason_of_system
from mbcli.errors import OutputError
from mbcli.log.contact_writer import ContactWriter
from mbcli.log.format import WORLDS_FORMAT, WORLDS_VERSION, LogHeader
from mbcli.log.provenance import collect_provenance, utc_now
from mbcli.log.stored_sources import create_sources
from mbcli.log.stored_texts import create_texts, encoded, text_dtype

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mbcli.math.array_types import Array, FloatArray

CHUNK_BYTES = 1 << 18
ROWS_PER_CHUNK = 1024  # of the offsets of contacts


class WorldsWriter:
    """A log of worlds being written: OUT.partial until finish() renames it.

    Args:
        path: the log.
        header: LogHeader, with names, units, model, configuration and command; its fields are those of rows here, its
            contacts those of all worlds: row by row, and in each world by world.
        times: [s] (k,) of all rows.
        count: number of worlds.

    OutputError if it cannot be written.
    """

    def __init__(self, path: str, header: LogHeader, times: FloatArray, count: int) -> None:
        self.path, self.partial_path, self._next = os.fspath(path), f"{path}.partial", 0
        self._file: Any = None
        try:
            if os.path.lexists(self.partial_path):  # of an earlier run, which check_log_target() let be replaced
                os.unlink(self.partial_path)
            self._stream = open(self.partial_path, "x+b")  # noqa: SIM115 - no link is followed
        except OSError as error:
            raise OutputError(f"{self.path}: error: cannot be written: {reason_of_system(error)}") from None
        self._keeper = ErrorKeeper(self._stream)
        with self._writing():
            self._file = h5py.File(self._keeper, "w", libver=("v110", "v110"))
            self._create(header, times, count)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """OutputError for what the system or HDF5 says, with nothing left."""
        try:
            with self._keeper.raising():
                yield
        except (OSError, RuntimeError) as error:
            self.abandon()
            raise OutputError(f"{self.path}: error: cannot be written: {reason_of_system(error)}") from None

    def _create(self, header: LogHeader, times: FloatArray, count: int) -> None:
        attributes = {"format": WORLDS_FORMAT, "format_version": WORLDS_VERSION, "model_name": header.model_name}
        provenance = collect_provenance() | {"argv": list(header.argv), "created_utc": utc_now()}
        for name, value in (attributes | provenance).items():
            create_texts(self._file.attrs, name, [value if isinstance(value, str) else json.dumps(value)], scalar=True)
        for path, text in (("model/resolved", header.model), ("config/resolved", header.config)):
            data = encoded(text)
            self._file.create_dataset(path, data=np.bytes_(data), dtype=text_dtype(len(data)))
        create_sources(self._file, header.sources)
        time = self._create_numbers("time", times)
        create_texts(time.attrs, "units", ["s"], scalar=True)
        for field in header.row_fields()[1:]:
            width = len(field.names)
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
        self._contacts = None if header.contact is None else ContactWriter(self._file, header.contact, ROWS_PER_CHUNK)

    def _create_numbers(self, path: str, values: Array) -> h5py.Dataset:
        """An array with a checksum."""
        chunks = tuple(max(1, min(n, CHUNK_BYTES)) for n in values.shape)
        checked = {"chunks": chunks, "fletcher32": True} if values.size else {}
        return self._file.create_dataset(path, data=values, **checked)

    def append(self, *, contact: Mapping[str, Array] | None = None, **fields: FloatArray) -> None:
        """Writes the next rows of all worlds, (n, rows, width) of each field by its path.

        contact: as of LogWriter.append(), of rows * n rows: those of all worlds, row by row.
        """
        count, rows = next(iter(fields.values())).shape[:2]
        with self._writing():
            for path, values in fields.items():
                self._file[path][:, self._next : self._next + rows] = values
            if self._contacts is not None and contact is not None:
                self._contacts.write(self._contacts.checked(contact, count * rows), 0, count * rows)
        self._next += rows

    def finish(
        self,
        status: str,
        end_times: FloatArray,
        messages: Sequence[str],
        checkpoint: Mapping[str, Array] | None = None,
        controller: Mapping[str, Array] | None = None,
    ) -> None:
        """Ends the log: "complete" or "interrupted"; [s] where each world ended, and why if it stopped, else "".

        checkpoint: {name: (n, ...)} of what runs need that go on from the last row. controller: {name: array} of what
            their controller needs.
        """
        with self._writing():
            create_texts(self._file.attrs, "status", [status], scalar=True)
            self._file.attrs["rows"] = self._next
            time = self._create_numbers("worlds/end_time", end_times)
            create_texts(time.attrs, "units", ["s"], scalar=True)
            data = [encoded(message) for message in messages]
            dtype = text_dtype(max(map(len, data)))
            self._file.create_dataset("worlds/message", data=np.array(data, dtype=dtype), dtype=dtype)
            for name, values in (checkpoint or {}).items():
                self._create_numbers(f"checkpoint/{name}", values)
            for name, values in (controller or {}).items():
                self._create_numbers(f"controller/{name}", values)
            self._file.close()
            self._stream.close()
        with self._writing():
            os.replace(self.partial_path, self.path)

    def abandon(self) -> None:
        """Leaves no file behind."""
        with suppress(OSError, RuntimeError):
            if self._file is not None:
                self._file.close()
        with suppress(OSError):
            self._stream.close()
        with suppress(OSError):
            os.unlink(self.partial_path)
