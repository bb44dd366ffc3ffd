"""GuardedFile: the one way to the contents of a log that is read. The file is untrusted input.

- What is read lies in this file: a soft or external link, a virtual dataset and external storage are damage.
- Sizes are looked at before contents. A dataset claims at most what its stored bytes can inflate to, and stored bytes
  are at most those of the file; what is read at once is bounded.
- Types are numbers, texts of fixed length, and records of these. References and texts of any length, whose sizes HDF5
  learns while it reads them, are damage; filters are those that logs have.
- Whatever h5py raises becomes a DamagedLogError.
"""

from __future__ import annotations

import itertools
import os
import re
import time
import zlib
from contextlib import contextmanager, suppress
from math import prod
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from mbcli.errors import MbcliError, ModelError, ResourceError
from mbcli.log.opened_file import READ_ATTEMPTS, open_file
from mbcli.log.stored_texts import text_of, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from numpy.typing import NDArray

    from mbcli.math.array_types import Array

PAUSE = 0.001  # [s] between attempts to read a chunk that its writer may be about to replace
CHECKSUM_BYTES = 4  # after the numbers of a chunk
INFLATION = 1032  # deflate makes of a byte at most so many
FREE_BYTES = 1 << 20  # that a dataset may claim without storing them: rows that a killed writer had made room for
LARGEST_CHUNK = 1 << 28  # [bytes]
LARGEST_AT_ONCE = 1 << 28  # [bytes], unless the file stores a part of them that is not small:
PART_STORED = 16
MOST_DEPTH, MOST_OBJECTS = 16, 20_000  # of groups and datasets in a file
DEFLATE, SHUFFLE, FLETCHER32 = 1, 2, 3  # numbers of HDF5's filters
SIGNATURE = b"\x89HDF\r\n\x1a\n"
OTHERS = {  # what files of other kinds begin with: what is said of them
    b"<": "; it is XML: mbcli view shows a model",
    b"\x89MCAP": "; it is MCAP: --states and identify --data read its messages of joints",
    b"SQLite f": "; it is SQLite: --states and identify --data read bags of ROS 2",
}


class DamagedLogError(ModelError):
    """A part of a log cannot be read, or is not of the format. `part`: the message without the name of the log."""

    def __init__(self, path: str, part: str) -> None:
        super().__init__(f"{path}: error: is damaged, or not an mbcli log: {part}")
        self.part = part


class DamagedRowsError(DamagedLogError):
    """Rows start to stop of a dataset have a wrong checksum."""

    def __init__(self, path: str, dataset: str, start: int, stop: int) -> None:
        part = f"{dataset}, rows {start} to {stop - 1}: wrong checksum"
        ModelError.__init__(self, f"{path}: error: is damaged: {part}")
        self.part = part


class GuardedFile:
    """An HDF5 file, open for reading; a context manager.

    Args:
        path: of a log that is complete, is being written, or whose writer was killed.
        name: in messages; default: path.

    Raises:
        ResourceError: the file is missing or cannot be read.
        DamagedLogError: it is not an HDF5 file that can be opened. Every method raises it for damage.
    """

    def __init__(self, path: str | os.PathLike[str], name: str | None = None) -> None:
        self.path = os.fspath(path)
        self.name = self.path if name is None else name
        self._listed: dict[str, list[str]] = {}
        self._stored: dict[str, int] = {}  # [bytes] of datasets that were asked for
        self._path_of: dict[int, str] = {}  # of what was found, by its place in the file
        self._handle = self._open_handle()
        try:
            self._file = self._open()
        except BaseException:
            self._handle.close()
            raise

    def _open_handle(self) -> BinaryIO:
        """The file itself: the system's own words for what is missing or forbidden, and its size."""
        try:
            if not os.path.isfile(self.path) and os.path.exists(self.path):
                raise ResourceError(f"{self.name}: error: cannot be read: is not a file")
            handle = open(self.path, "rb")  # noqa: SIM115
        except OSError as error:
            raise ResourceError(f"{self.name}: error: cannot be read: {error.strerror}") from None
        start = handle.read(len(SIGNATURE))
        if start != SIGNATURE:
            handle.close()
            known = next((what for sign, what in OTHERS.items() if start.startswith(sign)), "")
            raise ModelError(f"{self.name}: error: is not an HDF5 file{known}")
        return handle

    def _open(self) -> h5py.File:
        try:
            return open_file(self.path)
        except Exception as error:
            raise ModelError(f"{self.name}: error: cannot be opened: {reason_of(error)}") from None

    def close(self) -> None:
        """Closes the file; what was read stays."""
        with suppress(Exception):
            self._file.close()
        self._handle.close()

    def __enter__(self) -> GuardedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def bytes(self) -> int:
        """Size of the file."""
        return os.fstat(self._handle.fileno()).st_size

    def damaged(self, part: str) -> DamagedLogError:
        """The error for a part of the file."""
        return DamagedLogError(self.name, part)

    @contextmanager
    def reading(self, part: str) -> Iterator[None]:
        """Whatever h5py and numpy make of damage becomes a DamagedLogError."""
        try:
            yield
        except MbcliError:
            raise
        except Exception as error:
            reason = reason_of(error)
            raise self.damaged(f"{part}: {reason}" if part else reason) from None

    # ------------------------------------------------------------------------------------------ what is there

    def names(self, path: str = "") -> list[str]:
        """What a group has, in order; [] if there is no such group."""
        if path not in self._listed:
            group = self._find(path)
            if group is not None and not isinstance(group, h5py.Group):
                raise self.damaged(f"{path} is not a group")
            with self.reading(path):
                names = [] if group is None else sorted(itertools.islice(group, MOST_OBJECTS + 1))
                for name in names:
                    name.encode("utf-8")
            if len(names) > MOST_OBJECTS:
                raise self.damaged(f"{path or 'it'} has more than {MOST_OBJECTS} parts")
            self._listed[path] = names
        return self._listed[path]

    def has(self, path: str) -> bool:
        """Whether something is there, a link or not."""
        group, _, name = path.rpartition("/")
        return name in self.names(group)

    def datasets(self, path: str = "") -> Iterator[str]:
        """The paths of all datasets in a group and the groups in it, in order."""
        yield from self._datasets_below(path, 0, [0])

    def _datasets_below(self, path: str, depth: int, count: list[int]) -> Iterator[str]:
        for name in self.names(path):
            count[0] += 1
            below = f"{path}/{name}" if path else name
            if depth > MOST_DEPTH or count[0] > MOST_OBJECTS:
                raise self.damaged(f"{below}: groups in groups without an end")
            if isinstance(self._find(below), h5py.Group):
                yield from self._datasets_below(below, depth + 1, count)
            else:
                yield below

    def is_group(self, path: str) -> bool:
        """False for a dataset, and for nothing."""
        return isinstance(self._find(path), h5py.Group)

    def dataset(self, path: str) -> StoredDataset:
        """A dataset of this very file."""
        item = self._find(path)
        if item is None:
            raise self.damaged(f"{path} is missing")
        if not isinstance(item, h5py.Dataset):
            raise self.damaged(f"{path} is not a dataset")
        return StoredDataset(self, path, item)

    def _find(self, path: str) -> h5py.Group | h5py.Dataset | None:
        """The group or dataset at a path; None if it is missing."""
        item, here = self._file, ""
        for name in path.split("/") if path else ():
            if not isinstance(item, h5py.Group) or name not in self.names(here):
                return None
            here = f"{here}/{name}" if here else name
            with self.reading(here):
                is_link = not isinstance(item.get(name, getlink=True), h5py.HardLink)
                item = None if is_link else item[name]
            if is_link:
                raise self.damaged(f"{here} is a link")
            self._require_one_name(item, here)
        return item

    def _require_one_name(self, item: h5py.Group | h5py.Dataset, path: str) -> None:
        """DamagedLogError for what has two paths: a circle of groups, or one dataset in place of many."""
        with self.reading(path):
            root, place = (h5py.h5o.get_info(each.id).addr for each in (self._file, item))
        known = "the root" if place == root else self._path_of.setdefault(place, path)
        if known != path:
            raise self.damaged(f"{path} is a link: it is {known}")

    # ------------------------------------------------------------------------------------------ attributes

    def attributes(self, path: str = "") -> list[str]:
        """Names of the attributes of a group or dataset, in order."""
        item = self._found(path)
        with self.reading(path):
            return sorted(itertools.islice(item.attrs, MOST_OBJECTS))

    def attribute(self, name: str, path: str = "") -> Any:
        """The value: a number or bytes, or an array of these. DamagedLogError if it is missing."""
        return self._attribute(name, path)[0]

    def typed_attribute(self, name: str, path: str = "") -> tuple[Any, np.dtype]:
        """The value and its type in the file."""
        return self._attribute(name, path)

    def _attribute(self, name: str, path: str) -> tuple[Any, np.dtype]:
        item, part = self._found(path), f"{path}: attribute {name}".removeprefix(": ")
        with self.reading(part):
            if name not in item.attrs:
                raise self.damaged(f"{part} is missing")
            stored = item.attrs.get_id(name)
            self.require_plain(stored.dtype, part)
            if prod(stored.shape) * stored.dtype.itemsize > self.bytes:
                raise self.damaged(f"{part} claims more bytes than the file has")
            return item.attrs[name], stored.dtype

    def has_attribute(self, name: str, path: str = "") -> bool:
        """Whether a group or dataset has it."""
        return name in self.attributes(path)

    def text(self, name: str, path: str = "") -> str:
        """The one text of an attribute."""
        value = self.attribute(name, path)
        if not isinstance(value, (bytes, str)):
            raise self.damaged(f"{path}: attribute {name} is not a text".removeprefix(": "))
        return text_of(value)

    def texts(self, name: str, path: str = "") -> tuple[str, ...]:
        """The texts of an attribute."""
        value = self.attribute(name, path)
        with self.reading(f"{path}: attribute {name}".removeprefix(": ")):
            return texts_of(value)

    def require_stored(self, path: str, size: int) -> None:
        """DamagedLogError if datasets store more bytes together than the file has: they share them."""
        self._stored[path] = size
        if sum(self._stored.values()) > self.bytes:
            raise self.damaged(f"{path} and others store more than the {self.bytes} bytes of the file")

    def _found(self, path: str) -> h5py.Group | h5py.Dataset:
        item = self._find(path)
        if item is None:
            raise self.damaged(f"{path} is missing")
        return item

    def require_plain(self, dtype: np.dtype, part: str) -> None:
        """DamagedLogError unless a type is that of numbers, of texts of fixed length, or of records of these."""
        members = [member for member, *_ in dtype.fields.values()] if dtype.fields is not None else [dtype]
        if not all(
            member.kind in "fiubS" and (member.kind == "S" or member.itemsize <= 8) and member.base is member
            for member in members
        ):
            raise self.damaged(f"{part} has type {dtype}")


class StoredDataset:
    """A dataset of a GuardedFile.

    Attributes:
        path; shape; dtype; chunks: of a dataset in pieces, else None; stored: [bytes] in the file.

    DamagedLogError if it is not one that logs have, or claims more than it stores.
    """

    def __init__(self, file: GuardedFile, path: str, dataset: Any) -> None:
        self.file, self.path, self._dataset = file, path, dataset
        with file.reading(path):
            self.dtype, self.chunks = dataset.dtype, dataset.chunks
            self._look()
            properties = dataset.id.get_create_plist()
            filters = [properties.get_filter(k)[0] for k in range(properties.get_nfilters())]
            plain = properties.get_layout() in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS, h5py.h5d.CHUNKED)
            if dataset.external or dataset.is_virtual or not plain:
                raise file.damaged(f"{path} is not stored in this file")
            if len(set(filters)) != len(filters) or not set(filters) <= {DEFLATE, SHUFFLE, FLETCHER32}:
                raise file.damaged(f"{path} has filters that logs do not have")
            self.compressed, self.checked = DEFLATE in filters, FLETCHER32 in filters
            self.shuffled, self.grows = SHUFFLE in filters, bool(self.shape) and dataset.maxshape[0] is None
            self.maxshape, self.fillvalue = dataset.maxshape, None if dataset.dtype.names else dataset.fillvalue
        file.require_plain(self.dtype, path)
        self._check_size()

    def _look(self) -> None:
        """Shape and stored bytes, which grow while a run writes."""
        self.shape = tuple(self._dataset.shape)
        try:
            self.stored = int(self._dataset.id.get_storage_size())
            self._is_known = True
        except Exception:  # the list of its pieces is damaged: what can be read of it still is
            self.stored = min(self.dtype.itemsize * prod(self.shape), self.file.bytes)
            self._is_known = False

    def _check_size(self) -> None:
        if self._is_known:
            self.file.require_stored(self.path, self.stored)
        self.require_bytes(self.nbytes)

    def _most_bytes(self) -> int:
        return INFLATION * self.stored + FREE_BYTES

    def require_bytes(self, size: int) -> None:
        """DamagedLogError if so many bytes of numbers are more than the dataset can have."""
        if size > self._most_bytes():
            raise self.file.damaged(f"{self.path} claims {size} bytes, of which the file stores {self.stored}")

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def row_bytes(self) -> int:
        """[bytes] of a row."""
        return self.dtype.itemsize * prod(self.shape[1:])

    @property
    def nbytes(self) -> int:
        """[bytes] of all."""
        return self.dtype.itemsize * prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise self.file.damaged(f"{self.path} has no rows")
        return self.shape[0]

    def refresh(self) -> None:
        """Takes up what a running writer has added."""
        with self.file.reading(self.path):
            self._dataset.refresh()
            self._look()
        self._check_size()

    def attribute(self, name: str) -> Any:
        """As GuardedFile.attribute()."""
        return self.file.attribute(name, self.path)

    # ------------------------------------------------------------------------------------------ contents

    def content(self, largest: int = LARGEST_AT_ONCE) -> Any:
        """All of it: an array, or a number or bytes; DamagedLogError if it has more bytes than the largest."""
        if self.nbytes > largest:
            raise self.file.damaged(f"{self.path} has {self.nbytes} bytes, the most are {largest}")
        if self.shape:
            return self.rows(0, len(self))
        with self.file.reading(self.path):
            return self._dataset[()]

    def rows(self, first: int, last: int, *, growing: bool = False) -> NDArray[Any]:
        """Rows first to last.

        growing: whether the writer has not finished: then the last chunk counts whatever its checksum says.

        DamagedRowsError names the first rows whose checksum is wrong.
        """
        first, last = min(max(first, 0), len(self)), min(max(last, 0), len(self))
        self._check_region(first, last)
        with self.file.reading(self.path):
            try:
                return self._dataset[first:last]
            except OSError as error:
                if (
                    not re.search("filter|checksum", str(error)) or self.chunks is None
                ):  # not the checksum, but the disk
                    raise
            return self._rows_of_whole_chunks(first, last, growing)

    def part(self, index: int, rows: int) -> NDArray[Any]:
        """The first rows of element `index` of the first dimension."""
        return self.block(slice(index, index + 1), rows)[0]

    def block(self, chosen: slice, rows: int, first: int = 0) -> NDArray[Any]:
        """Rows `first` to `rows`, along the second dimension, of some elements of the first."""
        start, stop, _ = chosen.indices(len(self))
        self._check_region(start, stop)
        with self.file.reading(self.path):
            return self._dataset[start:stop, first:rows]

    def _rows_of_whole_chunks(self, first: int, last: int, growing: bool) -> Array:
        size = self.chunks[0]
        tail = (len(self) - 1) // size * size
        if growing and last > tail:
            before = [self.rows(first, tail)] if first < tail else []
            return np.concatenate([*before, self._last_chunk(tail)[max(first - tail, 0) : last - tail]])
        for start in range(first - first % size, last, size):
            stop = min(start + size, len(self))
            try:
                self._dataset[start:stop]
            except OSError:
                raise DamagedRowsError(self.file.name, self.path, start, stop) from None
        return self._dataset[first:last]  # a running writer has completed it meanwhile

    def _last_chunk(self, start: int) -> Array:
        """The last chunk of a dataset that is being written, or whose writer died while it replaced that chunk.

        The rows that count are the same in the old and the new chunk, and of the two one dataset at most has some of
        each; only the checksum then is wrong.
        """
        for _ in range(READ_ATTEMPTS):
            try:
                return self._dataset[start:]
            except OSError:
                time.sleep(PAUSE)
        _, content = self._dataset.id.read_direct_chunk((start, *(0,) * (self.ndim - 1)))
        return np.frombuffer(content[:-CHECKSUM_BYTES], self.dtype).reshape(self.chunks)

    def _check_region(self, first: int, last: int) -> None:
        """Sizes of rows that are about to be read."""
        size = max(last - first, 0) * self.row_bytes
        if size > max(LARGEST_AT_ONCE, PART_STORED * self.stored):
            raise self.file.damaged(f"{self.path} has {size} bytes: too many to be read at once")
        if self.chunks is None or not size:
            return
        chunk = prod(self.chunks) * self.dtype.itemsize
        if chunk > min(LARGEST_CHUNK, self._most_bytes()):
            raise self.file.damaged(f"{self.path} has pieces of {chunk} bytes")
        if self.compressed and self.stored * INFLATION > LARGEST_CHUNK:
            with self.file.reading(self.path):
                self._check_inflation(first, last, chunk)

    def _check_inflation(self, first: int, last: int, size: int) -> None:
        """DamagedLogError if a stored piece inflates to more than a piece has: HDF5 would go on to its end."""
        starts = [range(first - first % self.chunks[0], last, self.chunks[0])]
        starts += [range(0, extent, step) for extent, step in zip(self.shape[1:], self.chunks[1:], strict=True)]
        for place in itertools.product(*starts):
            info = self._dataset.id.get_chunk_info_by_coord(place)
            if info.byte_offset is None or info.size * INFLATION <= LARGEST_CHUNK:
                continue
            _, content = self._dataset.id.read_direct_chunk(place)
            inflater, total = zlib.decompressobj(), 0
            while content and not inflater.eof and total <= size + CHECKSUM_BYTES:
                total += len(inflater.decompress(content, FREE_BYTES))
                content = inflater.unconsumed_tail
            if total > size + CHECKSUM_BYTES:
                raise self.file.damaged(f"{self.path} has a piece that inflates to more than its {size} bytes")


def reason_of(error: BaseException) -> str:
    """What HDF5 says in its innermost brackets, without its advice; else the first line of a message."""
    if isinstance(error, MemoryError):
        return "it claims more than there is memory"
    line = str(error).partition("\n")[0]
    inner = re.search(r"\(([^()]+?)(?: \(may use.*)?\)*$", line)
    return (inner[1] if inner else line) or type(error).__name__
