"""ContactWriter: writes what a row has any number of: its contacts, the faces of these, and the corners of faces.

Each is a table whose parts belong to the entries of the table before it: contacts to rows, faces to contacts, corners
to faces. An offset for each entry says where its part begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbcli.log.fields.contact import OFFSET
from mbcli.log.fields.faces import CORNER_FIELDS, CORNERS_OFFSET, FACES_OFFSET
from mbcli.log.stored_texts import create_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mbcli.log.datasets import Field
    from mbcli.log.format import ContactNames

CONTACTS_PER_CHUNK = 512
FACES_PER_CHUNK = 4096
CORNERS_PER_CHUNK = 16384


class _Table(NamedTuple):
    """What belongs to the entries of the table before, or to rows.

    key: of the offsets in what append() takes.
    offset: dataset of the offsets; offset_chunk: of its chunks, the entries.
    columns: {path: dataset}; chunk: of theirs.
    """

    key: str
    offset: Any
    offset_chunk: int
    columns: dict[str, Any]
    chunk: int


class ContactWriter:
    """The datasets under /contact and /faces of a log that is written.

    Args:
      file: the open h5py.File.
      names: of the run.
      chunk_rows: rows in a chunk of what has a row a sample.
    """

    def __init__(self, file: Any, names: ContactNames, chunk_rows: int) -> None:
        self._tables = [self._create(file, "offset", OFFSET, chunk_rows, names.fields, CONTACTS_PER_CHUNK)]
        if names.faces:
            self._tables += [
                self._create(file, FACES_OFFSET, FACES_OFFSET, CONTACTS_PER_CHUNK, (), FACES_PER_CHUNK),
                self._create(
                    file,
                    CORNERS_OFFSET,
                    CORNERS_OFFSET,
                    FACES_PER_CHUNK,
                    CORNER_FIELDS,
                    CORNERS_PER_CHUNK,
                ),
            ]
        self._keys = {key for table in self._tables for key in (table.key, *table.columns)}
        self._counts = [0] * (1 + len(self._tables))  # of rows, then of the entries of each table
        for name in ("body_names", "geometry_names"):
            create_texts(file["contact"].attrs, name, getattr(names, name))

    @staticmethod
    def _create(
        file: Any, key: str, offset_path: str, offset_chunk: int, fields: tuple[Field, ...], chunk: int
    ) -> _Table:
        offset = file.create_dataset(
            offset_path, data=np.zeros(1, dtype="i8"), maxshape=(None,), chunks=(offset_chunk,), fletcher32=True
        )
        create_texts(offset.attrs, "names", (offset_path.rpartition("/")[2],), scalar=True)
        create_texts(offset.attrs, "units", ("1",), scalar=True)
        columns = {}
        for field in fields:
            dataset = file.create_dataset(
                field.path,
                shape=(0, *field.row_shape),
                maxshape=(None, *field.row_shape),
                chunks=(chunk, *field.row_shape),
                dtype=field.dtype,
                fletcher32=True,
            )
            create_texts(dataset.attrs, "names", field.names, not field.row_shape)
            create_texts(dataset.attrs, "units", field.units, not field.row_shape)
            columns[field.path] = dataset
        return _Table(key, offset, offset_chunk, columns, chunk)

    def checked(self, contact: Mapping[str, Any], count: int) -> dict[str, np.ndarray]:
        """The contacts of so many rows as arrays of the declared types. ValueError if they do not fit."""
        if set(contact) != self._keys:
            raise ValueError(f"append: {difference_of_names(self._keys, contact)}")
        result = {}
        for table, what in zip(self._tables, ("contacts", "faces", "corners"), strict=False):
            offset = np.asarray(contact[table.key]).astype("i8", casting="same_kind", copy=False)
            if offset.shape != (count + 1,) or offset[0] != 0 or (np.diff(offset) < 0).any():
                raise ValueError(f"append: {table.key} of {what}: expected {count + 1} numbers from 0 that do not fall")
            result[table.key] = offset
            count = int(offset[-1])
            for path, dataset in table.columns.items():
                result[path] = np.asarray(contact[path]).astype(dataset.dtype, casting="same_kind", copy=False)
                if result[path].shape != (count, *dataset.shape[1:]):
                    raise ValueError(f"append: {path} has shape {result[path].shape} for {count} {what}")
        return result

    def rows_together(self, contacts: Mapping[str, np.ndarray], start: int, count: int) -> int:
        """How many of the rows go together: a row which begins a chunk of a dataset begins a new piece."""
        bounds = np.arange(start, start + count + 1)  # of each row, in the table before
        begins = np.zeros(count, dtype=bool)
        for table, parents, entries in zip(self._tables, self._counts, self._counts[1:], strict=False):
            begins |= _rises((parents - bounds[0] + bounds) // table.offset_chunk)
            bounds = contacts[table.key][bounds]
            if table.columns:
                begins |= _rises((entries - bounds[0] + bounds - 1) // table.chunk)
        later = np.flatnonzero(begins[1:])
        return int(later[0]) + 1 if len(later) else count

    def write(self, contacts: Mapping[str, np.ndarray], start: int, count: int) -> None:
        """The contacts of some rows of checked()."""
        a, b = start, start + count
        counts = [self._counts[0] + count]
        for table, parents, entries in zip(self._tables, self._counts, self._counts[1:], strict=False):
            offset = contacts[table.key]
            first, last = int(offset[a]), int(offset[b])
            end = entries + last - first
            if last > first:
                for path, dataset in table.columns.items():
                    dataset.resize(end, axis=0)
                    dataset[entries:] = contacts[path][first:last]
            if b > a:
                table.offset.resize(parents + 1 + b - a, axis=0)
                table.offset[parents + 1 :] = entries + offset[a + 1 : b + 1] - first
            counts.append(end)
            a, b = first, last
        self._counts = counts

    def cut_to(self, rows: int) -> None:
        """Takes off what an interrupt has left of later rows."""
        for table in self._tables:
            table.offset.resize(rows + 1, axis=0)
            rows = int(table.offset[-1])
            for dataset in table.columns.values():
                dataset.resize(rows, axis=0)


def joined_contacts(each: Sequence[Mapping[str, Any] | None], names: ContactNames) -> dict[str, Any]:
    """What append() takes of one row after another; None for a row without contacts."""
    found = [contact for contact in each if contact is not None]
    tables: list[tuple[str, tuple[Field, ...]]] = [("offset", names.fields)]
    if names.faces:
        tables += [(FACES_OFFSET, ()), (CORNERS_OFFSET, CORNER_FIELDS)]
    result: dict[str, Any] = {}
    for key, fields in tables:
        if key == "offset":
            counts = [np.zeros(1, dtype="i8") if contact is None else np.diff(contact[key]) for contact in each]
        else:
            counts = [np.diff(contact[key]) for contact in found]
        result[key] = np.cumsum(np.concatenate([np.zeros(1, dtype="i8"), *counts]))
        for field in fields:
            none = np.empty((0, *field.row_shape), dtype=field.dtype)
            result[field.path] = np.concatenate([none, *(contact[field.path] for contact in found)])
    return result


def _rises(chunks: np.ndarray) -> np.ndarray:
    """For each row whether its last entry is in a later chunk than that of the row before."""
    return chunks[1:] != chunks[:-1]


def difference_of_names(declared: Iterable[str], given: Iterable[str]) -> str:
    """What is missing of the declared names, and what was not declared."""
    missing, unknown = sorted(set(declared) - set(given)), sorted(set(given) - set(declared))
    return "; ".join(
        f"{what} {', '.join(names)}" for what, names in (("missing", missing), ("not declared", unknown)) if names
    )
