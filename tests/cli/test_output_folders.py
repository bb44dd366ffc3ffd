"""-o into a folder that is not there is refused before the work, and nothing is left."""

import os

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
    assert "nowhere/result.out: error: cannot be written: there is no folder nowhere" in result.err
    assert os.listdir(tmp_path) == []


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    result = cli("inspect", ARM, "-o", tmp_path / "file" / "x")
    assert result.code == 6 and f"cannot be written: {tmp_path / 'file'} is no folder" in result.err


@pytest.mark.parametrize("name", ["result.json", "./result.json"])
def test_folders_that_are_there_are_written_to(tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("inspect", ARM, "--json", "-o", name).code == 0
    assert os.listdir(tmp_path) == ["result.json"]
