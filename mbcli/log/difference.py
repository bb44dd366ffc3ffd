"""compare(): where two logs differ, by which quantity, from when on and by how much."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log.fields.faces import CORNER_FIELDS, CORNERS_OFFSET, FACES_OFFSET
from mbcli.log.rows import SAME_TIME

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from typing import TypeAlias

    from mbcli.log.datasets import Field
    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog
    from mbcli.math.array_types import Array, IntArray, Vector

    # of rows: how many parts each has, the first of each, values by path
    Parts: TypeAlias = tuple[IntArray, IntArray, Mapping[str, Array]]

ROWS_AT_ONCE = 4096
ROWS_WITH_FACES = 128  # at once, as a row may have thousands of corners
PLACES = frozenset(("files", "path", "place", "uri"))  # keys of a model's document that say where files were
ROUNDING = 1e-9
CONTACT_COUNT, CORNER_COUNT = "contact/count", "faces/corners"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column that differs by more than the tolerance.

    first_time [s]: of the first row that does; first_a, first_b: its values there.
    largest: the largest difference, in the unit of the column; largest_time [s]: when.
    """

    field: str
    name: str
    unit: str
    first_time: float
    first_a: float
    first_b: float
    largest: float
    largest_time: float
    rows: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences of two logs; `same` if there is none.

    compared: rows whose times are in both. rows_a, rows_b: rows of each within the times that were compared.
    only_a, only_b: columns that one log has, FIELD:NAME. quantities: first those that diverge first.
    """

    compared: int
    rows_a: int
    rows_b: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    same_model: bool
    same_config: bool

    @property
    def same(self) -> bool:
        """Whether there are the same columns and rows, and no number differs by more than the tolerance."""
        unequal_rows = self.rows_a != self.compared or self.rows_b != self.compared
        return not (self.quantities or self.only_a or self.only_b or unequal_rows)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {"same": self.same, **asdict(self)}


class _Column:
    """What is known of one column after the rows seen so far."""

    def __init__(self, field: str, name: str, unit: str) -> None:
        self.field, self.name, self.unit = field, name, unit
        self.first: tuple[float, float, float] | None = None
        self.largest, self.largest_time, self.rows = 0.0, 0.0, 0

    def take(self, times: Vector, a: Vector, b: Vector, tolerance: float) -> None:
        with np.errstate(all="ignore"):
            gap = np.abs(a.astype(float) - b.astype(float))
            unequal = ~((a == b) | (np.isnan(a) & np.isnan(b)))
            gap = np.where(unequal, np.where(np.isnan(gap), np.inf, gap), 0.0)
            beyond = gap > tolerance * np.fmax(1.0, np.fmax(np.abs(a), np.abs(b)))
        beyond |= unequal & ~np.isfinite(gap)
        if not beyond.any():
            return
        if self.first is None:
            k = int(np.argmax(beyond))
            self.first = float(times[k]), float(a[k]), float(b[k])
        k = int(np.argmax(np.where(beyond, gap, -1.0)))
        if gap[k] > self.largest:
            self.largest, self.largest_time = float(gap[k]), float(times[k])
        self.rows += int(beyond.sum())

    def quantity(self) -> Quantity | None:
        """None if no row differs."""
        if self.first is None:
            return None
        return Quantity(self.field, self.name, self.unit, *self.first, self.largest, self.largest_time, self.rows)


def compare(
    a: Log,
    b: Log,
    *,
    tolerance: float = 0.0,
    fields: Iterable[str] | None = None,
    until: float | None = None,
    any_rows: bool = False,
) -> Difference:
    """Compares the rows of two logs whose times are the same.

    Args:
      tolerance: numbers x and y count as equal if |x - y| <= tolerance max(1, |x|, |y|); 0: if they are equal. Two
        numbers that are NaN are equal.
      fields: paths ("state/q", "contact", "faces") to compare; default: all.
      until: [s] the last time to compare.
      any_rows: compare the rows that both logs have, and do not mind others.
    """
    rows_a, rows_b, all_a, all_b = _common_rows(a, b, until)
    wanted = None if fields is None else set(fields)
    columns, only_a, only_b = _pairs_of_columns(a, b, wanted)
    with_contacts = a.has_contacts and b.has_contacts and (wanted is None or "contact" in wanted)
    found: list[_Column] = [column for column, *_ in columns]
    with_faces = a.has_faces and b.has_faces and (wanted is None or "faces" in wanted)
    contact = _ragged_columns(CONTACT_COUNT, _shared_contact_fields(a, b)) if with_contacts else {}
    faces = _ragged_columns(CORNER_COUNT, CORNER_FIELDS) if with_faces else {}
    at_once = ROWS_WITH_FACES if with_faces else ROWS_AT_ONCE
    paths = list(dict.fromkeys(column.field for column in found))
    for first in range(0, len(rows_a), at_once):
        at_a, at_b = rows_a[first : first + at_once], rows_b[first : first + at_once]
        here, there = _rows(a, ["time", *paths], at_a), _rows(b, ["time", *paths], at_b)
        for column, i, j in columns:
            column.take(here["time"], here[column.field][:, i], there[column.field][:, j], tolerance)
        for wanted_here, parts, of_log in ((with_contacts, contact, _contacts_of), (with_faces, faces, _faces_of)):
            if wanted_here:
                _compare_parts(parts, here["time"], of_log(a, at_a), of_log(b, at_b), tolerance)
    named = (*found, *contact.values(), *faces.values())
    unequal = [quantity for column in named if (quantity := column.quantity()) is not None]
    unequal.sort(key=lambda quantity: quantity.first_time)
    return Difference(
        compared=len(rows_a),
        rows_a=len(rows_a) if any_rows else all_a,
        rows_b=len(rows_b) if any_rows else all_b,
        only_a=tuple(only_a),
        only_b=tuple(only_b),
        quantities=tuple(unequal),
        same_model=_same_model(a, b),
        same_config=a.attrs.get("config_sha256") == b.attrs.get("config_sha256"),
    )


def compare_worlds(a: WorldsLog, b: WorldsLog, tolerance: float = 0.0) -> tuple[int | None, Difference]:
    """The number of the first world that differs and its Difference, as of compare(); None and one that is empty."""
    rows = int((a.times == b.times).sum()) if len(a.times) == len(b.times) else 0
    alike = a.model == b.model or _alike_texts(a.model, b.model), a.config == b.config
    comparable = a.count == b.count and rows == len(a.times)
    for k in range(a.count if comparable else 1):
        pairs, only_a, only_b = _shared_columns(a, b)
        here, there = ({path: log.of_world(path, k) for path in log.fields()} for log in (a, b))
        for column, i, j in pairs if comparable else ():
            column.take(a.times, here[column.field][:, i], there[column.field][:, j], tolerance)
        unequal = [quantity for column, *_ in pairs if (quantity := column.quantity()) is not None]
        found = tuple(sorted(unequal, key=lambda quantity: quantity.first_time))
        result = Difference(rows, len(a.times), len(b.times), tuple(only_a), tuple(only_b), found, *alike)
        if not result.same or not comparable:
            return k, result
    return None, result


def _same_model(a: Log, b: Log) -> bool:
    """Whether two logs are of one model, wherever its files were, up to rounding where its numbers were computed."""
    if a.attrs.get("model_sha256") == b.attrs.get("model_sha256"):
        return True
    return _alike_texts(a.model, b.model)


def _alike_texts(a: str, b: str) -> bool:
    try:
        return _alike(json.loads(a), json.loads(b))
    except (ValueError, RecursionError):
        return False


def _alike(x: Any, y: Any) -> bool:
    if isinstance(x, dict) and isinstance(y, dict):
        names = (x.keys() | y.keys()) - PLACES
        return all(name in x and name in y and _alike(x[name], y[name]) for name in names)
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(_alike, x, y))
    if isinstance(x, float) or isinstance(y, float):
        numbers = not any(isinstance(value, (bool, str, list, dict)) or value is None for value in (x, y))
        return numbers and abs(x - y) <= ROUNDING * max(1.0, abs(x), abs(y))
    return x == y


def _common_rows(a: Log, b: Log, until: float | None) -> tuple[IntArray, IntArray, int, int]:
    """Indices of the rows of a and of b with the same times, and how many rows each has in all."""
    times_a, times_b = a.times, b.times
    if until is not None:
        times_a, times_b = (t[t <= until + SAME_TIME * max(1.0, abs(until))] for t in (times_a, times_b))
    counts = len(times_a), len(times_b)
    if not all(counts):
        return np.empty(0, int), np.empty(0, int), *counts
    nearest = (
        np.clip(np.searchsorted(times_b, times_a), 1, len(times_b) - 1) if counts[1] > 1 else np.zeros(counts[0], int)
    )
    if counts[1] > 1:
        nearest -= times_a - times_b[nearest - 1] < times_b[nearest] - times_a
    same = np.abs(times_b[nearest] - times_a) <= SAME_TIME * np.fmax(1.0, np.abs(times_a))
    return np.flatnonzero(same), nearest[same], *counts


def _pairs_of_columns(
    a: Log, b: Log, wanted: Container[str] | None
) -> tuple[list[tuple[_Column, int, int]], list[str], list[str]]:
    """Columns of both by field and name, with their places in each; those that one has alone."""
    pairs, only_a, only_b = _shared_columns(a, b, wanted)
    for what in ("contact", "faces"):
        there = (a.has_faces, b.has_faces) if what == "faces" else (a.has_contacts, b.has_contacts)
        if there[0] != there[1] and (wanted is None or what in wanted):
            (only_a if there[0] else only_b).append(what)
    return pairs, only_a, only_b


def _shared_columns(
    a: Log | WorldsLog, b: Log | WorldsLog, wanted: Container[str] | None = None
) -> tuple[list[tuple[_Column, int, int]], list[str], list[str]]:
    """As _pairs_of_columns(), of what has a row a sample."""
    pairs: list[tuple[_Column, int, int]] = []
    only_a: list[str] = []
    only_b: list[str] = []
    paths = dict.fromkeys((*a.fields(), *b.fields()))
    for path in paths:
        if path == "time" or (wanted is not None and path not in wanted):
            continue
        names_a, names_b = a.names.get(path, ()), b.names.get(path, ())
        places = {name: j for j, name in enumerate(names_b)}
        for i, name in enumerate(names_a):
            if name in places:
                pairs.append((_Column(path, name, a.units[path][i]), i, places[name]))
            else:
                only_a.append(f"{path}:{name}")
        only_b += [f"{path}:{name}" for name in names_b if name not in set(names_a)]
    return pairs, only_a, only_b


def _rows(log: Log, paths: Sequence[str], rows: IntArray) -> dict[str, Array]:
    """Chosen rows of fields, each as (n, columns)."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    block = next(log.chunks(paths, rows=last - first, start=first, stop=last))
    return {
        path: values[rows - first] if path == "time" else values[rows - first].reshape(len(rows), -1)
        for path, values in block.items()
    }


def _shared_contact_fields(a: Log, b: Log) -> list[Field]:
    return [field for field in a.contact_fields if field in b.contact_fields]


def _ragged_columns(count: str, fields: Iterable[Field]) -> dict[str, _Column]:
    columns = {count: _Column(count, "count", "1")}
    for field in fields:
        for name, unit in zip(field.names, field.units, strict=True):
            columns[f"{field.path}:{name}"] = _Column(field.path, name, unit)
    return columns


def _compare_parts(columns: Mapping[str, _Column], times: Vector, in_a: Parts, in_b: Parts, tolerance: float) -> None:
    """How many parts the rows have; where these are as many, their numbers in order.

    in_a, in_b: (how many each row has, the first of each, values by path), of contacts or of corners of faces.
    """
    (counts_a, starts_a, here), (counts_b, starts_b, there) = in_a, in_b
    count, *_ = columns.values()
    count.take(times, counts_a.astype(float), counts_b.astype(float), tolerance)
    same = counts_a == counts_b
    if not counts_a[same].sum():
        return
    chosen_a, chosen_b = (
        np.concatenate([np.arange(s, s + n) for s, n in zip(starts[same], counts_a[same], strict=True)])
        for starts in (starts_a, starts_b)
    )
    when = np.repeat(times[same], counts_a[same])
    paths: dict[str, list[_Column]] = {}
    for column in columns.values():
        paths.setdefault(column.field, []).append(column)
    for path in paths.keys() & here.keys():
        x, y = (
            block[path][chosen].reshape(len(chosen), -1).astype(float)
            for block, chosen in ((here, chosen_a), (there, chosen_b))
        )
        for k, column in enumerate(paths[path]):
            column.take(when, x[:, k], y[:, k], tolerance)


def _contacts_of(log: Log, rows: IntArray) -> Parts:
    first, last = int(rows[0]), int(rows[-1]) + 1
    block = log.contacts(first, last)
    offset = block["offset"]
    return np.diff(offset)[rows - first], offset[:-1][rows - first], block


def _faces_of(log: Log, rows: IntArray) -> Parts:
    """Of the corners of faces."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    faces = log.faces(first, last)
    offset = faces[CORNERS_OFFSET][faces[FACES_OFFSET][log.contacts(first, last)["offset"]]]
    return np.diff(offset)[rows - first], offset[:-1][rows - first], faces
