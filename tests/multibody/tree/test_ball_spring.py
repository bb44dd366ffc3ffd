"""Springs of ball joints: their torque and energy, energies of runs, the engine of MuJoCo, formats."""

import numpy as np
import pytest

from mbcli.models import load_model
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import BallQuaternionJoint, BallRpyJoint, BallSpring, MultibodyForces, SpatialInertia
from mbcli.simulation import simulate

ROD = """<mujoco><option gravity="0 0 {gravity}" timestep="{h}" integrator="{integrator}"/><worldbody><body pos="0 0 1">
<joint name="j" type="ball" stiffness="{k}" damping="{damping}" pos="0 0 .1"/>
<geom type="box" size=".1 .05 .2" mass="2"/>
<body pos="0 0 -.4" euler="20 0 0"><joint name="l" type="ball" stiffness="{k}"/><geom type="box" size=".05 .08 .1"
pos=".05 0 -.1" mass="1"/></body></body></worldbody></mujoco>"""


def rod(tmp_path, k=5.0, damping=0.0, gravity=-9.81, h=0.001, integrator="Euler"):
    path = tmp_path / "m.xml"
    path.write_text(ROD.format(k=k, damping=damping, gravity=gravity, h=h, integrator=integrator))
    return str(path)


def lone(stiffness=4.0, dt=0.0):
    plant = MultibodyPlant(dt)
    body = plant.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.5))
    joint = plant.AddJoint(BallQuaternionJoint("j", plant.world_frame(), body.body_frame()))
    spring = plant.AddForceElement(BallSpring(joint, stiffness))
    plant.Finalize()
    return plant, body, joint, spring


def turned(rng):
    angle, axis = rng.uniform(-3.1, 3.1), rng.normal(size=3)
    axis = axis / np.linalg.norm(axis)
    return angle * axis, np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_torque_and_energy_follow_the_rotation_vector(sign):
    plant, body, joint, spring = lone()
    context, rng = plant.CreateDefaultContext(), np.random.default_rng(0)
    for _ in range(20):
        vector, q = turned(rng)
        w = rng.normal(size=3)
        plant.SetPositions(context, sign * q)  # both quaternions are the same rotation
        plant.SetVelocities(context, w)
        forces = plant_forces(plant, context)
        np.testing.assert_allclose(forces, -4.0 * vector, atol=1e-12)
        assert plant.CalcPotentialEnergy(context) == pytest.approx(2.0 * vector @ vector, rel=1e-12)
        assert plant.CalcConservativePower(context) == pytest.approx(-4.0 * vector @ w, rel=1e-9, abs=1e-12)
        assert spring.CalcPotentialEnergy(context) == pytest.approx(2.0 * vector @ vector, rel=1e-12)
        assert spring.CalcConservativePower(context) == pytest.approx(-4.0 * vector @ w, rel=1e-9, abs=1e-12)
    plant.SetPositions(context, [1.0, 0, 0, 0])
    assert not plant_forces(plant, context).any() and plant.CalcPotentialEnergy(context) == 0.0


def plant_forces(plant, context):
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    return forces.generalized_forces().copy()


def test_what_is_no_ball_joint_by_quaternions_takes_no_such_spring():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("b", SpatialInertia.SolidSphereWithMass(1.0, 0.5))
    with pytest.raises(TypeError, match="BallSpring needs a BallQuaternionJoint"):
        BallSpring(BallRpyJoint("r", plant.world_frame(), body.body_frame()), 1.0)
    joint = BallQuaternionJoint("j", plant.world_frame(), body.body_frame())
    with pytest.raises(RuntimeError, match="stiffness"):
        BallSpring(joint, -1.0)


def test_a_context_has_a_stiffness_of_its_own():
    plant, _, _, spring = lone()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, turned(np.random.default_rng(1))[1])
    before = plant.CalcPotentialEnergy(context)
    spring.SetStiffness(context, 8.0)
    assert spring.GetStiffness(context) == 8.0 and spring.default_stiffness() == 4.0
    assert plant.CalcPotentialEnergy(context) == pytest.approx(2.0 * before)


@pytest.mark.parametrize("dt", [0.001, 0.0])
def test_a_ball_swings_about_any_axis_with_the_frequency_of_its_spring(dt):
    plant, _, _, _ = lone(4.0, dt)
    context = plant.CreateDefaultContext()
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    plant.SetPositions(context, [np.cos(0.5), *(np.sin(0.5) * axis)])  # 1 rad: the spring is linear in the angle
    w = np.sqrt(4.0 / 0.1)
    log = simulate(plant, 3.0, start=context, log_rate=100)
    angle = 2.0 * np.arctan2(log.q[:, 1:] @ axis, log.q[:, 0])
    np.testing.assert_allclose(angle, np.cos(w * log.times), atol=1e-3)


@pytest.mark.parametrize("k", [5.0, 1e3, 1e6])
@pytest.mark.parametrize("contact", [False, True])
def test_a_passive_chain_gains_no_energy_at_any_stiffness(tmp_path, k, contact):
    model = load_model(rod(tmp_path, k), contact=contact, dt=0.002)
    context = model.plant.CreateDefaultContext()
    q = model.plant.GetPositions(context).copy()
    q[:4] = [np.cos(0.3), np.sin(0.3), 0.0, 0.0]
    model.plant.SetPositions(context, q)
    start = model.plant.CalcPotentialEnergy(context)
    log = simulate(model, 10.0, start=context, warn=lambda line: None)
    model.plant.SetPositions(context, log.q[-1])
    model.plant.SetVelocities(context, log.v[-1])
    end = model.plant.CalcPotentialEnergy(context) + model.plant.CalcKineticEnergy(context)
    assert end - start < 1e-3 * 0.5 * k * 0.36


@pytest.mark.peers("mujoco")
@pytest.mark.parametrize("damping", [0.0, 0.05])
def test_a_chain_moves_as_in_mujoco(tmp_path, damping):
    import mujoco

    path = rod(tmp_path, damping=damping, h=2e-4, integrator="RK4")
    model = load_model(path, contact=False, dt=0.0)
    context, rng = model.plant.CreateDefaultContext(), np.random.default_rng(3)
    other = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(other)
    data.qpos[:] = q = np.concatenate([turned(rng)[1], turned(rng)[1]])
    model.plant.SetPositions(context, q)
    assert model.plant.CalcPotentialEnergy(context) == pytest.approx(potential(mujoco, other, data), rel=1e-9)
    log = simulate(model, 1.0, start=context, log_rate=10)
    for _ in range(5000):
        mujoco.mj_step(other, data)
    np.testing.assert_allclose(np.abs(log.q[-1, :4] @ data.qpos[:4]), 1.0, atol=1e-5)
    np.testing.assert_allclose(np.abs(log.q[-1, 4:] @ data.qpos[4:]), 1.0, atol=1e-5)


@pytest.mark.peers("mujoco")
def test_a_spring_of_a_time_constant_is_that_of_mujoco(tmp_path):
    import mujoco

    path = tmp_path / "m.xml"
    path.write_text(ROD.format(k=0, damping=0, gravity=0, h=1e-3, integrator="Euler"))
    path.write_text(path.read_text().replace('stiffness="0"', 'springdamper=".1 .7" armature=".01"'))
    plant = load_model(str(path), contact=False).plant
    other = mujoco.MjModel.from_xml_path(str(path))
    np.testing.assert_allclose(plant.model.dof_stiffness, np.repeat(other.jnt_stiffness, 3), rtol=1e-6)
    np.testing.assert_allclose(plant.model.dof_damping, other.dof_damping, rtol=1e-6)


def potential(mujoco, model, data):
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(model, data)
    return data.energy[0]
