"""Logs as mappings of columns, parts of them between two times, and as tables of pandas, polars and xarray."""

import numpy as np
import pytest
from command_line import succeed
from repository import SAMPLES

import mbcli
from mbcli.log.tables import NoColumnError
from mbcli.log.worlds import WorldsLog

TWO_LINKS = SAMPLES / "double_pendulum.urdf"


@pytest.fixture(params=["file", "memory"])
def log(request, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    path = tmp_path / "run.h5" if request.param == "file" else None
    found = mbcli.simulate(TWO_LINKS, 0.1, start={"elbow": 1.0}, fields="com energy u", log=path)
    yield found
    if path is not None:
        found.close()


def test_a_log_is_a_mapping_of_its_columns(log):
    assert len(log) == 11 and log
    assert log.keys()[:3] == ["time", "double_pendulum_shoulder_q", "double_pendulum_elbow_q"]
    np.testing.assert_array_equal(log["elbow_q"], log.q[:, 1])
    np.testing.assert_array_equal(log["elbow_w"], log.v[:, 1])
    np.testing.assert_array_equal(log["time"], log.times)
    np.testing.assert_array_equal(log["q"], log.q)
    np.testing.assert_array_equal(log["com"], log.field("derived/com"))
    np.testing.assert_array_equal(log["com:z"], log.field("derived/com")[:, 2])
    np.testing.assert_array_equal(log["energy_kinetic"], log.energy[:, 0])
    assert set(log) == set(log.keys()) and all(name in log for name in log)
    assert "reactions" not in log and 3 not in log


def test_a_name_that_means_nothing_or_several_columns_says_which_there_are(log):
    with pytest.raises(NoColumnError, match="^the log has no field 'elbo'; it has .*; did you mean \"elbow\"?"):
        log["elbo"]
    with pytest.raises(KeyError) as error:
        log["double"]
    assert "double_pendulum_shoulder_q" in str(error.value)
    with pytest.raises(TypeError, match="names of columns"):
        log[3]


def test_rows_between_two_times_are_a_log_of_their_own(log):
    part = log[0.03:0.06]
    assert len(part) == 4 and part.keys() == log.keys()
    np.testing.assert_array_equal(part["elbow_q"], log["elbow_q"][3:7])
    np.testing.assert_array_equal(part.times, log.times[3:7])
    assert part.state(0.05).q.tolist() == log.state(0.05).q.tolist()
    assert len(log[:0.05]) == 6 and len(log[0.05:]) == 6 and len(part[0.045:]) == 2
    assert len(log[5.0:]) == 0 and repr(log[5.0:]).endswith("no rows>")
    with pytest.raises(ValueError, match="two times"):
        log[0.0:0.1:2]


def test_tables_have_all_columns_by_the_time(log):
    pandas = pytest.importorskip("pandas")
    polars, xarray = pytest.importorskip("polars"), pytest.importorskip("xarray")
    frame = log.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "time"
    assert list(frame.columns) == log.keys()[1:]
    np.testing.assert_array_equal(frame["com:z"], log["com:z"])
    np.testing.assert_array_equal(frame.loc[log.times[4]], [log[name][4] for name in frame.columns])
    other = log.to_polars()
    assert isinstance(other, polars.DataFrame) and other.columns == log.keys()
    np.testing.assert_array_equal(other["double_pendulum_elbow_q"], log["elbow_q"])
    dataset = log[0.02:].to_xarray()
    assert isinstance(dataset, xarray.Dataset) and dataset.sizes["time"] == 9
    np.testing.assert_array_equal(dataset["q"].sel(q_name="double_pendulum_elbow_q"), log["elbow_q"][2:])
    assert dataset["q"].attrs["units"] == "rad" and dataset["energy_kinetic"].dims == ("time",)


def write_worlds(folder):
    (folder / "starts.csv").write_text("shoulder\n0.1\n0.2\n0.3\n")
    options = ("--states", folder / "starts.csv", "--each", "--fill", "default", "-t", 0.02, "--fields", "com energy u")
    succeed("simulate", TWO_LINKS, *options, "-o", folder / "a.h5")


def test_many_worlds_are_a_mapping_of_their_columns_and_a_sequence_of_logs(tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    write_worlds(tmp_path)
    with WorldsLog(tmp_path / "a.h5") as worlds:
        np.testing.assert_array_equal(worlds["elbow_q"], worlds.q[:, :, 1])
        np.testing.assert_array_equal(worlds["q"], worlds.q)
        np.testing.assert_array_equal(worlds["com:z"], worlds.field("derived/com")[:, :, 2])
        np.testing.assert_array_equal(worlds["time"], worlds.times)
        assert worlds["energy_kinetic"].shape == (3, 3)
        for k, world in enumerate(worlds):
            for name in world:
                np.testing.assert_array_equal(world[name], worlds[name] if name == "time" else worlds[name][k])
        assert worlds[-1].q[0, 0] == 0.3
        with pytest.raises(IndexError, match="no world 3, the last is 2"):
            worlds[3]
        with pytest.raises(NoColumnError, match="no field 'elbo'"):
            worlds["elbo"]
        with pytest.raises(TypeError, match="names of columns"):
            worlds[0.1:0.2]


def test_many_worlds_are_one_table_in_polars_and_xarray(tmp_path, monkeypatch):
    polars, xarray = pytest.importorskip("polars"), pytest.importorskip("xarray")
    monkeypatch.setenv("MBCLI_JIT", "0")
    write_worlds(tmp_path)
    with WorldsLog(tmp_path / "a.h5") as worlds:
        frame, dataset = worlds.to_polars(), worlds.to_xarray()
        assert isinstance(frame, polars.DataFrame) and frame.columns == ["world", *worlds[0].keys()]
        np.testing.assert_array_equal(frame["double_pendulum_elbow_q"], worlds["elbow_q"].ravel())
        assert isinstance(dataset, xarray.Dataset) and dict(dataset.sizes)["world"] == 3
        np.testing.assert_array_equal(dataset["q"].sel(q_name="double_pendulum_elbow_q", world=2), worlds["elbow_q"][2])
        assert dataset["energy_kinetic"].dims == ("world", "time")


def test_many_worlds_are_one_frame(tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.setenv("MBCLI_JIT", "0")
    write_worlds(tmp_path)
    with WorldsLog(tmp_path / "a.h5") as worlds:
        frame = worlds.to_pandas()
        assert len(worlds) == 3 and frame.index.names == ["world", "time"] and len(frame) == 9
        np.testing.assert_array_equal(frame.loc[2]["double_pendulum_shoulder_q"], worlds.q[2, :, 0])


def test_models_and_logs_say_what_they_are_in_a_line_and_in_a_notebook(log):
    model = mbcli.load_model(TWO_LINKS)
    assert repr(model) == "<LoadedModel double_pendulum: 2 positions, 2 velocities, 1 actuators, steps of 0.001 s>"
    assert "<td>elbow</td><td>revolute</td>" in model._repr_html_()
    assert "11 rows from 0 to 0.1 s" in repr(log) and len(repr(log).splitlines()) == 1
    assert "<td>double_pendulum_elbow_q</td><td>rad</td><td>1</td>" in log._repr_html_()


def test_the_package_has_its_main_names_and_imports_nothing_for_them():
    for name in mbcli.__all__:
        assert callable(getattr(mbcli, name)) and name in dir(mbcli)
    with pytest.raises(TypeError, match="unexpected keyword argument 'push'; did you mean 'pushes'"):
        mbcli.simulate(TWO_LINKS, push=["upper=1,0,0"])
