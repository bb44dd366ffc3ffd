"""Curves of arcs and lines, and joints that follow them: table (c) entries 2, 4, 24 of the tree specification."""

import numpy as np
import pytest
from naive import Oracle
from random_trees import joints_of, random_context, random_curve, random_inertia, random_plant, random_pose

from mbcli.engine import load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.math import RigidTransform, RotationMatrix
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import CurvilinearJoint, FixedOffsetFrame, MultibodyForces, RevoluteJoint, SpatialInertia
from mbcli.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig
from mbcli.trajectories import PiecewiseConstantCurvatureTrajectory

ROUNDING = 1e-13
O = np.zeros(3)
BREAKS, RATES = [0.0, 1.0, 2.5, 3.0], [0.8, 0.0, -2.0]
TANGENT, NORMAL, POSITION = [3.0, 0.0, 0.0], [0.0, 0.0, 2.0], [1.0, 2.0, 3.0]


def curve(breaks=BREAKS, rates=RATES, tangent=TANGENT, normal=NORMAL, position=POSITION, is_periodic=False):
    return PiecewiseConstantCurvatureTrajectory(breaks, rates, tangent, normal, position, is_periodic)


def circle(radius=0.5, is_periodic=True):
    """Anticlockwise about the origin from (radius, 0)."""
    breaks = radius * 2.0 * np.pi * np.array([0.0, 0.3, 1.0])
    return curve(breaks, [1.0 / radius] * 2, [0, 1, 0], [0, 0, 1], [radius, 0, 0], is_periodic)


def pose(path, s):
    return path.CalcPose(s).GetAsMatrix4()


def on_curve(path, *arguments, reversed_joint=False, inertia=None, **named):
    """A plant with one body on a curve, whose frames are World and the body."""
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)) if inertia is None else inertia)
    frames = [plant.world_frame(), body.body_frame()]
    if reversed_joint:
        frames.reverse()
    joint = plant.AddJoint(CurvilinearJoint("rail", *frames, path, *arguments, **named))
    plant.Finalize()
    return plant, joint, body


# the curve


def test_an_arc_and_a_line_lead_where_they_should():
    """tree (c) 24"""
    path = curve()
    np.testing.assert_allclose(pose(path, 0.0), RigidTransform(POSITION).GetAsMatrix4(), rtol=0.0, atol=ROUNDING)
    turned = 0.8
    end = np.array(POSITION) + [np.sin(turned) / 0.8, (1.0 - np.cos(turned)) / 0.8, 0.0]
    np.testing.assert_allclose(path.value(1.0).ravel(), end, rtol=0.0, atol=ROUNDING)
    direction = np.array([np.cos(turned), np.sin(turned), 0.0])
    np.testing.assert_allclose(path.value(2.2).ravel(), end + 1.2 * direction, rtol=0.0, atol=ROUNDING)
    X = pose(path, 2.2)
    np.testing.assert_allclose(X[:3, 0], direction, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(X[:3, 2], [0.0, 0.0, 1.0], rtol=0.0, atol=ROUNDING)
    assert [path.curvature(s) for s in (-1.0, 0.0, 0.99, 1.0, 2.4, 2.5, 3.0, 9.0)] == [0.8, 0.8, 0.8, 0, 0, -2, -2, -2]


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_axes_of_M_turn_by_the_rate_times_the_distance(seed, periodic):
    """dMx/ds = r My, dMy/ds = -r Mx, dMz/ds = 0, and the point moves along Mx; before, within and beyond the curve."""
    path, h = random_curve(np.random.default_rng(seed), periodic), 1e-5
    for s in np.random.default_rng(seed).uniform(-2.0, 6.0, 30):
        X, rate = pose(path, s), path.curvature(s)
        dX = (pose(path, s + h) - pose(path, s - h)) / (2.0 * h)
        expected = np.column_stack([rate * X[:, 1], -rate * X[:, 0], np.zeros(4), X[:, 0]])
        assert abs(dX - expected).max() < 1e-8


@pytest.mark.parametrize("seed", range(5))
def test_position_and_tangent_are_continuous_at_breaks(seed):
    """24: C1 continuity, to rounding."""
    path, gap = random_curve(np.random.default_rng(seed), False), 1e-13
    for s in path.get_segment_times()[1:-1]:
        assert abs(pose(path, s + gap) - pose(path, s - gap)).max() < 1e-12
        assert path.curvature(s + gap) != path.curvature(s - gap)


@pytest.mark.parametrize("is_periodic", [True, False])
def test_a_circle_comes_back_to_its_start_and_goes_round_in_either_direction(is_periodic):
    """tree (c) 24"""
    path = circle(is_periodic=is_periodic)
    assert path.EndpointsAreNearlyEqual(1e-14)
    for s in (0.0, 0.4, -0.7, 2.0):
        for laps in (-3, 1, 2):
            np.testing.assert_allclose(pose(path, s + laps * path.length()), pose(path, s), rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(path.value(-0.5 * np.pi / 2.0).ravel(), [0.0, -0.5, 0.0], rtol=0.0, atol=ROUNDING)


def test_a_periodic_curve_repeats_where_an_aperiodic_one_goes_on():
    """tree (c) 24"""
    rng = np.random.default_rng(4)
    path = random_curve(rng, True)
    L = path.length()
    assert path.EndpointsAreNearlyEqual(1e-13)
    for s in (-0.1, 0.2, 0.9 * L):
        np.testing.assert_allclose(pose(path, s + 5.0 * L), pose(path, s), rtol=0.0, atol=1e-12)
    open_path = curve()
    assert not open_path.EndpointsAreNearlyEqual(1e-3)
    step = pose(open_path, -1.0)[:3, 3] - np.array(POSITION)
    np.testing.assert_allclose(step, [-np.sin(0.8) / 0.8, (1.0 - np.cos(0.8)) / 0.8, 0.0], rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("rate", [1e-3, 1e-8, 1e-12, 1e-300, 5e-324])
def test_a_nearly_straight_arc_keeps_its_digits(rate):
    """x = d - r^2 d^3 / 6, y = r d^2 / 2, from the series: neither 1 - cos nor the long radius lose digits."""
    d = 0.75
    x, y, _ = curve([0.0, 1.0], [rate], [1, 0, 0], [0, 0, 1], [0, 0, 0]).value(d).ravel()
    assert x == pytest.approx(d - rate**2 * d**3 / 6.0, rel=1e-12)
    assert y == pytest.approx(rate * d**2 / 2.0, rel=1e-6, abs=1e-300)


def test_velocity_and_acceleration_of_the_curve_are_derivatives():
    path, s, s_dot, s_ddot, h = curve(), 0.6, 1.7, -0.9, 1e-5

    def at(t):
        return path.CalcPose(s + s_dot * t + 0.5 * s_ddot * t * t)

    V, A = path.CalcSpatialVelocity(s, s_dot), path.CalcSpatialAcceleration(s, s_dot, s_ddot)
    before, now, after = (at(t).translation() for t in (-h, 0.0, h))
    np.testing.assert_allclose((after - before) / (2.0 * h), V.translational(), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose((after - 2.0 * now + before) / h**2, A.translational(), rtol=0.0, atol=1e-4)
    np.testing.assert_allclose(V.rotational(), [0.0, 0.0, 0.8 * s_dot], rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(A.rotational(), [0.0, 0.0, 0.8 * s_ddot], rtol=0.0, atol=ROUNDING)
    in_M = path.CalcSpatialVelocityInM(s, s_dot).get_coeffs()
    np.testing.assert_array_equal(in_M, [0.0, 0.0, 0.8 * s_dot, s_dot, 0.0, 0.0])
    in_M = path.CalcSpatialAccelerationInM(s, s_dot, s_ddot).get_coeffs()
    np.testing.assert_allclose(in_M, [0.0, 0.0, 0.8 * s_ddot, s_ddot, 0.8 * s_dot**2, 0.0], rtol=1e-15)


def test_a_curve_says_what_it_is_made_of():
    path = curve()
    assert path.length() == path.end_time() == 3.0
    assert path.start_time() == 0.0
    assert not path.is_periodic()
    assert circle().is_periodic()
    assert path.get_number_of_segments() == 3
    assert path.get_segment_times() == BREAKS
    assert (path.start_time(1), path.end_time(1), path.duration(1)) == (1.0, 2.5, 1.5)
    assert (path.rows(), path.cols(), path.value(0.3).shape) == (3, 1, (3, 1))
    assert pose(path.Clone(), 0.3).tolist() == pose(path, 0.3).tolist()
    with pytest.raises(RuntimeError, match="no segment 3"):
        path.end_time(3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rates": [1.0]}, "4 breaks need one turning rate less, not 1"),
        ({"breaks": [0.1, 1.0, 2.0, 3.0]}, "first break must be 0, it is 0.1"),
        ({"breaks": [0.0, 1.0, 1.0, 3.0]}, "breaks must increase"),
        ({"breaks": [0.0, 2.0, 1.0, 3.0]}, "breaks must increase"),
        ({"breaks": [0.0, 1.0, np.nan, 3.0]}, "breaks must be finite"),
        ({"rates": [0.0, np.inf, 1.0]}, "turning_rates must be finite"),
        ({"tangent": [0.0, 0.0, 0.0]}, "initial_curve_tangent must be a direction"),
        ({"normal": [0.0, 0.0, 0.0]}, "plane_normal must be a direction"),
        ({"normal": [1.0, 0.0, 1.0]}, "is not perpendicular to plane_normal"),
        ({"tangent": [1.0, 0.0]}, "initial_curve_tangent must be a direction"),
        ({"position": [0.0, 0.0, np.nan]}, "initial_position must be three finite numbers"),
    ],
)
def test_a_curve_refuses_what_is_no_curve(changes, message):
    with pytest.raises(RuntimeError, match=message):
        curve(**changes)


def test_an_empty_curve_leads_nowhere():
    empty = PiecewiseConstantCurvatureTrajectory()
    assert (empty.length(), empty.get_number_of_segments()) == (0.0, 0)
    for ask in (lambda: empty.CalcPose(0.0), lambda: empty.curvature(0.0), lambda: empty.EndpointsAreNearlyEqual(1.0)):
        with pytest.raises(RuntimeError, match="empty"):
            ask()
    with pytest.raises(RuntimeError, match="joint 'rail': the curve is empty"):
        on_curve(empty)


# the joint


def test_limits_are_the_length_of_the_curve_and_none_for_a_periodic_one():
    def limits(*arguments, **named):
        _, joint, _ = on_curve(*arguments, **named)
        return joint.position_lower_limit(), joint.position_upper_limit(), joint.default_damping()

    assert limits(curve()) == (0.0, 3.0, 0.0)
    assert limits(curve(), 0.4) == limits(curve(), damping=0.4) == (0.0, 3.0, 0.4)
    assert limits(circle()) == (-np.inf, np.inf, 0.0)
    assert limits(circle(), -1.0, 2.0) == (-1.0, 2.0, 0.0)
    assert limits(curve(), -1.0, 2.0, 0.3) == (-1.0, 2.0, 0.3)
    assert limits(curve(), pos_lower_limit=-1.0, pos_upper_limit=5.0) == (-1.0, 5.0, 0.0)


def test_a_joint_refuses_wrong_limits_damping_and_a_periodic_curve_that_does_not_close():
    with pytest.raises(RuntimeError, match="joint 'rail': lower position limit .*2.* is above"):
        on_curve(curve(), 2.0, 1.0)
    with pytest.raises(RuntimeError, match="joint 'rail': damping must be finite and not negative"):
        on_curve(curve(), -0.1)
    with pytest.raises(RuntimeError, match="joint 'rail': the curve is periodic, but its ends do not meet"):
        on_curve(curve(is_periodic=True))


def test_the_interface_of_the_joint():
    path = curve()
    plant, joint, _ = on_curve(path, 0.4)
    context = plant.CreateDefaultContext()
    assert joint.get_trajectory() is path
    assert joint.type_name() == CurvilinearJoint.kTypeName == "curvilinear"
    assert (joint.position_suffix(0), joint.velocity_suffix(0)) == ("q", "v")
    assert joint.set_distance(context, 7.5) is joint
    assert joint.set_tangential_velocity(context, -2.0) is joint
    assert (joint.get_distance(context), joint.get_tangential_velocity(context)) == (7.5, -2.0)
    joint.set_default_distance(0.25)
    assert joint.get_default_distance() == joint.get_distance(plant.CreateDefaultContext()) == 0.25
    assert joint.can_rotate()
    assert joint.can_translate()
    joint.SetDamping(context, 0.9)
    assert (joint.GetDamping(context), joint.default_damping()) == (0.9, 0.4)
    forces = MultibodyForces(plant)
    joint.AddInForce(context, 5.0, forces)
    joint.AddInDamping(context, forces)
    np.testing.assert_allclose(forces.generalized_forces(), [5.0 + 0.9 * 2.0], rtol=1e-15)


@pytest.mark.parametrize("reversed_joint", [False, True])
@pytest.mark.parametrize("s", [-0.8, 0.5, 1.0, 2.0, 2.9, 4.0])
def test_the_joint_poses_its_child_on_the_curve(s, reversed_joint):
    """4: also where its parent is outboard, and at distance 0 M need not be F."""
    plant, joint, body = on_curve(curve(), reversed_joint=reversed_joint)
    context = plant.CreateDefaultContext()
    joint.set_distance(context, s)
    joint.set_tangential_velocity(context, 1.5)
    X_WB = plant.EvalBodyPoseInWorld(context, body)
    X_FM = X_WB.inverse() if reversed_joint else X_WB
    np.testing.assert_allclose(X_FM.GetAsMatrix4(), pose(curve(), s), rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(joint.GetPose(context).GetAsMatrix4(), pose(curve(), s), rtol=0.0, atol=ROUNDING)
    V_FM = joint.GetSpatialVelocity(context).get_coeffs()
    np.testing.assert_allclose(V_FM, curve().CalcSpatialVelocity(s, 1.5).get_coeffs(), rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("reversed_joint", [False, True])
def test_velocities_and_accelerations_are_rates_of_poses(reversed_joint):
    """tree (c) 24: 2: V = H v and A = Hdot v + H vdot by differences of poses and velocities, on every segment."""
    plant, joint, body = on_curve(curve(), reversed_joint=reversed_joint)
    context, h, v, a = plant.CreateDefaultContext(), 1e-6, 1.3, -0.7

    def at(s, v):
        joint.set_distance(context, s)
        joint.set_tangential_velocity(context, v)
        X = plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4()
        return X, plant.EvalBodySpatialVelocityInWorld(context, body).get_coeffs()

    for s in (-0.4, 0.3, 1.7, 2.8, 3.5):
        (X0, V0), (X1, V1) = at(s - h * v, v - h * a), at(s + h * v, v + h * a)
        X, V = at(s, v)
        rate = (X1 - X0) / (2.0 * h)
        W = rate[:3, :3] @ X[:3, :3].T
        np.testing.assert_allclose([W[2, 1], W[0, 2], W[1, 0], *rate[:3, 3]], V, rtol=0.0, atol=1e-8)
        A = plant.CalcSpatialAccelerationsFromVdot(context, [a])[int(body.index())].get_coeffs()
        np.testing.assert_allclose((V1 - V0) / (2.0 * h), A, rtol=0.0, atol=1e-8)


def motion_of(plant, body, start, rate, steps):
    """Poses of the body while the plant moves freely from the state of its one joint."""
    simulator = Simulator(plant)
    ApplySimulatorConfig(SimulatorConfig(accuracy=1e-10), simulator)
    context = simulator.get_mutable_context()
    plant.SetPositionsAndVelocities(context, [start, rate])
    poses = []
    for k in range(1, steps + 1):
        simulator.AdvanceTo(0.02 * k)
        poses.append(plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4())
    return np.array(poses)


@pytest.mark.parametrize("reversed_joint", [False, True])
def test_on_a_circle_a_body_moves_as_on_a_revolute_joint(reversed_joint):
    """The same mechanism by other coordinates: q is the arc, so the damping per metre is that per radian over r^2."""
    radius, rng, poses = 0.5, np.random.default_rng(3), []
    X_WF, X_BM = random_pose(rng), random_pose(rng)
    # the child's frame on the curve, at the radius and turned by a quarter, in that of the revolute joint at the centre
    offset = RigidTransform(RotationMatrix.MakeZRotation(np.pi / 2), [radius, 0.0, 0.0])
    for kind in ("curvilinear", "revolute"):
        plant = MultibodyPlant(0.0)
        body = plant.AddRigidBody("body", random_inertia(np.random.default_rng(0)))
        X = [X_BM, X_WF] if reversed_joint else [X_WF, X_BM]
        if kind == "revolute":
            X[1] = X[1] @ offset.inverse()
        bodies = (body, plant.world_body()) if reversed_joint else (plant.world_body(), body)
        frames = [plant.AddFrame(FixedOffsetFrame(f"frame{k}", bodies[k], X[k])) for k in range(2)]
        if kind == "curvilinear":
            plant.AddJoint(CurvilinearJoint("j", *frames, circle(radius), 0.4))
        else:
            plant.AddJoint(RevoluteJoint("j", *frames, [0, 0, 1], 0.4 * radius**2))
        plant.Finalize()
        scale = 1.0 if kind == "curvilinear" else 1.0 / radius
        poses.append(motion_of(plant, body, 0.3 * scale, 2.0 * scale, 20))
    assert abs(np.diff(poses[0], axis=0)).max() > 0.01
    np.testing.assert_allclose(poses[0], poses[1], rtol=0.0, atol=1e-8)


def test_a_particle_coasting_round_a_stadium_keeps_its_energy():
    """23, 24: over laps of a periodic curve. (A body that resists turning does not: its turning rate jumps.)"""
    plant, joint, _ = on_curve(random_curve(np.random.default_rng(1), True), inertia=SpatialInertia.PointMass(2.0, O))
    simulator = Simulator(plant)
    ApplySimulatorConfig(SimulatorConfig(accuracy=1e-10), simulator)
    context = simulator.get_mutable_context()
    joint.set_tangential_velocity(context, 8.0)
    energy = plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
    kinetic = plant.CalcKineticEnergy(context)
    simulator.AdvanceTo(2.03)
    assert joint.get_distance(context) > 2.0 * joint.get_trajectory().length()
    assert abs(plant.CalcKineticEnergy(context) - kinetic) > 0.1
    after = plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context)
    assert after == pytest.approx(energy, rel=1e-8)


# in the engine


def rails(seed, **options):
    return random_plant(seed, kinds=("curvilinear",), num_bodies=6, **options)


@pytest.mark.parametrize("reversed_probability", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_trees_of_rails_agree_with_the_oracle(seed, reversed_probability):
    plant = rails(seed, reversed_probability=reversed_probability)
    oracle, rng = Oracle(plant), np.random.default_rng(seed)
    context = random_context(plant, rng)
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    M = plant.CalcMassMatrix(context)
    np.testing.assert_allclose(M, oracle.mass_matrix(q), rtol=0.0, atol=1e-12 * abs(M).max())
    Cv = plant.CalcBiasTerm(context)
    np.testing.assert_allclose(Cv, oracle.bias(q, v), rtol=0.0, atol=1e-11 * max(1.0, abs(Cv).max()))
    vdot, expected = plant.CalcForwardDynamics(context), oracle.forward_dynamics(q, v, np.zeros(q.size))
    np.testing.assert_allclose(vdot, expected, rtol=0.0, atol=1e-9 * abs(expected).max())


def test_derivatives_by_distance_are_those_of_the_segment():
    """Complex steps: the segment is chosen by the real part, in every lap of a periodic curve."""
    plant = rails(2)
    model, kernels = plant.model.replace(dtype=complex), load_kernels(False)
    q = np.random.default_rng(0).uniform(-5.0, 5.0, 6)

    def poses(q, model):
        data = Data(model.sizes, model.dtype)
        data.q[:] = q
        kernels.position_kinematics(model, data)
        return data.X_WB

    for k in range(q.size):
        step = np.zeros(q.size)
        step[k] = 1.0
        derivative = poses(q + 1e-30j * step, model).imag / 1e-30
        h = 1e-6
        expected = (poses(q + h * step, plant.model) - poses(q - h * step, plant.model)) / (2.0 * h)
        assert abs(derivative).max() > 0.1
        np.testing.assert_allclose(derivative, expected, rtol=0.0, atol=1e-7)


def test_compiled_and_interpreted_poses_agree_over_many_laps():
    plant = rails(5)
    q = np.random.default_rng(0).uniform(-50.0, 50.0, 6)
    results = []
    for compiled in (False, True):
        data = Data(plant.model.sizes)
        data.q[:] = q
        load_kernels(compiled).position_stage(plant.model.handle(compiled), data.handle(compiled))
        results.append(data.X_WB.copy())
    np.testing.assert_allclose(results[0], results[1], rtol=0.0, atol=1e-11)
    assert any(joint.get_trajectory().is_periodic() for joint in joints_of(plant))


@pytest.mark.parametrize("s", [np.nan, np.inf])
def test_a_distance_that_is_no_number_gives_none(s):
    plant, joint, body = on_curve(circle())
    context = plant.CreateDefaultContext()
    with pytest.raises(RuntimeError, match="must be finite"):
        joint.set_distance(context, s)
    context.state.set_q([s])  # as a step leaves it that fails
    with np.errstate(invalid="ignore"):
        assert np.isnan(plant.EvalBodyPoseInWorld(context, body).translation()).any()
