"""-o into a folder that is not there is refused before the work, and nothing is left."""

import os
import subprocess

import pytest
from command_line import cli
from repository import ROOT

ARM = ROOT / "sample_models" / "double_pendulum.urdf"


@pytest.mark.parametrize(
    "words",
    [
        ("convert", ARM, "--to", "sdf"),
        ("convert", ARM, "--to", "mjcf", "--bundle"),
        ("simulate", ARM, "-t", "1"),
        ("mass-matrix", ARM),
        ("inspect", ARM),
        ("check", ARM),
        ("excite", ARM, "-t", "1"),
        ("kinematics", ARM, "--json"),
    ],
)
def test_a_missing_folder_is_told_first(tmp_path, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mbcli.parsers.load.load_models", lambda *args, **options: pytest.fail("it is read first"))
    result = cli(*words, "-o", "nowhere/result.out")
    assert (result.code, result.out) == (6, "")
    assert "nowhere/result.out: error: cannot be written: there is no folder nowhere; `mkdir -p nowhere` makes it" in (
        result.err
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "words", [("log", "plot", "run.h5", "-o", "{}/p.png"), ("replay", "run.h5", "-o", "{}/r.html"),
              ("sweep", ARM, "--vary", "body.upper.mass=1", "--measure", "max(elbow)", "--plot", "{}/p.png"),
              ("log", "export", "run.h5", "-o", "{}/t.csv"), ("log", "recover", "run.h5", "-o", "{}/r.h5"),
              ("energy", ARM, "-o", "{}/e.json"), ("convert", ARM, "--to", "mjcf", "--bundle", "-o", "{}/x")],
)  # fmt: skip
def test_every_command_names_the_cure_which_works(tmp_path, words, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("-q", "simulate", ARM, "-t", "0.01", "-o", "run.h5").code == 0
    words = [str(word).format("a b/c") for word in words]
    result = cli("-q", *words)
    assert result.code == 6 and "there is no folder a b/c; `mkdir -p 'a b/c'` makes it" in result.err
    subprocess.run("mkdir -p 'a b/c'", shell=True, check=True)
    assert "no folder" not in cli("-q", *words).err


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    result = cli("inspect", ARM, "-o", tmp_path / "file" / "x")
    assert result.code == 6 and f"cannot be written: {tmp_path / 'file'} is no folder" in result.err


@pytest.mark.parametrize("name", ["result.json", "./result.json"])
def test_folders_that_are_there_are_written_to(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("inspect", ARM, "--json", "-o", name).code == 0
    assert os.listdir(tmp_path) == ["result.json"]
