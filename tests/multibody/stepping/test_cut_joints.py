"""Which joint of a loop is cut, and what of it acts: damping, springs, distance constraints that are springs."""

import math

import numpy as np
import pytest
from constraint_scenes import GRAVITY, Z, bar, end_of

from mbcli.config.simulator_config import SimulatorConfig
from mbcli.errors import ModelError, NumericalError
from mbcli.math import RigidTransform, RollPitchYaw, RotationMatrix
from mbcli.multibody.assembly.closed_chains import ClosedChains, assemble_context, assemble_within_limits
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    LinearSpringDamper,
    PrismaticJoint,
    PrismaticSpring,
    RevoluteJoint,
    RevoluteSpring,
    SpatialInertia,
)

HINGES = ("left", "coupler", "rocker", "right")


def four_bar(change=lambda plant, joints: None, order=HINGES, time_step=0.0, tilt=0.0):
    """Rods of 1, 2 and 2 m on World, 2 m apart, on hinges that are added in an order; `tilt` turns all about x."""
    plant = MultibodyPlant(time_step)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    ground = plant.AddFrame(
        FixedOffsetFrame("ground", plant.world_frame(), RigidTransform(RotationMatrix.MakeXRotation(tilt), [0.3, 0, 0]))
    )
    far = plant.AddFrame(FixedOffsetFrame("far", ground, RigidTransform([2.0, 0, 0])))
    rods = [bar(plant, f"rod{k}", length) for k, length in enumerate((1.0, 2.0, 2.0))]
    tips = [end_of(plant, rod, length, f"tip{k}") for k, (rod, length) in enumerate(zip(rods, (1, 2, 2), strict=True))]
    ends = {
        "left": (ground, rods[0].body_frame()),
        "coupler": (tips[0], rods[1].body_frame()),
        "rocker": (tips[1], tips[2]),
        "right": (far, rods[2].body_frame()),
    }
    joints = {}
    for name in order:
        joints[name] = plant.AddJoint(RevoluteJoint(name, *ends[name], Z))
    change(plant, joints)
    plant.Finalize()
    return plant


def cut(plant):
    return [joint.name() for joint in plant.elements.loop_joints]


def damp(name, value=0.3):
    return lambda plant, joints: joints[name].set_default_damping(value)


def test_the_joint_that_loses_least_is_cut():
    assert cut(four_bar()) == ["right"]
    assert cut(four_bar(damp("right"))) == ["rocker"]

    def driven(plant, joints):
        for name in ("coupler", "right"):
            joints[name].set_default_damping(0.1)
        joints["rocker"].set_position_limits([-3.0], [3.0])
        plant.AddJointActuator("motor", joints["left"])

    assert cut(four_bar(driven)) == ["right"]

    def limited(plant, joints):
        for joint in joints.values():
            joint.set_position_limits([-3.0], [3.0])
        plant.AddJointActuator("motor", joints["right"])

    with pytest.warns(UserWarning, match="joint 'rocker' closes a loop, what it has does not act: its limits"):
        assert cut(four_bar(limited)) == ["rocker"]

    def coupled(plant, joints):
        plant.AddCouplerConstraint(joints["right"], joints["rocker"], 0.5)

    assert cut(four_bar(coupled)) == ["coupler"]


def test_an_actuator_without_another_joint_to_cut_is_left_out_with_a_warning():
    def driven(plant, joints):
        for name, joint in joints.items():
            plant.AddJointActuator(f"motor_{name}", joint)

    with pytest.warns(
        UserWarning, match="joint 'right' closes a loop, what it has does not act: actuator 'motor_right'"
    ):
        plant = four_bar(driven)
    assert [plant.get_joint_actuator(index).name() for index in plant.GetJointActuatorIndices()] == [
        "motor_left",
        "motor_coupler",
        "motor_rocker",
    ]


def forces(plant, joints):
    """Different damping and springs on all joints."""
    for k, name in enumerate(HINGES):
        joints[name].set_default_damping(0.2 + 0.1 * k)
    plant.AddForceElement(RevoluteSpring(joints["left"], 0.4, 2.0))
    plant.AddForceElement(RevoluteSpring(joints["right"], -0.9, 3.0))
    plant.AddForceElement(RevoluteSpring(joints["right"], 0.7, 1.0))
    plant.AddForceElement(RevoluteSpring(joints["rocker"], 0.2, 1.5))


def moving_state(plant):
    """A context in a state that is the same whichever joint is cut: rod0 at 1.2 rad, turning with 1 rad/s."""
    context = plant.CreateDefaultContext()
    tip, pivot = np.array([math.cos(1.2), math.sin(1.2)]), np.array([2.0, 0.0])
    along = pivot - tip
    across = np.array([-along[1], along[0]]) / np.linalg.norm(along)
    top = tip + along / 2 + math.sqrt(4.0 - along @ along / 4) * across  # both rods are 2 m long
    rod0, rod1, rod2 = 1.2, math.atan2(*(top - tip)[::-1]), math.atan2(*(top - pivot)[::-1])
    angles = {"left": rod0, "coupler": rod1 - rod0, "rocker": rod2 - rod1, "right": rod2}
    for joint in plant.moving_joints():
        joint.set_angle(context, angles[joint.name()])
    G = ClosedChains(context).position_errors(context.state.q)[1]
    context.state.set_v(np.linalg.svd(G)[2][-1])
    body = plant.GetBodyByName("rod0")
    axis = body.EvalPoseInWorld(context).rotation().matrix()[:, 2]
    context.state.set_v(context.state.v / (axis @ body.EvalSpatialVelocityInWorld(context).rotational()))
    return context


@pytest.mark.parametrize("tilt", [0.0, 0.7])
def test_damping_and_springs_act_the_same_whichever_joint_is_cut(tilt):
    found = []
    for order in (HINGES, HINGES[::-1], ("coupler", "right", "left", "rocker"), ("right", "rocker", "left", "coupler")):
        plant = four_bar(forces, order, tilt=tilt)
        assert cut(plant) == [order[-1]]
        context = moving_state(plant)
        poses = [plant.GetBodyByName(f"rod{k}").EvalPoseInWorld(context).GetAsMatrix34() for k in range(3)]
        vdot = plant.CalcForwardDynamics(context)
        rods = [plant.GetBodyByName(f"rod{k}").index() for k in range(3)]
        alpha = [plant.CalcSpatialAccelerationsFromVdot(context, vdot)[int(n)].rotational() for n in rods]
        power = plant.CalcConservativePower(context)
        found.append((poses, alpha, plant.CalcPotentialEnergy(context), power))
        without = four_bar(order=order, tilt=tilt)
        other = moving_state(without)
        assert np.abs(without.CalcForwardDynamics(other) - vdot).max() > 0.1
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_allclose(np.array(one), np.array(two), atol=1e-9)


def test_derivatives_of_forces_of_cut_joints_are_those_of_differences():
    plant = four_bar(forces)
    plant.prefers_interpreted = True
    context = moving_state(plant)
    given = {"compiled": False}
    found = {
        "accelerations": plant.CalcDerivatives(context, "forward_dynamics", "v", **given)["v"],
        "energy": plant.CalcDerivatives(context, "potential_energy", "q", **given)["q"],
    }
    q, v, step = context.state.q.copy(), context.state.v.copy(), 1e-6
    for k, e in enumerate(np.eye(3)):
        ends, energies = [], []
        for sign in (1.0, -1.0):
            context.state.set_v(v + sign * step * e)
            ends.append(plant.CalcAccelerations(context))
            context.state.set_q(q + sign * step * e)
            energies.append(plant.CalcPotentialEnergy(context))
            context.state.set_q(q)
        np.testing.assert_allclose(found["accelerations"][:, k], (ends[0] - ends[1]) / (2 * step), atol=1e-6)
        assert found["energy"][k] == pytest.approx((energies[0] - energies[1]) / (2 * step), abs=1e-6)


def test_a_spring_of_a_cut_joint_keeps_the_energy_and_damping_takes_it():
    def springs(plant, joints):
        for k, joint in enumerate(joints.values()):
            plant.AddForceElement(RevoluteSpring(joint, 0.3 * k, 1.0 + k))

    config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-10)
    plant = four_bar(springs)
    context = moving_state(plant)
    energy = np.concatenate([b.energy for b in Run(plant, context, 2.0, config=config, sample_period=0.01).blocks()])
    assert np.ptp(energy[:, 0]) > 0.5
    np.testing.assert_allclose(energy.sum(axis=1), energy[0].sum(), atol=1e-8)

    def damped(plant, joints):
        for joint in joints.values():
            joint.set_default_damping(0.5)

    for time_step in (0.0, 1e-3):
        plant = four_bar(damped, time_step=time_step)
        context = moving_state(plant)
        energy = np.concatenate([b.energy for b in Run(plant, context, 1.0, config=config, sample_period=0.1).blocks()])
        assert (np.diff(energy.sum(axis=1)) < 0.0).all()


def slider(prismatic_first):
    """A slider along x that a crank and a rod push, with a spring and damping, cut at the slider or at the rod."""
    plant = MultibodyPlant(0.0)
    plant.mutable_gravity_field().set_gravity_vector(GRAVITY)
    crank, rod, block = bar(plant, "crank", 0.5), bar(plant, "rod", 1.5), bar(plant, "block", 0.2, 3.0)
    guide = plant.AddFrame(FixedOffsetFrame("guide", plant.world_frame(), RigidTransform([1.0, 0.1, 0.0])))

    def slide():
        joint = plant.AddJoint(PrismaticJoint("slide", guide, block.body_frame(), [1, 0, 0], damping=2.0))
        plant.AddForceElement(PrismaticSpring(joint, 0.2, 30.0))

    if prismatic_first:
        slide()
    pivot = plant.AddJoint(RevoluteJoint("pivot", plant.world_frame(), crank.body_frame(), Z, 0.1))
    tip = end_of(plant, crank, 0.5, "tip")
    pin = plant.AddJoint(RevoluteJoint("pin", tip, rod.body_frame(), Z, 0.1))
    plant.AddJoint(RevoluteJoint("end", end_of(plant, rod, 1.5, "head"), block.body_frame(), Z, 0.1))
    if not prismatic_first:
        slide()
    plant.Finalize()
    context = plant.CreateDefaultContext()
    pivot.set_angle(context, 0.9)
    pin.set_angle(context, -1.1)
    assemble_context(context, 1e-13)
    return plant, context


def test_a_cut_prismatic_joint_has_its_spring_and_damping():
    found = []
    for prismatic_first in (True, False):
        plant, context = slider(prismatic_first)
        assert cut(plant) == ["end" if prismatic_first else "slide"]
        crank = plant.GetJointByName("pivot")
        target = 0.9
        for _ in range(30):  # the same state in both: by the angle of the crank
            step = target - crank.get_angle(context)
            null = np.linalg.svd(ClosedChains(context).position_errors(context.state.q)[1])[2][-1]
            context.state.set_q(context.state.q + null * step / null[crank.velocity_start()])
            assemble_context(context, 1e-14)
        null = np.linalg.svd(ClosedChains(context).position_errors(context.state.q)[1])[2][-1]
        context.state.set_v(2.0 * null / null[crank.velocity_start()])
        vdot = plant.CalcForwardDynamics(context)
        found.append((crank.get_angle(context), vdot[crank.velocity_start()], plant.CalcPotentialEnergy(context)))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8)


def test_a_distance_constraint_of_finite_stiffness_is_a_spring_damper_in_a_continuous_plant():
    found = []
    for as_constraint in (True, False):
        plant = MultibodyPlant(0.0)
        ends = [bar(plant, f"bar{k}", 1.0) for k in range(2)]
        points = ends[0], [0.1, 0.2, 0.3], ends[1], [0.0, -0.2, 0.1]
        if as_constraint:
            constraint = plant.AddDistanceConstraint(*points, 0.8, 50.0, 2.0)
        else:
            plant.AddForceElement(LinearSpringDamper(*points, 0.8, 50.0, 2.0))
        plant.Finalize()
        context = plant.CreateDefaultContext()
        rng = np.random.default_rng(3)
        plant.SetFreeBodyPose(context, ends[1], RigidTransform([0.7, 0.4, -0.2]))
        context.state.set_v(rng.normal(size=12))
        accelerations = plant.CalcForwardDynamics(context)
        energy = plant.CalcPotentialEnergy(context)
        config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-9)
        run_context = context.Clone()
        list(Run(plant, run_context, 0.5, config=config).blocks())
        found.append((accelerations, [energy], run_context.state.q))
        if as_constraint:
            plant.SetConstraintActiveStatus(context, constraint, False)
            free = plant.CalcForwardDynamics(context)
            assert np.abs(free - accelerations).max() > 1.0
            assert plant.CalcPotentialEnergy(context) != energy
            plant.SetConstraintActiveStatus(context, constraint, True)
            params = plant.GetDistanceConstraintParams(context, constraint)
            rigid = type(params)(
                params.bodyA(), params.p_AP(), params.bodyB(), params.p_BQ(), params.distance(), math.inf, 0.0
            )
            plant.SetDistanceConstraintParams(context, constraint, rigid)
            vdot = plant.CalcForwardDynamics(context)
            G = ClosedChains(context).velocity_errors(context.state.q, context.state.v)[1]
            assert G.shape == (1, 12)
            assert np.abs(vdot - free).max() > 0.1
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-9)


def all_driven(plant, joints):
    for name, joint in joints.items():
        plant.AddJointActuator(f"motor_{name}", joint)


def all_driven_with_inertia(plant, joints):
    all_driven(plant, joints)
    for index in plant.GetJointActuatorIndices():
        plant.get_joint_actuator(index).set_default_rotor_inertia(0.01)


def test_an_actuator_without_an_input_that_has_nothing_to_do_lets_a_run_be():
    """As in SDFormat files that give no joint an effort limit of zero: all joints have actuators."""
    with pytest.warns(UserWarning, match="what it has does not act: actuator 'motor_right'"):
        plant = four_bar(all_driven, time_step=1e-3)
    assert plant.num_actuators() == 3
    assert len(list(Run(plant, moving_state(plant), 0.01).blocks())) > 0


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_a_run_refuses_an_actuator_that_cannot_act(time_step):
    with pytest.warns(UserWarning, match="what it has does not act: actuator 'motor_right'"):
        plant = four_bar(all_driven_with_inertia, time_step=time_step)
    message = (
        "joint 'right' closes a loop and has no coordinate, where actuator 'motor_right' cannot act; a joint of the "
        "loop that has none of that is cut in its place: take it from one of 'left', 'coupler', 'rocker'"
    )
    with pytest.raises(ModelError, match=message):
        Run(plant, moving_state(plant), 0.1)


def limit(right):
    def change(plant, joints):
        for name in ("left", "coupler", "rocker"):
            joints[name].set_position_limits([-math.pi], [math.pi])
        joints["right"].set_position_limits(*([x] for x in right))

    return change


def test_a_discrete_run_ends_where_a_limit_that_does_not_act_is_passed(monkeypatch):
    """Found between the bodies: the coordinate that the joint would have, as where another one is cut."""
    monkeypatch.setenv("MBCLI_JIT", "0")
    kept = four_bar(order=HINGES[::-1], time_step=1e-3)
    context = moving_state(kept)
    rows = np.concatenate([block.q for block in Run(kept, context, 0.1).blocks()])
    angle = rows[:, kept.GetJointByName("right").position_start()]
    with pytest.warns(UserWarning, match="closes a loop, what it has does not act: its limits"):
        plant = four_bar(limit((angle.min() - 0.01, angle.max() + 0.01)), time_step=1e-3)
    assert cut(plant) == ["right"]
    assert len(np.concatenate([block.q for block in Run(plant, moving_state(plant), 0.1).blocks()])) == 101
    with pytest.warns(UserWarning, match="its limits"):
        plant = four_bar(limit((angle.min() - 0.01, angle[50:52].mean())), time_step=1e-3)
    with pytest.raises(NumericalError, match=r"could act: it is at .*, its upper limit is .* at t = 0.051 s; .*'left'"):
        for _ in Run(plant, moving_state(plant), 0.1).blocks():
            pass


@pytest.mark.parametrize("time_step", [0.0, 1e-3])
def test_the_damping_of_a_ball_joint_acts_the_same_where_it_closes_the_loop(time_step):
    """Two rods between World and World on three ball joints: the loop is cut at the last one of equals."""
    found = []
    for order in (("left", "middle", "right"), ("right", "middle", "left")):
        plant = MultibodyPlant(time_step)
        rods = [
            plant.AddRigidBody(f"rod{k}", SpatialInertia.SolidBoxWithMass(1.0, 1.0, 0.1, 0.1).Shift([-0.5, 0.0, 0.0]))
            for k in range(2)
        ]
        ends = [
            plant.AddFrame(FixedOffsetFrame(f"end{k}", rod.body_frame(), RigidTransform([1.0, 0.0, 0.0])))
            for k, rod in enumerate(rods)
        ]
        pivot = plant.AddFrame(FixedOffsetFrame("pivot", plant.world_frame(), RigidTransform([1.2, 0.0, 0.0])))
        frames = {
            "left": (plant.world_frame(), rods[0].body_frame()),
            "middle": (ends[0], rods[1].body_frame()),
            "right": (pivot, ends[1]),
        }
        for name in order:
            plant.AddJoint(BallRpyJoint(name, *frames[name], 0.3 if name != "middle" else 0.2))
        plant.Finalize()
        assert cut(plant) == [order[-1]]
        context = plant.CreateDefaultContext()
        found.append((plant, context, rods))
    plant, context, rods = found[0]
    rng = np.random.default_rng(2)
    q = assemble_within_limits(context, rng.normal(scale=0.8, size=6))[0].q
    plant.SetPositions(context, q)
    plant.SetVelocities(context, ClosedChains(context).assemble_velocities(q, rng.normal(size=6)))
    other, context_2, rods_2 = found[1]
    poses = [rod.EvalPoseInWorld(context) for rod in rods]
    speeds = [rod.EvalSpatialVelocityInWorld(context) for rod in rods]
    R = [pose.rotation().matrix() for pose in poses]
    # from the right: World -> rod1 about its end, rod0 about the middle
    right, middle = other.GetJointByName("right"), other.GetJointByName("middle")
    for joint, R_FM, w_FM in (
        (right, R[1], speeds[1].rotational()),
        (middle, R[0].T @ R[1], R[0].T @ (speeds[1].rotational() - speeds[0].rotational())),
    ):
        joint.set_angles(context_2, RollPitchYaw(RotationMatrix(R_FM)).vector())
        joint.set_angular_velocity(context_2, w_FM)
    for a, b in zip(rods, rods_2, strict=True):
        np.testing.assert_allclose(
            a.EvalPoseInWorld(context).GetAsMatrix4(), b.EvalPoseInWorld(context_2).GetAsMatrix4(), atol=1e-9
        )
    assert plant.CalcNonConservativePower(context) < -0.01  # what the cut joint takes; that of others is not among it
    accelerations = []
    for p, c, bodies in ((plant, context, rods), (other, context_2, rods_2)):
        A = p.CalcSpatialAccelerationsFromVdot(c, p.CalcForwardDynamics(c))
        accelerations.append([A[int(body.index())].get_coeffs() for body in bodies])
    np.testing.assert_allclose(*accelerations, atol=1e-8)


INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{}}"><inertial><mass value="1"/>{INERTIA}</inertial></link>'
HINGE = '<joint name="to_{0}" type="continuous"><parent link="a"/><child link="{0}"/></joint>'
LOOP = '<loop_joint name="loop" type="{}"><link1 link="b" xyz="0 0 1"/><link2 link="c" xyz="0 0 1"/></loop_joint>'


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "spherical"])
def test_a_joint_that_closes_a_loop_says_that_it_has_no_coordinates(kind):
    """It reads and writes none of those of others: all were set to the value before."""
    links = "".join(map(LINK.format, "abc")) + HINGE.format("b") + HINGE.format("c")
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModelsFromString(f'<robot name="r">{links}{LOOP.format(kind)}</robot>', "urdf")
    joint = plant.GetJointByName("loop")
    with pytest.raises(RuntimeError, match="joint 'loop': the plant must be finalized first"):
        joint.position_start()
    plant.Finalize()
    context = plant.CreateDefaultContext()
    before = plant.GetPositionsAndVelocities(context).copy()
    names = (
        "position_start",
        "velocity_start",
        "GetPositions",
        "GetVelocities",
        "Lock",
        "GetOnePosition",
        "GetOneVelocity",
    )
    names += (
        "get_angle",
        "get_angular_rate",
        "get_translation",
        "get_translation_rate",
        "get_quaternion",
        "get_angles",
    )
    writers = {
        "set_angle",
        "set_angular_rate",
        "set_translation",
        "set_translation_rate",
        "SetPositions",
        "SetVelocities",
    }
    for name in (*names, *sorted(writers)):
        if not hasattr(joint, name) or (kind == "spherical" and "One" in name):
            continue
        size = joint.num_velocities() if "Velocities" in name else joint.num_positions()
        value = [0.3 if "_" in name else [0.3] * size] if name in writers else []
        arguments = [] if "start" in name else [context, *value]
        with pytest.raises(RuntimeError, match="joint 'loop' closes a loop: .* no positions and velocities of its own"):
            getattr(joint, name)(*arguments)
    assert (plant.GetPositionsAndVelocities(context) == before).all() and not joint.is_locked(context)
    assert joint.can_rotate() == (kind != "prismatic")
