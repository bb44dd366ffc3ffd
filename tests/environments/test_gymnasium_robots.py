"""Robots of gymnasium under names of our own: what they observe, are rewarded for and end by, beside gymnasium's."""

import subprocess
import sys
import types

import numpy as np
import pytest
from repository import ROOT

from mbcli.errors import ArgumentError, ModelError, ResourceError

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from mbcli.environments import VectorEnvironment, gymnasium_robots  # noqa: E402
from mbcli.environments.gymnasium_robots import ROBOTS, make_robots, robot_model  # noqa: E402
from mbcli.environments.registration import ROBOTS as REGISTERED  # noqa: E402

ROUNDING = 1e-9
WITH_CONTACT_FORCES = {"Ant": 78, "Humanoid": 78, "HumanoidStandup": 78}  # the last columns of their observations


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def test_every_robot_is_registered():
    assert set(REGISTERED) == {*ROBOTS, "Swimmer"}
    assert {f"mbcli/{name}-v0" for name in REGISTERED} <= gymnasium.registry.keys()
    with pytest.raises(ModelError, match="no forces of a fluid"):
        gymnasium.make("mbcli/Swimmer-v0")


def test_a_name_with_its_module_needs_no_other_import():
    program = "import gymnasium; print(gymnasium.make('mbcli.environments:mbcli/Reacher-v0').reset(seed=0)[0].shape)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "(10,)\n"


@pytest.mark.filterwarnings("ignore:.*WARN.*")
@pytest.mark.filterwarnings("error::mbcli.simulation.run_warnings.SimulationWarning")
@pytest.mark.parametrize("robot", ["InvertedPendulum", "Hopper", "Ant", "Humanoid"])
def test_gymnasiums_checker_passes(robot):
    check_env(gymnasium.make(f"mbcli/{robot}-v0", seed=0, threads=1).unwrapped, skip_render_check=True)


def test_many_hoppers_step_together_and_take_settings_of_gymnasium():
    many = gymnasium.make_vec("mbcli/Hopper-v0", num_envs=3, seed=0, ctrl_cost_weight=2.0, reset_noise_scale=0.0)
    assert isinstance(many, VectorEnvironment) and many.period == pytest.approx(0.008)
    many.reset(seed=0)
    before = many.worlds.q[:, 0].copy()
    _, reward, terminated, *_ = many.step(np.full((3, 3), 0.5))
    np.testing.assert_allclose(reward, 1.0 + (many.worlds.q[:, 0] - before) / 0.008 - 2.0 * 0.75, rtol=1e-12)
    assert not terminated.any()
    with pytest.raises(ArgumentError, match='Hopper has no setting "ctrl_cost_wieght".*did you mean'):
        gymnasium_robots.Hopper(ctrl_cost_wieght=1.0)
    with pytest.raises(ArgumentError, match='no robot "Hoper": did you mean "Hopper"'):
        make_robots("Hoper")


def test_targets_and_objects_start_where_gymnasium_draws_them():
    targets = make_robots("Reacher", 500, seed=0, threads=1).worlds.q[:, 2:]
    distance = np.linalg.norm(targets, axis=1)
    assert distance.max() < 0.2 and abs(np.mean(distance**2) - 0.02) < 0.002  # evenly over the disk
    places = make_robots("Pusher", 500, seed=0, threads=1).worlds.q[:, 7:9]
    assert np.linalg.norm(places, axis=1).min() > 0.17 and (np.abs(places + [0.15, 0.0]) <= [0.15, 0.2]).all()


def test_without_files_of_gymnasium_one_line_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(gymnasium_robots, "find_spec", lambda name: None)
    with pytest.raises(ResourceError, match=r"the robot Ant needs the package gymnasium.*pip install 'mbcli\[gymn"):
        robot_model("Ant")
    spec = types.SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(gymnasium_robots, "find_spec", lambda name: spec)
    with pytest.raises(ResourceError, match="the installed gymnasium has no file ant.xml"):
        robot_model("Ant")


class Pair:
    """A robot of gymnasium and ours, which are put into the same states."""

    def __init__(self, robot):
        import mujoco

        self._mujoco = mujoco
        self.theirs = gymnasium.make(f"{robot}-v5").unwrapped
        still = {} if robot in ("Pusher", "Reacher") else {"reset_noise_scale": 0.0}
        self.many = make_robots(robot, 1, seed=0, threads=1, **still)
        self.task, self.worlds = self.many.task, self.many.worlds
        self.theirs.reset(seed=0)

    def draw(self, rng):
        """qpos and qvel as MuJoCo has them; a base above the ground."""
        model = self.theirs.model
        q = self.theirs.init_qpos + rng.uniform(-0.15, 0.15, model.nq)
        if model.nq > model.nv:
            q[3:7] /= np.linalg.norm(q[3:7])
            q[2] += 1.0
        return q, rng.normal(0.0, 1.0, model.nv)

    def put(self, q, v, action):
        """Both there."""
        self.theirs.data.ctrl[:] = action
        self.theirs.set_state(q, v)
        self._mujoco.mj_rnePostConstraint(self.theirs.model, self.theirs.data)
        if len(q) > len(v):
            R_WB = np.zeros(9)
            self._mujoco.mju_quat2Mat(R_WB, q[3:7])
            self.worlds.q = np.r_[q[3:7], q[:3], q[7:]]
            self.worlds.v = np.r_[R_WB.reshape(3, 3) @ v[3:6], v[:3], v[6:]]
        else:
            self.worlds.q, self.worlds.v = q, v
        self.worlds.forget_motions()

    def step(self, after, action):
        """Observation, reward and end of both for a step that leads from where they are to the state `after`."""
        self.task.act(self.worlds, action[None])
        self.theirs.do_simulation = lambda given, frames: self.put(*after, given)
        observation, reward, terminated, *_ = self.theirs.step(action)
        given = [self.task.observe(self.worlds)[0], self.task.reward(self.worlds, action[None])[0]]
        return (observation, reward, terminated), (*given, self.task.terminated(self.worlds)[0])


@pytest.fixture
def without_pictures(monkeypatch):
    """gymnasium's environments import imageio, for pictures that nobody asks for here."""
    if "imageio" not in sys.modules:
        monkeypatch.setitem(sys.modules, "imageio", types.ModuleType("imageio"))


@pytest.mark.peers("mujoco")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("robot", ROBOTS)
def test_observations_rewards_and_ends_at_the_same_states_are_those_of_gymnasium(robot, without_pictures):
    pair, rng = Pair(robot), np.random.default_rng(0)
    spaces = pair.many.single_action_space, pair.many.single_observation_space
    assert spaces == (pair.theirs.action_space, pair.theirs.observation_space)
    seen = spaces[1].shape[0] - WITH_CONTACT_FORCES.get(robot, 0)
    for _ in range(12):
        pair.put(*pair.draw(rng), 0.0)
        action = rng.uniform(-1.0, 1.0, spaces[0].shape) * spaces[0].high.astype(float)
        (observation, reward, terminated), (own, own_reward, ended) = pair.step(pair.draw(rng), action)
        np.testing.assert_allclose(own[:seen], observation[:seen], rtol=ROUNDING, atol=ROUNDING)
        if robot in WITH_CONTACT_FORCES:  # they follow the law of contact, which is another; here solids may touch
            assert (np.abs(own[seen:]).max() == 0.0) or (np.abs(observation[seen:]).max() > 0.0)
        if robot not in WITH_CONTACT_FORCES or not np.abs(np.r_[own[seen:], observation[seen:]]).any():
            assert own_reward == pytest.approx(reward, rel=ROUNDING, abs=ROUNDING)
        assert ended == terminated


@pytest.mark.peers("mujoco")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if robot not in ("Pusher", "Reacher")])
def test_robots_start_where_those_of_gymnasium_do(robot, without_pictures):
    pair = Pair(robot)
    low, high = pair.worlds.plant.GetPositionLowerLimits(), pair.worlds.plant.GetPositionUpperLimits()
    rest = pair.theirs.init_qpos
    if robot in WITH_CONTACT_FORCES:
        rest = np.r_[rest[3:7], rest[:3], rest[7:]]
    np.testing.assert_allclose(pair.worlds.q[0], np.clip(rest, low, high), atol=1e-12)
    assert not pair.worlds.v.any()
    wider = make_robots(robot, 200, seed=0, threads=1)
    noise = gymnasium.make(f"{robot}-v5").unwrapped._reset_noise_scale
    spread = wider.worlds.v.std()
    uniform = noise / np.sqrt(3.0)
    assert spread == pytest.approx(noise if ROBOTS[robot].NOISE == "normal" else uniform, rel=0.1)
