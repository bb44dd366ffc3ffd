"""simulate_each(): runs from many starts in one call of Python, their log, and how they go on."""

import numpy as np
import pytest
from repository import SAMPLES

import mbcli
from mbcli.errors import ArgumentError, ModelError, OutputError

ARM = SAMPLES / "double_pendulum.urdf"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def test_each_world_is_the_run_from_its_start(tmp_path):
    starts = {"shoulder": [0.5, -1.0, 2.0], "elbow_w": 0.3}
    log = mbcli.simulate_each(ARM, starts, 0.05, log=tmp_path / "all.h5", inputs={"elbow": 0.2})
    assert (log.summary.status, log.summary.worlds, log.summary.steps, log.summary.failures) == ("complete", 3, 150, {})
    for k in range(3):
        start = {"shoulder": starts["shoulder"][k], "elbow_w": 0.3}
        one = mbcli.simulate(ARM, 0.05, start=start, inputs={"elbow": 0.2})
        np.testing.assert_array_equal(log.q[k], one.q)
        np.testing.assert_array_equal(log.world(k)["elbow_w"], one["elbow_w"])


def test_arrays_are_starts_with_the_actuation_that_each_holds(tmp_path):
    q, v, u = np.array([[0.1, 0.2], [0.3, -0.4]]), np.zeros((2, 2)), np.array([[0.5, 0.0], [0.0, -0.5]])
    actuated = mbcli.load_model(ARM, hold=True)
    log = mbcli.simulate_each(actuated, (q, v, u[:, : actuated.plant.num_actuators()]), 0.02, log=tmp_path / "all.h5")
    np.testing.assert_array_equal(log.field("input/u")[:, 0], u[:, : actuated.plant.num_actuators()])
    np.testing.assert_array_equal(log.q[:, 0], q)


def test_resume_goes_on_with_all_worlds_by_what_their_log_has(tmp_path):
    whole = mbcli.simulate_each(ARM, {"elbow": [0.5, 1.0]}, 0.06, log=tmp_path / "whole.h5", fields="energy")
    part = mbcli.simulate_each(ARM, {"elbow": [0.5, 1.0]}, 0.02, log=tmp_path / "part.h5", fields="energy")
    more = mbcli.resume(part, until=0.06, to=tmp_path / "more.h5")
    for path in whole.fields():
        np.testing.assert_array_equal(more.field(path), whole.field(path))
    assert (more.summary.start_time, more.summary.end_time, more.summary.steps) == (0.02, 0.06, 80)
    with mbcli.log.worlds.WorldsLog(tmp_path / "part.h5") as untouched:
        assert untouched.times[-1] == 0.02
    with pytest.raises(ModelError, match=r"plant_config\.gravity|other gravity"):
        mbcli.resume(tmp_path / "part.h5", ARM, 0.06, to=tmp_path / "other.h5", gravity=(0, 0, -1.6), fields="energy")


def test_worlds_that_are_stopped_by_the_caller_go_on(tmp_path):
    calls = iter([0, 0, 0, 2])
    options = {"inputs": {"elbow": 0.1}, "fields": "effort"}
    log = mbcli.simulate_each(
        ARM, {"elbow": [0.5, 1.0]}, 0.1, log=tmp_path / "part.h5", should_stop=lambda: next(calls, 2), **options
    )
    assert log.status == "interrupted" and log.row_count == 4
    more = mbcli.resume(log)
    whole = mbcli.simulate_each(ARM, {"elbow": [0.5, 1.0]}, 0.1, log=tmp_path / "whole.h5", **options)
    assert more.status == "complete"
    np.testing.assert_array_equal(more.q, whole.q)
    np.testing.assert_array_equal(more.field("derived/effort"), whole.field("derived/effort"))


@pytest.mark.parametrize(
    ("starts", "settings", "error", "words"),
    [
        ((np.zeros((2, 3)), np.zeros((2, 2))), {}, ArgumentError, r"q has shape \(2, 3\), expected .* \(2, 2\)"),
        ((np.zeros((2, 2)), np.full((2, 2), np.nan)), {}, ArgumentError, "expected finite numbers"),
        ({"elbow": ["bent"]}, {}, ArgumentError, "starts: expected"),
        ({}, {}, ArgumentError, "starts"),
        ({"knee": [0.1]}, {}, ArgumentError, "knee"),
        ({"elbow": [0.1]}, {"integrator": "radau3"}, ModelError, "worlds take steps"),
        ({"elbow": [0.1]}, {"fields": "sensors"}, ArgumentError, "the model has no sensors"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_and_leaves_no_file(tmp_path, starts, settings, error, words):
    with pytest.raises(error, match=words):
        mbcli.simulate_each(ARM, starts, 0.01, log=tmp_path / "all.h5", **settings)
    assert not list(tmp_path.iterdir())


def test_an_existing_log_stays_without_force(tmp_path):
    mbcli.simulate_each(ARM, {"elbow": [0.1]}, 0.01, log=tmp_path / "all.h5").close()
    with pytest.raises(OutputError, match="exists"):
        mbcli.simulate_each(ARM, {"elbow": [0.1]}, 0.01, log=tmp_path / "all.h5")
    with pytest.raises(TypeError, match="simulate_each"):
        mbcli.simulate_each(ARM, {"elbow": [0.1]}, 0.01, log=tmp_path / "b.h5", durration=3)
