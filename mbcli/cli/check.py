"""`mbcli check`: everything that is wrong with model files."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import click

from mbcli.cli.many_files import LostError, file_engine_options, model_files, result_of, results, take_where
from mbcli.cli.model import expand_option, print_expanded, read_packages
from mbcli.cli.options import Options, resource_options, writable_path
from mbcli.cli.output import emit, printable, tell, write_file
from mbcli.common.json_text import to_json
from mbcli.common.number_text import counted
from mbcli.errors import ModelError, ResourceError
from mbcli.parsers.formats import FORMATS as MODEL_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mbcli.checks.baseline import Baseline
    from mbcli.checks.file_check import FileCheck
    from mbcli.checks.fixes import Mended
    from mbcli.parsers.diagnostics import Diagnostic

FORMATS = ("text", "json", "jsonl", "sarif", "github")
SEVERITIES = ("error", "warning", "note")
COLORS = {"error": "red", "warning": "yellow", "note": "cyan"}
MAX_FINDINGS = 1000
MAX_OF_KIND = 10
MAX_RELATED = 3  # other places of a finding in a text
WATCH_SECONDS = 0.2  # between looks at the files
FOUND = 1  # exit code: there is something at or above --fail-on


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("--input-format", type=click.Choice(tuple(MODEL_FORMATS)), help="Format of every MODEL; '-' is stdin.")
@resource_options
@expand_option
@click.option("--srdf", metavar="FILE", help="Also check this SRDF file, against the model.")
@click.option(
    "--baseline", metavar="FILE", help="Ignore accepted findings: those in FILE, the output of an earlier check --json."
)
@click.option(
    "--select",
    "selected",
    multiple=True,
    metavar="CODE",
    help="Only findings of this code, as MESH_SIZE or 'MESH_*' (repeat).",
)
@click.option(
    "--ignore", "ignored", multiple=True, metavar="CODE", help="No findings of this code; they do not count (repeat)."
)
@click.option(
    "--fix",
    is_flag=True,
    help="Mend in the files what has one cure that follows from them (URDF, SDFormat), and print each change.",
)
@click.option("--dry-run", is_flag=True, help="Print what --fix would change, and write nothing.")
@click.option("--watch", is_flag=True, help="Check again whenever one of the files is saved, until Ctrl-C.")
@click.option("--meshes", is_flag=True, help="Open the mesh files too: format, unit, up-axis, size.")
@click.option(
    "--fail-on", type=click.Choice(SEVERITIES), default="error", help="Lowest severity that gives exit code 1. [error]"
)
@click.option("--strict", is_flag=True, help="The same as --fail-on warning.")
@click.option(
    "--max-findings",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"Print N findings at most; all are counted. [{MAX_FINDINGS}, and 10 of a kind in a text]",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS),
    help="jsonl: one finding per line; github: annotations of its workflows.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print a SARIF 2.1 log, for annotations in CI.")
@file_engine_options
@click.option("-o", "--output", metavar="FILE", callback=writable_path, help="Write the result to a file.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("-q", "--quiet", is_flag=True, help="Print only findings at or above --fail-on, no summary.")
@click.pass_context
def check(ctx: click.Context, **options: Any) -> int:
    """Report every fault of model files: findings of the parser, and physically impossible properties.

    A MODEL may be a folder: it stands for all model files below it. Many files are checked by several processes or by a
    cluster whose workers need none of them: what is printed is the same.

    \b
    mbcli check robot.urdf arm.sdf scene.dmd.yaml
    mbcli check robots/ --baseline accepted.json --sarif -o robots.sarif
    mbcli check robots/ --meshes -j 8
    mbcli check robot.urdf --fail-on warning --sarif -o robot.sarif
    mbcli check robot.urdf --ignore 'MESH_*' --ignore JOINT_LIMIT_MISSING --watch
    mbcli check robot.urdf --fix --dry-run
    xacro robot.xacro | mbcli check - --input-format urdf

    Notes are counted; `mbcli -v check` prints them, and all findings of a kind. JSON and SARIF have everything. Every
    code is explained in docs/reference/check.md.

    --fix gives axes the length 1, writes degrees that are plain in radians and colours in bytes from 0 to 1, puts the
    name that is there for one in other case or without its prefix, and the one file of its name for a mesh. All else of
    a file stays as it is; the file is read again, and a change whose finding stays or that brings an error is not made.
    Options --select and --ignore choose among findings.

    Exit codes: 0 nothing at or above --fail-on; 1 a finding is, a file that is not well-formed XML or YAML included;
    3 a file is of no known format; 4 a MODEL or its SRDF file cannot be read. All files are checked in any case.
    """
    if options["expand"]:
        print_expanded(Options(**options), Output(options))
        return 0
    result_format = _format(options)
    for name, option in (("selected", "--select"), ("ignored", "--ignore")):
        options[name] = _codes(options[name], option)
    _require_files_for_fixes(options)
    options["where"] = take_where(options)
    if not options["watch"]:
        return _report(options, result_format, ctx.obj["verbosity"])[0]
    if "-" in options["models"] or options["output"] not in (None, "-") or result_format not in (None, "text"):
        raise click.UsageError("--watch prints text on files, to the terminal")
    known: list[str] = []
    while True:
        before = _stamps(known, options)  # before reading: what is written meanwhile is new again
        known = _report(options, result_format, ctx.obj["verbosity"])[1]
        stamps = _stamps(known, options) | before
        while stamps == _stamps(stamps, options):
            time.sleep(WATCH_SECONDS)
        click.echo("mbcli: read again", err=True)


def _codes(words: Sequence[str], option: str) -> tuple[str, ...]:
    """The codes of findings, or patterns of codes, of an option."""
    from mbcli.common.suggestions import closest
    from mbcli.parsers.checks.codes import CODES

    patterns = tuple(word.strip().upper() for text in words for word in text.split(",") if word.strip())
    for pattern in patterns:
        if not any(fnmatchcase(code, pattern) for code in CODES):
            likely = closest(pattern, CODES)
            hint = f"; did you mean {likely}?" if likely else "; `mbcli explain` lists all"
            raise click.UsageError(f"{option}: there is no code '{pattern}'{hint}")
    return patterns


def _stamps(paths: Iterable[str], options: dict[str, Any]) -> dict[str, tuple[int, ...] | None]:
    """{path: what changes when a file is written} of files, and of the models there are now."""
    found: dict[str, tuple[int, ...] | None] = {}
    for path in (*paths, *options["models"], *_files(options)):
        try:
            status = os.stat(path)
            found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            found[path] = None
    return found


def _report(options: dict[str, Any], result_format: str | None, verbosity: int) -> tuple[int, list[str]]:
    """Checks and prints; returns the exit code and the paths of all files that were read."""
    from mbcli.checks.file_check import UNREADABLE

    baseline = _baseline(options["baseline"])
    mended = [_mend(model, options) for model in _files(options)] if options["fix"] else []
    fail_on = "warning" if options["strict"] and options["fail_on"] == "error" else options["fail_on"]
    checked, lost = _all_checked(_files(options), options, verbosity)
    if not checked:
        raise LostError("\n".join(lost))
    if baseline is not None:
        for file in checked:
            file.findings = [finding for finding in file.findings if not baseline.accepts(finding)]
    for file in checked:
        file.findings = [finding for finding in file.findings if _is_wanted(finding.code, options)]
    findings = [finding for file in checked for finding in file.findings]
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    if result_format in (None, "text"):
        wanted = failing if options["quiet"] or verbosity < 0 else SEVERITIES[: 3 if verbosity > 0 else 2]
        shown = [f for f in findings if f.severity in wanted or f.severity in failing]
        most_of_kind = MAX_OF_KIND if verbosity <= 0 and options["max_findings"] is None else None
        summary = not options["quiet"] and verbosity >= 0
        text = _text(checked, findings, shown, options, most_of_kind=most_of_kind, summary=summary)
        text = "\n".join([*_lines_of_fixes(mended, options["dry_run"]), *([text] if text else [])])
        if summary and baseline is not None:
            gone = f"; {baseline.gone():,} are gone" if baseline.gone() else ""
            text += f"\n{printable(options['baseline'])}: {baseline.accepted:,} accepted findings{gone}"
    elif result_format == "json":
        text = _json(checked, findings, findings[: _most(options)], _fixes(mended, options) if options["fix"] else None)
    else:
        text = WRITERS[result_format](checked, findings, findings[: _most(options)])
        for line in _lines_of_fixes(mended, options["dry_run"]):
            click.echo(line, err=True)
    if text:
        emit(text, Output(options), styled=result_format in (None, "text"))
    elif options["output"] not in (None, "-"):
        write_file(options["output"], "", options["force"])
    for line in lost:
        tell(line)
    paths = [source["path"] for file in checked for source in file.sources]
    if lost:
        return LostError.exit_code, paths
    failures = {file.failure for file in checked} - {None}
    if failures:
        return (ResourceError if UNREADABLE in failures else ModelError).exit_code, paths
    return (FOUND if any(finding.severity in failing for finding in findings) else 0), paths


def _require_files_for_fixes(options: dict[str, Any]) -> None:
    if options["dry_run"] and not options["fix"]:
        raise click.UsageError("--dry-run is for --fix")
    if options["fix"]:
        for name in ("watch", "baseline", "xacro"):
            if options[name]:
                raise click.UsageError(f"--fix and --{name} exclude each other")
        if "-" in options["models"]:
            raise click.UsageError("--fix mends files, not stdin")


def _mend(model: str, options: dict[str, Any]) -> Mended:
    """The cures of a file, which are written unless --dry-run is given."""
    from mbcli.checks.fixes import mend

    mended = mend(
        model,
        read_packages(Options(**options)),
        mesh_files=options["meshes"],
        wanted=lambda code: _is_wanted(code, options),
    )
    if model not in options["models"]:
        mended.why_not = ""  # of a folder: nobody meant this file
    if mended.fixes and not options["dry_run"]:
        mended.write()
    return mended


def _lines_of_fixes(mended: Sequence[Mended], is_tried: bool) -> Iterator[str]:
    """Each change, and each that was not made since its finding stays."""
    done = "would change" if is_tried else "changed"
    for file in mended:
        path = printable(file.path)
        if file.why_not:
            yield f"{path}: not mended: {file.why_not}"
        for fix in file.fixes:
            yield printable(f'{path}:{fix.line}: {done}: {fix.what}: "{fix.old}" -> "{fix.new}" [{fix.code}]')
        for fix in file.unproved:
            change = f'"{fix.old}" -> "{fix.new}" [{fix.code}]'
            yield printable(f"{path}:{fix.line}: not changed, the finding would stay or another error come: {change}")
        if file.fixes:
            yield f"{path}: {counted(len(file.fixes), 'change')}{', not written' if is_tried else ''}"


def _fixes(mended: Sequence[Mended], options: dict[str, Any]) -> list[dict[str, Any]]:
    """The value of the key `fixes` in the JSON document."""
    return [
        {
            "code": fix.code,
            "file": file.path,
            "line": fix.line,
            "what": fix.what,
            "old": fix.old,
            "new": fix.new,
            "proved": is_proved,
            "written": is_proved and not options["dry_run"],
        }
        for file in mended
        for fixes, is_proved in ((file.fixes, True), (file.unproved, False))
        for fix in fixes
    ]


def _is_wanted(code: str, options: dict[str, Any]) -> bool:
    selected = not options["selected"] or any(fnmatchcase(code, pattern) for pattern in options["selected"])
    return selected and not any(fnmatchcase(code, pattern) for pattern in options["ignored"])


class Output:
    """The file that `emit` writes to."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.output, self.force = options["output"], options["force"]


def _format(options: dict[str, Any]) -> str | None:
    asked = {options["output_format"], "json" if options["as_json"] else None, "sarif" if options["as_sarif"] else None}
    asked.discard(None)
    if len(asked) > 1:
        raise click.UsageError(f"the result has one format, not {' and '.join(sorted(asked))}")
    if options["srdf"] is not None and len(options["models"]) > 1:
        raise click.UsageError("--srdf is for one MODEL")
    if options["models"].count("-") > 1:
        raise click.UsageError("stdin can be read once")
    return asked.pop() if asked else None


def _baseline(path: str | None) -> Baseline | None:
    if path is None:
        return None
    from mbcli.checks.baseline import Baseline

    return Baseline(path)


def _files(options: dict[str, Any]) -> Sequence[str]:
    """The MODELs, and the model files below those that are folders."""
    for name in ("input_format", "srdf"):
        if options[name] is not None and any(map(os.path.isdir, options["models"])):
            raise click.UsageError(f"--{name.replace('_', '-')} is for files, not for folders")
    return model_files(options["models"], options["xacro"])


def _all_checked(files: Sequence[str], options: dict[str, Any], verbosity: int) -> tuple[list[FileCheck], list[str]]:
    """The findings of files, in this process or where the options say, and a line for each that a machine failed at."""
    from mbcli.checks.file_check import FileCheck

    if options["where"] is None:
        return [_check(file, Options(**options)) for file in files], []
    given = {name: value for name, value in options.items() if name != "where"} | {"models": options["models"][:2]}
    checked, lost = [], []
    cases = [{"file": file} for file in files]
    for file, row in zip(files, results("check", cases, given, options["where"], verbosity), strict=True):
        try:
            checked.append(FileCheck.from_dict(result_of(row)))
        except LostError as error:
            lost.append(f"{file}: error: not checked: {error}")
    return checked, lost


def case(options: Options, values: Mapping[str, str]) -> dict[str, Any]:
    """The FileCheck of one file of many, as JSON has it."""
    return _check(values["file"], options).as_dict()


def _check(model: str, options: Options) -> FileCheck:
    from mbcli.checks.file_check import check_file

    source, name = (sys.stdin.buffer.read(), "<stdin>") if model == "-" else (model, model)
    return check_file(
        source,
        name=name,
        input_format=options.input_format,
        packages=read_packages(options),
        mesh_files=options.meshes,
        srdf=options.srdf,
    )


def _most(options: dict[str, Any]) -> int:
    return MAX_FINDINGS if options["max_findings"] is None else options["max_findings"]


def _counts(findings: Sequence[Diagnostic]) -> dict[str, int]:
    return {severity: sum(f.severity == severity for f in findings) for severity in SEVERITIES}


# --------------------------------------------------------------------------------------------------- text


def _text(
    checked: Sequence[FileCheck],
    findings: Sequence[Diagnostic],
    shown: Sequence[Diagnostic],
    options: dict[str, Any],
    *,
    most_of_kind: int | None,
    summary: bool,
) -> str:
    """The findings to be shown, most_of_kind of each kind (None: all), and the counts of all."""
    from mbcli.parsers.diagnostics import first_of_each_kind

    wanted, more = first_of_each_kind(shown, most_of_kind) if most_of_kind is not None else (shown, [])
    printed = wanted[: _most(options)]
    lines = [line for finding in printed for line in _lines(finding)]
    if len(wanted) > len(printed):
        lines.append(f"... {counted(len(wanted) - len(printed), 'more finding')} (--max-findings)")
    lines += more
    if summary:
        files = f"{len(checked)} files" if len(checked) > 1 else printable(checked[0].name)
        counts = [f"{n:,} {severity}{'s' if n != 1 else ''}" for severity, n in _counts(findings).items() if n]
        if findings and all(finding.severity == "note" for finding in findings):
            counts.insert(0, "no faults")
        lines.append(f"{files}: {', '.join(counts) or 'nothing found'}{_kinds_of_notes(findings, shown)}")
    text = "\n".join(lines)
    return click.unstyle(text) if options["output"] not in (None, "-") else text


def _kinds_of_notes(findings: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> str:
    """The notes that are not shown, counted by their code."""
    notes = Counter(finding.code for finding in findings if finding.severity == "note")
    if not notes or any(finding.severity == "note" for finding in shown):
        return ""
    return f" ({', '.join(f'{n:,} {code}' for code, n in notes.most_common())}; mbcli -v check prints them)"


def _lines(finding: Diagnostic) -> Iterator[str]:
    """The lines of a finding: the fault and its place, the element, a hint, other places."""
    severity = click.style(finding.severity, fg=COLORS[finding.severity], bold=finding.severity == "error")
    yield f"{printable(str(finding.place))}: {severity}: {printable(finding.message)} [{finding.code}]"
    if finding.xpath is not None:
        yield f"  at {printable(finding.xpath)}"
    if finding.hint is not None:
        yield f"  hint: {printable(finding.hint)}"
    if finding.related:
        places = [*map(str, finding.related[:MAX_RELATED]), *(["..."] if len(finding.related) > MAX_RELATED else [])]
        yield f"  see also {printable(', '.join(places))}"


# --------------------------------------------------------------------------------------- JSON, lines, SARIF


def _json(
    checked: Sequence[FileCheck],
    findings: Sequence[Diagnostic],
    shown: Sequence[Diagnostic],
    fixes: list[dict[str, Any]] | None,
) -> str:
    names = [file.name for file in checked]
    document = {
        "schema": "mbcli/check",
        "schema_version": 1,
        "model": {"name": ", ".join(names), "files": [source for file in checked for source in file.sources]},
        "findings": [finding.as_dict() for finding in shown],
        "counts": _counts(findings),
        **({} if fixes is None else {"fixes": fixes}),
    }
    return to_json(document | _left_out(findings, shown))


def _left_out(findings: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> dict[str, int]:
    return {"findings_left_out": len(findings) - len(shown)} if len(findings) > len(shown) else {}


def _json_lines(checked: Sequence[FileCheck], findings: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> str:
    return "\n".join(json.dumps(finding.as_dict(), allow_nan=False) for finding in shown)  # ASCII alone


def _sarif(checked: Sequence[FileCheck], findings: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> str:
    from mbcli.checks.sarif import sarif_log

    sources = [source for file in checked for source in file.sources]
    return to_json(sarif_log(shown, sources, all_shown=len(shown) == len(findings)))


def _github(checked: Sequence[FileCheck], findings: Sequence[Diagnostic], shown: Sequence[Diagnostic]) -> str:
    """Commands that workflows of GitHub show beside the lines of files, as its documentation ("Workflow commands") has
    them."""
    lines = []
    for finding in shown:
        place = {"file": finding.place.file, "line": finding.place.line, "col": finding.place.column}
        given = {key: value for key, value in (place | {"title": finding.code}).items() if value}
        properties = ",".join(f"{key}={_escaped(str(value), ':,')}" for key, value in given.items())
        hint = f"; {finding.hint}" if finding.hint else ""
        kind = "notice" if finding.severity == "note" else finding.severity
        lines.append(f"::{kind} {properties}::{_escaped(printable(finding.message + hint))}")
    return "\n".join(lines)


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(c):02X}" if c in "%\r\n" + more else c for c in text)


WRITERS = {"jsonl": _json_lines, "sarif": _sarif, "github": _github}
