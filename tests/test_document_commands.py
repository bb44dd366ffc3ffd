"""Every command in the documents runs, and prints what stands there; every example runs."""

import os
import subprocess
import sys

import pytest
from document_commands import BLOCK, ROOT, commands_of, masked, run

PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if BLOCK.search(page.read_text())]
EXAMPLES = sorted(path for path in (ROOT / "docs" / "examples").iterdir() if path.suffix in (".py", ".sh"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_the_page_says(page, tmp_path):
    for block in BLOCK.findall(page.read_text()):
        for command in commands_of(block):
            printed, code = run(command.line, tmp_path)
            assert code in (0, 1), f"$ {command.line}\n{printed}"
            assert masked(printed) == masked(command.output), f"$ {command.line}"


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
