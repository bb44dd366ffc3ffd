"""The recipes of docs/examples/training: their task files load and step, and a few updates of PPO give a policy."""

import importlib.util
import sys

import numpy as np
import pytest
from repository import ROOT

gymnasium = pytest.importorskip("gymnasium")

from mbcli.environments import make_environments  # noqa: E402
from mbcli.environments.network_file import NetworkFile  # noqa: E402

TRAINING = ROOT / "docs" / "examples" / "training"
GO1 = TRAINING / "go1.task.yaml"
INERTIA = '<inertial pos="0 0 {z}" mass="{m}" diaginertia="{i} {i} {i}"/>'
LEG = """<body name="{0}_hip" pos="{1} {2} 0">{inertia}<joint name="{0}_hip_joint" axis="1 0 0" range="-0.8 0.8"/>
  <body name="{0}_thigh" pos="0 {3} 0">{inertia}<joint name="{0}_thigh_joint" axis="0 1 0" range="-0.6 4.5"/>
    <body name="{0}_calf" pos="0 0 -0.21">{inertia}<joint name="{0}_calf_joint" axis="0 1 0" range="-2.8 -0.9"/>
      <geom type="sphere" size="0.02" pos="0 0 -0.21" mass="0"/></body></body></body>"""
PARTS = ("hip", "thigh", "calf")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A robot with the names of the Go1's parts, in the place of the package that has the Go1."""
    task = GO1.read_text()
    package, path = task.split("model: package://")[1].split("\n")[0].split("/", 1)
    legs = [(name, 0.19 if name[0] == "F" else -0.19, 1 if name[1] == "L" else -1) for name in ("FR", "FL", "RR", "RL")]
    inertia = INERTIA.format(z=-0.05, m=0.5, i=0.002)
    bodies = "".join(LEG.format(name, x, 0.05 * side, 0.08 * side, inertia=inertia) for name, x, side in legs)
    servos = "".join(
        f'<position name="{n}_{part}" joint="{n}_{part}_joint" kp="35" forcerange="-30 30"/>'
        for n, *_ in legs
        for part in PARTS
    )
    file = tmp_path / package / path
    file.parent.mkdir(parents=True)
    (tmp_path / package / "__init__.py").write_text("")
    trunk = f'<body name="trunk" pos="0 0 0.3">{INERTIA.format(z=0, m=5, i=0.05)}<freejoint/>{bodies}</body>'
    file.write_text(
        f'<mujoco><compiler angle="radian"/><default><joint armature="0.01" damping="0.5"/></default><worldbody>'
        f'<geom type="plane" size="0 0 1"/>{trunk}</worldbody><actuator>{servos}</actuator>'
        f'<keyframe><key name="home" qpos="0 0 0.28 1 0 0 0 {"0 0.9 -1.8 " * 4}"/></keyframe></mujoco>'
    )
    monkeypatch.syspath_prepend(tmp_path)


def test_the_task_of_the_go1_rewards_what_it_asks_for(stand_in):
    many = make_environments(GO1, 4, seed=0, threads=1)
    observations, _ = many.reset(seed=0)
    assert observations.shape == (4, 48) and many.action_space.shape == (4, 12)
    asked = observations[:, :3]
    total = np.zeros(4)
    for period in range(10):
        if period % 2:  # the trunk moves as it is asked to in worlds 0 and 1, and the other way in the others
            sign = np.array([1, 1, -1, -1])[:, np.newaxis]
            many.worlds.v[:, 3:5], many.worlds.v[:, 2] = sign * asked[:, :2], (sign * asked)[:, 2]
            many.worlds.forget_motions()
        observations, rewards, terminated, truncated, info = many.step(np.zeros((4, 12)))
        assert not (terminated | truncated).any() and np.isfinite(observations).all() and "failure" not in info
        total += rewards if period % 2 else 0.0
    assert total[:2].min() > total[2:].max() + 1.0


@pytest.mark.parametrize(("task", "width"), [(str(GO1), 48), ("mbcli/Hopper-v0", 11)])
def test_some_updates_give_a_policy_and_its_curve(task, width, stand_in, tmp_path, monkeypatch):
    for package in ("stable_baselines3", "torch", "onnxscript", "matplotlib"):
        pytest.importorskip(package)
    spec = importlib.util.spec_from_file_location("learn_a_task", TRAINING / "learn_a_task.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    recipe = script.RECIPES[task.split("/")[-1]]
    monkeypatch.setitem(recipe, "worlds", 8)
    monkeypatch.setitem(recipe, "batch_size", 64)
    monkeypatch.setattr(sys, "argv", ["learn_a_task.py", task, "-o", str(tmp_path / "out"), "--steps", "1000"])
    script.main()
    actions = NetworkFile(tmp_path / "out" / "policy.onnx")(np.zeros((3, width)))
    assert actions.shape[0] == 3 and np.abs(actions).max() <= 1.0
    assert (tmp_path / "out" / "curve.csv").read_text().startswith("steps,seconds,mean_return")
    assert (tmp_path / "out" / "curve.svg").stat().st_size > 1000
