"""Jacobians of frames, points and centres of mass, against differences of positions."""

import numpy as np
import pytest
from moving_states import DIFFERENCES, assert_close, derivative, moved, plant_with_frames, unskew
from random_trees import bodies_of, random_plant, random_state

from mbcli.math import RigidTransform
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import (
    FixedOffsetFrame,
    JacobianWrtVariable,
    ModelInstanceIndex,
    RevoluteJoint,
    SpatialInertia,
)

kQDot, kV = JacobianWrtVariable.kQDot, JacobianWrtVariable.kV
POINTS = np.array([[0.3, -0.1, 0.0, 1.2], [0.5, 0.7, 0.0, -0.4], [-0.2, 0.1, 0.0, 0.9]])
ROUNDING = 1e-12
SEEDS = range(4)
OPTIONS = ({}, {"trees": 2, "floating_bases": 1}, {"reversed_probability": 1.0}, {"trees": 3, "floating_bases": 1})


@pytest.fixture(params=SEEDS)
def scene(request):
    return plant_with_frames(request.param, **OPTIONS[request.param])


def unit_vectors(n):
    return np.eye(n)


def columns(function, directions):
    return np.column_stack([np.ravel(function(d)) for d in directions])


def test_translational_jacobian_is_the_rate_of_points_measured_in_a_moving_frame(scene):
    """plant (c) 6, multibody_tree (c) 2: columns are rates of p_AoBi as seen in A, expressed in a third frame E."""
    plant, context, (B, A, E) = scene
    J = plant.CalcJacobianTranslationalVelocity(context, kV, B, POINTS, A, E)
    assert J.shape == (12, plant.num_velocities())
    R_EA = plant.CalcRelativeRotationMatrix(context, E, A).matrix()

    def rates(direction):
        at = lambda t: plant.CalcPointsPositions(moved(plant, context, t, direction), B, POINTS, A)  # noqa: E731
        return (R_EA @ derivative(at)).T  # point by point

    assert_close(J, columns(rates, unit_vectors(plant.num_velocities())), DIFFERENCES)


def test_angular_jacobian_is_the_rate_of_the_rotation_in_a_moving_frame(scene):
    plant, context, (B, A, E) = scene
    J = plant.CalcJacobianAngularVelocity(context, kV, B, A, E)
    assert J.shape == (3, plant.num_velocities())
    R_EA = plant.CalcRelativeRotationMatrix(context, E, A).matrix()
    R_AB = plant.CalcRelativeRotationMatrix(context, A, B).matrix()

    def rates(direction):
        at = lambda t: plant.CalcRelativeRotationMatrix(moved(plant, context, t, direction), A, B).matrix()  # noqa: E731
        return R_EA @ unskew(derivative(at) @ R_AB.T)

    assert_close(J, columns(rates, unit_vectors(plant.num_velocities())), DIFFERENCES)


@pytest.mark.parametrize("with_respect_to", [kV, kQDot])
def test_spatial_jacobian_is_the_angular_one_over_the_translational_one(scene, with_respect_to):
    plant, context, (B, A, E) = scene
    J = plant.CalcJacobianSpatialVelocity(context, with_respect_to, B, POINTS[:, 0], A, E)
    angular = plant.CalcJacobianAngularVelocity(context, with_respect_to, B, A, E)
    translational = plant.CalcJacobianTranslationalVelocity(context, with_respect_to, B, POINTS[:, :1], A, E)
    np.testing.assert_array_equal(J, np.vstack([angular, translational]))


def test_jacobian_times_v_is_the_velocity_of_the_points(scene):
    plant, context, (B, A, E) = scene
    J = plant.CalcJacobianTranslationalVelocity(context, kV, B, POINTS, A, E)
    velocities = plant.CalcPointsVelocities(context, B, POINTS, A, E)
    assert_close((J @ plant.GetVelocities(context)).reshape(-1, 3).T, velocities, ROUNDING)
    with pytest.raises(RuntimeError, match=r"p_BQi must have shape"):
        plant.CalcPointsVelocities(context, B, POINTS.T, A, E)


def test_jacobian_times_v_is_the_velocity_of_the_frame(scene):
    plant, context, (B, A, E) = scene
    J = plant.CalcJacobianSpatialVelocity(context, kV, B, np.zeros(3), A, E)
    V_AB_E = B.CalcSpatialVelocity(context, A, E).get_coeffs()
    assert_close(J @ plant.GetVelocities(context), V_AB_E, ROUNDING)


@pytest.mark.parametrize("scale", [1.0, 1.3])
def test_position_jacobian_is_the_partial_derivative_by_q(scene, scale):
    """multibody_tree (c) 3: (3 k, nq) by differences in each q, also where quaternions are not of unit length."""
    plant, context, (B, A, E) = scene
    for joint in (plant.get_joint(k) for k in plant.GetJointIndices()):
        if joint.num_positions() == 7:
            start = joint.position_start()
            q = plant.GetPositions(context)
            q[start : start + 4] *= scale
            plant.SetPositions(context, q)
    J = plant.CalcJacobianPositionVector(context, B, POINTS, A, E)
    assert J.shape == (12, plant.num_positions())
    R_EA = plant.CalcRelativeRotationMatrix(context, E, A).matrix()
    other, q = context.Clone(), plant.GetPositions(context)

    def rates(direction):
        def at(t):
            plant.SetPositions(other, q + t * direction)
            return plant.CalcPointsPositions(other, B, POINTS, A)

        return (R_EA @ derivative(at)).T

    assert_close(J, columns(rates, unit_vectors(q.size)), DIFFERENCES)
    np.testing.assert_array_equal(J, plant.CalcJacobianTranslationalVelocity(context, kQDot, B, POINTS, A, E))


def test_the_jacobian_by_qdot_times_n_is_the_jacobian_by_v(scene):
    """plant (c) 1, tree (c) 12, multibody_tree (c) 4: J_qdot N = J_v and J_qdot = J_v N+."""
    plant, context, (B, A, E) = scene
    J_v = plant.CalcJacobianSpatialVelocity(context, kV, B, POINTS[:, 0], A, E)
    J_q = plant.CalcJacobianSpatialVelocity(context, kQDot, B, POINTS[:, 0], A, E)
    N = columns(lambda v: plant.MapVelocityToQDot(context, v), unit_vectors(J_v.shape[1]))
    N_plus = columns(lambda qdot: plant.MapQDotToVelocity(context, qdot), unit_vectors(J_q.shape[1]))
    assert_close(J_q @ N, J_v, ROUNDING)
    assert_close(J_q, J_v @ N_plus, ROUNDING)


def test_the_origin_of_the_frame_that_measures_does_not_matter():
    """plant (c) 6"""
    plant = random_plant(7, finalize=False)
    bodies = bodies_of(plant)
    near = plant.AddFrame(FixedOffsetFrame("near", bodies[4], RigidTransform([0.1, 0.2, 0.3])))
    far = plant.AddFrame(FixedOffsetFrame("far", bodies[4], RigidTransform([-3.0, 1.0, 5.0])))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, random_state(plant, np.random.default_rng(0))[0])
    B, W = bodies[-1].body_frame(), plant.world_frame()
    J = [plant.CalcJacobianTranslationalVelocity(context, kV, B, POINTS, A, W) for A in (near, far)]
    assert abs(J[0]).max() > 0.1
    np.testing.assert_array_equal(J[0], J[1])


def test_frames_of_one_tree_keep_their_digits_far_from_the_world_origin():
    """Moved by 1e9 m, where positions in World have 1e-7 m left, nothing is lost between two frames of a tree."""
    results = []
    for base_at in (np.zeros(3), np.array([1e9, -2e9, 3e9])):
        plant = random_plant(3, base_at=base_at)
        context = plant.CreateDefaultContext()
        q, v = random_state(plant, np.random.default_rng(1))
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        bodies = bodies_of(plant)
        B, A = bodies[-1].body_frame(), bodies[2].body_frame()
        J = plant.CalcJacobianSpatialVelocity(context, kV, B, POINTS[:, 0], A, A)
        bias = plant.CalcBiasSpatialAcceleration(context, kV, B, POINTS[:, 0], A, A)
        p = plant.CalcPointsPositions(context, B, POINTS, A)
        results.append((J, bias.get_coeffs(), p))
    for near, far in zip(*results, strict=True):
        assert_close(far, near, ROUNDING)


# centre of mass


@pytest.mark.parametrize("with_respect_to", [kV, kQDot])
def test_the_com_jacobian_is_the_weighted_mean_of_those_of_the_bodies(scene, with_respect_to):
    plant, context, (_, A, E) = scene
    J = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, with_respect_to, A, E)
    left = plant.GetModelInstanceByName("left")
    J_left = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, [left], with_respect_to, A, E)

    def weighted(bodies):
        total = np.zeros_like(J)
        for body in bodies:
            com = body.CalcCenterOfMassInBodyFrame(context)
            own = plant.CalcJacobianTranslationalVelocity(context, with_respect_to, body.body_frame(), com, A, E)
            total += body.get_mass(context) * own
        return total / sum(body.get_mass(context) for body in bodies)

    bodies = bodies_of(plant)[1:]
    assert_close(J, weighted(bodies), ROUNDING)
    assert_close(J_left, weighted([body for body in bodies if body.model_instance() == left]), ROUNDING)
    if with_respect_to is kV:
        W = plant.world_frame()
        J_W = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, kV, W, W)
        v = plant.CalcCenterOfMassTranslationalVelocityInWorld(context)
        assert_close(J_W @ plant.GetVelocities(context), v, ROUNDING)


def test_mass_that_is_welded_to_world_counts_in_the_com_jacobian():
    plant = MultibodyPlant(0.0)
    M = SpatialInertia.SolidSphereWithMass(2.0, 0.1)
    anchored, swinging = plant.AddRigidBody("anchored", M), plant.AddRigidBody("swinging", M)
    plant.WeldFrames(plant.world_frame(), anchored.body_frame(), RigidTransform([1.0, 0.0, 0.0]))
    joint = plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), swinging.body_frame(), [0.0, 0.0, 1.0]))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    swinging.SetCenterOfMassInBodyFrameAndPreserveCentralInertia(context, [0.6, 0.0, 0.0])
    joint.set_angle(context, np.pi / 2.0)
    W = plant.world_frame()
    J = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, kV, W, W)
    assert_close(J, [[-0.3], [0.0], [0.0]], ROUNDING)


def test_model_instances_may_repeat_and_may_be_given_by_name(scene):
    """plant (c) 7"""
    plant, context, (_, A, E) = scene
    left, right = (plant.GetModelInstanceByName(name) for name in ("left", "right"))
    J = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, [left, right], kV, A, E)
    again = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, [left, right, left], kV, A, E)
    named = plant.CalcJacobianCenterOfMassTranslationalVelocity(
        context=context, model_instances=[right, left], with_respect_to=kV, frame_A=A, frame_E=E
    )
    whole = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, with_respect_to=kV, frame_A=A, frame_E=E)
    mixed = plant.CalcJacobianCenterOfMassTranslationalVelocity(context, kV, A, frame_E=E)
    for other in (again, named, whole, mixed):
        np.testing.assert_array_equal(other, J)


def test_a_com_jacobian_without_mass_raises():
    """plant (c) 7: no list, World alone, no mass."""
    plant = MultibodyPlant(0.0)
    empty, light = plant.AddModelInstance("empty"), plant.AddModelInstance("light")
    plant.AddRigidBody("feather", light)
    plant.Finalize()
    context, W = plant.CreateDefaultContext(), plant.world_frame()
    for instances, message in (
        ([], "no body but World"),
        ([ModelInstanceIndex(0)], "no body but World"),
        ([empty], "no body but World"),
        ([light], "0 kg"),
    ):
        for method in ("CalcJacobian", "CalcBias"):
            method += "CenterOfMassTranslational" + ("Velocity" if method == "CalcJacobian" else "Acceleration")
            with pytest.raises(RuntimeError, match=f"no mass .*{message}"):
                getattr(plant, method)(context, instances, kV, W, W)
    with pytest.raises(RuntimeError, match="there is no model instance 17"):
        plant.CalcJacobianCenterOfMassTranslationalVelocity(context, [ModelInstanceIndex(17)], kV, W, W)


# arguments


def test_wrong_arguments_raise_and_say_which(scene):
    plant, context, (B, A, E) = scene
    foreign = random_plant(9)
    other = bodies_of(foreign)[3].body_frame()
    with pytest.raises(RuntimeError, match=f"frame '{other.name()}' is not part of this plant"):
        plant.CalcJacobianSpatialVelocity(context, kV, B, POINTS[:, 0], other, E)
    with pytest.raises(TypeError, match="expected a Frame, not <RigidBody"):
        plant.CalcJacobianAngularVelocity(context, kV, B.body(), A, E)
    with pytest.raises(TypeError, match="with_respect_to is a JacobianWrtVariable, not 1"):
        plant.CalcJacobianSpatialVelocity(context, 1, B, POINTS[:, 0], A, E)
    with pytest.raises(RuntimeError, match="another plant"):
        plant.CalcJacobianSpatialVelocity(foreign.CreateDefaultContext(), kV, B, POINTS[:, 0], A, E)
    with pytest.raises(RuntimeError, match=r"p_BoBp_B is one point \(3,\), it has shape \(3, 4\)"):
        plant.CalcJacobianSpatialVelocity(context, kV, B, POINTS, A, E)
    for points in (POINTS.T, np.zeros(4), np.zeros((1, 3, 1)), 1.0):
        with pytest.raises(RuntimeError, match=r"p_BoBi_B must have shape \(3,\) or \(3, n\)"):
            plant.CalcJacobianTranslationalVelocity(context, kV, B, points, A, E)
    with pytest.raises(RuntimeError, match="p_BoBi_B has no columns"):
        plant.CalcJacobianTranslationalVelocity(context, kV, B, np.zeros((3, 0)), A, E)
    with pytest.raises(RuntimeError, match=r"p_BQi must have shape \(3,\) or \(3, n\)"):
        plant.CalcPointsPositions(context, B, np.zeros((2, 3)), A)


def test_points_come_as_lists_integers_and_in_any_memory_order(scene):
    plant, context, (B, A, E) = scene
    expected = plant.CalcJacobianTranslationalVelocity(context, kV, B, POINTS, A, E)
    for points in (POINTS.tolist(), np.asfortranarray(POINTS), np.repeat(POINTS, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(plant.CalcJacobianTranslationalVelocity(context, kV, B, points, A, E), expected)
    ints = plant.CalcJacobianTranslationalVelocity(context, kV, B, [1, 2, 3], A, E)
    np.testing.assert_array_equal(ints, plant.CalcJacobianTranslationalVelocity(context, kV, B, [1.0, 2.0, 3.0], A, E))
    assert POINTS.flags.writeable


def test_the_wrt_variable_has_the_names_and_values_of_the_reference():
    assert [(w.name, w.value) for w in JacobianWrtVariable] == [("kQDot", 0), ("kV", 1)]
    assert JacobianWrtVariable(1) is kV
