"""A sweep in a bundle runs in parts where its files are not, to the table of the first machine."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from command_line import cli, succeed
from test_bundles import MEASURES, robot  # noqa: F401  fixtures

from mbcli.log.stored_sources import packed_files
from mbcli.sweeps import packed_sweep


@pytest.fixture
def words(robot, tmp_path, monkeypatch):  # noqa: F811
    """Of a sweep whose controller, tables and meshes are files; the working folder is empty."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    (robot / "points.csv").write_text("state.up,body.leg.mass\n-0.005,1\n0.1,1.2\n0,-1\n0.05,0.9\n0.02,1.1\n")
    found = ["sweep", robot / "robots/hopper.urdf", "--allow-outside", "--package", f"feet={robot}/feet"]
    found += ["--ground", "-0.1", "-t", "0.05", *(f"--measure={text}" for text in MEASURES)]
    return [*found, "--controller", robot / "control/hop.py"]


@pytest.mark.parametrize("points", ["file", "drawn", "random"])
def test_parts_of_a_bundle_give_the_table_of_the_machine_that_made_it(words, robot, points):  # noqa: F811
    vary = ["--points", robot / "points.csv"] if points == "file" else ["--samples", "5", "--seed", "3"]
    if points == "drawn":
        vary += ["--vary", "state.up=uniform(-0.005, 0.1)", "--vary", "body.leg.mass=*choice(1, 1.2, -1)"]
    if points == "random":
        vary += ["--vary", "state=random", "--vary", "geometry.*.friction=0.5,1.0", "--sampling", "latin-hypercube"]
    bundle = f"memory://jobs/{points}.sweep"
    succeed(*words, *vary, "-j", "1", "-o", "here.csv")
    result = succeed(*words, *vary, "--bundle", bundle)
    assert result.out == "" and f"5 runs and their files are in {bundle}" in result.err
    shutil.rmtree(robot)
    sys.modules.pop("gains", None)
    for k in (1, 2):
        run = [
            "sweep",
            "run",
            bundle,
            "-j",
            "1",
            "--shard",
            f"{k}/2",
            "-o",
            f"memory://jobs/{points}.csv",
        ]
        assert "`mbcli sweep merge memory://jobs/" in succeed(*run).err
    assert cli(*run).code == 6
    succeed(*run, "--resume")
    succeed("sweep", "merge", f"memory://jobs/{points}.csv")
    succeed("sweep", "run", bundle, "-j", "1", "-o", "there.csv", "-q")
    assert Path("there.csv").read_text() == Path("here.csv").read_text()
    lost = Path("here.csv.journal").read_bytes().splitlines(keepends=True)[:3]  # its client is gone
    Path("lost.csv.journal").write_bytes(b"".join(lost))
    assert "2 of them before" in succeed("sweep", "run", bundle, "-j", "1", "--resume", "-o", "lost.csv").err
    assert Path("lost.csv").read_text() == Path("here.csv").read_text()
    import fsspec

    assert fsspec.filesystem("memory").cat_file(f"/jobs/{points}.csv") == Path("here.csv").read_bytes()
    assert cli("sweep", "run", bundle, "-j", "1", "-q").out == Path("here.csv").read_text()


def test_a_bundle_that_is_none_or_of_another_program_is_refused_in_a_line(words, robot, monkeypatch):  # noqa: F811
    vary = ("--vary", "state.up=0,0.1")
    succeed(*words, *vary, "--bundle", "hop.sweep")
    again = cli(*words, *vary, "--bundle", "hop.sweep")
    assert again.code == 6 and "exists already; --force replaces it" in again.err
    assert "--bundle runs nothing: no -o" in cli(*words, *vary, "--bundle", "b", "-o", "t.csv").err
    assert cli("sweep", "run", "none.sweep").err == "none.sweep: error: cannot be read: No such file or directory\n"
    Path("text.sweep").write_text("nothing")
    assert "text.sweep: error: is not an HDF5 file" in cli("sweep", "run", "text.sweep").err
    for damage in (
        {"sweep": 3},
        {"sweep": {"made_of": {"vary": [4]}, "identity": {}, "program": ""}},
        {"job": "{}"},
        {},
    ):
        text = json.dumps({"folder": "/", **damage}).encode()
        Path("other.sweep").write_bytes(packed_files([], "job", text))
        other = cli("sweep", "run", "other.sweep")
        assert other.code == 3 and other.err == "other.sweep: error: is no bundle of a whole sweep\n"
    monkeypatch.setattr(packed_sweep, "program", lambda: "mbcli 9")
    other = cli("sweep", "run", "hop.sweep")
    assert other.code == 3 and other.err.startswith("hop.sweep: error: was made by mbcli ")
    assert other.err.endswith("and this is mbcli 9\n")
