"""`mbcli log recover`: what is left of a log whose run was killed, or that was damaged."""

from __future__ import annotations

import click

from mbcli.cli.output import printable, tell
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted


@click.command("recover")
@click.argument("path", metavar="LOG")
@click.option(
    "-o", "--output", metavar="FILE", help="The log to write; default: RUN.recovered.h5 of RUN.h5 and RUN.h5.partial."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def log_recover(path: str, output: str | None, force: bool, as_json: bool) -> None:
    """Write every sample that can be read to a new log.

    LOG is the .partial file of a killed run, or a damaged or truncated log. The new log has the provenance and the
    checkpoint of the old one: `mbcli simulate --resume` goes on from it. Numbers whose checksum is wrong become NaN
    (integers -1) and are reported; the old file stays as it is.

    \b
    mbcli log recover run.h5.partial
    mbcli simulate --resume run.recovered.h5
    mbcli log recover damaged.h5 -o rest.h5
    """
    from mbcli.common.output_files import is_special
    from mbcli.errors import OutputError
    from mbcli.log.recovery import recover

    if output is not None and is_special(output):
        raise OutputError(f"{output}: error: is not a regular file, in which a log can be written")
    result = recover(path, output or _default_output(path), force=force)
    if as_json:
        document = {"schema": "mbcli/log-recover", "schema_version": 1, "source": path, "log": result.log}
        counts = {"rows": result.rows, "dropped_rows": result.dropped, "missing_bytes": result.missing_bytes}
        click.echo(to_json({**document, **counts, "damage": list(result.damage)}))
        return
    if result.missing_bytes:
        tell(f"{path}: warning: {result.missing_bytes} bytes are missing at its end")
    for line in result.damage:
        tell(f"{path}: warning: is damaged: {line}")
    if result.dropped:
        tell(f"{path}: warning: {result.dropped} rows are lost: their times cannot be read")
    click.echo(printable(f"log: {result.log} ({counted(result.rows, 'row')})"))


def _default_output(path: str) -> str:
    return path.removesuffix(".old").removesuffix(".partial").removesuffix(".h5") + ".recovered.h5"
