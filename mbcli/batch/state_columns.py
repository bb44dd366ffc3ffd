"""Which field and component of a state a column or a key means, and tables of columns as fields."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.coordinate_names import NamedCoordinates, StateNames, listed
from mbcli.common.suggestions import closest
from mbcli.common.text_tables import UNUSED, shown
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from typing import TypeAlias

    from mbcli.batch.state_layout import StateLayout
    from mbcli.common.text_tables import Unit
    from mbcli.math.array_types import Array

    Table: TypeAlias = tuple[int, dict[str, Array]]  # how many rows, and an array a field
    Targets: TypeAlias = dict[str, tuple[list[int], list[int]]]  # columns of a table, components of the field

OPTIONAL_FIELDS = ("vdot", "tau", "u", "time")


class StateColumns:
    """Finds the field and the component that a column or key names."""

    def __init__(self, layout: StateLayout, *, short: bool = True) -> None:
        self._short = short
        self._state = StateNames(layout.names("q"), layout.names("v"))
        self._quantities = {
            "q": self._state.q,
            "v": self._state.v,
            "vdot": NamedCoordinates(layout.names("v"), "velocity"),
            "tau": NamedCoordinates(layout.names("v"), "velocity"),
            "u": NamedCoordinates(layout.names("u"), "actuator"),
        }
        self._found: dict[str, tuple[str, int]] = {"time": ("time", 0)}
        self._components: dict[str, dict[str, int]] = {field: {} for field in self._quantities}

    def find(self, column: str, where: str) -> tuple[str, int]:
        """The field and component of a column; ModelError if there is none, or if it can mean several."""
        target = self._found.get(column)
        if target is None:
            target = self._found[column] = self._only(self._candidates(column), column, where)
        return target

    def means_something(self, column: str) -> bool:
        """Whether a column has a field and component, could have several, or says of what field it is."""
        return column in self._found or column.partition(":")[0] in self._quantities or bool(self._candidates(column))

    def unknown(self, column: str) -> str:
        """A column that means nothing, with the one that it probably stands for, for a message."""
        return f"{shown(column)}{self._likely(column)}"

    def component(self, field: str, name: str, where: str) -> int:
        """The component of a field that a name in an object of it means."""
        index = self._components[field].get(name)
        if index is None:
            candidates = [(field, k) for k in self._indices(self._quantities[field], name)]
            if not candidates:
                hint = _hint("", self._quantities[field].likely(name))
                raise ModelError(f"{where}: error: {field} has no component {shown(name)}{hint}")
            index = self._components[field][name] = self._only(candidates, name, where)[1]
        return index

    def _candidates(self, column: str) -> list[tuple[str, int]]:
        field, colon, name = column.partition(":")
        if colon and field in self._quantities:
            return [(field, k) for k in self._indices(self._quantities[field], name)]
        if self._short:
            return self._state.candidates(column)
        return [(field, k) for field in ("q", "v") for k in self._quantities[field].whole(column)]

    def _indices(self, quantity: NamedCoordinates, name: str) -> list[int]:
        return quantity.whole(name) or (quantity.endings(name) if self._short else [])

    def _only(self, candidates: list[tuple[str, int]], column: str, where: str) -> tuple[str, int]:
        if len(candidates) == 1:
            return candidates[0]
        if not candidates:
            raise ModelError(f"{where}: error: unknown column {shown(column)}{self._likely(column)}")
        names = [f"{field}:{self._quantities[field].names[k]}" for field, k in candidates]
        raise ModelError(f"{where}: error: column {shown(column)} is ambiguous: it can mean {listed(names)}")

    def _likely(self, column: str) -> str:
        """A hint at another name of the same quantity."""
        field, colon, name = column.partition(":")
        if colon and field in self._quantities:
            return _hint(f"{field}:", self._quantities[field].likely(name))
        return _hint("", closest(column, ["time"]) or self._state.meant(column).likely(column))


def _hint(prefix: str, likely: str | None) -> str:
    return f"; did you mean {shown(prefix + likely)}?" if likely else ""


def did_you_mean(word: str, known: Collection[str]) -> str:
    likely = closest(word, known)
    return f"; did you mean {shown(likely)}?" if likely else ""


@dataclass(frozen=True)
class TableColumns:
    """What the columns of a table mean.

    Attributes:
        targets: {field: (columns of the table, components of the field)}.
        scales: (width,) factors to the units that mbcli counts in, None if all are 1.
        unknown: columns that mean nothing, as messages have them.
    """

    targets: Targets
    scales: Array | None
    unknown: tuple[str, ...]

    def given(self) -> dict[str, list[int]]:
        """{field: components}"""
        return {field: components for field, (_, components) in self.targets.items()}


def columns_of_header(
    cells: Sequence[str], where: str, layout: StateLayout, units: Sequence[Unit | None] = (), *, short: bool = True
) -> TableColumns:
    """The TableColumns of a header, whose demands are not checked.

    short: whether parts of names are enough; without it, as in logs, a name that means nothing is an error.

    ModelError if a column is ambiguous, there twice, has no name or a wrong unit.
    """
    cells = _with_efforts_that_acted(cells, layout)
    columns = StateColumns(layout, short=short)
    seen: dict[tuple[str, int], str] = {}
    targets: Targets = {}
    unknown: list[str] = []
    scales = np.ones(len(cells))
    for column, cell in enumerate(cells):
        if not cell:
            raise ModelError(f"{where}: error: column {column + 1} has no name")
        if cell == UNUSED:
            continue
        target = columns.find(cell, where) if not short or columns.means_something(cell) else None
        if target is None:
            unknown.append(columns.unknown(cell))
            continue
        if target in seen:
            first = seen[target]
            also = "" if first == cell else f" ({shown(first)} is the same)"
            raise ModelError(f"{where}: error: duplicate column {shown(cell)}{also}")
        seen[target] = cell
        from_columns, to_components = targets.setdefault(target[0], ([], []))
        from_columns.append(column)
        to_components.append(target[1])
        unit = units[column] if units else None
        scales[column] = layout.demands.scale(target, unit, f"{where}: error: column {shown(cell)}")
    if unknown and not targets:
        raise ModelError(f"{where}: error: unknown column {unknown[0]}")
    return TableColumns(targets, None if (scales == 1.0).all() else scales, tuple(unknown))


def _with_efforts_that_acted(cells: Sequence[str], layout: StateLayout) -> Sequence[str]:
    """Efforts of an exported log that layout.efforts_of asks for take the place of u of these actuators."""
    acted = {f"effort:{name}_effort": f"u:{name}" for name in layout.efforts_of}
    there = {acted[cell] for cell in cells if cell in acted}
    return [acted.get(cell, UNUSED if cell in there else cell) for cell in cells] if there else cells


def demanded_columns(
    cells: Sequence[str], where: str, layout: StateLayout, units: Sequence[Unit | None] = ()
) -> TableColumns:
    """As columns_of_header(); ModelError too if columns are missing. What means nothing is told."""
    found = columns_of_header(cells, where, layout, units)
    layout.demands.check(found.given(), where, layout.all_names(), found.unknown)
    return found


def fields_of_table(values: Array, columns: TableColumns, layout: StateLayout) -> dict[str, Array]:
    """{field: rows} of a table; rows of whole fields in order are those of the table itself."""
    arrays: dict[str, Array] = {}
    if columns.scales is not None:
        values = values * columns.scales
    for field, (from_columns, to_components) in columns.targets.items():
        first, count = from_columns[0], len(from_columns)
        if field == "time":
            arrays[field] = values[:, first]
        elif (
            count == len(layout.names(field))
            and to_components == list(range(count))
            and from_columns == list(range(first, first + count))
        ):
            arrays[field] = values[:, first : first + count]
        else:
            arrays[field] = np.tile(layout.default(field), (len(values), 1))
            arrays[field][:, to_components] = values[:, from_columns]
    return arrays
