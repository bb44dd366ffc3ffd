"""`mbcli sweep status` and `sweep merge`: what the journals of a sweep say; `sweep run`: one that is in a bundle."""

from __future__ import annotations

from typing import Any

import click

from mbcli.cli.options import take, usage_errors
from mbcli.cli.output import emit
from mbcli.cli.sweep_running import (
    check_format,
    check_outputs,
    engine_options,
    exit_code,
    report,
    run_points,
    write_table,
)
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted


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


@click.command("run")
@click.argument("bundle", metavar="BUNDLE")
@engine_options
@click.option("-q", "--quiet", is_flag=True, help="Say nothing.")
def run(bundle: str, quiet: bool, **values: Any) -> int:
    """Run a sweep that --bundle has written: BUNDLE is a file, or an address in a store.

    Nothing else is needed, but mbcli of the same version. Controllers in it are programs, and are run.
    """
    from mbcli.sweeps.packed_sweep import unpack_sweep
    from mbcli.sweeps.stores import as_place

    options = take(values, tuple(values))
    with usage_errors():
        check_outputs(options)
        table, progress = run_points(unpack_sweep(as_place(bundle)), options, quiet)
        if options.output in (None, "-"):
            click.echo(table.as_csv(), nl=False)
    if not quiet:
        report(table, progress, options)
    return exit_code(table)
