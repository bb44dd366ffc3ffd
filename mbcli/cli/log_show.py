"""`mbcli log show`: the numbers of a log, summed up or at chosen times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.log_export import selected
from mbcli.cli.options import Number
from mbcli.cli.output import printable
from mbcli.cli.world_option import whole_log, world_option
from mbcli.common.json_text import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator

SUMMED = ["first", "last", "least", "at", "largest", "at"]
OF_RUN = ("first", "last", "least", "least_time", "largest", "largest_time")
OF_WORLDS = ("least", "least_world", "least_time", "largest", "largest_world", "largest_time")


@click.command("show")
@click.argument("path", metavar="LOG")
@click.option("--fields", metavar="LIST", help="Comma-separated fields, as in `log export`; default: all.")
@click.option("--time", "times", type=Number(), multiple=True, metavar="T", help="Values at this time [s] (repeat).")
@world_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def log_show(path: str, fields: str | None, times: tuple[float, ...], world: int | None, as_json: bool) -> None:
    """Show every quantity of a log: first, last, least and largest value; or the values at chosen times.

    Of a log of many worlds: the least and the largest of all worlds, and in which world they are.

    \b
    mbcli log show run.h5
    mbcli log show run.h5 --fields q,energy_kinetic
    mbcli log show run.h5 --time 0.5 --time 1
    mbcli log show all.h5 --world 3
    """
    from mbcli.log.joined_worlds import JoinedWorlds
    from mbcli.log.statistics import columns_at, summary_of_columns

    with whole_log(path, world, joins=not times) as log:
        of_worlds = isinstance(log, JoinedWorlds)
        whole, selection = selected(log, fields, rows_alone=True)
        if times:
            rows = columns_at(whole, selection.fields, times)
            keys = [f"{time:.9g} s" for time in times]
        else:
            rows = summary_of_columns(whole, selection)
            keys = ["least", "world", "at", "largest", "world", "at"] if of_worlds else SUMMED
        document = {
            "schema": "mbcli/log-show",
            "schema_version": 1,
            "log": path,
            "rows": log.row_count,
            **({"times": list(times)} if times else {}),
            "columns": rows,
        }
    if as_json:
        click.echo(to_json(document))
        return
    ends = OF_WORLDS if of_worlds else OF_RUN
    values = [row["values"] if times else [row[k] for k in ends] for row in rows]
    click.echo("\n".join(_table(rows, values, keys)))


def _table(rows: list[dict[str, Any]], values: list[list[float | None]], keys: list[str]) -> Iterator[str]:
    texts = [[_shown(value) for value in line] for line in values]
    names, units = ([printable(row[key]) for row in rows] for key in ("name", "unit"))
    label, unit = max(map(len, names), default=4), max(map(len, units), default=1)
    widths = [max(len(key), *(len(line[k]) for line in texts)) if texts else len(key) for k, key in enumerate(keys)]
    yield f"{'':<{label}}  {'':<{unit}}  " + "  ".join(f"{k:>{w}}" for k, w in zip(keys, widths, strict=True))
    for name, of_name, line in zip(names, units, texts, strict=True):
        cells = "  ".join(f"{text:>{width}}" for text, width in zip(line, widths, strict=True))
        yield f"{name:<{label}}  {of_name:<{unit}}  {cells}"


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
