"""LogWriter: writes a simulation log that opens after any death of its process.

Measured with kill -9 (docs/reference/log_format.md): a file in HDF5's single-writer mode (SWMR) always opens and holds
every flushed row; one that is only flushed now and then does not. The same mode lets others read a log while
it grows. It forbids new datasets, so everything the file will contain is created before the first row.

Chunks bypass HDF5's cache and metadata is not allocated in blocks, so that the place of each byte follows
from what is written and not from when it is flushed: equal runs give equal files, apart from /run.

Every chunk has a checksum (Fletcher's, 32 bits), which HDF5 compares when it reads. A process that is killed while it
replaces a chunk can leave the last one of one dataset with a wrong checksum; its older rows are the same in the old
and the new chunk, so the reader takes them from an unfinished log without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time as clock
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from mbcli.common.argument_names import argument
from mbcli.common.output_files import replacing
from mbcli.common.write_errors import reason_of_system
from mbcli.errors import OutputError
from mbcli.log import format as layout
from mbcli.log.contact_writer import ContactWriter, difference_of_names
from mbcli.log.format import LogHeader
from mbcli.log.guarded_file import GuardedFile
from mbcli.log.opened_file import with_locks_where_there_are
from mbcli.log.packing import write_packed
from mbcli.log.provenance import collect_provenance, utc_now
from mbcli.log.stored_sources import create_bytes, create_sources
from mbcli.log.stored_texts import create_texts, encoded, text_dtype
from mbcli.log.write_lock import WriteLock, refuse_written

__all__ = ["LogWriter"]

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import TracebackType

    from numpy.typing import ArrayLike

    from mbcli.log.datasets import Field
    from mbcli.math.array_types import Array

FLUSH_SECONDS = 0.5  # time that a killed run may lose
FLUSH_ROWS = 16384
CHUNK_ROWS = 1024
CHUNK_BYTES = 1 << 20
EVENTS_PER_CHUNK = 16
HEADER_BYTES = 1 << 15


class LogWriter:
    """A log being written: OUT.partial until finish() renames it to OUT.

    Use it as a context manager: left by an exception, the log ends as "failed" ("interrupted" by a signal).
    After a disk error the file stays as OUT.partial, with the rows that it holds.

    Args:
      path: the log, usually NAME.h5.
      header: names, units, fields, model and configuration of the run.
      force: replace an existing log, and the unfinished one of an earlier run.

    Raises:
      OutputError: the log exists, or cannot be created. Every method that writes raises it when the disk
        refuses, and the log is closed then. A method of a closed log raises ValueError.
    """

    def __init__(self, path: str | os.PathLike[str], header: LogHeader, force: bool = False) -> None:
        self.path = Path(path)
        self.partial_path = Path(f"{self.path}.partial")
        self.row_count = 0
        self._force = force
        self._started = self._flushed_at = clock.monotonic()
        self._unflushed_rows = 0
        self._dirty = False
        self._last_time = -np.inf
        self._sequence = 0
        self._event_count = 0
        self._file: Any = None
        self._lock: Any = None
        self._created = False
        fields = header.row_fields()
        checkpoint = _checkpoint_slots(header.checkpoint)
        self._chunk_rows = _rows_per_chunk(fields, header.expected_rows)
        with self._writing():
            self._check_target()
            self._file = self._open(_header_bytes(header))
            self._create(header, fields, checkpoint)
            self._file.flush()
            self._file.swmr_mode = True

    def append(
        self,
        *,
        time: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        contact: Mapping[str, ArrayLike] | None = None,
        **fields: ArrayLike,
    ) -> None:
        """Writes rows; all of them or, if an argument is wrong, none.

        Args:
          time: [s] (n,), strictly increasing, also across calls.
          q, v: (n, nq), (n, nv), in the order of the header's names.
          contact: of a run that logs contacts "offset" (n + 1,), from 0, every one of header.contact.fields by its
            path for offset[n] contacts, and header.contact.face_fields, whose offsets begin with 0 too.
          fields: every declared field by its path, (n, *row_shape).

        Raises:
          ValueError: a field is missing or unknown, a shape does not fit, the time does not increase.
        """
        self._require_open()
        rows = self._checked_rows({"time": time, "state/q": q, "state/v": v, **fields})
        count = len(rows["time"])
        contacts = self._checked_contacts(contact, count)
        if not count:
            return
        with self._writing():
            done = 0
            while done < count:  # never across a chunk: the file must not depend on the sizes of the blocks
                step = min(self._chunk_rows - self.row_count % self._chunk_rows, count - done)
                if self._contacts is not None and contacts is not None:  # before their rows, which count with a time
                    step = self._contacts.rows_together(contacts, done, step)
                    self._contacts.write(contacts, done, step)
                self._write_rows(rows, done, step)
                done += step
        self._last_time = float(rows["time"][-1])
        self._unflushed_rows += count
        self._dirty = True
        self.flush_if_due()

    def event(self, time: float, step: int, severity: str, code: str, message: str) -> None:
        """Notes an event at a time [s] and step: "info", "warning" or "error", a code, a text."""
        self._require_open()
        if severity not in layout.SEVERITIES:
            raise ValueError(f"severity {severity!r}, expected one of {', '.join(layout.SEVERITIES)}")
        given = zip((severity, code, message), layout.EVENT_TEXT.values(), strict=True)
        texts = [_fixed_text(text, size) for text, size in given]
        record = np.array([(float(time), int(step), *texts)], dtype=self._events.dtype)
        with self._writing():
            self._events.resize(self._event_count + 1, axis=0)
            self._events[self._event_count :] = record
        self._event_count += 1
        self._dirty = True
        self.flush_if_due()

    def checkpoint(self, values: Any) -> None:
        """Stores the data that a run needs to go on: the names, shapes and types of the header's example.

        The older of two slots is overwritten, and becomes the newer one only when it is complete on disk: a
        reader finds a whole checkpoint at any time.
        """
        self._require_open()
        if not self._checkpoint:
            raise ValueError("the header of this log declares no checkpoint")
        if set(values) != set(self._checkpoint):
            raise ValueError(f"checkpoint: {difference_of_names(self._checkpoint, values)}")
        arrays = {}
        for name, dataset in self._checkpoint.items():
            arrays[name] = np.asarray(values[name], dtype=dataset.dtype)
            if arrays[name].shape != dataset.shape[1:]:
                raise ValueError(f"checkpoint {name}: shape {arrays[name].shape}, expected {dataset.shape[1:]}")
        slot = self._sequence % 2
        with self._writing():
            for name, array in arrays.items():
                self._checkpoint[name][slot] = array
            self._flush()  # the slot before the number that makes it valid
            self._file["checkpoint/sequence"][slot] = self._sequence + 1
            self._flush()
        self._sequence += 1

    def flush_if_due(self) -> None:
        """Hands the written rows to the system, at most every half second; call it in pauses without rows."""
        due = clock.monotonic() - self._flushed_at >= FLUSH_SECONDS or self._unflushed_rows >= FLUSH_ROWS
        if self._dirty and due:
            self.flush()

    def flush(self) -> None:
        """Hands everything written so far to the system: kill -9 cannot take it any more."""
        self._require_open()
        with self._writing():
            self._flush()

    def finish(self, status: str, exit_code: int, message: str = "") -> None:
        """Ends the log as "complete", "interrupted" or "failed", closes it and gives it its name."""
        self._require_open()
        if status not in layout.FINAL_STATUSES:
            raise ValueError(f"status {status!r}, expected one of {', '.join(layout.FINAL_STATUSES)}")
        with self._writing():
            for dataset in self._datasets.values():  # an interrupt may have come between two datasets
                if len(dataset) != self.row_count:
                    dataset.resize(self.row_count, axis=0)
            if self._contacts is not None:
                self._contacts.cut_to(self.row_count)
            _modify_text(self._file.attrs, "status", status, layout.STATUS_BYTES)
            _modify_text(self._file.attrs, "message", message, layout.MESSAGE_BYTES)
            self._file.attrs.modify("exit_code", np.int32(exit_code))
            self._file["run/finished_utc"][()] = _fixed_text(utc_now(), layout.CLOCK_BYTES)
            self._file["run/wall_time"][()] = clock.monotonic() - self._started
            self._flush()
            self._file.close()
        self._file = None
        try:
            self._pack()
        finally:
            try:
                self._publish()
            finally:
                self._lock.release()

    def _pack(self) -> None:
        """Compresses the rows. Where there is no room for it on the disk the log stays as it is."""
        partial = self.partial_path
        with suppress(OSError, RuntimeError), replacing(partial) as packed, GuardedFile(partial) as file:
            write_packed(file, Path(packed))

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        if kind is None:
            self.finish("failed", 70, "the run ended without saying how")
        elif not issubclass(kind, Exception):  # Ctrl-C, or the exception of a handler of SIGTERM or SIGHUP
            code = 130 if issubclass(kind, KeyboardInterrupt) else getattr(error, "exit_code", 143)
            self.finish("interrupted", code, "stopped by a signal")
        else:
            self.finish("failed", getattr(error, "exit_code", 70), str(error) or kind.__name__)

    # ------------------------------------------------------------------------------------------- the file

    def _check_target(self) -> None:
        if self.path.is_dir():
            raise OutputError(f"{self.path}: error: is a folder, expected the name of a log")
        if self._force:
            return
        if os.path.lexists(self.path):
            raise OutputError(f"{self.path}: error: exists already; {argument('force', True)} replaces it")
        if os.path.lexists(self.partial_path):
            if not os.path.islink(self.partial_path):
                refuse_written(self.partial_path)
            raise OutputError(
                f"{self.partial_path}: error: is left from a run that did not finish; move it away, or replace it with "
                f"{argument('force', True)}"
            )

    def _open(self, room: int) -> h5py.File:
        if self._force and self.partial_path.is_symlink():
            self.partial_path.unlink()
        elif self._force and self.partial_path.exists():
            abandoned = WriteLock(self.partial_path)
            self.partial_path.unlink(missing_ok=True)
            abandoned.release()
        with open(self.partial_path, "xb") as file:
            self._created = True
            file.write(bytes(room))  # a disk without room for the header says so here: HDF5 does not come back from it
        file = with_locks_where_there_are(
            lambda locking: h5py.File(
                self.partial_path,
                "w",
                libver=("v110", "v110"),  # SWMR, and readable from HDF5 1.10 on
                rdcc_nbytes=0,
                meta_block_size=0,
                locking=locking,
            ),
            self.partial_path,
        )
        try:
            self._lock = WriteLock(self.partial_path)
        except OutputError:
            file.close()
            raise
        return file

    def _create(self, header: LogHeader, fields: Sequence[Field], checkpoint: Mapping[str, Array] | None) -> None:
        attributes = {
            "format": layout.FORMAT,
            "format_version": layout.FORMAT_VERSION,
            "status": "running",
            "exit_code": np.int32(0),
            "message": "",
            "model_name": header.model_name,
            "quaternion_order": "wxyz",
            "spatial_order": "angular_first",
            "seed": None if header.seed is None else np.int64(header.seed),
            "deterministic": np.bool_(header.deterministic),
            "kernels": header.kernels,
            "fields": [field.path for field in fields],
            "model_sha256": _sha256(header.model),
            "config_sha256": _sha256(header.config),
            "argv": list(header.argv),
            **collect_provenance(),
        }
        for name, value in attributes.items():
            if value is not None:
                _create_attribute(self._file.attrs, name, value)
        self._datasets = self._create_rows(fields)
        self._contacts = None if header.contact is None else ContactWriter(self._file, header.contact, self._chunk_rows)
        group = self._file.require_group("input")
        create_texts(group.attrs, "actuator_names", header.actuator_names)
        create_texts(group.attrs, "actuator_units", header.actuator_units)
        self._events = self._file.create_dataset(
            "events", shape=(0,), maxshape=(None,), chunks=(EVENTS_PER_CHUNK,), dtype=_event_dtype(), fletcher32=True
        )
        create_texts(self._events.attrs, "names", self._events.dtype.names)
        create_texts(self._events.attrs, "units", ("s", *("1",) * len(self._events.dtype.names[1:])))
        self._create_text("config/resolved", header.config)
        self._create_text("model/resolved", header.model)
        create_sources(self._file, header.sources)
        if header.scene:
            create_bytes(self._file, layout.SCENE, header.scene.encode("utf-8"))
        self._checkpoint = self._create_checkpoint(checkpoint, header.checkpoint_units)
        self._create_clocks()

    def _create_rows(self, fields: Sequence[Field]) -> dict[str, h5py.Dataset]:
        datasets = {}
        for field in fields:
            # HDF5 wants chunks of at least one element, and none larger than a fixed extent
            limits = tuple(size or None for size in field.row_shape)
            dataset = self._file.create_dataset(
                field.path,
                shape=(0, *field.row_shape),
                maxshape=(None, *limits),
                chunks=(self._chunk_rows, *(max(size, 1) for size in field.row_shape)),
                dtype=field.dtype,
                fillvalue=np.nan if field.path == "time" else None,  # a row of no time was never written
                fletcher32=True,
            )
            scalar = not field.row_shape
            create_texts(dataset.attrs, "names", field.names, scalar)
            create_texts(dataset.attrs, "units", field.units, scalar)
            if field.path == "time":
                dataset.make_scale("time")
                scale = dataset
            else:
                dataset.dims[0].attach_scale(scale)
                if len(field.row_shape) == 1 and field.names:
                    dataset.dims[1].attach_scale(self._create_columns(field))
            datasets[field.path] = dataset
        # time goes last: a row counts when its time is there
        datasets["time"] = datasets.pop("time")
        return datasets

    def _create_columns(self, field: Field) -> h5py.Dataset:
        """The dimension scale of the columns of a field: their names."""
        name = layout.columns_of(field.path)
        data = [encoded(text) for text in field.names]
        columns = self._file.create_dataset(name, data=np.array(data, dtype=text_dtype(max(map(len, data)))))
        columns.make_scale(name)
        return columns

    def _create_text(self, path: str, text: str) -> None:
        data = text.encode("utf-8")
        self._file.create_dataset(path, data=np.bytes_(data), dtype=text_dtype(len(data)))

    def _create_checkpoint(
        self, slots: Mapping[str, Array] | None, units: Mapping[str, str | Sequence[str]]
    ) -> dict[str, h5py.Dataset]:
        if not slots:
            return {}
        datasets = {name: self._create_slots(name, data, units.get(name, "1")) for name, data in slots.items()}
        self._create_slots("sequence", np.zeros(2, dtype="i8"), "1")
        return datasets

    def _create_slots(self, name: str, data: Array, units: str | Sequence[str]) -> h5py.Dataset:
        """Two slots with a chunk each: one that is not written keeps its checksum."""
        checked = {"chunks": (1, *data.shape[1:]), "fletcher32": True} if data.size else {}
        dataset = self._file.create_dataset(f"checkpoint/{name}", data=data, **checked)
        create_texts(dataset.attrs, "units", (units,) if isinstance(units, str) else units, isinstance(units, str))
        return dataset

    def _create_clocks(self) -> None:
        for name, text in (("created_utc", utc_now()), ("finished_utc", "")):
            data = np.bytes_(_fixed_text(text, layout.CLOCK_BYTES))
            self._file.create_dataset(f"run/{name}", data=data, dtype=text_dtype(layout.CLOCK_BYTES))
        wall_time = self._file.create_dataset("run/wall_time", data=np.nan, dtype="f8")
        create_texts(wall_time.attrs, "units", ("s",), scalar=True)

    # ------------------------------------------------------------------------------------------- writing

    def _require_open(self) -> None:
        if self._file is None:
            raise ValueError(f"{self.path}: this log is closed")

    def _checked_rows(self, values: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """The values as arrays of the declared types and shapes, `time` last."""
        if set(values) != set(self._datasets):
            raise ValueError(f"append: {difference_of_names(self._datasets, values)}")
        rows = {}
        for path, dataset in self._datasets.items():
            rows[path] = np.asarray(values[path]).astype(dataset.dtype, casting="same_kind", copy=False)
        time = rows["time"]
        for path, dataset in self._datasets.items():
            expected = (*time.shape[:1], *dataset.shape[1:])
            if rows[path].shape != expected:
                raise ValueError(f"append: {path} has shape {rows[path].shape}, expected {expected}")
        steps = np.diff(time, prepend=self._last_time)
        if not (np.all(steps > 0) and np.all(np.isfinite(time))):
            row = int(np.argmin((steps > 0) & np.isfinite(time)))
            raise ValueError(f"append: time {time[row]} of row {self.row_count + row} does not increase")
        return rows

    def _checked_contacts(self, contact: Mapping[str, ArrayLike] | None, count: int) -> dict[str, Array] | None:
        """The contacts of so many rows as arrays of the declared types; None of a run that does not log them."""
        if (contact is None) != (self._contacts is None):
            raise ValueError("append: the log has contacts if and only if its header declares them")
        return None if self._contacts is None or contact is None else self._contacts.checked(contact, count)

    def _write_rows(self, rows: Mapping[str, Array], start: int, count: int) -> None:
        first, last = self.row_count, self.row_count + count
        for path, dataset in self._datasets.items():
            dataset.resize(last, axis=0)
            dataset[first:last] = rows[path][start : start + count]
        self.row_count = last

    def _flush(self) -> None:
        self._file.flush()
        self._flushed_at = clock.monotonic()
        self._unflushed_rows = 0
        self._dirty = False

    def _publish(self) -> None:
        if not self._force and os.path.lexists(self.path):
            raise OutputError(f"{self.path}: error: was created by another program; this log is {self.partial_path}")
        try:
            _sync(self.partial_path)
            os.replace(self.partial_path, self.path)
            _sync(self.path.parent)
        except OSError as error:
            raise OutputError(f"{self.path}: error: {error.strerror}; the log is {self.partial_path}") from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turns the exceptions of HDF5 into an OutputError and gives the file up; its rows stay on disk."""
        try:
            yield
        except OutputError:
            raise
        except (OSError, RuntimeError) as error:
            kept = f"; {self.row_count} rows are kept in {self.partial_path}" if self.row_count else ""
            self._abandon()
            raise OutputError(f"{self.path}: error: cannot be written: {reason_of_system(error)}{kept}") from None

    def _abandon(self) -> None:
        file, self._file = self._file, None
        for _ in range(2 if file is not None else 0):  # on a full disk the first close fails, the second frees the file
            with suppress(OSError, RuntimeError):
                file.close()
        if self._created and not self.row_count:
            self.partial_path.unlink(missing_ok=True)
        if self._lock is not None:
            self._lock.release()


def _header_bytes(header: LogHeader) -> int:
    """About what a log has before its first row."""
    texts = sum(len(text) for text in (header.model, header.config, header.scene))
    return HEADER_BYTES + texts + sum(len(source.content) for source in header.sources)


def _rows_per_chunk(fields: Sequence[Field], expected_rows: int | None) -> int:
    """One number for all datasets: 1024, less for very wide rows or if fewer will come."""
    widest = max(8 * prod(field.row_shape) for field in fields)
    rows = min(CHUNK_ROWS, max(CHUNK_BYTES // max(widest, 1), 1))
    return rows if expected_rows is None else max(min(rows, expected_rows), 1)


def _checkpoint_slots(example: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Room for two checkpoints: {name: zeros (2, ...)}."""
    slots = {}
    for name, value in sorted(example.items()):
        value = np.asarray(value)
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or name == "sequence":
            raise ValueError(f"checkpoint {name!r}: expected a name of letters, digits and _, not 'sequence'")
        if value.dtype.kind not in "fiu":
            raise ValueError(f"checkpoint {name}: expected numbers, got {value.dtype}")
        slots[name] = np.zeros((2, *value.shape), dtype=value.dtype)
    return slots


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _event_dtype() -> np.dtype:
    texts = [(name, text_dtype(size)) for name, size in layout.EVENT_TEXT.items()]
    return np.dtype([("time", "f8"), ("step", "i8"), *texts])


def _fixed_text(text: str, size: int) -> bytes:
    """UTF-8 of at most size bytes, cut between characters."""
    return encoded(text)[:size].decode("utf-8", "ignore").encode("utf-8")


def _create_attribute(attributes: h5py.AttributeManager, name: str, value: Any) -> None:
    """Texts with their length (those that finish() changes: with room), lists and mappings as JSON."""
    if isinstance(value, (list, tuple, dict)):
        value = json.dumps(value, sort_keys=True)
    if isinstance(value, str):
        data = encoded(value)
        size = {"status": layout.STATUS_BYTES, "message": layout.MESSAGE_BYTES}.get(name, len(data))
        attributes.create(name, np.bytes_(data), dtype=text_dtype(size))
    else:
        attributes.create(name, value)


def _modify_text(attributes: h5py.AttributeManager, name: str, text: str, size: int) -> None:
    attributes.modify(name, np.array(_fixed_text(text, size), dtype=text_dtype(size)))


def _sync(path: Path) -> None:
    """Has a file or a folder written to the disk; Windows cannot open a folder, and a file only to write."""
    if os.name == "nt" and os.path.isdir(path):
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
