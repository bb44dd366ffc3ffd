"""Batch analysis: states in (state_reader), results out (result_writer), chunk by chunk and in order."""

import os
from typing import Any

FORMAT_OF_SUFFIX = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npz": "npz",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".mcap": "mcap",
    ".db3": "rosbag",
}
"""The file suffixes of the formats."""

METADATA = "metadata.yaml"
"""The file of a bag's folder that names its other files."""

FORMATS = ("jsonl", "csv", "npz", "hdf5", "parquet", "arrow")
"""The formats that states are read from and results are written to; see also INPUT_FORMATS."""

INPUT_FORMATS = (*FORMATS, "mcap", "rosbag")
"""The formats that states are read from."""

BINARY_FORMATS = ("npz", "hdf5", "parquet", "arrow", "mcap", "rosbag")
"""Those that are no text."""


def is_bag(source: Any) -> bool:
    """Whether a path is a bag of ROS 2: a folder with its metadata, or a file of its own database."""
    if hasattr(source, "read"):
        return False
    name = os.fspath(source)
    suffix = os.path.splitext(name)[1].lower()
    return FORMAT_OF_SUFFIX.get(suffix) == "rosbag" or os.path.isfile(os.path.join(name, METADATA))
