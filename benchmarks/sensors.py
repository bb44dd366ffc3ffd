"""Sensors of MJCF files of others beside MuJoCo's, at random states without contact.

python -m benchmarks.sensors FOLDER...

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
from pathlib import Path

import numpy as np

from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.models.loading import load_model
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.sensing import SensorEvaluator

QUATERNIONS = ("framequat", "ballquat")
EQUAL = 1e-9
LONGEST = 120.0  # [s] for a file
OWN = "--one-file"


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
            joint.set_angles(context, RollPitchYaw(RotationMatrix(R)).vector())
            joint.set_angular_velocity(context, R @ v[b : b + 3])
        else:
            joint = joints[model.joint(j).name]
            joint.SetPositions(context, [q[a]])
            joint.SetVelocities(context, [v[b]])


def compare(path, states=3, *, actuated=False, skip=("rangefinder", "touch")):
    """({sensor: largest difference, relative to 1 or the values}, {sensor: type}); nothing limits, ties or touches.

    actuated: whether actuators act, without a control.
    """
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    off, on = mujoco.mjtDisableBit, mujoco.mjtEnableBit
    model.opt.disableflags |= off.mjDSBL_CONSTRAINT | (0 if actuated else off.mjDSBL_ACTUATION)
    model.opt.enableflags |= on.mjENBL_ENERGY
    model.opt.density = model.opt.viscosity = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plant = load_model(path, dt=0.0).plant
    evaluator = SensorEvaluator(plant)
    datasets = {sensor.name(): sensor.path.removeprefix("sensors/") for sensor in evaluator.sensors}
    types = {sensor.name(): sensor.type_name() for sensor in evaluator.sensors}
    rng, worst = np.random.default_rng(0), {}
    for _ in range(states):
        q, v = random_state(model, rng)
        data = mujoco.MjData(model)  # one that was used keeps its kinetic energy
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        context = plant.CreateDefaultContext()
        set_state(plant, context, model, q, v)
        values = evaluator.values(context)
        for i in range(model.nsensor):
            name = model.sensor(i).name
            if name not in datasets or types[name] in skip:
                continue
            start = model.sensor_adr[i]
            theirs, ours = data.sensordata[start : start + model.sensor_dim[i]], values[datasets[name]]
            if types[name] in QUATERNIONS and theirs @ ours < 0.0:
                theirs = -theirs
            error = np.abs(theirs - ours).max() / max(1.0, np.abs(theirs).max())
            worst[name] = max(worst.get(name, 0.0), error)
    return worst, types


def outcome(path):
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
    worst, types = compare(path)
    differ = {name: [types[name], error] for name, error in worst.items() if not error <= EQUAL}
    return {"sensors": model.nsensor, "compared": len(worst), "differ": differ}


def in_a_process(path):
    """outcome() of another process, which may die or take too long."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.sensors", OWN, path]
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


def main(arguments):
    """Prints a line for each file, and the counts."""
    if arguments[:1] == [OWN]:
        print(json.dumps(outcome(arguments[1])))
        return
    found = {}
    for path in with_sensors(arguments):
        found[path] = one = in_a_process(path)
        if "compared" in one:
            worst = ", ".join(f"{name} ({kind}) {error:.1e}" for name, (kind, error) in one["differ"].items())
            print(f"{path}: {one['compared']} of {one['sensors']} compared; {worst or 'all equal'}", flush=True)
        else:
            print(f"{path}: {one.get('why') or one['fault']}", flush=True)
    compared = [one for one in found.values() if one.get("compared")]
    equal = sum(not one["differ"] for one in compared)
    sensors = sum(one["compared"] for one in compared)
    differ = sum(len(one["differ"]) for one in compared)
    faults = sum("fault" in one for one in found.values())
    print(f"{len(found)} files: {len(compared)} compared, {equal} with all sensors equal, {faults} faults")
    print(f"{sensors} sensors, {differ} differ by more than {EQUAL:g}")


if __name__ == "__main__":
    main(sys.argv[1:])
