"""`mbcli loads`: what actuators and joints bear over a run."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.options import Options, writable_path
from mbcli.cli.output import emit, number, printable, table, warn
from mbcli.cli.world_option import single_logs, world_option
from mbcli.common.coordinate_names import AmbiguousNameError, named_by_ending, there_are
from mbcli.common.json_text import to_json
from mbcli.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KEYS = """
\b
Keys of the JSON document, beside log, start_time and end_time [s]:
  actuators   each with actuator, joint, effort_unit (N m or N), peak_effort, peak_time, rms_effort,
              peak_speed, rms_speed, peak_power, mean_power [W], energy, energy_back [J] that it gives
              and takes, effort_limit (null without one), duty: the part of the time with an effort
              beyond half of the limit, or of the peak
              A log of many worlds has entries of each, which begin with world.
  joints      of a log with reactions, each with joint, type, body and frame: the force acts on this
              body at the origin of this frame, along its axes; peak_force [N], peak_time, peak_moment
              [N m], axial_force, radial_force, bending_moment (null without an axis),
              force_percentiles, moment_percentiles: 50, 95 and 99 % of the time, bearing_force: the
              constant one of the same life of a ball bearing, (mean of F^3)^(1/3)
"""


@click.command("loads", epilog=KEYS)
@click.argument("path", metavar="LOG")
@click.option(
    "--names",
    "chosen",
    metavar="LIST",
    help="Comma-separated: only these actuators and joints, by any unambiguous ending of their names.",
)
@world_option
@click.option("--csv", "as_csv", is_flag=True, help="Print a table of the actuators, and one of the joints, as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("-o", "--output", metavar="FILE", callback=writable_path, help="Write to this file.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def loads(
    path: str,
    chosen: str | None,
    world: int | None,
    as_csv: bool,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Peaks, root mean squares, power and duty of actuators, and the forces in joints, over a run.

    Forces in joints, for choosing bearings, are those of a log that was written with --fields reactions. Means are
    over the rows: a log rate that misses peaks misses them here too. `mbcli log plot` shows both over time. Of a log of
    many worlds all have their rows, or that of --world.

    \b
    mbcli simulate arm.urdf --trajectory pick.csv --fields q,v,u,effort,reactions --log-rate 0 -o run.h5
    mbcli loads run.h5
    mbcli loads run.h5 --names elbow,wrist
    mbcli loads run.h5 --csv -o loads.csv
    """
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    found = _found(path, world)
    if chosen is not None:
        _choose(found, [name.strip() for name in chosen.split(",") if name.strip()])
    if as_json:
        text = to_json({"schema": "mbcli/loads", "schema_version": 1, "log": path, **found})
    elif as_csv:
        text = "\n".join(_csv(found[key]) for key in ("actuators", "joints") if found[key])
    else:
        text = "\n".join(render(found))
    emit(text.rstrip("\n"), Options(output=output, force=force))


def _found(path: str, world: int | None) -> dict[str, Any]:
    """Loads.as_dict() of a log; of all worlds of a log of many those of each, which begin with its number."""
    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog, is_worlds_log
    from mbcli.simulation.joint_loads import loads_of_log

    if world is not None or not is_worlds_log(path):
        with single_logs([path], world) as (own,), Log(own) as log:
            return loads_of_log(log).as_dict()
    found = []
    with WorldsLog(path) as worlds:
        for number in range(worlds.count):
            if worlds.count_of_rows(number) > 1:
                found.append((number, loads_of_log(worlds.world(number)).as_dict()))
            else:
                warn(f"{path}: world {number} stopped at its first row: it has no loads")
    if not found:
        raise ModelError(f"{path}: error: loads are over time: no world has two rows")
    joined = {
        key: [{"world": number, **entry} for number, loads in found for entry in loads[key]]
        for key in ("actuators", "joints")
    }
    return {**found[0][1], "end_time": max(loads["end_time"] for _, loads in found), **joined}


def _choose(found: dict[str, Any], names: Sequence[str]) -> None:
    """Leaves the actuators and joints of these names: a name may be that of one of each."""
    wanted: set[tuple[str, str]] = set()
    known = {key: [entry[key[:-1]] for entry in found[key]] for key in ("actuators", "joints")}
    for name in names:
        try:
            meant = {(key, each) for key in known if (each := named_by_ending(name, known[key], key[:-1]))}
        except AmbiguousNameError as error:
            raise click.UsageError(f"--names: {error.args[0]}") from None
        if not meant:
            hint = there_are(name, known["actuators"] + known["joints"])
            raise click.UsageError(f"--names: the log has no loads of '{name}'; {hint}")
        wanted |= meant
    for key in known:
        found[key] = [entry for entry in found[key] if (key, entry[key[:-1]]) in wanted]


def render(found: dict[str, Any]) -> Iterator[str]:
    """Two tables for people, in lines."""
    yield f"from {found['start_time']:.6g} to {found['end_time']:.6g} s"
    if found["actuators"]:
        yield ""
        header = ("unit", "peak", "at s", "rms", "peak speed", "rms speed", "peak W", "mean W")
        rows = [
            (
                *_of_whom(a, "actuator"),
                a["effort_unit"],
                *(_shown(a[key]) for key in ("peak_effort", "peak_time", "rms_effort", "peak_speed", "rms_speed")),
                *(_shown(a[key]) for key in ("peak_power", "mean_power", "energy", "energy_back")),
                "-" if a["effort_limit"] is None else _shown(a["effort_limit"]),
                f"{a['duty']:.0%}",
            )
            for a in found["actuators"]
        ]
        yield table(rows, (*_columns(found, "actuator"), *header, "J given", "J taken", "limit", "duty"))
    if found["joints"]:
        yield ""
        header = ("on body", "peak N", "axial N", "radial N", "95 % N", "bearing N", "peak N m", "bending N m")
        rows = [
            (
                *_of_whom(j, "joint"),
                printable(j["body"]),
                *(_shown(j[key]) for key in ("peak_force", "axial_force", "radial_force")),
                _shown(j["force_percentiles"][1]),
                *(_shown(j[key]) for key in ("bearing_force", "peak_moment", "bending_moment")),
            )
            for j in found["joints"]
        ]
        yield table(rows, (*_columns(found, "joint"), *header))


def _columns(found: dict[str, Any], kind: str) -> tuple[str, ...]:
    return (kind, "world") if "world" in found[f"{kind}s"][0] else (kind,)


def _of_whom(entry: dict[str, Any], kind: str) -> tuple[str, ...]:
    name = printable(entry[kind])
    return (name, str(entry["world"])) if "world" in entry else (name,)


def _shown(value: float | None) -> str:
    return "-" if value is None else number(value)


def _csv(entries: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(entries[0])
    for entry in entries:
        writer.writerow(
            " ".join(map(repr, value)) if isinstance(value, list) else "" if value is None else value
            for value in entry.values()
        )
    return text.getvalue()
