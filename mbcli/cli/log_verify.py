"""`mbcli log verify`: runs a log again from its own record and compares."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli import say
from mbcli.cli.log_diff import render, tolerance_option
from mbcli.cli.many_files import LostError, file_engine_options, result_of, results, take_where
from mbcli.cli.options import Options, take
from mbcli.cli.output import printable, refuse_given_inputs
from mbcli.common import child_processes
from mbcli.common.json_text import to_json
from mbcli.common.left_behind import folder_prefix
from mbcli.common.output_files import write_in_place
from mbcli.errors import MbcliError, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog
    from mbcli.parsers.spec import SourceFile
    from mbcli.sweeps.file_cases import Where

STDIN = "<stdin>"  # the path, in a log, of a model that came from standard input

OF_XML, OF_YAML = (".xml", ".mjcf", ".urdf", ".srdf", ".sdf", ".world", ".xacro", ".config"), (".yaml", ".yml")
INCLUDED_SUFFIXES = (*OF_XML, *OF_YAML, ".usd", ".usda", ".usdc", ".usdz")  # none is of a module or a program

MOST_FOLDERS = 200  # in a path
LEVELS_UP = 16  # ".." at the start of a path that a model file may have


@click.command("verify")
@click.argument("paths", nargs=-1, required=True, metavar="LOG...")
@tolerance_option("the same software on the same machine gives the same numbers")
@click.option(
    "--trust",
    is_flag=True,
    help="For a log of your own: run its command as it stands, with the files, packages and programs that it names.",
)
@file_engine_options
@click.option("-o", "--output", metavar="FILE", help="Keep the log of the second run, of one LOG.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; of several LOGs one a line.")
@click.pass_context
def log_verify(ctx: click.Context, **values: Any) -> int:
    """Run the command that a log records, with the model files in the log, and compare the rows.

    Exit code 1 if they differ. Model and settings files are those in the log, or the original files if they are
    unchanged. For an unfinished log, the rows in it are compared. Other files that its command names (--input,
    --package, --xacro) are used only with --trust: a log may come from anybody.

    Several logs are verified one by one, or by several processes or a cluster: each has its lines, and the exit code is
    the largest.

    \b
    mbcli log verify run.h5
    mbcli log verify run.h5 --tolerance 1e-9      on another machine or version
    mbcli log verify all.h5                       of many worlds: each from its first row
    mbcli log verify runs/*.h5 -j 8               several logs
    """
    where = take_where(values)
    options = take(values, tuple(values))
    if len(options.paths) == 1 and where is None:
        verdict = _verified(options.paths[0], options)
        click.echo(to_json(verdict["document"]) if options.as_json else "\n".join(verdict["lines"]))
        return verdict["exit_code"]
    if options.output is not None:
        raise click.UsageError("-o keeps the second run of one LOG, in this process")
    return max(_say(path, verdict, options.as_json) for path, verdict in _all_verified(ctx, options, where))


def _all_verified(ctx: click.Context, options: Options, where: Where | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Of each log what case() gives, in this process or elsewhere."""
    if where is None:
        yield from ((path, case(options, {"file": path})) for path in options.paths)
        return
    if options.trust and (where.dask, where.ray) != (None, None):
        raise click.UsageError("--trust runs what a log names on this machine: no --dask, --ray")
    cases = [{"file": path} for path in options.paths]
    given = {name: getattr(options, name) for name in ("tolerance", "trust", "output", "force")}
    rows = results("log verify", cases, given, where, ctx.obj["verbosity"])
    for path, row in zip(options.paths, rows, strict=True):
        try:
            yield path, result_of(row)
        except LostError as error:
            yield path, {"error": f"{path}: error: not verified: {error}", "exit_code": LostError.exit_code}


def case(options: Options, values: Mapping[str, str]) -> dict[str, Any]:
    """The verdict on one log of many, or its error."""
    try:
        return _verified(values["file"], options)
    except MbcliError as error:
        return {"error": str(error), "exit_code": error.exit_code}


def _say(path: str, verdict: Mapping[str, Any], as_json: bool) -> int:
    """Prints the verdict on one log of several; returns its exit code."""
    if "error" in verdict:
        say(verdict["error"])
    elif as_json:
        click.echo(json.dumps(verdict["document"], allow_nan=False))
    else:
        click.echo("\n".join([f"{printable(path)}: {verdict['lines'][0]}", *verdict["lines"][1:]]))
    return verdict["exit_code"]


def _verified(path: str, options: Options) -> dict[str, Any]:
    """Runs a log again: {"exit_code", "document", "lines"}."""
    from mbcli.cli.verified_worlds import starts_of
    from mbcli.log.difference import compare, compare_worlds
    from mbcli.log.reader import Log
    from mbcli.log.worlds import WorldsLog, is_worlds_log
    from mbcli.simulation.actors.live_view import ACTED_ON_PAGE

    output, force = options.output, options.force
    if output is not None:
        from mbcli.simulation.log_target import check_log_target

        check_log_target(output, None, force)
        refuse_given_inputs(output)
    many = is_worlds_log(path)
    kind: Any = WorldsLog if many else Log
    more: dict[str, Any] = {}
    with kind(path) as log, tempfile.TemporaryDirectory(prefix=folder_prefix("verify")) as folder:
        target = os.path.abspath(output) if output is not None else os.path.join(folder, "again.h5")
        _run_again(log, folder, target, force, options.trust, starts_of(log, folder) if many else None)
        with kind(target) as again:
            if many:
                world, result = compare_worlds(log, again, options.tolerance)
                more = {"worlds": log.count, "world": world}
            else:
                result = compare(log, again, tolerance=options.tolerance, any_rows=not _is_whole(log))
            changed = _other_software(log, again)
            steered = not many and any(event["code"] == ACTED_ON_PAGE for event in log.events())
    document = {"schema": "mbcli/log-verify", "schema_version": 1, "log": path, "tolerance": options.tolerance}
    document |= {"other_software": changed, **result.as_dict(), **more}
    lines = list(render(result, path, "the run of now", options.tolerance, **more))
    if result.same:
        lines = [f"verified: {lines[0]}, computed again"]
    if steered and not result.same:
        lines.insert(0, "somebody acted on the page of this run (--view): its command does not repeat it")
    if changed and not result.same:
        lines.insert(0, f"other software than the log's: {', '.join(changed)}")
    return {"exit_code": 0 if result.same else 1, "document": document, "lines": list(map(printable, lines))}


def _is_whole(log: Log | WorldsLog) -> bool:
    return log.status == "complete"


def _run_again(
    log: Log | WorldsLog, folder: str, target: str, force: bool, trust: bool, starts: Mapping[str, Any] | None
) -> None:
    """Runs the recorded command in a process of its own, so that its environment is that of a shell.

    starts: parameters in place of those that give the starts of many worlds.
    """
    from mbcli.cli import recorded_command
    from mbcli.cli.simulate import simulate
    from mbcli.log.embedded_files import same_on_disk

    words, sources = recorded_command.recorded_words(log), log.read_sources()
    parameters = recorded_command.recorded_parameters(simulate, words, log.path)
    parameters = {name: value for name, value in parameters.items() if name not in recorded_command.DROPPED}
    if starts is not None:
        parameters = {name: value for name, value in parameters.items() if name not in recorded_command.OF_STARTS}
    names = {source.path for source in sources} | ({"-"} if any(source.path == STDIN for source in sources) else set())
    if not trust:
        advice = "--trust uses it"
        recorded_command.refuse_foreign(parameters, names, simulate, log.path, advice)
    if same_on_disk(sources):
        moved = {source.path: os.path.abspath(source.path) for source in sources}
    else:
        moved = _put_files(sources, _named_by(parameters, simulate), folder)
    for name, value in parameters.items():
        if _takes_text(simulate, name):
            parameters[name] = _moved(value, moved)
    if not _is_whole(log) and log.row_count:
        parameters["duration"] = float(log.times[-1] - log.times[0])
    parameters |= starts or {}
    words = ["-o", target, *(["--force"] if force else []), *recorded_command.words_of(simulate, parameters)]
    command = child_processes.python("-m", "mbcli", "-q", "simulate", *words)
    # programs of a log that is trusted find what they need where the user is
    done = child_processes.run(command, folder=os.getcwd() if trust else None, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip().split("\n") or [""])[-1]
        error = ModelError(f"{log.path}: error: its command cannot be run again: {reason}")
        error.exit_code = done.returncode if done.returncode in (2, 3, 4, 5, 6) else MbcliError.exit_code
        raise error


def _takes_text(command: click.Command, name: str) -> bool:
    """Whether a parameter of a command may name files."""
    parameter = next(p for p in command.params if p.name == name)
    return parameter.type is click.STRING or isinstance(parameter.type, click.types.StringParamType)


def _named_by(parameters: Mapping[str, Any], command: click.Command) -> set[str]:
    """The texts of a command that may name files."""
    values = [value for name, value in parameters.items() if _takes_text(command, name)]
    return {text for value in values for text in (value if isinstance(value, tuple) else (value,)) if text is not None}


def _put_files(sources: Sequence[SourceFile], named: Set[str], folder: str) -> dict[str, str]:
    """Writes files of a log below a folder, in which nothing is started; {name: path}.

    Those are the ones that its command names, and others that models include.
    """
    root = os.path.join(folder, "files")
    place = os.path.join(root, *(["d"] * LEVELS_UP))
    os.makedirs(place)
    moved = {}
    for source in sources:
        if source.path in named | {STDIN} or source.path.lower().endswith(INCLUDED_SUFFIXES):
            moved[source.path] = _put(source, root, place)
    if STDIN in moved:
        moved["-"] = moved[STDIN]
    return moved


def _put(source: SourceFile, root: str, place: str) -> str:
    """Writes a model file of the log below a folder; returns its path there."""
    path = os.path.normpath(os.path.join("/" if os.path.isabs(source.path) else place, source.path))
    target = path if path.startswith(root + os.sep) else os.path.join(root, "absolute", path.lstrip("/"))
    if not os.path.normpath(target).startswith(root + os.sep) or target.count(os.sep) > MOST_FOLDERS:
        raise ModelError(f"{source.path[:100]!r}: error: is not the path of a model file")
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        write_in_place(target, source.content)
    except (OSError, ValueError):  # a name that no system has, or one that is a folder of another file
        raise ModelError(f"{source.path[:100]!r}: error: is not the path of a model file") from None
    return target


def _moved(value: Any, moved: dict[str, str]) -> Any:
    """A value of the command; where it names a file of the log, its place now."""
    if isinstance(value, tuple):
        return tuple(_moved(item, moved) for item in value)
    return moved.get(value, value)


def _other_software(log: Log | WorldsLog, again: Log | WorldsLog) -> list[str]:
    """What differs between the software that a log records and that of now."""
    before, now = log.attrs, again.attrs
    names = ("mbcli_version", "python", "cpu", "platform", "kernels")
    changed = [name for name in names if before.get(name, now.get(name)) != now.get(name)]
    packages = before.get("packages") or {}
    return changed + [name for name, version in now["packages"].items() if packages.get(name) != version]
