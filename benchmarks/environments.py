"""Environments to learn in beside gymnasium's: `python -m benchmarks.environments [SCENE...] [--quick]`.

256 environments of one MJCF file on two cores, under a random policy: mbcli's VectorEnvironment, and gymnasium's
SyncVectorEnv and AsyncVectorEnv of its MujocoEnv, with the extra `mujoco` of gymnasium. All observe q and v, get the
same reward (squares of the action and of a velocity's distance from 1), have the same time limit and the same steps in
a period. The programs take turns; a figure is steps of environments a second by the clock, the median over rounds, a
ratio the median of the ratios within a round. SyncVectorEnv is one process, AsyncVectorEnv one for each environment;
beside SyncVectorEnv there is the ratio of processor times too, in which other programs on the machine do not count.
"""

import statistics
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.scenes import ROOT
from mbcli.environments import VectorEnvironment
from mbcli.models import load_model

COUNT, THREADS, STEPS, ROUNDS = 256, 2, 20, 7
GOAL = 3.0
LIMIT = 200  # periods of an episode
CART_POLE = """<mujoco model="cart_pole"><compiler angle="radian"/><option timestep="0.005"/><worldbody>
<body name="cart"><joint name="slider" type="slide" axis="1 0 0" damping="0.5"/>
<inertial pos="0 0 0" mass="2.4" diaginertia="0.01 0.02 0.026"/>
<body name="rod"><joint name="hinge" axis="0 -1 0" damping="0.002"/>
<inertial pos="0 0 -0.5" mass="0.3" diaginertia="0.0250075 0.0250075 0.000015"/></body></body></worldbody>
<actuator><motor joint="slider" ctrllimited="true" ctrlrange="-20 20"/></actuator></mujoco>"""


@dataclass(frozen=True)
class Scene:
    """An MJCF file, its steps in a period, and the places in v of the rewarded velocity, for mbcli and MuJoCo."""

    name: str
    path: Path | None
    frames: int
    rewarded: tuple[int, int]
    contact: bool
    pose: str | None = None


def gymnasium_asset(name):
    """The path of an MJCF file that gymnasium has."""
    import gymnasium

    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / name


def scenes():
    return (
        Scene("cart-pole", None, 4, (0, 0), False),
        Scene("half-cheetah", gymnasium_asset("half_cheetah.xml"), 5, (0, 0), True),
        Scene("walker", ROOT / "docs" / "examples" / "walker.xml", 10, (3, 0), True, "stand"),
    )


def own_environment(scene, path):
    """VectorEnvironment of a scene."""
    import mujoco

    model = load_model(path, contact=scene.contact, dt=mujoco.MjModel.from_xml_path(str(path)).opt.timestep)
    names = model.plant.GetVelocityNames()
    velocity = names[scene.rewarded[0]]
    task = {
        "period": scene.frames * model.plant.time_step(),
        "time_limit": LIMIT * scene.frames * model.plant.time_step(),
        "action": {"term": "efforts", "of": "all"},
        "observation": [{"term": "positions", "of": "all"}, {"term": "velocities", "of": "all"}],
        "reward": [
            {"term": "error_squared", "of": velocity, "target": 1.0, "weight": -1.0},
            {"term": "action_squared", "weight": -0.1},
        ],
        "start": [{"term": "uniform_velocities", "of": "all", "within": 0.05}],
    }
    if scene.pose:
        task["pose"] = scene.pose
    return VectorEnvironment(model, COUNT, task, threads=THREADS, seed=0)


def their_class():
    from gymnasium.envs.mujoco import MujocoEnv
    from gymnasium.spaces import Box

    class FileEnv(MujocoEnv):
        """An MJCF file with the task of own_environment()."""

        metadata = {"render_modes": ["human", "rgb_array", "depth_array", "rgbd_tuple"]}

        def __init__(self, path, scene):
            super().__init__(str(path), scene.frames, observation_space=None)
            size = self.model.nq + self.model.nv
            self.observation_space = Box(-np.inf, np.inf, (size,), np.float64)
            self.action_space = Box(-1.0, 1.0, (self.model.nu,), np.float32)
            self._limits = self.model.actuator_ctrlrange[:, 1].copy()
            self._rewarded, self._taken = scene.rewarded[1], 0
            if scene.pose:
                self.init_qpos = self.model.key(scene.pose).qpos.copy()

        def _observed(self):
            return np.concatenate([self.data.qpos, self.data.qvel])

        def step(self, action):
            self.do_simulation(self._limits * action, self.frame_skip)
            self._taken += 1
            reward = -((self.data.qvel[self._rewarded] - 1.0) ** 2) - 0.1 * np.square(action).sum()
            return self._observed(), reward, False, self._taken >= LIMIT, {}

        def reset_model(self):
            self._taken = 0
            self.set_state(self.init_qpos, self.np_random.uniform(-0.05, 0.05, self.model.nv))
            return self._observed()

    return FileEnv


def theirs(scene, path, kind):
    """SyncVectorEnv or AsyncVectorEnv of a scene."""
    from gymnasium import vector

    file_env = their_class()
    functions = [lambda: file_env(path, scene)] * COUNT
    return vector.SyncVectorEnv(functions) if kind == "sync" else vector.AsyncVectorEnv(functions, context="fork")


def seconds(environment, actions):
    """By the clock and of this process and its threads, of some steps."""
    started = time.perf_counter(), time.process_time()
    for action in actions:
        environment.step(action)
    return time.perf_counter() - started[0], time.process_time() - started[1]


def main(words):
    try:
        import mujoco

        their_class()
    except ImportError as error:
        sys.exit(f"benchmarks.environments needs gymnasium[mujoco]: {error}")
    warnings.simplefilter("ignore")
    quick = "--quick" in words
    wanted = [word for word in words if not word.startswith("-")]
    steps, rounds = (3, 2) if quick else (STEPS, ROUNDS)
    print(f"{COUNT} environments, {THREADS} threads, MuJoCo {mujoco.__version__}; steps of environments a second")
    with tempfile.TemporaryDirectory() as folder:
        for scene in scenes():
            if wanted and scene.name not in wanted:
                continue
            path = Path(folder, f"{scene.name}.xml")
            text = CART_POLE if scene.path is None else scene.path.read_text()
            path.write_text(text.replace(' settotalmass="14"', ""))  # deprecated, MuJoCo warns for each environment
            report(scene, path, steps, rounds)


def report(scene, path, steps, rounds):
    kinds = {kind: theirs(scene, path, kind) for kind in ("async", "sync")}  # processes are made before threads are
    environments = {"mbcli": own_environment(scene, path), **kinds}
    own = environments["mbcli"]
    rng, times = np.random.default_rng(0), {name: [] for name in environments}
    draw = own.action_space.shape
    for environment in environments.values():
        environment.reset(seed=0)
        seconds(environment, rng.uniform(-1.0, 1.0, (3, *draw)).astype(np.float32))
    for _ in range(rounds):
        actions = rng.uniform(-1.0, 1.0, (steps, *draw)).astype(np.float32)
        for name, environment in environments.items():
            times[name].append(seconds(environment, actions))
    figures = ", ".join(
        f"{name} {steps * COUNT / statistics.median(t for t, _ in found):,.0f}" for name, found in times.items()
    )
    ratios = ", ".join(f"{name} {ratio(times['mbcli'], times[name], 0):.1f}" for name in kinds)
    ratios += f" ({ratio(times['mbcli'], times['sync'], 1):.1f} of the processor)"
    print(f"{scene.name:13} {scene.frames} steps of {own.worlds.plant.time_step():g} s: {figures}; ratio to {ratios}")
    print(f"{'':13} goal {GOAL:g}; worlds of mbcli that stopped: {len(own.worlds.failures())}", flush=True)
    for environment in environments.values():
        environment.close()


def ratio(own, others, which):
    """The median over rounds of their time divided by ours, of the clock (0) or the processor (1)."""
    return statistics.median(theirs[which] / ours[which] for ours, theirs in zip(own, others, strict=True))


if __name__ == "__main__":
    main(sys.argv[1:])
