"""`mbcli log diff`: where two logs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import Number
from mbcli.cli.output import printable
from mbcli.cli.world_option import single_logs, world_option
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mbcli.log.difference import Difference, Quantity
    from mbcli.log.reader import Log

MOST_QUANTITIES = 20  # shown as text; --json has all


def tolerance_option(zero: str) -> Callable[[Any], Any]:
    """--tolerance of a comparison of logs; zero: what its default means."""
    return click.option(
        "--tolerance",
        type=Number(minimum=0.0),
        default=0.0,
        metavar="T",
        help=f"x and y count as equal if |x - y| <= T max(1, |x|, |y|); default 0: {zero}.",
    )


@click.command("diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@tolerance_option("they must be equal")
@click.option(
    "--fields",
    metavar="LIST",
    help="Compare only these, as in `log export`; contact: the contacts; faces: those of contact surfaces.",
)
@world_option
@click.option("--common-rows", is_flag=True, help="Ignore rows present in only one log.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def log_diff(
    ctx: click.Context,
    first: str,
    second: str,
    tolerance: float,
    fields: str | None,
    world: int | None,
    common_rows: bool,
    as_json: bool,
) -> int:
    """Compare two logs row by row: first divergence, by which quantity, largest difference.

    Rows with equal times are compared, and columns with equal names. Exit code 1 if the logs differ: other numbers
    beyond the tolerance, other columns or other rows. Of two logs of many worlds all are compared, or one of each by
    --world; the first one that differs is described.

    \b
    mbcli log diff yesterday.h5 today.h5
    mbcli log diff a.h5 b.h5 --tolerance 1e-9 --fields q
    """
    from mbcli.log.difference import compare, compare_worlds
    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog, is_worlds_log

    more: dict[str, Any] = {}
    if world is None and is_worlds_log(first) and is_worlds_log(second):
        if fields is not None or common_rows:
            raise click.UsageError("--fields and --common-rows are for single runs: --world N names one of each log")
        with WorldsLog(first) as all_of_first, WorldsLog(second) as all_of_second:
            number, result = compare_worlds(all_of_first, all_of_second, tolerance)
            more = {"worlds": all_of_first.count, "world": number}
    else:
        with single_logs([first, second], world) as (one, other), Log(one) as a, Log(other) as b:
            *wholes, paths = _chosen(a, b, fields)
            result = compare(*wholes, tolerance=tolerance, fields=paths, any_rows=common_rows)
    if as_json:
        document = {"schema": "mbcli/log-diff", "schema_version": 1, "logs": [first, second], "tolerance": tolerance}
        click.echo(to_json({**document, **result.as_dict(), **more}))
    else:
        click.echo("\n".join(map(printable, render(result, first, second, tolerance, **more))))
    return 0 if result.same else 1


def _chosen(a: Log, b: Log, fields: str | None) -> tuple[Any, Any, Sequence[str] | None]:
    """Both logs, with the columns of --fields as fields of their own, and the paths of these; None for all.

    A name may be in one of them alone.
    """
    from mbcli.cli.log_export import selected

    if fields is None:
        return a, b, None
    wholes: list[Any] = [a, b]
    paths: dict[str, None] = {}
    for name in filter(None, map(str.strip, fields.split(","))):
        found = 0
        for k, log in enumerate(wholes):
            try:
                wholes[k], selection = selected(log, name)
            except click.BadParameter:
                if k and not found:
                    raise
                continue
            found += 1
            paths |= dict.fromkeys(selection.fields)
    return wholes[0], wholes[1], list(paths)


def render(
    result: Difference,
    first: str,
    second: str,
    tolerance: float,
    *,
    worlds: int | None = None,
    world: int | None = None,
) -> Iterator[str]:
    """The differences of two logs for people, in lines; of logs of so many worlds, those of the first that differs."""
    within = f" within {tolerance:g}" if tolerance else ""
    if result.same:
        of_each = "" if worlds is None else f" of each of {counted(worlds, 'world')}"
        yield f"same{within}: {counted(result.compared, 'row')}{of_each}"
        return
    if world is not None:
        yield f"world {world} differs first"
    if not result.same_model:
        yield "the models differ (mbcli compare says where)"
    if not result.same_config:
        yield "the configurations differ"
    for name, rows in ((first, result.rows_a), (second, result.rows_b)):
        if rows != result.compared:
            yield f"only in {name}: {rows - result.compared} of {counted(rows, 'row')}"
    for name, columns in ((first, result.only_a), (second, result.only_b)):
        if columns:
            more = f" and {len(columns) - 8} more" if len(columns) > 8 else ""
            yield f"only in {name}: {', '.join(columns[:8])}{more}"
    if not result.quantities:
        yield f"rows in both logs are the same{within}: {result.compared}"
        return
    start = result.quantities[0]
    yield (
        f"first divergence at {start.first_time:.9g} s: {_label(start)}: "
        f"{start.first_a!r} and {start.first_b!r} {_unit(start)}".rstrip()
    )
    largest = max(result.quantities, key=lambda quantity: quantity.largest)
    yield (
        f"largest difference {largest.largest:.6g} {_unit(largest)} at {largest.largest_time:.9g} s: {_label(largest)}"
    )
    yield ""
    shown = result.quantities[:MOST_QUANTITIES]
    width = max(len(_label(quantity)) for quantity in shown)
    yield f"  {'quantity':<{width}}  {'first at':>12}  {'largest':>12}  {'at':>12}  rows"
    for quantity in shown:
        yield (
            f"  {_label(quantity):<{width}}  {quantity.first_time:>10.9g} s  "
            f"{quantity.largest:>12.6g}  {quantity.largest_time:>10.9g} s  {quantity.rows} of {result.compared}"
        )
    if len(result.quantities) > len(shown):
        yield f"  ... {len(result.quantities) - len(shown)} more, see --json"


def _label(quantity: Quantity) -> str:
    """The field and the column; of a column that was asked for its name."""
    return quantity.name if quantity.field == quantity.name else f"{quantity.field} {quantity.name}"


def _unit(quantity: Quantity) -> str:
    return "" if quantity.unit == "1" else quantity.unit
