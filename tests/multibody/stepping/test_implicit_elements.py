"""Springs and dampers between links are stable in steps of any stiffness: trees, loops, contact, worlds."""

import numpy as np
import pytest
from command_line import cli
from random_trees import random_plant

from mbcli.geometry import HalfSpace, SceneGraph, Sphere
from mbcli.math import RigidTransform
from mbcli.multibody.plant import CoulombFriction, DiscreteContactApproximation, MultibodyPlant
from mbcli.multibody.tree import (
    DoorHinge,
    DoorHingeConfig,
    FixedOffsetFrame,
    LinearBushingRollPitchYaw,
    LinearSpringDamper,
    PrismaticJoint,
    PrismaticSpring,
    RevoluteJoint,
    RevoluteSpring,
    SpatialInertia,
)
from mbcli.systems.analysis import Simulator

X, Y, Z = np.eye(3)
LEVER = """<robot name="r" xmlns:drake="http://drake.mit.edu"><link name="base"/>
<link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="0.05"/>
<inertia ixx="1e-5" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<drake:linear_spring_damper><drake:linear_spring_damper_body_A name="base"/>
<drake:linear_spring_damper_p_AP value="0.2 0 0.2"/><drake:linear_spring_damper_body_B name="arm"/>
<drake:linear_spring_damper_p_BQ value="0.2 0 0"/><drake:linear_spring_damper_free_length value="0.15"/>
<drake:linear_spring_damper_stiffness value="{k}"/><drake:linear_spring_damper_damping value="{c}"/>
</drake:linear_spring_damper></robot>"""
TENDON = """<mujoco><worldbody><site name="w" pos="0.2 0 1.2"/><body pos="0 0 1"><joint name="h" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.01" mass="0.1" contype="0" conaffinity="0"/>
<site name="s" pos="0.2 0 0"/></body></worldbody>
<tendon><spatial stiffness="3000" damping="80" springlength="0.15"><site site="w"/><site site="s"/></spatial></tendon>
</mujoco>"""


def total_energy(plant, context):
    return plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)


def energies(plant, until, every=0.05, q=None):
    """Total energies every so often."""
    simulator = Simulator(plant, plant.CreateDefaultContext())
    context = simulator.get_mutable_context()
    if q is not None:
        plant.SetPositions(context, q)
    found = [total_energy(plant, context)]
    for time in np.arange(every, until + 0.5 * every, every):
        simulator.AdvanceTo(time)
        found.append(total_energy(plant, context))
    return np.array(found)


@pytest.mark.parametrize(("k", "c"), [(2000, 60), (2000, 6000), (2e6, 60), (2e6, 5), (2000, 1)])
def test_a_light_lever_rests_on_a_strut_where_smaller_steps_rest(k, c):
    ends = []
    for dt in (1e-3, 1e-4):
        found = cli(
            "simulate", "-", "--weld-base", "--dt", dt, "-t", 3, "--no-log", "--json", stdin=LEVER.format(k=k, c=c)
        )
        assert found.code == 0, found.err
        summary = found.json()
        assert summary["energy_end"] < summary["energy_start"]
        ends.append(summary)
    slow = 3.0 * k / c < 20.0  # it is still on its way, with the rate k / c
    moves = 2e-4 if slow else 1e-6
    assert slow or abs(ends[0]["v"][0]) < 1e-5
    np.testing.assert_allclose(ends[0]["q"], ends[1]["q"], rtol=0.0, atol=moves)


def test_a_tendon_comes_to_rest():
    summary = cli("simulate", "-", "--input-format", "mjcf", "-t", 1, "--no-log", "--json", stdin=TENDON).json()
    assert summary["q"][0] == pytest.approx(-0.2525179, abs=1e-6)
    assert abs(summary["v"][0]) < 1e-9


def stiff_plant(seed, step, *, loop=False, contact=None):
    """A random tree of 4 to 6 bodies whose struts and springs have stiffness and damping of many decades."""

    def tree():
        plant = random_plant(
            seed,
            ("revolute", "universal", "revolute", "quaternion_floating"),
            num_bodies=4 + seed % 3,
            time_step=step,
            damped=True,
            sprung=False,
            actuated=False,
            finalize=False,
        )
        return plant, [plant.GetBodyByName(f"body{n}") for n in range(4 + seed % 3)]

    probe, _ = tree()
    probe.Finalize()
    context = probe.CreateDefaultContext()
    plant, bodies = tree()
    X_W = [probe.EvalBodyPoseInWorld(context, probe.GetBodyByName(body.name())) for body in bodies]
    rng = np.random.default_rng(seed)

    def decades(low, high):
        return 10.0 ** rng.uniform(low, high)

    for n in range(3):
        first, second = rng.choice(len(bodies), 2, replace=False)
        A = plant.world_body() if n == 0 else bodies[first]
        points = rng.uniform(-0.5, 0.5, (2, 3))
        constants = rng.uniform(0.5, 1.5), decades(1, 5), decades(0, 4)
        plant.AddForceElement(LinearSpringDamper(A, points[0], bodies[second], points[1], *constants))
    for joint in plant.elements.joints:
        if joint.type_name() == "revolute":
            plant.AddForceElement(RevoluteSpring(joint, 0.3, decades(0, 5)))
    if loop:
        p_W = 0.5 * (X_W[-1].translation() + X_W[1].translation())
        A, B = bodies[-1], bodies[1]
        plant.AddBallConstraint(A, X_W[-1].inverse() @ p_W, B, X_W[1].inverse() @ p_W)
    if contact:
        plant.RegisterAsSourceForSceneGraph(SceneGraph())
        floor, mu = min(X.translation()[2] for X in X_W) - 0.3, CoulombFriction(0.6, 0.6)
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform([0, 0, floor]), HalfSpace(), "ground", mu)
        for body in bodies[1:]:
            plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(0.1), f"ball of {body.name()}", mu)
        plant.set_discrete_contact_approximation(DiscreteContactApproximation[contact])
    plant.Finalize()
    return plant


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_energy_of_damped_mechanisms_only_falls_in_a_minute(seed, loop):
    found = energies(stiff_plant(seed, 1e-3, loop=loop), 60.0)
    flow = found[0] - found.min()
    assert np.diff(found).max() < 1e-6 * flow


@pytest.mark.parametrize("contact", ["kSap", "kSimilar", "kLagged", "kTamsi"])
@pytest.mark.parametrize("seed", range(3))
def test_the_energy_of_damped_mechanisms_that_touch_the_ground_falls(seed, contact):
    found = energies(stiff_plant(seed, 1e-3, contact=contact), 20.0)
    assert np.diff(found).max() < 1e-4 * (found[0] - found.min())
    assert np.ptp(found[-20:]) < 1e-3 * (found[0] - found.min())


def oscillator(step, k, c):
    """1 kg on a slide that a strut to World pulls along its axis."""
    plant = MultibodyPlant(step)
    body = plant.AddRigidBody("b", SpatialInertia.SolidCubeWithMass(1.0, 0.1))
    plant.AddJoint(PrismaticJoint("x", plant.world_frame(), body.body_frame(), X))
    plant.mutable_gravity_field().set_gravity_vector([0, 0, 0])
    plant.AddForceElement(LinearSpringDamper(plant.world_body(), [-2, 0, 0], body, [0, 0, 0], 2.0, k, c))
    plant.Finalize()
    return plant


@pytest.mark.parametrize(("k", "c"), [(400.0, 0.0), (400.0, 4.0), (400.0, 60.0), (0.0, 20.0)])
def test_a_strut_is_of_second_order(k, c):
    """Against the closed form of x'' + c x' + k x = 0 from x = 0.1, by the matrix exponential."""
    rate = np.array([[0.0, 1.0], [-k, -c]])
    values, vectors = np.linalg.eig(rate)
    start = np.array([0.1, 1.0])
    exact = (vectors @ (np.exp(values) * np.linalg.solve(vectors, start.astype(complex)))).real
    errors = []
    for step in (4e-3, 2e-3):
        plant = oscillator(step, k, c)
        simulator = Simulator(plant, plant.CreateDefaultContext())
        plant.SetPositionsAndVelocities(simulator.get_mutable_context(), start)
        simulator.AdvanceTo(1.0)
        errors.append(np.abs(plant.GetPositionsAndVelocities(simulator.get_context()) - exact).max())
    assert errors[1] < 2e-3
    assert errors[0] / errors[1] > 3.4


@pytest.mark.parametrize("x", [1e-2, 1.0, 1e2, 1e6])
def test_a_damper_leaves_a_part_of_a_velocity_that_is_never_negative(x):
    plant = oscillator(1e-3, 0.0, x / 1e-3)
    simulator = Simulator(plant, plant.CreateDefaultContext())
    plant.SetVelocities(simulator.get_mutable_context(), [1.0])
    simulator.AdvanceTo(1e-3)
    left = plant.GetVelocities(simulator.get_context())[0]
    assert left == pytest.approx(2.0 / (2.0 + 2.0 * x + x * x), rel=1e-3, abs=1e-9)


def bushed(step, factor):
    """A bar that a bushing holds at its end; its potential energy is that of weight, stiffnesses and angles."""
    plant = MultibodyPlant(step)
    body = plant.AddRigidBody("b", SpatialInertia.SolidBoxWithMass(0.1, 0.3, 0.02, 0.02))
    C = plant.AddFrame(FixedOffsetFrame("C", body.body_frame(), RigidTransform([-0.15, 0, 0])))
    constants = [30.0, 40.0, 50.0], [1.0, 1.0, 1.0], [3000.0, 4000.0, 5000.0], [30.0, 40.0, 50.0]
    plant.AddForceElement(
        LinearBushingRollPitchYaw(plant.world_frame(), C, *(np.multiply(factor, x) for x in constants))
    )
    plant.Finalize()
    return plant


@pytest.mark.parametrize("factor", [1.0, 1e3, 1e6])
def test_a_bushing_of_any_stiffness_comes_to_rest(factor):
    ends = []
    for step in (1e-3, 2e-4):
        plant = bushed(step, factor)
        context = plant.CreateDefaultContext()
        plant.SetFreeBodyPose(context, plant.GetBodyByName("b"), RigidTransform([0.16, 0.01, 0.01]))
        simulator = Simulator(plant, context)
        simulator.AdvanceTo(4.0)
        ends.append(plant.GetPositions(simulator.get_context()))
        assert np.abs(plant.GetVelocities(simulator.get_context())).max() < 1e-6
    np.testing.assert_allclose(*ends, atol=1e-6)


@pytest.mark.parametrize("threshold", [1e-1, 1e-3, 1e-6])
def test_a_door_stops_by_friction_and_rests_on_a_stiff_spring(threshold):
    plant = MultibodyPlant(1e-3)
    body = plant.AddRigidBody("door", SpatialInertia.SolidBoxWithMass(0.1, 0.2, 0.02, 0.1))
    joint = plant.AddJoint(RevoluteJoint("swing", plant.world_frame(), body.body_frame(), Z))
    config = DoorHingeConfig(
        spring_zero_angle_rad=0.0,
        spring_constant=1e4,
        dynamic_friction_torque=0.5,
        static_friction_torque=0.2,
        viscous_friction=5.0,
        motion_threshold=threshold,
        catch_torque=0.0,
        catch_width=0.02,
    )
    plant.AddForceElement(DoorHinge(joint, config))
    plant.Finalize()
    simulator = Simulator(plant, plant.CreateDefaultContext())
    joint.set_angle(simulator.get_mutable_context(), 0.5)
    joint.set_angular_rate(simulator.get_mutable_context(), 20.0)
    speeds = []
    for time in np.arange(0.01, 2.0, 0.01):
        simulator.AdvanceTo(time)
        speeds.append(abs(joint.get_angular_rate(simulator.get_context())))
    assert max(speeds[-20:]) < 1e-3
    assert abs(joint.get_angle(simulator.get_context())) < 1e-3


@pytest.mark.parametrize("k", [10.0, 1e4, 1e7])
def test_a_spring_in_a_slide_keeps_its_energy_at_any_stiffness(k):
    plant = MultibodyPlant(1e-3)
    body = plant.AddRigidBody("b", SpatialInertia.SolidCubeWithMass(0.01, 0.1))
    joint = plant.AddJoint(PrismaticJoint("x", plant.world_frame(), body.body_frame(), X))
    plant.AddForceElement(PrismaticSpring(joint, 0.0, k))
    plant.Finalize()
    found = energies(plant, 5.0, q=[0.1])
    np.testing.assert_allclose(found, found[0], rtol=1e-9)


@pytest.mark.parametrize("loop", [False, True])
def test_interpreted_and_compiled_steps_agree(monkeypatch, loop):
    ends = []
    for jit in "01":
        monkeypatch.setenv("MBCLI_JIT", jit)
        plant = stiff_plant(2, 1e-3, loop=loop)
        simulator = Simulator(plant, plant.CreateDefaultContext())
        simulator.AdvanceTo(0.05)
        ends.append(plant.GetPositionsAndVelocities(simulator.get_context()))
    np.testing.assert_allclose(*ends, rtol=1e-9, atol=1e-9)
