"""States from MCAP files (package mcap): JSON messages of joints, or the topics that `log export` writes."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch.array_states import LOG_FIELDS
from mbcli.batch.state_columns import demanded_columns, fields_of_table
from mbcli.common.extra_packages import import_extra
from mbcli.common.text_tables import shown
from mbcli.errors import MbcliError, ModelError

if TYPE_CHECKING:
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_layout import StateLayout
    from mbcli.math.array_types import Array

NANOSECONDS = 1_000_000_000
OF_JOINTS = {"position": "q", "velocity": "v", "effort": "tau"}  # lists of a JointState message, and what they are


def read_mcap(stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    """Rows by the time of messages, less that of the first; messages of one time make one row.

    A message of joints has a list `name` and some of `position`, `velocity`, `effort` (sensor_msgs/JointState as JSON);
    its time is header.stamp, or when it was logged. Other topics with JSON are not used.
    """
    rows: dict[int, dict[str, float]] = {}
    others = set()
    reader_of = import_extra("mcap.reader", "mcap").make_reader
    try:
        for _, channel, message in reader_of(stream).iter_messages():
            if channel.message_encoding != "json":
                others.add(f"{channel.topic} ({channel.message_encoding})")
                continue
            stamp, numbers = _numbers(channel.topic, json.loads(message.data))
            if numbers:
                rows.setdefault(message.log_time if stamp is None else stamp, {}).update(numbers)
    except MbcliError:
        raise
    except Exception as error:  # of mcap, which has several, and of JSON
        raise ModelError(f"{name}: error: not MCAP that can be read: {error}") from None
    if not rows:
        why = f"; only JSON is read, not {', '.join(sorted(others))}" if others else ""
        raise ModelError(f"{name}: error: no messages with the positions of joints{why}")
    times = sorted(rows)
    columns = list(rows[times[0]])
    values = np.empty((len(times), len(columns) + 1))
    for k, stamp in enumerate(times):
        row = rows[stamp]
        if row.keys() != set(columns):
            other = next(iter(row.keys() ^ set(columns)))
            raise ModelError(f"{name}: error: {shown(other)} is not in all messages: see time {stamp / NANOSECONDS:g}")
        values[k, 0] = (stamp - times[0]) / NANOSECONDS
        values[k, 1:] = [row[column] for column in columns]
    yield from _tables(["time", *columns], values, name, layout, rows_per_chunk)


def _numbers(topic: str, message: Any) -> tuple[int | None, dict[str, float]]:
    """Time [ns] if the message says one, and {column: number}; none of a message of something else."""
    if not isinstance(message, dict):
        return None, {}
    if isinstance(message.get("name"), list):
        found: dict[str, float] = {}
        for key, field in OF_JOINTS.items():
            for joint, value in zip(message["name"], message.get(key) or (), strict=False):
                found[f"{field}:{joint}"] = np.nan if value is None else float(value)
        stamp = (message.get("header") or {}).get("stamp") or {}
        seconds = stamp.get("sec", stamp.get("secs", 0))
        when = int(seconds) * NANOSECONDS + int(stamp.get("nanosec", stamp.get("nsec", stamp.get("nsecs", 0))))
        return when or None, found
    of_log = LOG_FIELDS.get(topic.removeprefix("/"))
    if of_log is None:
        return None, {}
    return None, {f"{of_log}:{key}": np.nan if value is None else float(value) for key, value in message.items()}


def _tables(
    names: list[str], values: Array, name: str, layout: StateLayout, rows_per_chunk: int
) -> Generator[Table, None, None]:
    columns = demanded_columns(names, name, layout)
    bad = ~np.isfinite(values)
    if bad.any():
        k, column = (int(i) for i in np.argwhere(bad)[0])
        raise ModelError(f"{name}: error: row {k + 1}: column {shown(names[column])} is not a finite number")
    for start in range(0, len(values), rows_per_chunk):
        part = values[start : start + rows_per_chunk]
        yield len(part), fields_of_table(part, columns, layout)
