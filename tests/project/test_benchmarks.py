"""The scenes of the benchmarks: each can be built, and everybody computes the same in it. No times are asserted."""

import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from repository import ROOT

sys.path.insert(0, str(ROOT))  # the benchmarks are not installed
from benchmarks import contact, own, run, versions
from benchmarks.measure import QUICK, Effort, median_ratio, seconds_per_call
from benchmarks.plot import growth_svg
from benchmarks.scenes import CHAIN_LENGTHS, SCENES, chain_urdf
from mbcli.engine import load_kernels
from mbcli.engine.runtime.model import Data

COMPARED = [scene for scene in SCENES if scene.kind in ("engine", "plant", "batch", "constrained")]
STEPPED = [scene for scene in SCENES if scene.kind == "steps"]


def calls_of(scene):
    try:
        return run.calls_of(scene)
    except run.Skipped as reason:
        pytest.skip(str(reason))


def test_a_growth_is_drawn_where_its_numbers_are():
    """Ten times the count and the time is one decade in both directions, on the line of linear growth."""
    text = growth_svg([1, 10, 1000], [2e-6, 2e-5, 2e-3], "title", "loops", run.formatted)
    circles = ElementTree.fromstring(text).findall("{http://www.w3.org/2000/svg}circle")
    (x0, y0), (x1, y1), (x2, y2) = [(float(c.get("cx")), float(c.get("cy"))) for c in circles]
    assert x0 < x1 < x2 and y0 > y1 > y2
    rounding = 0.31  # of coordinates with one decimal: half a unit in each of six
    assert x2 - x1 == pytest.approx(2 * (x1 - x0), abs=rounding)
    assert y1 - y2 == pytest.approx(2 * (y0 - y1), abs=rounding)


def test_names_of_scenes_are_unique_and_each_kind_has_its_measure():
    names = [scene.name for scene in SCENES]
    assert len(set(names)) == len(names)
    assert {scene.kind for scene in SCENES} == set(run.MEASURES)


@pytest.mark.parametrize("scene", [s for s in COMPARED if s.model in ("arm7", "quadruped")], ids=lambda s: s.name)
def test_scene_on_a_sample_model_gives_finite_numbers(scene, monkeypatch):
    monkeypatch.setattr(run, "installed", lambda peer: False)
    monkeypatch.setattr(run, "BATCH_STATES", 24)
    for call in calls_of(scene).values():
        assert np.isfinite(call.read(call.run())).all()


@pytest.mark.peers("pydrake", "pinocchio", "mujoco")
@pytest.mark.parametrize("scene", COMPARED, ids=lambda s: s.name)
def test_all_contestants_compute_the_same(scene, monkeypatch):
    peer = "Drake" if scene.kind == "plant" else "Pinocchio"
    monkeypatch.setattr(run, "BATCH_STATES", 24)
    calls = calls_of(scene)
    assert peer in calls
    run.check_agreement(scene, calls)


@pytest.mark.peers("pydrake", "mujoco")
@pytest.mark.parametrize("scene", STEPPED, ids=lambda s: s.name)
def test_one_step_is_that_of_drake_and_the_accelerations_those_of_mujoco(scene):
    try:
        case = run.case_of(scene.model)
    except run.Skipped as reason:
        pytest.skip(str(reason))
    peers = run.adapters(case, run.MODELS[scene.model], "MuJoCo", "Drake")
    run.check_steps_agree(scene, case, peers)


def test_a_contestant_that_computes_something_else_is_found():
    calls = {"mbcli": own.Call(lambda: np.ones(3)), "peer": own.Call(lambda: np.array([1.0, 1.0, 1.0 + 1e-8]))}
    with pytest.raises(run.Disagreement, match="peer differs from mbcli by 1.00e-08"):
        run.check_agreement(SCENES[0], calls)


def test_ratio_is_that_of_the_same_round():
    assert median_ratio({"a": [1.0, 10.0, 2.0], "b": [2.0, 20.0, 8.0]}, "a", "b") == 2.0


def test_every_contestant_is_called_in_every_round():
    called = {"a": 0, "b": 0}

    def count(name):
        called[name] += 1

    seconds = seconds_per_call({name: lambda name=name: count(name) for name in called}, Effort(4, 1e-5))
    assert {name: len(times) for name, times in seconds.items()} == {"a": 4, "b": 4}
    assert min(called.values()) >= 4


def test_report_of_a_quick_run_has_a_line_for_the_scene(capsys, monkeypatch):
    monkeypatch.setattr(run, "installed", lambda peer: False)
    lines, failed = run.run(run.selected(["engine-arm7.crba"]), QUICK)
    assert not failed
    assert [line.scene for line in lines] == ["engine-arm7.crba"]
    assert lines[0].seconds > 0.0
    assert "engine-arm7.crba" in capsys.readouterr().out


def test_two_versions_take_turns_in_processes_of_their_own():
    (times,) = versions.turns((ROOT, ROOT), ["steps-arm7"], 0.0).values()
    assert len(times) == 2
    assert all(0.0 < time < 1e5 for turn in times for time in turn)


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
def test_rotations_stay_orthonormal_along_the_longest_chain(compiled):
    """An error that grows by a factor at each joint would be larger than any number here."""
    case = own.Case(text=chain_urdf(max(CHAIN_LENGTHS)))
    model, data = case.plant.model, Data(case.plant.model.sizes)
    data.q[:] = case.q[0]
    load_kernels(compiled).position_stage(model.handle(compiled), data.handle(compiled))
    R = data.X_WB[:, :9].reshape(-1, 3, 3)
    assert abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() < 1e-12


@pytest.mark.parametrize(
    "peers", [(), pytest.param(("Drake", "MuJoCo"), marks=pytest.mark.peers("pydrake", "mujoco"))], ids=str
)
def test_worlds_at_rest_are_stepped_in_every_program(peers):
    """A ball and a box on the ground: after the steps all have them where they lie."""
    world = contact.World(
        (contact.Solid("ball", (0.05,), (0.0, 0.0, 0.049)), contact.Solid("box", (0.1,) * 3, (1.0, 0.0, 0.0499)))
    )
    contest = contact.Contest(world, 1e-3, "lagged", peers)
    assert contest.failed == [] and {name.split()[0] for name in contest.steppers} == {"mbcli", *peers}
    for name, call in contest.calls(200).items():
        call()
        stepper = contest.steppers[name]
        q, _ = stepper.state()
        heights = q[[2, 9]] if name.startswith("MuJoCo") else q[[6, 13]]
        np.testing.assert_allclose(heights, 0.05, atol=2e-3)
        assert stepper.contacts() == (2 if name == "Drake" else 5)
