"""Logs read by other programs: xarray, pandas, Parquet, MATLAB, MCAP, Rerun; names and units in all of them."""

import json
import os
import stat
import threading

import h5py
import numpy as np
import pytest
from command_line import cli, succeed
from test_log_commands import COM, COUNT, ENERGY, full_header

import mbcli.log
from mbcli.log.writer import LogWriter


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    numbers = {"q": (COUNT, 2), "v": (COUNT, 2), "input/u": (COUNT, 1), COM: (COUNT, 3), ENERGY: (COUNT,)}
    return {"time": np.arange(COUNT) * 0.01} | {name: rng.normal(size=shape) for name, shape in numbers.items()}


@pytest.fixture(scope="module")
def path(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "run.h5"
    with LogWriter(path, full_header()) as log:
        log.append(**data)
        log.finish("complete", 0)
    return path


def test_five_lines_read_a_log(path, data):
    with mbcli.log.open(path) as log:
        np.testing.assert_array_equal(log.column("elbow_q"), data["q"][:, 1])


def test_rows_of_a_finished_log_are_compressed_and_checked(path):
    with h5py.File(path) as file:
        for name in ("time", "state/q", "state/v", "input/u", COM, ENERGY):
            assert (file[name].compression, file[name].shuffle, file[name].fletcher32) == ("gzip", True, True), name


def test_every_dataset_of_numbers_has_units(path):
    def look(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiuV" and "units" not in item.attrs:
            lacking.append(name)

    lacking = []
    with h5py.File(path) as file:
        file.visititems(look)
        assert not lacking
        assert file["events"].attrs["units"].tolist() == [b"s", b"1", b"1", b"1", b"1"]


def test_xarray_opens_a_log_and_knows_its_columns(path, data):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    settings = {"engine": "h5netcdf", "phony_dims": "sort"}
    with xarray.open_dataset(path, **settings) as root:
        with xarray.open_dataset(path, group="state", **settings) as state:
            q = state.assign_coords(root.coords).q
            np.testing.assert_array_equal(q.sel(state_q_columns=b"elbow_q"), data["q"][:, 1])
            np.testing.assert_array_equal(q.sel(time=0.5, method="nearest"), data["q"][50])
        with xarray.open_dataset(path, group="derived", **settings) as derived:
            np.testing.assert_array_equal(derived.energy_kinetic, data[ENERGY])
            assert derived.energy_kinetic.attrs["units"] in ("J", b"J")


def test_pandas_reads_parquet_with_names(path, data, tmp_path):
    pandas = pytest.importorskip("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    succeed("log", "export", path, "-o", tmp_path / "run.parquet", "--every", 2)
    table = pandas.read_parquet(tmp_path / "run.parquet")
    np.testing.assert_array_equal(table["elbow_q"], data["q"][::2, 1])
    np.testing.assert_array_equal(table["com:z"], data[COM][::2, 2])
    schema = parquet.read_schema(tmp_path / "run.parquet")
    assert schema.field("u:motor").metadata == {b"units": b"N m"}
    assert schema.field("time").metadata == {b"units": b"s"}


def test_matlab_files_have_variables_names_and_units(path, data, tmp_path):
    from scipy.io import loadmat

    succeed("log", "export", path, "--to", "mat", "-o", tmp_path / "run.mat")
    read = loadmat(tmp_path / "run.mat", simplify_cells=True)
    np.testing.assert_array_equal(read["q"], data["q"])
    np.testing.assert_array_equal(read["derived_com"], data[COM])
    assert list(read["names"]["q"]) == ["shoulder_q", "elbow_q"] and read["units"]["time"] == "s"


def test_mcap_files_have_a_topic_a_field(path, data, tmp_path):
    reader = pytest.importorskip("mcap.reader")
    succeed("log", "export", path, "-o", tmp_path / "run.mcap", "--fields", "q,com")
    with open(tmp_path / "run.mcap", "rb") as stream:
        messages = [(c.topic, m.log_time, json.loads(m.data)) for _, c, m in reader.make_reader(stream).iter_messages()]
    assert len(messages) == 2 * COUNT
    topic, stamp, values = [message for message in messages if message[0] == "/state/q"][7]
    assert stamp == 70_000_000 and values == dict(zip(("shoulder_q", "elbow_q"), data["q"][7].tolist(), strict=True))


def test_rrd_files_are_written(path, tmp_path):
    pytest.importorskip("rerun")
    succeed("log", "export", path, "-o", tmp_path / "run.rrd", "--fields", "q", "--every", 10)
    assert (tmp_path / "run.rrd").read_bytes()[:3] == b"RRF"


def test_a_missing_package_is_named(path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    result = cli("log", "export", path, "--to", "parquet")
    assert result.code == 4 and "pip install 'mbcli[parquet]'" in result.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Give the format with --to, or by the suffix of -o"),
        (("-o", "run.xlsx"), "Give the format with --to, or by the suffix of -o"),
        (("--to", "mat", "--fields", "contact"), "the log has no field 'contact'"),
        (("--to", "mat", "--from", "nan"), "'nan' is not a finite number"),
    ],
)
def test_what_cannot_be_exported_is_a_usage_error(path, words, message):
    result = cli("log", "export", path, *words)
    assert result.code == 2 and message in result.err


def test_an_export_writes_into_pipes_and_replaces_no_device(path, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    succeed("log", "export", path, "--to", "csv", "--force", "-o", tmp_path / "pipe")
    reader.join()
    assert read[0].decode() == succeed("log", "export", path, "--to", "csv").out
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode) and os.listdir(tmp_path) == ["pipe"]
