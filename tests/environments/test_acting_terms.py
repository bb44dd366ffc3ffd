"""Terms that act: pushes, places that are asked for, commands that grow, motors as networks."""

import copy

import numpy as np
import pytest
from networks import onnx_file
from repository import SAMPLES

from mbcli.environments.policy import Policy
from mbcli.errors import ModelError
from mbcli.models import load_model

gymnasium = pytest.importorskip("gymnasium")

from mbcli.environments import make_environments  # noqa: E402

BOX = """<robot name="box"><link name="box"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
 <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
ALIVE = {"reward": [{"term": "alive", "weight": 1}]}
CART = {
    "model": str(SAMPLES / "cart_pole.sdf"),
    "load": {"dt": 0.005},
    "period": 0.02,
    "observation": [{"term": "positions", "of": "all"}],
    "action": {"term": "efforts", "of": "all", "most": 20},
    **ALIVE,
}
WALKER = {
    "model": str(SAMPLES / "quadruped.urdf"),
    "load": {"dt": 0.002, "hold": True},
    "period": 0.02,
    "time_limit": 0.1,
    "action": {"term": "targets", "of": "all", "scale": 0.5},
    **ALIVE,
}

pytestmark = pytest.mark.usefixtures("ready_kernels")


@pytest.fixture
def box(tmp_path):
    """A task of a free body, without gravity, that is pushed."""
    (tmp_path / "box.urdf").write_text(BOX.replace("</robot>", JOINT + "</robot>"))
    return CART | {
        "model": str(tmp_path / "box.urdf"),
        "parameters": {"field.gravity.vector.z": "0"},
        "event": [{"term": "push", "body": "box", "force": [4, 10], "lasting": 0.04, "every": 0.1}],
        "time_limit": 0.4,
    }


JOINT = """<link name="motor"><inertial><mass value="0.1"/>
 <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="turn" type="continuous"><parent link="box"/><child link="motor"/><axis xyz="0 0 1"/></joint>
 <transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="turn"/><actuator name="m"/>
 </transmission>"""


def momenta(many):
    """(n, 3) of all bodies."""
    plant, found = many.worlds.plant, []
    context = plant.CreateDefaultContext()
    for q, v in zip(many.worlds.q, many.worlds.v, strict=True):
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        found.append(plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3)).translational())
    return np.array(found)


def test_a_push_gives_its_impulse_at_its_times_and_ends_with_the_episode(box):
    many = make_environments(box, 4, seed=0, threads=1, autoreset="same_step")
    many.reset(seed=3)
    rows = []
    for _ in range(19):
        many.step(np.zeros((4, 1)))
        rows.append(momenta(many))
    changes = np.diff([np.zeros((4, 3)), *rows], axis=0)
    sizes = np.linalg.norm(changes[:, :, :2], axis=2)
    acts = sizes > 1e-9
    expected = np.isin(np.arange(19), [5, 6, 10, 11, 15, 16])
    assert (acts == expected[:, np.newaxis]).all()
    np.testing.assert_allclose(sizes[5], sizes[6], rtol=1e-6)
    assert (sizes[expected] >= 4 * 0.02).all() and (sizes[expected] <= 10 * 0.02).all()
    assert len(set(np.round(sizes[[5, 10, 15]].ravel(), 9))) == 12
    copied = copy.deepcopy(many)
    for environment in (many, copied):
        for _ in range(8):
            environment.step(np.zeros((4, 1)))
    assert (many.worlds.v == copied.worlds.v).all() and (many.worlds.time < 0.2).all()


def test_commands_grow_over_the_episodes_of_a_world():
    command = {"term": "velocity", "name": "go", "x": [1, 1], "y": [0, 0], "turn": [-2, -2], "grow": 4}
    task = WALKER | {"command": [command], "observation": [{"term": "command", "of": "go"}]}
    many = make_environments(task, 2, seed=0, threads=1)
    seen = [many.reset(seed=1)[0], many.reset(options={"mask": np.array([True, False])})[0]]
    seen += [many.reset()[0] for _ in range(4)]
    shares = np.array(seen)[:, :, 0]
    np.testing.assert_allclose(shares[:, 0], [0.25, 0.5, 0.75, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(shares[:, 1], [0.25, 0.25, 0.5, 0.75, 1.0, 1.0])
    worlds = Policy(lambda seen: np.zeros((len(seen), 12)), task).worlds(
        load_model(task["model"], **task["load"]), [0]
    )[0]
    assert worlds.commands["go"](worlds)[0].tolist() == [1.0, 0.0, -2.0]  # a policy in a run gets the whole


def test_a_place_is_seen_from_the_body_and_rewarded():
    task = WALKER | {
        "command": [{"term": "place", "name": "there", "x": [3, 3], "y": [1, 1], "heading": [2, 2]}],
        "observation": [{"term": "place_in_body", "of": "there", "body": "trunk"}],
        "reward": [{"term": "place_commanded", "body": "trunk", "of": "there", "width": 2, "weight": 1}],
        "terminate": [{"term": "away_from", "body": "trunk", "of": "there", "limit": 3}],
    }
    many = make_environments(task, 2, seed=0, threads=1)
    half = np.array([np.cos(0.4), 0.0, 0.0, np.sin(0.4), 1.0, 2.0])  # a turn of 0.8 about z
    q = many.worlds.q.copy()
    q[:, :6] = [half, half * [1, 1, 1, 1, -1, 1]]
    many.reset(options={"q": q})
    seen = many.task.observe(many.worlds)[0]
    away = np.array([[np.cos(0.8), np.sin(0.8)], [-np.sin(0.8), np.cos(0.8)]]) @ [2.0, -1.0]
    np.testing.assert_allclose(seen, [*away, np.sin(1.2), np.cos(1.2)], atol=1e-12)
    reward = many.task.reward(many.worlds, np.zeros((2, 12)))
    np.testing.assert_allclose(reward, np.exp(-np.array([5.0, 17.0]) / 4.0))
    assert many.task.terminated(many.worlds).tolist() == [False, True]


def test_a_motor_as_a_network_gives_what_its_rows_say(tmp_path):
    pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    weights = np.array([[-3.0], [1.0], [0.5], [-0.4], [0.2], [0.1]])
    onnx_file(tmp_path / "motor.onnx", weights, kind=np.float64)
    action = {"term": "network", "of": "all", "file": str(tmp_path / "motor.onnx"), "scale": 0.5, "history": 3}
    many = make_environments(CART | {"action": action}, 2, seed=0, threads=1)
    many.reset(seed=0)
    beside = make_environments(CART, 2, seed=0, threads=1).worlds
    targets, errors, speeds = np.array([[0.8], [-0.3]]), None, None
    for _ in range(3):
        many.step(targets)
        for _ in range(4):
            error, speed = beside.q[:, 0] - 0.5 * targets[:, 0], beside.v[:, 0].copy()
            errors = [error, *(errors[:2] if errors else [error] * 2)]
            speeds = [speed, *(speeds[:2] if speeds else [speed] * 2)]
            beside.u[:, 0] = np.tanh(np.transpose([*errors, *speeds]) @ weights)[:, 0]
            beside.step(1)
    np.testing.assert_allclose(many.worlds.q, beside.q, rtol=0.0, atol=1e-12)
    assert np.abs(many.worlds.q[:, 0]).min() > 1e-4
    with pytest.raises(ModelError, match=r"motor.onnx takes 6 numbers, not 4 for each actuator"):
        make_environments(CART | {"action": action | {"history": 2}}, 2, threads=1)


def test_what_an_episode_sees_first_does_not_depend_on_the_one_before():
    task = WALKER | {
        "load": {"dt": 0.002, "contact": True, "ground": 0.0, "actuators": "motor"},
        "action": {"term": "efforts", "of": "all", "most": 20},
        "observation": [{"term": "contact_forces", "bodies": ["front_left_shank", "rear_left_shank"]}],
        "start": [{"term": "state", "values": {"trunk_z": 0.455}}],
    }
    fresh, used = (make_environments(task, 1, seed=0, threads=1) for _ in range(2))
    used.step(np.ones((1, 12)))
    first = fresh.reset(seed=2)[0]
    assert (used.reset(seed=2)[0] == first).all() and first.min() > 0.0
