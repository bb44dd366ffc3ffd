"""Each joint type by itself: counts and names, its pose, its velocities, and what its acceleration has beyond them.

Joints between random frames, in both directions and in trees, are in test_engine_theorems.py.
"""

import naive
import numpy as np
import pytest
from random_trees import (
    ALL,
    MOVING,
    ONE_DOF,
    RATES,
    joints_of,
    random_context,
    random_inertia,
    random_joint,
    random_plant,
)
from scipy.linalg import expm

from mbcli.engine import load_kernels
from mbcli.engine.smooth.joints.registry import JOINTS
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    BallQuaternionJoint,
    CurvilinearJoint,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RpyFloatingJoint,
    ScrewJoint,
    UniversalJoint,
)
from mbcli.trajectories import PiecewiseConstantCurvatureTrajectory

ROUNDING = 1e-14

# nq, nv, suffixes of positions and of velocities
COORDINATES = {
    "weld": (0, 0, "", ""),
    "revolute": (1, 1, "q", "w"),
    "prismatic": (1, 1, "x", "v"),
    "screw": (1, 1, "q", "w"),
    "universal": (2, 2, "qx qy", "wx wy"),
    "planar": (3, 3, "x y qz", "vx vy wz"),
    "ball_rpy": (3, 3, "qx qy qz", "wx wy wz"),
    "ball_quaternion": (4, 3, "qw qx qy qz", "wx wy wz"),
    "quaternion_floating": (7, 6, "qw qx qy qz x y z", "wx wy wz vx vy vz"),
    "rpy_floating": (6, 6, "qx qy qz x y z", "wx wy wz vx vy vz"),
    "curvilinear": (1, 1, "q", "v"),
}


def one_joint(make):
    """A body on one joint, whose frames are World and the body: X_WB = X_FM."""
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
    joint = plant.AddJoint(make("joint", plant.world_frame(), body.body_frame()))
    plant.Finalize()
    return plant, joint, body


def X_WB(plant, body, q, v=None):
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    if v is not None:
        plant.SetVelocities(context, v)
    return plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()


def of_kind(kind):
    return one_joint(lambda name, F, M: random_joint(np.random.default_rng(1), kind, name, F, M))


# what a joint is made of


@pytest.mark.parametrize("kind", ALL)
def test_counts_and_suffixes_of_coordinates(kind):
    plant, joint, _ = of_kind(kind)
    nq, nv, q_suffixes, v_suffixes = COORDINATES[kind]
    assert (plant.num_positions(), plant.num_velocities()) == (nq, nv)
    assert plant.GetPositionNames(always_add_suffix=True) == [
        f"DefaultModelInstance_joint_{s}" for s in q_suffixes.split()
    ]
    assert plant.GetVelocityNames(always_add_suffix=True) == [
        f"DefaultModelInstance_joint_{s}" for s in v_suffixes.split()
    ]
    assert [joint.position_suffix(k) for k in range(nq)] == q_suffixes.split()
    assert [joint.velocity_suffix(k) for k in range(nv)] == v_suffixes.split()


@pytest.mark.parametrize("kind", [kind for kind in MOVING if kind != "curvilinear"])
def test_at_its_zero_positions_a_joint_is_the_identity(kind):
    plant, joint, body = of_kind(kind)
    X = X_WB(plant, body, joint.kinematics.ZERO_POSITIONS)
    np.testing.assert_allclose(X, np.eye(4), rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(plant.GetDefaultPositions(), joint.kinematics.ZERO_POSITIONS)


def test_the_registry_has_every_type_that_moves_and_no_other():
    assert {module.__name__.rpartition(".")[2] for module in JOINTS.values()} == set(MOVING)
    assert 0 not in JOINTS  # the number of none


# poses, as written in the specification of each type


def Rx(angle):
    return expm(angle * naive.skew([1.0, 0.0, 0.0]))


def Ry(angle):
    return expm(angle * naive.skew([0.0, 1.0, 0.0]))


def Rz(angle):
    return expm(angle * naive.skew([0.0, 0.0, 1.0]))


AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
O = np.zeros(3)
WXYZ = np.array([0.5, -0.5, 0.1, 0.7])
TURN = 2.0 * np.arccos(0.5)  # of a unit quaternion with w = 0.5
# one metre along y of F from (1, 2, 3), then an arc to the left with radius 2 about z
CURVE = PiecewiseConstantCurvatureTrajectory([0.0, 1.0, 4.0], [0.0, 0.5], [0, 3.0, 0], [0, 0, 1], [1.0, 2.0, 3.0])
POSES = {
    "curvilinear": (
        lambda *f: CurvilinearJoint(*f, CURVE),
        [3.0],
        Rz(np.pi / 2 + 1.0),
        [1.0 - 2.0 + 2.0 * np.cos(1.0), 3.0 + 2.0 * np.sin(1.0), 3.0],
    ),
    "revolute": (lambda *f: RevoluteJoint(*f, 3.0 * AXIS), [0.7], expm(0.7 * naive.skew(AXIS)), O),
    "prismatic": (lambda *f: PrismaticJoint(*f, 3.0 * AXIS), [0.7], np.eye(3), 0.7 * AXIS),
    "screw": (
        lambda *f: ScrewJoint(*f, 3.0 * AXIS, screw_pitch=0.5),
        [0.7],
        expm(0.7 * naive.skew(AXIS)),
        0.7 * 0.5 / (2.0 * np.pi) * AXIS,
    ),
    "universal": (UniversalJoint, [0.7, -1.1], Rx(0.7) @ Ry(-1.1), O),
    "planar": (PlanarJoint, [0.3, -0.4, 0.7], Rz(0.7), [0.3, -0.4, 0.0]),
    "ball_rpy": (
        lambda *f: random_joint(np.random.default_rng(0), "ball_rpy", *f),
        [0.7, -1.1, 2.0],
        Rz(2.0) @ Ry(-1.1) @ Rx(0.7),
        O,
    ),
    "ball_quaternion": (
        BallQuaternionJoint,
        [*WXYZ],
        expm(TURN * naive.skew(WXYZ[1:] / np.linalg.norm(WXYZ[1:]))),
        O,
    ),
    "rpy_floating": (
        RpyFloatingJoint,
        [0.7, -1.1, 2.0, 1.0, 2.0, 3.0],
        Rz(2.0) @ Ry(-1.1) @ Rx(0.7),
        [1.0, 2.0, 3.0],
    ),
    "quaternion_floating": (
        QuaternionFloatingJoint,
        [*WXYZ, 1.0, 2.0, 3.0],
        expm(TURN * naive.skew(WXYZ[1:] / np.linalg.norm(WXYZ[1:]))),
        [1.0, 2.0, 3.0],
    ),
}


@pytest.mark.parametrize("kind", POSES)
def test_the_pose_across_a_joint_is_the_one_its_type_defines(kind):
    make, q, R_FM, p_FM = POSES[kind]
    plant, joint, body = one_joint(make)
    assert joint.type_name() == kind
    X = X_WB(plant, body, q)
    np.testing.assert_allclose(X[:3, :3], R_FM, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(X[:3, 3], p_FM, rtol=0.0, atol=ROUNDING)


def test_every_joint_type_that_moves_has_its_pose_checked():
    assert set(POSES) == set(MOVING)


# velocities, as written in the specification of each type: V_FM = H v


def H_revolute(q):
    return np.array([[*AXIS, 0.0, 0.0, 0.0]]).T


def H_universal(q):
    return np.array([[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, np.cos(q[0]), np.sin(q[0]), 0.0, 0.0, 0.0]]).T


SUBSPACES = {
    "curvilinear": lambda q: np.array([[0.0, 0.0, 0.5, -np.sin(1.0), np.cos(1.0), 0.0]]).T,
    "revolute": H_revolute,
    "prismatic": lambda q: np.array([[0.0, 0.0, 0.0, *AXIS]]).T,
    "screw": lambda q: np.array([[*AXIS, *(0.5 / (2.0 * np.pi) * AXIS)]]).T,
    "universal": H_universal,
    "planar": lambda q: np.eye(6)[:, [3, 4, 2]],
    "ball_rpy": lambda q: np.eye(6)[:, :3],
    "ball_quaternion": lambda q: np.eye(6)[:, :3],
    "rpy_floating": lambda q: np.eye(6),
    "quaternion_floating": lambda q: np.eye(6),
}


@pytest.mark.parametrize("kind", MOVING)
def test_the_velocity_across_a_joint_is_its_subspace_times_v(kind):
    """tree (c) 2"""
    make, q, *_ = POSES[kind]
    plant, joint, body = one_joint(make)
    v = np.random.default_rng(2).normal(size=joint.num_velocities())
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    V = plant.EvalBodySpatialVelocityInWorld(context, body).get_coeffs()
    np.testing.assert_allclose(V, SUBSPACES[kind](q) @ v, rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("kind", MOVING)
def test_only_universal_and_curvilinear_joints_accelerate_without_vdot(kind):
    """H of all other types stands still in F; Hdot v is v1 v2 times Fx cross My, and v^2 times the curvature."""
    make, q, *_ = POSES[kind]
    plant, joint, body = one_joint(make)
    v = np.random.default_rng(2).normal(size=joint.num_velocities())
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, q)
    plant.SetVelocities(context, v)
    A = plant.CalcSpatialAccelerationsFromVdot(context, np.zeros(v.size))[int(body.index())].get_coeffs()
    expected = np.zeros(6)
    if kind == "universal":
        expected[:3] = v[0] * v[1] * np.array([0.0, -np.sin(q[0]), np.cos(q[0])])
    if kind == "curvilinear":
        expected[3:] = 0.5 * v[0] ** 2 * np.array([-np.cos(1.0), -np.sin(1.0), 0.0])
    np.testing.assert_allclose(A, expected, rtol=0.0, atol=ROUNDING)


# particulars


@pytest.mark.parametrize("pitch", [0.0, -0.3])
def test_a_screw_moves_its_pitch_per_revolution_and_one_without_pitch_is_revolute(pitch):
    """tree (c) 24"""
    plant, _, body = one_joint(lambda *f: ScrewJoint(*f, AXIS, screw_pitch=pitch))
    X = X_WB(plant, body, [2.0 * np.pi])
    np.testing.assert_allclose(X, RigidTransform(pitch * AXIS).GetAsMatrix4(), rtol=0.0, atol=ROUNDING)


def test_a_quaternion_its_negative_and_its_multiples_are_one_rotation():
    """tree (c) 25"""
    plant, _, body = one_joint(QuaternionFloatingJoint)
    q = np.array([*WXYZ, 1.0, 2.0, 3.0])
    for scale in (-1.0, 1e-3, 7.0):
        scaled = q * [*([scale] * 4), 1.0, 1.0, 1.0]
        np.testing.assert_allclose(X_WB(plant, body, scaled), X_WB(plant, body, q), rtol=0.0, atol=ROUNDING)


def test_rpy_rates_are_not_angular_velocities():
    """tree (c) 3: At pitch 0.5 a turn about z of F changes yaw alone, a turn about x of F all three angles."""
    plant, _, _ = one_joint(RpyFloatingJoint)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [0.3, 0.5, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(plant.MapVelocityToQDot(context, [0, 0, 1, 0, 0, 0]), [0, 0, 1, 0, 0, 0], atol=ROUNDING)
    about_x = plant.MapVelocityToQDot(context, [1, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(about_x, [1.0 / np.cos(0.5), 0.0, np.tan(0.5), 0, 0, 0], atol=ROUNDING)


@pytest.mark.parametrize("kind", ["ball_rpy", "rpy_floating"])
def test_velocities_from_rates_are_defined_at_gimbal_lock(kind):
    plant, _, _ = of_kind(kind)
    context = plant.CreateDefaultContext()
    q = np.zeros(plant.num_positions())
    q[:3] = [0.4, np.pi / 2, 0.9]
    plant.SetPositions(context, q)
    v = plant.MapQDotToVelocity(context, np.ones(plant.num_positions()))
    expected = [-np.sin(0.9), np.cos(0.9), 0.0]  # the axes of roll and yaw are opposite: their rates cancel
    np.testing.assert_allclose(v[:3], expected, rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("kind", ["ball_rpy", "rpy_floating"])
def test_rates_from_velocities_are_refused_at_gimbal_lock(kind):
    """tree (c) 3: 0.45 degrees from it the cosine of the pitch is below 0.008, at 0.47 degrees it is not."""
    plant, _, _ = of_kind(kind)
    context = plant.CreateDefaultContext()
    q, v = np.zeros(plant.num_positions()), np.ones(plant.num_velocities())
    for sign in (1.0, -1.0):
        q[1] = sign * np.radians(90.0 - 0.47)
        plant.SetPositions(context, q)
        assert np.isfinite(plant.MapVelocityToQDot(context, v)).all()
        q[1] = sign * np.radians(90.0 + 0.45)
        plant.SetPositions(context, q)
        with pytest.raises(RuntimeError, match="joint 'joint'.*gimbal lock"):
            plant.MapVelocityToQDot(context, v)


@pytest.mark.parametrize("kind", RATES)
def test_where_velocities_are_rates_the_maps_copy(kind):
    plant, _, _ = of_kind(kind)
    context = plant.CreateDefaultContext()
    value = np.arange(1.0, 1.0 + plant.num_velocities())
    assert plant.IsVelocityEqualToQDot()
    np.testing.assert_array_equal(plant.MapVelocityToQDot(context, value), value)
    np.testing.assert_array_equal(plant.MapQDotToVelocity(context, value), value)


def test_normalization_touches_quaternions_only():
    plant = random_plant(1, trees=2, floating_bases=2)
    context = random_context(plant, np.random.default_rng(0))
    q = 1.7 * plant.GetPositions(context)
    normalized = q.copy()
    load_kernels(False).normalize_quaternions(plant.model, normalized)
    touched = np.zeros(q.size, bool)
    quaternions = [j.position_start() for j in joints_of(plant) if "quaternion" in j.type_name()]
    assert len(quaternions) >= 2
    for i in quaternions:
        touched[i : i + 4] = True
        np.testing.assert_allclose(normalized[i : i + 4], q[i : i + 4] / np.linalg.norm(q[i : i + 4]), rtol=1e-15)
    np.testing.assert_array_equal(normalized[~touched], q[~touched])


@pytest.mark.parametrize("kind", MOVING)
def test_damping_takes_its_coefficient_times_v(kind):
    plant, joint, _ = of_kind(kind)
    d = joint.default_damping_vector()
    assert (d > 0.0).all()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, np.array(joint.kinematics.ZERO_POSITIONS))
    v = np.random.default_rng(3).normal(size=d.size)
    plant.SetVelocities(context, v)
    vdot = plant.CalcForwardDynamics(context)
    applied = plant.CalcMassMatrix(context) @ vdot + plant.CalcBiasTerm(context)
    applied -= plant.CalcGravityGeneralizedForces(context)
    np.testing.assert_allclose(applied, -d * v, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", ONE_DOF)
def test_reflected_inertia_is_on_the_diagonal_once(kind):
    """plant (c) 11"""

    def plant_with(rotor):
        plant = MultibodyPlant(0.0)
        body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
        joint = random_joint(np.random.default_rng(1), kind, "joint", plant.world_frame(), body.body_frame())
        actuator = plant.AddJointActuator("motor", plant.AddJoint(joint))
        actuator.set_default_rotor_inertia(rotor)
        actuator.set_default_gear_ratio(-30.0)
        plant.Finalize()
        return plant.CalcMassMatrix(plant.CreateDefaultContext())

    np.testing.assert_allclose(plant_with(0.002) - plant_with(0.0), [[0.002 * 900.0]], rtol=1e-12)


def test_poses_of_floating_joints_go_in_and_out():
    X = RigidTransform(RollPitchYaw(0.3, -0.4, 2.0), [1.0, 2.0, 3.0])
    for make in (QuaternionFloatingJoint, RpyFloatingJoint):
        plant, joint, body = one_joint(make)
        context = plant.CreateDefaultContext()
        joint.SetPose(context, X)
        pose = plant.EvalBodyPoseInWorld(context, body)
        np.testing.assert_allclose(pose.GetAsMatrix4(), X.GetAsMatrix4(), rtol=0.0, atol=ROUNDING)
        np.testing.assert_allclose(joint.GetPose(context).GetAsMatrix4(), X.GetAsMatrix4(), rtol=0.0, atol=ROUNDING)
