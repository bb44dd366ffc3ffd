"""Results as arrays: NPZ and HDF5."""

from __future__ import annotations

import contextlib
import io
import json
import math
import shutil
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch.result_encoder import Encoder, column_units, component_names_of
from mbcli.common.write_errors import ErrorKeeper

if TYPE_CHECKING:
    from mbcli.math.array_types import Array

FORMAT_NAME = "mbcli-results"
FORMAT_VERSION = "1.0"
HDF5_CHUNK_SIZE = 1 << 18
OLDEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)


class Npz(Encoder):
    """Writes the rows of the first column into the archive, and keeps those of others in unnamed temporary files.

    How many rows there are, and so what the header of the first column says, is known at the end.

    Args:
        stream: of bytes, which can seek.
        metadata: statements about all rows.
        directory: for the temporary files.
    """

    def __init__(self, stream: IO[bytes], metadata: dict[str, Any], directory: str | None) -> None:
        self._stream, self._directory = stream, directory
        self._metadata = json.dumps(metadata)
        self._archive = zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED)
        self._first: tuple[zipfile.ZipInfo, IO[bytes]] | None = None
        self._files: dict[str, IO[bytes]] = {}  # the first member, and the temporary files, by the name of the column
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._types: dict[str, np.dtype[Any]] = {}
        self._row_count = 0

    def begin(self, arrays: Mapping[str, Array]) -> None:
        if "metadata" in arrays:
            raise ValueError("a column cannot be called 'metadata'")
        self._shapes = {name: array.shape[1:] for name, array in arrays.items()}
        self._types = {name: array.dtype for name, array in arrays.items()}
        first, *others = arrays
        info = self._new_info(first)
        self._files[first] = member = self._archive.open(info, "w", force_zip64=True)
        self._first = info, member
        member.write(self._header(first, 0))
        if others:
            import tempfile  # late: with `random`, more than a small batch takes

            for name in others:
                self._files[name] = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115

    def rows(self, arrays: Mapping[str, Array], first_row: int) -> None:
        for name, array in arrays.items():
            self._files[name].write(np.ascontiguousarray(array, self._types[name]).data)
        self._row_count += len(next(iter(arrays.values())))

    def finish(self) -> None:
        names = list(self._files)
        if self._first is not None:
            self._finish_first(names[0], *self._first)
        for name in names[1:]:
            with self._files[name] as file, self._archive.open(self._new_info(name), "w", force_zip64=True) as member:
                file.seek(0)
                member.write(self._header(name, self._row_count))
                shutil.copyfileobj(file, member)
        with self._archive.open(self._new_info("metadata"), "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.array(self._metadata), allow_pickle=False)
        self._archive.close()

    def _finish_first(self, name: str, info: zipfile.ZipInfo, member: IO[bytes]) -> None:
        """Puts the number of rows into the header, and the checksum of what it becomes into the archive."""
        member.close()
        before, header = self._header(name, 0), self._header(name, self._row_count)
        assert len(header) == len(before)  # numpy leaves room for numbers of rows
        info.CRC ^= _followed(zlib.crc32(before) ^ zlib.crc32(header), info.file_size - len(header))
        end, local = self._stream.tell(), info.FileHeader(zip64=True)
        self._stream.seek(info.header_offset)
        self._stream.write(local + header)
        self._stream.seek(end)

    def discard(self) -> None:
        for file in self._files.values():
            with contextlib.suppress(OSError, ValueError):
                file.close()
        with contextlib.suppress(OSError, ValueError):
            self._archive.close()

    def _new_info(self, name: str) -> zipfile.ZipInfo:
        # A fixed date: equal results give equal files.
        return zipfile.ZipInfo(f"{name}.npy", OLDEST_ZIP_DATE)

    def _header(self, name: str, row_count: int) -> bytes:
        description = np.lib.format.dtype_to_descr(self._types[name])
        shape, text = (row_count, *self._shapes[name]), io.BytesIO()
        np.lib.format.write_array_header_1_0(text, {"descr": description, "fortran_order": False, "shape": shape})
        return text.getvalue()


def _followed(difference: int, count: int) -> int:
    """The difference of the CRC-32 of two texts of one length when the same `count` bytes follow both.

    That is a product of polynomials over GF(2), difference * x^(8 count), modulo the one of CRC-32; bit 31 is the 1.
    """
    power = 1 << 31 - 8
    while count:
        if count & 1:
            difference = _product(difference, power)
        power, count = _product(power, power), count >> 1
    return difference


def _product(a: int, b: int) -> int:
    """Of two such polynomials."""
    product = 0
    while a:
        if a & 1 << 31:
            product ^= b
        a, b = a << 1 & 0xFFFFFFFF, b >> 1 ^ (0xEDB88320 if b & 1 else 0)
    return product


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
        self._stream = ErrorKeeper(stream)
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


def _attribute(value: Any) -> Any:
    """Text, a number or a list of text as HDF5 knows them; all else as JSON."""
    if isinstance(value, str | bool | int | float | np.ndarray):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return list(value)
    return json.dumps(value)
