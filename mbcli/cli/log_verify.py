"""`mbcli log verify`: runs a log again from its own record and compares."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.log_diff import render, tolerance_option
from mbcli.cli.output import printable, refuse_given_inputs
from mbcli.common.json_text import to_json
from mbcli.errors import MbcliError, ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbcli.log.reader import Log
    from mbcli.parsers.spec import SourceFile

STDIN = "<stdin>"  # the path, in a log, of a model that came from standard input

LEVELS_UP = 16  # ".." at the start of a path that a model file may have


@click.command("verify")
@click.argument("path", metavar="LOG")
@tolerance_option("the same software on the same machine gives the same numbers")
@click.option(
    "--trust",
    is_flag=True,
    help="For a log of your own: run its command as it stands, with the files, packages and programs that it names.",
)
@click.option("-o", "--output", metavar="FILE", help="Keep the log of the second run.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def log_verify(
    ctx: click.Context, path: str, tolerance: float, trust: bool, output: str | None, force: bool, as_json: bool
) -> int:
    """Run the command that a log records, with the model files in the log, and compare the rows.

    Exit code 1 if they differ. Model and settings files are those in the log, or the original files if they are
    unchanged. For an unfinished log, the rows in it are compared. Other files that its command names (--input,
    --package, --xacro) are used only with --trust: a log may come from anybody.

    \b
    mbcli log verify run.h5
    mbcli log verify run.h5 --tolerance 1e-9      on another machine or version
    """
    from mbcli.log.difference import compare
    from mbcli.log.reader import Log

    if output is not None:
        from mbcli.simulation.log_target import check_log_target

        check_log_target(output, None, force)
        refuse_given_inputs(output)
    with Log(path) as log, tempfile.TemporaryDirectory(prefix="mbcli-") as folder:
        target = os.path.abspath(output) if output is not None else os.path.join(folder, "again.h5")
        _run_again(log, folder, target, force, trust)
        with Log(target) as again:
            result = compare(log, again, tolerance=tolerance, any_rows=not _is_whole(log))
            changed = _other_software(log, again)
    if as_json:
        document = {"schema": "mbcli/log-verify", "schema_version": 1, "log": path, "tolerance": tolerance}
        click.echo(to_json({**document, "other_software": changed, **result.as_dict()}))
        return 0 if result.same else 1
    lines = list(render(result, path, "the run of now", tolerance))
    if result.same:
        lines = [f"verified: {lines[0]}, computed again"]
    elif changed:
        lines.insert(0, f"other software than the log's: {', '.join(changed)}")
    click.echo("\n".join(map(printable, lines)))
    return 0 if result.same else 1


def _is_whole(log: Log) -> bool:
    return log.status == "complete"


def _run_again(log: Log, folder: str, target: str, force: bool, trust: bool) -> None:
    """Runs the recorded command in a process of its own, so that its environment is that of a shell."""
    from mbcli.cli import recorded_command
    from mbcli.cli.simulate import simulate
    from mbcli.log.embedded_files import same_on_disk

    words, sources = recorded_command.recorded_words(log), log.read_sources()
    parameters = recorded_command.recorded_parameters(simulate, words, log.path)
    parameters = {name: value for name, value in parameters.items() if name not in recorded_command.DROPPED}
    names = {source.path for source in sources} | ({"-"} if any(source.path == STDIN for source in sources) else set())
    if not trust:
        advice = "--trust uses it"
        recorded_command.refuse_foreign(parameters, names, simulate, log.path, advice)
    place = os.getcwd()
    if not same_on_disk(sources):
        place, moved = _put_files(sources, folder)
        for name, value in parameters.items():
            if _takes_text(simulate, name):
                parameters[name] = _moved(value, moved)
    if not _is_whole(log) and log.row_count:
        parameters["duration"] = float(log.times[-1] - log.times[0])
    words = ["-o", target, *(["--force"] if force else []), *recorded_command.words_of(simulate, parameters)]
    command = [sys.executable, "-m", "mbcli", "-q", "simulate", *words]
    done = subprocess.run(
        command, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=_environment()
    )
    if done.returncode:
        reason = (done.stderr.strip().split("\n") or [""])[-1]
        error = ModelError(f"{log.path}: error: its command cannot be run again: {reason}")
        error.exit_code = done.returncode if done.returncode in (2, 3, 4, 5, 6) else MbcliError.exit_code
        raise error


def _takes_text(command: click.Command, name: str) -> bool:
    """Whether a parameter of a command may name files."""
    parameter = next(p for p in command.params if p.name == name)
    return parameter.type is click.STRING or isinstance(parameter.type, click.types.StringParamType)


def _put_files(sources: Sequence[SourceFile], folder: str) -> tuple[str, dict[str, str]]:
    """Writes the files of a log below a folder; the folder that relative paths start from, and {name: path}."""
    root = os.path.join(folder, "files")
    place = os.path.join(root, *(["d"] * LEVELS_UP))
    os.makedirs(place)
    moved = {source.path: _put(source, root, place) for source in sources}
    if STDIN in moved:
        moved["-"] = moved[STDIN]
    return place, moved


def _environment() -> dict[str, str]:
    """This package is the one to run, wherever the process starts."""
    import mbcli

    above = os.path.dirname(os.path.dirname(os.path.abspath(mbcli.__file__)))
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": above + (os.pathsep + known if known else "")}


def _put(source: SourceFile, root: str, place: str) -> str:
    """Writes a model file of the log below a folder; returns its path there."""
    path = os.path.normpath(os.path.join("/" if os.path.isabs(source.path) else place, source.path))
    target = path if path.startswith(root + os.sep) else os.path.join(root, "absolute", path.lstrip("/"))
    if not os.path.normpath(target).startswith(root + os.sep):
        raise ModelError(f"{source.path}: error: is not the path of a model file")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(source.content)
    return target


def _moved(value: Any, moved: dict[str, str]) -> Any:
    """A value of the command: where it names a file of the log its place now, another file by its whole path."""
    if isinstance(value, tuple):
        return tuple(_moved(item, moved) for item in value)
    if value in moved:
        return moved[value]
    name, equals, rest = value.rpartition("=")
    if rest and not os.path.isabs(rest) and os.path.exists(rest):
        return f"{name}{equals}{os.path.abspath(rest)}"
    return value


def _other_software(log: Log, again: Log) -> list[str]:
    """What differs between the software that a log records and that of now."""
    before, now = log.attrs, again.attrs
    names = ("mbcli_version", "python", "cpu", "platform", "kernels")
    changed = [name for name in names if before.get(name, now.get(name)) != now.get(name)]
    packages = before.get("packages") or {}
    return changed + [name for name, version in now["packages"].items() if packages.get(name) != version]
