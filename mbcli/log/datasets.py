"""The datasets of a log: what the format says of one (Dataset), and what it is in the log of one model (Field).

This module needs neither h5py nor numpy.
"""

from __future__ import annotations

import re
from math import prod

from mbcli.common.fast_dataclass import dataclass

ROW_GROUPS = ("state", "input", "derived", "solver", "sensors")
"""The groups whose datasets have one row a sample; a reader takes everything it finds there."""

RAGGED_GROUPS = ("contact/", "faces/")
"""Paths of what a row has any number of: contacts, and of these faces with their corners."""

FIELD_PATH = re.compile(rf"({'|'.join(ROW_GROUPS[1:])})/[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")
TYPES = ("f8", "f4", "i8")
AXES = ("x", "y", "z")
SPATIAL = ("angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z")


@dataclass(frozen=True, slots=True)
class Field:
    """A quantity with one value, or one array of values, a sample.

    Args:
      path: dataset, under input/, derived/, solver/ or sensors/; contact/ and faces/ for what a row has many of.
      units: UDUNITS spelling ("rad s-1", "N m", "1"); one for all columns, or one a column.
      names: one a column (the elements of row_shape in C order); default: the end of the path, numbered.
      row_shape: () for one number a sample.
      dtype: "f8", "f4" or "i8".
    """

    path: str
    units: str | tuple[str, ...] = "1"
    names: tuple[str, ...] = ()
    row_shape: tuple[int, ...] = ()
    dtype: str = "f8"

    def __post_init__(self) -> None:
        columns = prod(self.row_shape)
        fixed = self.path in ("time", "state/q", "state/v") or self.path.startswith(RAGGED_GROUPS)
        if not FIELD_PATH.fullmatch(self.path) and not fixed:
            forms = ", ".join(f"{group}/NAME" for group in ROW_GROUPS[1:])
            raise ValueError(f"field path {self.path!r} is not of the form {forms}")
        if self.dtype not in TYPES:
            raise ValueError(f"field {self.path}: dtype {self.dtype!r}, expected f8, f4 or i8")
        units = (self.units,) * columns if isinstance(self.units, str) else tuple(self.units)
        names = tuple(self.names) or self._numbered_names(columns)
        if len(units) != columns or len(names) != columns:
            raise ValueError(f"field {self.path}: {columns} columns, {len(names)} names, {len(units)} units")
        if not all(units):
            raise ValueError(f"field {self.path}: a unit is empty; a number without unit has the unit '1'")
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "names", names)

    def _numbered_names(self, columns: int) -> tuple[str, ...]:
        name = self.path.rpartition("/")[2]
        return tuple(f"{name}_{i}" for i in range(columns)) if self.row_shape else (name,)


@dataclass(frozen=True, slots=True)
class Dataset:
    """What the format says of a dataset, in every log that has it.

    Args:
      path: as of a Field.
      units: one for all columns, or one a column; of columns that depend on the model the units that they can have, ()
        for any.
      meaning: one sentence, for the documents.
      columns: names of the columns; () if a row is one number; a text where the columns depend on the model: how many
        there are, as "nu" or "7 B".
      dtype: as of a Field.
      rows: how many, as docs/reference/log_format.md counts: "N" samples, "K" contacts, "F" faces, "C" corners.
    """

    path: str
    units: str | tuple[str, ...]
    meaning: str
    columns: str | tuple[str, ...] = ()
    dtype: str = "f8"
    rows: str = "N"

    def __post_init__(self) -> None:
        if not self.units and not isinstance(self.columns, str):
            raise ValueError(f"dataset {self.path}: no units; a number without unit has the unit '1'")
        if not self.meaning:
            raise ValueError(f"dataset {self.path}: no meaning")
        if isinstance(self.columns, tuple):
            self.field()  # which checks the others

    @property
    def is_ragged(self) -> bool:
        """Whether a row of the log has any number of its rows."""
        return self.path.startswith(RAGGED_GROUPS)

    def field(self) -> Field:
        """The Field of a dataset whose columns are those of every log. TypeError if they depend on the model."""
        if isinstance(self.columns, str):
            raise TypeError(f"dataset {self.path}: its columns depend on the model")
        return Field(self.path, self.units, self.columns, (len(self.columns),) if self.columns else (), self.dtype)
