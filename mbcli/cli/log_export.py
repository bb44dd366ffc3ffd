"""`mbcli log export`: the rows of a log in other formats."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import Number, usage_errors
from mbcli.cli.output import refuse_existing, tell, written
from mbcli.cli.world_option import whole_log, world_option
from mbcli.common.json_text import to_json
from mbcli.common.output_files import is_special
from mbcli.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import IO

    from mbcli.log.export import Selection
    from mbcli.log.reader import Log

FORMATS = ("csv", "jsonl", "npz", "parquet", "mat", "mcap", "ros", "rrd")
OF_ALL_WORLDS = ("csv", "jsonl", "npz", "parquet", "mat")  # they have a column of the worlds' numbers
BINARY = ("npz", "parquet", "mat", "mcap", "ros", "rrd")


@click.command("export")
@click.argument("path", metavar="LOG")
@click.option("--to", "target", type=click.Choice(FORMATS), help="Format; default: by the suffix of -o.")
@click.option("-o", "--output", metavar="FILE", help="File to write; default: standard output.")
@click.option(
    "--fields",
    metavar="LIST",
    help="Comma-separated fields beside the time: q, v, u, PATH as in `log info`, a group, or columns by any "
    "unambiguous ending of their names, as elbow_q; contact: all contacts, as CSV one a line and without other fields; "
    "faces: those of contact surfaces, as CSV one corner a line. Default: all but contact and faces.",
)
@click.option("--from", "from_time", type=Number(), metavar="T", help="First time [s].")
@click.option("--to-time", type=Number(), metavar="T", help="Last time [s], included.")
@click.option("--every", type=click.IntRange(min=1), default=1, metavar="N", help="Only every Nth row.")
@world_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document on the file that was written.")
@click.option("--force", is_flag=True, help="Replace an existing output file.")
def log_export(
    path: str,
    target: str | None,
    output: str | None,
    fields: str | None,
    from_time: float | None,
    to_time: float | None,
    every: int,
    world: int | None,
    as_json: bool,
    force: bool,
) -> None:
    """Write the rows of a log as CSV, JSON lines, NPZ, Parquet, MATLAB, MCAP, a bag of ROS 2 or rrd.

    Columns: time [s], positions, velocities (named as in the log), then the other fields. Numbers read back
    exactly. With --fields q,v,u the result is an input for --states of the analysis commands. All worlds of a log of
    many are written one after the other, with a column world, as CSV, JSON lines, NPZ, Parquet or MATLAB.

    Parquet, MCAP (Foxglove, PlotJuggler) and rrd (Rerun) need mbcli[parquet], mbcli[mcap], mbcli[rerun]. For logs
    written with --fields poses, MCAP and rrd show the bodies in 3-D. With --to ros, MCAP has messages of ROS 2
    (mbcli[ros]): /joint_states, /tf of poses, and those of IMUs and force-torque sensors.

    \b
    mbcli log export run.h5 -o run.csv
    mbcli log export run.h5 --to csv --fields q,energy_kinetic --every 10 -o run.csv
    mbcli log export run.h5 --to ros -o run.mcap
    mbcli log export all.h5 --fields q -o all.parquet
    mbcli log export run.h5 --to csv --fields q,v | mbcli energy robot.urdf --states -
    """
    from mbcli.log import export as exports
    from mbcli.log.joined_worlds import JoinedWorlds

    to_stdout = output in (None, "-")
    file = output or ""  # unless it goes to stdout
    is_named = target is not None
    if target is None:
        target = "" if to_stdout else os.path.splitext(file)[1].lstrip(".").lower()
        if target not in FORMATS:
            raise click.UsageError(
                f"Give the format with --to, or by the suffix of -o: {', '.join(FORMATS)} (a bag of ROS 2)"
            )
    if to_stdout and as_json:
        raise click.UsageError("--json says what was written: it needs a file, -o FILE")
    if to_stdout and target in BINARY and sys.stdout.isatty():
        raise click.UsageError(f"{target} is binary: give a file with -o, or send it to a pipe.")
    if not to_stdout and not is_special(file):
        refuse_existing(file, force)
    log_path = path
    rows: dict[str, Any] = {"from_time": from_time, "to_time": to_time, "every": every}
    with whole_log(path, world, target in OF_ALL_WORLDS, **rows) as opened:
        whole, selection = selected(opened, fields, **({} if isinstance(opened, JoinedWorlds) else rows))
        write = _writer(target)
        if target == "csv" and len(selection.fields) > 1:
            for path in exports.RAGGED.keys() & selection.fields:
                message = f"CSV has either {exports.RAGGED[path]} or fields with a row a sample: give {path} alone"
                raise click.BadParameter(message, param_hint="--fields")
        with usage_errors():
            if not to_stdout:
                with exports.output_file(file, force) as stream:
                    write(whole, selection, stream)
                if target == "mcap" and not is_named:
                    tell(f"mbcli: {file} has messages of JSON, for Foxglove; --to ros writes those of ROS 2")
                if as_json:
                    click.echo(to_json(_document(log_path, whole, selection, file, target)))
                return
            _write_to_stdout(write, whole, selection, spooled=target not in exports.EXPORTERS)


def _document(log_path: str, log: Any, selection: Selection, file: str, target: str) -> dict[str, Any]:
    from mbcli.log.column_names import column_names, short_name
    from mbcli.log.export import RAGGED

    return {
        "schema": "mbcli/log-export",
        "schema_version": 1,
        "log": log_path,
        **written(file),
        "format": target,
        "rows": selection.row_count,
        "fields": [short_name(path) for path in selection.fields],
        "columns": ["time", *column_names(log, [path for path in selection.fields if path not in RAGGED])],
    }


def selected(log: Log, fields: str | None, *, rows_alone: bool = False, **rows: Any) -> tuple[Any, Selection]:
    """What export.select() gives for --fields; a usage error for a field that is not there, or has no row a sample."""
    from mbcli.log import export as exports
    from mbcli.log.joined_worlds import WORLD, JoinedWorlds

    names = None if fields is None else [name.strip() for name in fields.split(",") if name.strip()]
    if isinstance(log, JoinedWorlds) and names is not None:
        if exports.RAGGED.keys() & set(names):
            raise click.BadParameter("contacts and faces are those of one world: --world N", param_hint="--fields")
        names = [WORLD, *names]
    try:
        whole, selection = exports.select(log, fields=names, **rows)
        if rows_alone:
            exports.require_rows(selection.fields)
    except (LookupError, ArgumentError) as error:
        raise click.BadParameter(error.args[0], param_hint="--fields") from None
    return whole, selection


def _writer(target: str) -> Callable[[Log, Selection, IO[Any]], None]:
    from mbcli.log.export import EXPORTERS

    if target in EXPORTERS:
        return EXPORTERS[target]
    if target == "ros":
        from mbcli.pictures.ros_bag import export_ros

        return export_ros
    if target in ("mcap", "rrd"):
        from mbcli.pictures.timelines import TIMELINES

        return TIMELINES[target]
    from mbcli.log.export_tables import TABLES

    return TABLES[target]


def _write_to_stdout(
    write: Callable[[Log, Selection, IO[Any]], None], log: Log, selection: Selection, spooled: bool
) -> None:
    """spooled: the writer seeks, which a pipe cannot."""
    try:
        stream = sys.stdout.buffer
        if spooled:
            with tempfile.TemporaryFile() as spool:
                write(log, selection, spool)
                spool.seek(0)
                shutil.copyfileobj(spool, stream)
        else:
            write(log, selection, stream)
        stream.flush()
    except BrokenPipeError:  # the reader has enough, as `head`; click would exit with 1
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(141) from None
