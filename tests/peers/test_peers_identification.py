"""The regressor beside Pinocchio's; identified files in pydrake, Pinocchio and MuJoCo."""

import json
import re

import numpy as np
import pytest
from command_line import succeed
from measured_motion import measured_columns, plant_of, write_csv
from repository import SAMPLES

from mbcli.multibody.plant import BatchFunctions


@pytest.mark.peers("pinocchio")
@pytest.mark.parametrize("name", ["arm7.urdf", "double_pendulum.urdf", "pendulum.urdf"])
def test_the_regressor_is_that_of_pinocchio(name):
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(SAMPLES / name))
    data, plant = model.createData(), plant_of(SAMPLES / name, weld_base=True)
    order = [model.idx_vs[model.getJointId(joint.name())] for joint in plant.moving_joints() if joint.num_velocities()]
    columns = [10 * k + n for k in order for n in range(10)]
    rng = np.random.default_rng(1)
    batch = BatchFunctions(plant)
    for _ in range(5):
        q, v, vdot = rng.normal(size=(3, plant.num_velocities()))
        there = [np.empty(model.nv) for _ in range(3)]
        for mine, other in zip((q, v, vdot), there, strict=True):
            other[order] = mine
        there[0] = pin.integrate(model, pin.neutral(model), there[0])  # of joints without limits it has cosine and sine
        Y = np.array(pin.computeJointTorqueRegressor(model, data, *there)).reshape(model.nv, -1)
        Y = Y[np.ix_(order, columns)]
        mine = batch.inverse_dynamics_regressor(q[None], v[None], vdot[None])[0]
        np.testing.assert_allclose(mine, Y, rtol=0.0, atol=1e-11 * max(1.0, np.abs(Y).max()))


@pytest.mark.peers("pinocchio")
@pytest.mark.parametrize("seed", range(3))
def test_the_regressor_of_a_floating_base_is_that_of_pinocchio(seed):
    import pinocchio as pin

    path = SAMPLES / "quadruped.urdf"
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data, plant = model.createData(), plant_of(path)
    rng = np.random.default_rng(seed)
    joints = [joint for joint in plant.moving_joints() if joint.num_velocities() == 1]
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    p, nv = rng.normal(size=3), plant.num_velocities()
    q, v, vdot = np.empty(plant.num_positions()), rng.normal(size=nv), rng.normal(size=nv)
    q[:4], q[4:7] = quaternion, p
    R = pin.Quaternion(*quaternion).matrix()
    q_there, v_there, a_there = pin.neutral(model), np.empty(nv), np.empty(nv)
    q_there[:7] = [*p, *quaternion[1:], quaternion[0]]
    w = v[:3]
    # Pinocchio has the linear velocity first, along the axes of the body, and the rate of these components
    v_there[:3], v_there[3:6] = R.T @ v[3:6], R.T @ w
    a_there[:3] = R.T @ (vdot[3:6] - np.cross(w, v[3:6]))
    a_there[3:6] = R.T @ vdot[:3]
    rows = [*range(3, 6), *range(3)]
    order = [model.idx_vs[model.getJointId(joint.name())] for joint in joints]
    for joint, d in zip(joints, order, strict=True):
        k = joint.position_start()
        q[k] = rng.normal()
        q_there[model.idx_qs[model.getJointId(joint.name())]] = q[k]
        v_there[d], a_there[d] = v[joint.velocity_start()], vdot[joint.velocity_start()]
    Y = np.array(pin.computeJointTorqueRegressor(model, data, q_there, v_there, a_there))
    bodies = [0, *(model.getJointId(joint.name()) - 1 for joint in joints)]
    columns = [10 * k + n for k in bodies for n in range(10)]
    Y = Y[np.ix_([*rows, *order], columns)]
    turn = np.kron(np.eye(2), R)
    Y[:6] = turn @ Y[:6]
    mine = BatchFunctions(plant).inverse_dynamics_regressor(q[None], v[None], vdot[None])[0]
    np.testing.assert_allclose(mine, Y, rtol=0.0, atol=1e-11 * np.abs(Y).max())


@pytest.mark.peers("pydrake", "pinocchio", "mujoco")
def test_an_identified_file_has_the_same_torques_in_pydrake_pinocchio_and_mujoco(tmp_path):
    import mujoco
    import pinocchio as pin
    from pydrake.multibody import parsing
    from pydrake.multibody.plant import MultibodyPlant as DrakePlant
    from pydrake.multibody.tree import MultibodyForces

    data = write_csv(tmp_path / "a.csv", measured_columns(SAMPLES / "arm7.urdf", 900, 9.0))
    file = tmp_path / "identified.urdf"
    result = succeed("identify", SAMPLES / "arm7.urdf", "--data", data, "-o", file, "--json")
    assert json.loads(result.out)["output"] == str(file)
    bare = tmp_path / "bare.urdf"  # neither shapes nor friction, which engines count differently
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", file.read_text(), flags=re.DOTALL)
    bare.write_text(re.sub(r"<dynamics [^>]*/>", "", text))
    plant = plant_of(bare, weld_base=True)
    names = [joint.name() for joint in plant.moving_joints() if joint.num_velocities()]
    rng = np.random.default_rng(0)
    q, v, vdot = rng.normal(size=(3, len(names)))
    mine = BatchFunctions(plant).inverse_dynamics(q[None], v[None], vdot[None])[0]
    mine = mine - plant.model.dof_armature * vdot

    model = pin.buildModelFromUrdf(str(bare))
    order = [model.idx_vs[model.getJointId(name)] for name in names]
    there = [np.empty(model.nv) for _ in range(3)]
    for values, other in zip((q, v, vdot), there, strict=True):
        other[order] = values
    np.testing.assert_allclose(np.array(pin.rnea(model, model.createData(), *there))[order], mine, atol=1e-10)

    drake = DrakePlant(0.0)
    parsing.Parser(drake).AddModels(str(bare))
    drake.Finalize()
    context = drake.CreateDefaultContext()
    for name, x, xd in zip(names, q, v, strict=True):
        drake.GetJointByName(name).set_angle(context, x)
        drake.GetJointByName(name).set_angular_rate(context, xd)
    forces = MultibodyForces(drake)
    drake.CalcForceElementsContribution(context, forces)
    starts = [drake.GetJointByName(name).velocity_start() for name in names]
    accelerations = np.zeros(drake.num_velocities())
    accelerations[starts] = vdot
    tau = drake.CalcInverseDynamics(context, accelerations, forces)[starts]
    armature = plant.model.dof_armature * vdot  # of its actuators
    np.testing.assert_allclose(tau - armature, mine, atol=1e-10)

    world = mujoco.MjModel.from_xml_path(str(bare))
    state = mujoco.MjData(world)
    at = [world.joint(name).dofadr[0] for name in names]
    state.qpos[at], state.qvel[at], state.qacc[at] = q, v, vdot
    mujoco.mj_inverse(world, state)
    total = state.qfrc_inverse + state.qfrc_passive + state.qfrc_constraint
    np.testing.assert_allclose(total[at], mine, atol=1e-9)
