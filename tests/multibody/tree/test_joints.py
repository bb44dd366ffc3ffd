"""The interface of every joint type: table (a) rows 15 to 23, 35, 36, 39 of the tree specification, (c) as named."""

import inspect
import re

import numpy as np
import pytest
from random_trees import (
    ALL,
    IN_PYDRAKE,
    MOVING,
    ONE_DOF,
    joints_of,
    random_context,
    random_inertia,
    random_joint,
    random_plant,
    random_pose,
    random_state,
)

import mbcli.multibody.tree as tree
from mbcli.engine import load_kernels
from mbcli.engine.fields.joint_names import JOINT_TYPES
from mbcli.engine.queries.lane_data import LaneData, load_lane_kernels
from mbcli.engine.runtime.model import Data
from mbcli.math import Quaternion, RigidTransform, RollPitchYaw
from mbcli.multibody.math import SpatialForce, SpatialVelocity
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    MultibodyForces,
    PlanarJoint,
    PrismaticJoint,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RpyFloatingJoint,
    ScrewJoint,
    UniversalJoint,
    WeldJoint,
)
from mbcli.systems.analysis import Simulator

FLOATING = ("quaternion_floating", "rpy_floating")
SCALAR = (*ONE_DOF, "curvilinear")  # one degree of freedom
# no force along one coordinate
NO_ONE_FORCE = ("weld", "ball_rpy", "ball_quaternion", *FLOATING)
X_FM = RigidTransform(RollPitchYaw(0.3, -0.4, 0.5), [1.0, 2.0, 3.0])


def one_joint(make, time_step=0.0):
    """(plant, joint) of a body on one joint to World."""
    plant = MultibodyPlant(time_step)
    body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
    joint = plant.AddJoint(make("elbow", plant.world_frame(), body.body_frame()))
    plant.Finalize()
    return plant, joint


def of_kind(kind, time_step=0.0):
    return one_joint(lambda *f: random_joint(np.random.default_rng(1), kind, *f), time_step)


def in_context(make, time_step=0.0):
    plant, joint = one_joint(make, time_step)
    return joint, plant.CreateDefaultContext()


def free_frames():
    plant = MultibodyPlant(0.0)
    return "elbow", plant.world_frame(), plant.AddRigidBody("body").body_frame()


def class_of(kind):
    return type(of_kind(kind)[1])


# names


COMMON = """AddInDamping AddInOneForce GetDampingVector GetDefaultPose GetDefaultPosePair GetOnePosition GetOneVelocity
GetParentPlant GetPose GetPositions GetSpatialVelocity GetVelocities Lock SetDampingVector SetDefaultPose
SetDefaultPosePair SetPose SetPositions SetSpatialVelocity SetVelocities Unlock acceleration_lower_limits
acceleration_upper_limits can_rotate can_translate child_body default_damping_vector default_positions frame_on_child
frame_on_parent index is_ephemeral is_locked kTypeName model_instance name num_positions num_velocities ordinal
parent_body position_lower_limits position_start position_suffix position_upper_limits scoped_name
set_acceleration_limits set_default_damping_vector set_default_positions set_position_limits set_velocity_limits
type_name velocity_lower_limits velocity_start velocity_suffix velocity_upper_limits"""
ONE_DOF_NAMES = """GetDamping SetDamping acceleration_lower_limit acceleration_upper_limit damping default_damping
position_lower_limit position_upper_limit set_default_damping velocity_lower_limit velocity_upper_limit"""
FLOATING_NAMES = """SetOrientation SetTranslation default_angular_damping default_translational_damping
get_angular_velocity get_default_translation get_translation get_translational_velocity set_angular_velocity
set_default_translation set_random_translation_distribution set_translational_velocity"""
NAMES = {
    "weld": "X_FM",
    "revolute": f"""{ONE_DOF_NAMES} axis get_angle get_angular_rate get_default_angle revolute_axis set_angle
        set_angular_rate set_default_angle set_random_angle_distribution""",
    "prismatic": f"""{ONE_DOF_NAMES} axis get_default_translation get_translation get_translation_rate
        set_default_translation set_random_translation_distribution set_translation set_translation_rate
        translation_axis""",
    "screw": f"""{ONE_DOF_NAMES} axis get_angular_velocity get_default_rotation get_default_translation get_rotation
        get_translation get_translational_velocity screw_axis screw_pitch set_angular_velocity set_default_rotation
        set_default_translation set_random_pose_distribution set_rotation set_translation
        set_translational_velocity""",
    "curvilinear": f"""{ONE_DOF_NAMES} AddInForce get_default_distance get_distance get_tangential_velocity
        get_trajectory set_default_distance set_distance set_random_distance_distribution set_tangential_velocity""",
    "universal": """default_damping get_angles get_angular_rates get_default_angles set_angles set_angular_rates
        set_default_angles set_random_angles_distribution""",
    "planar": """damping default_damping get_angular_velocity get_default_rotation get_default_translation get_rotation
        get_translation get_translational_velocity set_angular_velocity set_default_pose set_default_rotation
        set_default_translation set_pose set_random_pose_distribution set_rotation set_translation
        set_translational_velocity""",
    "ball_rpy": """damping default_damping get_angles get_angular_velocity get_default_angles set_angles
        set_angular_velocity set_default_angles set_random_angles_distribution""",
    "ball_quaternion": """SetQuaternion damping default_damping get_angular_velocity get_default_quaternion
        get_quaternion set_angular_velocity set_default_quaternion set_random_quaternion_distribution
        set_random_quaternion_distribution_to_uniform""",
    "quaternion_floating": f"""{FLOATING_NAMES} SetQuaternion get_default_quaternion get_quaternion
        set_default_quaternion set_random_quaternion_distribution set_random_quaternion_distribution_to_uniform""",
    "rpy_floating": f"""{FLOATING_NAMES} get_angles get_default_angles set_angles set_default_angles
        set_random_angles_distribution""",
}


# what plants and compilation use of joints, beside pydrake's names
OF_PLANTS = """kinematics check_context check_forces default_of draw_positions from_description from_spec held_rows
index_number instance_index is_angular join key limit_rates made_at_finalize parent_plant place positions_of
replace_default"""


@pytest.mark.parametrize("kind", ALL)
def test_the_public_names_of_each_type(kind):
    joint_class = class_of(kind)
    public = {name for name in dir(joint_class) if not name.startswith("_")} - set(OF_PLANTS.split())
    assert public == set(f"{COMMON} {NAMES[kind]}".split())
    assert joint_class.kTypeName == kind
    assert getattr(tree, joint_class.__name__) is joint_class


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("kind", IN_PYDRAKE)
def test_names_and_argument_names_are_those_of_pydrake(kind):
    from pydrake.multibody import tree as peers

    ours = class_of(kind)
    theirs = getattr(peers, ours.__name__)
    for name in (name for name in dir(theirs) if not name.startswith("_")):
        assert hasattr(ours, name), name
        documented = re.match(r"\w+\(self: [\w.]+(.*)\) -> ", getattr(theirs, name).__doc__ or "")
        if documented is None:
            continue
        arguments = re.findall(r", (\w+): ", documented.group(1))
        # one method where pydrake's two classes call its argument differently
        renamed = {"SetOrientation": ["context", "R_FM"], "set_random_translation_distribution": ["translation"]}
        renamed |= {"set_default_translation": ["p_FM"]} if kind in FLOATING else {}
        if "arg0" not in documented.group(1):
            expected = renamed.get(name, arguments)
            assert list(inspect.signature(getattr(ours, name)).parameters)[1:] == expected, name


@pytest.mark.parametrize("kind", ALL)
def test_what_a_joint_can_do_is_said_after_finalize(kind):
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
    frames = plant.world_frame(), body.body_frame()
    joint = plant.AddJoint(random_joint(np.random.default_rng(1), kind, "elbow", *frames))
    for ask in (joint.can_rotate, joint.can_translate, joint.position_start, joint.velocity_start):
        with pytest.raises(RuntimeError, match="joint 'elbow': the plant must be finalized first"):
            ask()
    plant.Finalize()
    turns = {"weld": False, "prismatic": False}.get(kind, True)
    moves = kind not in ("weld", "revolute", "universal", "ball_rpy", "ball_quaternion")
    assert (joint.can_rotate(), joint.can_translate()) == (turns, moves)
    assert (joint.parent_body(), joint.child_body()) == (plant.world_body(), body)
    assert (joint.frame_on_parent(), joint.frame_on_child()) == frames
    assert joint.ordinal() == int(joint.index()) == 0
    assert joint.GetParentPlant() is plant
    assert joint.model_instance() == body.model_instance()


def test_a_joint_outside_a_plant_has_no_index_no_plant_and_no_ordinal():
    joint = RevoluteJoint(*free_frames(), [0, 0, 1])
    for ask in (joint.index, joint.ordinal, joint.GetParentPlant, joint.model_instance):
        with pytest.raises(RuntimeError, match="elbow.* has not been added to a plant"):
            ask()


@pytest.mark.parametrize("kind", ALL)
def test_suffixes_out_of_range_raise(kind):
    _, joint = of_kind(kind)
    for ask, n in ((joint.position_suffix, joint.num_positions()), (joint.velocity_suffix, joint.num_velocities())):
        for k in (-1, n):
            with pytest.raises(RuntimeError, match=f"joint 'elbow' has no (position|velocity) {k}"):
                ask(k)


# construction


def test_a_revolute_joint_takes_damping_or_limits_and_damping():
    def made(*arguments, **named):
        joint = RevoluteJoint(*free_frames(), [0, 0, 2], *arguments, **named)
        return joint.position_lower_limit(), joint.position_upper_limit(), joint.default_damping()

    assert made() == (-np.inf, np.inf, 0.0)
    assert made(0.3) == made(damping=0.3) == (-np.inf, np.inf, 0.3)
    assert made(-1.0, 2.0) == made(pos_lower_limit=-1.0, pos_upper_limit=2.0) == (-1.0, 2.0, 0.0)
    assert made(-1.0, 2.0, 0.3) == made(-1.0, 2.0, damping=0.3) == (-1.0, 2.0, 0.3)
    assert made(-1.0, pos_upper_limit=2.0) == (-1.0, 2.0, 0.0)
    assert made(pos_lower_limit=-1.0) == (-1.0, np.inf, 0.0)
    for arguments, named in (((1, 2, 3, 4), {}), ((-1.0, 2.0), {"pos_lower_limit": 0.0}), ((0.3,), {"damping": 0.3})):
        with pytest.raises(TypeError, match="limits and damping"):
            made(*arguments, **named)


def test_a_screw_joint_takes_an_axis_or_turns_about_z():
    def made(*arguments, **named):
        joint = ScrewJoint(*free_frames(), *arguments, **named)
        return joint.screw_axis().tolist(), joint.screw_pitch(), joint.default_damping()

    z, x = [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]
    assert made(0.5, 0.1) == made(screw_pitch=0.5, damping=0.1) == made(0.5, damping=0.1) == (z, 0.5, 0.1)
    assert made([2, 0, 0], -0.5, 0.1) == made([2, 0, 0], screw_pitch=-0.5, damping=0.1) == (x, -0.5, 0.1)
    assert made(axis=[2, 0, 0], screw_pitch=-0.5, damping=0.1) == made(-0.5, 0.1, axis=[2, 0, 0]) == (x, -0.5, 0.1)
    assert made([2, 0, 0], 0.5) == (x, 0.5, 0.0)
    for arguments, named in (((), {}), (([1, 0, 0],), {}), ((0.5, 0.1, 0.2), {}), ((0.5,), {"screw_pitch": 0.5})):
        with pytest.raises(TypeError, match="ScrewJoint"):
            made(*arguments, **named)


@pytest.mark.parametrize("joint_class", [RevoluteJoint, PrismaticJoint])
def test_axes_are_scaled_to_unit_length_and_no_direction_raises(joint_class):
    joint = joint_class(*free_frames(), [0.0, 3.0, -4.0])
    np.testing.assert_allclose(joint.axis(), [0.0, 0.6, -0.8], rtol=1e-15)
    for axis in ([0, 0, 0], [1e-9, 0, 0], [1, 0], [np.nan, 0, 1], [np.inf, 0, 1]):
        with pytest.raises(RuntimeError, match="joint 'elbow': axis .* is not a direction"):
            joint_class(*free_frames(), axis)


@pytest.mark.parametrize(
    "make",
    [
        lambda *f: RevoluteJoint(*f, [0, 0, 1], -0.1),
        lambda *f: PrismaticJoint(*f, [0, 0, 1], damping=-0.1),
        lambda *f: ScrewJoint(*f, 0.5, -0.1),
        lambda *f: UniversalJoint(*f, -0.1),
        lambda *f: PlanarJoint(*f, [0.0, -0.1, 0.0]),
        lambda *f: BallRpyJoint(*f, -0.1),
        lambda *f: QuaternionFloatingJoint(*f, -0.1),
        lambda *f: QuaternionFloatingJoint(*f, 0.1, -0.1),
        lambda *f: RpyFloatingJoint(*f, 0.0, -0.1),
        lambda *f: UniversalJoint(*f, np.nan),
    ],
)
def test_negative_damping_raises(make):
    with pytest.raises(RuntimeError, match="joint 'elbow': damping must be finite .*, it is .*(-0.1|nan)"):
        make(*free_frames())


@pytest.mark.parametrize("make", [PrismaticJoint, RevoluteJoint])
def test_crossed_limits_raise(make):
    with pytest.raises(RuntimeError, match=r"joint 'elbow': lower position limit \[2.\] is above .*\[1.\]"):
        make(*free_frames(), [0, 0, 1], 2.0, 1.0)


# limits and defaults


@pytest.mark.parametrize("kind", ALL)
def test_limits_are_infinite_settable_checked_and_bind_nothing(kind):
    """10, 26: wrong sizes and crossed limits raise, defaults and states outside limits are accepted."""
    plant, joint = of_kind(kind)
    for name, size in (
        ("position", joint.num_positions()),
        ("velocity", joint.num_velocities()),
        ("acceleration", joint.num_velocities()),
    ):
        lower, upper = getattr(joint, f"{name}_lower_limits"), getattr(joint, f"{name}_upper_limits")
        set_limits = getattr(joint, f"set_{name}_limits")
        if (kind, name) != ("curvilinear", "position"):
            np.testing.assert_array_equal(lower(), np.full(size, -np.inf))
            np.testing.assert_array_equal(upper(), np.full(size, np.inf))
        set_limits(np.full(size, 0.1), np.full(size, 0.2))
        for a, b in ((size + 1, size), (size, size + 1)):
            with pytest.raises(RuntimeError, match=f"joint 'elbow': {name} limits must have {size} elements"):
                set_limits(np.zeros(a), np.ones(b))
        if size:
            with pytest.raises(RuntimeError, match=f"joint 'elbow': lower {name} limit .* is above"):
                set_limits(np.full(size, 3.0), np.full(size, 2.0))
            with pytest.raises(RuntimeError, match=f"joint 'elbow': lower {name} limit .*nan.* is above"):
                set_limits(np.full(size, np.nan), np.full(size, 2.0))
        np.testing.assert_array_equal(lower(), np.full(size, 0.1))
        np.testing.assert_array_equal(upper(), np.full(size, 0.2))
        if kind in SCALAR:
            assert getattr(joint, f"{name}_lower_limit")() == 0.1
            assert getattr(joint, f"{name}_upper_limit")() == 0.2
    np.testing.assert_array_equal(joint.default_positions(), joint.kinematics.ZERO_POSITIONS)
    positions = np.full(joint.num_positions(), 5.0)
    joint.set_default_positions(positions)
    np.testing.assert_array_equal(joint.default_positions(), positions)
    context = plant.CreateDefaultContext()
    np.testing.assert_array_equal(joint.GetPositions(context), positions)
    with pytest.raises(RuntimeError, match="joint 'elbow' takes"):
        joint.set_default_positions(np.zeros(joint.num_positions() + 1))
    np.testing.assert_array_equal(joint.default_positions(), positions)


def test_what_getters_return_changes_nothing():
    _, joint = of_kind("planar")
    for getter in (joint.position_lower_limits, joint.default_positions, joint.default_damping_vector):
        before = getter().copy()
        getter()[:] = 77.0
        np.testing.assert_array_equal(getter(), before)


def test_defaults_by_their_own_names():
    _, joint = one_joint(lambda *f: RevoluteJoint(*f, [0, 0, 1]))
    joint.set_default_angle(0.4)
    assert joint.get_default_angle() == joint.default_positions() == [0.4]
    _, joint = one_joint(lambda *f: PrismaticJoint(*f, [0, 0, 1]))
    joint.set_default_translation(0.4)
    assert joint.get_default_translation() == joint.default_positions() == [0.4]
    _, joint = one_joint(lambda *f: ScrewJoint(*f, -0.5, 0.0))
    joint.set_default_rotation(0.4)
    assert joint.get_default_rotation() == joint.default_positions() == [0.4]
    assert joint.get_default_translation() == pytest.approx(-0.5 * 0.4 / (2.0 * np.pi), rel=1e-15)
    joint.set_default_translation(0.25)
    assert joint.get_default_rotation() == pytest.approx(-np.pi, rel=1e-15)
    for kind in ("universal", "ball_rpy"):
        _, joint = of_kind(kind)
        angles = np.arange(1.0, 1.0 + joint.num_positions())
        joint.set_default_angles(angles)
        np.testing.assert_array_equal(joint.get_default_angles(), angles)
    _, joint = of_kind("planar")
    joint.set_default_pose([1.0, 2.0], 3.0)
    joint.set_default_translation([4.0, 5.0])
    assert [*joint.get_default_translation(), joint.get_default_rotation()] == [4.0, 5.0, 3.0]
    joint.set_default_rotation(6.0)
    np.testing.assert_array_equal(joint.default_positions(), [4.0, 5.0, 6.0])
    with pytest.raises(RuntimeError, match="joint 'elbow' takes 2 values here, not 3"):
        joint.set_default_pose([1.0, 2.0, 3.0], 4.0)


@pytest.mark.parametrize("kind", FLOATING)
def test_default_poses_of_floating_joints(kind):
    """36"""
    plant, joint = of_kind(kind)
    joint.SetDefaultPose(X_FM)
    assert joint.GetDefaultPose().IsNearlyEqualTo(X_FM, 1e-15)
    context = plant.CreateDefaultContext()
    assert joint.GetPose(context).IsNearlyEqualTo(X_FM, 1e-15)
    joint.set_default_translation([4.0, 5.0, 6.0])
    np.testing.assert_array_equal(joint.get_default_translation(), [4.0, 5.0, 6.0])
    assert joint.GetDefaultPose().rotation().IsNearlyEqualTo(X_FM.rotation(), 1e-15)
    q = Quaternion([0.5, -0.5, 0.1, 0.7])
    joint.SetDefaultPosePair(q, [7.0, 8.0, 9.0])
    q_FM, p_FM = joint.GetDefaultPosePair()
    np.testing.assert_array_equal(p_FM, [7.0, 8.0, 9.0])
    if kind == "quaternion_floating":
        np.testing.assert_array_equal(q_FM.wxyz(), q.wxyz())  # bit by bit
        np.testing.assert_array_equal(joint.get_default_quaternion().wxyz(), q.wxyz())
        joint.set_default_quaternion(Quaternion([1.0, 0.0, 0.0, 0.0]))
        np.testing.assert_array_equal(joint.default_positions(), [1, 0, 0, 0, 7, 8, 9])
    else:
        assert abs(abs(q_FM.wxyz() @ q.wxyz()) - 1.0) < 1e-15
        joint.set_default_angles([0.1, 0.2, 0.3])
        np.testing.assert_array_equal(joint.get_default_angles(), [0.1, 0.2, 0.3])
        np.testing.assert_array_equal(joint.default_positions(), [0.1, 0.2, 0.3, 7, 8, 9])


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in FLOATING])
def test_poses_cannot_be_set_where_a_joint_has_fewer_than_six_degrees_of_freedom(kind):
    plant, joint = of_kind(kind)
    context = plant.CreateDefaultContext()
    V = SpatialVelocity(np.ones(3), np.ones(3))
    for method, *arguments in (
        ("SetDefaultPose", X_FM),
        ("GetDefaultPose",),
        ("SetDefaultPosePair", Quaternion(), np.zeros(3)),
        ("GetDefaultPosePair",),
        ("SetPose", context, X_FM),
        ("SetSpatialVelocity", context, V),
    ):
        with pytest.raises(RuntimeError, match=f"{method}: joint 'elbow' of type {kind} has fewer than six"):
            getattr(joint, method)(*arguments)


# state


@pytest.mark.parametrize("seed", range(3))
def test_pose_and_velocity_across_every_joint_are_those_of_its_frames(seed):
    """4, 5: GetPose and GetSpatialVelocity by the rates of poses, also of reversed joints on moving bodies."""
    plant = random_plant(seed)
    rng, h = np.random.default_rng(seed), 1e-6
    context = random_context(plant, rng)
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    qdot = plant.MapVelocityToQDot(context, v)

    def poses(t):
        plant.SetPositions(context, q + t * qdot)
        return [joint.GetPose(context).GetAsMatrix4() for joint in joints_of(plant)]

    before, now, after = poses(-h), poses(0.0), poses(h)
    for k, joint in enumerate(joints_of(plant)):
        F, M = joint.frame_on_parent(), joint.frame_on_child()
        np.testing.assert_allclose(now[k], M.CalcPose(context, F).GetAsMatrix4(), rtol=0.0, atol=1e-4)
        rate = (after[k] - before[k]) / (2.0 * h)
        W = rate[:3, :3] @ now[k][:3, :3].T
        plant.SetPositions(context, q)
        V = joint.GetSpatialVelocity(context).get_coeffs()
        np.testing.assert_allclose(V, [W[2, 1], W[0, 2], W[1, 0], *rate[:3, 3]], rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("kind", FLOATING)
def test_the_state_of_floating_joints_by_their_own_names(kind):
    plant, joint = of_kind(kind)
    context = plant.CreateDefaultContext()
    for done in (
        joint.SetPose(context, X_FM),
        joint.SetTranslation(context, [4.0, 5.0, 6.0]),
        joint.SetOrientation(context, X_FM.rotation().inverse()),
        joint.set_angular_velocity(context, [0.1, 0.2, 0.3]),
        joint.set_translational_velocity(context, [0.4, 0.5, 0.6]),
    ):
        assert done is joint
    pose = joint.GetPose(context)
    assert pose.IsNearlyEqualTo(RigidTransform(X_FM.rotation().inverse(), [4.0, 5.0, 6.0]), 1e-15)
    np.testing.assert_array_equal(joint.get_translation(context), [4.0, 5.0, 6.0])
    np.testing.assert_array_equal(joint.get_angular_velocity(context), [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(joint.get_translational_velocity(context), [0.4, 0.5, 0.6])
    V = joint.GetSpatialVelocity(context)
    np.testing.assert_array_equal(V.get_coeffs(), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    joint.SetSpatialVelocity(context, SpatialVelocity([1, 2, 3], [4, 5, 6]))
    np.testing.assert_array_equal(joint.GetVelocities(context), [1, 2, 3, 4, 5, 6])
    if kind == "quaternion_floating":
        q = Quaternion([0.5, -0.5, 0.1, 0.7])
        assert joint.SetQuaternion(context, q) is joint
        np.testing.assert_array_equal(joint.get_quaternion(context).wxyz(), q.wxyz())
    else:
        assert joint.set_angles(context, [0.1, 0.2, 0.3]) is joint
        np.testing.assert_array_equal(joint.get_angles(context), [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(joint.get_translation(context), [4.0, 5.0, 6.0])


def test_states_by_their_own_names():
    joint, context = in_context(lambda *f: RevoluteJoint(*f, [0, 0, 1]))
    assert joint.set_angle(context, 7.0) is joint.set_angular_rate(context, -2.0) is joint
    assert (joint.get_angle(context), joint.get_angular_rate(context)) == (7.0, -2.0)  # 7 rad is not wrapped
    assert (joint.GetOnePosition(context), joint.GetOneVelocity(context)) == (7.0, -2.0)
    joint, context = in_context(lambda *f: PrismaticJoint(*f, [0, 0, 1]))
    assert joint.set_translation(context, 0.5) is joint.set_translation_rate(context, -2.0) is joint
    assert (joint.get_translation(context), joint.get_translation_rate(context)) == (0.5, -2.0)
    joint, context = in_context(UniversalJoint)
    assert joint.set_angles(context, [0.1, 0.2]) is joint.set_angular_rates(context, [0.3, 0.4]) is joint
    assert [*joint.get_angles(context), *joint.get_angular_rates(context)] == [0.1, 0.2, 0.3, 0.4]
    joint, context = in_context(BallRpyJoint)
    assert joint.set_angles(context, [0.1, 0.2, 0.3]) is joint.set_angular_velocity(context, [4, 5, 6]) is joint
    assert [*joint.get_angles(context), *joint.get_angular_velocity(context)] == [0.1, 0.2, 0.3, 4, 5, 6]
    joint, context = in_context(PlanarJoint)
    assert joint.set_pose(context, [1.0, 2.0], 3.0) is joint.set_translation(context, [4.0, 5.0]) is joint
    assert [*joint.get_translation(context), joint.get_rotation(context)] == [4.0, 5.0, 3.0]
    assert joint.set_rotation(context, 6.0) is joint
    assert joint.set_translational_velocity(context, [7.0, 8.0]) is joint.set_angular_velocity(context, 9.0) is joint
    assert joint.GetPositions(context).tolist() == [4.0, 5.0, 6.0]
    assert joint.GetVelocities(context).tolist() == [7.0, 8.0, 9.0]
    assert [*joint.get_translational_velocity(context), joint.get_angular_velocity(context)] == [7.0, 8.0, 9.0]


def test_a_screw_by_its_translation():
    """24: a screw without pitch has no translation to set but zero."""
    joint, context = in_context(lambda *f: ScrewJoint(*f, -0.5, 0.0))
    assert joint.set_translation(context, 0.25) is joint.set_translational_velocity(context, 1.0) is joint
    assert joint.get_rotation(context) == pytest.approx(-np.pi, rel=1e-15)
    assert joint.get_angular_velocity(context) == pytest.approx(-4.0 * np.pi, rel=1e-15)
    assert joint.get_translation(context) == pytest.approx(0.25, rel=1e-15)
    assert joint.get_translational_velocity(context) == pytest.approx(1.0, rel=1e-15)
    assert joint.set_rotation(context, 2.0) is joint.set_angular_velocity(context, 3.0) is joint
    assert (joint.get_rotation(context), joint.get_angular_velocity(context)) == (2.0, 3.0)
    joint, context = in_context(lambda *f: ScrewJoint(*f, 0.0, 0.0))
    joint.set_rotation(context, 2.0)
    assert joint.get_translation(context) == 0.0
    for method in (joint.set_translation, joint.set_translational_velocity):
        with pytest.raises(RuntimeError, match="joint 'elbow' has no pitch: its translation cannot be 0.1"):
            method(context, 0.1)
    with pytest.raises(RuntimeError, match="no pitch"):
        joint.set_default_translation(0.1)
    assert joint.get_rotation(context) == 2.0
    joint.set_translation(context, 0.0)
    assert joint.get_rotation(context) == 0.0


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in SCALAR])
def test_one_position_is_for_one_degree_of_freedom(kind):
    """10"""
    plant, joint = of_kind(kind)
    context = plant.CreateDefaultContext()
    for ask in (joint.GetOnePosition, joint.GetOneVelocity):
        with pytest.raises(RuntimeError, match=f"joint 'elbow' has {joint.num_velocities()} degrees of freedom"):
            ask(context)


@pytest.mark.parametrize("kind", MOVING)
def test_states_of_a_wrong_size_or_for_another_plant_raise_and_change_nothing(kind):
    plant, joint = of_kind(kind)
    context, foreign = plant.CreateDefaultContext(), of_kind(kind)[0].CreateDefaultContext()
    q, v = joint.GetPositions(context), joint.GetVelocities(context)
    for method, n in ((joint.SetPositions, q.size), (joint.SetVelocities, v.size)):
        with pytest.raises(RuntimeError, match=f"joint 'elbow' takes {n} values here, not {n + 1}"):
            method(context, np.ones(n + 1))
        with pytest.raises(RuntimeError, match="context belongs to another plant"):
            method(foreign, np.ones(n))
    for method in (joint.GetPositions, joint.GetDampingVector, joint.is_locked, joint.Lock, joint.GetPose):
        with pytest.raises(RuntimeError, match="context belongs to another plant"):
            method(foreign)
    np.testing.assert_array_equal(joint.GetPositions(context), q)
    np.testing.assert_array_equal(joint.GetVelocities(context), v)


def test_a_weld_has_its_pose_and_no_coordinates():
    """35"""
    plant, joint = one_joint(lambda *f: WeldJoint(*f, X_FM))
    context = plant.CreateDefaultContext()
    np.testing.assert_array_equal(joint.X_FM().GetAsMatrix4(), X_FM.GetAsMatrix4())
    assert joint.GetPose(context).IsNearlyEqualTo(X_FM, 1e-15)
    assert (plant.num_positions(), plant.num_velocities()) == (0, 0)
    assert joint.GetDampingVector(context).size == 0
    body = plant.GetBodyByName("body")
    assert plant.EvalBodyPoseInWorld(context, body).IsNearlyEqualTo(X_FM, 1e-15)


# damping and forces


@pytest.mark.parametrize("kind", MOVING)
def test_damping_per_context_leaves_the_default_and_other_contexts(kind):
    """11, 17"""
    plant, joint = of_kind(kind)
    context, other = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    default = joint.default_damping_vector()
    assert (default > 0.0).all()
    changed = default + np.arange(1.0, 1.0 + default.size)
    q, v = random_state(plant, np.random.default_rng(2))
    for c in (context, other):
        plant.SetPositions(c, q)
        plant.SetVelocities(c, v)
    before = plant.CalcForwardDynamics(other)
    joint.SetDampingVector(context, changed)
    np.testing.assert_array_equal(joint.GetDampingVector(context), changed)
    np.testing.assert_array_equal(joint.GetDampingVector(other), default)
    np.testing.assert_array_equal(joint.default_damping_vector(), default)
    np.testing.assert_array_equal(plant.CalcForwardDynamics(other), before)
    more = plant.CalcMassMatrix(context) @ (plant.CalcForwardDynamics(context) - before)
    np.testing.assert_allclose(more, -(changed - default) * v, rtol=1e-9, atol=1e-11)
    for wrong in (-changed, np.full(default.size, np.nan)):
        with pytest.raises(RuntimeError, match="joint 'elbow': damping must be finite and not negative"):
            joint.SetDampingVector(context, wrong)
    with pytest.raises(RuntimeError, match="joint 'elbow': damping must have shape"):
        joint.SetDampingVector(context, np.ones(default.size + 1))
    np.testing.assert_array_equal(joint.GetDampingVector(context), changed)
    if kind in SCALAR:
        joint.SetDamping(context, 9.0)
        assert (joint.GetDamping(context), joint.GetDamping(other)) == (9.0, default[0])
        with pytest.raises(RuntimeError, match="joint 'elbow': damping must be finite and not negative"):
            joint.SetDamping(context, -9.0)


@pytest.mark.parametrize("kind", MOVING)
def test_default_damping_is_set_before_finalize(kind):
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
    frames = plant.world_frame(), body.body_frame()
    joint = plant.AddJoint(random_joint(np.random.default_rng(1), kind, "elbow", *frames))
    n = joint.num_velocities()
    joint.set_default_damping_vector(np.full(n, 0.25))
    if kind in SCALAR:
        joint.set_default_damping(0.5)
        assert joint.default_damping() == joint.damping() == 0.5
    with pytest.raises(RuntimeError, match="joint 'elbow': damping must be finite and not negative"):
        joint.set_default_damping_vector(np.full(n, -0.25))
    plant.Finalize()
    expected = np.full(n, 0.5 if kind in SCALAR else 0.25)
    with pytest.raises(RuntimeError, match=r"joint 'elbow': the plant is finalized; SetDampingVector\(\)"):
        joint.set_default_damping_vector(np.ones(n))
    np.testing.assert_array_equal(joint.GetDampingVector(plant.CreateDefaultContext()), expected)


def test_default_damping_by_its_own_names():
    _, joint = one_joint(lambda *f: PlanarJoint(*f, [0.1, 0.2, 0.3]))
    assert joint.default_damping().tolist() == joint.damping().tolist() == [0.1, 0.2, 0.3]
    for joint_class in (UniversalJoint, BallRpyJoint):
        _, joint = one_joint(lambda *f, joint_class=joint_class: joint_class(*f, 0.4))
        assert joint.default_damping() == 0.4
        assert set(joint.default_damping_vector()) == {0.4}
    for joint_class in (QuaternionFloatingJoint, RpyFloatingJoint):
        _, joint = one_joint(lambda *f, joint_class=joint_class: joint_class(*f, 0.4, 0.5))
        assert (joint.default_angular_damping(), joint.default_translational_damping()) == (0.4, 0.5)
        assert joint.default_damping_vector().tolist() == [0.4] * 3 + [0.5] * 3


@pytest.mark.parametrize("kind", MOVING)
def test_damping_adds_what_the_context_says_and_takes_power(kind):
    """1, 8: twice adds twice, on top of what is there; its power is never positive."""
    plant, joint = of_kind(kind)
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    v = random_state(plant, np.random.default_rng(3))[1]
    plant.SetVelocities(context, v)
    joint.SetDampingVector(context, 2.0 * joint.default_damping_vector())
    forces.mutable_generalized_forces()[:] = 10.0
    joint.AddInDamping(context, forces)
    joint.AddInDamping(context, forces)
    added = forces.generalized_forces() - 10.0
    np.testing.assert_allclose(added, -4.0 * joint.default_damping_vector() * v, rtol=1e-12)
    assert (added * v < 0.0).all()


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in NO_ONE_FORCE])
def test_one_force_is_added_at_its_velocity(kind):
    """9"""
    plant = random_plant(7, kinds=(kind,), num_bodies=3)
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    joint = joints_of(plant)[1]
    for dof in range(joint.num_velocities()):
        forces.SetZero()
        joint.AddInOneForce(context, dof, 3.0, forces)
        joint.AddInOneForce(context, dof, 4.0, forces)
        expected = np.zeros(plant.num_velocities())
        expected[joint.velocity_start() + dof] = 7.0
        np.testing.assert_array_equal(forces.generalized_forces(), expected)
    for dof in (-1, joint.num_velocities()):
        with pytest.raises(RuntimeError, match=f"joint 'joint1' has no degree of freedom {dof}"):
            joint.AddInOneForce(context, dof, 3.0, forces)
    np.testing.assert_array_equal(forces.generalized_forces(), expected)


@pytest.mark.parametrize("kind", NO_ONE_FORCE)
def test_one_force_is_refused_where_velocities_are_no_rates(kind):
    """9"""
    plant, joint = of_kind(kind)
    with pytest.raises(RuntimeError, match=f"joint 'elbow' of type {kind} takes no force along one coordinate"):
        joint.AddInOneForce(plant.CreateDefaultContext(), 0, 1.0, MultibodyForces(plant))


def test_forces_for_nothing_or_for_another_plant_raise():
    """9"""
    plant, joint = of_kind("revolute")
    context = plant.CreateDefaultContext()
    for call in (
        lambda forces: joint.AddInOneForce(context, 0, 1.0, forces),
        lambda forces: joint.AddInDamping(context, forces),
    ):
        with pytest.raises(RuntimeError, match="joint 'elbow': no forces were given"):
            call(None)
        with pytest.raises(RuntimeError, match="forces are for 5 bodies and 7 velocities"):
            call(MultibodyForces(5, 7))


# locking


def pieces(seed, welds):
    """A discrete tree of all kinds of joints; `welds` holds, by name, poses at which joints are welds instead."""
    plant = MultibodyPlant(0.01)
    rng, bodies = np.random.default_rng(seed), [plant.world_body()]
    for n, kind in enumerate(rng.permutation(MOVING)):
        one = np.random.default_rng((seed, n))
        body = plant.AddRigidBody(f"body{n}", random_inertia(one))
        inboard = bodies[one.integers(max(0, n - 2), n + 1)]
        frames = [
            plant.AddFrame(FixedOffsetFrame(f"inboard{n}", inboard, random_pose(one))),
            plant.AddFrame(FixedOffsetFrame(f"outboard{n}", body, random_pose(one))),
        ]
        if n % 3 == 2:
            frames.reverse()
        name = f"joint{n}"
        joint = WeldJoint(name, *frames, welds[name]) if name in welds else random_joint(one, kind, name, *frames)
        plant.AddJoint(joint)
        if kind in ONE_DOF and name not in welds:
            actuator = plant.AddJointActuator(f"motor{n}", joint)
            actuator.set_default_rotor_inertia(0.01)
        bodies.append(body)
    plant.Finalize()
    return plant


@pytest.mark.parametrize("seed", range(6))
def test_a_locked_joint_is_a_weld(seed):
    """39: the other joints move as if it were one, step by step; it stays where it is, with forces on it or not."""
    plant = pieces(seed, {})
    rng = np.random.default_rng(seed)
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    q, v = random_state(plant, rng)
    plant.SetPositionsAndVelocities(context, [*q, *v])
    plant.get_actuation_input_port().FixValue(context, rng.normal(size=plant.num_actuators()))
    locked = [joints_of(plant)[k] for k in rng.permutation(len(MOVING))[: 1 + seed % 4]]
    for joint in locked:
        joint.Lock(context)
    twin = pieces(seed, {joint.name(): joint.GetPose(context) for joint in locked})
    others = [joint for joint in joints_of(plant) if joint not in locked]
    twin_simulator = Simulator(twin)
    twin_context = twin_simulator.get_mutable_context()
    for joint in others:
        its_twin = twin.GetJointByName(joint.name())
        its_twin.SetPositions(twin_context, joint.GetPositions(context))
        its_twin.SetVelocities(twin_context, joint.GetVelocities(context))
    u = plant.get_actuation_input_port()
    twin_u = np.zeros(twin.num_actuators())
    for k in range(plant.num_actuators()):
        actuator = plant.get_joint_actuator(k)
        if actuator.joint() not in locked:
            value = context.inputs.fixed[u.get_name()]
            twin.GetJointActuatorByName(actuator.name()).set_actuation_vector(
                actuator.get_actuation_vector(value), twin_u
            )
    twin.get_actuation_input_port().FixValue(twin_context, twin_u)

    def compare(get, tolerance):
        for joint in others:
            expected = get(twin.GetJointByName(joint.name()), twin_context)
            value = get(joint, context)
            np.testing.assert_allclose(value, expected, rtol=0.0, atol=tolerance * max(1.0, abs(expected).max()))

    vdot, twin_vdot = plant.CalcForwardDynamics(context), twin.CalcForwardDynamics(twin_context)
    for joint in others:
        d, e, n = joint.velocity_start(), twin.GetJointByName(joint.name()).velocity_start(), joint.num_velocities()
        np.testing.assert_allclose(vdot[d : d + n], twin_vdot[e : e + n], rtol=1e-9, atol=1e-10)
    for joint in locked:
        np.testing.assert_array_equal(vdot[joint.velocity_start() :][: joint.num_velocities()], 0.0)
    resting = [joint.GetPositions(context) for joint in locked]
    simulator.AdvanceTo(0.1)
    twin_simulator.AdvanceTo(0.1)
    compare(lambda joint, context: joint.GetPositions(context), 1e-9)
    compare(lambda joint, context: joint.GetVelocities(context), 1e-9)
    for joint, positions in zip(locked, resting, strict=True):
        np.testing.assert_array_equal(joint.GetPositions(context), positions)
        np.testing.assert_array_equal(joint.GetVelocities(context), 0.0)


@pytest.mark.usefixtures("compiled_here")
@pytest.mark.parametrize("compiled", [False, True])
def test_infinite_inertia_leaves_no_trace_in_complex_numbers_and_in_batches(compiled):
    """Derivatives by complex steps pass through a step with locked joints; lanes and single states agree."""
    plant = pieces(3, {})
    context, rng = plant.CreateDefaultContext(), np.random.default_rng(3)
    for joint in joints_of(plant)[2:5]:
        joint.Lock(context)
    context.state.at_positions()
    model, kernels = context.state.model, load_kernels(compiled)
    q, v = random_state(plant, rng)
    dq, dv = rng.normal(size=q.size), rng.normal(size=v.size)

    def vdot(t, dtype):
        m, data = model.replace(dtype=dtype), Data(model.sizes, dtype)
        data.q[:], data.v[:] = q + t * dq, v + t * dv
        handles = m.handle(compiled), data.handle(compiled)
        kernels.position_stage(*handles)
        kernels.velocity_stage(*handles)
        kernels.calc_forward_dynamics(*handles, np.zeros((plant.num_bodies(), 6), dtype))
        return data.vdot.copy()

    locked = model.locked_dof
    assert locked.size >= 3
    expected = vdot(0.0, float)
    np.testing.assert_array_equal(expected[locked], 0.0)
    derivative = vdot(1e-30j, complex).imag / 1e-30
    np.testing.assert_array_equal(derivative[locked], 0.0)
    differences = (vdot(1e-6, float) - vdot(-1e-6, float)) / 2e-6
    np.testing.assert_allclose(derivative, differences, rtol=0.0, atol=1e-5 * abs(differences).max())
    results = np.empty((3, v.size))
    rows = [np.tile(row, (3, 1)) for row in (q, v, np.zeros(v.size))]
    rows += [np.zeros((0, 6)), results]
    if compiled:
        lanes = LaneData(model.sizes)  # which its handle does not keep
        load_lane_kernels().forward_dynamics_of_states(model.handle(True), lanes.handle, *rows)
    else:
        kernels.forward_dynamics_of_states(model, Data(model.sizes), *rows)
    np.testing.assert_allclose(results, np.tile(expected, (3, 1)), rtol=0.0, atol=1e-11 * abs(expected).max())


def test_locking_is_of_one_context_and_ends():
    plant = pieces(0, {})
    simulator = Simulator(plant)
    context, other = simulator.get_mutable_context(), plant.CreateDefaultContext()
    joint = joints_of(plant)[3]
    joint.SetVelocities(context, np.ones(joint.num_velocities()))
    free = plant.CalcForwardDynamics(context)
    assert not joint.is_locked(context)
    joint.Lock(context)
    assert joint.is_locked(context)
    assert not joint.is_locked(other)
    np.testing.assert_array_equal(joint.GetVelocities(context), 0.0)
    clone = context.Clone()
    assert joint.is_locked(clone)
    joint.SetVelocities(context, np.ones(joint.num_velocities()))  # allowed, and gone with the next step
    simulator.AdvanceTo(0.01)
    np.testing.assert_array_equal(joint.GetVelocities(context), 0.0)
    joint.Unlock(context)
    assert not joint.is_locked(context)
    assert joint.is_locked(clone)
    plant.SetDefaultState(context)
    joint.SetVelocities(context, np.ones(joint.num_velocities()))
    np.testing.assert_array_equal(plant.CalcForwardDynamics(context), free)


def test_a_plant_with_all_joints_locked_stands_still():
    plant = pieces(1, {})
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    q, v = random_state(plant, np.random.default_rng(1))
    plant.SetPositionsAndVelocities(context, [*q, *v])
    for joint in joints_of(plant):
        joint.Lock(context)
    simulator.AdvanceTo(0.1)
    np.testing.assert_array_equal(plant.GetPositions(context), q)
    np.testing.assert_array_equal(plant.GetVelocities(context), 0.0)


def test_joints_of_a_continuous_plant_cannot_be_locked():
    plant, joint = of_kind("revolute")
    context = plant.CreateDefaultContext()
    joint.SetVelocities(context, [1.0])
    for method in (joint.Lock, joint.Unlock):
        with pytest.raises(RuntimeError, match="joint 'elbow' cannot be locked: the plant is continuous"):
            method(context)
    assert not joint.is_locked(context)
    assert joint.GetOneVelocity(context) == 1.0


def in_both_libraries(kinds, seed):
    """(library, plant, its simulator) of a discrete chain of the given kinds, for mbcli and pydrake."""
    from pydrake.math import RigidTransform as DrakeTransform
    from pydrake.multibody import tree as drake_tree
    from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant as DrakePlant
    from pydrake.systems.analysis import Simulator as DrakeSimulator

    for library, transform, plant, simulate in (
        (tree, RigidTransform, MultibodyPlant(0.002), Simulator),
        (drake_tree, DrakeTransform, DrakePlant(0.002), DrakeSimulator),
    ):
        rng = np.random.default_rng(seed)
        parent = plant.world_body()
        for n, kind in enumerate(kinds):
            M = random_inertia(rng)
            G = M.get_unit_inertia()
            G = library.UnitInertia(*G.get_moments(), *G.get_products())
            body = plant.AddRigidBody(f"body{n}", library.SpatialInertia(M.get_mass(), M.get_com(), G))
            frames = [
                plant.AddFrame(library.FixedOffsetFrame(f"F{n}", parent, transform(random_pose(rng).GetAsMatrix4()))),
                plant.AddFrame(library.FixedOffsetFrame(f"M{n}", body, transform(random_pose(rng).GetAsMatrix4()))),
            ]
            joint = random_joint(rng, kind, f"joint{n}", *free_frames()[1:])
            damping = joint.default_damping_vector()
            joint_class = getattr(library, type(joint).__name__)
            arguments = {
                "revolute": ("axis", damping[0]),
                "prismatic": ("axis", -np.inf, np.inf, damping[0]),
                "screw": ("axis", "screw_pitch", damping[0]),
                "planar": (damping,),
                "quaternion_floating": (damping[0], damping[-1]),
                "rpy_floating": (damping[0], damping[-1]),
            }.get(kind, (damping[0],))
            arguments = [getattr(joint, a)() if isinstance(a, str) else a for a in arguments]
            plant.AddJoint(joint_class(f"joint{n}", *frames, *arguments))
            parent = body
        if library is drake_tree:
            plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        else:
            plant.set_step_scheme("drake")
        plant.Finalize()
        yield library, plant, simulate(plant)


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("locked", [(0,), (1,), (2, 3), (5,), (0, 4, 7)])
def test_locked_joints_stay_and_others_move_as_in_pydrake(locked):
    kinds = [kind for kind in MOVING if kind in IN_PYDRAKE]
    states = []
    for _, plant, simulator in in_both_libraries(kinds, 3):
        context = simulator.get_mutable_context()
        rng = np.random.default_rng(5)
        for n, kind in enumerate(kinds):
            joint = plant.GetJointByName(f"joint{n}")
            q = rng.uniform(-0.5, 0.5, joint.num_positions())
            if kind == "quaternion_floating":
                q[:4] = np.array([1.0, 2.0, 3.0, 4.0]) / np.sqrt(30.0)
            start, d = joint.position_start(), joint.velocity_start()
            everything, velocities = plant.GetPositions(context), plant.GetVelocities(context)
            everything[start : start + q.size] = q
            velocities[d : d + joint.num_velocities()] = rng.normal(size=joint.num_velocities())
            plant.SetPositions(context, everything)
            plant.SetVelocities(context, velocities)
        for n in locked:
            plant.GetJointByName(f"joint{n}").Lock(context)
        simulator.AdvanceTo(0.1)
        state = np.array(plant.GetPositionsAndVelocities(context))
        free = plant.GetJointByName(f"joint{kinds.index('quaternion_floating')}").position_start()
        state[free : free + 4] /= np.linalg.norm(state[free : free + 4])  # in pydrake its length grows
        states.append(state)
    assert abs(states[1]).max() > 0.5
    np.testing.assert_allclose(states[0], states[1], rtol=0.0, atol=1e-9 * abs(states[1]).max())


def test_forces_on_a_planar_joint_are_along_x_and_y_of_F_and_a_torque_about_z():
    """tree (c) 9: each is the same as the force at Mo or the torque on the child, expressed in F."""
    plant, rng = MultibodyPlant(0.0), np.random.default_rng(5)
    child = plant.AddRigidBody("child", random_inertia(rng))
    F, M = (
        plant.AddFrame(FixedOffsetFrame(body.body_frame(), random_pose(rng))) for body in (plant.world_body(), child)
    )
    joint = plant.AddJoint(PlanarJoint("table", F, M))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    joint.SetPositions(context, [0.4, -0.2, 0.9])
    R_WF = F.CalcRotationMatrixInWorld(context)
    p_BoMo_W = M.CalcPoseInWorld(context).translation() - child.EvalPoseInWorld(context).translation()
    for k, F_Mo_F in enumerate(([0, 0, 0, 2.5, 0, 0], [0, 0, 0, 0, 2.5, 0], [0, 0, 2.5, 0, 0, 0])):
        along, pushed = MultibodyForces(plant), MultibodyForces(plant)
        joint.AddInOneForce(context, k, 2.5, along)
        force = SpatialForce(F=np.array(F_Mo_F, dtype=float)).Rotate(R_WF)
        child.AddInForceInWorld(context, force.Shift(-p_BoMo_W), pushed)
        np.testing.assert_allclose(
            plant.CalcGeneralizedForces(context, along), plant.CalcGeneralizedForces(context, pushed), atol=1e-13
        )


def test_every_type_of_the_engine_has_random_joints_and_no_other_has():
    assert set(MOVING) == set(JOINT_TYPES)
    with pytest.raises(ValueError, match="no random joint of type cylindrical"):
        random_joint(np.random.default_rng(0), "cylindrical", "joint", None, None)
