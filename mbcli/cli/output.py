"""Results for people and for programs: JSON documents, aligned text, files that are never overwritten by accident."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mbcli.common import output_files
from mbcli.common.json_text import not_finite
from mbcli.common.output_files import is_special, refuse_inputs, write_in_place
from mbcli.errors import NumericalError, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mbcli.math.array_types import Matrix
    from mbcli.models.loaded_model import LoadedModel
    from mbcli.multibody.state.context import Context


def document(command: str, loaded: LoadedModel, context: Context | None = None, **content: Any) -> dict[str, Any]:
    """A JSON document with the keys that every command has."""
    result = {"schema": f"mbcli/{command}", "schema_version": 1, "model": loaded.description()}
    if context is not None:
        plant = loaded.plant
        result["position_names"] = plant.GetPositionNames()
        result["velocity_names"] = plant.GetVelocityNames()
        result["q"] = plant.GetPositions(context).tolist()
        result["v"] = plant.GetVelocities(context).tolist()
    return {**result, **content}


def emit(text: str, options: Any = None, *, styled: bool = False) -> None:
    """Writes a text result to stdout, or to the file of the option -o; styled: it has colours, and names in it are
    escaped."""
    if not styled:
        text = "\n".join(map(printable, text.split("\n")))
    if options is None or options.output in (None, "-"):
        click.echo(text)
        sys.stdout.flush()
        return
    write_file(options.output, text + "\n", options.force)


def require_finite(results: Any) -> None:
    """NumericalError, after results were printed, for numbers in them that are not finite."""
    names = not_finite(results)
    if names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise NumericalError(
            f"{names[0]}{more} not finite: numbers of the model or of the state are too large or small"
        )


def refuse_existing(path: str, force: bool, *, but: str | None = None) -> None:
    """OutputError if a file is there that --force does not give free, or an input; but: one that may be replaced."""
    output_files.refuse_existing(path, force)
    refuse_given_inputs(path, but=but)


def refuse_given_inputs(path: str, *, but: str | None = None) -> None:
    """OutputError if an argument or option of the command names the file at path as an input."""
    context = click.get_current_context(silent=True)
    if context is not None:
        refuse_inputs(path, [name for name in _given_files(context) if name != but])


OUTPUT_PARAMETERS = ("output", "log_path", "report", "plot")


def outputs(context: click.Context) -> list[str]:
    """The files that the options of a command name for its results."""
    names = (context.params.get(key) for key in OUTPUT_PARAMETERS)
    return [name for name in names if name not in (None, "-")]


def _given_files(context: click.Context) -> Iterator[str]:
    """Every text among the arguments and options of a command but for its outputs: some of them name input files."""
    for key, value in context.params.items():
        if key not in OUTPUT_PARAMETERS:
            yield from (text for text in (value if isinstance(value, tuple) else (value,)) if isinstance(text, str))


def write_file(path: str, content: str | bytes, force: bool) -> None:
    """Writes a text or bytes under a temporary name and renames it; pipes and devices are written to as they are."""
    content = content.encode() if isinstance(content, str) else content
    try:
        if is_special(path):
            with open(path, "wb") as file:
                file.write(content)
            return
        refuse_existing(path, force)
        write_in_place(path, content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: error: cannot be written: {error.strerror}") from None


def written(path: str) -> dict[str, Any]:
    """What JSON says of a file that was written: its path, format and size in bytes, None of pipes and devices."""
    suffix = os.path.splitext(path)[1].lower().lstrip(".")
    return {"file": path, "format": suffix, "bytes": None if is_special(path) else os.path.getsize(path)}


def printable(text: str) -> str:
    """Names come from files: control characters are shown, not obeyed."""
    from mbcli.parsers.diagnostics import printable

    return printable(text)


def tell(line: str, *, colour: str | None = None) -> None:
    """Prints a line beside the result, on stderr."""
    click.secho(printable(line), err=True, fg=colour)


def warn(line: str) -> None:
    """Prints a warning on stderr."""
    tell(f"mbcli: warning: {line}", colour="yellow")


def number(value: float) -> str:
    """A number in a column of text."""
    return f"{value + 0.0:.6g}"  # no minus zero


def table(rows: list[Any], header: Sequence[str] | None = None) -> str:
    """Aligned columns; the first one to the left, numbers to the right."""
    cells = [
        [printable(c) if isinstance(c, str) else number(c) for c in row] for row in ([header] if header else []) + rows
    ]
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    lines = []
    for row in cells:
        first = row[0].ljust(widths[0])
        rest = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([first, *rest]).rstrip())
    return "\n".join(lines)


NO_FREEDOM = "the model has no degrees of freedom"


def named_vector(names: Iterable[str], values: Iterable[float], units: Sequence[str]) -> str:
    """One line per name with its number and unit."""
    rows: list[list[Any]] = [[name, float(value), unit] for name, value, unit in zip(names, values, units, strict=True)]
    width = max((len(unit) for unit in units), default=0)
    return table([[*row[:2], row[2].ljust(width)] for row in rows]) if rows else NO_FREEDOM


def matrix(names: Iterable[str], M: Matrix) -> str:
    """A square matrix with the names of its rows; columns are in the same order."""
    rows = [[name, *row] for name, row in zip(names, M.tolist(), strict=True)]
    return table(rows) if rows else NO_FREEDOM
