"""What a command writes never replaces what it reads, and durations fit steps."""

import os
import shlex
import subprocess
import sys

import pytest
from command_line import cli, succeed
from repository import SAMPLES

TWO_LINKS = SAMPLES / "double_pendulum.urdf"
OUTPUT = 6


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, tmp_path):
    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def files(tmp_path):
    """Every kind of input file of a command, by name."""
    (tmp_path / "m.urdf").write_bytes(TWO_LINKS.read_bytes())
    (tmp_path / "states.csv").write_text("shoulder,elbow,shoulder_w,elbow_w\n0,1,0,0\n0,2,0,0\n")
    (tmp_path / "state.json").write_text('{"q": [1, 2]}')
    (tmp_path / "u.csv").write_text("time\n0\n")
    (tmp_path / "config.yaml").write_text("plant_config: {time_step: 0.002}\n")
    (tmp_path / "scene.dmd.yaml").write_text("directives:\n- add_model: {name: a, file: m.urdf}\n")
    succeed("-q", "simulate", "m.urdf", "-t", 0.01, "-o", "old.h5")
    os.link("m.urdf", "linked.urdf")
    os.symlink("states.csv", "pointer.csv")
    return tmp_path


REPLACED = {
    "states": ("energy", "m.urdf", "--states", "states.csv", "-o", "states.csv"),
    "states behind a link": ("energy", "m.urdf", "--states", "states.csv", "-o", "pointer.csv", "--format", "csv"),
    "state": ("energy", "m.urdf", "--state", "state.json", "-o", "state.json"),
    "model": ("inspect", "m.urdf", "-o", "m.urdf"),
    "model of a check": ("check", "m.urdf", "-o", "m.urdf"),
    "model under another name": ("mass-matrix", "m.urdf", "-o", "linked.urdf"),
    "model of a scene": ("energy", "scene.dmd.yaml", "-o", "m.urdf"),
    "converted model": ("convert", "m.urdf", "-o", "m.urdf"),
    "configuration": ("energy", "m.urdf", "--config", "config.yaml", "-o", "config.yaml"),
    "log of states": ("energy", "m.urdf", "--states", "old.h5", "-o", "old.h5"),
    "log of an export": ("log", "export", "old.h5", "--to", "csv", "-o", "old.h5"),
    "start of a run": ("simulate", "m.urdf", "-t", 0.01, "--state", "old.h5", "-o", "old.h5"),
    "input of a run": ("simulate", "m.urdf", "-t", 0.01, "--input", "u.csv", "-o", "u.csv"),
    "model of a run": ("simulate", "m.urdf", "-t", 0.01, "-o", "m.urdf"),
}


@pytest.mark.parametrize("case", REPLACED)
def test_force_does_not_replace_an_input(files, case):
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    result = cli(*REPLACED[case], "--force")
    assert result.code == OUTPUT and "error: is an input of this command" in result.err
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_the_default_log_does_not_replace_the_start(files):
    os.rename("old.h5", "m.h5")
    before = (files / "m.h5").read_bytes()
    result = cli("simulate", "m.urdf", "-t", 0.01, "--state", "m.h5", "--force")
    assert result.code == OUTPUT and (files / "m.h5").read_bytes() == before


def test_an_unfinished_log_that_is_the_start_is_not_replaced(files):
    os.rename("old.h5", "new.h5.partial")
    result = cli("simulate", "m.urdf", "-t", 0.01, "--state", "new.h5.partial", "-o", "new.h5", "--force")
    assert result.code == OUTPUT and (files / "new.h5.partial").exists()


def test_an_export_leaves_other_files_alone(files):
    os.rename("old.h5", "rows.csv.partial")
    before = (files / "rows.csv.partial").read_bytes()
    succeed("log", "export", "rows.csv.partial", "--to", "csv", "-o", "rows.csv")
    assert (files / "rows.csv.partial").read_bytes() == before
    assert not [path for path in files.iterdir() if path.name.startswith(".")]


def test_force_replaces_other_files(files):
    succeed("energy", "m.urdf", "--states", "states.csv", "-o", "state.json", "--format", "csv", "--force")
    succeed("-q", "simulate", "m.urdf", "-t", 0.02, "--resume", "old.h5", "-o", "old.h5", "--force")
    assert (files / "state.json").read_text().startswith("kinetic")


# ------------------------------------------------------------------------------------------ steps of a run


@pytest.mark.parametrize("step, duration", [(3, 1), (1e300, 1), (1e300, 1e299), (0.01, 0.005)])
def test_a_step_longer_than_the_run_is_refused(step, duration):
    result = cli("simulate", TWO_LINKS, "--dt", step, "-t", duration, "--no-log")
    assert result.code == 2 and "one step is longer than the run of" in result.err


def test_a_run_that_does_not_end_with_a_step_says_where_it_ends():
    result = succeed("simulate", TWO_LINKS, "--dt", 0.03, "-t", 0.1, "--no-log", "--json")
    assert "0.1 s is not at the end of a step of 0.03 s: the run goes on to 0.12 s" in result.err
    assert result.json()["end_time"] == pytest.approx(0.12)
    for whole in (("--dt", 0.05, "-t", 0.1), ("--dt", 0.1, "-t", 0.3), ("-t", 0), ("--dt", 0, "-t", 0.1)):
        assert "is not at the end" not in succeed("simulate", TWO_LINKS, *whole, "--no-log").err


def in_a_shell(*arguments, closed):
    """(exit code, stdout, stderr) of the command with a standard stream that a shell has closed."""
    line = shlex.join([sys.executable, "-m", "mbcli", *map(str, arguments)])
    done = subprocess.run(["sh", "-c", f"{line} {closed}"], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", ["check", "energy", "inspect"])
def test_a_closed_stdout_is_an_output_that_cannot_be_written(command):
    code, _, err = in_a_shell(command, SAMPLES / "pendulum.urdf", closed=">&-")
    assert (code, err) == (6, "<stdout>: error: cannot be written: Bad file descriptor\n")


def test_a_closed_stderr_takes_nothing_and_a_closed_stdin_is_empty():
    code, out, _ = in_a_shell("energy", SAMPLES / "pendulum.urdf", closed="2>&-")
    assert code == 0 and "kinetic energy" in out
    code, _, err = in_a_shell("energy", SAMPLES / "pendulum.urdf", "--states", "-", closed="<&-")
    assert code == 3 and err.startswith("<stdin>:1: error: empty")
