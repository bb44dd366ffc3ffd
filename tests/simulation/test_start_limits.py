"""Positions outside of their limits at the start of a run are reported by name, moved to them, or refused."""

import warnings

import numpy as np
import pytest
from command_line import cli, hinge, one_robot, succeed
from repository import SAMPLES

from mbcli.errors import ModelError
from mbcli.models.loading import load_model
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.simulation.running import simulate, simulate_each
from mbcli.simulation.start_limits import clamp_positions, clamp_rows, positions_outside_limits, rows_outside_limits
from mbcli.systems.analysis import Simulator

TWO_LINKS = SAMPLES / "double_pendulum.urdf"
LIMITED = one_robot(("base", "arm", "hand"), hinge("one", "base", "arm") + hinge("two", "arm", "hand"))  # -3 to 3 rad
RUN = ("--weld", "base", "-t", 0.01, "--no-log")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(LIMITED)
    return path


def plant_of(path, step=0.001):
    plant = MultibodyPlant(step)
    Parser(plant).AddModels(str(path))
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plant.Finalize()
    return plant, plant.CreateDefaultContext()


def test_a_run_names_what_starts_outside_and_by_how_much(arm):
    result = succeed("simulate", arm, *RUN, "--at", "one=-3.5", "--at", "two=3.25")
    assert (
        "r_one_q is -3.5, 0.5 beyond its lower limit -3; r_two_q is 3.25, 0.25 beyond its upper limit 3" in result.err
    )
    assert "--start-limits clamp" in result.err
    assert "limit" not in succeed("simulate", arm, *RUN, "--at", "one=-3", "--at", "two=3").err


def test_clamped_positions_start_at_their_limits(arm):
    clamped = succeed("simulate", arm, *RUN, "--at", "one=-3.5", "--start-limits", "clamp", "--json")
    assert "moved to their limits: r_one_q is -3.5, 0.5 beyond its lower limit -3" in clamped.err
    inside = succeed("simulate", arm, *RUN, "--at", "one=-3", "--json")
    assert (clamped.json()["q"], clamped.json()["v"]) == (inside.json()["q"], inside.json()["v"])


def test_a_run_may_refuse_such_a_start(arm):
    result = cli("simulate", arm, *RUN, "--at", "one=-3.5", "--start-limits", "error")
    assert (result.code, result.out) == (3, "")
    assert "the start is outside of limits: r_one_q is -3.5" in result.err
    succeed("simulate", arm, *RUN, "--start-limits", "error")


def test_continuous_runs_say_that_stops_push_back(arm):
    result = succeed("simulate", arm, *RUN, "--dt", 0, "--at", "one=-3.5")
    assert "the start is outside of limits, the stops push them back: r_one_q is -3.5, 0.5 beyond" in result.err
    assert succeed("simulate", arm, *RUN, "--dt", 0).err == ""


# -------------------------------------------------------------------------------------------- the library


def test_finalize_of_a_continuous_plant_warns_of_limits(arm):
    for step in (0.0, 0.001):
        plant = MultibodyPlant(step)
        Parser(plant).AddModels(str(arm))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            plant.Finalize()
        lines = [str(w.message) for w in caught if "limits" in str(w.message)]
        assert len(lines) == (1 if step == 0.0 else 0)
        assert not lines or "does not enforce the position limits of 2 joints: one, two" in lines[0]


def test_a_simulator_warns_once_and_by_name(arm):
    plant, context = plant_of(arm)
    plant.SetPositions(context, [0.0, 3.125])
    simulator = Simulator(plant, context)
    with pytest.warns(
        UserWarning, match=r"the stops bring them back slowly.*: r_two_q is 3.125, 0.125 beyond its upper limit 3$"
    ):
        simulator.AdvanceTo(0.002)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulator.AdvanceTo(0.004)


def test_random_positions_are_found_and_clamped_as_numpy_clips_them(arm):
    plant, context = plant_of(arm)
    rng = np.random.default_rng(5)
    for _ in range(50):
        q = rng.uniform(-4.0, 4.0, 2)
        plant.SetPositions(context, q)
        found = positions_outside_limits(plant, context)
        assert [p.index for p in found] == np.flatnonzero(np.abs(q) > 3.0).tolist()
        assert [p.by for p in found] == pytest.approx((np.abs(q) - 3.0)[np.abs(q) > 3.0])
        assert clamp_positions(plant, context) == found
        np.testing.assert_array_equal(plant.GetPositions(context), np.clip(q, -3.0, 3.0))
        assert positions_outside_limits(plant, context) == []


def test_a_locked_joint_is_not_pushed_in(arm):
    plant, context = plant_of(arm)
    plant.SetPositions(context, [3.5, 3.5])
    plant.GetJointByName("one").Lock(context)
    assert [p.name for p in positions_outside_limits(plant, context)] == ["r_two_q"]


# -------------------------------------------------------------------------------------------- ball joints

BALL = """<mujoco><worldbody><body pos="0 0 1"><joint name="neck" type="ball" range="0 30"/><geom size=".1" mass="1"/>
<body pos=".2 0 0"><joint name="nod" axis="0 1 0" range="-10 10"/><geom size=".05" pos=".1 0 0" mass=".2"/></body>
</body></worldbody></mujoco>"""
TURNED = {"neck_qw": np.cos(0.5), "neck_qx": 0.0, "neck_qy": -np.sin(0.5), "neck_qz": 0.0}


@pytest.fixture
def neck(tmp_path):
    path = tmp_path / "neck.xml"
    path.write_text(BALL)
    return load_model(path, contact=False, dt=1e-3)


def lines_of(neck, start, **settings):
    lines = []
    log = simulate(neck, 0.01, start=start, warn=lines.append, **settings)
    return log, [line for line in lines if "limits" in line]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_ball_joint_beyond_its_range_is_reported_by_its_turn(neck, sign):
    """A quaternion and its negative are one turn."""
    _, (line,) = lines_of(neck, {name: sign * value for name, value in TURNED.items()})
    assert "the turn of neck is 1, 0.476 beyond its upper limit 0.523599" in line and "bring them back" in line
    assert lines_of(neck, {})[1] == []
    inside = {"neck_qw": np.cos(0.25), "neck_qy": np.sin(0.25)}
    assert lines_of(neck, inside)[1] == []


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_clamped_ball_joint_starts_at_its_range_about_the_same_axis(neck, sign):
    plant = neck.plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [*(sign * value for value in TURNED.values()), 0.3])
    ball, hinge = clamp_positions(plant, context)[::-1]
    assert ball.name == "the turn of neck" and hinge.name.endswith("nod_q")
    half = np.deg2rad(15.0)
    expected = [np.cos(half), 0.0, -np.sin(half), 0.0, np.deg2rad(10.0)]
    assert plant.GetPositions(context) == pytest.approx(expected, abs=1e-15)
    assert positions_outside_limits(plant, context) == []
    rows = np.array([[*(sign * value for value in TURNED.values()), 0.3], [1.0, 0.0, 0.0, 0.0, 0.0]])
    assert rows_outside_limits(plant, rows).tolist() == [True, False]
    np.testing.assert_allclose(clamp_rows(plant, rows), [expected, rows[1]], atol=1e-15)


def test_a_run_and_worlds_refuse_a_ball_joint_beyond_its_range(neck, tmp_path):
    with pytest.raises(ModelError, match="outside of limits: the turn of neck is 1"):
        simulate(neck, 0.01, start=TURNED, start_limits="error")
    with pytest.raises(ModelError, match="1 of 2 starts are outside of limits, first row 1"):
        simulate_each(
            neck,
            {name: [float(name == "neck_qw"), value] for name, value in TURNED.items()},
            0.01,
            log=tmp_path / "all.h5",
            start_limits="error",
        )


def test_a_locked_ball_joint_has_no_limits(neck):
    context = neck.plant.CreateDefaultContext()
    neck.plant.SetPositions(context, [*TURNED.values(), 0.0])
    neck.plant.GetJointByName("neck").Lock(context)
    assert positions_outside_limits(neck.plant, context) == []
