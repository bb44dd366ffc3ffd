"""States from bags of ROS 2: SQLite files of rosbag2, or the folder of a bag with its files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

import yaml

from mbcli.batch import METADATA
from mbcli.batch.mcap_states import JointRows, take_mcap
from mbcli.errors import MbcliError, ModelError, ResourceError

if TYPE_CHECKING:
    from mbcli.batch.state_columns import Table
    from mbcli.batch.state_layout import StateLayout

SUFFIX = ".db3"


def read_bag(path: str, layout: StateLayout, rows_per_chunk: int) -> Generator[Table, None, None]:
    """Rows of the messages of joints, as read_mcap() gives them, of a folder or of one file."""
    rows = JointRows()
    for file in _files_of(path) if os.path.isdir(path) else [path]:
        if file.lower().endswith(SUFFIX):
            _take_sqlite(file, rows)
        else:
            take_mcap(file, rows)
    yield from rows.tables(path, layout, rows_per_chunk)


def _files_of(folder: str) -> list[str]:
    """Those that the metadata name, in their order. ModelError for what is no bag, or is compressed."""
    path = os.path.join(folder, METADATA)
    try:
        with open(path, encoding="utf-8") as stream:
            about = yaml.safe_load(stream)["rosbag2_bagfile_information"]
        names, packed = [str(name) for name in about["relative_file_paths"]], about.get("compression_format")
    except OSError as error:
        raise ResourceError(f"{path}: error: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, KeyError, TypeError, AttributeError, ValueError):
        raise ModelError(f"{path}: error: not the metadata of a bag of ROS 2") from None
    if packed:
        raise ModelError(f"{path}: error: the bag is compressed as {packed}; `ros2 bag convert` writes one that is not")
    outside = [name for name in names if os.path.basename(name) != name]
    if outside or not names:
        raise ModelError(f"{path}: error: a bag has files of its folder, not {outside[0] if outside else 'none'}")
    return [os.path.join(folder, name) for name in names]


def _take_sqlite(path: str, rows: JointRows) -> None:
    """The messages of a file of rosbag2's storage sqlite3, in the order of their times."""
    if not os.path.isfile(path):
        raise ResourceError(f"{path}: error: cannot be read: no such file")
    address = f"file:{quote(os.path.abspath(path))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            named = database.execute("SELECT id, name, type, serialization_format FROM topics")
            topics = {number: (str(name), str(kind), str(form)) for number, name, kind, form in named}
            query = "SELECT topic_id, timestamp, data FROM messages ORDER BY timestamp"
            for number, time, data in database.execute(query):
                topic, kind, form = topics[number]
                if form == "cdr":
                    rows.take_cdr(topic, int(time), kind, data)
                else:
                    rows.leave(topic, form)
    except MbcliError:
        raise
    except Exception as error:  # of SQLite and of CDR
        raise ModelError(f"{path}: error: not a bag of ROS 2 that can be read: {error}") from None
