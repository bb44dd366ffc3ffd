"""Which field and component of a state a column or a key means, and tables of columns as fields."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from mbcli.common.coordinate_names import NamedCoordinates, StateNames, listed
from mbcli.common.suggestions import closest
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from typing import TypeAlias

    from mbcli.batch.state_reader import StateLayout
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


def shown(text: str) -> str:
    """Text from the input, quoted, shortened and safe for a terminal."""
    return repr(text if len(text) <= 80 else text[:77] + "...")


def targets_of_header(cells: list[str], where: str, layout: StateLayout, *, short: bool = True) -> Targets:
    """{field: (columns of the table, components of the field)}."""
    columns = StateColumns(layout, short=short)
    seen: dict[tuple[str, int], str] = {}
    targets: Targets = {}
    for column, cell in enumerate(cells):
        if not cell:
            raise ModelError(f"{where}: error: column {column + 1} has no name")
        target = columns.find(cell, where)
        if target in seen:
            first = seen[target]
            also = "" if first == cell else f" ({shown(first)} is the same)"
            raise ModelError(f"{where}: error: duplicate column {shown(cell)}{also}")
        seen[target] = cell
        from_columns, to_components = targets.setdefault(target[0], ([], []))
        from_columns.append(column)
        to_components.append(target[1])
    return targets


def fields_of_table(values: Array, targets: Targets, layout: StateLayout) -> dict[str, Array]:
    """{field: rows} of a table; rows of whole fields in order are those of the table itself."""
    arrays: dict[str, Array] = {}
    for field, (from_columns, to_components) in targets.items():
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
