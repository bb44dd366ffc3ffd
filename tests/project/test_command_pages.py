"""docs/reference/commands: a page for each command, with what the program prints, as command_pages.py writes it."""

import pytest
from command_line import commands
from command_pages import FOLDER, PAGES, file_of, lines_of, page_of, written_examples
from document_commands import environment_in, masked, run_here

from mbcli.cli import mbcli


def test_every_command_has_a_page_that_the_index_names():
    names = {name for name, _ in commands(mbcli)}
    index = (FOLDER / "index.md").read_text()
    assert set(PAGES) == names
    assert [name for name in names if f"[`{name}`]({file_of(name).name})" not in index] == []
    assert {path.stem for path in FOLDER.glob("*.md")} == {"index", *(name.replace(" ", "_") for name in names)}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_what_its_commands_print(name, tmp_path, monkeypatch):
    """`python tests/support/command_pages.py NAME` writes it anew."""
    for variable, value in environment_in(tmp_path).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.chdir(tmp_path)
    examples = written_examples(name)
    assert file_of(name).read_text() == page_of(name, examples)
    assert [example.line for example in examples] == lines_of(name)
    for example in examples:
        printed, code = run_here(example.line, tmp_path)
        assert code in (0, 1), f"$ {example.line}\n{printed}"
        assert masked(printed) == masked(example.output), f"$ {example.line}"


def test_a_page_with_other_output_is_found():
    (example,) = [one for one in written_examples("gravity") if "--help" not in one.line]
    assert example.output.count("N m") == 2
    assert masked(example.output) != masked(example.output.replace("-0.69", "0.69"))
