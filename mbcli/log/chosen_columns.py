"""What names of fields and columns of a log mean, for all commands that take some: any unambiguous ending will do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.common.coordinate_names import AmbiguousNameError, NamedCoordinates, StateNames, listed
from mbcli.common.suggestions import closest
from mbcli.log.column_names import column_names, flat_rows, short_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np

    from mbcli.math.array_types import Array


def meant_by(log: Any, names: Iterable[str], also: Sequence[str] = ()) -> list[tuple[str, int | None]]:
    """[(path, column)] of names, each once; the column is None for all of a field.

    A name is that of a field ("derived/com", its end "com", "q"), of a group ("derived"), or of one column or its end:
    elbow_q, elbow, com:x, effort:elbow. also: what else may stand there, with columns of no names.
    LookupError if a name means nothing, or several columns, which the message lists.
    """
    paths = [path for path in log.fields() if path != "time"]
    found: dict[tuple[str, int | None], None] = {}
    for name in names:
        fields = fields_meant(name, [*paths, *also])
        whole: list[tuple[str, int | None]] = [(path, None) for path in fields]
        found |= dict.fromkeys(whole or [column_meant(log, name, also)])
    return list(found)


def fields_meant(name: str, paths: Iterable[str]) -> list[str]:
    """The fields of a name: the one of that path or end of it, or a group."""
    return [p for p in paths if name in (p, p.rpartition("/")[2], short_name(p)) or p.startswith(f"{name}/")]


def column_meant(log: Any, name: str, also: Sequence[str] = ()) -> tuple[str, int]:
    """(path, column) of the one column that a name or its end means; LookupError if there is none, or several."""
    paths = [path for path in log.fields() if path != "time"]
    states = StateNames(log.names["state/q"], log.names["state/v"])
    coordinates = states.candidates(name)
    if len(coordinates) == 1:
        return f"state/{coordinates[0][0]}", coordinates[0][1]
    if coordinates:
        states.find(name)  # raises: it lists them
    ending, colon, column = name.rpartition(":")
    of_field = fields_meant(ending, paths) if colon else []
    if len(of_field) == 1:
        return of_field[0], NamedCoordinates(log.names[of_field[0]], f"column of {ending}").find(column)
    columns = NamedCoordinates(column_names(log, paths), "column")
    bare = [k for k, column in enumerate(columns.names) if column.rpartition(":")[2] == name]
    found = columns.whole(name) or bare or columns.endings_in_full(name)
    if len(found) > 1:
        raise AmbiguousNameError(f"'{name}' can mean {listed([columns.names[k] for k in found])}")
    if not found:
        known = [short_name(path) for path in (*paths, *also)]
        ends = [path.rpartition("/")[2] for path in paths]
        likely = closest(name, [*known, *ends]) or states.meant(name).likely(name) or columns.likely(name)
        message = f"the log has no field {name!r}; it has {', '.join(known)}"
        raise LookupError(
            message + (f'; did you mean "{likely}"?' if likely else f"; columns: {listed(columns.names)}")
        )
    k = found[0]
    for path in paths:
        if k < len(log.names[path]):
            return path, k
        k -= len(log.names[path])
    raise LookupError(name)  # not reached: the columns of all fields were counted


class WithColumns:
    """A log in which some columns are fields too, of one number a row, by the names that exports give them.

    Args:
        log: whatever has rows, as Log.
        columns: (path, column) of those.
    """

    def __init__(self, log: Any, columns: Iterable[tuple[str, int]]) -> None:
        self._log = log
        self.columns: Mapping[str, tuple[str, int]] = {column_names(log, [path])[k]: (path, k) for path, k in columns}
        self.names = {**log.names, **{name: (name,) for name in self.columns}}
        self.units = {**log.units, **{name: (log.units[path][k],) for name, (path, k) in self.columns.items()}}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def fields(self) -> tuple[str, ...]:
        """As of the log, and the columns."""
        return (*self._log.fields(), *self.columns)

    def row_shape(self, path: str) -> tuple[int, ...]:
        """As of the log; () of a column."""
        return () if path in self.columns else self._log.row_shape(path)

    def dtype(self, path: str) -> np.dtype:
        """As of the log."""
        own: np.dtype = self._log.dtype(self._path_of(path))
        return own

    def field(self, path: str) -> Array:
        """As of the log."""
        return self._part(path, self._log.field(self._path_of(path)))

    def chunks(
        self, fields: Iterable[str] | None = None, rows: int = 1024, start: int = 0, stop: int | None = None
    ) -> Iterator[dict[str, Array]]:
        """As of the log."""
        wanted = list(fields or self.fields())
        paths = list(dict.fromkeys(map(self._path_of, wanted)))
        for chunk in self._log.chunks(paths, rows, start, stop):
            yield {path: self._part(path, chunk[self._path_of(path)]) for path in wanted}

    def _path_of(self, path: str) -> str:
        return self.columns[path][0] if path in self.columns else path

    def _part(self, path: str, values: Array) -> Array:
        return flat_rows(values)[:, self.columns[path][1]] if path in self.columns else values
