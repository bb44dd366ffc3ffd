"""Sensors of MJCF files of others beside MuJoCo's, at random states and along runs, without contact.

python -m benchmarks.sensors FOLDER... [--along-runs]

With --along-runs, mbcli runs for half a second from a random state, and what its log has of sensors is compared at each
row with what MuJoCo gives at the state of that row: the integrators are different, the states are not. Where sensors
differ, they are compared once more with the inertias of mbcli in MuJoCo.

Each file is read in a process of its own, by both; actuators do not act, and nothing limits or touches. Files with
equalities are left out: MuJoCo holds them softly, mbcli exactly. For each file: how many sensors there are and are
compared (not rangefinder and touch, which have tests of their own), and those that differ by more than 1e-9 of their
value, or of 1.
"""

import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from mbcli.parsers.package_map import PackageMap

from mbcli.math import Quaternion, RigidTransform, RotationMatrix
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.models.loading import load_model
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.sensing import SensorEvaluator
from mbcli.multibody.tree import PdControllerGains
from mbcli.simulation import simulate

QUATERNIONS = ("framequat", "ballquat")
SKIPPED = ("rangefinder", "touch")  # they have tests of their own
EQUAL = 1e-9
LONGEST = 120.0  # [s] for a file
RUN, ROWS = 0.5, 100.0  # [s], [Hz]
OWN, ALONG = "--one-file", "--along-runs"


def random_state(model, rng):
    """qpos and qvel."""
    q, v = model.qpos0.copy(), rng.normal(size=model.nv)
    for kind, a in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind == 0:
            q[a : a + 3] += rng.normal(size=3)
        if kind in (0, 1):
            start = a + 3 if kind == 0 else a
            wxyz = rng.normal(size=4) + [2.0, 0, 0, 0]
            q[start : start + 4] = wxyz / np.linalg.norm(wxyz)
        else:
            q[a] += 0.5 * rng.normal()
    return q, v


def set_state(plant, context, model, q, v):
    """The same state: a free joint of MuJoCo has its angular velocity in the body, a ball joint too."""
    joints = {joint.name(): joint for joint in plant.elements.joints}
    for j in range(model.njnt):
        kind, a, b = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
        if kind == 0:
            body, R = (
                plant.GetBodyByName(model.body(model.jnt_bodyid[j]).name),
                matrix_from_quaternion(q[a + 3 : a + 7]),
            )
            plant.SetFreeBodyPose(context, body, RigidTransform(RotationMatrix(R), q[a : a + 3]))
            V = SpatialVelocity(R @ v[b + 3 : b + 6], v[b : b + 3])
            plant.SetFreeBodySpatialVelocity(body, V, context)
        elif kind == 1:
            joint, R = joints[model.joint(j).name], matrix_from_quaternion(q[a : a + 4])
            joint.SetQuaternion(context, Quaternion(q[a : a + 4] / np.linalg.norm(q[a : a + 4])))
            joint.set_angular_velocity(context, R @ v[b : b + 3])
        else:
            joint = joints[model.joint(j).name]
            joint.SetPositions(context, [q[a]])
            joint.SetVelocities(context, [v[b]])


def state_of(plant, context, model):
    """(qpos, qvel) of a context's state, what set_state() takes."""
    joints = {joint.name(): joint for joint in plant.elements.joints}
    q, v = model.qpos0.copy(), np.zeros(model.nv)
    for j in range(model.njnt):
        kind, a, b = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
        if kind == 0:
            body = plant.GetBodyByName(model.body(model.jnt_bodyid[j]).name)
            X, V = plant.GetFreeBodyPose(context, body), plant.EvalBodySpatialVelocityInWorld(context, body)
            q[a : a + 3], q[a + 3 : a + 7] = X.translation(), X.rotation().ToQuaternion().wxyz()
            v[b : b + 3], v[b + 3 : b + 6] = V.translational(), X.rotation().matrix().T @ V.rotational()
        elif kind == 1:
            joint = joints[model.joint(j).name]
            R = RotationMatrix(joint.get_quaternion(context))
            q[a : a + 4], v[b : b + 3] = R.ToQuaternion().wxyz(), R.matrix().T @ joint.get_angular_velocity(context)
        else:
            joint = joints[model.joint(j).name]
            q[a], v[b] = joint.GetPositions(context)[0], joint.GetVelocities(context)[0]
    return q, v


def mujoco_model(path, actuated=False):
    """An MjModel in which nothing limits, ties, touches or flows."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    off, on = mujoco.mjtDisableBit, mujoco.mjtEnableBit
    model.opt.disableflags |= off.mjDSBL_CONSTRAINT
    if not actuated:  # without mjDSBL_ACTUATION, which would keep velocities of actuators at 0
        model.actuator_gaintype[:], model.actuator_gainprm[:] = mujoco.mjtGain.mjGAIN_FIXED, 0.0
        model.actuator_biastype[:] = mujoco.mjtBias.mjBIAS_NONE
    model.opt.enableflags |= on.mjENBL_ENERGY
    model.opt.density = model.opt.viscosity = 0.0
    return model


def give_inertias(plant, model):
    """Gives the bodies of an MjModel the inertias that they have in the plant, with principal axes in another order."""
    import mujoco

    for b in range(1, model.nbody):
        name = model.body(b).name
        if not model.body_mass[b] or not plant.HasBodyNamed(name):
            continue
        M = plant.GetBodyByName(name).default_spatial_inertia()
        moments, axes = np.linalg.eigh(M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3())
        axes[:, 2] *= np.linalg.det(axes)
        model.body_mass[b], model.body_ipos[b], model.body_inertia[b] = M.get_mass(), M.get_com(), moments
        model.body_sameframe[b] = mujoco.mjtSameFrame.mjSAMEFRAME_NONE
        mujoco.mju_mat2Quat(model.body_iquat[b], axes.ravel())


class Comparison:
    """Of the sensors of a plant with MuJoCo's.

    Attributes:
        worst: {sensor: largest difference, relative to 1 or the values}.
        types: {sensor: type}.
    """

    def __init__(self, plant, model, skip):
        self.model, self.worst, self._skip = model, {}, skip
        sensors = plant.elements.sensors
        self.types = {sensor.name(): sensor.type_name() for sensor in sensors}
        self._paths = {sensor.name(): sensor.path.removeprefix("sensors/") for sensor in sensors}

    def at(self, q, v, values, time=0.0):
        """values: of mbcli at the state, {path of a sensor without "sensors/": (columns,)}."""
        import mujoco

        data = mujoco.MjData(self.model)  # one that was used keeps its kinetic energy
        data.qpos[:], data.qvel[:], data.time = q, v, time
        mujoco.mj_forward(self.model, data)
        for i in range(self.model.nsensor):
            name = self.model.sensor(i).name
            if name not in self._paths or self.types[name] in self._skip:
                continue
            start = self.model.sensor_adr[i]
            theirs, ours = data.sensordata[start : start + self.model.sensor_dim[i]], values[self._paths[name]]
            if self.types[name] in QUATERNIONS and theirs @ ours < 0.0:
                theirs = -theirs
            error = np.abs(theirs - ours).max() / max(1.0, np.abs(theirs).max())
            self.worst[name] = max(self.worst.get(name, 0.0), error)


def compare(path, states=3, *, actuated=False, skip=SKIPPED):
    """(worst, types) of a Comparison at random states.

    actuated: whether actuators act, without a control.
    """
    model = mujoco_model(path, actuated)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plant = load_model(path, dt=0.0).plant
    evaluator, found = SensorEvaluator(plant), Comparison(plant, model, skip)
    rng = np.random.default_rng(0)
    for _ in range(states):
        q, v = random_state(model, rng)
        context = plant.CreateDefaultContext()
        set_state(plant, context, model, q, v)
        found.at(q, v, evaluator.values(context))
    return found.worst, found.types


def free_plant(path):
    """Continuous; nothing touches, limits or drives."""
    plant = MultibodyPlant(0.0)
    packages = PackageMap(allow_outside=True, missing_meshes="ignore")
    Parser(plant, packages=packages).AddModels(str(path))
    for actuator in plant.elements.actuators:
        actuator.replace_gains(PdControllerGains())
    for joint in plant.elements.joints:
        ends = np.full(joint.num_positions(), np.inf)
        joint.set_position_limits(-ends, ends)
    plant.Finalize()
    return plant


def compare_along_run(path, until=RUN, *, same_inertias=False, skip=SKIPPED):
    """(worst, types) of a Comparison at the rows of the log of a run from a random state, and how many rows there are.

    A RuntimeError says why there is no run. same_inertias: whether MuJoCo gets those of mbcli.
    """
    model, plant = mujoco_model(path), free_plant(path)
    if same_inertias:
        give_inertias(plant, model)
    context = plant.CreateDefaultContext()
    set_state(plant, context, model, *random_state(model, np.random.default_rng(0)))
    start = plant.GetPositions(context), plant.GetVelocities(context)
    log = simulate(
        plant,
        until,
        start=start,
        integrator="runge_kutta3",
        log_rate=ROWS,
        velocity_limits="ignore",
        warn=lambda _: None,
    )
    found = Comparison(plant, model, skip)
    columns = {sensor.path.removeprefix("sensors/"): log.field(sensor.path) for sensor in plant.elements.sensors}
    for k, time in enumerate(log.times):
        plant.SetPositions(context, log.q[k])
        plant.SetVelocities(context, log.v[k])
        values = {name: np.atleast_1d(rows[k]) for name, rows in columns.items()}
        found.at(*state_of(plant, context, model), values, time)
    return found.worst, found.types, len(log.times)


def outcome(path, along_run):
    """What is to say of a file: "why" it is left out, or the numbers of its sensors and those that differ."""
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return {"why": f"MuJoCo refuses it: {str(error).splitlines()[0]}"}
    if model.neq:
        return {"why": "it has equalities"}
    if not model.nsensor:
        return {"why": "it has no sensors"}
    rows = 3
    if not along_run:
        worst, types = compare(path, rows)
    else:
        try:
            worst, types, rows = compare_along_run(path)
        except RuntimeError as error:
            return {"why": f"no run: {str(error).splitlines()[0]}"}
    differ = {name: [types[name], error] for name, error in worst.items() if not error <= EQUAL}
    if differ and along_run:  # also what it is with the same inertias
        same, _, _ = compare_along_run(path, same_inertias=True)
        for name, found in differ.items():
            found.append(same[name])
    left = Counter(_left_out(model, i, types) for i in range(model.nsensor) if model.sensor(i).name not in worst)
    return {"sensors": model.nsensor, "compared": len(worst), "rows": rows, "differ": differ, "left": left}


def _left_out(model, i, types):
    """Why a sensor of a file is not compared."""
    import mujoco

    kind = mujoco.mjtSensor(model.sensor_type[i]).name.removeprefix("mjSENS_").lower()
    if not model.sensor(i).name:
        return f"{kind} without a name"
    return (
        f"{kind}, in tests of its own"
        if model.sensor(i).name in types
        else f"{kind}, not read (docs/reference/sensors.md)"
    )


def in_a_process(path, along_run):
    """outcome() of another process, which may die or take too long."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.sensors", OWN, path, *[ALONG] * along_run]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"fault": f"took longer than {LONGEST:g} s"}
    except (IndexError, ValueError):
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return {"fault": lines[-1][:200]}


def with_sensors(folders):
    """MJCF files that name sensors, by their text."""
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.xml")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if "<sensor>" in text and "<mujoco" in text:
                yield os.fspath(path)


def _difference(name, kind, error, same=None):
    return f"{name} ({kind}) {error:.1e}" + ("" if same is None else f", with the inertias of mbcli {same:.1e}")


def main(arguments):
    """Prints a line for each file, and the counts."""
    along_run = ALONG in arguments
    arguments = [each for each in arguments if each != ALONG]
    if arguments[:1] == [OWN]:
        print(json.dumps(outcome(arguments[1], along_run)))
        return
    found = {}
    for path in with_sensors(arguments):
        found[path] = one = in_a_process(path, along_run)
        if "compared" in one:
            worst = ", ".join(_difference(name, *figures) for name, figures in one["differ"].items())
            line = f"{one['compared']} of {one['sensors']} compared at {one['rows']} states; {worst or 'all equal'}"
            print(f"{path}: {line}", flush=True)
        else:
            print(f"{path}: {one.get('why') or one['fault']}", flush=True)
    compared = [one for one in found.values() if one.get("compared")]
    equal = sum(not one["differ"] for one in compared)
    sensors = sum(one["compared"] for one in compared)
    differ = sum(len(one["differ"]) for one in compared)
    faults = sum("fault" in one for one in found.values())
    print(f"{len(found)} files: {len(compared)} compared, {equal} with all sensors equal, {faults} faults")
    print(f"{sensors} sensors, {differ} differ by more than {EQUAL:g}")
    left = sum((Counter(one.get("left")) for one in found.values()), Counter())
    left += Counter(one["why"].split(":")[0] for one in found.values() if "why" in one)
    for why, count in left.most_common():
        print(f"left out, {count}: {why}")


if __name__ == "__main__":
    main(sys.argv[1:])
