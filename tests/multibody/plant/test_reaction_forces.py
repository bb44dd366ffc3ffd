"""What joints transmit: the spatial force on the child at its joint frame, along that frame's axes."""

import numpy as np
import pytest
from moving_states import assert_close
from random_trees import bodies_of, random_context, random_plant

from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from mbcli.multibody.tree import FixedOffsetFrame, MultibodyForces, RevoluteJoint, SpatialInertia, WeldJoint

G = 9.81
# Rounding of accelerations of a few thousand that forward dynamics gives.
FORWARD_DYNAMICS = 1e-10
OPTIONS = ({}, {"trees": 2, "floating_bases": 1}, {"reversed_probability": 1.0}, {"trees": 3, "floating_bases": 2})


def reactions(plant, context):
    return plant.get_reaction_forces_output_port().Eval(context)


def loaded(plant, seed):
    """A context in a random state, with actuation, generalized forces and pushes on two bodies."""
    rng = np.random.default_rng(seed)
    context = random_context(plant, rng)
    plant.get_actuation_input_port().FixValue(context, rng.normal(size=plant.num_actuators()))
    plant.get_applied_generalized_force_input_port().FixValue(context, rng.normal(size=plant.num_velocities()))
    pushes = []
    for body in (bodies_of(plant)[k] for k in (2, -1)):
        push = ExternallyAppliedSpatialForce()
        push.body_index, push.p_BoBq_B = body.index(), rng.normal(size=3)
        push.F_Bq_W = SpatialForce(F=10.0 * rng.normal(size=6))
        pushes.append(push)
    plant.get_applied_spatial_force_input_port().FixValue(context, pushes)
    return context, pushes


def joints_of(plant):
    return [plant.get_joint(k) for k in plant.GetJointIndices()]


def in_world(context, joint, F_CJc_Jc):
    """The force on the child at the origin of its joint frame, in World, and where that is."""
    X_WJc = joint.frame_on_child().CalcPoseInWorld(context)
    return F_CJc_Jc.Rotate(X_WJc.rotation()), X_WJc.translation()


def anchored_plant(reversed_probability):
    """The first of many random plants that stands on a body which is welded to World and carries moving ones."""
    for seed in range(100):
        plant = random_plant(seed, reversed_probability=reversed_probability, elements=True)
        first = joints_of(plant)[0]
        if first.type_name() == "weld" and joints_of(plant)[1].type_name() != "weld":
            return plant
    raise AssertionError("none of the plants starts with a weld")


@pytest.fixture(params=[*range(4), "anchored", "anchored the other way round"])
def tree(request):
    if request.param in range(4):
        plant = random_plant(request.param, elements=True, **OPTIONS[request.param])
    else:
        plant = anchored_plant(0.0 if request.param == "anchored" else 1.0)
    return plant, *loaded(plant, 7)


def test_the_balance_of_every_body_closes(tree):
    """plant (c) 10, multibody_tree (c) 9: reactions, their opposites on parents, gravity, springs and pushes make the
    rate of momentum of each body, with reversed joints, welds and floating joints."""
    plant, context, pushes = tree
    sums = {body: np.zeros(6) for body in bodies_of(plant)}  # about Bo, in World

    def add(body, F_W, p_W):
        arm = p_W - body.EvalPoseInWorld(context).translation()
        sums[body] += F_W.Shift(-arm).get_coeffs()

    for joint, F in zip(joints_of(plant), reactions(plant, context), strict=True):
        F_W, p_WJc = in_world(context, joint, F)
        add(joint.child_body(), F_W, p_WJc)
        add(joint.parent_body(), -F_W, p_WJc)
    for push in pushes:
        body = plant.get_body(push.body_index)
        add(body, push.F_Bq_W, body.EvalPoseInWorld(context) @ push.p_BoBq_B)
    elements = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, elements)
    largest = 1.0
    for body in bodies_of(plant)[1:]:
        sums[body] += body.GetForceInWorld(context, elements).get_coeffs()
        R_WB = body.EvalPoseInWorld(context).rotation()
        M = body.CalcSpatialInertiaInBodyFrame(context).ReExpress(R_WB)
        A, w = body.EvalSpatialAccelerationInWorld(context), body.EvalSpatialVelocityInWorld(context).rotational()
        I, h = M.CalcRotationalInertia().CopyToFullMatrix3(), M.CalcComMoment()
        gyroscopic = np.concatenate([np.cross(w, I @ w), np.cross(w, np.cross(w, h))])
        needed = (M * A).get_coeffs() + gyroscopic
        largest = max(largest, abs(needed).max())
        np.testing.assert_allclose(sums[body], needed, rtol=0.0, atol=FORWARD_DYNAMICS * largest)


def test_the_reactions_of_the_roots_carry_the_whole_plant(tree):
    """plant (c) 10: all that World gives is sum m (a - g) less the pushes; spring-dampers to World count as World's."""
    plant, context, pushes = tree
    W = plant.world_body()
    from_world = np.zeros(3)
    for joint, F in zip(joints_of(plant), reactions(plant, context), strict=True):
        force = in_world(context, joint, F)[0].translational()
        if joint.parent_body() is W:
            from_world += force
        elif joint.child_body() is W:
            from_world -= force
    elements = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, elements)
    outside = sum(push.F_Bq_W.translational() for push in pushes)
    outside = outside + sum(body.GetForceInWorld(context, elements).translational() for body in bodies_of(plant)[1:])
    momentum_rate = plant.CalcTotalMass(context) * plant.CalcCenterOfMassTranslationalAccelerationInWorld(context)
    assert_close(from_world, momentum_rate - outside, FORWARD_DYNAMICS)


def test_along_its_motion_a_joint_transmits_what_acts_on_its_coordinates(tree):
    """multibody_tree (c) 9: H^T F is motor, spring, damping and applied force, less what turns the rotor."""
    plant, context, _ = tree
    vdot = plant.CalcForwardDynamics(context)
    elements = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, elements)
    inputs = plant.MakeActuationMatrix() @ plant.actuation(context)
    inputs += plant.get_applied_generalized_force_input_port().Eval(context)
    tau = inputs + elements.generalized_forces() - plant.model.dof_armature * vdot
    checked = 0
    for joint, F in zip(joints_of(plant), reactions(plant, context), strict=True):
        if joint.type_name() not in ("revolute", "prismatic"):
            continue
        part = F.rotational() if joint.type_name() == "revolute" else F.translational()
        along = part @ joint.axis()  # the same in both frames of the joint
        assert along == pytest.approx(tau[joint.velocity_start()], abs=1e-9 * max(1.0, abs(F.get_coeffs()).max()))
        checked += 1
    assert checked


def test_a_floating_joint_transmits_nothing_of_its_own():
    plant = random_plant(3, trees=0, floating_bases=1)
    context = random_context(plant, np.random.default_rng(0))
    for joint, F in zip(joints_of(plant), reactions(plant, context), strict=True):
        if joint.is_ephemeral():
            assert abs(F.get_coeffs()).max() < 1e-8


# closed forms


def pendulum(reversed_joint=False, turn=None, angle=0.0, rate=0.0):
    """A point-like bob of 2 kg on a rod of 0.7 m that hangs from a hinge about y; the bob's frame is at the hinge."""
    m, length = 2.0, 0.7
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.MakeFromCentralInertia(
        m, [0.0, 0.0, -length], SpatialInertia.SolidSphereWithMass(m, 0.01).CalcRotationalInertia()
    )
    body = plant.AddRigidBody("bob", inertia)
    R = RotationMatrix() if turn is None else turn
    on_world = plant.AddFrame(FixedOffsetFrame("on_world", plant.world_frame(), RigidTransform(R, [1.0, 2.0, 3.0])))
    on_body = plant.AddFrame(FixedOffsetFrame("on_body", body, RigidTransform(R, np.zeros(3))))
    frames = (on_body, on_world) if reversed_joint else (on_world, on_body)
    joint = plant.AddJoint(RevoluteJoint("hinge", *frames, R.inverse() @ np.array([0.0, 1.0, 0.0])))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joint.set_angle(context, angle)
    joint.set_angular_rate(context, rate)
    return plant, context, m, length


def test_tension_of_a_pendulum_at_its_lowest_point():
    """plant (c) 10: m (g + l w^2)."""
    plant, context, m, length = pendulum(rate=3.0)
    F = reactions(plant, context)[0]
    np.testing.assert_allclose(F.translational(), [0.0, 0.0, m * (G + length * 9.0)], atol=1e-12)
    np.testing.assert_allclose(F.rotational(), np.zeros(3), atol=1e-12)


def test_components_are_those_along_the_frame_on_the_child():
    """plant (c) 10: the frame turned by 90 degrees about x; the force that was along z is along its -y... or y."""
    turn = RotationMatrix.MakeXRotation(np.pi / 2.0)
    plant, context, m, length = pendulum(turn=turn, rate=3.0)
    F = reactions(plant, context)[0]
    expected = turn.matrix().T @ [0.0, 0.0, m * (G + length * 9.0)]
    np.testing.assert_allclose(F.translational(), expected, atol=1e-12)
    assert abs(expected[1]) > 1.0


def test_of_a_reversed_joint_the_child_is_world():
    """plant (c) 10: the force on World at its joint frame, the opposite of the force on the bob."""
    plant, context, m, length = pendulum(angle=0.6, rate=3.0)
    twin, twin_context, _, _ = pendulum(reversed_joint=True, angle=-0.6, rate=-3.0)
    bob, same_bob = plant.GetBodyByName("bob"), twin.GetBodyByName("bob")
    np.testing.assert_allclose(
        same_bob.EvalPoseInWorld(twin_context).GetAsMatrix4(), bob.EvalPoseInWorld(context).GetAsMatrix4(), atol=1e-15
    )
    on_bob, on_world = (
        in_world(c, p.GetJointByName("hinge"), reactions(p, c)[0])[0].get_coeffs()
        for p, c in ((plant, context), (twin, twin_context))
    )
    np.testing.assert_allclose(on_world, -on_bob, atol=1e-12)
    assert abs(on_bob).max() > m * G


def test_a_weld_carries_the_weight_and_the_moment_of_a_cantilever():
    """plant (c) 10: m g, and m g L about Jc."""
    m, length = 3.0, 0.5
    plant = MultibodyPlant(0.0)
    beam = plant.AddRigidBody("beam", SpatialInertia.PointMass(m, [length, 0.0, 0.0]))
    plant.AddJoint(WeldJoint("root", plant.world_frame(), beam.body_frame(), RigidTransform([0.0, 0.0, 2.0])))
    plant.Finalize()
    F = reactions(plant, plant.CreateDefaultContext())[0]
    np.testing.assert_allclose(F.translational(), [0.0, 0.0, m * G], atol=1e-13)
    np.testing.assert_allclose(F.rotational(), [0.0, -m * G * length, 0.0], atol=1e-13)


def test_welds_between_bodies_that_move_as_one_carry_what_is_outboard():
    """Three bricks welded in a row below a hinge: each weld holds those below it."""
    plant = MultibodyPlant(0.0)
    bricks = [plant.AddRigidBody(f"brick{k}", SpatialInertia.SolidCubeWithMass(1.0 + k, 0.1)) for k in range(3)]
    plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), bricks[0].body_frame(), [0.0, 1.0, 0.0]))
    below = RigidTransform([0.0, 0.0, -0.2])
    plant.WeldFrames(bricks[0].body_frame(), bricks[1].body_frame(), below)
    plant.AddJoint(WeldJoint("upside_down", bricks[2].body_frame(), bricks[1].body_frame(), below.inverse()))
    plant.Finalize()
    hinge, weld, upside_down = reactions(plant, plant.CreateDefaultContext())
    np.testing.assert_allclose(hinge.translational(), [0.0, 0.0, 6.0 * G], atol=1e-12)
    np.testing.assert_allclose(weld.translational(), [0.0, 0.0, 5.0 * G], atol=1e-12)
    # its child is the middle brick, which it pulls down by the weight of the last
    np.testing.assert_allclose(upside_down.translational(), [0.0, 0.0, -3.0 * G], atol=1e-12)


def test_a_weld_whose_child_is_world_carries_what_hangs_on_its_parent():
    """plant (c) 10: a bracket welded the wrong way round, a bob at rest on its end; World feels both."""
    plant = MultibodyPlant(0.0)
    bracket = plant.AddRigidBody("bracket", SpatialInertia.PointMass(1.0, [0.2, 0.0, 0.0]))
    bob = plant.AddRigidBody("bob", SpatialInertia.PointMass(2.0, [0.0, 0.0, -0.3]))
    end = plant.AddFrame(FixedOffsetFrame("end", bracket, RigidTransform([0.5, 0.0, 0.0])))
    plant.AddJoint(WeldJoint("root", bracket.body_frame(), plant.world_frame(), RigidTransform([0.0, 0.0, -4.0])))
    plant.AddJoint(RevoluteJoint("hinge", end, bob.body_frame(), [0.0, 1.0, 0.0]))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    np.testing.assert_array_equal(bracket.EvalPoseInWorld(context).translation(), [0.0, 0.0, 4.0])
    F = reactions(plant, context)[0]
    np.testing.assert_allclose(F.translational(), [0.0, 0.0, -3.0 * G], atol=1e-12)
    np.testing.assert_allclose(F.rotational(), [0.0, (1.0 * 0.2 + 2.0 * 0.5) * G, 0.0], atol=1e-12)


def test_reactions_follow_the_parameters_of_the_context():
    plant, context, m, _ = pendulum()
    plant.GetBodyByName("bob").SetMass(context, 2.0 * m)
    assert reactions(plant, context)[0].translational()[2] == pytest.approx(2.0 * m * G)
    assert reactions(plant, plant.CreateDefaultContext())[0].translational()[2] == pytest.approx(m * G)


def test_the_port_needs_a_finalized_plant_and_its_own_context():
    with pytest.raises(RuntimeError, match="get_reaction_forces_output_port: call Finalize"):
        MultibodyPlant(0.0).get_reaction_forces_output_port()
    plant, _, _, _ = pendulum()
    _, foreign, _, _ = pendulum()
    with pytest.raises(RuntimeError, match="another plant"):
        reactions(plant, foreign)


def test_a_plant_without_joints_has_no_reactions():
    plant = MultibodyPlant(0.0)
    plant.Finalize()
    assert reactions(plant, plant.CreateDefaultContext()) == []
