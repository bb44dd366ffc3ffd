"""Commands over many files: each file a case for processes of this machine, or for a cluster."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.model import read_packages
from mbcli.cli.options import Options, together
from mbcli.cli.progress_lines import TerminalLine
from mbcli.cli.sweep_running import DRAWN_EVERY, cluster_options
from mbcli.errors import ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mbcli.parsers.package_map import PackageMap
    from mbcli.sweeps.file_cases import Where

ENGINE_KEYS = ("jobs", "dask", "ray", "retries")
OF_FILES = (  # options that name files, beside the models
    *("srdf", "srdf_files", "config_file", "scenario_file", "constraints_file"),
    *("data", "loaded", "validate"),
)

file_engine_options = together(
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="So many files at a time, in processes."
    ),
    cluster_options("Try a file again N times, on another worker, if a machine fails."),
)


class LostError(ResourceError):
    """A machine kept failing at a file: what the command says of it is not known."""


def model_files(models: Sequence[str], xacro: bool) -> Sequence[str]:
    """MODELs, and the model files below those that are folders; xacro: whether files of it count."""
    if not any(map(os.path.isdir, models)):
        return models
    from mbcli.checks import folder

    found = (folder.model_files(model, xacro=xacro) if os.path.isdir(model) else [model] for model in models)
    return list(dict.fromkeys(path for paths in found for path in paths))


def take_where(values: dict[str, Any]) -> Where | None:
    """Removes the values of file_engine_options; None: all in this process."""
    given = {name: values.pop(name) for name in ENGINE_KEYS}
    if all(given[name] is None for name in ENGINE_KEYS[:3]):
        return None
    if given["dask"] is not None and given["ray"] is not None:
        raise click.UsageError("--dask or --ray: files go to one cluster")
    from mbcli.sweeps.file_cases import Where

    return Where(**given)


def results(
    command: str,
    cases: Sequence[Mapping[str, str]],
    options: Mapping[str, Any],
    where: Where,
    verbosity: int,
    what: str = "files",
) -> Iterator[dict[str, Any]]:
    """Rows of the cases of a command, in their order; what was said of each is printed before.

    cases: {"file", and what else its case() takes}. options: of its case(), as JSON has them. what: cases are, for
    the line of progress.
    """
    from mbcli.sweeps.file_cases import run_over_files
    from mbcli.sweeps.messages import Work

    if any(case["file"] == "-" for case in cases):
        raise click.UsageError("stdin is read by this process: no --jobs, --dask or --ray")
    given = Options(**options)
    also = [path for key in OF_FILES for name in _names(options.get(key)) for path in _files_of(name)]
    work = Work(json.dumps({"command": command, "options": options}), module="mbcli.cli.file_worker")
    ended: dict[int, dict[str, Any]] = {}
    following = done = 0
    line = TerminalLine(verbosity >= 0, DRAWN_EVERY)
    try:
        running = run_over_files(
            work, cases, where, partial(_packages, given), also=also, can_go=not options.get("xacro")
        )
        for index, row in running:
            ended[index] = row
            done += 1
            line.draw(partial(_progress, done, len(cases), what))
            while following in ended:
                row = ended.pop(following)
                following += 1
                if row.get("said"):
                    line.close()
                    click.echo(row["said"], err=True, nl=False)
                yield row
    finally:
        line.close()


def _packages(options: Options) -> PackageMap:
    from mbcli.parsers.package_map import PackageMap

    return read_packages(options) if hasattr(options, "packages") else PackageMap()


def _progress(done: int, count: int, what: str) -> str:
    return f"{done / count:4.0%}  {done} of {count} {what}"


def result_of(row: Mapping[str, Any]) -> Any:
    """What the command made of a file. LostError: a machine failed; RuntimeError: a bug."""
    from mbcli.sweeps.point_run import CRASHED, OK

    if row["status"] == OK:
        return row["result"]
    if row["status"] == CRASHED:
        raise RuntimeError(row["message"])
    raise LostError(row["message"])


def _files_of(name: str) -> list[str]:
    """A file, or those of a folder, as a bag of ROS 2 is one."""
    return [os.path.join(folder, file) for folder, _, files in os.walk(name) for file in sorted(files)] or [name]


def _names(value: Any) -> Sequence[str]:
    return () if value is None else (value,) if isinstance(value, str) else value
