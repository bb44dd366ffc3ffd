"""`mbcli log verify`: runs a log again from its own record and compares."""

import os
import subprocess
import sys
import tempfile

import click

from mbcli.cli.log_diff import render, tolerance_option
from mbcli.cli.output import printable, refuse_given_inputs
from mbcli.common.json_text import to_json
from mbcli.errors import MbcliError, ModelError

LEVELS_UP = 16  # ".." at the start of a path that a model file may have


@click.command("verify")
@click.argument("path", metavar="LOG")
@tolerance_option("the same software on the same machine gives the same numbers")
@click.option("-o", "--output", metavar="FILE", help="Keep the log of the second run.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def log_verify(ctx, path, tolerance, output, force, as_json):
    """Run the command that a log records, with the model files in the log, and compare the rows.

    Exit code 1 if they differ. Model files come from the log; other files of the command (inputs, settings, starts)
    are read where the command names them. Of an unfinished log the rows that it has are compared.

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
        _run_again(log, folder, target, force)
        with Log(target) as again:
            result = compare(log, again, tolerance=tolerance, any_rows=not _is_whole(log))
        changed = _other_software(log)
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


def _is_whole(log):
    return log.status == "complete"


def _run_again(log, folder, target, force):
    """Runs the recorded command in a process of its own, so that its environment is that of a shell."""
    words = _recorded_words(log)
    root = os.path.join(folder, "files")
    place = os.path.join(root, *(["d"] * LEVELS_UP))  # the folder that relative paths start from
    os.makedirs(place)
    moved = {source.path: _put(source, root, place) for source in log.read_sources()}
    words = [_moved(word, moved, root) for word in _without_outputs(words)]
    if not _is_whole(log) and log.row_count:
        words += ["-t", repr(float(log.times[-1] - log.times[0]))]
    command = [sys.executable, "-m", "mbcli", "-q", "simulate", *words, "-o", target, *(["--force"] if force else [])]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, env=_environment())
    if done.returncode:
        reason = (done.stderr.strip().split("\n") or [""])[-1]
        error = ModelError(f"{log.path}: error: its command cannot be run again: {reason}")
        error.exit_code = done.returncode if done.returncode in (2, 3, 4, 5, 6) else MbcliError.exit_code
        raise error


def _environment():
    """This package is the one to run, wherever the process starts."""
    import mbcli

    above = os.path.dirname(os.path.dirname(os.path.abspath(mbcli.__file__)))
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": above + (os.pathsep + known if known else "")}


def _recorded_words(log):
    argv = log.attrs.get("argv")
    if not isinstance(argv, list) or not all(isinstance(word, str) for word in argv) or "simulate" not in argv[1:]:
        raise ModelError(
            f"{log.path}: error: has no record of a command: a run from Python is run again from Python, "
            "and compared by `mbcli log diff`"
        )
    return argv[argv.index("simulate", 1) + 1 :]


WITH_FILE = ("-o", "--log", "--resume")
ALONE = ("--force", "--json", "--no-log")


def _without_outputs(words):
    """The words of a command but for what it writes, and for --resume: a run without a break has the same rows."""
    result, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in WITH_FILE:
            skip = True
        elif word not in ALONE and not word.startswith(("--log=", "--resume=", "-o")):
            result.append(word)
    return result


def _put(source, root, place):
    """Writes a model file of the log below a folder; returns its path there."""
    path = os.path.normpath(os.path.join("/" if os.path.isabs(source.path) else place, source.path))
    target = path if path.startswith(root + os.sep) else os.path.join(root, "absolute", path.lstrip("/"))
    if not os.path.normpath(target).startswith(root + os.sep):
        raise ModelError(f"{source.path}: error: is not the path of a model file")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(source.content)
    return target


def _moved(word, moved, root):
    """A word of the command: where it names a file of the log its place now, another file by its whole path."""
    name, equals, value = word.rpartition("=")
    if value in moved:
        return f"{name}{equals}{moved[value]}"
    inside = os.path.join(root, "absolute", value.lstrip("/")) if os.path.isabs(value) else None
    if inside is not None and os.path.isdir(inside):
        return f"{name}{equals}{inside}"
    if value and not os.path.isabs(value) and os.path.exists(value):
        return f"{name}{equals}{os.path.abspath(value)}"
    return word


def _other_software(log):
    """What differs between the versions that the log records and those of now."""
    from mbcli.log.provenance import collect_provenance

    now = collect_provenance()
    before = log.attrs
    changed = [name for name in ("mbcli_version", "python", "cpu", "platform") if before.get(name) != now[name]]
    packages = before.get("packages") or {}
    return changed + [name for name, version in now["packages"].items() if packages.get(name) != version]
