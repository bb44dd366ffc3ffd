"""The columns of a log summed up, and at chosen times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbcli.log.column_names import column_names, flat_rows
from mbcli.log.export import Selection, chunks_of
from mbcli.log.joined_worlds import WORLD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.log.reader import Log


def summary_of_columns(log: Log, selection: Selection) -> list[dict[str, Any]]:
    """field, name, unit, first, last, least, least_time, largest, largest_time and mean of each column.

    Of many worlds (JoinedWorlds) least_world and largest_world in place of first and last. Numbers that are not finite
    are left out of all but first and last; None where there is none.
    """
    of_worlds = WORLD in selection.fields
    shown = [path for path in selection.fields if path != WORLD]
    columns = _columns(log, shown)
    count = len(columns)
    least, largest = np.full(count, np.inf), np.full(count, -np.inf)
    at_least, at_largest = np.full(count, np.nan), np.full(count, np.nan)
    worlds = np.full((2, count), np.nan)  # of the least and of the largest
    total, seen = np.zeros(count), np.zeros(count)
    first = last = np.full(count, np.nan)
    for number, chunk in enumerate(chunks_of(log, selection)):
        times = chunk["time"]
        values = np.hstack([flat_rows(chunk[path]).astype(float) for path in shown] or [np.empty((len(times), 0))])
        first = values[0] if number == 0 else first
        last = values[-1]
        finite = np.isfinite(values)
        with np.errstate(over="ignore"):  # then there is no mean
            total += np.where(finite, values, 0.0).sum(axis=0)
        seen += finite.sum(axis=0)
        low, high = np.where(finite, values, np.inf), np.where(finite, values, -np.inf)
        for k in range(count):
            i, j = int(low[:, k].argmin()), int(high[:, k].argmax())
            if low[i, k] < least[k]:
                least[k], at_least[k] = low[i, k], times[i]
                worlds[0, k] = chunk[WORLD][i] if of_worlds else np.nan
            if high[j, k] > largest[k]:
                largest[k], at_largest[k] = high[j, k], times[j]
                worlds[1, k] = chunk[WORLD][j] if of_worlds else np.nan
    ends = {"least_world": worlds[0], "largest_world": worlds[1]} if of_worlds else {"first": first, "last": last}
    numbers = {
        **ends,
        "least": least,
        "least_time": at_least,
        "largest": largest,
        "largest_time": at_largest,
        "mean": np.divide(total, seen, out=np.full(count, np.nan), where=seen > 0),
    }
    return [
        column | {key: float(values[k]) if np.isfinite(values[k]) else None for key, values in numbers.items()}
        for k, column in enumerate(columns)
    ]


def columns_at(log: Log, fields: Sequence[str], times: Sequence[float]) -> list[dict[str, Any]]:
    """field, name, unit and values of each column at each time [s]. ResourceError if a time has no row."""
    rows = [log.row_at(time) for time in times]
    columns = _columns(log, fields)
    values = []
    for row in rows:
        block = next(log.chunks(list(fields), start=row, stop=row + 1)) if fields else {}
        values.append(np.concatenate([flat_rows(block[path])[0].astype(float) for path in fields] or [[]]))
    return [
        column | {"values": [float(v[k]) if np.isfinite(v[k]) else None for v in values]}
        for k, column in enumerate(columns)
    ]


def _columns(log: Log, fields: Iterable[str]) -> list[dict[str, Any]]:
    names = iter(column_names(log, fields))
    return [{"field": path, "name": next(names), "unit": unit} for path in fields for unit in log.units[path]]
