"""Files of Drake's own are found where a variable says; without it one line tells so."""

import pytest

from mbcli.common import FindResourceOrThrow, GetDrakePath, resources


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
    monkeypatch.setattr(resources.PathFinder, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="set DRAKE_RESOURCE_ROOT"):
        GetDrakePath()


def test_an_installed_pydrake_has_them_too(monkeypatch, tmp_path):
    """It is found, not imported; packages of these names are there for models too."""
    from mbcli.parsers.package_map import PackageMap

    from mbcli.multibody.parsing import PackageMap as OfParsers

    monkeypatch.delenv("DRAKE_RESOURCE_ROOT", raising=False)
    folder = tmp_path / "pydrake" / "share" / "drake"
    folder.mkdir(parents=True)
    (folder / "a.urdf").write_text("")
    (tmp_path / "pydrake" / "__init__.py").write_text("raise AssertionError")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert resources.FindResourceOrThrow("drake/a.urdf") == str(folder / "a.urdf")
    assert PackageMap().resolve("package://drake/a.urdf") == str(folder / "a.urdf")
    packages = OfParsers()
    packages.Remove("drake")
    assert not packages.Contains("drake")
    packages.AddMap(OfParsers())
    assert packages.Contains("drake")
    assert resources.drake_folder("drake_models") is None
