"""Many worlds at once beside MuJoCo: `python -m benchmarks.rollouts [SCENE...] [--quick]`.

Worlds of one model start from states of their own and step together, without actuation: mbcli's `Worlds`, MuJoCo's
`mujoco.rollout` and, where that is installed, `mjbatch`. All states after all steps come back, or, "one at a time", the
worlds take single steps, as under a policy in Python. The programs take turns, with the same number of threads; times
are medians over rounds, divided by worlds and steps, of the processor (of all threads together) and by the clock.

Models are the same URDF with the limits of its joints and its damping; contact is set as in contact.py. The quadruped
stands: controllers hold its joints, in MuJoCo springs and damping of the same numbers.
"""

import importlib.util
import statistics
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks import contact
from benchmarks.peers import urdf_without_geometry
from benchmarks.scenes import MODELS, TIME_STEP
from mbcli.models import load_model
from mbcli.models.loading import as_loaded
from mbcli.simulation import Worlds

WORLDS, STEPS, ROUNDS = 256, 50, 11
FINGERS, PHALANGES = 4, 4
GOALS = {True: 1.3, False: 2.0}  # with and without contact


@dataclass(frozen=True)
class Scene:
    """One robot: how its model is made in both programs, and whether it touches."""

    name: str
    make: object
    touches: bool


def arm_with_a_hand(path):
    """URDF text without geometry: the sample arm, and on its last link fingers of hinges that bend."""
    root = etree.fromstring(urdf_without_geometry(path))
    parents = {joint.find("parent").get("link") for joint in root.findall("joint")}
    palm = next(link.get("name") for link in root.findall("link") if link.get("name") not in parents)
    for finger in range(FINGERS):
        outer = palm
        for k in range(PHALANGES):
            name, place = f"finger_{finger}_{k}", f"{0.03 * (finger - 1.5) if k == 0 else 0.0} 0 0.04"
            axis = "0 0 1" if k == 0 else "0 1 0"
            root.append(
                etree.fromstring(
                    f'<link name="{name}"><inertial><origin xyz="0 0 0.02"/><mass value="0.03"/>'
                    '<inertia ixx="6e-6" iyy="6e-6" izz="2e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>'
                )
            )
            root.append(
                etree.fromstring(
                    f'<joint name="{name}" type="revolute"><parent link="{outer}"/><child link="{name}"/>'
                    f'<origin xyz="{place}"/><axis xyz="{axis}"/><dynamics damping="0.002"/>'
                    '<limit lower="-0.6" upper="1.6" effort="1" velocity="9"/></joint>'
                )
            )
            outer = name
    return etree.tostring(root).decode()


class Contest:
    """The programs at the same states of one scene.

    Args:
        own: model for Worlds.
        model: MjModel.
        names: {joint: place of its position}
        q: (nq,) of mbcli from which the worlds are scattered.
    """

    def __init__(self, own, model, q, threads, worlds, steps):
        import mujoco
        from mujoco import rollout

        self.worlds = Worlds(own, worlds, threads=threads)
        plant = self.worlds.plant
        joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
        self._joints = [joint for joint in joints if joint.num_positions() == 1]
        rng = np.random.default_rng(0)
        self.worlds.q = q
        for joint in self._joints:
            self.worlds.q[:, joint.position_start()] += 0.02 * rng.normal(size=worlds)
            self.worlds.v[:, joint.velocity_start()] += 0.05 * rng.normal(size=worlds)
        self._q, self._v = self.worlds.q.copy(), self.worlds.v.copy()
        data = mujoco.MjData(model)
        states = []
        for k in range(worlds):
            self._place(mujoco, model, data, k)
            state = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
            mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            states.append(state)
        states = np.array(states)
        many = [mujoco.MjData(model) for _ in range(threads)]
        pool = rollout.Rollout(nthread=threads)

        def own_rollout():
            self._restart()
            return self.worlds.rollout(steps)

        def own_steps():
            self._restart()
            for _ in range(steps):
                self.worlds.step()
            return self.worlds.q

        self.together = {"mbcli": own_rollout, "MuJoCo": lambda: pool.rollout(model, many, states, nstep=steps)[0]}
        self.one_at_a_time = {"mbcli": own_steps}
        if importlib.util.find_spec("mjbatch") is not None:
            from mjbatch import Batch

            batch = Batch(model, worlds, num_threads=threads)
            integration = batch.bind("state")
            history, start = np.empty((worlds, steps, batch.nstate)), integration.copy()
            qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
            for k in range(worlds):
                self._place(mujoco, model, data, k)
                qpos[k], qvel[k] = data.qpos, data.qvel
            start = integration.copy()

            def batch_rollout():
                integration[:] = start
                batch.step(nstep=steps, history=history)
                return history

            def batch_steps():
                integration[:] = start
                for _ in range(steps):
                    batch.step()
                return qpos

            self.together["mjbatch"], self.one_at_a_time["mjbatch"] = batch_rollout, batch_steps

    def _restart(self):
        self.worlds.reset(q=self._q, v=self._v)

    def _place(self, mujoco, model, data, k):
        """Puts the state of world k into data."""
        mujoco.mj_resetData(model, data)
        q, v = self._q[k], self._v[k]
        if model.njnt and model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[:3], data.qpos[3:7] = q[4:7], q[:4]
        for joint in self._joints:
            theirs = model.joint(joint.name())
            data.qpos[theirs.qposadr[0]] = q[joint.position_start()]
            data.qvel[theirs.dofadr[0]] = v[joint.velocity_start()]


def arm(threads, worlds, steps):
    import mujoco

    text = arm_with_a_hand(MODELS["arm7"].path)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "arm.urdf")
        path.write_text(text)
        own = load_model(path, dt=TIME_STEP)
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = TIME_STEP
    q = np.zeros(own.plant.num_positions())
    q[1:7] = 0.5, -0.4, -0.8, 0.3, 0.6, 0.2
    q[7:] = 0.5
    return Contest(own, model, q, threads, worlds, steps)


def atlas_in_the_air(threads, worlds, steps):
    import mujoco

    text = urdf_without_geometry(MODELS["atlas"].path)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "atlas.urdf")
        path.write_text(text)
        own = load_model(path, dt=TIME_STEP)
    model = mujoco.MjModel.from_xml_string(contact.with_floating_base(text))
    model.opt.timestep = TIME_STEP
    q = own.plant.GetDefaultPositions()
    for joint in (own.plant.get_joint(i) for i in own.plant.GetJointIndices()):
        if joint.num_positions() == 1:  # in the middle of its range
            low, high = joint.position_lower_limits()[0], joint.position_upper_limits()[0]
            q[joint.position_start()] = 0.5 * (low + high) if np.isfinite(high - low) else 0.0
    return Contest(own, model, q, threads, worlds, steps)


def atlas_on_its_feet(threads, worlds, steps):
    world = contact.atlas(MODELS["atlas"].path, standing=True)
    own = contact.PlantStepper(world, TIME_STEP, "lagged", contact.own_modules())
    peer = contact.MuJoCoStepper(world, TIME_STEP, contact.CONES["MuJoCo"])
    return Contest(as_loaded(own.plant), peer.model, world.q, threads, worlds, steps)


def quadruped_on_its_feet(threads, worlds, steps):
    path = MODELS["quadruped"].path
    own = load_model(path, dt=TIME_STEP, contact=True, ground=0.0, hold=True)
    start = Worlds(own, 1, threads=1)
    gains = start.gains
    q = start.q[0].copy()
    world = contact.World(urdf=path.read_text(), q=q, base="trunk")
    peer = contact.MuJoCoStepper(world, TIME_STEP, contact.CONES["MuJoCo"])
    for name, (p, d) in zip(start.controlled, gains, strict=True):
        actuator = next(a for a in own.plant.elements.actuators if name.endswith(a.name()))
        joint = actuator.joint()
        theirs = peer.model.joint(joint.name())
        theirs.stiffness[0] = p
        theirs.damping[0] += d
        peer.model.qpos_spring[theirs.qposadr[0]] = q[joint.position_start()]
    return Contest(own, peer.model, q, threads, worlds, steps)


SCENES = (
    Scene("arm-with-a-hand", arm, False),
    Scene("atlas-in-the-air", atlas_in_the_air, False),
    Scene("atlas-on-its-feet", atlas_on_its_feet, True),
    Scene("quadruped-on-its-feet", quadruped_on_its_feet, True),
)


def measured(calls, rounds):
    """{program: [(seconds of the processor, by the clock)] for each round}; the programs take turns."""
    found = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            clock, processor = time.perf_counter(), time.process_time()
            call()
            found[name].append((time.process_time() - processor, time.perf_counter() - clock))
    return found


def report(what, found, count, goal=None):
    times = ", ".join(
        f"{name} {1e6 * statistics.median(s for s, _ in rounds) / count:.2f} us "
        f"({1e6 * statistics.median(s for _, s in rounds) / count:.2f} by the clock)"
        for name, rounds in found.items()
    )
    ratios = []
    for name in [name for name in found if name != "mbcli"]:
        pairs = list(zip(found["mbcli"], found[name], strict=True))
        processor = statistics.median(theirs[0] / ours[0] for ours, theirs in pairs)
        clock = statistics.median(theirs[1] / ours[1] for ours, theirs in pairs)
        ratios.append(f"{name} {processor:.2f} ({clock:.2f})")
    goal = f"; goal {goal:g}" if goal else ""
    print(f"  {what:22} {times}; ratio: {', '.join(ratios) or 'none'}{goal}", flush=True)


def main(words):
    import mujoco

    quick = "--quick" in words
    wanted = [word for word in words if not word.startswith("-")]
    worlds, steps, rounds = (16, 5, 2) if quick else (WORLDS, STEPS, ROUNDS)
    warnings.simplefilter("ignore")
    print(f"a world's step of {TIME_STEP:g} s, {worlds} worlds of {steps} steps, MuJoCo {mujoco.__version__}")
    for scene in SCENES:
        if (wanted and scene.name not in wanted) or ("atlas" in scene.name and not MODELS["atlas"].path.exists()):
            continue
        for threads in (1, 2):
            contest = scene.make(threads, worlds, steps)
            print(f"{scene.name}, {contest.worlds.plant.num_velocities()} velocities, threads: {threads}")
            report("all steps", measured(contest.together, rounds), worlds * steps, GOALS[scene.touches])
            report("one step at a time", measured(contest.one_at_a_time, rounds), worlds * steps)
            failures = contest.worlds.failures()
            if failures:
                print(f"  {len(failures)} worlds stopped: {next(iter(failures.values()))}")


if __name__ == "__main__":
    main(sys.argv[1:])
