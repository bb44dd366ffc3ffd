"""Simulation logs in HDF5. docs/log_format.md describes the files.

format      what a log consists of: fields, attributes, the header that a run gives
writer      LogWriter: writes a log that survives the death of its process
reader      Log: reads complete and unfinished logs
provenance  which software made a log
export      logs as CSV, JSON lines and NPZ
"""
