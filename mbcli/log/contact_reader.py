"""StoredContacts: reads what a row of a log has any number of, its contacts, their faces and the corners of these."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from mbcli.errors import ModelError
from mbcli.log.fields.contact import CONTACT_FIELDS, MOMENT_FIELDS, OFFSET, SURFACE_FIELDS
from mbcli.log.fields.faces import CORNER_FIELDS, CORNERS_OFFSET, FACE_FIELDS, FACES_OFFSET
from mbcli.log.format import ContactNames

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.log.datasets import Field
    from mbcli.log.guarded_file import GuardedFile, StoredDataset
    from mbcli.math.array_types import IntArray


class StoredContacts:
    """The datasets under /contact and /faces of an open log. False if it has none.

    Args:
      file: open for reading.
      read: reads rows first to last of a dataset, or raises ModelError.

    Raises:
      ModelError: a dataset has a shape or type that is not of the format.
    """

    def __init__(self, file: GuardedFile, read: Callable[[StoredDataset, int, int], np.ndarray]) -> None:
        self._read, self._path = read, file.name
        self.contact_fields: tuple[Field, ...] = ()
        self.has_faces = False
        if file.has("contact"):
            self.contact_fields = CONTACT_FIELDS
            if file.has(SURFACE_FIELDS[0].path):
                self.contact_fields += SURFACE_FIELDS
                self.has_faces = file.has(FACES_OFFSET)
            elif file.has(MOMENT_FIELDS[0].path):
                self.contact_fields += MOMENT_FIELDS
        fields = self.contact_fields + FACE_FIELDS * self.has_faces
        self.datasets: dict[str, StoredDataset] = {field.path: file.dataset(field.path) for field in fields}
        for field in fields:
            dataset = self.datasets[field.path]
            kinds = "iu" if field.dtype == "i8" else "f"
            if dataset.shape[1:] != field.row_shape or not dataset.shape or dataset.dtype.kind not in kinds:
                raise ModelError(f"{self._path}: error: {field.path} has shape {dataset.shape}, type {dataset.dtype}")
        if fields:
            self.datasets = {OFFSET: file.dataset(OFFSET), **self.datasets}
        for name in self._offsets():
            dataset = self.datasets[name]
            if dataset.ndim != 1 or not len(dataset) or dataset.dtype.kind not in "iu":
                raise ModelError(f"{self._path}: error: {name} has shape {dataset.shape}, type {dataset.dtype}")

    def __bool__(self) -> bool:
        return bool(self.datasets)

    def _offsets(self) -> tuple[str, ...]:
        if not self.datasets:
            return ()
        return (OFFSET, FACES_OFFSET, CORNERS_OFFSET) if self.has_faces else (OFFSET,)

    def names(self, bodies: tuple[str, ...], geometries: tuple[str, ...]) -> ContactNames:
        """What the datasets have, of bodies and geometries of these names."""
        surfaces = SURFACE_FIELDS[0] in self.contact_fields
        moments = not surfaces and MOMENT_FIELDS[0] in self.contact_fields
        return ContactNames(bodies, geometries, surfaces, self.has_faces, moments)

    def contacts(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """As Log.contacts()."""
        offset, first, last = self._parts(OFFSET, start, max(start, stop), self.contact_fields)
        return {
            "offset": offset,
            **{field.path: self._read(self.datasets[field.path], first, last) for field in self.contact_fields},
        }

    def faces(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """As Log.faces()."""
        _, first, last = self._parts(OFFSET, start, max(start, stop), self.contact_fields)
        faces, first, last = self._parts(FACES_OFFSET, first, last, ())
        corners, first, last = self._parts(CORNERS_OFFSET, first, last, CORNER_FIELDS)
        return {
            FACES_OFFSET: faces,
            CORNERS_OFFSET: corners,
            **{field.path: self._read(self.datasets[field.path], first, last) for field in CORNER_FIELDS},
        }

    def _parts(self, name: str, start: int, stop: int, fields: Sequence[Field]) -> tuple[IntArray, int, int]:
        """(offsets from 0, first, end) of what belongs to the entries start to stop."""
        dataset = self.datasets[name]
        if stop >= len(dataset):
            raise ModelError(f"{self._path}: error: {name} has {len(dataset)} rows, expected {stop + 1}")
        offset = self._read(dataset, start, stop + 1).astype("i8")
        first, last = int(offset[0]), int(offset[-1])
        rising = (np.diff(offset) >= 0).all() and first >= 0
        if not rising or any(len(self.datasets[field.path]) < last for field in fields):
            what = "contacts" if name == OFFSET else "faces"
            raise ModelError(f"{self._path}: error: {name} does not fit the {what}")
        return offset - first, first, last

    def lengths(self, rows: int) -> list[int]:
        """How many contacts, faces and corners so many rows have, as far as there are."""
        found = []
        for name in self._offsets():
            entry = self._read(self.datasets[name], rows, rows + 1)
            if rows < 0 or not len(entry):
                raise ModelError(
                    f"{self._path}: error: {name} has {len(self.datasets[name])} rows, expected {rows + 1}"
                )
            rows = int(entry[0])
            found.append(rows)
        return found

    def lengths_by_path(self, rows: int) -> dict[str, int]:
        """How long each dataset is up to a row."""
        contacts, *of_faces = self.lengths(rows)
        result = {OFFSET: rows + 1, **dict.fromkeys((field.path for field in self.contact_fields), contacts)}
        if of_faces:
            result |= {FACES_OFFSET: contacts + 1, CORNERS_OFFSET: of_faces[0] + 1}
            result |= dict.fromkeys((field.path for field in CORNER_FIELDS), of_faces[1])
        return result

    def whole_rows(self, rows: int) -> int:
        """Of how many of so many rows all contacts, faces and corners are there."""
        contacts = min(len(self.datasets[field.path]) for field in self.contact_fields)
        if self.has_faces:
            corners = min(len(self.datasets[field.path]) for field in CORNER_FIELDS)
            faces = self._whole(CORNERS_OFFSET, len(self.datasets[CORNERS_OFFSET]), corners)
            contacts = self._whole(FACES_OFFSET, contacts, faces)
        return self._whole(OFFSET, rows, contacts)

    def _whole(self, name: str, entries: int, length: int) -> int:
        """Of how many of the entries the parts are within a length."""
        dataset = self.datasets[name]

        def ends_later(entry: int) -> bool:
            return int(self._read(dataset, entry + 1, entry + 2)[0]) > length

        return bisect_left(range(min(entries, len(dataset) - 1)), True, key=ends_later)
