"""Every command and every piece of Python in the documents runs and prints what stands there; every example runs."""

import os
import subprocess
import sys

import pytest
from document_commands import ROOT, RUNNABLE, commands_of, environment_in, masked, run, run_here, run_python

DOCUMENTS = [
    ROOT / "README.md",
    # test_command_pages.py runs those of commands
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "commands" or path.stem == "index"),
]
PAGES = [page for page in DOCUMENTS if RUNNABLE.search(page.read_text())]
NOT_RUN = 0  # blocks that need what a test does not have, each with its reason above it
EXAMPLES = sorted(path for path in (ROOT / "docs" / "examples").iterdir() if path.suffix in (".py", ".sh"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in environment_in(tmp_path).items():
        monkeypatch.setenv(name, value)
    names = {"__name__": "page"}
    text = page.read_text()
    for block in RUNNABLE.finditer(text):
        if block["reason"]:
            continue
        if block["kind"] == "console":
            commands_print_what_stands_there(block["text"], tmp_path)
            continue
        line = text[: block.start("text")].count("\n")
        printed, promised = run_python("\n" * line + block["text"], names, str(page))
        assert not promised or masked(printed) == masked(promised), f"{page.name}:{line + 1}"


def commands_print_what_stands_there(block, folder):
    for command in commands_of(block):
        printed, code = run_here(command.line, folder)
        assert code in (0, 1), f"$ {command.line}\n{printed}"
        assert masked(printed) == masked(command.output), f"$ {command.line}"


def test_blocks_that_do_not_run_are_counted():
    blocks = [block for page in PAGES for block in RUNNABLE.finditer(page.read_text())]
    assert len([block for block in blocks if block["kind"] == "python"]) >= 21
    assert len([block for block in blocks if block["reason"]]) == NOT_RUN


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_run(example, tmp_path):
    if example.suffix == ".sh":
        printed, code = run(f"bash -e {example}", tmp_path)
        assert code == 0 and printed, printed
        return
    run("true", tmp_path)  # makes the folder
    done = subprocess.run(
        [sys.executable, example],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr


def test_a_page_whose_output_is_old_is_found():
    assert masked("simulated 2 s in 0.00147 s (1362 times real time)") == masked(
        "simulated 2 s in 1 s (2 times real time)"
    )
    assert masked("x 1.23456 m") != masked("x 1.24456 m")
    (command,) = commands_of("$ echo 1 \\\n  2\n1 2\n")
    assert (command.line, command.output) == ("echo 1 \\\n  2", "1 2\n")
