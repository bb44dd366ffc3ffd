"""Positions outside of their limits at the start of a run are reported by name, moved to them, or refused."""

import warnings

import numpy as np
import pytest
from command_line import cli, hinge, one_robot, succeed
from repository import SAMPLES

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.simulation.start_limits import clamp_positions, positions_outside_limits
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
