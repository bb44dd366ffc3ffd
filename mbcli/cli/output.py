"""Results for people and for programs: JSON documents, aligned text, files that are never overwritten by accident."""

import json
import math
import os
import sys
import tempfile

import click

from mbcli.errors import OutputError


def document(command, loaded, context=None, **content):
    """A JSON document with the keys that every command has."""
    result = {"schema": f"mbcli/{command}", "schema_version": 1, "model": loaded.description()}
    if context is not None:
        plant = loaded.plant
        result["position_names"] = plant.GetPositionNames()
        result["velocity_names"] = plant.GetVelocityNames()
        result["q"] = plant.GetPositions(context).tolist()
        result["v"] = plant.GetVelocities(context).tolist()
    return {**result, **content}


def to_json(value):
    """JSON text; numbers round-trip, what is not finite becomes null and is listed under not_finite."""
    missing = []
    clean = _clean(value, "", missing)
    if missing:
        clean["not_finite"] = missing
    return json.dumps(clean, indent=2, allow_nan=False, ensure_ascii=False)


def _clean(value, path, missing):
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(k): _clean(v, f"{path}.{k}".lstrip("."), missing) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(v, f"{path}[{k}]", missing) for k, v in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        missing.append(path)
        return None
    return value


def emit(text, options):
    """Writes a text result to stdout or to the file of -o."""
    if options.output in (None, "-"):
        click.echo(text)
        sys.stdout.flush()
        return
    write_file(options.output, text + "\n", options.force)


def refuse_existing(path, force):
    if os.path.exists(path) and not force:
        raise OutputError(f"{path}: exists already; --force replaces it")


def write_file(path, text, force):
    """Writes a file under a temporary name and renames it."""
    refuse_existing(path, force)
    directory = os.path.dirname(os.path.abspath(path))
    try:
        handle, temporary = tempfile.mkstemp(dir=directory, prefix=".mbcli-", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror}") from None


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def printable(text):
    """Names come from files: control characters are shown, not obeyed."""
    from mbcli.parsers.diagnostics import printable

    return printable(text)


def number(value):
    """A number in a column of text."""
    return f"{value + 0.0:.6g}"  # no minus zero


def table(rows, header=None):
    """Aligned columns; the first one to the left, numbers to the right."""
    cells = [[c if isinstance(c, str) else number(c) for c in row] for row in ([header] if header else []) + rows]
    if not cells:
        return ""
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    lines = []
    for row in cells:
        first = printable(row[0]).ljust(widths[0])
        rest = [printable(cell).rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([first, *rest]).rstrip())
    return "\n".join(lines)


def named_vector(names, *columns, header=None):
    """One line per name with its number in each column."""
    return table([[name, *(float(c[k]) for c in columns)] for k, name in enumerate(names)], header)


def matrix(names, M):
    """A square matrix with the names of its rows; columns are in the same order."""
    return table([[name, *(float(x) for x in row)] for name, row in zip(names, M, strict=True)])
