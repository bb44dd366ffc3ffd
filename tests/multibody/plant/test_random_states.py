"""Random states: table (a) row 22 and (c) 28 of the tree specification."""

import numpy as np
import pytest
from random_trees import ALL, joints_of, random_inertia, random_joint, random_plant
from scipy import stats

from mbcli.common import RandomGenerator
from mbcli.common.schema import Deterministic, Gaussian, Uniform, UniformDiscrete
from mbcli.math import Quaternion, RollPitchYaw, RotationMatrix
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import QuaternionFloatingJoint, RpyFloatingJoint

SIGNIFICANCE = 1e-3  # of tests of distributions: the seeds are fixed, so they pass or fail for ever


def of_kind(kind):
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
    frames = plant.world_frame(), body.body_frame()
    joint = plant.AddJoint(random_joint(np.random.default_rng(1), kind, "elbow", *frames))
    plant.Finalize()
    return plant, joint


def drawn(plant, count, seed=0):
    """q (count, nq) of states drawn one after the other."""
    context, generator = plant.CreateDefaultContext(), np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        plant.SetRandomState(context, generator)
        rows.append(plant.GetPositions(context))
    return np.array(rows)


# how each type is told


def ones(n):
    return [Uniform(k, k + 1.0) for k in range(n)]


# kind: what makes all its positions random, k-th one in [k, k + 1)
SETTERS = {
    "revolute": lambda j: j.set_random_angle_distribution(Uniform(0.0, 1.0)),
    "prismatic": lambda j: j.set_random_translation_distribution([Uniform(0.0, 1.0)]),
    "screw": lambda j: j.set_random_pose_distribution([Uniform(0.0, 1.0)]),
    "curvilinear": lambda j: j.set_random_distance_distribution(lambda g: g.uniform()),
    "universal": lambda j: j.set_random_angles_distribution(ones(2)),
    "planar": lambda j: j.set_random_pose_distribution(ones(2), Uniform(2.0, 3.0)),
    "ball_rpy": lambda j: j.set_random_angles_distribution(lambda g: np.arange(3.0) + g.uniform(size=3)),
    "ball_quaternion": lambda j: j.set_random_quaternion_distribution([0.0, 0.0, Uniform(0.5, 2.0), 0.0]),
    "rpy_floating": lambda j: (
        j.set_random_angles_distribution(ones(3)),
        j.set_random_translation_distribution(lambda g: np.arange(3.0, 6.0) + g.uniform(size=3)),
    ),
    "quaternion_floating": lambda j: (
        j.set_random_quaternion_distribution([0.0, 0.0, Uniform(0.5, 2.0), 0.0]),
        j.set_random_translation_distribution([Uniform(k, k + 1.0) for k in (4.0, 5.0, 6.0)]),
    ),
}


def test_every_type_with_positions_can_be_random():
    assert set(SETTERS) == set(ALL) - {"weld"}


@pytest.mark.parametrize("kind", SETTERS)
def test_positions_come_from_their_distributions_and_velocities_are_zero(kind):
    plant, joint = of_kind(kind)
    SETTERS[kind](joint)
    context = plant.CreateDefaultContext()
    joint.SetVelocities(context, np.ones(joint.num_velocities()))
    plant.SetRandomState(context, np.random.default_rng(0))
    np.testing.assert_array_equal(plant.GetVelocities(context), 0.0)
    q = drawn(plant, 500)
    random = np.arange(q.shape[1])
    if "quaternion" in kind:
        np.testing.assert_array_equal(q[:, :4], np.tile([0.0, 0.0, 1.0, 0.0], (500, 1)))  # scaled to unit length
        random = random[4:]
    for k in random:
        assert stats.kstest(q[:, k], stats.uniform(k, 1.0).cdf).pvalue > SIGNIFICANCE
    if len(random) > 1:  # each has numbers of its own
        assert abs(np.corrcoef(q[:, random].T) - np.eye(len(random))).max() < 0.2


@pytest.mark.parametrize("kind", SETTERS)
def test_a_number_of_distributions_that_does_not_fit_raises_and_changes_nothing(kind):
    plant, joint = of_kind(kind)
    SETTERS[kind](joint)
    before = drawn(plant, 3)
    name = [n for n in dir(joint) if n.startswith("set_random") and not n.endswith("uniform")][0]
    arguments = (ones(2), ones(7)) if kind == "planar" else (ones(7),)
    with pytest.raises(RuntimeError, match=rf"joint 'elbow' of type {kind} needs \d distributions? here, not 7"):
        getattr(joint, name)(*arguments)
    wrong = ["x"] * (4 if "quaternion" in name else 3 if kind in ("ball_rpy", "rpy_floating") else 1)
    if kind not in ("planar", "universal"):
        with pytest.raises(RuntimeError, match=f"joint 'elbow' of type {kind}: 'x' is neither a number nor"):
            getattr(joint, name)(wrong)
    np.testing.assert_array_equal(drawn(plant, 3), before)


def test_a_function_that_gives_no_positions_raises_and_changes_nothing():
    plant, joint = of_kind("ball_rpy")
    context = plant.CreateDefaultContext()
    joint.set_angles(context, [0.1, 0.2, 0.3])
    joint.set_angular_velocity(context, [1.0, 2.0, 3.0])
    for wrong in (lambda g: [1.0, 2.0], lambda g: [1.0, np.nan, 2.0]):
        joint.set_random_angles_distribution(wrong)
        with pytest.raises(RuntimeError, match="joint 'elbow' of type ball_rpy: its random positions are"):
            plant.SetRandomState(context, np.random.default_rng(0))
    assert [*joint.get_angles(context), *joint.get_angular_velocity(context)] == [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]


def test_what_is_random_in_part_is_zero_in_the_rest():
    plant, joint = of_kind("quaternion_floating")
    joint.set_default_positions([0.0, 1.0, 0.0, 0.0, 7.0, 8.0, 9.0])
    joint.set_random_translation_distribution([Uniform(1.0, 2.0), 5.0, Deterministic(6.0)])
    np.testing.assert_array_equal(drawn(plant, 1)[0, [0, 1, 2, 3, 5, 6]], [1.0, 0.0, 0.0, 0.0, 5.0, 6.0])
    plant, joint = of_kind("rpy_floating")
    joint.set_default_positions(np.arange(1.0, 7.0))
    joint.set_random_angles_distribution([0.1, 0.2, Uniform(0.3, 0.4)])
    np.testing.assert_array_equal(drawn(plant, 1)[0, [0, 1, 3, 4, 5]], [0.1, 0.2, 0.0, 0.0, 0.0])


def test_joints_without_a_distribution_take_their_default_positions():
    """28"""
    plant = random_plant(4, num_bodies=12, floating_bases=1)
    joints = joints_of(plant)
    rng = np.random.default_rng(1)
    for joint in joints:
        joint.set_default_positions(rng.uniform(0.2, 0.4, joint.num_positions()))
    chosen = next(j for j in joints if j.type_name() == "revolute")
    chosen.set_random_angle_distribution(Uniform(5.0, 6.0))
    q, default = drawn(plant, 2), plant.GetDefaultPositions()
    i = chosen.position_start()
    assert ((q[:, i] >= 5.0) & (q[:, i] <= 6.0)).all()
    assert q[0, i] != q[1, i]
    np.testing.assert_array_equal(np.delete(q, i, axis=1), np.tile(np.delete(default, i), (2, 1)))


# seeds


def all_random(seed):
    plant = random_plant(seed, floating_bases=1, trees=2)
    for joint in joints_of(plant):
        if joint.type_name() != "weld":
            SETTERS[joint.type_name()](joint)
    return plant


def test_the_seed_decides():
    """28: the same states from the same seed, in another process's plant too; others from another seed."""
    plant = all_random(2)
    states = drawn(plant, 5, seed=7)
    np.testing.assert_array_equal(drawn(plant, 5, seed=7), states)
    np.testing.assert_array_equal(drawn(all_random(2), 5, seed=7), states)
    assert not np.array_equal(drawn(plant, 5, seed=8), states)
    assert not np.array_equal(states[0], states[1])


def test_the_ways_to_draw_are_one():
    plant = all_random(2)
    results = []
    for draw in (
        lambda c, g: plant.SetRandomState(c, g),
        lambda c, g: plant.SetRandomState(c, None, g),
        lambda c, g: plant.SetRandomState(c, generator=g),
        lambda c, g: plant.SetRandomState(context=c, state=c, generator=g),
        lambda c, g: plant.SetRandomContext(c, g),
        lambda c, g: plant.SetRandomContext(context=c, generator=g),
    ):
        context = plant.CreateDefaultContext()
        draw(context, RandomGenerator(3))
        results.append(plant.GetPositions(context))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_a_wrong_generator_or_context_raises():
    plant = all_random(2)
    context = plant.CreateDefaultContext()
    for arguments in ((context, 3), (context, None), (context,)):
        with pytest.raises(TypeError, match="expected a numpy.random.Generator"):
            plant.SetRandomState(*arguments)
    with pytest.raises(TypeError, match="SetRandomState takes"):
        plant.SetRandomState(context, None, None, RandomGenerator())
    with pytest.raises(RuntimeError, match="context belongs to another plant"):
        plant.SetRandomState(all_random(2).CreateDefaultContext(), RandomGenerator())


# uniform rotations


def test_uniform_rotations_are_uniform():
    """28: the mean of R vanishes, and the angle has the density (1 - cos) / pi of the rotation group."""
    plant, joint = of_kind("quaternion_floating")
    joint.set_random_quaternion_distribution_to_uniform()
    q = drawn(plant, 4000)[:, :4]
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-14)
    R = np.array([RotationMatrix(Quaternion(row)).matrix() for row in q])
    # each element has variance 1/3
    assert abs(R.mean(axis=0)).max() < 4.0 * np.sqrt(1.0 / 3.0 / len(R))
    cosine = 0.5 * (np.trace(R, axis1=1, axis2=2) - 1.0)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    assert stats.kstest(angle, lambda x: (x - np.sin(x)) / np.pi).pvalue > SIGNIFICANCE


def test_a_quaternion_of_zeros_is_no_rotation():
    plant, joint = of_kind("quaternion_floating")
    joint.set_random_quaternion_distribution([0.0, 0.0, 0.0, 0.0])
    with pytest.raises(RuntimeError, match="joint 'elbow': the random quaternion .* is not a rotation"):
        drawn(plant, 1)
    joint.set_random_quaternion_distribution(Quaternion([0.5, -0.5, 0.5, 0.5]))
    np.testing.assert_array_equal(drawn(plant, 1)[0, :4], [0.5, -0.5, 0.5, 0.5])


# free bodies


def free_bodies():
    plant = MultibodyPlant(0.0)
    inertia = random_inertia(np.random.default_rng(0))
    floating, rolling, held = (plant.AddRigidBody(name, inertia) for name in ("floating", "rolling", "held"))
    plant.AddJoint(RpyFloatingJoint("rpy", plant.world_frame(), rolling.body_frame()))
    plant.WeldFrames(plant.world_frame(), held.body_frame())
    return plant, floating, rolling, held


def test_free_bodies_are_random_by_their_own_names():
    plant, floating, rolling, _ = free_bodies()
    plant.Finalize()
    plant.SetFreeBodyRandomTranslationDistribution(floating, ones(3))
    plant.SetFreeBodyRandomRotationDistributionToUniform(floating)
    plant.SetFreeBodyRandomAnglesDistribution(rolling, [0.1, 0.2, Uniform(0.3, 0.4)])
    context = plant.CreateDefaultContext()
    plant.SetRandomState(context, RandomGenerator(1))
    X = plant.GetFreeBodyPose(context, floating)
    assert ((np.arange(3.0) <= X.translation()) & (X.translation() < np.arange(1.0, 4.0))).all()
    assert abs(X.rotation().matrix() - np.eye(3)).max() > 0.1
    rpy = RollPitchYaw(plant.GetFreeBodyPose(context, rolling).rotation()).vector()
    np.testing.assert_allclose(rpy[:2], [0.1, 0.2], rtol=1e-12)
    plant.SetFreeBodyRandomRotationDistribution(floating, [1.0, 0.0, 0.0, 1.0])
    plant.SetRandomState(context, RandomGenerator(1))
    yaw = RollPitchYaw(plant.GetFreeBodyPose(context, floating).rotation()).vector()
    np.testing.assert_allclose(yaw, [0.0, 0.0, np.pi / 2], atol=1e-15)


def test_distributions_of_free_bodies_need_the_right_joint_of_a_finalized_plant():
    plant, floating, rolling, held = free_bodies()
    with pytest.raises(RuntimeError, match="call Finalize"):
        plant.SetFreeBodyRandomTranslationDistribution(floating, ones(3))
    plant.Finalize()
    assert isinstance(plant.GetJointByName("floating"), QuaternionFloatingJoint)
    with pytest.raises(RuntimeError, match="body 'held' is not a free body"):
        plant.SetFreeBodyRandomTranslationDistribution(held, ones(3))
    with pytest.raises(RuntimeError, match="body 'floating' has a joint of type quaternion_floating, not rpy_floating"):
        plant.SetFreeBodyRandomAnglesDistribution(floating, ones(3))
    for call in (
        lambda: plant.SetFreeBodyRandomRotationDistribution(rolling, ones(4)),
        lambda: plant.SetFreeBodyRandomRotationDistributionToUniform(rolling),
    ):
        with pytest.raises(RuntimeError, match="body 'rolling' has a joint of type rpy_floating, not quaternion"):
            call()
    foreign = free_bodies()[1]
    with pytest.raises(RuntimeError, match="floating.* is not part of this plant"):
        plant.SetFreeBodyRandomTranslationDistribution(foreign, ones(3))


# the distributions


def test_distributions_draw_what_they_say():
    generator = np.random.default_rng(0)

    def samples(distribution):
        return np.array([distribution.Sample(generator) for _ in range(2000)])

    assert set(samples(Deterministic(3.5))) == {3.5}
    assert stats.kstest(samples(Uniform(-2.0, 4.0)), stats.uniform(-2.0, 6.0).cdf).pvalue > SIGNIFICANCE
    assert stats.kstest(samples(Gaussian(3.0, 0.5)), stats.norm(3.0, 0.5).cdf).pvalue > SIGNIFICANCE
    values, counts = np.unique(samples(UniformDiscrete([1.0, 2.0, 5.0])), return_counts=True)
    assert values.tolist() == [1.0, 2.0, 5.0]
    assert stats.chisquare(counts).pvalue > SIGNIFICANCE
    means = [
        d.Mean() for d in (Deterministic(3.5), Uniform(-2.0, 4.0), Gaussian(3.0, 0.5), UniformDiscrete([1.0, 5.0]))
    ]
    assert means == [3.5, 1.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform(2.0, 1.0), "Uniform: min 2.0 is above max 1.0"),
        (lambda: Uniform(np.nan, 1.0), "Uniform: min nan"),
        (lambda: Gaussian(0.0, -1.0), "Gaussian: stddev must not be negative, it is -1.0"),
        (lambda: UniformDiscrete().Sample(np.random.default_rng(0)), "UniformDiscrete: there are no values"),
        (lambda: UniformDiscrete().Mean(), "UniformDiscrete: there are no values"),
    ],
)
def test_distributions_that_are_none_raise(make, message):
    with pytest.raises(RuntimeError, match=message):
        make()


@pytest.mark.peers("pydrake")
def test_distributions_have_the_names_and_means_of_pydrake():
    from pydrake.common import schema as theirs

    for ours, arguments in (
        (Deterministic, {"value": 3.5}),
        (Uniform, {"min": -2.0, "max": 4.0}),
        (Gaussian, {"mean": 3.0, "stddev": 0.5}),
        (UniformDiscrete, {"values": [1.0, 5.0]}),
    ):
        peer = getattr(theirs, ours.__name__)(*arguments.values())
        assert ours(**arguments).Mean() == peer.Mean()
        for name, value in arguments.items():
            assert getattr(ours(**arguments), name) == getattr(peer, name) == value
