"""Commands that documents print without their output run, in a folder with the files of which the documents speak.

Runs are cut short, pages are served to nobody, and films are small.
"""

import ast
import glob
import re
import shlex
import shutil
import textwrap

import pytest
from command_line import cli, succeed
from reader_folder import make_files_of_help, make_folder, make_logs, write_arm, write_motion, write_starts
from repository import ROOT

COMMAND = re.compile(r"^    (mbcli [a-z](?:.*\\\n)*.*)", re.M)
EXAMPLE = re.compile(r"^  (mbcli [a-z](?:.*\\\n)*.*)", re.M)  # in the help of a command
FILE = re.compile(r"^    # (\w+\.py)\n((?:(?!    mbcli)    .*\n|\n(?=    (?!mbcli)))+)", re.M)  # that a page prints
CELL = re.compile(r"^\|.*\|$", re.M)
SHOWN_ELSEWHERE = ("commands", "claims")  # test_command_pages.py and test_claims.py, which runs those of the README too
PAGES = [p for p in sorted((ROOT / "docs").rglob("*.md")) if not {p.parent.name, p.stem} & set(SHOWN_ELSEWHERE)]
NOT_RUN = {  # by a part of the command: why
    "s3://": "an address of a store; tests/sweeps/test_stores.py has one",
    "--dask tcp:": "a cluster; tests/sweeps/test_clusters.py has one",
    "--ray HOST": "a cluster",
    ".onnx": "the file of a policy that training makes; tests/environments has one",
    "'./swing --gain": "a program of the reader; docs/how-to/control.md has it in C",
    "--states bag/": "a bag; tests/batch/test_ros_bags.py has some",
    " -t T": "a pattern",
}
NOT_RUN_OF_HELP = NOT_RUN | {
    "identify": "measured motions; docs/how-to/identify.md and tests/identification have runs",
    "| mbcli": "a pipe; tests/cli/test_cli_pipelines.py has some",
}
NOT_INSTALLED = re.compile(r"not installed|no other engine is installed|brings too")
PYTHON = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.M)
FENCED = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
PYTHON_NOT_RUN = {  # by a part of a block: why
    "stable_baselines": "a package that CI has not; tests/environments has fences for it",
    "gymnasium.make": "a package that CI has not",
    "RemoteEnvironments": "a cluster; tests/environments has some",
    "torchrl": "a package that CI has not",
    "rllib": "a package that CI has not",
    "xarray": "a package that CI has not",
    "pandas": "a package that CI has not",
    "Policy(": "the file of a policy that training makes",
    "surface in log": "a log of contact surfaces; tests/log has some",
}
MOTIONS = re.compile(r" ((?:motion|states|torques|pick)\.csv)")  # tables of the model of a command
ENDLESS = ("--watch", "--follow")  # until they are interrupted, as pages that are served


def commands_of_page(text):
    """The commands in blocks without output, and in tables, without what is said of them."""
    found = [command.replace("\\\n", " ") for command in COMMAND.findall(text)]
    cells = [cell for row in CELL.findall(text) for cell in re.findall(r"`(mbcli [a-z-]+ [^`]*\.\w+[^`]*)`", row)]
    return [re.split(r" {2,}(?=[A-Za-z(#])", c)[0].strip() for c in found] + cells


def python_of_page(text):
    """The blocks of Python without a fence: what a page of commands says of Python, beside."""
    found = [textwrap.dedent(block).strip("\n") for block in PYTHON.findall(FENCED.sub("", text))]
    return [block for block in found if re.search(r"^(import|from|with|class) .*\S", block, re.M) and is_python(block)]


def is_python(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def reason(text, reasons=NOT_RUN):
    return next((why for part, why in reasons.items() if part in text), None)


def examples_of_help(text):
    """The commands that help shows, each with the file that its output goes to, or None."""
    found = []
    for example in EXAMPLE.findall(text):
        for command in re.split(r" {2,}(?=[a-z])", re.sub(r"\\\n +", "", example))[0].split("; "):
            words, _, name = command.partition(" > ")
            found.append((words if reason(words, NOT_RUN_OF_HELP) else words.partition(" | ")[0], name or None))
    return found


WITH_COMMANDS = [page for page in PAGES if any(not reason(c) for c in commands_of_page(page.read_text()))]


def shortened(words):
    """A command that ends soon."""
    if words[0] == "simulate":
        long = "1.6" if "--push" in words else "2.02" if "--resume" in words else "0.02"
        words += ["-t", long] + (["--no-browser"] if "--view" in words else [])
    if words[0] == "sweep" and "status" not in words:
        words += ["-t", "0.12" if "--push" in words else "0.01", "-j", "1"]
        words += ["--samples", "2"] if "--samples" in words else []
    if words[0] == "replay" and re.search(r"\.(mp4|gif|webm)|--frames", " ".join(words)):
        words += ["--size", "64x48", "--fps", "30"]
    serves = words[0] == "view" or (words[0] == "replay" and not {"-o", "--frames"} & set(words))
    if serves:
        words.append("--no-browser")
    return words, serves or bool(set(ENDLESS) & set(words))


def names_of(word):
    """What a shell makes of a pattern."""
    return sorted(glob.glob(word)) if "*" in word and "/" in word else [word]


def interrupted(seconds):
    raise KeyboardInterrupt


def run_in_folder(command, folder, monkeypatch):
    """What a command of a page says, "" if it ends well and None if a package is absent; and what it prints."""
    write_arm(folder, is_fixed="--weld" not in command, has_motors="--actuators" not in command)
    words, is_endless = shortened([n for word in shlex.split(command)[1:] for n in names_of(word)])
    if "starts.csv" in words:
        write_starts(folder, words[1])
    with monkeypatch.context() as patched:
        if is_endless:
            patched.setattr("time.sleep", interrupted)
        done = cli(*words)
        if "--force replaces" in done.err:  # what a command before it has made
            done = cli(*words, "--force")
    if done.code in ((0, 1, 130) if is_endless else (0, 1)):
        return "", done.out
    absent = done.code == 4 and NOT_INSTALLED.search(done.err)
    return None if absent else f"$ {command}\n{done.code}: {done.err[-600:]}", done.out


def judge(said):
    """said: {command: the first that run_in_folder() gave}."""
    wrong = [words for words in said.values() if words]
    assert not wrong, "\n\n".join(wrong)
    absent = [command for command, words in said.items() if words is None]
    if absent:
        pytest.skip(f"all others ran; what these need is not installed: {'; '.join(absent)}")


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_commands_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_folder(tmp_path)
    make_logs(tmp_path)
    text = page.read_text()
    for name, lines in FILE.findall(text):
        (tmp_path / name).write_text(textwrap.dedent(lines))
    said = {}
    for command in commands_of_page(text):
        if not reason(command):
            said[command], _ = run_in_folder(command, tmp_path, monkeypatch)
    judge(said)


HELP = {p.stem: examples_of_help(p.read_text()) for p in sorted((ROOT / "docs/reference/commands").glob("*.md"))}


@pytest.fixture(scope="module")
def folder_of_help(tmp_path_factory):
    """The files of all examples of help, of which each command gets a copy."""
    folder = tmp_path_factory.mktemp("help")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        make_folder(folder)
        make_logs(folder)
        make_files_of_help(folder)
    return folder


@pytest.mark.parametrize("command", [name for name, found in HELP.items() if found])
def test_the_examples_of_help_run(command, folder_of_help, tmp_path, monkeypatch):
    folder = tmp_path / "reader"
    shutil.copytree(folder_of_help, folder, symlinks=True)
    monkeypatch.chdir(folder)
    said = {}
    for example, output in HELP[command]:
        if reason(example, NOT_RUN_OF_HELP):
            continue
        if "--resume" in example:  # goes on with what another example has not made
            for log in folder_of_help.glob("*.h5"):
                shutil.copy(log, folder)
        for table in MOTIONS.findall(example):
            write_motion(folder, example.split()[2], table, has_accelerations="--vdot" not in example)
        said[example], printed = run_in_folder(example, folder, monkeypatch)
        if output and "/" not in output:
            (folder / output).write_text(printed)
    judge(said)


WITH_PYTHON = [p for p in PAGES if any(not reason(b, PYTHON_NOT_RUN) for b in python_of_page(p.read_text()))]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_without_a_fence_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_folder(tmp_path)
    make_logs(tmp_path)
    names, blocks = {"__name__": "page"}, python_of_page(page.read_text())
    if any("log.contacts(" in block for block in blocks):
        succeed("-q", "simulate", "robot.urdf", "quadruped.urdf", "--ground", "-t", 2, "-o", "run.h5", "--force")
    for block in blocks:
        if not reason(block, PYTHON_NOT_RUN):
            exec(compile(block, str(page), "exec"), names)


def test_commands_are_found_and_those_that_are_not_run_have_a_reason():
    blocks = "    mbcli replay run.h5 -o run.mp4 --speed 0.25  a video\n    mbcli sweep a.urdf \\\n      -t 2\n"
    text = f"{blocks}\n| a | `mbcli x b.h5` |\n"
    assert commands_of_page(text) == [
        "mbcli replay run.h5 -o run.mp4 --speed 0.25",
        "mbcli sweep a.urdf        -t 2",
        "mbcli x b.h5",
    ]
    found = [command for page in PAGES for command in commands_of_page(page.read_text())]
    assert len([command for command in found if not reason(command)]) >= 98
    blocks = [block for page in PAGES for block in python_of_page(page.read_text())]
    assert len([block for block in blocks if not reason(block, PYTHON_NOT_RUN)]) >= 6
    assert [part for part in PYTHON_NOT_RUN if not any(part in block for block in blocks)] == []
    assert [part for part in NOT_RUN if not any(part in command for command in found)] == []
