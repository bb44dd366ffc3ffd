"""`mbcli log info`: what is in a log."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.output import printable
from mbcli.common.json_text import to_json
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_NAMES = 100  # shown of a field; --json has all
MOST_EVENTS = 20
LABEL_WIDTH = 12


@click.command("info")
@click.argument("path", metavar="LOG")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def log_info(path: str, as_json: bool) -> None:
    """Describe a log: run, model, fields, events, versions.

    LOG may be unfinished: the .partial file of a run that still runs, or that was killed. The whole file is read. If a
    checksum is wrong, the damaged parts are named and the exit code is 3.
    """
    from mbcli.log.description import describe
    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog, describe_worlds, is_worlds_log

    if is_worlds_log(path):
        with WorldsLog(path) as worlds:
            document = describe_worlds(worlds)
        click.echo(to_json(document) if as_json else render_worlds(document))
        return
    with Log(path) as opened:
        damage = opened.damage()
        try:
            document = describe(opened, damage)
        except ModelError:
            if not damage:
                raise
        else:
            click.echo(to_json(document) if as_json else render_info(document))
        if damage:
            raise ModelError("\n".join(f"{path}: error: is damaged: {part}" for part in damage))


# ------------------------------------------------------------------------------------------- info as text


def render_info(document: dict[str, Any]) -> str:
    """The document of `info --json` for people."""
    width = min(max(shutil.get_terminal_size().columns, 60), 120)
    blocks = [
        [f"{printable(document['log'])}: {_title(document)}"],
        _labelled(_run_lines(document), width),
        ["fields", *_field_lines(document["fields"], width)],
        _event_lines(document["events"]),
        _file_lines(document["model"]["files"]),
        ["made by", *_version_lines(document["provenance"], width)],
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def render_worlds(document: dict[str, Any]) -> str:
    """The same of a log of many worlds."""
    width = min(max(shutil.get_terminal_size().columns, 60), 120)
    stopped = document["stopped"]
    span = "" if document["start"] is None else f", {document['start']:.12g} to {document['end']:.12g} s"
    pairs = [
        ("worlds", f"{document['worlds']}, {len(stopped)} of them stopped"),
        ("rows", f"{document['rows']} of each{span}"),
        ("written", document["created_utc"]),
        ("command", printable(shlex.join(map(str, document["argv"])))),
        ("size", _size(document["bytes"])),
    ]
    fields = [field | {"shape": [document["worlds"], len(field["names"])]} for field in document["fields"]]
    lines = [f"  world {s['world']} at {s['time']:.9g} s: {printable(s['message'])}" for s in stopped[:MOST_EVENTS]]
    if len(stopped) > MOST_EVENTS:
        lines.append(f"  ... {len(stopped) - MOST_EVENTS} more, see --json")
    name = printable(document["model"]) or "a model"
    blocks = [
        [f"{printable(document['log'])}: {document['status']} log of many worlds of {name}"],
        _labelled(pairs, width),
        ["fields, each with one row a world and time", *_field_lines(fields, width)],
        ["stopped", *lines] if lines else [],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _title(document: dict[str, Any]) -> str:
    status = f"{document['status']} log" if document["finished"] else "unfinished log"
    return f"{status} of {printable(document['model']['name']) or 'a model'}"


def _run_lines(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    run, times = document["run"], document["time"]
    if document["finished"]:
        message = f": {printable(document['message'])}" if document["message"] else ""
        yield "status", f"{document['status']}, exit code {document['exit_code']}{message}"
    else:
        yield "status", "still being written, or its process was killed; these are the rows on disk"
    yield "rows", _rows_line(times)
    if document["finished"] and run["wall_time"]:
        rate = (times["duration"] or 0.0) / run["wall_time"]
        yield "wall time", f"{run['wall_time']:.4g} s ({rate:.3g} times real time)"
    yield "written", f"{run['created_utc']}" + (f" to {run['finished_utc']}" if run["finished_utc"] else "")
    if run["argv"]:
        yield "command", printable(shlex.join(map(str, run["argv"])))
    seed = "no seed" if run["seed"] is None else f"seed {run['seed']}"
    yield "random", seed
    if document["provenance"]["kernels"]:
        yield "kernels", printable(document["provenance"]["kernels"])
    yield "size", _size(document["bytes"]) + (", with a checkpoint" if document["checkpoint"] else "")


def _rows_line(times: dict[str, Any]) -> str:
    if not times["rows"]:
        return "none"
    if times["rows"] == 1:
        return f"1, at {times['start']:.12g} s"
    line = f"{times['rows']}, {times['start']:.12g} to {times['end']:.12g} s"
    least, largest = times["least_interval"], times["largest_interval"]
    if largest - least <= 1e-6 * largest:
        return f"{line}, every {least:.6g} s ({times['rate']:.6g} Hz)"
    return f"{line}, every {least:.3g} to {largest:.3g} s ({times['rate']:.6g} Hz on average)"


def _labelled(pairs: Iterable[tuple[str, str]], width: int) -> list[str]:
    """`label   text`, the text wrapped under itself."""
    lines = []
    for label, text in pairs:
        lines += _wrapped(text, f"{label:<{LABEL_WIDTH}}", width)
    return lines


def _field_lines(fields: list[dict[str, Any]], width: int) -> list[str]:
    """Path, number of columns, then a line for each run of columns of the same unit."""
    path_width = max(len(field["path"]) for field in fields)
    unit_width = max(len(unit) for field in fields for unit in field["units"] or [""])
    lines = []
    for field in fields:
        columns = list(zip(field["units"], field["names"], strict=True))
        scalar = len(field["shape"]) == 1
        head = f"  {printable(field['path']):<{path_width}}  {'' if scalar else len(columns):>4}  "
        if not columns:
            lines.append(head.rstrip())
        for unit, group in groupby(columns[:MOST_NAMES], key=lambda column: column[0]):
            names = "" if scalar else ", ".join(printable(name) for _, name in group)
            lines += _wrapped(names, f"{head}{printable(unit):<{unit_width}}  ", width)
            head = " " * len(head)
        if len(columns) > MOST_NAMES:
            lines.append(f"{head}... {len(columns) - MOST_NAMES} more, see --json")
    return lines


def _event_lines(events: list[dict[str, Any]]) -> list[str]:
    if not events:
        return []
    shown = events[:MOST_EVENTS]
    time_width = max(len(f"{event['time']:.9g}") for event in shown)
    code_width = max(len(event["code"]) for event in shown)
    lines = [f"events ({len(events)})"]
    for event in shown:
        lines.append(
            f"  {event['time']:>{time_width}.9g} s  step {event['step']}  {event['severity']:<7}  "
            f"{printable(event['code']):<{code_width}}  {printable(event['message'])}"
        )
    if len(events) > len(shown):
        lines.append(f"  ... {len(events) - len(shown)} more, see --json")
    return lines


def _file_lines(files: list[dict[str, Any]]) -> list[str]:
    lines = ["model files"] if files else []
    for file in files:
        lines += [f"  {printable(file['path'])}  {_size(file['bytes'])}", f"    sha256 {printable(file['sha256'])}"]
    return lines


def _version_lines(provenance: dict[str, Any], width: int) -> Iterator[str]:
    packages = ", ".join(f"{name} {version}" for name, version in (provenance["packages"] or {}).items())
    blas = provenance["blas"] or {}
    yield from _wrapped(printable(f"mbcli {provenance['mbcli_version']}, {provenance['python']}"), "  ", width)
    yield from _wrapped(printable(packages), "  ", width)
    yield from _wrapped(
        printable(f"{blas.get('name')} {blas.get('version')}, {blas.get('cpu_count')} processors"), "  ", width
    )
    yield from _wrapped(printable(f"{provenance['platform']}, {provenance['cpu']}"), "  ", width)


def _wrapped(text: str, head: str, width: int) -> list[str]:
    """Lines of text after a head, its own continuation lines indented as far."""
    room = max(width - len(head), 20)
    parts = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [f"{head}{parts[0]}".rstrip(), *(" " * len(head) + part for part in parts[1:])]


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} GB"
