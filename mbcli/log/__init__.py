"""Simulation logs in HDF5. docs/reference/log_format.md describes the files.

    import mbcli.log

    log = mbcli.log.open("run.h5")  # or open_log
    log.times, log.q, log.v, log.energy, log.column("elbow"), log.state(0.5), log.events(), log.contacts()
    for surface in log.surfaces(0.5):  # of contact, if the faces were logged
        surface.body_a, surface.area, surface.polygons, surface.pressures

format      what a log consists of: attributes, the datasets of every log, the header that a run gives
datasets    a dataset as the format describes it, and as one log has it
fields      what a run can log, one file a field; how it is computed
rows        what can be asked of the rows of every log
tables      rows as a mapping of columns, and as tables of pandas, polars and xarray
column_names  the names of the columns
writer      LogWriter: writes a log that survives the death of its process
contact_writer  what a row has any number of: contacts, faces, corners
reader      Log: reads complete and unfinished logs
description  a log as a document
contact_reader  contacts, faces and corners in a file
surfaces    contact surfaces as objects, their faces as triangles
memory      MemoryLog: the log of a run that writes no file
stored_texts  texts of fixed length
guarded_file  the one way to the contents of a file that is read, which is untrusted input
opened_file  opening the file, whoever wrote it last
worlds, worlds_writer  logs of many worlds: read, written
provenance  which software made a log
packing     a log written anew, compressed
recovery    what is left of a killed or damaged log, as a finished one
difference  where two logs differ
statistics  the columns of a log summed up
export      logs as CSV, JSON lines and NPZ
export_tables  logs as Parquet and MATLAB; `mbcli.pictures.timelines`: as MCAP and rrd
"""

from mbcli.lazy_exports import lazy_exports

TYPE_CHECKING = False  # True to type checkers
if TYPE_CHECKING:
    import os

with lazy_exports(__name__, "open", "open_log"):
    from mbcli.log.memory import MemoryLog as MemoryLog
    from mbcli.log.reader import Log as Log
    from mbcli.log.rows import State as State
    from mbcli.log.worlds import WorldsLog as WorldsLog


def open_log(path: "str | os.PathLike[str]") -> "Log | WorldsLog":
    """A log to read from, complete or unfinished; it is a context manager.

    Args:
      path: the log, or the .partial file of a run that is going on or has died.

    Returns:
      A Log, of many worlds a WorldsLog.

    Raises:
      ResourceError: the file is missing or cannot be read.
      ModelError: the file is not a log, is damaged, or is of a later format version.

    Example:
      >>> mbcli.simulate("sample_models/double_pendulum.urdf", until=0.05, log="run.h5").close()
      >>> with mbcli.open_log("run.h5") as run:
      ...     print(run.q.shape)
      (6, 2)
    """
    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog, is_worlds_log

    return WorldsLog(path) if is_worlds_log(path) else Log(path)


open = open_log  # `mbcli.log.open`, as one says h5py.File or gzip.open
