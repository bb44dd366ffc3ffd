"""CONTRIBUTING.md is followed to the letter, in a copy of the program: its edits are made and its scripts run."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from repository import ROOT, SAMPLES

TEXT = (ROOT / "CONTRIBUTING.md").read_text()
NUMBERS = {"One": 1, "Two": 2, "Three": 3, "Four": 4, "Five": 5, "Six": 6, "Seven": 7, "Eight": 8}
SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.M)}
EXAMPLES = [
    "Add a joint type",
    "Add a contact law",
    "Add a force element",
    "Add a command",
    "Add what acts in a run",
    "Add a sensor",
    "Add a log field",
    "Add a file format",
]

# a numbered step names its file; blocks follow, each after a line that stands there, or the whole of a new file
STEP = re.compile(r"^\d+\. `([^`]+)`(.*?)(?=^\d+\. `|^\S)", re.M | re.S)
BLOCK = re.compile(r"[Aa]fter `([^`]+)`[^\n]*\n\n    ```python\n(.*?)^    ```$", re.M | re.S)
WHOLE = re.compile(r"^    ```python\n(.*?)^    ```$", re.M | re.S)


def steps(section):
    """[(file, [(line after which a block stands, or None for a new file, block)])]"""
    found = []
    for path, body in STEP.findall(section):
        if body.startswith(", new"):
            blocks = [(None, WHOLE.search(body)[1])]
        else:
            blocks = BLOCK.findall(body)
        assert blocks, path
        found.append((path, [(anchor, moved_left(block)) for anchor, block in blocks]))
    return found


def moved_left(block):
    """A block without the indentation of the list it stands in."""
    return re.sub(r"^    ", "", block, flags=re.M)


def script(section):
    return re.search(r"^Try it.*?^```python\n(.*?)^```$", section, re.M | re.S)[1]


def follow(tree, section):
    for path, blocks in steps(section):
        file = tree / path
        for anchor, block in blocks:
            if anchor is None:
                assert not file.exists(), path
                file.write_text(block)
                continue
            lines = file.read_text().splitlines(keepends=True)
            (place,) = (k for k, line in enumerate(lines) if line.rstrip("\n") == anchor)
            file.write_text("".join([*lines[: place + 1], block, *lines[place + 1 :]]))


@pytest.fixture
def copied_program(tmp_path):
    """The program in a folder of its own, as a wheel lays it out."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "mbcli", tmp_path / "mbcli", ignore=ignore)
    shutil.copytree(ROOT / "parsers", tmp_path / "mbcli" / "parsers", ignore=ignore)
    shutil.copytree(ROOT / "schemas", tmp_path / "mbcli" / "schemas", ignore=ignore)
    shutil.copytree(SAMPLES, tmp_path / "sample_models", ignore=ignore)
    (tmp_path / "parsers").symlink_to(tmp_path / "mbcli" / "parsers")
    return tmp_path


@pytest.mark.parametrize("title", EXAMPLES)
def test_a_worked_example_gives_what_it_promises(title, copied_program):
    section = SECTIONS[title]
    follow(copied_program, section)
    environment = os.environ | {"PYTHONPATH": str(copied_program), "MBCLI_JIT": "0"}
    where = [sys.executable, "-c", "import mbcli; print(mbcli.__file__)"]
    run = {"cwd": copied_program, "env": environment, "capture_output": True, "text": True, "timeout": 120}
    assert str(copied_program) in subprocess.run(where, **run).stdout
    done = subprocess.run([sys.executable, "-c", script(section)], **run)
    assert done.returncode == 0, done.stderr


def test_what_the_worked_examples_add_passes_the_gates_of_the_project(tmp_path):
    """ruff and mypy over all of them in one copy; where ROOT has a cache of mypy, only what they change is analysed."""
    for name in ("mbcli", "parsers", "schemas", ".ci"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", tmp_path / ".mypy_cache")
    changed = set()
    for title in EXAMPLES:
        follow(tmp_path, SECTIONS[title])
        changed |= {path for path, _ in steps(SECTIONS[title]) if path.endswith(".py")}
    ruff = Path(sysconfig.get_path("scripts"), "ruff")
    for command in ([ruff, "check"], [ruff, "format", "--check"], [sys.executable, "-m", "mypy"]):
        files = [] if "mypy" in command else sorted(changed)
        done = subprocess.run([*command, *files], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, "\n".join(line for line in done.stdout.splitlines() if "note:" not in line)


@pytest.mark.parametrize("title", EXAMPLES)
def test_a_worked_example_takes_as_many_files_as_it_says(title):
    count, new = len(steps(SECTIONS[title])), sum(blocks[0][0] is None for _, blocks in steps(SECTIONS[title]))
    first = SECTIONS[title].split("\n\n")[1]
    said = re.match(r"(\w+) files?, (?:(\w+) of them )?new\.", first)
    assert (NUMBERS[said[1]], NUMBERS[(said[2] or said[1]).title()]) == (count, new)


@pytest.mark.parametrize("title", EXAMPLES)
def test_without_its_steps_the_script_of_a_worked_example_fails(title, copied_program):
    environment = os.environ | {"PYTHONPATH": str(copied_program), "MBCLI_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", script(SECTIONS[title])], cwd=copied_program, env=environment, capture_output=True
    )
    assert done.returncode != 0
