"""The columns of a log by their names, its rows between two times, and both as tables of other packages."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mbcli.errors import ResourceError
from mbcli.log.chosen_columns import column_meant
from mbcli.log.column_names import column_names, flat_rows, short_name
from mbcli.log.rows import Rows, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mbcli.log.format import ContactNames
    from mbcli.math.array_types import Array, Vector

MOST_LISTED = 12  # columns that a notebook shows


class NoColumnError(KeyError):
    """A name means no column, or several."""

    def __str__(self) -> str:
        return str(self.args[0])


def fields_of(log: Any) -> list[str]:
    """The paths of what has a row a sample, but for the time."""
    return [path for path in log.fields() if path != "time"]


def names_of(log: Any) -> list[str]:
    """The names of all columns, as `mbcli log export` writes them."""
    return ["time", *column_names(log, fields_of(log))]


def values_of(log: Any, name: str) -> Array:
    """A column (n,) by its name or any ending that means one, or all of a field (n, ...) by its own.

    NoColumnError if the name means nothing, or more than one column.
    """
    path, column = field_or_column(log, name)
    rows: Array = log.field(path)
    return rows if column is None else flat_rows(rows)[:, column]


def values_of_worlds(worlds: Any, name: str) -> Array:
    """As values_of(), of all worlds: (n, k) of a column, (n, k, width) of a field."""
    if name == "time":
        return np.array(worlds.times)
    path, column = field_or_column(worlds, name)
    rows: Array = worlds.field(path)
    if column is None and not worlds.row_shape(path):
        column = 0
    return rows if column is None else rows[..., column]


def field_or_column(log: Any, name: str) -> tuple[str, int | None]:
    """The path of the field, and the column of it unless the name is that of the field; NoColumnError for neither."""
    paths = [path for path in log.fields() if name in (path, short_name(path), path.rpartition("/")[2])]
    if len(paths) == 1:
        return paths[0], None
    try:
        return column_meant(log, name)
    except LookupError as error:
        raise NoColumnError(error.args[0]) from None


def between(log: Any, times: slice) -> Part:
    """The rows of a log from one time [s] to another, that of the end included."""
    if times.step is not None:
        raise ValueError("rows are chosen by two times [s]: log[0.5:1.0]")
    start = 0 if times.start is None else log.first_row_at(times.start)
    stop = log.row_count if times.stop is None else log.first_row_at(np.nextafter(times.stop, np.inf))
    return Part(log, start, max(start, stop))


class Table(Rows):
    """Rows as a mapping of their columns.

    log["elbow_q"] is a column (n,) [rad], by its name or any ending that means one; log["com"] all of a field (n, 3);
    log[0.5:1.0] the rows between two times [s], with all that a log can be asked for; len(log) the number of rows.
    """

    def __len__(self) -> int:
        """The number of rows."""
        return self.row_count

    def __bool__(self) -> bool:
        """It is there, whatever it has."""
        return True

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...

    @overload
    def __getitem__(self, key: slice) -> Part: ...

    def __getitem__(self, key: str | slice) -> np.ndarray | Part:
        """A column or a field by its name, or the rows between two times.

        Args:
          key: any unambiguous end of a name, or a slice of times [s].

        Returns:
          (n,) or (n, ...) in [unit of the column]; of times the rows, as a log.

        Raises:
          KeyError: a name means none of them.
          TypeError: neither a name nor a slice.

        Example:
          >>> log["energy_kinetic"].shape, log[0.5:0.6]
          ((101,), <Part <memory>: 11 rows from 0.5 to 0.6 s, 8 columns>)
        """
        if isinstance(key, slice):
            return between(self, key)
        if not isinstance(key, str):
            raise TypeError(f"a log has names of columns, as log['elbow_q'], and times, as log[0.5:1.0], not {key!r}")
        return values_of(self, key)

    def __contains__(self, name: object) -> bool:
        """Whether a name means a column or a field."""
        try:
            return isinstance(name, str) and self[name] is not None
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        """The names of the columns."""
        return iter(self.keys())

    def keys(self) -> list[str]:
        """The names of the columns, `time` first.

        Returns:
          Names, as `log[name]` takes them.

        Example:
          >>> log.keys()[:3]
          ['time', 'double_pendulum_shoulder_q', 'double_pendulum_elbow_q']
        """
        return names_of(self)

    def to_pandas(self) -> Any:
        """All columns as a pandas.DataFrame, by the time.

        Returns:
          A row a sample, its index the time [s], columns as of keys().

        Raises:
          ResourceError: pandas is missing.

        Example:
          >>> log.to_pandas().shape
          (101, 7)
        """
        return pandas_frame(self)

    def to_polars(self) -> Any:
        """All columns as a polars.DataFrame.

        Returns:
          A row a sample, `time` [s] the first column, the others as of keys().

        Raises:
          ResourceError: polars is missing.

        Example:
          >>> log.to_polars().shape
          (101, 8)
        """
        return polars_frame(self)

    def to_xarray(self) -> Any:
        """All fields as an xarray.Dataset, along `time`.

        Returns:
          Variables by the paths of the fields, `time` [s] the first dimension.

        Raises:
          ResourceError: xarray is missing.

        Example:
          >>> dict(log.to_xarray().sizes)
          {'time': 101, 'q_name': 2, 'v_name': 2, 'u_name': 1}
        """
        return xarray_dataset(self)

    def __repr__(self) -> str:
        return text_of(self, type(self).__name__)

    def _repr_html_(self) -> str:
        return html_of(self, type(self).__name__)


class Part(Table):
    """Some rows of a log, as it has them.

    Args:
        log: Rows. start, stop: of its rows.
    """

    def __init__(self, log: Any, start: int, stop: int) -> None:
        self._log, self._start = log, start
        self.path, self.names, self.units, self.row_count = log.path, log.names, log.units, stop - start

    def fields(self) -> tuple[str, ...]:
        """As of the log."""
        return tuple(self._log.fields())

    def field(self, path: str) -> Array:
        """As of the log."""
        rows: Array = self._log.field(path)
        return rows[self._start : self._start + self.row_count]

    def row_shape(self, path: str) -> tuple[int, ...]:
        """As of the log."""
        return tuple(self._log.row_shape(path))

    @property
    def has_contacts(self) -> bool:
        """As of the log."""
        return bool(self._log.has_contacts)

    @property
    def has_faces(self) -> bool:
        """As of the log."""
        return bool(self._log.has_faces)

    def contacts(self, start: int = 0, stop: int | None = None) -> dict:
        """As of the log."""
        return dict(self._log.contacts(*self._bounds(start, stop)))

    def contact_names(self) -> ContactNames | None:
        """As of the log."""
        names: ContactNames | None = self._log.contact_names()
        return names

    def faces(self, start: int = 0, stop: int | None = None) -> dict:
        """As of the log."""
        return dict(self._log.faces(*self._bounds(start, stop)))

    def _bounds(self, start: int, stop: int | None) -> tuple[int, int]:
        first, last, _ = slice(start, stop).indices(self.row_count)
        return self._start + first, self._start + last

    def _time_of(self, row: int) -> float:
        return float(self.times[row])

    def _state_of(self, row: int) -> State:
        return State(self.q[row], self.v[row])


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ResourceError(f"{name} is not installed: pip install {name}") from None


def _columns(log: Any) -> dict[str, Vector]:
    """{name: values (n,)} of all columns but the time."""
    fields = fields_of(log)
    columns = [column for path in fields for column in flat_rows(log.field(path)).T]
    return dict(zip(column_names(log, fields), columns, strict=True))


def pandas_frame(log: Any) -> Any:
    """A DataFrame whose index is the time [s]."""
    pandas = _package("pandas")
    return pandas.DataFrame(_columns(log), index=pandas.Index(log.times, name="time"))


def pandas_frame_of_worlds(worlds: Any) -> Any:
    """A DataFrame of all worlds, whose index is the number of the world and the time [s]."""
    pandas = _package("pandas")
    frames = [pandas_frame(worlds.world(k)) for k in range(worlds.count)]
    return pandas.concat(frames, keys=range(worlds.count), names=["world", "time"])


def polars_frame(log: Any) -> Any:
    """A DataFrame whose first column is the time [s]."""
    polars = _package("polars")
    return polars.DataFrame({"time": np.array(log.times), **{name: np.array(x) for name, x in _columns(log).items()}})


def polars_frame_of_worlds(worlds: Any) -> Any:
    """A DataFrame of all worlds, whose first columns are the number of the world and the time [s]."""
    polars = _package("polars")
    frames = [polars_frame(worlds.world(k)) for k in range(worlds.count)]
    return polars.concat(
        [frame.insert_column(0, polars.Series("world", [k] * len(frame))) for k, frame in enumerate(frames)]
    )


def xarray_dataset(log: Any, worlds: int | None = None) -> Any:
    """A Dataset with a variable a field, along `time` [s] and the names of its columns; `units` are attributes.

    worlds: of how many the log is, which are the first dimension then.
    """
    xarray = _package("xarray")
    variables: dict[str, Any] = {}
    names: dict[str, Any] = {"time": log.times} if worlds is None else {"world": range(worlds), "time": log.times}
    axes = tuple(names)
    endings = Counter(path.rpartition("/")[2] for path in fields_of(log))
    for path in fields_of(log):
        ending, values = path.rpartition("/")[2], log.field(path)
        name = ending if endings[ending] == 1 else path
        units = list(log.units[path])
        about = {"units": units[0] if len(set(units)) == 1 else units}
        before = values.shape[: len(axes)]
        if not log.row_shape(path):
            variables[name] = axes, values.reshape(before), about
            continue
        of_columns = f"{name}_name"
        names[of_columns] = list(log.names[path])
        variables[name] = (*axes, of_columns), values.reshape(*before, len(names[of_columns])), about
    return xarray.Dataset(variables, coords=names)


def text_of(log: Any, kind: str) -> str:
    """What it is, in a line."""
    if not log.row_count:
        return f"<{kind} {log.path}: no rows>"
    first, last = log.times[[0, -1]]
    return f"<{kind} {log.path}: {log.row_count} rows from {first:g} to {last:g} s, {len(names_of(log))} columns>"


def html_of(log: Any, kind: str) -> str:
    """A table of the columns with their first and last values, for notebooks."""
    import html  # late: 2 ms of each start of a command

    lines = [f"<p><code>{html.escape(text_of(log, kind))}</code></p>"]
    if log.row_count:
        units = [unit for path in fields_of(log) for unit in log.units[path]]
        rows = list(zip(_columns(log).items(), units, strict=True))
        lines.append("<table><tr><th>column</th><th>unit</th><th>first</th><th>last</th></tr>")
        for (name, values), unit in rows[:MOST_LISTED]:
            cells = html.escape(name), html.escape(unit), f"{values[0]:.6g}", f"{values[-1]:.6g}"
            lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        lines.append("</table>")
        if len(rows) > MOST_LISTED:
            lines.append(f"<p>and {len(rows) - MOST_LISTED} more columns</p>")
    return "\n".join(lines)
