"""The models of two folders, compared pair by pair: each pair a case for many_files.py, and a row at the end."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from mbcli.cli.many_files import LostError, model_files, result_of, results
from mbcli.cli.options import Options
from mbcli.cli.output import printable
from mbcli.common.number_text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mbcli.sweeps.file_cases import Where

BUG = 70
ALONE, SAME, DIFFERENT, FAILED = "no partner", "same", "different", "not compared"


def compare_folders(
    folders: Sequence[str],
    options: Mapping[str, Any],
    where: Where | None,
    case: Callable[[Options, Mapping[str, str]], dict[str, Any]],
) -> tuple[dict[str, Any], str, int]:
    """The document, its text, and the largest exit code.

    options: of case(), which compares {"file", "other"} in this process, or where where says.
    """
    pairs = _pairs(*([(os.path.relpath(path, top), path) for path in model_files([top], False)] for top in folders))
    cases = [{"file": a, "other": b} for _, a, b in pairs if a is not None and b is not None]
    elsewhere = None if where is None else results("compare", cases, options, where, options["own"]["verbosity"])
    rows = []
    for name, a, b in pairs:
        row: dict[str, Any] = {"name": name, "a": a, "b": b}
        if a is None or b is None:
            row |= {"exit_code": 1, "error": f"is in {folders[a is None]}, not in {folders[a is not None]}"}
        else:
            answer = None if elsewhere is None else next(elsewhere)  # an error of the cluster is none of the pair
            try:
                row |= case(Options(**options), {"file": a, "other": b}) if answer is None else result_of(answer)
            except LostError as error:
                row |= {"exit_code": LostError.exit_code, "error": str(error)}
            except Exception as error:  # one of many: the others have their rows
                row |= {"exit_code": BUG, "error": f"internal error: {type(error).__name__}: {error}"}
        rows.append(row)
    document = {"schema": "mbcli/compare-folders", "schema_version": 1, "folders": list(folders), "pairs": rows}
    return document, _table(rows), max(row["exit_code"] for row in rows)


def _pairs(a: Sequence[tuple[str, str]], b: Sequence[tuple[str, str]]) -> list[tuple[str, str | None, str | None]]:
    """(name, path, path) of files of one name below the folders, else of the only ones of a name without its suffix."""
    of_a, of_b = dict(a), dict(b)
    alone = [name for name in (*of_a, *of_b) if (name in of_a) != (name in of_b)]
    count = Counter((_stem(name), name in of_a) for name in alone)
    partner = {_stem(name): name for name in of_b if name not in of_a}
    found: list[tuple[str, str | None, str | None]] = []
    for name, path in of_a.items():
        stem = _stem(name)
        is_only = count[stem, True] == count[stem, False] == 1
        other = name if name in of_b else partner[stem] if is_only else None
        found.append((name, path, None if other is None else of_b.pop(other)))
    return [*found, *((name, None, path) for name, path in of_b.items())]


def _stem(name: str) -> str:
    return os.path.splitext(name)[0].removesuffix(".dmd")


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for row in rows:
        if "error" in row:
            verdict = FAILED if row["a"] and row["b"] else ALONE
            said = row["error"].split("\n")[0]
        elif row["quantities"]:
            first = row["quantities"][0]
            count = counted(len(row["quantities"]), "difference")
            verdict, said = DIFFERENT, f"{count}; {first['name']} of {first['where']}: {first['cause']}"
        else:
            verdict, said = SAME, counted(len(row["compared"]), "quantity", "quantities")
        lines.append([printable(row["name"]), verdict, printable(said)])
    widths = [max(len(line[k]) for line in lines) for k in range(2)]
    text = "\n".join(f"{name:{widths[0]}}  {verdict:{widths[1]}}  {said}" for name, verdict, said in lines)
    total = ", ".join(f"{count} {verdict}" for verdict, count in Counter(line[1] for line in lines).most_common())
    return f"{text}\n\n{counted(len(rows), 'pair')}: {total}"
