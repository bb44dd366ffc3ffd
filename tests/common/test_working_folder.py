"""Modules, programs and settings that lie in the working folder do not act: neither here nor in child processes."""

import os
import subprocess
import sys

import pytest
from repository import ROOT, SAMPLES

from mbcli.common import child_processes
from mbcli.common.foreign_settings import without_settings_of_the_folder
from mbcli.common.working_folder import safe_variables

PLANTED = "import sys, os\nos.write(2, b'RAN ' + __name__.encode())\nraise SystemExit(99)\n"
MODULES = ("json", "queue", "random", "click", "numpy", "h5py", "secrets", "tempfile")


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A working folder with modules, and with what looks for them there: an empty entry of PYTHONPATH."""
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(PLANTED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(("", str(ROOT), ".")))
    monkeypatch.setenv("PATH", os.pathsep + os.environ["PATH"])
    return tmp_path


def mbcli(*arguments, start=("-m", "mbcli")):
    command = [sys.executable, *start, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MBCLI_JIT": "0"})


@pytest.mark.parametrize(
    "start", [("-m", "mbcli"), ("-c", "from mbcli.__main__ import main; main()")], ids=["module", "script"]
)
def test_no_module_of_the_working_folder_runs_in_a_command_or_its_workers(planted, start):
    model = SAMPLES / "pendulum.urdf"
    done = mbcli("sweep", model, "--vary", "body.rod.mass=1,2", "-t", "0.01", "--jobs", "2", "-o", "t.csv", start=start)
    assert "RAN" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert len((planted / "t.csv").read_text().splitlines()) == 3


def test_a_child_works_in_an_empty_folder_of_its_own(planted):
    code = "import os, sys, json, queue; print(os.getcwd(), os.listdir(), sys.path)"
    done = child_processes.run(child_processes.python("-c", code), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    where, _, rest = done.stdout.partition(" ")
    assert where != str(planted)
    assert not os.path.exists(where)
    assert rest.startswith("[] ")
    assert str(planted) not in rest


def test_paths_in_variables_lead_where_they_led(planted):
    (planted / "library").mkdir()
    found = safe_variables({"PYTHONPATH": "library::./", "PATH": "bin:/usr/bin::."})
    assert found == {"PYTHONPATH": str(planted / "library"), "PATH": "/usr/bin"}
    assert safe_variables({}) == {}
    assert safe_variables({"PYTHONPATH": str(planted)}) == {"PYTHONPATH": str(planted)}  # named by its whole path


def test_a_program_of_the_working_folder_is_not_found(planted):
    for name in ("dot", "ffmpeg", "only_here"):
        (planted / name).write_text("#!/bin/sh\necho RAN\n")
        (planted / name).chmod(0o755)
        assert child_processes.find_program(name) != os.path.join("", name)
    assert child_processes.find_program("only_here") is None
    assert os.path.isabs(child_processes.find_program("sh"))


def test_settings_of_the_folder_are_denied_while_a_library_is_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\n")
    (tmp_path / "other").write_text("")
    exists = os.path.exists
    with without_settings_of_the_folder(), without_settings_of_the_folder():
        assert not os.path.exists("matplotlibrc")
        assert os.path.exists(tmp_path / "matplotlibrc")
        assert os.path.exists("other")
    assert os.path.exists is exists


def test_matplotlib_and_numba_read_no_settings_of_the_working_folder(tmp_path):
    """Of matplotlib an error, of numba another speed."""
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nno.such.key: 1\n")
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\nopt: 0\n")
    code = (
        "from mbcli.common.extra_packages import import_extra\nfrom mbcli.common.numba_start import import_numba\n"
        "print(import_extra('matplotlib', 'plot').rcParams['text.usetex'])\nimport_numba()\n"
        "from numba.core import config\nconfig.reload_config()\nprint(config.DISABLE_JIT, int(config.OPT))"
    )
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["False", "0", "3"], done.stderr
    assert done.stderr == ""
