"""Results as arrays: NPZ and HDF5."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch.result_encoder import Encoder, column_units, component_names_of

if TYPE_CHECKING:
    from typing import TypeVar

    from mbcli.math.array_types import Array

    Result = TypeVar("Result")

FORMAT_NAME = "mbcli-results"
FORMAT_VERSION = "1.0"
HDF5_CHUNK_SIZE = 1 << 18
OLDEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


class Npz(Encoder):
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


class Hdf5(Encoder):
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
        names = self._names.get(name, component_names_of(name, shape))
        units = column_units(self._units, name, math.prod(shape))
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


def _text_type(size: int) -> Any:
    import h5py

    return h5py.string_dtype("utf-8", max(size, 1))


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
