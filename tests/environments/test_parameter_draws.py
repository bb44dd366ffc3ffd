"""Parameters that each episode draws: which ones, from what, and that the worlds step with them."""

import copy

import numpy as np
import pytest
from repository import ROOT, SAMPLES

from mbcli.errors import ArgumentError, ModelError
from mbcli.models import load_model
from mbcli.simulation import Worlds

gymnasium = pytest.importorskip("gymnasium")

from mbcli.environments import make_environments  # noqa: E402

PATHS = ("body.rod.mass", "joint.slider.damping")
TASK = {
    "model": str(SAMPLES / "cart_pole.sdf"),
    "load": {"dt": 0.005},
    "period": 0.02,
    "time_limit": 0.06,
    "action": {"term": "efforts", "of": "all", "most": 20},
    "observation": [{"term": "positions", "of": "all"}],
    "reward": [{"term": "alive", "weight": 1}],
    "start": [{"term": "uniform_positions", "of": "all", "within": 0.3}],
    "parameters": {"body.rod.mass": "*uniform(0.5, 2)", "joint.slider.damping": "uniform(0.1, 5)"},
    "parameters_drawn": "episode",
}
LEGS = {
    "model": str(SAMPLES / "quadruped.urdf"),
    "load": {"dt": 0.002, "contact": True, "ground": 0.0, "hold": True},
    "period": 0.02,
    "time_limit": 0.06,
    "action": {"term": "targets", "of": "all", "scale": 0.5},
    "observation": [{"term": "contact_forces", "bodies": ["front_left_shank", "rear_left_shank"]}],
    "reward": [{"term": "alive", "weight": 1}],
    "start": [{"term": "state", "values": {"trunk_z": 0.455}}],
    "parameters": {"geometry.*.friction": "uniform(0.1, 1)", "body.trunk.mass": "*uniform(0.5, 2)"},
    "parameters_drawn": "episode",
}

pytestmark = pytest.mark.usefixtures("ready_kernels")


def drawn(environments):
    """(n, parameters) texts of all worlds."""
    return np.array([environments.parameters[path] for path in environments.parameters]).T


def episodes(environments, count):
    """What worlds have in some episodes, (count, n, parameters)."""
    found = []
    for _ in range(count):
        found.append(drawn(environments))
        environments.reset()
    return np.array(found)


def test_each_episode_of_each_world_draws_anew_whoever_else_is_there():
    many, few = (make_environments(TASK, count, seed=3, threads=threads) for count, threads in ((5, 2), (2, 1)))
    many.reset(seed=9), few.reset(seed=9)
    first, second = episodes(many, 4), episodes(few, 4)
    assert len(set(first[:, :, 0].ravel())) == 20
    assert (first[:, :2] == second).all()
    few.reset(seed=9, options={"mask": np.array([False, True])})
    assert (drawn(few)[1] == first[0, 1]).all() and (drawn(few)[0] != first[0, 0]).all()


def test_draws_follow_the_distribution():
    many = make_environments(TASK, 40, seed=0, threads=1)
    values = episodes(many, 25)[:, :, 1].astype(float).ravel()
    assert values.min() > 0.1 and values.max() < 5.0
    places = np.sort(values)
    uniform = (places - 0.1) / 4.9
    distance = np.abs(uniform - (np.arange(len(places)) + 0.5) / len(places)).max()
    assert distance < 1.63 / np.sqrt(len(places))  # Kolmogorov and Smirnov, 1 in 100


@pytest.mark.parametrize("task", [TASK, LEGS], ids=["lanes", "contact"])
def test_worlds_step_with_what_their_episode_drew(task):
    many = make_environments(task, 3, seed=1, threads=1, autoreset="same_step")
    many.reset(seed=1)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 3, many.single_action_space.shape[0]))
    for action in actions[:3]:
        many.step(action)  # the third begins other episodes
    worlds = many.worlds
    beside = Worlds(load_model(task["model"], **task["load"]), 3, parameters=many.parameters, threads=1)
    beside.reset(slice(None), worlds.q, worlds.v)
    many.step(actions[3])
    beside.u, beside.desired = worlds.u, worlds.desired
    beside.step(worlds.frames)
    np.testing.assert_array_equal(worlds.q, beside.q)
    np.testing.assert_array_equal(worlds.v, beside.v)
    if task is LEGS:  # and observations see their forces
        forces = worlds.contact_wrenches()
        np.testing.assert_array_equal(forces, beside.sensors().contact_wrenches())
        assert len(set(np.round(forces[:, 0, 5], 6))) == 3


def test_sets_are_few_and_episodes_draw_among_them():
    many = make_environments(TASK | {"parameter_sets": 3}, 6, seed=3, threads=1)
    found = episodes(many, 6)
    assert len({tuple(row) for row in found.reshape(-1, 2)}) == 3
    assert all(len({tuple(row) for row in found[:, k]}) > 1 for k in range(6))
    again = episodes(make_environments(TASK | {"parameter_sets": 3}, 6, seed=3, threads=1), 6)
    assert (found == again).all()


def test_a_copy_has_the_parameters_of_its_episodes_and_draws_the_same_next():
    many = make_environments(TASK, 3, seed=0, threads=1)
    many.reset(seed=4), many.reset()
    other = copy.deepcopy(many)
    for environment in (many, other):
        environment.step(np.ones((3, 1)))
    assert (many.worlds.q == other.worlds.q).all() and (episodes(many, 3) == episodes(other, 3)).all()
    assert other.parameters is not many.parameters


def test_worlds_take_other_parameters_or_stay_as_they_are():
    model = load_model(SAMPLES / "cart_pole.sdf", dt=0.005)
    worlds, beside = Worlds(model, 3, threads=1), Worlds(model, 3, parameters={"body.rod.mass": [1, 2, 3]}, threads=1)
    worlds.set_parameters({"body.rod.mass": [1, 2, 3]})
    for each in (worlds, beside):
        each.q[:, 1] = 1.0
        each.step(50)
    assert (worlds.q == beside.q).all() and len(set(worlds.q[:, 1])) == 3
    with pytest.raises(ArgumentError, match="must be at least 0 kg"):
        worlds.set_parameters({"body.rod.mass": [1, -2, 3]})
    for each in (worlds, beside):
        each.step(50)
    assert (worlds.q == beside.q).all()


def test_a_choice_that_there_is_not_is_one_line(tmp_path):
    path = tmp_path / "bad.task.yaml"
    text = (ROOT / "docs" / "examples" / "balance.task.yaml").read_text()
    path.write_text(text + "parameters_drawn: reset\n")
    with pytest.raises(ModelError, match=r'bad.task.yaml:\d+:19: error: .*"?reset'):
        make_environments(path, 1)
