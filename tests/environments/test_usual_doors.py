"""Environments are copied in the middle of episodes; gymnasium and Stable-Baselines3 take them by their usual doors."""

import copy
import importlib.util
import pickle
import sys
import types

import numpy as np
import pytest
from repository import ROOT, SAMPLES

from mbcli.errors import ArgumentError

gymnasium = pytest.importorskip("gymnasium")

from mbcli.environments import Task, TaskWorlds, VectorEnvironment, make_environment, make_environments  # noqa: E402
from mbcli.models import load_model  # noqa: E402

BALANCE = ROOT / "docs" / "examples" / "balance.task.yaml"
QUADRUPED = {
    "model": SAMPLES / "quadruped.urdf",
    "period": 0.004,
    "time_limit": 0.02,
    "load": {"dt": 0.002, "contact": True, "ground": 0.0, "hold": True},
    "action": {"term": "targets", "of": "all", "scale": 0.3},
    "observation": [{"term": "positions", "of": "all"}, {"term": "velocities", "of": "all"}, {"term": "last_action"}],
    "reward": [{"term": "action_change_squared", "weight": -1}, {"term": "upright", "body": "trunk", "weight": 1}],
    "start": [
        {"term": "state", "values": {"trunk_z": 0.33}},
        {"term": "normal_velocities", "of": "all", "deviation": 0.3},
    ],
    "parameters": {"body.trunk.mass": "*uniform(0.8, 1.2)"},
}
COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda whole: pickle.loads(pickle.dumps(whole))}

pytestmark = pytest.mark.usefixtures("ready_kernels")


class Balance(Task):
    """A task in Python with a number of its own that goes on."""

    calls = 0

    def observe(self, worlds):
        return np.hstack([worlds.q, worlds.v, np.full((len(worlds), 1), self.calls)])

    def reward(self, worlds, action):
        self.calls += 1
        return np.cos(worlds.q[:, 1])

    def start(self, rng, count):
        q, v = super().start(rng, count)
        return q + rng.uniform(-0.1, 0.1, 2), v


def of_a_class():
    model = load_model(SAMPLES / "cart_pole.sdf", dt=0.005)
    return VectorEnvironment(model, 3, Balance, period=0.01, time_limit=0.1, seed=0, threads=1)


MADE = {
    "lanes": lambda: make_environments(BALANCE, 3, seed=0, threads=1, time_limit=0.3),
    "contact": lambda: make_environments(QUADRUPED, 2, seed=0, threads=1),
    "class": of_a_class,
}


def rows(environment, actions):
    found = [row for action in actions for row in environment.step(action)[:4]]
    return [*found, environment.reset()[0]]


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_copy_in_the_middle_of_episodes_goes_on_to_the_same_bits(make, copied):
    environment = make()
    environment.reset(seed=5)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (14, *environment.action_space.shape))
    for action in actions[:7]:
        environment.step(action)
    other = copied(environment)
    assert other.worlds is not environment.worlds and other.parameters == environment.parameters
    first, second = rows(other, actions[7:]), rows(environment, actions[7:])
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


def test_a_copy_of_one_environment_and_of_its_wrappers_goes_on():
    one = gymnasium.wrappers.TimeLimit(make_environment(BALANCE, seed=0, threads=1), 20)
    one.reset(seed=0)
    one.step(np.ones(1))
    other = pickle.loads(pickle.dumps(one))
    for _ in range(3):
        assert (one.step(np.ones(1))[0] == other.step(np.ones(1))[0]).all()


def test_pushes_and_failures_are_copied_and_worlds_with_plugins_are_not():
    worlds = TaskWorlds(load_model(SAMPLES / "cart_pole.sdf", dt=0.005), 2, threads=1)
    worlds.push("cart=5,0,0", [1])
    worlds.v[0] = 1e200
    worlds.step(3)
    other = pickle.loads(pickle.dumps(worlds))
    assert other.failures() == worlds.failures() and list(other.failures()) == [0]
    worlds.step(4), other.step(4)
    assert (other.q[1] == worlds.q[1]).all() and worlds.q[1, 0] != 0.0
    driven = TaskWorlds(load_model(SAMPLES / "worlds" / "diff_drive.sdf"), 2, threads=1)
    assert driven.ticks
    with pytest.raises(ArgumentError, match="have no copies"):
        pickle.dumps(driven)


def test_make_vec_gives_worlds_that_step_together():
    gymnasium.register(
        "mbcli/Doors-v0",
        entry_point="mbcli.environments:make_environment",
        vector_entry_point="mbcli.environments:make_environments",
        max_episode_steps=4,
        kwargs={"task": BALANCE, "threads": 1},
    )
    try:
        many = gymnasium.make_vec("mbcli/Doors-v0", num_envs=5, seed=0)
        assert isinstance(many, VectorEnvironment) and many.num_envs == 5 == len(many.worlds)
        ends = [many.step(np.zeros((5, 1)))[3] for _ in range(4)]
        assert [end.all() for end in ends] == [False, False, False, True]
        one = gymnasium.make("mbcli/Doors-v0", seed=0)
        one.reset()
        assert [one.step(np.zeros(1))[3] for _ in range(4)] == [False, False, False, True]
    finally:
        del gymnasium.registry["mbcli/Doors-v0"]
    for counts in ((), (3,)):
        with pytest.raises(ArgumentError, match="`count`, or `num_envs`"):
            make_environments(BALANCE, *counts, num_envs=3 if counts else None)


class VecEnvBase:
    """What StableBaselinesEnvironments takes from its base class, where Stable-Baselines3 is not installed."""

    def __init__(self, num_envs, observation_space, action_space):
        self.num_envs, self.observation_space, self.action_space = num_envs, observation_space, action_space
        self._seeds = [None] * num_envs
        self.render_mode = self.get_attr("render_mode")[0]

    def seed(self, seed):
        self._seeds = [seed + k for k in range(self.num_envs)]

    def _reset_seeds(self):
        self._seeds = [None] * self.num_envs

    def _reset_options(self):
        pass

    def _get_indices(self, indices):
        return range(self.num_envs) if indices is None else [indices] if isinstance(indices, int) else indices

    def step(self, actions):
        self.step_async(actions)
        return self.step_wait()


@pytest.fixture
def adapter(monkeypatch):
    name = "mbcli.environments.stable_baselines"
    if importlib.util.find_spec("stable_baselines3") is None:
        module = types.ModuleType("stable_baselines3.common.vec_env")
        module.VecEnv = VecEnvBase
        for part in ("stable_baselines3", "stable_baselines3.common", "stable_baselines3.common.vec_env"):
            monkeypatch.setitem(sys.modules, part, module)
    monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module(name).StableBaselinesEnvironments
    sys.modules.pop(name, None)


def test_stable_baselines_gets_last_observations_and_why_an_episode_ended(adapter):
    task = {"terminate": [{"term": "height_below", "body": "trunk", "limit": 0.49}], "time_limit": 0.012}
    low = {"start": [{"term": "state", "values": {"trunk_z": 0.5}}]}
    many, beside = (
        make_environments(QUADRUPED | task | low, 3, autoreset="same_step", seed=0, threads=1) for _ in range(2)
    )
    environments = adapter(many)
    environments.seed(7)
    assert (environments.reset() == beside.reset(seed=7)[0]).all()
    actions = np.zeros((3, 12))
    for environment in (many, beside):  # one world is nearly where its episode ends
        q = environment.worlds.q
        q[1, 6] = 0.4901
        environment.worlds.v[1, 5] = -1.0
        environment.worlds.forget_motions()
    observations, rewards, ended, infos = environments.step(actions)
    expected, _, _, _, told = beside.step(actions)
    assert ended.tolist() == [False, True, False] and (observations == expected).all()
    assert (infos[1]["terminal_observation"] == told["final_obs"][1]).all() and not infos[1]["TimeLimit.truncated"]
    assert infos[0] == {"TimeLimit.truncated": False}
    environments.step(actions)
    _, _, ended, infos = environments.step(actions)
    assert (
        ended.tolist() == [True, False, True] and infos[0]["TimeLimit.truncated"] and "terminal_observation" in infos[2]
    )
    assert environments.get_attr("num_envs") == [3, 3, 3] and environments.env_is_wrapped(object, 0) == [False]
    assert environments.env_method("render") == [None] * 3
    with pytest.raises(ArgumentError, match="all of them"):
        environments.set_attr("render_mode", None, [0])
    with pytest.raises(ArgumentError, match='autoreset="same_step"'):
        adapter(make_environments(BALANCE, 2, threads=1))
