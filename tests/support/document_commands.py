"""The commands and the Python in documents, run in order in one folder with the sample models in it.

Blocks of `console` are `$ command` lines and their output. Blocks of `python` go on where the last one ended, and
print what stands after their `print(...)`. Before a block that cannot run stands `<!-- not run: REASON -->`.

`python tests/support/document_commands.py PAGE...` runs the commands and pastes what they print.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from command_line import cli
from repository import ROOT, SAMPLES

BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
RUNNABLE = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n+)?^```(?P<kind>console|python)\n(?P<text>.*?)^```", re.M | re.S
)
PROMISE = re.compile(r"^print\(.*\)  # (.+)$", re.M)
# what differs from run to run: wall-clock times and rates, clocks, sizes of files, folders
MASKS = [
    (r"in [\d.e-]+ s \([\d.e+]+ times real time\)", "in ? s (? times real time)"),
    (r" in [\d.e-]+ s: ", " in ? s: "),
    (r"\d{4}-\d\d-\d\dT[\d:]+Z", "?"),
    (r"wall time .*", "wall time ?"),
    (r"\b[\d.]+ [kM]B\b", "? MB"),
    (r"\b\d+ ns\b", "? ns"),
    (r"-?\d+(\.\d*)?(e[+-]?\d+)?(?=[ ,\]]|$)", lambda number: _short(float(number[0]))),
    (r" +", " "),
    (r"\[ ", "["),
]


def _short(number):
    return "0" if abs(number) < 1e-9 else f"{number:.3g}"


class Command:
    """A line after `$` and what it printed; lines that end in a backslash go on."""

    def __init__(self, line, output):
        self.line, self.output = line, output

    def text(self):
        return f"$ {self.line}\n{self.output}"


def commands_of(block):
    found = []
    lines = iter(block.splitlines())
    for line in lines:
        if line.startswith("$ "):
            text = line[2:]
            while text.endswith("\\"):
                text += "\n" + next(lines)
            found.append(Command(text, ""))
        elif found:
            found[-1].output += line + "\n"
    return found


def environment_in(folder):
    """What a reader in a checkout has: a command `mbcli`, the sample models and the examples."""
    shim = folder / ".bin"
    if not shim.exists():
        shim.mkdir()
        (shim / "mbcli").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mbcli "$@"\n')
        (shim / "mbcli").chmod(0o755)
        (folder / "sample_models").symlink_to(SAMPLES)
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / "examples").symlink_to(ROOT / "docs" / "examples")
    paths = {"PATH": f"{shim}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return {**os.environ, **paths, "NO_COLOR": "1", "COLUMNS": "100"}


def run_python(text, names, origin):
    """Runs a block with the names of those before it; what it printed, and what the block says that it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, origin, "exec"), names)
    return printed.getvalue(), "".join(f"{line}\n" for line in PROMISE.findall(text))


def run(command, folder):
    """What a command prints on both streams, and its exit code."""
    environment = environment_in(folder)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    printed = re.sub(r"(?m)^mbcli: compiling .*\n", "", done.stdout).replace(f"{folder}/", "")
    return printed, done.returncode


SHELL = re.compile(r"[|<>&$*\n]")


def run_here(line, folder):
    """As run(), in this process if the line has commands of mbcli alone; the folder is the current one."""
    lines = line.split("; ")
    if SHELL.search(line) or not all(words.startswith("mbcli ") for words in lines):
        return run(line, folder)
    printed = ""
    for words in lines:
        result = cli(*shlex.split(words)[1:], joined=True)
        printed += result.out
    return printed, result.code


def masked(text):
    """Text without what differs from run to run; numbers to three digits."""
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def paste(page):
    """Runs the commands of a page and writes what they print into it."""
    with tempfile.TemporaryDirectory() as folder:

        def again(block):
            commands = commands_of(block[0])
            for command in commands:
                command.output, _ = run(command.line, Path(folder))
            return "".join(command.text() for command in commands)

        page.write_text(BLOCK.sub(again, page.read_text()))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        paste(Path(name))
