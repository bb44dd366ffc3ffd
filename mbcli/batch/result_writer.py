"""Writes the results of a batch, chunk by chunk: JSON lines, CSV, NPZ or HDF5, to a file or to stdout.

Every chunk is a dictionary of columns, arrays of shape (rows, ...) with the same keys, types and trailing
shapes from chunk to chunk. Nothing of a chunk stays in memory after it is written.

    jsonl   one object per row, arrays as nested lists; numbers that are not finite are null, with one warning on stderr
    csv     one line per row under a header; matrices row by row: M[0,0], M[0,1], ...
    npz     one array per column, and `metadata` as a JSON string
    hdf5    /results/NAME, grown with each chunk; metadata as attributes of the file

A file has a temporary name in the same directory until it is complete, so that its own name never stands for
half a result.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import secrets
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch import FORMAT_OF_SUFFIX, FORMATS
from mbcli.common.argument_names import argument
from mbcli.errors import OutputError

if TYPE_CHECKING:
    from types import TracebackType
    from typing import TypeAlias, TypeVar

    from mbcli.math.array_types import Array

    Result = TypeVar("Result")
    _Signature: TypeAlias = dict[str, tuple[tuple[int, ...], str]]  # trailing shape and kind of type of each column

FORMAT_NAME = "mbcli-results"
FORMAT_VERSION = "1.0"
BINARY_FORMATS = ("npz", "hdf5")
STANDARD_OUTPUT = ("-", "/dev/stdout")
HDF5_CHUNK_SIZE = 1 << 18
OLDEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


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
      format: "jsonl", "csv", "npz" or "hdf5"; by default the suffix of the path decides, and stdout is jsonl.
      force: overwrite a file that exists.
      metadata: statements about the whole batch (text, numbers, lists, dictionaries); JSON lines and
        CSV have no place for it.
      component_names: for CSV and HDF5, the names of the components of a column, in row-major order.
      component_units: for HDF5, the unit of a column, or those of its components.
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
    output = _output(path, format, force)
    metadata = dict(metadata or {})
    try:
        with output.errors():
            if format == "jsonl":
                encoder: _Encoder = _JsonLines(output.stream, output.name, warn or _warn_on_stderr)
            elif format == "csv":
                encoder = _Csv(output.stream, dict(component_names or {}))
            elif format == "npz":
                encoder = _Npz(output.stream, metadata, output.directory)
            else:
                encoder = _Hdf5(output.stream, metadata, dict(component_names or {}), dict(component_units or {}))
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

    def __init__(self, output: _Output, encoder: _Encoder) -> None:
        self._output = output
        self._encoder = encoder
        self._signature: _Signature | None = None
        self._closed = False
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
        with self._output.errors():
            if is_first:
                self._encoder.begin(arrays)
            self._encoder.rows(arrays, self.row_count)
            self._output.flush()
        self.row_count += rows

    def close(self) -> None:
        """Completes the output and gives the file its name."""
        if self._closed:
            return
        self._closed = True
        try:
            with self._output.errors():
                self._encoder.finish()
                self._output.commit()
        except BaseException:
            self._encoder.discard()
            self._output.abort()
            raise

    def abort(self) -> None:
        """Gives the output up; nothing stays under the name of the file."""
        if not self._closed:
            self._closed = True
            self._encoder.discard()
            self._output.abort()

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


# --- outputs --------------------------------------------------------------------------------------


class _Output:
    """A binary stream that is completed by commit or given up by abort."""

    stream: IO[bytes]
    name: str
    directory: str | None = None

    def commit(self) -> None:
        """Completes the output."""
        raise NotImplementedError

    def abort(self) -> None:
        """Leaves nothing of it, if that can be."""
        raise NotImplementedError

    def flush(self) -> None:
        self.stream.flush()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Names the output in errors of the system; a closed pipe is the caller's to handle."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputError(f"{self.name}: error: cannot write: {_reason(error)}") from None


def _reason(error: OSError) -> str:
    return error.strerror or str(error).partition("\n")[0]


class _StandardOutput(_Output):
    def __init__(self) -> None:
        sys.stdout.flush()
        self.stream = sys.stdout.buffer
        self.name = "<stdout>"

    def commit(self) -> None:
        self.flush()

    def abort(self) -> None:
        pass


class _Device(_Output):
    """A pipe or device that has a name in the file system; it is not replaced but written to."""

    def __init__(self, path: str) -> None:
        self.name = path
        with self.errors():
            self.stream = open(path, "wb")  # noqa: SIM115

    def commit(self) -> None:
        self.stream.close()

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()


class _File(_Output):
    """A file under a temporary name beside its own, which it gets by commit."""

    def __init__(self, path: str, force: bool) -> None:
        self.name = path
        self._force = force
        self._path = os.path.realpath(path)
        self.directory, base = os.path.split(self._path)
        self._temporary = os.path.join(self.directory, f".{base}.{secrets.token_hex(4)}.partial")
        self._refuse_existing()
        with self.errors():
            self.stream = open(self._temporary, "x+b")  # noqa: SIM115

    def flush(self) -> None:
        pass

    def commit(self) -> None:
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.stream.close()
        self._refuse_existing()
        os.replace(self._temporary, self._path)

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()
        with contextlib.suppress(OSError):
            os.unlink(self._temporary)

    def _refuse_existing(self) -> None:
        if os.path.isdir(self._path):
            raise OutputError(f"{self.name}: error: is a directory")
        if not self._force and os.path.lexists(self._path):
            raise OutputError(f"{self.name}: error: exists already; {argument('force', True)} overwrites it")


class _Spooled(_Output):
    """Collects in an unnamed temporary file the bytes that a pipe or device gets at the end: they cannot seek."""

    def __init__(self, target: _Output) -> None:
        self.name, self._target = target.name, target
        self.stream = tempfile.TemporaryFile()  # noqa: SIM115

    def flush(self) -> None:
        pass

    def commit(self) -> None:
        self.stream.seek(0)
        shutil.copyfileobj(self.stream, self._target.stream)
        self.stream.close()
        self._target.commit()

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()
        self._target.abort()


def _output(path: str | None, format: str, force: bool) -> _Output:
    if path is not None and (os.path.isdir(path) or os.path.isfile(path) or not os.path.exists(path)):
        return _File(path, force)
    output: _Output = _StandardOutput() if path is None else _Device(path)
    return _Spooled(output) if format in BINARY_FORMATS else output


# --- formats --------------------------------------------------------------------------------------


class _Encoder:
    """Writes chunks to a stream in one format."""

    def begin(self, arrays: Mapping[str, Array]) -> None:
        """Before the first chunk, whose columns these are."""
        raise NotImplementedError

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        """One chunk, whose first row has that number in the batch."""
        raise NotImplementedError

    def finish(self) -> None:
        """After the last chunk."""

    def discard(self) -> None:
        """Lets go of all but the stream."""


class _JsonLines(_Encoder):
    def __init__(self, stream: IO[bytes], output_name: str, warn: Callable[[str], None]) -> None:
        self._stream, self._output_name, self._warn = stream, output_name, warn
        self._encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode
        self._warned = False

    def begin(self, arrays: Mapping[str, Array]) -> None:
        self._keys = [self._encode(name) for name in arrays]

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        columns = [self._without_not_finite(name, array, first_row) for name, array in arrays.items()]
        for row in zip(*columns, strict=True):
            cells = (
                f"{key}:{self._encode(value.tolist() if isinstance(value, np.ndarray) else value)}"
                for key, value in zip(self._keys, row, strict=True)
            )
            self._stream.write(("{" + ",".join(cells) + "}\n").encode())

    def _without_not_finite(self, name: str, array: Array, first_row: int) -> Any:
        """Rows to encode: arrays, or plain values if a row is one number; None if it is not finite."""
        finite = np.isfinite(array)
        if not finite.all():
            if not self._warned:
                self._warned = True
                row = first_row + int(np.argwhere(~finite)[0][0])
                text = f"row {row}: {name} is not finite; such values are written as null"
                self._warn(f"{self._output_name}: warning: {text}")
            array = array.astype(object)
            array[~finite] = None
        return array.tolist() if array.ndim == 1 else array


class _Csv(_Encoder):
    def __init__(self, stream: IO[bytes], component_names: dict[str, Sequence[str]]) -> None:
        self._stream, self._component_names = stream, component_names
        self._encode = json.JSONEncoder(separators=(",", ":")).encode

    def begin(self, arrays: Mapping[str, Array]) -> None:
        header = [cell for name, array in arrays.items() for cell in self._names(name, array.shape[1:])]
        if len(set(header)) < len(header):
            raise ValueError("two components have the same name in the header")
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(header)
        self._stream.write(text.getvalue().encode())

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        flat = [array.reshape(len(array), math.prod(array.shape[1:])) for array in arrays.values()]
        for parts in zip(*flat, strict=True):
            # A list of numbers is the same text in JSON and in CSV, and JSON is encoded in C.
            cells = (self._encode(part.tolist())[1:-1] for part in parts if part.size)
            self._stream.write((",".join(cells) + "\n").encode())

    def _names(self, name: str, shape: tuple[int, ...]) -> Sequence[str]:
        if name not in self._component_names:
            return component_names_of(name, shape)
        names = self._component_names[name]
        if len(names) != math.prod(shape):
            raise ValueError(f"{len(names)} component names for column {name!r} of shape {shape}")
        return names


def component_names_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """M[0,0], M[0,1], ...; the name alone of a number."""
    return [f"{name}[{','.join(map(str, index))}]" if shape else name for index in np.ndindex(shape)]


def _text_type(size: int) -> Any:
    import h5py

    return h5py.string_dtype("utf-8", max(size, 1))


class _Npz(_Encoder):
    """Keeps the rows of each column in an unnamed temporary file, and makes the archive at the end."""

    def __init__(self, stream: IO[bytes], metadata: dict[str, Any], directory: str | None) -> None:
        self._stream, self._directory = stream, directory
        self._metadata = json.dumps(metadata)
        self._spools: dict[str, IO[bytes]] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._types: dict[str, np.dtype[Any]] = {}
        self._row_count = 0

    def begin(self, arrays: Mapping[str, Array]) -> None:
        if "metadata" in arrays:
            raise ValueError("a column cannot be called 'metadata'")
        for name, array in arrays.items():
            self._spools[name] = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115
            self._shapes[name] = array.shape[1:]
            self._types[name] = array.dtype

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        for name, array in arrays.items():
            self._spools[name].write(np.ascontiguousarray(array, self._types[name]).data)
        self._row_count += len(next(iter(arrays.values())))

    def finish(self) -> None:
        with zipfile.ZipFile(self._stream, "w", zipfile.ZIP_STORED) as archive:
            for name, spool in self._spools.items():
                spool.seek(0)
                with self._member(archive, name) as member:
                    self._write_header(member, name)
                    shutil.copyfileobj(spool, member)
                spool.close()
            with self._member(archive, "metadata") as member:
                np.lib.format.write_array(member, np.array(self._metadata), allow_pickle=False)

    def discard(self) -> None:
        for spool in self._spools.values():
            with contextlib.suppress(OSError):
                spool.close()

    def _member(self, archive: zipfile.ZipFile, name: str) -> IO[bytes]:
        # A fixed date: equal results give equal files.
        return archive.open(zipfile.ZipInfo(f"{name}.npy", OLDEST_ZIP_DATE), "w", force_zip64=True)

    def _write_header(self, member: IO[bytes], name: str) -> None:
        description = np.lib.format.dtype_to_descr(self._types[name])
        shape = (self._row_count, *self._shapes[name])
        header = {"descr": description, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, header)


class _Hdf5(_Encoder):
    def __init__(
        self,
        stream: IO[bytes],
        metadata: dict[str, Any],
        names: dict[str, Sequence[str]],
        units: dict[str, str | Sequence[str]],
    ) -> None:
        import h5py

        self._names, self._units = names, units

        attributes = {name: _attribute(value) for name, value in metadata.items()}
        self._stream = _ErrorKeeper(stream)
        self._file = h5py.File(self._stream, "w", libver=("v110", "v110"))
        self._file.attrs["format"] = FORMAT_NAME
        self._file.attrs["format_version"] = FORMAT_VERSION
        self._file.attrs.update(attributes)
        self._group = self._file.create_group("results")

    def begin(self, arrays: Mapping[str, Array]) -> None:
        for name, array in arrays.items():
            row_size = array.dtype.itemsize * max(1, math.prod(array.shape[1:]))
            rows = max(1, HDF5_CHUNK_SIZE // row_size)
            dataset = self._group.create_dataset(
                name.replace("/", "_"),
                shape=(0, *array.shape[1:]),
                maxshape=(None, *array.shape[1:]),
                chunks=(rows, *(max(1, size) for size in array.shape[1:])),
                dtype=array.dtype,
            )
            self._describe(dataset, name, array.shape[1:])

    def _describe(self, dataset: Any, name: str, shape: tuple[int, ...]) -> None:
        """`names` and `units` as in logs: one a component, one text if a row is one number."""
        count = math.prod(shape)
        names = self._names.get(name, component_names_of(name, shape))
        units = self._units.get(name, ())
        units = [units] * count if isinstance(units, str) else list(units)
        if len(units) not in (0, count):  # of a quantity that has fewer columns here
            units = []
        for key, texts in (("names", list(names)), ("units", units)):
            if texts:
                data = [text.encode() for text in texts]
                value: Any = np.array(data) if shape else np.bytes_(data[0])
                dataset.attrs.create(key, value, dtype=_text_type(max(map(len, data))))

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        with self._stream.raising():
            for name, array in arrays.items():
                dataset = self._group[name.replace("/", "_")]
                dataset.resize(first_row + len(array), axis=0)
                dataset[first_row:] = array

    def finish(self) -> None:
        with self._stream.raising():
            self._file.close()

    def discard(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            self._file.close()


class _ErrorKeeper:
    """A stream that never fails but keeps its first error.

    HDF5 cannot let go of a file on a full disk: it tries to write again when the file is closed, and again when
    the last object of it is collected, when Python can only print the error.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._error: OSError | None = None

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """Raises the kept error at the end, in place of that of HDF5."""
        try:
            yield
        finally:
            if self._error is not None:
                raise self._error

    def write(self, data: Any) -> int:
        self._try(self._stream.write, data)
        return len(data)

    def read(self, size: int) -> bytes:
        return self._try(self._stream.read, size) or b""

    def readinto(self, buffer: Any) -> int:
        stream: Any = self._stream  # a file: typing.IO is without this method
        return self._try(stream.readinto, buffer) or 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._try(self._stream.seek, offset, whence) or 0

    def tell(self) -> int:
        return self._try(self._stream.tell) or 0

    def truncate(self, size: int) -> int:
        return self._try(self._stream.truncate, size) or 0

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, call: Callable[..., Result], *arguments: Any) -> Result | None:
        if self._error is None:
            try:
                return call(*arguments)
            except OSError as error:
                self._error = error
        return None


def _attribute(value: Any) -> Any:
    """Text, a number or a list of text as HDF5 knows them; all else as JSON."""
    if isinstance(value, str | bool | int | float | np.ndarray):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return list(value)
    return json.dumps(value)
