"""The examples of docs/how-to/control.md from the command line: a circle, an acrobot, a trot, a balance."""

import numpy as np
import pytest
from command_line import succeed
from matplotlib import image
from repository import ROOT, SAMPLES

from mbcli.log.reader import Log
from mbcli.models import load_model

EXAMPLES = ROOT / "docs" / "examples"


def check_pictures(run):
    """Asserts that images of a run show something that moves."""
    folder = run.with_suffix("")
    succeed("replay", run, "--frames", folder, "--fps", "1", "--size", "160x120")
    images = [image.imread(path) for path in sorted(folder.iterdir())]
    assert len(images) > 3 and all(len(np.unique(each.reshape(-1, each.shape[2]), axis=0)) > 50 for each in images)
    assert np.abs(images[0] - images[2]).max() > 0.1


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return lambda name: __import__(name)


def test_an_arm_draws_a_circle_to_a_tenth_of_a_millimetre(tmp_path, example):
    run = tmp_path / "circle.h5"
    words = ["--at", "joint_2=0.6", "--at", "joint_4=-1.2", "--at", "joint_6=0.6", "--no-contact", "-t", "4"]
    controller = ["--controller", EXAMPLES / "circle.py", "--controller-rate", "500"]
    succeed("simulate", SAMPLES / "arm7.urdf", *words, *controller, "--log-rate", "25", "-o", run)
    check_pictures(run)
    plant = load_model(SAMPLES / "arm7.urdf").plant
    context, hand = plant.CreateDefaultContext(), plant.GetFrameByName("flange")
    with Log(str(run)) as log:
        times, q = log.times, log.q
    places = []
    for row in q:
        plant.SetPositions(context, row)
        places.append(hand.CalcPoseInWorld(context).translation())
    places = np.array(places)
    radius = example("circle").RADIUS
    center = places[0] - [0.0, radius, 0.0]
    assert np.linalg.norm(places - center, axis=1) == pytest.approx(np.full(len(q), radius), abs=1e-4)
    assert np.abs(places[:, 0] - places[0, 0]).max() < 1e-4
    angle = np.unwrap(np.arctan2(places[:, 2] - center[2], places[:, 1] - center[1]))
    assert angle[-1] - angle[0] == pytest.approx(2.0 * np.pi, abs=1e-3) and times[-1] == pytest.approx(4.0)


def test_an_arm_holds_its_posture_against_gravity(tmp_path):
    words = ["--at", "joint_2=0.6", "--at", "joint_4=-0.8", "--no-contact", "-t", "0.5", "-o", tmp_path / "hold.h5"]
    controller = ["--controller", EXAMPLES / "hold.py", "--controller-rate", "500"]
    succeed("simulate", SAMPLES / "arm7.urdf", *words, *controller)
    with Log(str(tmp_path / "hold.h5")) as log:
        assert np.abs(log.q - log.q[0]).max() < 1e-9 < np.abs(log.u).max()


def test_an_acrobot_swings_up_and_balances(tmp_path):
    run = tmp_path / "acrobot.h5"
    model, controller = EXAMPLES / "acrobot.urdf", EXAMPLES / "acrobot.py"
    succeed("simulate", model, "--controller", controller, "--at", "shoulder=0.1", "-t", "15", "-o", run)
    check_pictures(run)
    with Log(str(run)) as log:
        from_top = np.abs(np.cos(log.q[:, 0]) + 1.0) + np.abs(np.sin(log.q.sum(axis=1) - log.q[:, 0]))
        assert from_top[0] > 1.9 and np.abs(log.u).max() <= 25.0
        late = log.times > 14.0
        assert from_top[late].max() < 1e-3 and np.abs(log.v[late]).max() < 1e-3


def test_a_quadruped_trots_by_what_its_sensors_tell(tmp_path):
    run = tmp_path / "trot.h5"
    words = ["--pose", "stand", "-t", "5", "--controller", EXAMPLES / "trot.py", "--log-rate", "100"]
    succeed("simulate", EXAMPLES / "walker.xml", *words, "-o", run)
    check_pictures(run)
    feet = ("front_left", "front_right", "rear_left", "rear_right")
    with Log(str(run)) as log:
        q, times = log.q, log.times
        touches = [log.field(f"sensors/{name}") > 2.0 for name in feet]
    late = times > 2.5
    upright = 1.0 - 2.0 * (q[:, 1] ** 2 + q[:, 2] ** 2)
    assert upright.min() > 0.99 and np.abs(q[late, 6] - 0.29).max() < 0.03
    speed = np.polyfit(times[late], q[late, 4], 1)[0]
    assert speed == pytest.approx(0.33, abs=0.1) and np.abs(q[:, 5]).max() < 0.05
    one, other = touches[0] & touches[3], touches[1] & touches[2]  # diagonal pairs take turns
    assert min(one[late].mean(), other[late].mean()) > 0.25 and (one & other)[late].mean() < 0.3


@pytest.mark.parametrize("degrees", [0.0, 108.0, 180.0])
def test_a_humanoid_keeps_its_balance_when_it_is_pushed(tmp_path, degrees):
    # all ten directions: python -m benchmarks.push_recovery
    run = tmp_path / "balance.h5"
    x, y = 300.0 * np.cos(np.radians(degrees)), 300.0 * np.sin(np.radians(degrees))
    words = ["--pose", "stand", "-t", "4", "--controller", EXAMPLES / "balance.py"]
    pushes = ["--push", f"torso={x:.6f},{y:.6f},0 from 0.5 to 0.6"]
    succeed("simulate", EXAMPLES / "humanoid.xml", *words, *pushes, "-o", run)
    if degrees == 0.0:
        check_pictures(run)
    plant = load_model(EXAMPLES / "humanoid.xml").plant
    context, torso = plant.CreateDefaultContext(), plant.GetFrameByName("torso")
    with Log(str(run)) as log:
        times, q, v, u = log.times, log.q, log.v, log.u
        contacts, names = log.contacts(), log.contact_names().body_names
    poses = []
    for row in q:
        plant.SetPositions(context, row)
        poses.append(torso.CalcPoseInWorld(context))
    upright = np.array([pose.rotation().matrix()[2, 2] for pose in poses])
    assert poses[-1].translation()[2] == pytest.approx(poses[0].translation()[2], rel=0.1)
    assert upright[-1] > np.cos(0.2) > upright.min()  # the push was felt
    assert times[-1] == pytest.approx(4.0) and np.linalg.norm(v[-1, 3:6]) < 0.1
    assert (np.abs(u) <= plant.GetEffortUpperLimits() + 1e-9).all()
    touching = np.unique([contacts["contact/body_a"], contacts["contact/body_b"]])
    assert {names[index].rpartition("::")[2] for index in touching} == {"world", "left_foot", "right_foot"}
