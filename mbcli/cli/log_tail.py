"""`mbcli log tail`: the last rows of a log, and those that its run still adds."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from mbcli.cli.log_export import selected
from mbcli.cli.output import printable
from mbcli.cli.world_option import single_logs, world_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.log.export import Selection
    from mbcli.log.reader import Log

POLL_SECONDS = 0.2
MOST_COLUMNS = 8  # of a table without --fields


@click.command("tail")
@click.argument("path", metavar="LOG")
@click.option("-n", "--rows", "count", type=click.IntRange(min=0), default=10, metavar="N", help="How many rows; 10.")
@click.option("-f", "--follow", is_flag=True, help="Print the rows that a running simulation adds, until it ends.")
@click.option("--fields", metavar="LIST", help="Comma-separated fields, as in `log export`.")
@click.option("--every", type=click.IntRange(min=1), default=1, metavar="N", help="Only every Nth row.")
@world_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for each row, as `log export --to jsonl`.")
def log_tail(
    path: str, count: int, follow: bool, fields: str | None, every: int, world: int | None, as_json: bool
) -> None:
    """Print the last rows of a log.

    LOG may be running: RUN.h5 then stands for RUN.h5.partial. The run is not disturbed.

    \b
    mbcli log tail run.h5
    mbcli log tail run.h5 --follow --fields q,energy_kinetic
    mbcli log tail run.h5 -f --json | jq .q
    mbcli log tail all.h5 --world 3
    """
    from mbcli.log.reader import Log
    from mbcli.log.running import PARTIAL, is_written, read_rows

    if follow and world is not None:
        raise click.UsageError("--follow is for logs of single runs")
    with ExitStack() as stack:

        def opened(paths: Sequence[str]) -> Log:
            (own,) = stack.enter_context(single_logs(paths, world))
            return stack.enter_context(Log(own))

        own = read_rows([path], opened)
        path = own.path
        log, selection = selected(own, fields, rows_alone=not as_json)
        printer = JsonRows(log) if as_json else Table(log, selection.fields, all_columns=fields is not None)
        first = max(log.row_count - count * every, 0)
        first += -(first - (log.row_count - 1)) % every if log.row_count else 0
        done = _print(printer, log, selection.fields, first, every)
        while follow and not log.finished and is_written(path):
            time.sleep(POLL_SECONDS)
            log.refresh()
            done = _print(printer, log, selection.fields, done, every)
        if follow and not log.finished:
            log.refresh()
            done = _print(printer, log, selection.fields, done, every)
            if not os.path.exists(path):  # it has its own name now, and its last rows
                _print_rest(printer, path.removesuffix(PARTIAL), fields, done, every)


def _print(printer: JsonRows | Table, log: Log, fields: Sequence[str], first: int, every: int) -> int:
    """Prints rows first, first + every, ...; returns the first row that is still to come."""
    from mbcli.log.export import Selection

    if first < log.row_count:
        printer.rows(Selection(tuple(fields), first, log.row_count, every))
        sys.stdout.flush()
        first += -(-(log.row_count - first) // every) * every
    return first


def _print_rest(printer: JsonRows | Table, path: str, fields: str | None, first: int, every: int) -> None:
    from mbcli.log.reader import Log

    if os.path.exists(path):
        with Log(path) as own:
            printer.log, selection = selected(own, fields)
            _print(printer, printer.log, selection.fields, first, every)


class JsonRows:
    """Rows as JSON lines."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def rows(self, selection: Selection) -> None:
        """Prints the rows of a selection."""
        from mbcli.log.export import export_jsonl

        export_jsonl(self.log, selection, sys.stdout.buffer)


class Table:
    """Rows as a table under a header of names."""

    def __init__(self, log: Log, fields: Sequence[str], all_columns: bool) -> None:
        from mbcli.log.column_names import column_names

        self.log = log
        names = [printable(name) for name in column_names(log, fields)]
        self._shown = names if all_columns else names[:MOST_COLUMNS]
        if len(self._shown) < len(names):
            hidden = len(names) - len(self._shown)
            click.echo(f"mbcli: the first {MOST_COLUMNS} columns; --fields shows the {hidden} others", err=True)
        self._widths = [max(len(name), 12) for name in ("time", *self._shown)]
        self._line(("time", *self._shown))

    def rows(self, selection: Selection) -> None:
        """Prints the rows of a selection."""
        from mbcli.log.column_names import flat_rows
        from mbcli.log.export import chunks_of

        for chunk in chunks_of(self.log, selection):
            columns = [flat_rows(array) for array in chunk.values()]
            for k in range(len(columns[0])):
                values = [value for column in columns for value in column[k].tolist()]
                self._line([f"{value:.6g}" for value in values[: len(self._widths)]])

    def _line(self, texts: Sequence[str]) -> None:
        click.echo("  ".join(f"{text:>{width}}" for text, width in zip(texts, self._widths, strict=True)))
