"""Tables of sweeps as folders of Parquet files: written while points end, the same bytes however they came to be."""

import os
from pathlib import Path

import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.errors import ArgumentError
from mbcli.sweeps import data_set, sweep

dataset = pytest.importorskip("pyarrow.dataset")
PENDULUM = str(SAMPLES / "double_pendulum.urdf")
VARY = {
    "state.elbow": "linspace(-1, 1, 7)",
    "body.lower.mass": [1, -1],
    "plant_config.discrete_contact_approximation": ["lagged"],
}
WORDS = ("sweep", PENDULUM, "-t", "0.01", "-j", "1", "--vary", "state.elbow=linspace(-1, 1, 7)")
WORDS += ("--vary", "body.lower.mass=1,-1", "--measure", "top=max(elbow)")


@pytest.fixture(autouse=True)
def small_parts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data_set, "ROWS", 4)


def parts(folder):
    return {name: Path(folder, name).read_bytes() for name in sorted(os.listdir(folder))}


def test_parts_are_there_as_their_points_end_and_have_the_table_in_order():
    there = []
    options = {"duration": 0.01, "jobs": 1, "measures": ["top=max(elbow)"]}

    def look(progress):
        there.append((progress.done, len(os.listdir("t")) if os.path.isdir("t") else 0))

    table = sweep(PENDULUM, VARY, journal="t.journal", data_set="t", on_progress=look, **options)
    assert there[0] == (0, 0) and there[-1] == (14, 4)
    assert all(files == done // 4 for done, files in there[:-1])
    assert list(parts("t")) == [f"part-0000{k}.parquet" for k in range(4)]
    read = dataset.dataset("t").to_table()
    assert read.num_rows == 14 and {*table.columns} <= {*read.column_names}
    for name in table.columns:
        assert read[name].to_pylist() == [row[name] for row in table.rows]
    assert read.schema.field("point").type == "int64" and read.schema.field("body.lower.mass").type == "double"
    assert read.schema.field("plant_config.discrete_contact_approximation").type == "string"
    with pytest.raises(ArgumentError, match="data_set needs journal"):
        sweep(PENDULUM, VARY, data_set="t", **options)


def test_a_resumed_and_a_merged_data_set_have_the_bytes_of_one_that_ran_at_once():
    succeed(*WORDS, "-o", "whole/")
    whole = parts("whole")
    assert len(whole) == 4
    journal = Path("whole.journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:7] + lines[9:]))
    for name in list(whole)[1:]:
        os.unlink(f"whole/{name}")
    assert "12 of them before" in succeed(*WORDS, "-o", "whole/", "--resume").err
    assert parts("whole") == whole
    for k in (1, 2, 3):
        succeed(*WORDS, "-o", "merged/", "--shard", f"{k}/3")
        assert not os.path.exists("merged")
    assert "14 runs of 3 parts" in succeed("sweep", "merge", "merged/").err
    assert parts("merged") == whole
    assert "14 of 14 cases" in succeed("sweep", "status", "merged/").out
    longer = [word.replace("1, 7)", "1, 9)") for word in WORDS]
    succeed(*longer, "-o", "whole/", "--force")
    assert len(parts("whole")) == 5
    succeed(*WORDS, "-o", "whole/", "--force")
    assert parts("whole") == whole


def test_a_folder_with_other_files_is_refused():
    succeed(*WORDS, "-o", "t/")
    again = cli(*WORDS, "-o", "t/")
    assert again.code == 6 and again.err == "t/: error: exists already; --force replaces it\n"
    Path("t/notes.txt").touch()
    again = cli(*WORDS, "-o", "t/", "--force")
    assert again.code == 6 and again.err == "t/: error: has notes.txt, which is no part of a data set\n"
    Path("file").touch()
    assert "file/: error: is a file" in cli(*WORDS, "-o", "file/").err
    assert "there is no folder away" in cli(*WORDS, "-o", "away/t/").err
    assert "is a .csv or .parquet file, or a FOLDER/ of these" in cli(*WORDS, "-o", "t.txt").err
    assert cli("sweep", "merge", "t").code == 2


def test_a_data_set_in_a_store_is_that_of_a_folder():
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    succeed(*WORDS, "-o", "t/")
    succeed(*WORDS, "-o", "memory://sets/t/")
    found = {name.rpartition("/")[2]: files.cat_file(name) for name in files.ls("/sets/t", detail=False)}
    assert found == parts("t")
    assert cli(*WORDS, "-o", "memory://sets/t/").code == 6
    longer = [word.replace("1, 7)", "1, 3)") for word in WORDS]
    succeed(*longer, "-o", "memory://sets/t/", "--force")
    assert len(files.ls("/sets/t")) == 2


def test_a_sweep_that_is_stopped_between_two_parts_in_a_store_goes_on_to_the_same_bytes():
    files = pytest.importorskip("fsspec").filesystem("memory")
    options = {"duration": 0.01, "jobs": 1}
    sweep(PENDULUM, VARY, journal="t.journal", data_set="t", **options)
    stored = {"journal": "memory://stopped/t.journal", "data_set": "memory://stopped/t"}

    def stop(progress):
        if progress.done >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(PENDULUM, VARY, on_progress=stop, **stored, **options)
    assert [name.rpartition("/")[2] for name in files.ls("/stopped/t", detail=False)] == ["part-00000.parquet"]
    sweep(PENDULUM, VARY, resume=True, **stored, **options)
    found = {name.rpartition("/")[2]: files.cat_file(name) for name in files.ls("/stopped/t", detail=False)}
    assert found == parts("t")
