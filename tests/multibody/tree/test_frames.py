"""Frames: poses in bodies and in one another, and motions measured in moving frames."""

import numpy as np
import pytest
from moving_states import DIFFERENCES, assert_close, derivative, moved, plant_with_frames, unskew
from random_trees import bodies_of, random_plant, random_pose, random_rotation

from mbcli.math import RigidTransform
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, default_model_instance

ROUNDING = 1e-12
OPTIONS = ({}, {"trees": 2, "floating_bases": 1}, {"reversed_probability": 1.0}, {"trees": 3, "floating_bases": 1})


@pytest.fixture(params=range(4))
def scene(request):
    return plant_with_frames(request.param, **OPTIONS[request.param])


@pytest.fixture
def rng():
    return np.random.default_rng(5)


# motions


def rates_of_pose(plant, context, F, M):
    """w_MF and v_MFo in M, from how X_MF changes along v."""
    X = lambda t: F.CalcPose(moved(plant, context, t), M).GetAsMatrix4()  # noqa: E731
    rate = derivative(X)
    R_MF = F.CalcPose(context, M).rotation().matrix()
    return np.concatenate([unskew(rate[:3, :3] @ R_MF.T), rate[:3, 3]])


def test_velocity_in_a_moving_frame_is_the_rate_of_the_pose_in_it(scene):
    """tree (c) 5: measured in M, expressed in E; without w_WM x p it is wrong by much."""
    plant, context, (F, M, E) = scene
    expected = rates_of_pose(plant, context, F, M)
    R_EM = M.CalcRotationMatrix(context, E).matrix()
    V_MF_E = F.CalcSpatialVelocity(context, M, E)
    assert_close(V_MF_E.rotational(), R_EM @ expected[:3], DIFFERENCES)
    assert_close(V_MF_E.translational(), R_EM @ expected[3:], DIFFERENCES)
    np.testing.assert_array_equal(F.CalcAngularVelocity(context, M, E), V_MF_E.rotational())
    assert_close(
        F.CalcSpatialVelocityInWorld(context).get_coeffs(),
        rates_of_pose(plant, context, F, plant.world_frame()),
        DIFFERENCES,
    )
    np.testing.assert_array_equal(
        F.EvalAngularVelocityInWorld(context), F.CalcSpatialVelocityInWorld(context).rotational()
    )


def test_acceleration_in_a_moving_frame_is_the_rate_of_the_velocity_in_it(scene):
    """tree (c) 5, 6: along the forward dynamics; alpha x p, w x (w x p) and 2 w x v are in it."""
    plant, context, (F, M, E) = scene
    vdot = plant.CalcForwardDynamics(context)

    def V_MF_M(frame):
        return derivative(
            lambda t: F.CalcSpatialVelocity(moved(plant, context, t, vdot=vdot), frame, frame).get_coeffs()
        )

    expected = V_MF_M(M)
    R_EM = M.CalcRotationMatrix(context, E).matrix()
    A_MF_E = F.CalcSpatialAcceleration(context, M, E)
    assert_close(A_MF_E.rotational(), R_EM @ expected[:3], DIFFERENCES)
    assert_close(A_MF_E.translational(), R_EM @ expected[3:], DIFFERENCES)
    assert_close(F.CalcSpatialAccelerationInWorld(context).get_coeffs(), V_MF_M(plant.world_frame()), DIFFERENCES)


def test_acceleration_of_a_body_is_that_of_the_forward_dynamics(scene):
    """tree (c) 6: M vdot + C v = tau, and EvalBodySpatialAccelerationInWorld is what vdot gives."""
    plant, context, _ = scene
    vdot = plant.CalcForwardDynamics(context)
    expected = plant.CalcSpatialAccelerationsFromVdot(context, vdot)
    for body, A_WB_W in zip(bodies_of(plant), expected, strict=True):
        assert_close(
            plant.EvalBodySpatialAccelerationInWorld(context, body).get_coeffs(), A_WB_W.get_coeffs(), ROUNDING
        )
        assert_close(body.EvalSpatialAccelerationInWorld(context).get_coeffs(), A_WB_W.get_coeffs(), ROUNDING)
    np.testing.assert_array_equal(expected[0].get_coeffs(), np.zeros(6))


def test_relative_motions_are_differences_without_transport(scene):
    """V_WF - V_WB is the rate in World of the way from Bo to Fo, not V_BF."""
    plant, context, (F, M, E) = scene
    B, W = bodies_of(plant)[2].body_frame(), plant.world_frame()
    V = F.CalcRelativeSpatialVelocityInWorld(context, B)

    def way(t):
        other = moved(plant, context, t)
        return F.CalcPoseInWorld(other).translation() - B.CalcPoseInWorld(other).translation()

    assert_close(V.translational(), derivative(way), DIFFERENCES)
    for velocity, frames in ((F.CalcRelativeSpatialVelocity, (M, E)), (F.CalcRelativeSpatialVelocity, (W, W))):
        expected = F.CalcSpatialVelocity(context, *frames) - B.CalcSpatialVelocity(context, *frames)
        np.testing.assert_allclose(velocity(context, B, *frames).get_coeffs(), expected.get_coeffs(), rtol=1e-13)
    A = F.CalcRelativeSpatialAcceleration(context, B, M, E)
    expected = F.CalcSpatialAcceleration(context, M, E) - B.CalcSpatialAcceleration(context, M, E)
    np.testing.assert_allclose(A.get_coeffs(), expected.get_coeffs(), rtol=1e-13)
    A_W = F.CalcRelativeSpatialAccelerationInWorld(context, B)
    expected = F.CalcSpatialAccelerationInWorld(context) - B.CalcSpatialAccelerationInWorld(context)
    np.testing.assert_array_equal(A_W.get_coeffs(), expected.get_coeffs())


def test_a_frame_does_not_move_in_itself(scene):
    plant, context, (F, M, E) = scene
    np.testing.assert_array_equal(F.CalcSpatialVelocity(context, F, E).get_coeffs(), np.zeros(6))
    assert_close(F.CalcSpatialAcceleration(context, F, E).get_coeffs(), np.zeros(6), 1e-10)
    W = plant.world_frame()
    np.testing.assert_array_equal(W.CalcSpatialVelocityInWorld(context).get_coeffs(), np.zeros(6))
    np.testing.assert_array_equal(W.CalcSpatialAccelerationInWorld(context).get_coeffs(), np.zeros(6))
    assert W.CalcPoseInWorld(context).IsExactlyIdentity()


def test_poses_compose(scene):
    """tree (c) 4: X_MF = X_MW X_WB X_BF, by brute force."""
    plant, context, (F, M, _) = scene
    X_WF = F.body().EvalPoseInWorld(context) @ F.CalcPoseInBodyFrame(context)
    X_WM = M.body().EvalPoseInWorld(context) @ M.CalcPoseInBodyFrame(context)
    assert_close(F.CalcPoseInWorld(context).GetAsMatrix4(), X_WF.GetAsMatrix4(), ROUNDING)
    assert_close(F.CalcPose(context, M).GetAsMatrix4(), (X_WM.inverse() @ X_WF).GetAsMatrix4(), ROUNDING)
    X_MF = plant.CalcRelativeTransform(context, M, F)
    assert X_MF.IsExactlyEqualTo(F.CalcPose(context, M))
    for R in (F.CalcRotationMatrix(context, M), plant.CalcRelativeRotationMatrix(context, M, F)):
        np.testing.assert_array_equal(R.matrix(), X_MF.rotation().matrix())
    np.testing.assert_array_equal(
        F.CalcRotationMatrixInWorld(context).matrix(), F.CalcPoseInWorld(context).rotation().matrix()
    )


def test_what_is_returned_can_be_changed_without_harm(scene):
    plant, context, (F, M, E) = scene
    results = [
        lambda: F.CalcPose(context, M).GetAsMatrix4(),
        lambda: F.CalcSpatialVelocity(context, M, E).get_coeffs(),
        lambda: F.CalcSpatialAcceleration(context, M, E).get_coeffs(),
    ]
    before = [result() for result in results]
    F.CalcPose(context, M).set_translation([9.0, 9.0, 9.0])
    F.CalcSpatialVelocity(context, M, E).SetZero()
    F.CalcSpatialAcceleration(context, M, E).SetNaN()
    with pytest.raises(ValueError, match="read-only"):
        F.CalcPose(context, M).translation()[0] = 1.0
    for value, result in zip(before, results, strict=True):
        np.testing.assert_array_equal(result(), value)


def test_a_changed_state_or_input_changes_what_frames_answer(scene):
    plant, context, (F, M, E) = scene
    v = plant.GetVelocities(context)
    pose = F.CalcPose(context, M).GetAsMatrix4()
    velocity = F.CalcSpatialVelocity(context, M, E).get_coeffs()
    acceleration = F.CalcSpatialAcceleration(context, M, E).get_coeffs()
    plant.get_applied_generalized_force_input_port().FixValue(context, np.full(v.size, 5.0))
    pushed = F.CalcSpatialAcceleration(context, M, E).get_coeffs()
    assert abs(pushed - acceleration).max() > 1e-3
    plant.SetVelocities(context, 2.0 * v)
    assert_close(F.CalcSpatialVelocity(context, M, E).get_coeffs(), 2.0 * velocity, ROUNDING)
    assert abs(F.CalcSpatialAcceleration(context, M, E).get_coeffs() - pushed).max() > 1e-3
    plant.SetPositions(context, plant.GetPositions(moved(plant, context, 0.1)))
    assert abs(F.CalcPose(context, M).GetAsMatrix4() - pose).max() > 1e-3


def test_other_calculations_in_between_do_not_mix_accelerations(scene):
    """The arrays of the engine are shared by all calculations of a context."""
    plant, context, (F, M, E) = scene
    expected = F.CalcSpatialAcceleration(context.Clone(), M, E).get_coeffs()
    F.CalcSpatialAccelerationInWorld(context)
    plant.CalcSpatialAccelerationsFromVdot(context, np.ones(plant.num_velocities()))
    plant.CalcBiasTerm(context)
    np.testing.assert_array_equal(F.CalcSpatialAcceleration(context, M, E).get_coeffs(), expected)


# offset frames


def pendulum(frames=()):
    """A plant with one swinging body and frames made by functions of (plant, body); context and frames too."""
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("bob", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    added = [plant.AddFrame(make(plant, body)) for make in frames]
    plant.Finalize()
    return plant, body, plant.CreateDefaultContext(), added


def test_the_four_ways_to_make_an_offset_frame(rng):
    """tree (c) 30: named and unnamed, on a frame and on a body; the instance is that of the parent's body."""
    X = random_pose(rng)
    plant = MultibodyPlant(0.0)
    robot = plant.AddModelInstance("robot")
    body = plant.AddRigidBody("bob", robot, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    frame = body.body_frame()
    made = [
        FixedOffsetFrame("on_frame", frame, X),
        FixedOffsetFrame(name="by_name", P=frame, X_PF=X),
        FixedOffsetFrame(frame, X),
        FixedOffsetFrame("on_body", body, X),
        FixedOffsetFrame(name="body_by_name", bodyB=body, X_BF=X),
        FixedOffsetFrame(body, X),
        FixedOffsetFrame(P=frame, X_PF=X),
        FixedOffsetFrame(bodyB=body, X_BF=X),
    ]
    elsewhere = FixedOffsetFrame("elsewhere", frame, X, default_model_instance())
    for one in (*made, elsewhere):
        plant.AddFrame(one)
        assert one.body() is body
        assert one.parent_frame() is frame
        assert one.GetFixedPoseInBodyFrame().IsExactlyEqualTo(X)
        assert not one.is_body_frame()
        assert not one.is_world_frame()
    assert [one.name() for one in made] == ["on_frame", "by_name", "", "on_body", "body_by_name", "", "", ""]
    assert {int(one.model_instance()) for one in made} == {int(robot)}
    assert elsewhere.model_instance() == default_model_instance()
    assert made[0].scoped_name().get_full() == "robot::on_frame"


@pytest.mark.parametrize(
    "arguments",
    [{"P": True, "bodyB": True, "X_PF": True}, {"X_PF": True}, {"P": True, "X_PF": True, "X_BF": True}],
    ids=" ".join,
)
def test_an_offset_frame_has_one_parent_and_one_pose(arguments):
    plant, body, _, _ = pendulum()
    values = {"P": body.body_frame(), "bodyB": body, "X_PF": RigidTransform(), "X_BF": RigidTransform()}
    with pytest.raises(TypeError, match="FixedOffsetFrame 'f': give a frame P and X_PF, or a body bodyB and X_BF"):
        FixedOffsetFrame("f", **{name: values[name] for name in arguments})
    with pytest.raises(TypeError, match="FixedOffsetFrame: expected a name, not 7"):
        FixedOffsetFrame(7, body.body_frame(), RigidTransform())


def test_chains_of_offset_frames_compose_and_may_move_in_one_context(rng):
    """tree (c) 11, 30: X_BF = X_BP X_PF; another X_PF in one context moves all that hang on it there, nothing else."""
    X_BP, X_PF, X_moved = (random_pose(rng) for _ in range(3))
    P, F = None, None

    def make_P(plant, body):
        nonlocal P
        P = FixedOffsetFrame("P", body.body_frame(), X_BP)
        return P

    plant, body, context, (P, F) = pendulum([make_P, lambda plant, body: FixedOffsetFrame("F", P, X_PF)])
    assert_close(F.CalcPoseInBodyFrame(context).GetAsMatrix4(), (X_BP @ X_PF).GetAsMatrix4(), ROUNDING)
    other = plant.CreateDefaultContext()
    before = F.CalcPoseInWorld(other).GetAsMatrix4()
    P.SetPoseInParentFrame(context, X_moved)
    expected = (X_moved @ X_PF).GetAsMatrix4()
    assert_close(F.CalcPoseInBodyFrame(context).GetAsMatrix4(), expected, ROUNDING)
    assert_close(F.CalcPoseInWorld(context).GetAsMatrix4(), expected, ROUNDING)  # the hinge is at zero
    assert P.GetPoseInParentFrame(context).IsExactlyEqualTo(X_moved)
    assert P.GetPoseInParentFrame(other).IsExactlyEqualTo(X_BP)
    np.testing.assert_array_equal(F.CalcPoseInWorld(other).GetAsMatrix4(), before)
    assert_close(F.GetFixedPoseInBodyFrame().GetAsMatrix4(), (X_BP @ X_PF).GetAsMatrix4(), ROUNDING)
    P.SetPoseInBodyFrame(context, X_BP)  # the name in earlier releases
    np.testing.assert_array_equal(F.CalcPoseInWorld(context).GetAsMatrix4(), before)


def test_a_pose_that_is_set_is_kept_as_it_was(rng):
    X, X_later = random_pose(rng), random_pose(rng)
    mine = RigidTransform(X)
    plant, body, context, (F,) = pendulum([lambda plant, body: FixedOffsetFrame("F", body, mine)])
    mine.set_translation([9.0, 9.0, 9.0])
    assert F.GetFixedPoseInBodyFrame().IsExactlyEqualTo(X)
    mine = RigidTransform(X_later)
    F.SetPoseInParentFrame(context, mine)
    mine.set_translation([9.0, 9.0, 9.0])
    F.GetPoseInParentFrame(context).set_translation([8.0, 8.0, 8.0])
    assert F.GetPoseInParentFrame(context).IsExactlyEqualTo(X_later)


def test_a_joint_frame_that_moves_in_one_context_moves_what_hangs_on_it(rng):
    """tree (c) 11: the joint's own frame is a parameter too; velocities and Jacobians follow."""
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("bob", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    F = plant.AddFrame(FixedOffsetFrame("F", plant.world_frame(), RigidTransform([1.0, 0.0, 0.0])))
    plant.AddJoint(RevoluteJoint("hinge", F, body.body_frame(), [0.0, 0.0, 1.0]))
    plant.Finalize()
    context, other = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    F.SetPoseInParentFrame(context, RigidTransform([0.0, 2.0, 0.0]))
    np.testing.assert_array_equal(body.EvalPoseInWorld(context).translation(), [0.0, 2.0, 0.0])
    np.testing.assert_array_equal(body.EvalPoseInWorld(other).translation(), [1.0, 0.0, 0.0])


def test_offset_poses_in_the_body(rng):
    X_BF, X_FQ, R_FQ = random_pose(rng), random_pose(rng), random_rotation(rng)
    plant, body, context, (F,) = pendulum([lambda plant, body: FixedOffsetFrame("F", body, X_BF)])
    moved_pose = random_pose(rng)
    F.SetPoseInParentFrame(context, moved_pose)
    for value, expected in (
        (F.GetFixedOffsetPoseInBody(X_FQ), X_BF @ X_FQ),
        (F.CalcOffsetPoseInBody(context, X_FQ), moved_pose @ X_FQ),
    ):
        assert_close(value.GetAsMatrix4(), expected.GetAsMatrix4(), ROUNDING)
    for value, expected in (
        (F.GetFixedRotationMatrixInBodyFrame(), X_BF.rotation()),
        (F.CalcRotationMatrixInBodyFrame(context), moved_pose.rotation()),
        (F.GetFixedRotationMatrixInBody(R_FQ), X_BF.rotation() @ R_FQ),
        (F.CalcOffsetRotationMatrixInBody(context, R_FQ), moved_pose.rotation() @ R_FQ),
    ):
        assert_close(value.matrix(), expected.matrix(), ROUNDING)


def test_body_frames_and_the_world_frame(rng):
    plant, body, context, _ = pendulum()
    frame, W = body.body_frame(), plant.world_frame()
    assert frame.is_body_frame()
    assert not frame.is_world_frame()
    assert W.is_world_frame()
    assert frame.body() is body
    assert frame.name() == "bob"
    assert frame.CalcPoseInBodyFrame(context).IsExactlyIdentity()
    assert body.scoped_name().get_full() == frame.scoped_name().get_full() == "DefaultModelInstance::bob"
    assert W.scoped_name().get_full() == "WorldModelInstance::world"


# errors


def test_frames_and_bodies_of_another_plant_raise():
    plant, body, context, _ = pendulum()
    _, stranger, foreign_context, _ = pendulum()
    W = plant.world_frame()
    for ask in (
        lambda: plant.CalcRelativeTransform(context, W, stranger.body_frame()),
        lambda: plant.CalcPointsPositions(context, stranger.body_frame(), np.zeros(3), W),
        lambda: body.body_frame().CalcPose(context, stranger.body_frame()),
        lambda: body.body_frame().CalcSpatialVelocity(context, W, stranger.body_frame()),
        lambda: body.body_frame().CalcSpatialAcceleration(context, stranger.body_frame(), W),
    ):
        with pytest.raises(RuntimeError, match="frame 'bob' is not part of this plant"):
            ask()
    for method in ("EvalBodyPoseInWorld", "EvalBodySpatialVelocityInWorld", "EvalBodySpatialAccelerationInWorld"):
        with pytest.raises(RuntimeError, match="body 'bob' is not part of this plant"):
            getattr(plant, method)(context, stranger)
        with pytest.raises(RuntimeError, match="another plant"):
            getattr(plant, method)(foreign_context, body)


def test_a_frame_without_a_plant_raises():
    _, body, context, _ = pendulum()
    loose = FixedOffsetFrame("loose", body, RigidTransform())
    for ask in (loose.CalcPoseInWorld, loose.CalcSpatialVelocityInWorld, loose.CalcSpatialAccelerationInWorld):
        with pytest.raises(RuntimeError, match="loose.* has not been added to a plant"):
            ask(context)


def test_random_plants_with_offset_frames_have_as_many_frames_as_the_engine():
    plant = random_plant(2)
    assert plant.model.sizes["nframe"] == plant.num_frames()
