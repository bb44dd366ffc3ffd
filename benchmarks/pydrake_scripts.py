"""Whole scripts and notebooks under pydrake and under mbcli: which end, and whether they print the same.

    python -m benchmarks.pydrake_scripts FILE_OR_FOLDER... [--path FOLDER] [--seconds 60]

Of a folder all files count that import pydrake and do more than define things. Each file is copied beside itself as a
hidden script (notebooks as the code of their cells) and runs in a process of its own, without a display, once under
pydrake and once by `python -m mbcli.pydrake`. Texts of outputs must be equal but for spaces, numbers agree to 1e-6 of
the largest of 1 and the number. Times and addresses are no outputs. What does not end under pydrake, and what does not
import it, counts for nothing.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import time
from itertools import zip_longest
from pathlib import Path

from benchmarks.pydrake_use import program

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
NOT_OUTPUT = re.compile(
    r"https?://\S+|0x[0-9a-f]+|\[?\d{4}-\d\d-\d\d.*|^.*\b(seconds|elapsed|took|realtime)\b.*$", re.MULTILINE
)
TOLERANCE = 1e-6
START = """\
import builtins, sys
try:
    from IPython.display import display
except ImportError:
    display = print
builtins.display = display
builtins.input = lambda *prompt: ""
"""


def run(command: list[str], folder: Path, path: str, seconds: float) -> tuple[int | None, str, str, float]:
    """(exit code, None if it was ended after so many seconds; output; errors; seconds) of a process."""
    environment = dict(os.environ, MPLBACKEND="Agg", PYTHONPATH=path, PYTHONWARNINGS="ignore")
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else ours would be translated anew in each run
    started = time.perf_counter()
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return None, "", f"not ended after {seconds:g} s", seconds
    return done.returncode, done.stdout, done.stderr, time.perf_counter() - started


def last_words(errors: str) -> str:
    """The line that says why a script failed, with where in mbcli or the script it was."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def different_line(mine: str, other: str) -> str | None:
    """The first place where outputs differ, None if they are equal."""
    ours, theirs = ("".join(NOT_OUTPUT.sub("", text).split(" ")) for text in (mine, other))
    ours, theirs = (re.sub(r"\n+", "\n", text).strip() for text in (ours, theirs))
    for a, b in zip_longest(ours.splitlines(), theirs.splitlines(), fillvalue="nothing"):
        numbers = [[float(x) for x in NUMBER.findall(text)] for text in (a, b)]
        equal = NUMBER.sub("#", a) == NUMBER.sub("#", b) and all(
            abs(x - y) <= TOLERANCE * max(1.0, abs(y)) for x, y in zip(*numbers, strict=True)
        )
        if not equal:
            return f"'{a[:70]}' where pydrake prints '{b[:70]}'"
    return None


def scripts_of(path: Path) -> list[Path]:
    """The file, or the files of a folder that import pydrake and do something."""
    if not path.is_dir():
        return [path]
    files = sorted(file for ending in ("py", "ipynb") for file in path.rglob(f"*.{ending}"))
    return [file for file in files if not file.name.startswith(".") and does_something(program(file) or "")]


def does_something(text: str) -> bool:
    """Whether a program imports pydrake and has more than imports, definitions and plain values."""
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return False
    definitions = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)
    acts = [
        s for s in statements if not isinstance(s, definitions) and any(isinstance(n, ast.Call) for n in ast.walk(s))
    ]
    return bool(acts) and re.search(r"^\s*(from|import) pydrake", text, re.MULTILINE) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", nargs="+", type=Path, help="or folder")
    parser.add_argument("--path", default="", help="folders of modules that the scripts import")
    parser.add_argument("--seconds", type=float, default=60.0, help="after which a script is ended")
    arguments = parser.parse_args()
    path = os.pathsep.join(filter(None, (str(ROOT), arguments.path)))
    ends = equal = scripts = 0
    for file in (script for path in arguments.file for script in scripts_of(path)):
        text = program(file)
        if text is None or "pydrake" not in text:
            continue
        copy = file.parent / f".run_{file.stem}.py"
        lines = text.splitlines(keepends=True)
        first = "".join(line for line in lines if line.startswith("from __future__"))
        rest = "".join(line for line in lines if not line.startswith("from __future__"))
        copy.write_text(first + START + rest, encoding="utf-8")
        try:
            theirs = run([sys.executable, copy.name], file.parent, path, arguments.seconds)
            if theirs[0] != 0:
                print(f"{file}: not under pydrake: {last_words(theirs[2])}", flush=True)
                continue
            ours = run([sys.executable, "-m", "mbcli.pydrake", copy.name], file.parent, path, 3.0 * arguments.seconds)
        finally:
            copy.unlink()
        scripts += 1
        if ours[0] != 0:
            print(f"{file}: FAILS: {last_words(ours[2])}", flush=True)
            continue
        ends += 1
        differs = different_line(ours[1], theirs[1])
        equal += differs is None
        verdict = "equal" if differs is None else f"differs: {differs}"
        print(f"{file}: ends in {ours[3]:.1f} s (pydrake {theirs[3]:.1f} s), {verdict}", flush=True)
    print(f"{ends} of {scripts} scripts that end under pydrake end, {equal} with equal outputs")


if __name__ == "__main__":
    main()
