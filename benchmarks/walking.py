"""How a policy of the Go1 follows commanded velocities: `python -m benchmarks.walking go1/policy.onnx [--worlds 32]`.

Episodes of docs/examples/training/go1.task.yaml without kicks and drawn parameters, in mbcli, then in MuJoCo with the
same starts, commands and noise; MuJoCo takes the time step and the contact law of the file. Each command lasts 5 s. The
velocity of the trunk along its x and y, and its turn about z, are means over all but the first second. A foot is in
the air where nothing touches it.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import yaml

from benchmarks.throughput import without_meshes
from mbcli.common.resources import python_package
from mbcli.environments import make_environments
from mbcli.environments.network_file import NetworkFile

TASK = Path(__file__).parents[1] / "docs" / "examples" / "training" / "go1.task.yaml"
LEGS = ("FR", "FL", "RR", "RL")
DROPPED, LEFT_OUT = ("event", "parameters", "parameter_sets"), 1.0  # keys of the task; [s] of each command


class Own:
    """mbcli."""

    def __init__(self, many):
        self.many = many
        self.calves = [int(many.worlds.plant.GetBodyByName(f"{leg}_calf").index()) for leg in LEGS]

    def step(self, action):
        """Observations and whether episodes ended."""
        observations, _, terminated, *_ = self.many.step(action)
        return observations, terminated

    def touching(self):
        return self.many.worlds.contact_wrenches()[:, self.calves].any(axis=2)


class MuJoCo:
    """MuJoCo, whose states a VectorEnvironment sees as its own."""

    def __init__(self, many, scene):
        import mujoco

        self.many, self._step = many, mujoco.mj_step
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
            file.write(without_meshes(scene))
            file.flush()
            self.model = mujoco.MjModel.from_xml_path(file.name)
        self.frames = round(many.period / self.model.opt.timestep)
        self.datas = [mujoco.MjData(self.model) for _ in range(many.num_envs)]
        self.feet = [self.model.geom(leg).id for leg in LEGS]
        for data, q, v, R_WB in zip(self.datas, many.worlds.q, many.worlds.v, self._rotations(), strict=True):
            data.qpos[:] = np.hstack([q[4:7], q[:4], q[7:]])
            data.qvel[:] = np.hstack([v[3:6], R_WB.T @ v[:3], v[6:]])

    def _rotations(self):
        return self.many.worlds.rotation(self.many.worlds.track("trunk"))

    def step(self, action):
        """Observations and whether episodes ended."""
        worlds, task = self.many.worlds, self.many.task
        worlds.previous_action[:], worlds.action[:] = worlds.action, np.clip(action, -1.0, 1.0)
        task.act(worlds, worlds.action)
        for data, desired in zip(self.datas, worlds.desired[..., 0], strict=True):
            data.ctrl[:] = desired
            for _ in range(self.frames):
                self._step(self.model, data)
        qpos, qvel = (np.array([getattr(data, name) for data in self.datas]) for name in ("qpos", "qvel"))
        q = np.hstack([qpos[:, 3:7], qpos[:, :3], qpos[:, 7:]])
        worlds.go_to(worlds.steps + worlds.frames, q, np.zeros_like(worlds.v))
        turning = np.einsum("nij,nj->ni", self._rotations(), qvel[:, 3:6])
        worlds.go_to(worlds.steps, q, np.hstack([turning, qvel[:, :3], qvel[:, 6:]]))
        return task.observe(worlds), task.terminated(worlds)

    def touching(self):
        return np.array([[foot in data.contact.geom for foot in self.feet] for data in self.datas])


def report(program, engine, policy, observations):
    """Runs all episodes and prints what came out."""
    many = engine.many
    worlds, trunk, command = many.worlds, many.worlds.track("trunk"), many.worlds.commands["walk"]
    periods = int(many.periods_to_limit)
    moved, asked = (np.zeros((periods, many.num_envs, 3)) for _ in range(2))
    aloft, fell = np.zeros((periods, many.num_envs, len(LEGS)), dtype=bool), np.zeros(many.num_envs, dtype=bool)
    for k in range(periods):
        asked[k] = command(worlds)
        observations, ended = engine.step(policy(observations))
        fell |= ended
        R_WB, V_WB = worlds.rotation(trunk), worlds.velocity(trunk)
        moved[k, :, :2] = np.einsum("nij,ni->nj", R_WB, V_WB[:, 3:])[:, :2]
        moved[k, :, 2] = np.einsum("ni,ni->n", R_WB[:, :, 2], V_WB[:, :3])
        aloft[k] = ~engine.touching()
    if fell.all():
        return
    each = round(5.0 / many.period)
    asked, moved = (
        rows.reshape(-1, each, *rows.shape[1:])[:, round(LEFT_OUT / many.period) :] for rows in (asked, moved)
    )
    asked, moved = (rows.mean(axis=1)[:, ~fell].reshape(-1, 3) for rows in (asked, moved))
    errors = moved - asked
    print(f"{program}: {fell.sum()} of {len(fell)} episodes of {periods * many.period:g} s ended by a fall")
    print(f"  {len(errors)} commands; errors of x, y [m/s] and turn [rad/s]:")
    print(
        "  mean of absolute values",
        np.abs(errors).mean(axis=0).round(3),
        "largest",
        np.abs(errors).max(axis=0).round(3),
    )
    slopes = [np.polyfit(one, other, 1)[0] for one, other in zip(asked.T, moved.T, strict=True)]
    print("  slope of what was done over what was asked", np.round(slopes, 2))
    steps = (aloft[1:] & ~aloft[:-1])[:, ~fell].sum() / (~fell).sum() / len(LEGS) / (periods * many.period)
    part = aloft[:, ~fell].mean()
    print(f"  a foot is in the air for {part:.2f} of the time, in {steps:.1f} steps a second of {part / steps:.2f} s")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walking", description=__doc__)
    parser.add_argument("policy")
    parser.add_argument("--worlds", type=int, default=32)
    options = parser.parse_args()
    task = {key: value for key, value in yaml.safe_load(TASK.read_text()).items() if key not in DROPPED}
    package, path = task["model"].removeprefix("package://").split("/", 1)
    scene = Path(python_package(package)[0], path)
    policy = NetworkFile(options.policy)
    for program in ("mbcli", "MuJoCo"):
        many = make_environments(task, options.worlds, seed=7, autoreset="same_step")
        many.worlds.learns = False
        observations, _ = many.reset(seed=7)
        report(program, Own(many) if program == "mbcli" else MuJoCo(many, scene), policy, observations)


if __name__ == "__main__":
    main()
