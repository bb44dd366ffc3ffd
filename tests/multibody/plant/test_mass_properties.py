"""Mass, centre of mass, momentum and inertia of a plant, of model instances and of sets of bodies."""

import numpy as np
import pytest
from command_line import succeed
from moving_states import DIFFERENCES, assert_close, derivative, moved, plant_with_frames
from random_trees import bodies_of, random_context, random_plant, random_pose

from mbcli.errors import ArgumentError, ModelError
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.models import center_of_mass, load_model, momentum
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import ExternallyAppliedSpatialForce, MultibodyPlant
from mbcli.multibody.tree import (
    BodyIndex,
    FixedOffsetFrame,
    JacobianWrtVariable,
    ModelInstanceIndex,
    MultibodyForces,
    RevoluteJoint,
    RigidBody,
    SpatialInertia,
    UnitInertia,
)
from mbcli.simulation import simulate

ROUNDING = 1e-12
# Rounding of accelerations of a few thousand that forward dynamics gives.
FORWARD_DYNAMICS = 1e-10
OPTIONS = ({}, {"trees": 2, "floating_bases": 1}, {"reversed_probability": 1.0}, {"trees": 3, "floating_bases": 1})
COM_METHODS = (
    "CalcCenterOfMassPositionInWorld",
    "CalcCenterOfMassTranslationalVelocityInWorld",
    "CalcCenterOfMassTranslationalAccelerationInWorld",
)


@pytest.fixture(params=range(4))
def scene(request):
    return plant_with_frames(request.param, **OPTIONS[request.param])


def chosen_bodies(plant):
    """Arguments that choose model instances, and the bodies that they choose."""
    left, right = (plant.GetModelInstanceByName(name) for name in ("left", "right"))
    bodies = bodies_of(plant)[1:]
    return (
        ((), bodies),
        (([left],), [body for body in bodies if body.model_instance() == left]),
        (([right, left, right, ModelInstanceIndex(0)],), bodies),
    )


def com_in_world(context, body):
    return body.EvalPoseInWorld(context) @ body.CalcCenterOfMassInBodyFrame(context)


# centre of mass


def test_center_of_mass_is_the_weighted_mean_of_the_bodies(scene):
    """plant (c) 7: instances that are listed twice count once, World counts nothing."""
    plant, context, _ = scene
    for arguments, bodies in chosen_bodies(plant):
        masses = [body.get_mass(context) for body in bodies]
        assert plant.CalcTotalMass(context, *arguments) == pytest.approx(sum(masses), rel=1e-14)
        expected = np.average([com_in_world(context, body) for body in bodies], axis=0, weights=masses)
        assert_close(plant.CalcCenterOfMassPositionInWorld(context, *arguments), expected, ROUNDING)


def test_velocity_and_acceleration_of_the_center_of_mass_are_rates(scene):
    """plant (c) 7: of its position along v, and of its velocity along the forward dynamics."""
    plant, context, _ = scene
    vdot = plant.CalcForwardDynamics(context)
    position, velocity, acceleration = (getattr(plant, method) for method in COM_METHODS)
    for arguments, _ in chosen_bodies(plant):
        expected = derivative(lambda t, a=arguments: position(moved(plant, context, t), *a))
        assert_close(velocity(context, *arguments), expected, DIFFERENCES)
        expected = derivative(lambda t, a=arguments: velocity(moved(plant, context, t, vdot=vdot), *a))
        assert_close(acceleration(context, *arguments), expected, DIFFERENCES)


def floating_chain(seed, gravity=(0.0, 0.0, 0.0)):
    """A plant of two bases that float and of what hangs on them, in a random state."""
    plant = random_plant(seed, trees=0, floating_bases=2, finalize=False)
    plant.mutable_gravity_field().set_gravity_vector(np.array(gravity))
    plant.Finalize()
    return plant, random_context(plant, np.random.default_rng(seed))


def test_mass_times_acceleration_of_the_center_of_mass_is_the_sum_of_external_forces():
    """plant (c) 7: floating bodies under gravity, pushed at two points, with springs, damping and motors inside."""
    g = np.array([1.0, -2.0, -7.0])
    plant, context = floating_chain(4, g)
    bodies = bodies_of(plant)
    pushes = []
    for n, f in ((2, [10.0, -4.0, 3.0]), (-1, [0.5, 8.0, -20.0])):
        push = ExternallyAppliedSpatialForce()
        push.body_index, push.p_BoBq_B = bodies[n].index(), np.array([0.3, -0.2, 0.5])
        push.F_Bq_W = SpatialForce([1.0, 2.0, 3.0], f)
        pushes.append(push)
    plant.get_applied_spatial_force_input_port().FixValue(context, pushes)
    plant.get_actuation_input_port().FixValue(context, np.arange(1.0, 1.0 + plant.num_actuators()))
    m = plant.CalcTotalMass(context)
    a = plant.CalcCenterOfMassTranslationalAccelerationInWorld(context)
    external = m * g + sum(push.F_Bq_W.translational() for push in pushes)
    assert_close(m * a, external, FORWARD_DYNAMICS)


@pytest.mark.parametrize("method", COM_METHODS)
def test_without_mass_there_is_no_center_of_mass(method):
    """plant (c) 7: an empty list, World alone, an instance without bodies, bodies without mass."""
    plant = MultibodyPlant(0.0)
    empty, light = plant.AddModelInstance("empty"), plant.AddModelInstance("light")
    plant.AddRigidBody("feather", light)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for instances, found in (
        ([], "no body"),
        ([ModelInstanceIndex(0)], "no body"),
        ([empty], "no body"),
        ([light], "0 kg"),
    ):
        with pytest.raises(RuntimeError, match=f"these model instances have no mass .{found}.*no centre of mass"):
            getattr(plant, method)(context, instances)
        assert plant.CalcTotalMass(context, instances) == 0.0
        np.testing.assert_array_equal(
            plant.CalcSpatialMomentumInWorldAboutPoint(context, instances, np.ones(3)).get_coeffs(), np.zeros(6)
        )
    with pytest.raises(RuntimeError, match="the plant has no mass .0 kg.: there is no centre of mass"):
        getattr(plant, method)(context)


def test_a_model_instance_that_does_not_exist_raises(scene):
    plant, context, _ = scene
    wrong = [ModelInstanceIndex(2), ModelInstanceIndex(12)]
    for method in ("CalcTotalMass", *COM_METHODS):
        with pytest.raises(RuntimeError, match="there is no model instance 12"):
            getattr(plant, method)(context, wrong)
    with pytest.raises(RuntimeError, match="there is no model instance 12"):
        plant.CalcSpatialMomentumInWorldAboutPoint(context, wrong, np.zeros(3))


# momentum


def test_momentum_is_that_of_the_bodies_about_the_point(scene):
    plant, context, _ = scene
    p_WoP = np.array([0.7, -2.0, 1.1])
    for arguments, bodies in chosen_bodies(plant):
        expected = np.zeros(6)
        for body in bodies:
            X_WB = body.EvalPoseInWorld(context)
            M_BP_W = body.CalcSpatialInertiaInBodyFrame(context).ReExpress(X_WB.rotation())
            p_BoP = p_WoP - X_WB.translation()
            V_WBp = body.EvalSpatialVelocityInWorld(context).Shift(p_BoP)
            expected += (M_BP_W.Shift(p_BoP) * V_WBp).get_coeffs()
        L = plant.CalcSpatialMomentumInWorldAboutPoint(context, *arguments, p_WoP)
        assert_close(L.get_coeffs(), expected, ROUNDING)
        named = plant.CalcSpatialMomentumInWorldAboutPoint(
            context, p_WoP_W=p_WoP, **({"model_instances": arguments[0]} if arguments else {})
        )
        np.testing.assert_array_equal(named.get_coeffs(), L.get_coeffs())


def test_momentum_is_mass_times_velocity_and_shifts_to_the_center_of_mass(scene):
    plant, context, _ = scene
    p_WoScm = plant.CalcCenterOfMassPositionInWorld(context)
    L_Scm = plant.CalcSpatialMomentumInWorldAboutPoint(context, p_WoScm)
    mv = plant.CalcTotalMass(context) * plant.CalcCenterOfMassTranslationalVelocityInWorld(context)
    assert_close(L_Scm.translational(), mv, ROUNDING)
    L_Wo = plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3))
    assert_close(L_Wo.get_coeffs(), L_Scm.Shift(-p_WoScm).get_coeffs(), ROUNDING)


def test_forces_inside_change_no_momentum():
    """plant (c) 8: without gravity, linear momentum, and angular about a fixed point and about the com, stay."""
    plant, context = floating_chain(5)
    plant.get_actuation_input_port().FixValue(context, np.arange(1.0, 1.0 + plant.num_actuators()))
    vdot = plant.CalcForwardDynamics(context)

    def rate(about):
        def at(t):
            other = moved(plant, context, t, vdot=vdot)
            return plant.CalcSpatialMomentumInWorldAboutPoint(other, about(other)).get_coeffs()

        return derivative(at)

    assert abs(vdot).max() > 1.0
    assert_close(rate(lambda c: np.array([1.0, 2.0, 3.0])), np.zeros(6), 1e-7)
    assert_close(rate(plant.CalcCenterOfMassPositionInWorld), np.zeros(6), 1e-7)


def test_the_point_of_a_momentum_has_three_numbers(scene):
    plant, context, _ = scene
    with pytest.raises(RuntimeError, match=r"p_WoP_W is one point \(3,\), it has shape \(4,\)"):
        plant.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(4))


# composite inertia


def test_spatial_inertia_of_a_set_is_the_sum_of_its_bodies(scene):
    """plant (c) 9"""
    plant, context, (F, _, _) = scene
    bodies = bodies_of(plant)
    for chosen in (bodies, bodies[1:], bodies[2::3], [bodies[-1], bodies[0], bodies[4]]):
        expected = np.zeros((6, 6))
        for body in chosen:
            X_FB = body.body_frame().CalcPose(context, F)
            M = body.CalcSpatialInertiaInBodyFrame(context).ReExpress(X_FB.rotation()).Shift(-X_FB.translation())
            expected += M.CopyToFullMatrix6()
        M_SFo_F = plant.CalcSpatialInertia(context, F, [body.index() for body in chosen])
        assert_close(M_SFo_F.CopyToFullMatrix6(), expected, ROUNDING)


def test_the_composite_of_a_floating_robot_heads_its_mass_matrix():
    """plant (c) 9: about the base's origin in world axes, the 6x6 block of the base's velocities."""
    plant = random_plant(6, trees=0, floating_bases=1, reversed_probability=0.0, actuated=False, finalize=False)
    base = bodies_of(plant)[1]
    plant.Finalize()
    context = random_context(plant, np.random.default_rng(6))
    assert base.is_floating_base_body()
    start = base.floating_velocities_start_in_v()
    X_WB = base.EvalPoseInWorld(context)
    aligned = plant.CalcSpatialInertia(context, plant.world_frame(), [body.index() for body in bodies_of(plant)])
    expected = aligned.Shift(X_WB.translation()).CopyToFullMatrix6()
    block = plant.CalcMassMatrix(context)[start : start + 6, start : start + 6]
    assert_close(block, expected, ROUNDING)


def test_the_inertia_of_nothing_is_zero(scene):
    plant, context, (F, _, _) = scene
    for chosen in ([], [BodyIndex(0)]):
        assert plant.CalcSpatialInertia(context, F, chosen).IsZero()


def test_an_invalid_or_repeated_body_index_raises(scene):
    """plant (c) 9"""
    plant, context, (F, _, _) = scene
    with pytest.raises(RuntimeError, match=r"CalcSpatialInertia: body 'body1' \(2\) is listed twice"):
        plant.CalcSpatialInertia(context, F, [BodyIndex(1), BodyIndex(2), BodyIndex(2)])
    for wrong in (BodyIndex(99), BodyIndex()):
        with pytest.raises(RuntimeError, match="CalcSpatialInertia: there is no body"):
            plant.CalcSpatialInertia(context, F, [BodyIndex(1), wrong])
    with pytest.raises(TypeError, match="is not a BodyIndex"):
        plant.CalcSpatialInertia(context, F, [F.index()])


# bodies


def test_center_of_mass_of_a_body_moves_with_it(scene):
    plant, context, _ = scene
    vdot = plant.CalcForwardDynamics(context)
    body = bodies_of(plant)[-2]
    velocity = body.CalcCenterOfMassTranslationalVelocityInWorld
    assert_close(velocity(context), derivative(lambda t: com_in_world(moved(plant, context, t), body)), DIFFERENCES)
    expected = derivative(lambda t: velocity(moved(plant, context, t, vdot=vdot)))
    assert_close(body.CalcCenterOfMassTranslationalAccelerationInWorld(context), expected, DIFFERENCES)


def test_mass_properties_of_a_context_stay_in_it(scene):
    """tree (c) 11: neither the defaults nor another context change."""
    plant, context, _ = scene
    body, other = bodies_of(plant)[3], plant.CreateDefaultContext()
    default = body.default_spatial_inertia().CopyToFullMatrix6()
    before = plant.CalcMassMatrix(other)
    assert body.get_mass(context) == body.default_mass()
    body.SetMass(context, 7.0)
    assert body.get_mass(context) == 7.0
    np.testing.assert_array_equal(body.CalcCenterOfMassInBodyFrame(context), body.default_com())
    inertia = body.CalcSpatialInertiaInBodyFrame(context)
    assert_close(inertia.CopyToFullMatrix6(), default * 7.0 / body.default_mass(), ROUNDING)
    assert abs(plant.CalcMassMatrix(context) - before).max() > 1e-3
    np.testing.assert_array_equal(plant.CalcMassMatrix(other), before)
    np.testing.assert_array_equal(body.default_spatial_inertia().CopyToFullMatrix6(), default)
    assert plant.CalcTotalMass(context) == pytest.approx(plant.CalcTotalMass(other) + 7.0 - body.default_mass())
    assert plant.CalcTotalMass(context, [body.model_instance()]) > plant.CalcTotalMass(other, [body.model_instance()])


def test_a_center_of_mass_moves_with_or_without_its_inertia(scene):
    plant, context, _ = scene
    body, com = bodies_of(plant)[3], np.array([0.1, -0.4, 0.2])
    M = body.default_spatial_inertia()
    central = M.Shift(M.get_com()).CalcRotationalInertia().CopyToFullMatrix3()
    body.SetCenterOfMassInBodyFrameAndPreserveCentralInertia(context, com)
    kept = body.CalcSpatialInertiaInBodyFrame(context)
    np.testing.assert_array_equal(kept.get_com(), com)
    assert_close(kept.Shift(com).CalcRotationalInertia().CopyToFullMatrix3(), central, ROUNDING)
    body.SetCenterOfMassInBodyFrame(context, 2.0 * com)
    moved_alone = body.CalcSpatialInertiaInBodyFrame(context)
    np.testing.assert_array_equal(moved_alone.get_com(), 2.0 * com)
    assert_close(
        moved_alone.CalcRotationalInertia().CopyToFullMatrix3(),
        kept.CalcRotationalInertia().CopyToFullMatrix3(),
        ROUNDING,
    )


def test_impossible_mass_properties_raise_and_change_nothing(scene):
    plant, context, _ = scene
    body = bodies_of(plant)[3]
    before = body.CalcSpatialInertiaInBodyFrame(context)
    for mass in (-1.0, np.nan, np.inf):
        with pytest.raises(RuntimeError, match="body 'body2': its mass must be finite and not negative, it is"):
            body.SetMass(context, mass)
    for com in ([0.0, np.nan, 0.0], [np.inf, 0.0, 0.0]):
        with pytest.raises(RuntimeError, match="body 'body2': its centre of mass .* is not finite"):
            body.SetCenterOfMassInBodyFrame(context, com)
        with pytest.raises(RuntimeError, match="body 'body2': its centre of mass .* is not finite"):
            body.SetCenterOfMassInBodyFrameAndPreserveCentralInertia(context, com)
    with pytest.raises(TypeError, match="body 'body2': centre of mass: expected an array of shape"):
        body.SetCenterOfMassInBodyFrame(context, [1.0, 2.0])
    after = body.CalcSpatialInertiaInBodyFrame(context)
    np.testing.assert_array_equal(after.CopyToFullMatrix6(), before.CopyToFullMatrix6())


def test_defaults_of_a_body():
    M = SpatialInertia(2.0, [0.1, 0.2, 0.3], UnitInertia.SolidBox(1.0, 2.0, 3.0).ShiftFromCenterOfMass([0.1, 0.2, 0.3]))
    body = RigidBody("alone", M)
    assert body.default_mass() == body.get_default_mass() == 2.0
    np.testing.assert_array_equal(body.default_com(), [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(body.default_spatial_inertia().CopyToFullMatrix6(), M.CopyToFullMatrix6())
    np.testing.assert_array_equal(
        body.default_rotational_inertia().CopyToFullMatrix3(), M.CalcRotationalInertia().CopyToFullMatrix3()
    )
    np.testing.assert_array_equal(
        body.default_unit_inertia().CopyToFullMatrix3(), M.get_unit_inertia().CopyToFullMatrix3()
    )
    assert RigidBody("light").default_spatial_inertia().IsZero()
    placed = RigidBody("placed", ModelInstanceIndex(3), M)
    assert placed.model_instance() == ModelInstanceIndex(3)
    assert placed.default_mass() == 2.0
    assert (placed.get_num_flexible_positions(), placed.get_num_flexible_velocities()) == (0, 0)
    with pytest.raises(RuntimeError, match="a body needs a name"):
        RigidBody("", M)


def test_a_floating_body_names_its_coordinates():
    plant = MultibodyPlant(0.0)
    hinged, free = (
        plant.AddRigidBody(name, SpatialInertia.SolidSphereWithMass(1.0, 0.1)) for name in ("hinged", "free")
    )
    plant.AddJoint(RevoluteJoint("hinge", plant.world_frame(), hinged.body_frame(), [0.0, 0.0, 1.0]))
    for ask in (free.is_floating, free.has_quaternion_dofs, free.floating_positions_start):
        with pytest.raises(RuntimeError, match="Finalize"):
            ask()
    plant.Finalize()
    assert free.is_floating()
    assert free.is_floating_base_body()
    assert free.has_quaternion_dofs()
    assert not hinged.is_floating()
    suffixes = [free.floating_position_suffix(k) for k in range(7)]
    assert suffixes == ["qw", "qx", "qy", "qz", "x", "y", "z"]
    assert [free.floating_velocity_suffix(k) for k in range(6)] == ["wx", "wy", "wz", "vx", "vy", "vz"]
    names = plant.GetStateNames()
    assert names[free.floating_positions_start()].endswith("free_qw")
    assert names[free.floating_velocities_start()].endswith("free_wx")
    assert free.floating_velocities_start() == plant.num_positions() + free.floating_velocities_start_in_v()
    for k in (-1, 7):
        with pytest.raises(RuntimeError, match="free"):
            free.floating_position_suffix(k)
    for ask in (hinged.floating_positions_start, hinged.floating_velocities_start_in_v):
        with pytest.raises(RuntimeError, match="body 'hinged' is not a free body"):
            ask()


# forces on bodies


def test_a_force_at_a_point_does_the_work_of_its_jacobian(scene):
    """tree (c) 7: F . V_WBp = tau . v for any v, the force given in a frame E."""
    plant, context, (_, _, E) = scene
    rng = np.random.default_rng(8)
    body, p_BP_E = bodies_of(plant)[-1], rng.normal(size=3)
    F_Bp_E = SpatialForce(F=rng.normal(size=6))
    forces = MultibodyForces(plant)
    body.AddInForce(context, p_BP_E, F_Bp_E, E, forces)
    tau = plant.CalcGeneralizedForces(context, forces)
    R_WE = E.CalcRotationMatrixInWorld(context)
    V_WBp = body.EvalSpatialVelocityInWorld(context).Shift(R_WE @ p_BP_E)
    assert tau @ plant.GetVelocities(context) == pytest.approx(F_Bp_E.Rotate(R_WE).dot(V_WBp), rel=1e-11)
    once = body.GetForceInWorld(context, forces).get_coeffs()
    body.AddInForceInWorld(context, SpatialForce(F=once), forces)
    np.testing.assert_array_equal(body.GetForceInWorld(context, forces).get_coeffs(), 2.0 * once)


def test_forces_of_the_wrong_kind_or_size_raise(scene):
    plant, context, (_, _, E) = scene
    body, zero = bodies_of(plant)[2], SpatialForce.Zero()
    small = MultibodyForces(3, nv=1)
    for ask in (
        lambda forces: body.AddInForceInWorld(context, zero, forces),
        lambda forces: body.AddInForce(context, np.zeros(3), zero, E, forces),
        lambda forces: body.GetForceInWorld(context, forces),
        lambda forces: plant.CalcGeneralizedForces(context, forces),
    ):
        with pytest.raises(RuntimeError, match="these forces are for 3 bodies and 1 velocities"):
            ask(small)
        with pytest.raises(TypeError, match="expected MultibodyForces, not None"):
            ask(None)
    forces = MultibodyForces(plant)
    with pytest.raises(TypeError, match="F_Bo_W is a SpatialForce"):
        body.AddInForceInWorld(context, np.zeros(6), forces)
    with pytest.raises(TypeError, match="F_Bp_E is a SpatialForce"):
        body.AddInForce(context, np.zeros(3), np.zeros(6), E, forces)
    with pytest.raises(TypeError, match="p_BP_E"):
        body.AddInForce(context, np.zeros(2), zero, E, forces)


def test_a_frame_far_away_sees_the_same_inertia():
    """About a frame of the same tree, 1e9 m from World's origin, as if it were at home."""
    results = []
    for base_at in (np.zeros(3), np.array([1e9, 2e9, -3e9])):
        plant = random_plant(3, base_at=base_at, finalize=False)
        bodies = bodies_of(plant)
        frame = plant.AddFrame(FixedOffsetFrame("here", bodies[3], random_pose(np.random.default_rng(2))))
        plant.Finalize()
        context = random_context(plant, np.random.default_rng(4))
        results.append(plant.CalcSpatialInertia(context, frame, [body.index() for body in bodies]).CopyToFullMatrix6())
    assert_close(results[1], results[0], ROUNDING)


def test_an_offset_of_the_whole_plant_is_an_offset_of_its_center_of_mass():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("brick", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetFreeBodyPose(context, body, RigidTransform([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(plant.CalcCenterOfMassPositionInWorld(context), [1.0, 2.0, 3.0])


def test_forces_are_kept_where_they_are_written():
    """tree (c) 7: mutable_generalized_forces() is the object's own array, generalized_forces() a copy."""
    plant = random_plant(2)
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    body, rng = plant.get_body(BodyIndex(3)), np.random.default_rng(0)
    tau, F = rng.normal(size=plant.num_velocities()), SpatialForce(rng.normal(size=3), rng.normal(size=3))
    forces.mutable_generalized_forces()[:] = tau
    forces.generalized_forces()[:] = 99.0
    np.testing.assert_array_equal(forces.generalized_forces(), tau)
    body.AddInForceInWorld(context, F, forces)
    np.testing.assert_array_equal(body.GetForceInWorld(context, forces).get_coeffs(), F.get_coeffs())
    more = MultibodyForces(plant)
    more.AddInForces(forces)
    more.AddInForces(forces)
    np.testing.assert_array_equal(body.GetForceInWorld(context, more).get_coeffs(), 2.0 * F.get_coeffs())
    np.testing.assert_array_equal(more.generalized_forces(), 2.0 * tau)
    assert more.SetZero() is more
    assert not more.generalized_forces().any()
    assert not body.GetForceInWorld(context, more).get_coeffs().any()


@pytest.mark.parametrize("actuated", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_articulated_inertias_make_the_determinant_of_the_mass_matrix(seed, actuated):
    """multibody_tree (c) 18: det M is the product of det(H^T P H), and a joint passes on nothing along its motion."""
    plant = random_plant(seed, actuated=actuated, floating_bases=1)
    context = random_context(plant, np.random.default_rng(seed))
    vdot = plant.CalcForwardDynamics(context)
    inertias, product, W = plant.CalcArticulatedBodyInertias(context), 1.0, plant.world_frame()
    moving = [plant.get_joint(i) for i in plant.GetJointIndices() if plant.get_joint(i).num_velocities()]
    assert len(inertias) == len(moving)
    rotors = np.zeros(plant.num_velocities())
    for index in plant.GetJointActuatorIndices():
        actuator = plant.get_joint_actuator(index)
        rotors[actuator.joint().velocity_start()] += actuator.default_reflected_inertia()
    for joint in moving:
        ends = joint.parent_body(), joint.child_body()
        affected = plant.GetBodiesKinematicallyAffectedBy([joint.index()])
        A, B = ends if ends[1].index() in affected else ends[::-1]
        d = slice(joint.velocity_start(), joint.velocity_start() + joint.num_velocities())
        frames = B.body_frame(), np.zeros(3), A.body_frame(), W
        H = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, *frames)[:, d]
        P, Pplus = inertias[B.index()]
        np.testing.assert_allclose(P, P.T, atol=1e-12 * abs(P).max())
        assert np.linalg.eigvalsh(P).min() > 0.0
        product *= np.linalg.det(H.T @ P @ H + np.diag(rotors[d]))
        if not rotors[d].any():
            assert abs(Pplus @ H).max() < 1e-12 * abs(P).max()
    assert product == pytest.approx(np.linalg.det(plant.CalcMassMatrix(context)), rel=1e-10)
    np.testing.assert_array_equal(plant.CalcForwardDynamics(context), vdot)


def test_the_articulated_inertia_of_a_free_body_is_its_own():
    plant = MultibodyPlant(0.0)
    M = SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3).Shift([0.3, -0.1, 0.2])
    body = plant.AddRigidBody("body", M)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetFreeBodyPose(context, body, RigidTransform(RollPitchYaw(0.1, 0.2, 0.3), [5.0, 6.0, 7.0]))
    P, Pplus = plant.CalcArticulatedBodyInertias(context)[body.index()]
    expected = M.ReExpress(body.EvalPoseInWorld(context).rotation()).CopyToFullMatrix6()
    np.testing.assert_allclose(P, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(Pplus, np.zeros((6, 6)), atol=1e-12)


# as data


def test_the_bodies_of_a_centre_of_mass_and_of_a_momentum_make_up_the_whole(scene):
    plant, context, _ = scene
    found = center_of_mass(context, bodies=True)
    masses, p, v = (np.array([body[key] for body in found["bodies"].values()]) for key in ("mass", "p_WCom", "v_WCom"))
    moving = [body for body in plant.elements.bodies if not plant.IsAnchored(body)]
    assert len(masses) == len(moving) and found["total_mass"] == pytest.approx(masses.sum())
    assert_close(masses @ p / masses.sum(), found["p_WCom"], ROUNDING)
    assert_close(masses @ v / masses.sum(), found["v_WCom"], ROUNDING)
    for point in ("com", (0.3, -1.0, 2.0)):
        whole = momentum(context, point, bodies=True)
        assert_close(sum(whole["bodies"].values()), whole["L_WS_W"], 1e-11)
        assert_close(whole["L_WS_W"][3:], found["total_mass"] * found["v_WCom"], 1e-11)
    about = found["p_WCom"]
    assert_close(momentum(context, "com")["L_WS_W"], momentum(context, about)["L_WS_W"], ROUNDING)


def test_a_centre_of_mass_of_some_models(scene):
    plant, context, _ = scene
    left = plant.GetModelInstanceByName("left")
    found = center_of_mass(context, instance=["left"], bodies=True)
    assert found["total_mass"] == plant.CalcTotalMass(context, [left])
    assert len(found["bodies"]) == len(plant.GetBodyIndices(left))
    with pytest.raises(ArgumentError, match="there is no model 'middle'"):
        center_of_mass(context, instance=["middle"])
    with pytest.raises(ArgumentError, match="three numbers or 'com'"):
        momentum(context, "middle")


def test_what_has_no_mass_has_no_centre():
    plant = MultibodyPlant(0.0)
    plant.AddRigidBody("b")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for ask in (center_of_mass, lambda context: momentum(context, "com")):
        with pytest.raises(ModelError, match="the model has no mass"):
            ask(context)
    assert (momentum(context)["L_WS_W"] == 0.0).all()


SCENERY = """<sdf version="1.9"><world name="w"><model name="rock"><static>true</static><link name="r">
<pose>8 0 0 0 0 0</pose><inertial><mass>5</mass></inertial></link></model>
<model name="robot"><link name="post"><pose>4 0 0 0 0 0</pose><inertial>
<mass>3</mass></inertial></link><joint name="held" type="fixed"><parent>world</parent><child>post</child></joint>
<link name="arm"><pose>1 0 0 0 0 0</pose><inertial><mass>2</mass></inertial></link><joint name="j" type="prismatic">
<parent>post</parent><child>arm</child><axis><xyz>1 0 0</xyz></axis></joint></model></world></sdf>"""


def test_scenery_is_left_out_of_the_centre_of_mass_and_named(tmp_path):
    path = tmp_path / "scenery.sdf"
    path.write_text(SCENERY)
    model = load_model(str(path), contact=False)
    plant = model.plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [0.5])
    plant.SetVelocities(context, [3.0])
    found = center_of_mass(context, bodies=True)
    np.testing.assert_allclose(found["p_WCom"], [1.5, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(found["v_WCom"], [3.0, 0.0, 0.0], atol=1e-15)
    assert found["total_mass"] == 2.0 and list(found["bodies"]) == ["robot::arm"]
    assert found["left_out"] == ["rock::r", "robot::post"]
    asked = center_of_mass(context, instance=["robot"])
    assert asked["total_mass"] == 5.0 and asked["left_out"] == []
    assert center_of_mass(context, instance=["rock"])["p_WCom"][0] == 8.0
    log = simulate(model, 0.01, fields="com", start={"j": 0.5, "j_v": 3.0})
    np.testing.assert_allclose(log.field("derived/com")[:, 0], 1.5 + 3.0 * log.times, atol=1e-9)
    lines = succeed("com", path, "--at", "j=0.5").out
    assert "left out, since fixed to the world (--instance counts it): rock::r, robot::post" in lines
    assert "total mass 10 kg (8 kg fixed to the world)" in succeed("inspect", path).out
    rows = succeed("com", path, "--random", 2, "--json").json()
    assert rows["total_mass"] == 2.0


def test_scenery_counts_where_nothing_else_has_mass(tmp_path):
    path = tmp_path / "rock.sdf"
    path.write_text(SCENERY.partition('<model name="robot">')[0] + "</world></sdf>")
    found = center_of_mass(load_model(str(path), contact=False).plant.CreateDefaultContext())
    assert found["total_mass"] == 5.0 and found["left_out"] == []
