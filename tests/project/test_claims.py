"""Every claim of the README and of the help stands in docs/reference/claims.md, and the command there shows it."""

import inspect
import re
import shlex
import tomllib

import click
import pytest
from claims import CLAIMED, PAGE, ROOT, sections, units
from command_line import cli
from document_commands import commands_of, environment_in, run, run_here
from test_cli_every_command import commands

from mbcli.cli import mbcli

README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CLAIMS = sections()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files that the page makes first."""
    folder = tmp_path_factory.mktemp("claims")
    block = re.search(r"```console\n(.*?)```", PAGE.read_text(), re.S)[1]
    for command in commands_of(block):
        printed, code = run(command.line, folder)
        assert code == 0, printed
    return folder


@pytest.mark.parametrize("title", CLAIMS)
def test_what_a_command_prints_is_what_is_claimed(title, files, monkeypatch):
    monkeypatch.chdir(files)
    for name, value in environment_in(files).items():
        monkeypatch.setenv(name, value)
    wrong = []
    for claim in CLAIMS[title]:
        if claim.command is not None:
            printed, code = run_here(claim.command, files)
            missing = [text for text in claim.printed if text not in printed]
            if missing or code != claim.exit_code:
                wrong.append(f"{claim.words}\n$ {claim.command}\nexit code {code}, lacks {missing}:\n{printed[:2000]}")
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("title", CLAIMED)
def test_every_sentence_of_a_document_is_a_claim_that_is_shown(title):
    said = list(units((ROOT / CLAIMED[title]).read_text()))
    listed = [claim.words for claim in CLAIMS[title]]
    assert [words for words in said if words not in listed] == []
    assert [words for words in listed if words not in said] == []


def help_of(command):
    """Sentences of a command's help, without its examples and tables, and the texts of its options."""
    text = re.sub(r"\x08\n(?:.+\n?)+", "", inspect.cleandoc(command.help) + "\n")
    options = [param for param in command.params if isinstance(param, click.Option) and param.help]
    return [*units(text), *(f"{max(o.opts, key=len)}: {' '.join(o.help.split())}" for o in options)]


def test_every_text_of_the_help_is_a_claim_that_is_shown():
    said = {words: name for name, command in commands(mbcli) for words in help_of(command)}
    listed = {claim.words for title, claims in CLAIMS.items() if title not in CLAIMED for claim in claims}
    assert {words: name for words, name in said.items() if words not in listed} == {}
    assert listed - said.keys() == set()


def test_tests_that_show_claims_are_there():
    named = [test for claims in CLAIMS.values() for claim in claims for test in claim.tests]
    assert len(named) > 50
    for file, name in named:
        assert (ROOT / file).is_file(), file
        assert f"def {name}" in (ROOT / file).read_text(), (file, name)


TOOL = """<link name="tool"/><joint name="mount" type="fixed"><parent link="lower"/><child link="tool"/>
<origin xyz="0 0 -0.8"/></joint></robot>"""


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch):
    """A reader's robot is the double pendulum with a tool, the dog the quadruped; `view` runs until it is stopped,
    and `simulate --view` is given an end."""
    monkeypatch.chdir(tmp_path)
    environment_in(tmp_path)
    robot = (ROOT / "sample_models" / "double_pendulum.urdf").read_text()
    (tmp_path / "robot.urdf").write_text(robot.replace("</robot>", TOOL))
    (tmp_path / "dog.urdf").write_text((ROOT / "sample_models" / "quadruped.urdf").read_text())
    (tmp_path / "motion.csv").write_text(
        "time,shoulder,elbow,shoulder_w,elbow_w\n" + "".join(f"{0.01 * k},{0.1 * k},0,10,0\n" for k in range(50))
    )
    lines = re.findall(r"^    (mbcli .*)", README, re.M)
    assert len(lines) == 10
    for line in lines:
        words = shlex.split(re.split(r" {2,}| \| ", line)[0])[1:]
        words += ["--no-browser", "-t", "0.1"] if "--view" in words else []
        if words[0] != "view":
            result = cli(*words)
            assert result.code == 0, (line, result.err)


def test_continuous_integration_begins_with_the_commands_of_the_readme():
    """In this order, and before other engines are installed, with which all tests would pass that forget their mark."""
    commands = re.findall(r"^    (bash \S+)", "\n".join(README.splitlines()[:12]), re.M)
    assert commands == ["bash .ci/demo", "bash .ci/test"]
    lines = [line.removesuffix(' "${cases[@]}"') for line in (ROOT / ".ci" / "run").read_text().splitlines()]
    places = [lines.index(command) for command in commands]
    assert places == sorted(places)
    assert [line for line in lines[: places[1]] if "environment" in line] == ['. .ci/environment "[test]"']


# -------------------------------------------------------------------------------------------- tables of documents


def table_after(heading, document):
    part = (ROOT / document).read_text().partition(f"{heading}\n")[2].partition("\n#")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("document", ["docs/how-to/install.md"])
def test_the_table_of_extras_is_that_of_pyproject(document):
    needed = {
        extra: [re.match(r"[\w-]+", line)[0] for line in lines]
        for extra, lines in PROJECT["optional-dependencies"].items()
    }
    rows = table_after("# Extras", document)
    assert {extra.strip("`"): [name for name in packages.split(", ") if name] for extra, _, packages in rows} == needed


def test_the_readme_names_the_python_that_pyproject_needs():
    assert f"Python {PROJECT['requires-python'].removeprefix('>=')} or newer" in README


def test_the_command_is_named_as_the_project():
    """So uvx and pipx find it without more."""
    assert PROJECT["name"] in PROJECT["scripts"]


@pytest.mark.parametrize("document", ["docs/reference/conventions.md"])
def test_every_ending_of_a_coordinate_is_explained(document):
    heading = "### Endings of names"
    part = (ROOT / document).read_text().partition(f"{heading}\n")[2].partition("\n#")[0]
    rows = [line.split("|") for line in part.splitlines() if line.startswith("| `")]
    explained = [set(re.findall(r"`_(\w+)`", " ".join(row[k] for row in rows))) for k in (1, 3)]
    explained[0] |= set(re.findall(r"`_(\w+)`", " ".join(row[2] for row in rows)))
    there = [set(), set()]
    for module in (ROOT / "mbcli" / "engine" / "smooth" / "joints").glob("*.py"):
        for k, kind in enumerate(("POSITION", "VELOCITY")):
            for line in re.findall(rf"^{kind}_SUFFIXES = (.*)", module.read_text(), re.M):
                there[k] |= set(re.findall(r'"(\w+)"', line))
    assert explained == there and all(there)


def test_the_commands_that_take_many_states_are_those_that_documents_name():
    with_states, with_state = set(), set()
    for name, command in commands(mbcli):
        options = {option for param in command.params for option in param.opts}
        if "--states" in options:
            with_states.add(name)
        if "--at" in options:
            with_state.add(name)
    page = (ROOT / "docs" / "reference" / "rows.md").read_text()
    (one,), (many,) = (re.findall(rf"^\| {kind} \| (.*) \|$", page, re.M) for kind in ("`--at`, .*", "`--states FILE`"))
    assert set(re.findall(r"`([a-z-]+)`", one)) == with_state - with_states
    assert set(re.findall(r"`([a-z-]+)`", many)) == with_states
