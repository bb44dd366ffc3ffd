"""Removal, selectors, welded groups, floating bases: spec/plant.md (a) 2, 5, 19 and (c) 13, 29."""

import numpy as np
import pytest

from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.math import SpatialVelocity
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    FixedOffsetFrame,
    JointIndex,
    PlanarJoint,
    PrismaticJoint,
    RevoluteJoint,
    RevoluteSpring,
    SpatialInertia,
    WeldJoint,
)


def box(mass=1.0):
    return SpatialInertia.SolidBoxWithMass(mass, 0.1, 0.2, 0.3)


def chain(*kinds):
    """World - b1 - b2 - ... by joints j1, j2, ... of the given kinds."""
    plant = MultibodyPlant(0.0)
    parent = plant.world_body()
    for k, kind in enumerate(kinds, start=1):
        body = plant.AddRigidBody(f"b{k}", box())
        frames = (f"j{k}", parent.body_frame(), body.body_frame())
        plant.AddJoint(kind(*frames, [0, 0, 1]) if kind in (RevoluteJoint, PrismaticJoint) else kind(*frames))
        parent = body
    return plant


def names(bodies):
    return sorted(body.name() for body in bodies)


def test_29_removed_indices_are_not_used_again_and_others_stay():
    plant = chain(RevoluteJoint, RevoluteJoint, RevoluteJoint)
    last = plant.GetJointByName("j3")
    plant.RemoveJoint(plant.GetJointByName("j1"))
    plant.RemoveJoint(last)
    b3 = plant.GetBodyByName("b3")
    added = plant.AddJoint(PrismaticJoint("j4", plant.world_frame(), b3.body_frame(), [1, 0, 0]))
    assert int(added.index()) == 3
    assert [int(i) for i in plant.GetJointIndices()] == [1, 3]
    assert plant.num_joints() == 2
    assert [plant.has_joint(JointIndex(k)) for k in range(4)] == [False, True, False, True]
    assert plant.get_joint(JointIndex(3)) is added
    with pytest.raises(RuntimeError, match="no joint with index 0"):
        plant.get_joint(JointIndex(0))
    plant.Finalize()
    assert plant.get_joint(JointIndex(1)).name() == "j2"


def test_29_a_joint_that_something_depends_on_cannot_be_removed():
    plant = chain(RevoluteJoint, RevoluteJoint)
    j1, j2 = plant.GetJointByName("j1"), plant.GetJointByName("j2")
    motor = plant.AddJointActuator("motor", j1)
    with pytest.raises(RuntimeError, match="'j1'.*'motor'"):
        plant.RemoveJoint(j1)
    plant.RemoveJointActuator(motor)
    assert not plant.has_joint_actuator(motor.index())
    plant.AddForceElement(RevoluteSpring(j2, 0.0, 1.0))
    with pytest.raises(RuntimeError, match="'j1'.*force elements"):
        plant.RemoveJoint(j1)
    assert plant.num_joints() == 2
    plant.Finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        plant.RemoveJoint(j1)


def test_13_actuators_keep_their_order_after_a_removal():
    plant = chain(RevoluteJoint, RevoluteJoint, RevoluteJoint)
    motors = [plant.AddJointActuator(f"m{k}", plant.GetJointByName(f"j{k}")) for k in (1, 2, 3)]
    plant.RemoveJointActuator(motors[0])
    plant.Finalize()
    assert [m.input_start() for m in motors[1:]] == [0, 1]
    assert np.array_equal(plant.MakeActuationMatrix(), np.eye(3)[:, 1:])
    assert np.array_equal(plant.MakeActuationMatrixPseudoinverse().toarray(), np.eye(3)[1:])


def test_14_selectors_take_coordinates_in_the_users_order():
    plant = chain(PlanarJoint, RevoluteJoint, PrismaticJoint)
    motor = plant.AddJointActuator("m3", plant.GetJointByName("j3"))
    plant.AddJointActuator("m2", plant.GetJointByName("j2"))
    plant.Finalize()
    x = np.arange(10.0)
    j1, j2, j3 = (plant.GetJointByName(n).index() for n in ("j1", "j2", "j3"))
    assert (plant.MakeStateSelectorMatrix([j3, j1]) @ x).tolist() == [4, 0, 1, 2, 9, 5, 6, 7]
    assert np.array_equal(plant.MakeStateSelectorMatrixFromJointNames(["j2"]), plant.MakeStateSelectorMatrix([j2]))
    assert (plant.MakeActuatorSelectorMatrix([j2, j3]) @ [7.0, 8.0]).tolist() == [8.0, 7.0]
    assert (plant.MakeActuatorSelectorMatrix([motor.index()]) @ [5.0]).tolist() == [5.0, 0.0]
    with pytest.raises(RuntimeError, match="'j2' is listed twice"):
        plant.MakeStateSelectorMatrix([j2, j1, j2])
    with pytest.raises(RuntimeError, match="'j1' has no actuator"):
        plant.MakeActuatorSelectorMatrix([j1])
    with pytest.raises(RuntimeError, match="'nothing'"):
        plant.MakeStateSelectorMatrixFromJointNames(["nothing"])


def test_13_actuation_of_an_instance_is_gathered_and_scattered():
    plant = MultibodyPlant(0.0)
    instances = [plant.AddModelInstance(n) for n in ("a", "b")]
    for n in range(4):
        body = plant.AddRigidBody(f"b{n}", instances[n % 2], box())
        joint = plant.AddJoint(RevoluteJoint(f"j{n}", plant.world_frame(), body.body_frame(), [0, 0, 1]))
        plant.AddJointActuator(f"m{n}", joint)
    plant.Finalize()
    u = np.arange(4.0)
    assert plant.GetActuationFromArray(instances[1], u).tolist() == [1.0, 3.0]
    plant.SetActuationInArray(instances[0], [8.0, 9.0], u)
    assert u.tolist() == [8.0, 1.0, 9.0, 3.0]
    with pytest.raises(RuntimeError, match="2 elements"):
        plant.SetActuationInArray(instances[0], [1.0], u)
    assert u.tolist() == [8.0, 1.0, 9.0, 3.0]


def test_5_welded_groups_floating_bases_and_what_joints_move():
    plant = MultibodyPlant(0.0)
    a, b, c, d, e = (plant.AddRigidBody(n, box()) for n in "abcde")
    plant.AddJoint(WeldJoint("w1", plant.world_frame(), a.body_frame()))
    plant.AddJoint(WeldJoint("w2", b.body_frame(), a.body_frame()))  # against the tree
    hinge = plant.AddJoint(RevoluteJoint("hinge", b.body_frame(), c.body_frame(), [0, 0, 1]))
    plant.AddJoint(WeldJoint("w3", c.body_frame(), d.body_frame()))
    assert names(plant.GetBodiesWeldedTo(plant.world_body())) == ["a", "b", "world"]
    assert names(plant.GetBodiesWeldedTo(d)) == ["c", "d"]
    assert names(plant.GetBodiesWeldedTo(e)) == ["e"]
    plant.Finalize()
    assert plant.IsAnchored(b) and not plant.IsAnchored(c)
    assert [int(i) for i in plant.GetBodiesKinematicallyAffectedBy([hinge.index()])] == [int(x.index()) for x in (c, d)]
    with pytest.raises(RuntimeError, match="'w1'.*moves no body"):
        plant.GetBodiesKinematicallyAffectedBy([plant.GetJointByName("w1").index()])
    instance = a.model_instance()
    assert not plant.HasUniqueFreeBaseBody(instance)  # the group on World has a base too
    with pytest.raises(RuntimeError, match="no unique floating base: 'a', 'e'"):
        plant.GetUniqueFreeBaseBodyOrThrow(instance)
    with pytest.raises(RuntimeError, match="no unique floating base"):
        plant.GetUniqueFreeBaseBodyOrThrow(plant.world_body().model_instance())
    text = plant.GetTopologyGraphvizString()
    assert text.startswith("digraph") and "hinge [revolute]" in text


@pytest.mark.peers("pydrake")
def test_structure_queries_equal_pydrake():
    from pydrake.multibody import plant as drake, tree as trees

    from mbcli.multibody import plant as our_plant, tree as our_trees

    def build(plants, t):
        plant = plants.MultibodyPlant(0.0)
        inertia = t.SpatialInertia.SolidBoxWithMass(1.0, 0.1, 0.2, 0.3)
        bodies = [plant.AddRigidBody(f"b{k}", inertia) for k in range(6)]
        plant.AddJoint(t.RevoluteJoint("r", plant.world_frame(), bodies[0].body_frame(), [0, 0, 1]))
        plant.AddJoint(t.PlanarJoint("p", bodies[0].body_frame(), bodies[1].body_frame(), [0, 0, 0]))
        plant.WeldFrames(bodies[1].body_frame(), bodies[2].body_frame())
        plant.AddJoint(t.PrismaticJoint("s", bodies[4].body_frame(), bodies[3].body_frame(), [1, 0, 0]))
        plant.AddJointActuator("ms", plant.GetJointByName("s"))
        plant.AddJointActuator("mr", plant.GetJointByName("r"))
        plant.Finalize()
        joints = [plant.GetJointByName(n).index() for n in ("s", "p")]
        return (
            plant.MakeStateSelectorMatrix(joints),
            plant.MakeActuatorSelectorMatrix([plant.GetJointByName("r").index()]),
            plant.MakeActuationMatrix(),
            plant.MakeActuationMatrixPseudoinverse().toarray(),
            sorted(int(i) for i in plant.GetBodiesKinematicallyAffectedBy(joints)),
            sorted(int(i) for i in plant.GetFloatingBaseBodies()),
            names(plant.GetBodiesWeldedTo(bodies[1])),
        )

    for ours, theirs in zip(build(our_plant, our_trees), build(drake, trees), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("placed", ["on the bodies", "on frames at the bodies"])
def test_11_a_frame_at_a_body_is_one_frame_more_and_moves_nothing(placed):
    """multibody_tree (c) 11: a joint between bodies adds no frame; frames that coincide with theirs are counted."""
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", box())
    frames = [plant.world_frame(), body.body_frame()]
    if placed != "on the bodies":
        frames = [plant.AddFrame(FixedOffsetFrame(f"at {f.name()}", f, RigidTransform())) for f in frames]
    joint = plant.AddJoint(RevoluteJoint("pin", *frames, [0.0, 1.0, 0.0]))
    plant.Finalize()
    assert plant.num_frames() == (2 if placed == "on the bodies" else 4)
    context = plant.CreateDefaultContext()
    joint.set_angle(context, 0.7)
    np.testing.assert_allclose(
        body.EvalPoseInWorld(context).rotation().matrix(), RotationMatrix.MakeYRotation(0.7).matrix(), atol=1e-15
    )


def test_15_bodies_without_joints_are_free_and_start_at_the_identity():
    """multibody_tree (c) 15, tree (c) 25: the default quaternion is 1, 0, 0, 0, and not zero."""
    plant = MultibodyPlant(0.0)
    free, held = plant.AddRigidBody("free", box()), plant.AddRigidBody("held", box())
    plant.AddJoint(RevoluteJoint("pin", plant.world_frame(), held.body_frame(), [0, 0, 1]))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    assert (plant.num_joints(), plant.num_positions(), plant.num_velocities()) == (2, 8, 7)
    assert free.is_floating_base_body() and free.has_quaternion_dofs() and not held.is_floating()
    q = plant.GetPositions(context)[free.floating_positions_start() :]
    np.testing.assert_array_equal(q[:7], [1, 0, 0, 0, 0, 0, 0])
    assert not plant.GetVelocities(context).any()
    for setter in (
        lambda: plant.SetFreeBodyPose(context, held, RigidTransform()),
        lambda: plant.SetFreeBodySpatialVelocity(held, SpatialVelocity.Zero(), context),
    ):
        with pytest.raises(RuntimeError, match="body 'held' is not a free body"):
            setter()


def test_16_the_height_counts_the_bodies_of_the_longest_path():
    """multibody_tree (c) 16: World alone is 1; welded bodies count, a loop does not."""
    plant = MultibodyPlant(0.0)
    plant.Finalize()
    assert plant.tree_height() == 1
    plant = MultibodyPlant(0.0)
    with pytest.raises(RuntimeError, match="tree_height"):
        plant.tree_height()
    a, b, c, alone = (plant.AddRigidBody(name, box()) for name in ("a", "b", "c", "alone"))
    for n, (inboard, body) in enumerate(((plant.world_body(), a), (a, b), (plant.world_body(), c))):
        plant.AddJoint(RevoluteJoint(f"pin{n}", inboard.body_frame(), body.body_frame(), [0, 0, 1]))
    plant.WeldFrames(b.body_frame(), plant.AddRigidBody("d", box()).body_frame())
    plant.WeldFrames(alone.body_frame(), plant.AddRigidBody("e", box()).body_frame())
    plant.Finalize()
    assert plant.tree_height() == 4
