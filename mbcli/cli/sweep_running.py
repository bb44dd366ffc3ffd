"""What `mbcli sweep` and `mbcli sweep run` share: where runs take place, what they write, and the line of progress."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import together
from mbcli.cli.output import refuse_given_inputs, tell, write_file
from mbcli.cli.progress_lines import TerminalLine
from mbcli.common.number_text import counted
from mbcli.common.output_files import is_special
from mbcli.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.cli.options import Options
    from mbcli.sweeps.result_table import ResultTable
    from mbcli.sweeps.sweeping import Sweep, SweepProgress

RETRIES = 2  # as cases.py has it; importing it would slow --help down
NONE_OK = 5  # exit code if no run came to its end
DRAWN_EVERY = 0.2  # [s] a line of progress


def cluster_options(retried: str, *more_names: str) -> Callable[[Any], Any]:
    """--dask, which may have more names, --ray, and --retries with what it says."""
    dask = "Run on this Dask cluster, as tcp://host:8786 (mbcli[dask])."
    ray = "Run on this Ray cluster: auto, host:6379, ray://host:10001 (mbcli[ray])."
    least = click.IntRange(min=0)
    return together(
        click.option("--dask", *more_names, metavar="ADDRESS", help=dask),
        click.option("--ray", metavar="ADDRESS", help=ray),
        click.option("--retries", type=least, default=RETRIES, metavar="N", help=f"{retried} [{RETRIES}]"),
    )


engine_options = together(
    click.option("-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; default: one a core."),
    cluster_options("Try a run again N times, on another worker, for what a machine did: see status.", "--scheduler"),
    click.option(
        "--shard", metavar="K/N", help="Run part K of N alone, as in an array of jobs; `sweep merge` joins them."
    ),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="The table: .csv, .parquet (mbcli[parquet]), or FOLDER/ of Parquet files written while runs end; "
        "FILE.journal keeps finished runs. FILE may lie in a store: s3://bucket/table.csv (mbcli[s3]). Default: CSV to "
        "stdout.",
    ),
    click.option(
        "--resume", is_flag=True, help="Continue from FILE.journal: run what is not in it, and what a machine spoilt."
    ),
    click.option("--force", is_flag=True, help="Replace existing files."),
)


def check_format(output: str) -> None:
    """What is wrong with the name of an output."""
    from mbcli.sweeps.data_set import is_folder

    suffix = os.path.splitext(output)[1].lower()
    if suffix not in (".csv", ".parquet") and not is_folder(output):
        raise click.UsageError(f"-o {output}: the table is a .csv or .parquet file, or a FOLDER/ of these")
    if suffix == ".parquet":
        from mbcli.sweeps.result_table import require_parquet

        require_parquet(output)


def check_outputs(options: Options) -> None:
    """Errors of the table and the journal that are to be written, before anything is loaded."""
    from mbcli.sweeps import stores
    from mbcli.sweeps.data_set import check_folder, is_folder

    if options.output in (None, "-"):
        if options.resume:
            raise click.UsageError("--resume needs -o FILE, whose journal it goes on with")
        if options.shard is not None:
            raise click.UsageError("--shard needs -o FILE, beside which its journal lies")
        return
    options.output = stores.as_place(options.output)
    check_format(options.output)
    if is_folder(options.output):
        check_folder(options.output, options.force or options.resume)
    journal = journal_beside(options) or ""
    if options.resume:
        refuse_given_inputs(options.output)
        if options.shard is None and not stores.exists(journal):  # a script of an array is the same each time
            raise click.UsageError(f"--resume: there is no {journal}")
        return
    if not is_folder(options.output):
        refuse_given_inputs(options.output)
        stores.refuse_existing(options.output, options.force)
    if stores.exists(journal) and not options.force:
        raise OutputError(f"{journal}: error: exists: --resume goes on with it, --force replaces it")


def journal_beside(options: Options) -> str | None:
    """The journal beside the output."""
    from mbcli.sweeps.shards import journal_of, parse_shard

    if options.output in (None, "-"):
        return None
    return journal_of(options.output, None if options.shard is None else parse_shard(options.shard))


def run_points(prepared: Sweep, options: Options, quiet: bool) -> tuple[ResultTable, SweepLine]:
    """Runs a sweep under engine_options, and writes its table if it is a file or a folder."""
    from mbcli.sweeps.data_set import is_folder
    from mbcli.sweeps.sweeping import run_sweep

    journal = journal_beside(options)
    output = None if journal is None or options.shard is not None else options.output
    is_data_set = output is not None and is_folder(output)
    with closing(SweepLine(not quiet, DRAWN_EVERY)) as progress:
        try:
            table = run_sweep(
                prepared,
                jobs=options.jobs,
                dask=options.dask,
                ray=options.ray,
                retries=options.retries,
                shard=options.shard,
                journal=journal,
                data_set=output if is_data_set else None,
                resume=options.resume,
                on_progress=progress,
            )
        except BaseException:
            if journal is not None and progress.done and not quiet:
                progress.close()
                click.echo(f"mbcli: {progress.done} runs are in {journal}; --resume goes on with them", err=True)
            raise
    if output is not None and not is_data_set:
        write_table(table, output, options.force or options.resume)
    return table, progress


def write_table(table: ResultTable, output: str, force: bool) -> None:
    """Writes a table as the suffix of the output says."""
    if output.lower().endswith(".parquet"):
        table.write_parquet(output, force=force)
    elif is_special(output):
        write_file(output, table.as_csv(), force)
    else:
        table.write_csv(output, force=force)


def exit_code(table: ResultTable) -> int:
    """That of a sweep whose table this is."""
    return 0 if table.counts().get("ok") else NONE_OK


def report(table: ResultTable, progress: SweepLine, options: Options) -> None:
    """How the sweep went, on stderr."""
    counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in table.counts().items())
    earlier = f", {progress.taken_over} of them before" if progress.taken_over else ""
    click.echo(f"mbcli: {counted(len(table.rows), 'run')} in {progress.seconds:.3g} s{earlier}: {counts}", err=True)
    shown: dict[str, Any] = {}
    for row in table.rows if counts != f"{len(table.rows)} ok" else ():
        if row["message"] and row["status"] != "ok":
            shown.setdefault(row["message"], row)
        if len(shown) == 3:
            break
    for message, row in shown.items():
        tell(f"mbcli: point {row['point']}, {row['status']}: {message}")
    if options.shard is not None:
        merge = f"`mbcli sweep merge {options.output}` writes the table"
        click.echo(f"mbcli: they are in {journal_beside(options)}; {merge}", err=True)


class SweepLine(TerminalLine):
    """How far a sweep is. done, taken_over: runs; seconds: of all."""

    done = taken_over = 0
    seconds = 0.0

    def __call__(self, progress: SweepProgress) -> None:
        self.done, self.taken_over, self.seconds = progress.done, progress.taken_over, progress.seconds
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        self.draw(lambda: f"{progress.done / progress.count:4.0%}  {progress.done} of {progress.count} runs{left}")
