"""Writes the results of a batch, chunk by chunk: JSON lines, CSV, NPZ or HDF5, to a file or to stdout.

Every chunk is a dictionary of columns, arrays of shape (rows, ...) with the same keys, types and trailing
shapes from chunk to chunk. Nothing of a chunk stays in memory after it is written.

    jsonl   one object per row, arrays as nested lists; numbers that are not finite are null, with one warning on stderr
    csv     one line per row under a header; matrices row by row: M[0,0], M[0,1], ...
    npz     one array per column, and `metadata` as a JSON string
    hdf5    /results/NAME, grown with each chunk; metadata as attributes of the file
    parquet, arrow   one column a component, named as in csv, units and metadata in the schema; arrow is a stream

A file has a temporary name in the same directory until it is complete, so that its own name never stands for
half a result.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.batch import BINARY_FORMATS, FORMAT_OF_SUFFIX, FORMATS
from mbcli.batch.result_outputs import STANDARD_OUTPUT, Output, output_of
from mbcli.batch.writing_thread import WritingThread
from mbcli.errors import OutputError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TypeAlias

    from mbcli.batch.result_encoder import Encoder
    from mbcli.math.array_types import Array

    _Signature: TypeAlias = dict[str, tuple[tuple[int, ...], str]]  # trailing shape and kind of type of each column


MANY_BYTES = 1 << 15  # of rows that are worth a thread


def open_results(
    destination: str | os.PathLike[str] | None,
    format: str | None = None,
    *,
    force: bool = False,
    metadata: Mapping[str, Any] | None = None,
    component_names: Mapping[str, Sequence[str]] | None = None,
    component_units: Mapping[str, str | Sequence[str]] | None = None,
    warn: Callable[[str], None] | None = None,
) -> ResultWriter:
    """Opens the output of a batch.

    Args:
      destination: a path, or "-" or None for stdout. Pipes and devices are written to as they are.
      format: one of FORMATS; by default the suffix of the path decides, and stdout is jsonl.
      force: overwrite a file that exists.
      metadata: statements about the whole batch (text, numbers, lists, dictionaries); JSON lines and
        CSV have no place for it.
      component_names: the names of the components of a column, in row-major order; JSON lines and NPZ have none.
      component_units: for HDF5, Parquet and Arrow, the unit of a column, or those of its components.
      warn: takes one line of warning; by default it goes to stderr.

    Raises:
      OutputError: the file exists and force is not given, it cannot be written, the suffix is not that of a format, or
        a binary format would go to a terminal.
    """
    path = None if destination is None or str(destination) in STANDARD_OUTPUT else os.fspath(destination)
    format = format or _format_of(path)
    if format not in FORMATS:
        raise ValueError(f"unknown output format {format!r}, expected one of {', '.join(FORMATS)}")
    if path is None and format in BINARY_FORMATS and sys.stdout.isatty():
        raise OutputError(f"{format} is not for a terminal: give -o FILE or redirect stdout")
    output = output_of(path, format, force)
    metadata = dict(metadata or {})
    try:
        with output.errors():
            encoder: Encoder
            names, units = dict(component_names or {}), dict(component_units or {})
            if format in ("parquet", "arrow"):
                from mbcli.batch.arrow_results import Arrow, Parquet

                kind = Parquet if format == "parquet" else Arrow
                encoder = kind(output.stream, metadata, names, units)
            elif format in BINARY_FORMATS:
                from mbcli.batch.array_results import Hdf5, Npz

                if format == "npz":
                    encoder = Npz(output.stream, metadata, output.directory)
                else:
                    encoder = Hdf5(output.stream, metadata, names, units)
            else:
                from mbcli.batch.text_results import Csv, JsonLines

                if format == "jsonl":
                    encoder = JsonLines(output.stream, output.name, warn or _warn_on_stderr)
                else:
                    encoder = Csv(output.stream, names)
    except BaseException:
        output.abort()
        raise
    return ResultWriter(output, encoder)


def _warn_on_stderr(line: str) -> None:
    print(line, file=sys.stderr)


def _format_of(path: str | None) -> str:
    if path is None:
        return "jsonl"
    suffix = os.path.splitext(path)[1]
    if suffix.lower() in FORMAT_OF_SUFFIX:
        return FORMAT_OF_SUFFIX[suffix.lower()]
    known = ", ".join(FORMAT_OF_SUFFIX)
    raise OutputError(f"{path}: error: the suffix {suffix!r} is not that of a format: use {known}, or give the format")


class ResultWriter:
    """Takes chunks of results; a context manager that completes the file, or removes it after an error."""

    def __init__(self, output: Output, encoder: Encoder) -> None:
        self.output_of = output
        self._encoder = encoder
        self._signature: _Signature | None = None
        self._closed = False
        self._thread: WritingThread | None = None
        self.row_count = 0

    def write(self, columns: Mapping[str, Array]) -> None:
        """Appends rows: {name: array (rows, ...) of real numbers or truth values}.

        Raises:
          ValueError: the keys, lengths, types or trailing shapes do not fit together or to the chunks before.
          OutputError: the output cannot be written. BrokenPipeError passes through.
        """
        arrays = {name: np.asarray(array) for name, array in columns.items()}
        is_first = self._signature is None
        rows = self._checked_length(arrays)
        first_row = self.row_count
        self.row_count += rows

        def write_rows() -> None:
            with self.output_of.errors():
                if is_first:
                    self._encoder.begin(arrays)
                self._encoder.rows(arrays, first_row)
                self.output_of.flush()

        if sum(array.nbytes for array in arrays.values()) >= MANY_BYTES and self.output_of.never_waits():
            self._thread = self._thread or WritingThread()
            self._thread.call(write_rows)
        else:
            self._wait()
            write_rows()

    def _wait(self) -> None:
        """Until all rows are written; raises what has stopped that."""
        if self._thread is not None:
            thread, self._thread = self._thread, None
            thread.end()

    def close(self) -> None:
        """Completes the output and gives the file its name."""
        if self._closed:
            return
        self._closed = True
        try:
            self._wait()
            with self.output_of.errors():
                self._encoder.finish()
                self.output_of.commit()
        except BaseException:
            self._encoder.discard()
            self.output_of.abort()
            raise

    def abort(self) -> None:
        """Gives the output up; nothing stays under the name of the file."""
        if not self._closed:
            self._closed = True
            try:
                with contextlib.suppress(Exception):  # the caller's error is the one to report
                    self._wait()
            finally:
                self._encoder.discard()
                self.output_of.abort()

    def __enter__(self) -> ResultWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def _checked_length(self, arrays: Mapping[str, Array]) -> int:
        for name, array in arrays.items():
            if array.ndim == 0 or array.dtype.kind not in "fiub":
                raise ValueError(f"column {name!r} is {array.dtype} of shape {array.shape}, expected (rows, ...)")
        lengths = {name: len(array) for name, array in arrays.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"columns of different lengths: {lengths}")
        signature: _Signature = {name: (array.shape[1:], array.dtype.kind) for name, array in arrays.items()}
        if self._signature is None:
            self._signature = signature
        if signature != self._signature or list(signature) != list(self._signature):
            raise ValueError(f"columns {signature} differ from the first chunk's {self._signature}")
        return next(iter(lengths.values()))
