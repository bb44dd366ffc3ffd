"""Files of Drake's own are found where a variable says; without it one line tells so."""

import pytest

from mbcli.common import FindResourceOrThrow, GetDrakePath


def test_resources_are_found_below_the_folder_that_a_variable_names(tmp_path, monkeypatch):
    (tmp_path / "drake" / "examples").mkdir(parents=True)
    (tmp_path / "drake" / "examples" / "a.urdf").write_text("<robot/>")
    monkeypatch.setenv("DRAKE_RESOURCE_ROOT", str(tmp_path))
    assert GetDrakePath() == str(tmp_path / "drake")
    assert FindResourceOrThrow("drake/examples/a.urdf") == str(tmp_path / "drake" / "examples" / "a.urdf")
    with pytest.raises(RuntimeError, match="'drake/b.urdf' is not below"):
        FindResourceOrThrow("drake/b.urdf")
    with pytest.raises(RuntimeError, match="begins with drake/"):
        FindResourceOrThrow("other/b.urdf")
    monkeypatch.delenv("DRAKE_RESOURCE_ROOT")
    with pytest.raises(RuntimeError, match="set DRAKE_RESOURCE_ROOT"):
        GetDrakePath()
