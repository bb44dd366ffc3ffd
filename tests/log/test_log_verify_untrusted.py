"""`log verify` starts nothing of a log: no module, no program and no setting that is embedded in it."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.common import child_processes

PENDULUM = (SAMPLES / "pendulum.urdf").read_text()
INCLUDING = '<mujoco><include file="parts/{}"/></mujoco>'
PART = '<mujoco><worldbody><body><joint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>'
RUNS = "import os, sys\nopen({!r}, 'w').write(os.getcwd())\n"


@pytest.fixture
def log(tmp_path, monkeypatch):
    """A log of a model that is there no more, so that its own copy is written."""
    monkeypatch.chdir(tmp_path)
    Path("robot.urdf").write_text(PENDULUM)
    succeed("simulate", "robot.urdf", "-t", "0.02", "-o", "run.h5")
    Path("robot.urdf").unlink()
    return tmp_path / "run.h5"


def embed(log, files):
    with h5py.File(log, "r+") as file:
        group = file["model/source"]
        for name, content in files.items():
            data = group.create_dataset(f"{len(group):03}_x", data=np.frombuffer(content, np.uint8))
            sha256 = hashlib.sha256(content).hexdigest()
            for key, value in (("path", name), ("sha256", sha256), ("units", "1")):
                data.attrs[key] = np.bytes_(value.encode())


def test_modules_and_settings_of_a_log_do_not_run(log, tmp_path):
    marker = tmp_path / "RAN"
    content = RUNS.format(str(marker)).encode()
    names = ("mbcli/__init__.py", "mbcli/__main__.py", "json.py", "click.py", "sitecustomize.py", "../../numpy.py")
    embed(log, {**dict.fromkeys(names, content), ".numba_config.yaml": b"disable_jit: 1\n", "__main__.py": content})
    done = subprocess.run([sys.executable, "-m", "mbcli", "log", "verify", str(log)], capture_output=True, text=True)
    assert not marker.exists(), marker.read_text()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("verified")


def test_only_models_are_written_and_nothing_starts_beside_them(log, monkeypatch):
    """Those that the command names, and those that models include."""
    Path("m.xml").write_text(INCLUDING.format("part.xml"))
    Path("parts").mkdir()
    Path("parts/part.xml").write_text(PART)
    succeed("simulate", os.path.abspath("m.xml"), "-t", "0.02", "-o", "m.h5")
    Path("parts/part.xml").write_text("<mujoco/>")
    embed("m.h5", {"run.py": b"1", "lib.so": b"1", "deep/package.xml": b"<package><name>a</name></package>"})
    written, run = [], child_processes.run

    def watched(command, *, folder=None, **options):
        root = next(above for above in Path(command[-1]).parents if above.name == "files")
        written.extend(path.name for path in root.rglob("*") if path.is_file())
        assert folder is None
        return run(command, folder=folder, **options)

    monkeypatch.setattr(child_processes, "run", watched)
    assert succeed("log", "verify", "m.h5").out.startswith("verified")
    assert sorted(written) == ["m.xml", "package.xml", "part.xml"]


@pytest.mark.parametrize("name", ["a\0b.xml", "/".join(["d"] * 2500) + ".xml", "robot.urdf/x.xml", "x" * 400 + ".xml"])
def test_names_that_no_file_can_have_end_in_one_line(log, name):
    if "\0" in name:
        with h5py.File(log, "r+") as file:
            group = file["model/source"]
            data = group.create_dataset("001_x", data=np.frombuffer(b"<a/>", np.uint8))
            data.attrs["path"] = np.void(name.encode())
            data.attrs["sha256"], data.attrs["units"] = np.bytes_(hashlib.sha256(b"<a/>").hexdigest()), np.bytes_("1")
    else:
        embed(log, {name: b"<a/>"})
    result = cli("log", "verify", str(log))
    assert result.code == 3, result.err
    assert len(result.err.strip().splitlines()) == 1


def test_with_trust_a_program_works_in_the_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("robot.sdf").write_text((SAMPLES / "pendulum.sdf").read_text())
    Path("still.py").write_text("def controller(time, q, v):\n    open('here', 'w').close()\n    return [0.0]\n")
    succeed("simulate", "robot.sdf", "-t", "0.02", "--controller", "still.py", "-o", "run.h5")
    os.unlink("here")
    os.rename("robot.sdf", "other.sdf")
    assert cli("log", "verify", "run.h5").code == 3
    assert not os.path.exists("here")
    assert succeed("log", "verify", "run.h5", "--trust").out.startswith("verified")
    assert os.path.exists("here")
