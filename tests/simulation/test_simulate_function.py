"""simulate(), simulate_each(), resume() and describe(): what the commands do, called from Python."""

import importlib.util
import json
import runpy
import warnings

import numpy as np
import pytest
from command_line import succeed
from repository import SAMPLES

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ArgumentError, ModelError, NumericalError, OutputError, ResourceError
from mbcli.geometry import SceneGraph
from mbcli.log import open_log
from mbcli.log.worlds import WorldsLog
from mbcli.models import describe, load_model
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.simulation import Input, SimulationWarning, resume, simulate, simulate_each

PENDULUM = SAMPLES / "pendulum.urdf"
TWO_LINKS = SAMPLES / "double_pendulum.urdf"
QUADRUPED = SAMPLES / "quadruped.urdf"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Short runs: nobody waits for a compiler."""
    monkeypatch.setenv("MBCLI_JIT", "0")


def plant_of(path):
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModels(str(path))
    plant.Finalize()
    return plant


def contents(path):
    """Every dataset but the clocks, and the root attributes but the command."""
    with open_log(path) as log:
        rows = {name: log.field(name).tolist() for name in log.fields()}
        attributes = {name: value for name, value in log.attrs.items() if name != "argv"}
        return rows, log.events(), attributes, log.model, log.config


# the same as the command


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["--at", "elbow=2", "-t", 0.05], {"until": 0.05, "start": {"elbow": 2.0}}),
        (["--integrator", "radau3", "--u", "3", "-t", 0.2], {"until": 0.2, "integrator": "radau3", "inputs": [3.0]}),
        (
            ["--dt", 0.002, "--log-rate", 0, "--fields", "com,energy", "-t", 0.02],
            {"until": 0.02, "dt": 0.002, "log_rate": 0.0, "fields": ("com", "energy")},
        ),
    ],
    ids=["discrete", "continuous", "fields"],
)
def test_the_log_and_the_summary_are_those_of_the_command(tmp_path, words, arguments):
    ours, theirs = tmp_path / "ours.h5", tmp_path / "theirs.h5"
    said = succeed("-q", "simulate", TWO_LINKS, *words, "-o", theirs, "--json").json()
    with simulate(TWO_LINKS, log=ours, **arguments) as log:
        summary = log.summary.as_dict()
    assert contents(ours) == contents(theirs)
    clocks = ("log", "wall_time", "realtime_rate")
    assert {key: said[key] for key in summary if key not in clocks} == {
        key: value for key, value in summary.items() if key not in clocks
    }


def test_a_run_without_a_file_has_the_rows_of_one_with_it(tmp_path):
    arguments = {"until": 0.02, "ground": 0.0, "start": {"quadruped_trunk_z": 0.461}}
    kept = simulate(QUADRUPED, **arguments)
    with simulate(QUADRUPED, log=tmp_path / "run.h5", **arguments) as log:
        assert kept.fields() == log.fields() and kept.names == log.names and kept.units == log.units
        for name in log.fields():
            np.testing.assert_array_equal(kept.field(name), log.field(name))
        assert kept.events() == log.events() and kept.has_contacts and kept.contact_names() == log.contact_names()
        for rows in ((0, None), (1, 3), (2, 2)):
            ours, theirs = kept.contacts(*rows), log.contacts(*rows)
            assert ours.keys() == theirs.keys()
            for name in theirs:
                np.testing.assert_array_equal(ours[name], theirs[name])
        np.testing.assert_array_equal(kept.state(0.01).q, log.state(0.01).q)
        assert kept.status == log.status == "complete"
        assert kept.contacts()["offset"][-1] == log.contact_count > 0


def test_the_log_has_times_coordinates_by_name_and_states():
    log = simulate(PENDULUM, until=0.05, start={"hinge": 1.0})
    np.testing.assert_allclose(log.times, np.arange(6) * 0.01)
    assert log.column("hinge")[0] == 1.0 and log.q.shape == log.v.shape == (6, 1) and log.energy.shape == (6, 2)
    q, v = log.state(0.03)
    assert q == log.q[3] and v == log.v[3]
    np.testing.assert_allclose(log.energy.sum(axis=1), log.energy[0].sum(), atol=1e-2)
    with pytest.raises(ResourceError, match="no sample at 0.031 s, the nearest: 0.03 and 0.04 s"):
        log.state(0.031)
    with pytest.raises(LookupError, match="there is no"):
        log.column("gone")
    with pytest.raises(KeyError, match="no field derived/com"):
        log.field("derived/com")


# models and starts


def test_a_finalized_plant_runs_as_its_file_does():
    plant = plant_of(TWO_LINKS)
    ours, theirs = simulate(plant, until=0.03), simulate(TWO_LINKS, until=0.03)
    np.testing.assert_array_equal(ours.q, theirs.q)
    np.testing.assert_array_equal(ours.energy, theirs.energy)
    assert plant.GetDefaultPositions().tolist() == theirs.q[0].tolist()


def test_a_context_is_where_a_run_starts_and_where_it_ends():
    plant = plant_of(PENDULUM)
    context = plant.CreateDefaultContext()
    context.SetTime(2.0)
    plant.GetJointByName("hinge").set_angle(context, 1.0)
    plant.get_actuation_input_port().FixValue(context, [0.7])
    log = simulate(plant, 2.05, start=context)
    assert log.times[0] == 2.0 and log.q[0] == 1.0 and log.u.ravel().tolist() == [0.7] * len(log.times)
    assert context.get_time() == pytest.approx(2.05) and plant.GetPositions(context) == log.q[-1]


def test_a_start_is_a_state_by_arrays_or_the_end_of_a_log(tmp_path):
    first = simulate(TWO_LINKS, until=0.03, start=([1.0, 2.0], [0.5, -0.5]), log=tmp_path / "first.h5")
    assert first.q[0].tolist() == [1.0, 2.0] and first.v[0].tolist() == [0.5, -0.5]
    second = simulate(TWO_LINKS, until=0.01, start=tmp_path / "first.h5")
    np.testing.assert_array_equal(second.q[0], first.q[-1])


def test_settings_of_the_library_are_those_of_a_run():
    config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-9)
    log = simulate(PENDULUM, until=0.1, dt=0.0, config=config, start={"hinge": 1.0})
    assert log.summary.integrator == "runge_kutta5" and abs(log.summary.energy_drift) < 1e-9
    loaded = load_model(PENDULUM, dt=0.0)
    assert simulate(loaded, until=0.1, integrator="radau3").summary.integrator == "radau3"
    assert simulate(loaded, until=0.1).summary.integrator == "runge_kutta3"  # the model has kept its settings


def test_inputs_are_numbers_names_series_or_files(tmp_path):
    series = tmp_path / "u.csv"
    series.write_text("time,elbow_motor\n0,1\n0.02,2\n")
    name = plant_of(TWO_LINKS).GetActuatorNames()[0]
    series.write_text(f"time,{name}\n0,1\n0.02,2\n")
    expected = {
        "array": (np.array([1.0]), [1, 1, 1, 1, 1]),
        "name": ({name: 1.0}, [1, 1, 1, 1, 1]),
        "series": (Input([0.0, 0.02], [[1.0], [2.0]]), [1, 1, 2, 2, 2]),
        "file": (series, [1, 1, 2, 2, 2]),
    }
    for inputs, values in expected.values():
        assert simulate(TWO_LINKS, until=0.04, inputs=inputs).u.ravel().tolist() == values
    for inputs, message in ((np.ones(2), "inputs: the plant has 1 actuators"), ({"gone": 1.0}, "inputs: there is no")):
        with pytest.raises(ArgumentError, match=message):
            simulate(TWO_LINKS, until=0.04, inputs=inputs)


def test_the_example_lands_a_robot_and_draws_it(tmp_path, monkeypatch, capsys):
    """A script of a notebook's size that loads, simulates with contact, reads its log and plots."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample_models").symlink_to(SAMPLES)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SimulationWarning)
        names = runpy.run_path(str(SAMPLES.parent / "docs" / "examples" / "landing.py"))
    with open_log(tmp_path / "landing.h5") as log:
        assert log.status == "complete" and log.contact_count > 0
        height = log.column("quadruped_trunk_z")
    # feet are 0.4616 m below the trunk: it falls freely until then, and the ground stops it within centimetres
    t = np.sqrt(2.0 * (0.5 - 0.4616) / 9.81)
    row = int(t / 0.01)
    assert height[row] == pytest.approx(0.5 - 4.905 * (0.01 * row) ** 2, abs=1e-3)
    assert 0.42 < height.min() < 0.4616
    support, weight = names["support"], names["weight"]
    assert not support[:row].any() and np.abs(support).max() > weight
    printed = capsys.readouterr().out
    assert "200 steps, at most 4 contacts" in printed
    has_picture = (tmp_path / "landing.png").exists()
    assert has_picture == (importlib.util.find_spec("matplotlib") is not None)


# what a run reports


def test_warnings_name_arguments_of_python_and_not_options():
    with pytest.warns(SimulationWarning, match=r'start_limits="clamp" starts at the limits') as told:
        simulate(SAMPLES / "arm7.urdf", until=0.002, start={"joint_2": 9.0})
    assert not any("--" in str(warning.message) for warning in told)
    assert {warning.filename for warning in told} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        log = simulate(SAMPLES / "arm7.urdf", until=0.002, start={"joint_2": 9.0}, start_limits="clamp")
    assert log.column("joint_2")[0] < 9.0
    heard = []
    simulate(QUADRUPED, until=0.002, ground=0.0, start={"quadruped_trunk_z": 0.1}, warn=heard.append)
    assert any("overlap" in line and line.endswith("use contact=False") for line in heard)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"until": -1.0}, r"until=-1: the run starts at 0 s"),
        ({"until": 0.0005}, r"dt=0.001: one step is longer"),
        ({"log_rate": 300.0}, r"log_rate=300: a discrete plant is logged at whole steps"),
        ({"fields": ["gone"]}, r"fields: there is no 'gone'"),
        ({"integrator": "gone"}, r"integrator: there is no 'gone'"),
        ({"integrator": "radau3", "dt": 0.1}, r"integrator, accuracy and max_step are for continuous plants, dt"),
        ({"start": {"gone": 1.0}}, r"there is no position named 'gone'"),
        ({"start_limits": "gone"}, r"start_limits is 'warn', 'clamp' or 'error'"),
        ({"weld": "gone"}, r"weld: there is no frame named 'gone'"),
    ],
    ids=lambda value: None if isinstance(value, str) else ",".join(value),
)
def test_arguments_that_do_not_fit_are_refused_by_their_names(arguments, message):
    with pytest.raises(ArgumentError, match=message) as refused:
        simulate(PENDULUM, **{"until": 0.01} | arguments)
    assert "--" not in str(refused.value) and isinstance(refused.value, ValueError)


def test_a_plant_takes_no_arguments_of_loading():
    with pytest.raises(ArgumentError, match="dt, ground: the plant is finalized already"):
        simulate(plant_of(PENDULUM), ground=0.0, dt=0.1)
    with pytest.raises(ArgumentError, match="must be finalized"):
        simulate(MultibodyPlant(0.001))


def test_no_file_is_replaced_by_accident(tmp_path):
    path = tmp_path / "run.h5"
    simulate(PENDULUM, until=0.01, log=path)
    with pytest.raises(OutputError, match="exists already; force=True replaces it"):
        simulate(PENDULUM, until=0.01, log=path)
    assert simulate(PENDULUM, until=0.02, log=path, force=True).times[-1] == 0.02
    model = tmp_path / "model.urdf"
    model.write_bytes(PENDULUM.read_bytes())
    with pytest.raises(OutputError, match="is an input"):
        simulate(model, until=0.01, log=model, force=True)
    assert model.read_bytes() == PENDULUM.read_bytes()


def test_progress_is_told_and_a_run_can_be_stopped(tmp_path):
    seen = []
    log = simulate(
        PENDULUM,
        until=1e6,
        log=tmp_path / "run.h5",
        on_progress=seen.append,
        should_stop=lambda: 3 if len(seen) >= 2 else 0,
    )
    assert log.summary.status == log.status == "interrupted" and log.attrs["exit_code"] == 3
    assert 0.0 < seen[0].part < seen[1].part < 1.0 and seen[1].realtime_rate > 0.0 and seen[1].end == 1e6


def test_a_run_that_fails_leaves_its_rows_in_the_log(tmp_path):
    path = tmp_path / "run.h5"
    with pytest.raises(NumericalError, match=r"not finite.*the rows before it are in"):
        inputs = Input([0.0, 0.1], [[0.0], [1e308]])
        simulate(PENDULUM, until=0.2, log=path, inputs=inputs, effort_limits="ignore", start={"hinge": 1.0})
    with open_log(path) as log:
        assert log.status == "failed" and 0.09 < log.times[-1] < 0.2


# going on


@pytest.mark.parametrize(
    "arguments", [{}, {"integrator": "runge_kutta3", "accuracy": 1e-5}], ids=["discrete", "continuous"]
)
def test_a_run_goes_on_to_the_rows_of_one_without_a_break(tmp_path, arguments):
    whole, parts = tmp_path / "whole.h5", tmp_path / "parts.h5"
    arguments |= {"start": {"elbow": 2.0}, "inputs": [1.0]}
    simulate(TWO_LINKS, until=0.3, log=whole, **arguments).close()
    log = simulate(TWO_LINKS, until=0.15, log=parts, **arguments)
    with resume(log, until=0.3) as log:
        assert log.summary.start_time > 0.0 and log.times[-1] == 0.3
    assert contents(parts)[0] == contents(whole)[0]


def test_going_on_from_a_run_of_the_command_takes_its_model(tmp_path):
    path = tmp_path / "run.h5"
    succeed("-q", "simulate", TWO_LINKS, "-t", 0.02, "-o", path)
    with pytest.raises(ModelError, match=r"has no record of a call of simulate\(\): give the model"):
        resume(path, until=0.04)
    with pytest.raises(ModelError, match="is of other model files"):
        resume(path, PENDULUM, until=0.04)
    with pytest.raises(ModelError, match="was run with other actuation: give the same inputs"):
        resume(path, TWO_LINKS, until=0.04, inputs=[1.0])
    log = resume(path, TWO_LINKS, until=0.04, to=tmp_path / "longer.h5")
    assert log.times[-1] == 0.04 and open_log(path).times[-1] == 0.02


def test_a_command_says_that_it_cannot_repeat_a_call(tmp_path):
    from command_line import cli

    path = tmp_path / "run.h5"
    simulate(PENDULUM, until=0.01, log=path)
    result = cli("simulate", "--resume", path)
    assert result.code == 3 and "has no record of a command: a run from Python goes on in Python" in result.err


# describing


@pytest.mark.parametrize("path", ["arm7.urdf", "all_joints.sdf", "closed_chains/four_bar.urdf", "herd.dmd.yaml"])
def test_the_description_is_the_document_of_inspect(path):
    said = succeed("inspect", SAMPLES / path, "--json").json()
    assert json.loads(json.dumps(describe(SAMPLES / path))) == said


def test_a_plant_made_in_python_is_described_too():
    plant = MultibodyPlant(0.001)
    plant.RegisterAsSourceForSceneGraph(SceneGraph())
    Parser(plant).AddModels(str(QUADRUPED))
    plant.Finalize()
    ours, files = describe(plant), describe(QUADRUPED)
    for key in ("counts", "bodies", "joints", "actuators", "total_mass", "position_names", "frames"):
        assert ours[key] == files[key], key
    assert ours["format"] == ours["not_used"] == ours["model"]["files"] == []
    assert sorted(g["name"] for g in files["geometries"] if g["role"] == "collision") == sorted(
        g["name"].rpartition("::")[2] for g in ours["geometries"] if g["role"] == "collision"
    )


# ---------------------------------------------------------------- simulate_each()


def test_each_world_is_the_run_from_its_start(tmp_path):
    starts = {"shoulder": [0.5, -1.0, 2.0], "elbow_w": 0.3}
    log = simulate_each(TWO_LINKS, starts, 0.05, log=tmp_path / "all.h5", inputs={"elbow": 0.2})
    assert (log.summary.status, log.summary.worlds, log.summary.steps, log.summary.failures) == ("complete", 3, 150, {})
    for k in range(3):
        start = {"shoulder": starts["shoulder"][k], "elbow_w": 0.3}
        one = simulate(TWO_LINKS, 0.05, start=start, inputs={"elbow": 0.2})
        np.testing.assert_array_equal(log.q[k], one.q)
        np.testing.assert_array_equal(log.world(k)["elbow_w"], one["elbow_w"])


def test_arrays_are_starts_with_the_actuation_that_each_holds(tmp_path):
    q, v, u = np.array([[0.1, 0.2], [0.3, -0.4]]), np.zeros((2, 2)), np.array([[0.5, 0.0], [0.0, -0.5]])
    actuated = load_model(TWO_LINKS, hold=True)
    log = simulate_each(actuated, (q, v, u[:, : actuated.plant.num_actuators()]), 0.02, log=tmp_path / "all.h5")
    np.testing.assert_array_equal(log.field("input/u")[:, 0], u[:, : actuated.plant.num_actuators()])
    np.testing.assert_array_equal(log.q[:, 0], q)


def test_resume_goes_on_with_all_worlds_by_what_their_log_has(tmp_path):
    whole = simulate_each(TWO_LINKS, {"elbow": [0.5, 1.0]}, 0.06, log=tmp_path / "whole.h5", fields="energy")
    part = simulate_each(TWO_LINKS, {"elbow": [0.5, 1.0]}, 0.02, log=tmp_path / "part.h5", fields="energy")
    more = resume(part, until=0.06, to=tmp_path / "more.h5")
    for path in whole.fields():
        np.testing.assert_array_equal(more.field(path), whole.field(path))
    assert (more.summary.start_time, more.summary.end_time, more.summary.steps) == (0.02, 0.06, 80)
    with WorldsLog(tmp_path / "part.h5") as untouched:
        assert untouched.times[-1] == 0.02
    with pytest.raises(ModelError, match=r"plant_config\.gravity|other gravity"):
        resume(tmp_path / "part.h5", TWO_LINKS, 0.06, to=tmp_path / "other.h5", gravity=(0, 0, -1.6), fields="energy")


def test_worlds_that_are_stopped_by_the_caller_go_on(tmp_path):
    calls = iter([0, 0, 0, 2])
    options = {"inputs": {"elbow": 0.1}, "fields": "effort"}
    log = simulate_each(
        TWO_LINKS, {"elbow": [0.5, 1.0]}, 0.1, log=tmp_path / "part.h5", should_stop=lambda: next(calls, 2), **options
    )
    assert log.status == "interrupted" and log.row_count == 4
    more = resume(log)
    whole = simulate_each(TWO_LINKS, {"elbow": [0.5, 1.0]}, 0.1, log=tmp_path / "whole.h5", **options)
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
        simulate_each(TWO_LINKS, starts, 0.01, log=tmp_path / "all.h5", **settings)
    assert not list(tmp_path.iterdir())


def test_an_existing_log_stays_without_force(tmp_path):
    simulate_each(TWO_LINKS, {"elbow": [0.1]}, 0.01, log=tmp_path / "all.h5").close()
    with pytest.raises(OutputError, match="exists"):
        simulate_each(TWO_LINKS, {"elbow": [0.1]}, 0.01, log=tmp_path / "all.h5")
    with pytest.raises(TypeError, match="simulate_each"):
        simulate_each(TWO_LINKS, {"elbow": [0.1]}, 0.01, log=tmp_path / "b.h5", durration=3)
