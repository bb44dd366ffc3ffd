"""`mbcli sweep status` and `mbcli sweep merge`: what the journals of a sweep say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from mbcli.cli.options import usage_errors
from mbcli.cli.output import emit, write_file
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.common.output_files import is_special

if TYPE_CHECKING:
    from mbcli.sweeps.result_table import ResultTable


@click.command("status")
@click.argument("output", metavar="OUTPUT")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def status(output: str, as_json: bool) -> int:
    """Show how far a sweep is: OUTPUT is what -o of the sweep names.

    The journals beside OUTPUT say it, on any machine that sees them, while the sweep runs or after it was lost.
    """
    from mbcli.sweeps.shards import Journals
    from mbcli.sweeps.status import sweep_status
    from mbcli.sweeps.stores import as_place

    found = sweep_status(Journals(as_place(output)))
    if as_json:
        click.echo(to_json({"schema": "mbcli/sweep-status", "schema_version": 1, **found}))
        return 0
    states = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in found["states"].items())
    emit(f"{found['done']} of {counted(found['cases'], 'case')}{f': {states}' if states else ''}")
    if found["parts"] > 1:
        emit(f"{len(found['journals'])} of {found['parts']} parts have begun")
    if found["done"] < found["cases"] and found["eta"] is not None:
        emit(f"{found['eta']:.0f} s left at the rate of late; the last came {found['idle']:.0f} s ago")
    if found["workers"] is not None:
        emit(counted(found["workers"], "worker"))
    for kind in ("slowest", "failed"):
        for case in found[kind]:
            values = ", ".join(f"{name}={value}" for name, value in case["values"].items())
            said = f"{case['wall_time']:.3g} s" if kind == "slowest" else f"{case['status']}: {case['message']}"
            emit(f"{kind}: point {case['point']} ({values}): {said}")
    return 0


@click.command("merge")
@click.argument("output", metavar="OUTPUT")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing.")
def merge(output: str, force: bool, quiet: bool) -> int:
    """Write the table of a sweep that ran in parts (--shard K/N): OUTPUT is what -o of each part names."""
    from mbcli.sweeps.data_set import check_folder, is_folder
    from mbcli.sweeps.shards import Journals
    from mbcli.sweeps.stores import as_place

    output = as_place(output)
    with usage_errors():
        check_format(output)
        journals = Journals(output)
        if is_folder(output):
            check_folder(output, force)
            journals.write_data_set(output)
        else:
            write_table(journals.table(), output, force)
    if not quiet:
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in journals.counts().items())
        runs, parts = counted(len(journals), "run"), counted(journals.parts, "part")
        click.echo(f"mbcli: {runs} of {parts}: {counts}", err=True)
    return 0


def check_format(output: str) -> None:
    """What is wrong with the name of an output."""
    suffix = os.path.splitext(output)[1].lower()
    if suffix not in (".csv", ".parquet") and not output.endswith("/"):
        raise click.UsageError(f"-o {output}: the table is a .csv or .parquet file, or a FOLDER/ of these")
    if suffix == ".parquet":
        from mbcli.sweeps.result_table import require_parquet

        require_parquet(output)


def write_table(table: ResultTable, output: str, force: bool) -> None:
    """Writes a table as the suffix of the output says."""
    if output.lower().endswith(".parquet"):
        table.write_parquet(output, force=force)
    elif is_special(output):
        write_file(output, table.as_csv(), force)
    else:
        table.write_csv(output, force=force)
