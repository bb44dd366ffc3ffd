"""What a caller gives to a plant, or gets from it, is the caller's own: changed later, it changes no result."""

import copy

import numpy as np
import pytest

from mbcli.math import RigidTransform
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant, Propeller, PropellerInfo, Wing
from mbcli.multibody.tree import (
    BallRpyJoint,
    BodyIndex,
    PlanarJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    SpatialInertia,
    UniversalJoint,
    WeldJoint,
)
from mbcli.systems.primitives import LinearSystem

BOX = SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3)


def one_joint(make, time_step=0.0, finalize=True):
    plant = MultibodyPlant(time_step)
    body = plant.AddRigidBody("body", BOX)
    joint = plant.AddJoint(make("joint", plant.world_frame(), body.body_frame()))
    if finalize:
        plant.Finalize()
    return plant, joint


def hinge(*arguments):
    return RevoluteJoint(*arguments, [0.0, 1.0, 0.0])


def test_applied_forces_act_as_they_were_fixed():
    plant, _ = one_joint(hinge)
    context = plant.CreateDefaultContext()
    p, force, F = np.array([0.3, 0.0, 0.0]), ExternallyAppliedSpatialForce(), SpatialForce(np.arange(6.0))
    force.body_index, force.p_BoBq_B, force.F_Bq_W = BodyIndex(1), p, F
    forces = [force]
    port = plant.get_applied_spatial_force_input_port()
    port.FixValue(context, forces)
    before = plant.CalcForwardDynamics(context)
    p[:] = 9.0
    F.SetZero()
    force.F_Bq_W.SetZero()
    force.p_BoBq_B, force.body_index = np.zeros(3), BodyIndex(0)
    forces.append(force)
    port.Eval(context).clear()
    port.Eval(context)[0].F_Bq_W.SetZero()
    context.SetTime(1.0)  # nothing is remembered from there on
    np.testing.assert_array_equal(plant.CalcForwardDynamics(context), before)


def test_an_applied_force_has_its_own_numbers():
    p, F, force = np.ones(3), SpatialForce(np.ones(6)), ExternallyAppliedSpatialForce()
    force.p_BoBq_B, force.F_Bq_W = p, F
    p[:] = 0.0
    F.SetZero()
    np.testing.assert_array_equal(force.p_BoBq_B, np.ones(3))
    np.testing.assert_array_equal(force.F_Bq_W.get_coeffs(), np.ones(6))
    with pytest.raises(ValueError, match="read-only"):
        force.p_BoBq_B[0] = 2.0


def test_a_copy_of_an_applied_force_stays():
    force = ExternallyAppliedSpatialForce()
    force.body_index, force.p_BoBq_B, force.F_Bq_W = BodyIndex(1), [1.0, 2.0, 3.0], SpatialForce(np.ones(6))
    other = copy.copy(force)
    force.F_Bq_W.SetZero()
    force.p_BoBq_B = np.zeros(3)
    np.testing.assert_array_equal(other.F_Bq_W.get_coeffs(), np.ones(6))
    np.testing.assert_array_equal(other.p_BoBq_B, [1.0, 2.0, 3.0])
    assert other.body_index == 1


DEFAULTS = {
    "positions": (hinge, "set_default_positions", 1),
    "angles of a universal joint": (UniversalJoint, "set_default_angles", 2),
    "angles of a ball joint": (BallRpyJoint, "set_default_angles", 3),
    "translation of a planar joint": (PlanarJoint, "set_default_translation", 2),
    "translation of a floating joint": (QuaternionFloatingJoint, "set_default_translation", 3),
}


@pytest.mark.parametrize(("make", "method", "size"), DEFAULTS.values(), ids=DEFAULTS)
def test_default_positions_stay(make, method, size):
    plant, joint = one_joint(make)
    value = np.full(size, 0.4)
    getattr(joint, method)(value)
    before = plant.GetDefaultPositions()
    value[:] = 7.0
    joint.default_positions()[:] = 7.0
    np.testing.assert_array_equal(plant.GetDefaultPositions(), before)
    np.testing.assert_array_equal(plant.GetPositions(plant.CreateDefaultContext()), before)


def test_the_pose_of_a_weld_stays():
    X = RigidTransform([1.0, 2.0, 3.0])
    plant, weld = one_joint(lambda *f: WeldJoint(*f, X), finalize=False)
    X.set_translation([0.0, 0.0, 0.0])
    weld.X_FM().set_translation([0.0, 0.0, 0.0])
    plant.Finalize()
    pose = plant.EvalBodyPoseInWorld(plant.CreateDefaultContext(), weld.child_body())
    np.testing.assert_array_equal(pose.translation(), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("kind", ["weld", "loop"])
def test_the_frames_of_a_constraint_stay(kind):
    def accelerations(spoiled):
        plant, X = MultibodyPlant(0.0), RigidTransform([0.2, 0.0, 0.0])
        bodies = [plant.AddRigidBody(name, BOX) for name in ("one", "other")]
        for body in bodies:
            plant.AddJoint(BallRpyJoint(body.name(), plant.world_frame(), body.body_frame()))
        if kind == "weld":
            plant.AddWeldConstraint(bodies[0], X, bodies[1], X)
        else:
            plant.AddLoopConstraint(*bodies, X, X, np.eye(6)[3:5])
        plant.Finalize()
        if spoiled:
            X.set_translation([0.0, 9.0, 0.0])
        context = plant.CreateDefaultContext()
        plant.SetVelocities(context, np.ones(6))
        return plant.CalcForwardDynamics(context)

    np.testing.assert_array_equal(accelerations(True), accelerations(False))


def test_the_inertia_of_a_body_stays():
    plant, M = MultibodyPlant(0.0), SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3)
    body = plant.AddRigidBody("body", M)
    expected = body.default_spatial_inertia().CopyToFullMatrix6()
    M.SetNaN()
    body.default_spatial_inertia().SetNaN()
    plant.Finalize()
    context = plant.CreateDefaultContext()
    body.CalcSpatialInertiaInBodyFrame(context).SetNaN()
    body.SetMass(context, 2.0)
    body.CalcSpatialInertiaInBodyFrame(context).SetNaN()
    np.testing.assert_array_equal(body.CalcSpatialInertiaInBodyFrame(context).CopyToFullMatrix6(), expected)
    np.testing.assert_array_equal(body.default_spatial_inertia().CopyToFullMatrix6(), expected)


def test_propellers_and_wings_stay_where_they_were_put():
    X = RigidTransform([1.0, 0.0, 0.0])
    info = PropellerInfo(BodyIndex(1), X)
    propeller, wing = Propeller([info]), Wing(BodyIndex(1), 0.5, X)
    X.set_translation([5.0, 5.0, 5.0])
    info.thrust_ratio = 100.0
    poses = [RigidTransform()] * 2
    (force,) = propeller.CalcSpatialForces([2.0], poses)
    np.testing.assert_array_equal(force.p_BoBq_B, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(force.F_Bq_W.translational(), [0.0, 0.0, 2.0])
    np.testing.assert_array_equal(wing.CalcAerodynamicCenter(poses[1]), [1.0, 0.0, 0.0])


def test_a_linear_system_has_its_own_matrices():
    A = np.eye(2)
    system = LinearSystem(A, A, A, A)
    A[:] = 5.0
    system.A()[:] = 5.0
    np.testing.assert_array_equal(system.A(), np.eye(2))


def test_a_state_vector_is_that_of_the_context_and_what_it_copies_is_not():
    plant, joint = one_joint(hinge)
    context = plant.CreateDefaultContext()
    x = context.get_continuous_state_vector()
    before = x.CopyToVector()
    joint.set_angle(context, 1.0)
    np.testing.assert_array_equal(before, [0.0, 0.0])
    np.testing.assert_array_equal(x.CopyToVector(), [1.0, 0.0])
    x.CopyToVector()[:] = 5.0
    assert joint.get_angle(context) == 1.0
