"""Batch analysis: states in (state_reader), results out (result_writer), chunk by chunk and in order."""

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
}
"""The file suffixes of the formats."""

FORMATS = ("jsonl", "csv", "npz", "hdf5", "parquet", "arrow")
"""The formats that states are read from and results are written to; see also INPUT_FORMATS."""

INPUT_FORMATS = (*FORMATS, "mcap")
"""The formats that states are read from."""

BINARY_FORMATS = ("npz", "hdf5", "parquet", "arrow", "mcap")
"""Those that are no text."""
