"""Sensors beside MuJoCo's, of a model with every kind and of real files, in random states without contact."""

import warnings

import numpy as np
import pytest

from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.models.loading import load_model
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.sensing import SensorEvaluator
from mbcli.sensors import SENSORS

pytestmark = pytest.mark.peers
QUATERNIONS = ("framequat", "ballquat")
OF_MJCF = [tag for kind in SENSORS.values() for tag in kind.MJCF]
IN_OTHER_TESTS = ("touch", "rangefinder", "actuatorfrc", "jointactuatorfrc", "jointlimitpos", "jointlimitvel")
IN_OTHER_TESTS += ("tendonlimitpos", "tendonlimitvel")

EVERY_KIND = """<mujoco><option gravity="1 0.5 -9" magnetic="0.1 -0.5 0.3"/><worldbody>
<geom type="plane" size="5 5 1" pos="0 0 -3"/>
<site name="fixed" pos="1 2 3" euler="10 20 30"/><body name="base" pos="0 0 2"><freejoint name="free"/><geom name="g"
type="box" size="0.3 0.2 0.1" mass="4"/><site name="s" pos="0.1 0.2 0.3" euler="30 40 50"/><body name="arm" pos="0.4 0
0" euler="0 20 0"><joint name="hinge" axis="0 1 1" pos="0.1 0 0" armature="0.2" damping="0.3"/><geom name="rod"
type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05" mass="1"/><site name="a" pos="0 0.1 -0.3" euler="5 6 7"/><body
name="slider" pos="0 0 -0.6"><joint name="slide" type="slide" axis="1 0 0" stiffness="3" ref="0.2"/><inertial
pos="0.01 0.02 0.03" euler="10 0 0" mass="0.5" diaginertia="0.01 0.02 0.025"/><site name="b" pos="0 0 -0.1"/><body
name="tip" pos="0 0 -0.2"><joint name="ball" type="ball"/><geom size="0.05" pos="0 0 -0.1" mass="0.3"/><site name="c"
pos="0 0 -0.15" euler="0 90 0"/></body></body></body></body></worldbody><tendon><fixed name="t"><joint joint="hinge"
coef="2"/><joint joint="slide" coef="-0.5"/></fixed></tendon><actuator><motor name="m" joint="hinge" gear="3"/>
</actuator><sensor><accelerometer name="acc" site="s"/><gyro name="gyro" site="a"/><velocimeter name="vel" site="b"/>
<force name="f0" site="s"/><torque name="t0" site="s"/><force name="f1" site="a"/><torque name="t1" site="a"/><force
name="f2" site="c"/><torque name="t2" site="c"/><magnetometer name="mag" site="c"/><jointpos name="jp" joint="hinge"/>
<jointvel name="jv" joint="slide"/><tendonpos name="tp" tendon="t"/><tendonvel name="tv" tendon="t"/><actuatorpos
name="ap" actuator="m"/><actuatorvel name="av" actuator="m"/><ballquat name="bq" joint="ball"/><ballangvel name="bv"
joint="ball"/><framepos name="p0" objtype="body" objname="slider"/><framepos name="p1" objtype="geom" objname="rod"
reftype="site" refname="fixed"/><framequat name="q0" objtype="xbody" objname="tip"/><framequat name="q1"
objtype="site" objname="c" reftype="site" refname="s"/><framexaxis name="x" objtype="site" objname="a"/><frameyaxis
name="y" objtype="geom" objname="rod" reftype="xbody" refname="base"/><framezaxis name="z" objtype="body"
objname="slider"/><framelinvel name="v0" objtype="site" objname="c"/><framelinvel name="v1" objtype="body"
objname="tip" reftype="site" refname="a"/><frameangvel name="w0" objtype="body" objname="tip"/><frameangvel name="w1"
objtype="site" objname="c" reftype="site" refname="s"/><framelinacc name="a0" objtype="body" objname="slider"/>
<frameangacc name="a1" objtype="site" objname="c"/><subtreecom name="com" body="base"/><subtreelinvel name="cv"
body="arm"/><subtreeangmom name="cm" body="arm"/><e_potential name="ep"/><e_kinetic name="ek"/><clock name="now"/>
<gyro name="cut" site="a" cutoff="0.4"/></sensor></mujoco>"""


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
    mujoco = pytest.importorskip("mujoco")
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


def test_every_kind_is_as_in_mujoco(tmp_path):
    (tmp_path / "every.xml").write_text(EVERY_KIND)
    worst, types = compare(tmp_path / "every.xml", states=20, actuated=True)
    assert len(worst) == 38
    assert set(types.values()) >= {kind for kind in OF_MJCF if kind not in IN_OTHER_TESTS}
    assert max(worst.values()) < 1e-9, {name: error for name, error in worst.items() if error >= 1e-9}
