"""Steps of environments a second for any number of worlds: `python -m benchmarks.throughput [ROBOT...] [--go1 FILE]`.

Robots of gymnasium under a random policy: mbcli's vector of them (`gymnasium.make_vec("mbcli/Hopper-v0")`), gymnasium's
SyncVectorEnv, and bare steps of the same file without observations, rewards and episodes, as `mujoco.rollout` and,
where it is installed, `mjbatch` take them for a period at a call. `--go1` names a scene of a legged robot with position
servos and a keyframe "home", as MuJoCo Playground has it (`go1/xmls/scene_mjx_feetonly_flat_terrain.xml`); its meshes,
which nothing touches, are left out, and the solver's iterations are MuJoCo's own. `--worlds 1,16` are other numbers of
worlds. The programs take turns on two threads; ratios are medians over rounds, by the clock and, in brackets, of the
processor, in which other programs on the machine count little.
"""

import argparse
import importlib.util
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks.environments import gymnasium_asset, ratio

WORLDS, THREADS, ROUNDS, SECONDS = (1, 16, 256, 1024), 2, 7, 0.3
ROBOTS = ("Hopper", "Ant", "Humanoid")
GO1 = "Go1"


def without_meshes(path):
    """The text of an MJCF scene with what it includes, without meshes, what shows them, and numbers of iterations."""

    def expanded(file):
        root = etree.parse(str(file)).getroot()
        for node in list(root.iter("include")):
            parent, place = node.getparent(), node.getparent().index(node)
            parent.remove(node)
            parent[place:place] = list(expanded(file.parent / node.get("file")))
        return root

    root = expanded(Path(path))
    shown = root.xpath("//geom[@mesh] | //geom[@class='visual'] | //asset | //visual | //default[@class='visual']")
    for node in shown:
        node.getparent().remove(node)
    for node in root.iter("option"):
        for name in ("iterations", "ls_iterations"):
            node.attrib.pop(name, None)
    for node in root.iter("geom"):
        node.attrib.pop("material", None)
    return etree.tostring(root, encoding="unicode")


class Own:
    """mbcli's vector of environments."""

    def __init__(self, robot, path, frames, count):
        from mbcli.environments import VectorEnvironment

        if robot == GO1:
            task = {
                "period": frames * 0.004,
                "time_limit": 1000 * frames * 0.004,
                "pose": "home",
                "action": {"term": "targets", "of": "all", "scale": 0.5},
                "observation": [{"term": "positions", "of": "all"}, {"term": "velocities", "of": "all"}],
                "reward": [{"term": "forward_velocity", "body": "trunk", "axis": "x", "weight": 1.0}],
                "terminate": [{"term": "tilt_above", "body": "trunk", "limit": 1.0}],
            }
            self.env = VectorEnvironment(path, count, task, threads=THREADS, seed=0)
        else:
            import gymnasium  # in which mbcli.environments has put the robots

            self.env = gymnasium.make_vec(f"mbcli/{robot}-v0", num_envs=count)
        self.env.reset(seed=0)

    def step(self, actions):
        """One period; actions (n, m) from -1 to 1."""
        self.env.step(actions * self.env.single_action_space.high)


class Gymnasium:
    """gymnasium's SyncVectorEnv."""

    def __init__(self, robot, count):
        import gymnasium

        self.env = gymnasium.make_vec(f"{robot}-v5", num_envs=count, vectorization_mode="sync")
        self.env.reset(seed=0)

    def step(self, actions):
        self.env.step((actions * self.env.single_action_space.high).astype(np.float32))


class Rollout:
    """mujoco.rollout: the steps of a period."""

    def __init__(self, model, frames, count, starts, controls):
        import mujoco
        from mujoco import rollout

        self._model, self._controls, self._frames = model, controls, frames
        self._data = [mujoco.MjData(model) for _ in range(THREADS)]
        self._pool = rollout.Rollout(nthread=THREADS)
        self._states, self._starts = starts.copy(), starts

    def step(self, actions):
        controls = np.repeat(self._controls(actions)[:, None], self._frames, axis=1)
        states, _ = self._pool.rollout(self._model, self._data, self._states, control=controls, nstep=self._frames)
        self._states = states[:, -1]

    def restart(self):
        self._states = self._starts.copy()


class Batch:
    """mjbatch: the steps of a period."""

    def __init__(self, model, frames, count, starts, controls):
        from mjbatch import Batch as Many

        self._batch, self._controls, self._frames = Many(model, count, num_threads=THREADS), controls, frames
        self._ctrl, self._qpos, self._qvel = (self._batch.bind(name) for name in ("ctrl", "qpos", "qvel"))
        self._starts, self._sizes = starts, (model.nq, model.nv)
        self.restart()

    def step(self, actions):
        self._ctrl[:] = self._controls(actions)
        self._batch.step(nstep=self._frames)

    def restart(self):
        nq, nv = self._sizes
        self._qpos[:], self._qvel[:] = self._starts[:, 1 : 1 + nq], self._starts[:, 1 + nq : 1 + nq + nv]


def contestants(robot, path, frames, count):
    """{program: what steps}, made before anything is timed."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    home = model.key("home").ctrl.copy() if robot == GO1 else None
    if robot == GO1:
        mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts = np.tile(state, (count, 1))
    starts[:, 1 + model.nq :] += 0.01 * np.random.default_rng(0).normal(size=starts[:, 1 + model.nq :].shape)

    def controls(actions):
        return actions * model.actuator_ctrlrange[:, 1] if home is None else home + 0.5 * actions

    found = {"mbcli": Own(robot, path, frames, count)}
    if robot != GO1:
        found["gymnasium"] = Gymnasium(robot, count)
    found["mujoco.rollout"] = Rollout(model, frames, count, starts, controls)
    if importlib.util.find_spec("mjbatch") is not None:
        found["mjbatch"] = Batch(model, frames, count, starts, controls)
    return found, model.nu


def report(robot, path, frames, count, rounds):
    found, size = contestants(robot, path, frames, count)
    rng = np.random.default_rng(1)

    def actions():
        return rng.uniform(-1.0, 1.0, (count, size))

    steps = {}
    for name, program in found.items():
        for _ in range(3):
            program.step(actions())
        started = time.perf_counter()
        program.step(actions())
        steps[name] = max(3, min(200, int(SECONDS / (time.perf_counter() - started))))
    times = {name: [] for name in found}
    for _ in range(rounds):
        for name, program in found.items():
            if hasattr(program, "restart"):  # no episodes end there: robots that lie would be other work
                program.restart()
            drawn = [actions() for _ in range(steps[name])]
            clock, processor = time.perf_counter(), time.process_time()
            for action in drawn:
                program.step(action)
            spent = time.perf_counter() - clock, time.process_time() - processor
            times[name].append([each / steps[name] for each in spent])
    rates = ", ".join(f"{name} {count / statistics.median(t for t, _ in each):,.0f}" for name, each in times.items())
    said = ", ".join(
        f"{name} {ratio(times['mbcli'], each, 0):.2f} ({ratio(times['mbcli'], each, 1):.2f})"
        for name, each in times.items()
        if name != "mbcli"
    )
    print(f"{robot:9} {count:5} worlds, {frames} steps a period: {rates}; ratio to {said}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput", description=__doc__)
    parser.add_argument("robots", nargs="*")
    parser.add_argument("--go1", type=Path)
    parser.add_argument("--worlds", default=",".join(map(str, WORLDS)))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    try:
        import mujoco

        gymnasium_asset("")  # imports gymnasium
    except ImportError as error:
        sys.exit(f"benchmarks.throughput needs gymnasium[mujoco]: {error}")
    warnings.simplefilter("ignore")
    print(f"{THREADS} threads, MuJoCo {mujoco.__version__}; steps of environments a second by the clock")
    with tempfile.TemporaryDirectory() as folder:
        for robot in options.robots or [*ROBOTS, *([GO1] if options.go1 else [])]:
            path = gymnasium_asset(f"{robot.lower()}.xml")
            if robot == GO1:
                path = Path(folder, "go1.xml")
                path.write_text(without_meshes(options.go1))
            frames = 4 if robot == "Hopper" else 5
            for count in map(int, options.worlds.split(",")):
                report(robot, path, frames, count, options.rounds)


if __name__ == "__main__":
    main()
