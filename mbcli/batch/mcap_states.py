"""States from MCAP files (package mcap): messages of joints as JSON or of ROS 2, or topics that `log export` writes."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch.array_states import LOG_FIELDS
from mbcli.batch.ros_frames import FrameTracks
from mbcli.batch.state_columns import demanded_columns, fields_of_table
from mbcli.common.extra_packages import import_extra
from mbcli.common.ros_messages import IMU, JOINTS, NANOSECONDS, TRANSFORMS, WRENCH, RosTypes
from mbcli.common.text_tables import shown
from mbcli.errors import MbcliError, ModelError, ResourceError

if TYPE_CHECKING:
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_layout import StateLayout
    from mbcli.math.array_types import Array

    Row = tuple[tuple[str, ...], list[float]]  # columns, and their values

OF_JOINTS = {"position": "q", "velocity": "v", "effort": "tau"}  # lists of a JointState message, and what they are


def read_mcap(stream: IO[bytes], name: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    """Rows by the time of messages, less that of the first; messages of one time make one row.

    A message of joints has a list `name` and some of `position`, `velocity`, `effort` (sensor_msgs/JointState, as CDR
    or as JSON); its time is header.stamp, or when it was logged. Of ROS 2, transforms, IMUs and wrenches are read too
    (ros_frames.py): rows beyond their times are left out. Other topics are not used.
    """
    rows = JointRows()
    _take(stream, name, rows)
    yield from rows.tables(name, layout, rows_per_chunk)


def take_mcap(path: str, rows: JointRows) -> None:
    """The messages of a file. ResourceError if it cannot be read, ModelError if it is not MCAP."""
    try:
        with open(path, "rb") as stream:
            _take(stream, path, rows)
    except OSError as error:
        raise ResourceError(f"{path}: error: cannot be read: {error.strerror}") from None


def _take(stream: IO[bytes], name: str, rows: JointRows) -> None:
    reader_of = import_extra("mcap.reader", "mcap").make_reader
    try:
        for schema, channel, message in reader_of(stream).iter_messages():
            if channel.message_encoding == "json":
                rows.take(channel.topic, message.log_time, json.loads(message.data))
            elif channel.message_encoding != "cdr":
                rows.leave(channel.topic, channel.message_encoding)
            else:
                rows.take_cdr(channel.topic, message.log_time, getattr(schema, "name", ""), message.data)
    except MbcliError:
        raise
    except Exception as error:  # of mcap, which has several, of JSON and of CDR
        raise ModelError(f"{name}: error: not MCAP that can be read: {error}") from None


class JointRows:
    """Rows of messages by their time; those of one time make one row."""

    def __init__(self) -> None:
        self._rows: dict[int, Row] = {}
        self._others: set[str] = set()  # topics that were not used
        self._frames: FrameTracks | None = None
        self._types: RosTypes | None = None
        self._columns: dict[tuple[Any, ...], tuple[str, ...]] = {}

    def take(self, topic: str, logged: int, message: Any) -> None:
        """A message as JSON; logged: [ns], its time where it says none."""
        stamp, numbers = _numbers(topic, message)
        if numbers:
            self._add(logged if stamp is None else stamp, tuple(numbers), list(numbers.values()))

    def take_cdr(self, topic: str, logged: int, kind: str, data: bytes) -> None:
        """A message of ROS 2 of a type."""
        if kind not in (JOINTS, TRANSFORMS, IMU, WRENCH):
            self.leave(topic, kind or "no type")
            return
        self._types = self._types or RosTypes()
        message = self._types.read(kind, data)
        if kind == JOINTS:
            self._take_joints(logged, message)
            return
        self.leave(topic, kind)  # unless its frame is a base or a foot
        self._frames = self._frames or FrameTracks()
        taken = {TRANSFORMS: FrameTracks.take_transforms, IMU: FrameTracks.take_imu, WRENCH: FrameTracks.take_wrench}
        taken[kind](self._frames, message)

    def _take_joints(self, logged: int, joints: Any) -> None:
        given = [getattr(joints, key)[: len(joints.name)] for key in OF_JOINTS]
        shape = (*joints.name, *map(len, given))
        columns = self._columns.get(shape)
        if columns is None:
            columns = self._columns[shape] = tuple(
                f"{field}:{joint}"
                for field, values in zip(OF_JOINTS.values(), given, strict=True)
                for joint, _ in zip(joints.name, values, strict=False)
            )
        if columns:
            stamp = joints.header.stamp
            self._add(
                int(stamp.sec) * NANOSECONDS + int(stamp.nanosec) or logged, columns, np.concatenate(given).tolist()
            )

    def _add(self, stamp: int, columns: tuple[str, ...], values: list[float]) -> None:
        earlier = self._rows.get(stamp)
        if earlier is not None:
            both = dict(zip(*earlier, strict=True)) | dict(zip(columns, values, strict=True))
            columns, values = tuple(both), list(both.values())
        self._rows[stamp] = columns, values

    def leave(self, topic: str, what: str) -> None:
        """A message that is not used, of a type or an encoding."""
        self._others.add(f"{topic} ({what})")

    def tables(self, name: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
        """The rows of a file of this name. ModelError if there are none, or if one lacks what others have."""
        names, values = _values(self._rows, name)
        if self._frames is not None:
            times = np.array(sorted(self._rows), dtype=np.int64)
            rates = not self._rows or any(column.startswith("v:") for column in names)
            more, found, inside = self._frames.columns(times, layout, name, rates)
            if not self._rows and len(more) > 1:
                names, values = more, found
            else:
                names, values = [*names, *more[1:]], np.concatenate([values, found[:, 1:]], axis=1)
            values = values[inside]
        if not len(values):
            why = f"; there are {', '.join(sorted(self._others))}" if self._others else ""
            raise ModelError(f"{name}: error: no messages with the positions of joints{why}")
        values[:, 0] = (values[:, 0] - values[0, 0]) / NANOSECONDS
        yield from _tables(names, values, name, layout, rows_per_chunk)


def _values(rows: dict[int, Row], name: str) -> tuple[list[str], Array]:
    """Names of the columns, and values (n, columns), the time [ns] first."""
    times = sorted(rows)
    columns = rows[times[0]][0] if times else ()
    values = np.empty((len(times), len(columns) + 1))
    for k, stamp in enumerate(times):
        own, numbers = rows[stamp]
        if own != columns:
            if set(own) != set(columns):
                other = next(iter(set(own) ^ set(columns)))
                raise ModelError(
                    f"{name}: error: {shown(other)} is not in all messages: see time {stamp / NANOSECONDS:g}"
                )
            found = dict(zip(own, numbers, strict=True))
            numbers = [found[column] for column in columns]
        values[k, 0] = stamp - times[0]
        values[k, 1:] = numbers
    return ["time", *columns], values


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
