"""Reads the states of a batch: CSV, JSON lines, NPZ, an HDF5 log, MCAP, a bag of ROS 2, Parquet or Arrow; chunks of a
file or a pipe.

A state sets positions q [rad or m], velocities v [rad/s or m/s] and, if the analysis wants them,
accelerations vdot, generalized forces tau, actuation u and the time. The names of the columns of CSV,
Parquet and Arrow and of the keys of JSON lines follow one convention:

    NAME                the position or the velocity of that name
    q:NAME  v:NAME      the same, stated explicitly (needed if a position and a velocity share a name)
    vdot:NAME tau:NAME  acceleration or generalized force, by the name of the velocity
    u:NAME              actuation, by the name of the actuator
    time                seconds

Short names are enough if they mean one coordinate (mbcli/common/coordinate_names.py): `elbow` is the
position of that joint.
Logs are read by whole names.

What rows have to give is the caller's demand (row_demands.py); the rest has its default: the model's for q and v, zero
for the rest of a vdot, tau or u that is given in part. Columns and keys that mean nothing are told once and not used.
Everything else is an error that names the file, the line and the column. The rows before a bad row are still delivered,
whatever the size of the chunks. CSV is what mbcli/common/text_tables.py reads: any separator, comments, units.

A JSON line may also give a whole field, as an array in the order of the model or as an object of
NAME: number: q or positions, v or velocities, vdot or accelerations, tau or forces, u or actuation. An NPZ
file has arrays q, v, vdot, tau, u of shape (n, number of components) and time (n,). Of a log, time, q, v and
u are read, by their names.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Generator
from contextlib import ExitStack, closing
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mbcli.batch import BINARY_FORMATS, FORMAT_OF_SUFFIX, INPUT_FORMATS, is_bag
from mbcli.batch.arriving_bytes import (
    BYTE_ORDER_MARK,
    LONGEST_LINE,
    READ_SIZE,
    ArrivingLines,
    RestoredStream,
    read_arrived,
)
from mbcli.batch.state_columns import OPTIONAL_FIELDS
from mbcli.batch.state_layout import StateLayout
from mbcli.common.fast_dataclass import dataclass
from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from mbcli.batch.state_columns import Table
    from mbcli.math.array_types import Array

FEWEST_ROWS = 16  # of a chunk
# the most rows of a chunk, and numbers in mass matrices of its rows: of text, and of arrays, which take less time a row
MOST_OF_TEXT, MOST_OF_ARRAYS = (4096, 1 << 19), (16384, 1 << 20)
NEED_ALL = ("npz", "hdf5", "parquet", "mcap")  # formats that cannot be read before their end
SIGNATURES = {
    b"PK\x03\x04": "npz",
    b"PK\x05\x06": "npz",
    b"\x89HDF\r\n\x1a\n": "hdf5",
    b"PAR1": "parquet",
    b"\x89MCAP0\r\n": "mcap",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
}


@dataclass(frozen=True)
class StateChunk:
    """Consecutive rows of a batch. vdot, tau, u and time are None if the input does not have them.

    q (n, nq) [rad or m], v (n, nv) [rad/s or m/s], vdot (n, nv), tau (n, nv) [N m or N], u (n, nu),
    time (n,) [s]. first_row is the index of the first row in the batch, counted from 0. given: which of q and v the
    input has at least a part of.
    """

    q: Array
    v: Array
    vdot: Array | None
    tau: Array | None
    u: Array | None
    time: Array | None
    first_row: int
    given: tuple[str, ...] = ("q", "v")

    def __len__(self) -> int:
        return len(self.q)


def open_states(
    source: str | os.PathLike[str] | IO[bytes],
    layout: StateLayout,
    *,
    input_format: str | None = None,
    rows_per_chunk: int | None = None,
) -> Generator[StateChunk, None, None]:
    """Opens a batch of states and returns an iterator of its chunks, in the order of the input.

    A chunk holds at most rows_per_chunk rows. From a pipe, CSV, JSON lines and Arrow are delivered as soon as they
    have arrived; NPZ, HDF5, MCAP and Parquet cannot be read before their end and are first spooled to a temporary file.
    An input without rows gives no chunk. A file of arrays is read ahead by a thread, which ends with the iterator.

    Args:
      source: a path, "-" for standard input, or a binary file object.
      layout: the coordinates of the model.
      input_format: one of INPUT_FORMATS; by default the suffix decides, then the content.
      rows_per_chunk: the most rows of a chunk; by default so many that a mass matrix of each has 4 MB in all, 8 MB
        if the file has arrays.

    Raises:
      ResourceError: the file is missing or cannot be read.
      ModelError: the content is wrong: `FILE:LINE: error: ...`; raised here or by the iterator.
    """
    if input_format is not None and input_format not in INPUT_FORMATS:
        raise ValueError(f"unknown input format {input_format!r}, expected one of {', '.join(INPUT_FORMATS)}")
    if rows_per_chunk is not None and rows_per_chunk < 1:
        raise ValueError(f"rows_per_chunk is {rows_per_chunk}, expected at least 1")
    if input_format == "rosbag" or (input_format is None and is_bag(source)):
        if hasattr(source, "read") or os.fspath(source) == "-":
            raise ResourceError("a bag of ROS 2 is read from its file or folder, not from a pipe")
        from mbcli.batch.ros_bag_states import read_bag

        tables = read_bag(os.fspath(source), layout, rows_per_chunk or _rows_per_chunk("rosbag", layout))
        return _chunks(tables, layout, ExitStack())
    with ExitStack() as resources:
        stream, name, suffix = _open_source(source, resources)
        input_format = input_format or FORMAT_OF_SUFFIX.get(suffix)
        head = b""
        if input_format is None:
            head = _read_head(stream, name)
            input_format = _format_of_content(head)
        if input_format in BINARY_FORMATS and head and stream.seekable():
            stream.seek(-len(head), os.SEEK_CUR)
        elif input_format == "arrow" and head:
            stream = io.BufferedReader(RestoredStream(head, stream))
        elif input_format in NEED_ALL and not (stream.seekable() if input_format != "hdf5" else os.path.isfile(name)):
            stream = _temporary_copy(stream, head, name, resources)
        kept = resources.pop_all()
    rows_per_chunk = rows_per_chunk or _rows_per_chunk(input_format, layout)
    if input_format in ("csv", "jsonl"):
        from mbcli.batch.csv_states import read_csv
        from mbcli.batch.json_states import read_json_lines

        read_rows = read_csv if input_format == "csv" else read_json_lines
        tables = read_rows(ArrivingLines(stream, name, head), layout, rows_per_chunk)
    elif input_format in ("npz", "hdf5"):
        from mbcli.batch.array_states import read_log, read_npz

        read_arrays = read_npz if input_format == "npz" else read_log
        tables = read_arrays(stream, name, layout, rows_per_chunk)
    elif input_format == "mcap":
        from mbcli.batch.mcap_states import read_mcap

        tables = read_mcap(stream, name, layout, rows_per_chunk)
    else:
        from mbcli.batch.arrow_states import read_arrow, read_parquet

        read_table = read_parquet if input_format == "parquet" else read_arrow
        tables = read_table(stream, name, layout, rows_per_chunk)
    if input_format in BINARY_FORMATS and _is_file(stream):
        from mbcli.batch.reading_thread import read_ahead

        tables = read_ahead(tables)
    return _chunks(tables, layout, kept)


def _rows_per_chunk(input_format: str, layout: StateLayout) -> int:
    rows, numbers = MOST_OF_ARRAYS if input_format in BINARY_FORMATS else MOST_OF_TEXT
    return min(max(numbers // max(len(layout.velocity_names) ** 2, 1), FEWEST_ROWS), rows)


def _is_file(stream: IO[bytes]) -> bool:
    """Whether a read ends by itself."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):  # not a stream of the system
        return False


def _chunks(
    tables: Generator[Table, None, None], layout: StateLayout, resources: ExitStack
) -> Generator[StateChunk, None, None]:
    """Makes chunks of (number of rows, {field: array}) pairs and closes the input at their end."""
    first_row = 0
    with resources, closing(tables):
        for count, arrays in tables:
            if not count:
                continue
            given = tuple(field for field in ("q", "v") if field in arrays)
            for field in ("q", "v"):
                if field not in arrays:
                    arrays[field] = np.tile(layout.default(field), (count, 1))
            optional = {field: arrays.get(field) for field in OPTIONAL_FIELDS}
            yield StateChunk(q=arrays["q"], v=arrays["v"], first_row=first_row, given=given, **optional)
            first_row += count


# --- sources --------------------------------------------------------------------------------------


def _open_source(source: Any, resources: ExitStack) -> tuple[IO[bytes], str, str]:
    """The stream, the name it has in messages, and its suffix."""
    if hasattr(source, "read"):
        name = getattr(source, "name", None)
        return source, name if isinstance(name, str) else "<stream>", ""
    name = os.fspath(source)
    if name == "-":
        return sys.stdin.buffer, "<stdin>", ""
    try:
        stream = resources.enter_context(open(name, "rb"))  # noqa: SIM115
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot read the states: {error.strerror}") from None
    return stream, name, os.path.splitext(name)[1].lower()


def _read_head(stream: IO[bytes], name: str) -> bytes:
    """The first bytes: enough to tell the format, and no more than that is waited for."""
    head = b""
    beginnings = (BYTE_ORDER_MARK, *SIGNATURES)
    while True:
        undecided = not head.removeprefix(BYTE_ORDER_MARK).strip() or any(
            len(head) < len(beginning) and beginning.startswith(head) for beginning in beginnings
        )
        if not undecided or len(head) > LONGEST_LINE:
            return head
        data = read_arrived(stream, name)
        if not data:
            return head
        head += data


def _format_of_content(head: bytes) -> str:
    for signature, input_format in SIGNATURES.items():
        if head.startswith(signature):
            return input_format
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    return "jsonl" if text[:1] in (b"{", b"[") else "csv"


def _temporary_copy(stream: IO[bytes], head: bytes, name: str, resources: ExitStack) -> IO[bytes]:
    """A named temporary file with all bytes of a pipe until its end."""
    import shutil
    import tempfile  # with `random`, more than a small batch takes

    copy = resources.enter_context(tempfile.NamedTemporaryFile())  # noqa: SIM115
    copy.write(head)
    try:
        shutil.copyfileobj(stream, copy, READ_SIZE)
    except OSError as error:
        raise ResourceError(f"{name}: error: cannot keep a copy of the pipe: {error.strerror}") from None
    copy.seek(0)
    return copy
