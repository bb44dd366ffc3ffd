"""Constraints of a plant, limits and controllers in the contact problem of a step: known motions, one-step formulas."""

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.errors import ModelError
from mbcli.geometry import HalfSpace, ProximityProperties, Sphere
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.assembly.closed_chains import assemble_context
from mbcli.multibody.linearization.motion_derivatives import plant_derivatives
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    CoulombFriction,
    DiscreteContactApproximation,
    MultibodyPlant,
)
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    ModelInstanceIndex,
    PdControllerGains,
    PrismaticJoint,
    RevoluteJoint,
    SpatialInertia,
    WeldJoint,
)
from mbcli.systems.analysis import Simulator
from mbcli.systems.framework import DiagramBuilder

G = 9.81
NEARLY_RIGID = (0.1 / (2.0 * np.pi)) ** 2  # beta = 0.1
RETURN_SPEED = 1e-3  # [rad/s] at most, of what is beyond a limit
ORIGIN = np.zeros(3)


@pytest.fixture(autouse=True)
def _interpreted_to_the_last_digits(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.setattr("mbcli.engine.contact.arrays.DEFAULT_TOLERANCE", 1e-9)


def make_plant(h, contact=True):
    """A plant; with `contact` a ball lies on the ground, so that its steps are contact problems."""
    if not contact:
        return MultibodyPlant(h)
    plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), h)
    ball = plant.AddRigidBody("ball", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
    for body, shape in ((ball, Sphere(0.1)), (plant.world_body(), HalfSpace())):
        properties = ProximityProperties()
        properties.AddProperty("material", "coulomb_friction", CoulombFriction(0.5, 0.5))
        properties.AddProperty("material", "point_contact_stiffness", 1e4)
        properties.AddProperty("material", "relaxation_time", 0.01)
        plant.RegisterCollisionGeometry(body, RigidTransform(), shape, f"{body.name()}_surface", properties)
    plant.SetDefaultFreeBodyPose(ball, RigidTransform([9.0, 9.0, 0.1 - 1e-4]))
    return plant


def started(plant, **joints):
    """A context with positions and velocities of joints of one velocity: name=(q, v)."""
    context = plant.CreateDefaultContext()
    q, v = plant.GetPositions(context), plant.GetVelocities(context)
    for name, (position, velocity) in joints.items():
        joint = plant.GetJointByName(name)
        q[joint.position_start()], v[joint.velocity_start()] = position, velocity
    plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
    return context


def advance(plant, context, until):
    """The samples of a run to that time."""
    blocks = list(Run(plant, context, until).blocks())
    return {name: np.concatenate([getattr(b, name) for b in blocks]) for name in ("time", "q", "v", "energy")}


def of(plant, context, name):
    """Position and velocity of a joint of one velocity."""
    joint, q, v = plant.GetJointByName(name), plant.GetPositions(context), plant.GetVelocities(context)
    return q[joint.position_start()], v[joint.velocity_start()]


# -------------------------------------------------------------------------------------------------- couplers

I0, I1 = 0.3, 0.5


def flywheels(h, ratio, offset=0.0, kind=RevoluteJoint):
    plant = make_plant(h)
    for k, inertia in enumerate((I0, I1)):
        if kind is PrismaticJoint and k == 0:
            body = plant.AddRigidBody("w0", SpatialInertia.SolidSphereWithMass(inertia, 0.1))
        else:
            body = plant.AddRigidBody(f"w{k}", SpatialInertia.SolidSphereWithMass(inertia / 0.4, 1.0))
        joint = (kind if k == 0 else RevoluteJoint)(f"j{k}", plant.world_frame(), body.body_frame(), [0, 1, 0])
        plant.AddJointActuator(f"m{k}", plant.AddJoint(joint))
    plant.AddCouplerConstraint(plant.GetJointByName("j0"), plant.GetJointByName("j1"), ratio, offset)
    plant.Finalize()
    return plant


@pytest.mark.parametrize("kind", [RevoluteJoint, PrismaticJoint])
def test_14_coupled_flywheels_accelerate_together_and_do_not_drift(kind):
    ratio, offset, tau = -2.0, 0.25, np.array([0.02, 0.03])
    plant = flywheels(0.05, ratio, offset, kind)
    context = started(plant, j0=(offset, 0.0), j1=(0.0, 0.0))
    plant.get_actuation_input_port().FixValue(context, tau)
    advance(plant, context, 10.0)
    vdot = (tau[1] + ratio * tau[0]) / (I1 + ratio**2 * I0)
    q0, v0 = of(plant, context, "j0")
    q1, v1 = of(plant, context, "j1")
    assert v1 == pytest.approx(vdot * 10.0, rel=1e-3)
    assert abs(q0 - ratio * q1 - offset) < 1e-6
    assert abs(v0 - ratio * v1) < 1e-6


def test_one_step_of_a_coupler_is_the_closed_form():
    """M (v' - v) = J^T gamma, gamma = (v_hat - J v') / R with R = beta^2 / (4 pi^2) J M^-1 J^T, v_hat = -g / (2 h)."""
    h, ratio, offset, v = 0.01, 1.5, 0.2, np.array([0.7, -0.4])
    plant = flywheels(h, ratio, offset)
    context = started(plant, j0=(0.5, v[0]), j1=(0.1, v[1]))
    advance(plant, context, h)
    M, J = np.diag([I0, I1]), np.array([1.0, -ratio])
    R = NEARLY_RIGID * J @ np.linalg.solve(M, J)
    v_hat = -(0.5 - ratio * 0.1 - offset) / (2.0 * h)
    expected = np.linalg.solve(M + np.outer(J, J) / R, M @ v + J * v_hat / R)
    got = [of(plant, context, f"j{k}")[1] for k in range(2)]
    np.testing.assert_allclose(got, expected, rtol=1e-9)


# -------------------------------------------------------------------------------------------------- distances


def hanging(h, contact, stiffness, damping, length=0.5):
    """A mass on a vertical slide that hangs on the origin."""
    plant = make_plant(h, contact)
    mass = plant.AddRigidBody("mass", SpatialInertia.SolidSphereWithMass(2.0, 0.05))
    plant.AddJoint(PrismaticJoint("slide", plant.world_frame(), mass.body_frame(), [0, 0, 1]))
    plant.AddDistanceConstraint(plant.world_body(), ORIGIN, mass, ORIGIN, length, stiffness, damping)
    plant.Finalize()
    return plant


@pytest.mark.parametrize("contact", [True, False])
def test_15_a_spring_is_stretched_by_the_weight_and_rests_at_its_free_length(contact):
    k, h = 400.0, 0.01
    plant = hanging(h, contact, k, 40.0)
    context = started(plant, slide=(-0.5, 0.0))
    advance(plant, context, 2.0)
    q, v = of(plant, context, "slide")
    assert -q - 0.5 == pytest.approx(2.0 * G / k, rel=1e-6)
    assert abs(v) < 1e-6


@pytest.mark.parametrize("contact", [True, False])
def test_15_the_spring_swings_with_its_frequency_and_damping(contact):
    m, k, c, h = 2.0, 400.0, 4.0, 2e-3
    plant = hanging(h, contact, k, c)
    rest = -0.5 - m * G / k
    context = started(plant, slide=(rest - 0.1, 0.0))
    samples = advance(plant, context, 0.5)
    omega, ratio = np.sqrt(k / m), c / (2.0 * np.sqrt(k * m))
    rate, t = omega * np.sqrt(1.0 - ratio**2), samples["time"]
    decay = np.exp(-ratio * omega * t)
    expected = rest - 0.1 * decay * (np.cos(rate * t) + ratio * omega / rate * np.sin(rate * t))
    slide = samples["q"][:, plant.GetJointByName("slide").position_start()]
    assert np.abs(slide - expected).max() < 3.0 * h  # of first order in the step
    assert np.ptp(slide) > 0.1


def test_15_a_rod_makes_a_pendulum_of_its_length():
    """A free sphere on a rigid distance: half a period of small swings."""
    length, h = 0.5, 2.5e-3
    plant = make_plant(h)
    mass = plant.AddRigidBody("bob", SpatialInertia.SolidSphereWithMass(1.0, 1e-3))
    rod = plant.AddDistanceConstraint(plant.world_body(), [0, 0, 1], mass, ORIGIN, length)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    angle = 0.02
    plant.SetFreeBodyPose(context, mass, RigidTransform([length * np.sin(angle), 0, 1 - length * np.cos(angle)]))
    half = np.pi * np.sqrt(length / G)
    advance(plant, context, half)
    p = plant.EvalBodyPoseInWorld(context, mass).translation() - [0, 0, 1]
    assert p[0] == pytest.approx(-length * angle, rel=0.02)
    assert np.linalg.norm(p) == pytest.approx(length, abs=1e-5)
    plant.SetConstraintActiveStatus(context, rod, False)
    before = plant.EvalBodyPoseInWorld(context, mass).translation()[2]
    advance(plant, context, context.get_time() + 0.1)
    assert before - plant.EvalBodyPoseInWorld(context, mass).translation()[2] == pytest.approx(G * 0.005, rel=0.1)


# -------------------------------------------------------------------------------------------------- balls, welds

P, Q = np.array([0.3, 0.1, -0.2]), np.array([-0.1, 0.2, 0.15])


def two_boxes(h, tie):
    """An arm on World with a box at its end, by a joint or by the constraint that is the same."""
    plant = make_plant(h)
    plant.SetUseSampledOutputPorts(False)
    a, b = (plant.AddRigidBody(n, SpatialInertia.SolidBoxWithMass(1.0 + k, 0.4, 0.2, 0.1)) for k, n in enumerate("ab"))
    hook = plant.AddFrame(FixedOffsetFrame("hook", a.body_frame(), RigidTransform([-0.3, 0, 0])))
    plant.AddJoint(RevoluteJoint("arm", plant.world_frame(), hook, [0, 1, 0]))
    X_AP, X_BQ = RigidTransform(RollPitchYaw([0.2, 0.1, 0.3]), P), RigidTransform(RollPitchYaw([0.1, -0.2, 0.4]), Q)
    frames = [
        plant.AddFrame(FixedOffsetFrame(n, body.body_frame(), X)) for n, body, X in (("P", a, X_AP), ("Q", b, X_BQ))
    ]
    id = None
    if tie == "ball joint":
        plant.AddJoint(BallRpyJoint("ball", *frames))
    elif tie == "weld joint":
        plant.AddJoint(WeldJoint("weld", *frames, RigidTransform()))
    elif tie == "ball":
        id = plant.AddBallConstraint(a, P, b, Q)
    else:
        id = plant.AddWeldConstraint(a, X_AP, b, X_BQ)
    plant.Finalize()
    context = started(plant, arm=(0.4, 1.0))
    if id is not None:
        X_WB = plant.EvalBodyPoseInWorld(context, a).multiply(X_AP).multiply(X_BQ.inverse())
        plant.SetFreeBodyPose(context, b, X_WB)
        # as a body that is welded to a moves, in both cases
        V = plant.EvalBodySpatialVelocityInWorld(context, a)
        arm = X_WB.translation() - plant.EvalBodyPoseInWorld(context, a).translation()
        plant.SetFreeBodySpatialVelocity(b, V.Shift(arm), context)
    return plant, context, b, id


def place_after(h, tie, time=0.1):
    plant, context, b, _ = two_boxes(h, tie)
    advance(plant, context, time)
    return plant.EvalBodyPoseInWorld(context, b).GetAsMatrix34()


@pytest.mark.parametrize("tie", ["ball", "weld"])
def test_16_a_constraint_moves_as_the_same_joint_in_the_tree_to_first_order(tie):
    errors = [np.abs(place_after(h, tie) - place_after(h, f"{tie} joint")).max() for h in (4e-3, 2e-3)]
    assert errors[0] < 5e-3
    assert errors[1] < 0.55 * errors[0]


def test_16_a_ball_that_is_switched_off_lets_go():
    plant, context, b, ball = two_boxes(1e-2, "ball")
    advance(plant, context, 0.05)
    plant.SetConstraintActiveStatus(context, ball, False)
    v = plant.GetVelocities(context)[plant.GetJointByName("b").velocity_start() + 3 :][:3]
    advance(plant, context, 0.06)
    after = plant.GetVelocities(context)[plant.GetJointByName("b").velocity_start() + 3 :][:3]
    np.testing.assert_allclose(after - v, [0, 0, -G * 1e-2], atol=1e-12)


def test_forces_of_constraints_are_in_the_reactions_of_joints():
    """At rest the arm carries its weight and, by the weld constraint, that of the box."""
    plant, context, _, _ = two_boxes(1e-3, "weld")
    plant.SetVelocities(context, np.zeros(plant.num_velocities()))
    forces = plant.get_reaction_forces_output_port().Eval(context)
    arm = forces[plant.GetJointByName("arm").ordinal()]
    a = plant.GetBodyByName("a")
    R = plant.EvalBodyPoseInWorld(context, a).rotation().matrix()
    total = np.zeros(3)
    for name, m in (("a", 1.0), ("b", 2.0)):
        body = plant.GetBodyByName(name)
        total += m * plant.EvalBodySpatialAccelerationInWorld(context, body).translational()
    np.testing.assert_allclose(R @ arm.translational(), total + [0, 0, 3.0 * G], rtol=1e-9, atol=1e-9)


# -------------------------------------------------------------------------------------------------- limits


def pendulum(h, contact=True, upper=0.5, gains=None, approximation=None):
    """A rod of 2 kg whose mass is 0.4 m from its axle, and which falls onto a stop."""
    plant = make_plant(h, contact)
    if approximation:
        plant.set_discrete_contact_approximation(approximation)
    rod = plant.AddRigidBody("rod", SpatialInertia.PointMass(2.0, [0.4, 0.0, 0.0]))
    joint = plant.AddJoint(RevoluteJoint("axle", plant.world_frame(), rod.body_frame(), [0, 1, 0], -np.inf, upper))
    motor = plant.AddJointActuator("motor", joint, 5.0)
    if gains:
        motor.set_controller_gains(PdControllerGains(p=gains[0], d=gains[1]))
    plant.Finalize()
    return plant


I_ROD = 2.0 * 0.4**2


@pytest.mark.parametrize("contact", [True, False])
@pytest.mark.parametrize("start", [(0.497, 1.0), (0.51, -0.1), (0.5, 0.0)])
def test_17_one_step_at_a_limit_is_the_closed_form(contact, start):
    h = 0.01
    plant = pendulum(h, contact)
    context = started(plant, axle=start)
    plant.get_actuation_input_port().FixValue(context, [1.0])
    q, v = start
    at = q + 0.5 * h * v  # where the weight acts: in the middle of a step in which nothing touches
    free = v + h / I_ROD * (1.0 + 2.0 * G * 0.4 * np.cos(at))
    R, v_hat = NEARLY_RIGID / I_ROD, -(0.5 - q) / (2.0 * h)
    if v_hat > RETURN_SPEED:
        R, v_hat = R * RETURN_SPEED / v_hat, RETURN_SPEED
    expected = (I_ROD * free - v_hat / R) / (I_ROD + 1.0 / R)  # I (v' - free) = -(v_hat + v') / R
    assert v_hat + expected > 0.0
    advance(plant, context, h)
    assert of(plant, context, "axle")[1] == pytest.approx(expected, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("contact", [True, False])
def test_17_a_pendulum_dropped_on_its_stop_rests_there_without_gaining_energy(contact):
    passed = []
    for h in (0.02, 0.01):
        plant = pendulum(h, contact)
        context = started(plant, axle=(0.3, 0.0))
        samples = advance(plant, context, 1.0)
        q = samples["q"][:, plant.GetJointByName("axle").position_start()]
        passed.append(q.max() - 0.5)
        ball = 1.0 * G * 0.1 if contact else 0.0
        energy = samples["energy"].sum(axis=1) - ball
        assert energy.max() < energy[0] + 0.05
        # at rest its impulse -gap / (2 h R) is that of the weight
        sinking = 2.0 * h * NEARLY_RIGID / I_ROD * h * 2.0 * G * 0.4 * np.cos(0.5)
        assert q[-1] - 0.5 == pytest.approx(sinking, rel=1e-3)
        assert abs(of(plant, context, "axle")[1]) < 1e-9
        torque = plant.get_reaction_forces_output_port().Eval(context)[plant.GetJointByName("axle").ordinal()]
        assert torque.rotational()[1] == pytest.approx(-2.0 * G * 0.4 * np.cos(0.5), rel=1e-5)
    assert passed[1] < passed[0] < 0.05


@pytest.mark.parametrize("contact", [True, False])
@pytest.mark.parametrize("desired", [0.6, 3.0])
def test_controllers_push_against_limits_with_limited_effort(contact, desired):
    """At rest the impulse of the stop is that of the controller and the weight."""
    h = 0.01
    plant = pendulum(h, contact, gains=(10.0, 1.0))
    context = started(plant, axle=(0.4, 0.0))
    plant.get_desired_state_input_port(ModelInstanceIndex(1)).FixValue(context, [desired, 0.0])
    advance(plant, context, 2.0)
    q, v = of(plant, context, "axle")
    torque = min(10.0 * (desired - q), 5.0) + 2.0 * G * 0.4 * np.cos(q)
    assert abs(v) < 1e-8
    assert q - 0.5 == pytest.approx(2.0 * h * NEARLY_RIGID / I_ROD * h * torque, rel=1e-5)


@pytest.mark.parametrize("start", [(0.503, 0.2), (0.2, 0.2)])
def test_derivatives_of_steps_go_through_stops(start):
    """As differences of steps say, at the stop and away from it."""
    h, plant = 0.01, pendulum(0.01, contact=False)
    context = started(plant, axle=start)
    plant.get_actuation_input_port().FixValue(context, [0.5])
    A = plant_derivatives(plant, context, None, None)[0]

    def step(x):
        after = started(plant, axle=tuple(x))
        plant.get_actuation_input_port().FixValue(after, [0.5])
        advance(plant, after, h)
        return np.array(of(plant, after, "axle"))

    x, e = np.array(start), 1e-6 * np.eye(2)
    expected = np.column_stack([(step(x + d) - step(x - d)) / 2e-6 for d in e])
    np.testing.assert_allclose(A, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("approximation", ["kSap", "kLagged", "kSimilar", "kTamsi"])
def test_limits_act_under_every_approximation(approximation):
    plant = pendulum(0.01, approximation=getattr(DiscreteContactApproximation, approximation))
    context = started(plant, axle=(0.49, 2.0))
    advance(plant, context, 0.3)
    assert of(plant, context, "axle")[0] == pytest.approx(0.5, abs=1e-3)


def test_17_a_joint_goes_through_a_limit_in_continuous_plants():
    plant = pendulum(0.0, contact=False)
    context = started(plant, axle=(0.4, 2.0))
    advance(plant, context, 0.2)
    assert of(plant, context, "axle")[0] > 0.7


# -------------------------------------------------------------------------------------------------- closed chains


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard"])
def test_loops_in_contact_problems_move_as_those_of_the_exact_method(name):
    """To first order; a plant without contact steps by equations that hold at its end, of second order."""
    apart = []
    for h in (2e-3, 1e-3):
        by_problem, by_equations = (places_of_loop(name, h, contact) for contact in (True, False))
        moved = np.abs(by_equations - by_equations[0]).max()
        assert moved > 1e-3
        apart.append(np.abs(by_problem - by_equations).max() / moved)
    assert apart[1] < 2.5e-2
    assert 1.7 < apart[0] / apart[1] < 2.3


def places_of_loop(name, h, contact):
    """Positions of a mechanism at multiples of 2 ms."""
    plant = make_plant(h, contact)
    Parser(plant).AddModels(str(SAMPLES / "closed_chains" / f"{name}.urdf"))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    assemble_context(context, 1e-10)
    samples = advance(plant, context, 0.05)
    instance = ModelInstanceIndex(plant.num_model_instances() - 1)
    return np.array([plant.GetPositionsFromArray(instance, q) for q in samples["q"][:: round(2e-3 / h)]])


# -------------------------------------------------------------------------------------------------- tendons


def slides(h, count, contact, **tendon):
    plant = make_plant(h, contact)
    joints = []
    for k in range(count):
        body = plant.AddRigidBody(f"s{k}", SpatialInertia.SolidSphereWithMass(1.0 + k, 0.1))
        joints.append(plant.AddJoint(PrismaticJoint(f"j{k}", plant.world_frame(), body.body_frame(), [1, 0, 0])))
    plant.AddTendonConstraint([joint.index() for joint in joints], np.arange(1.0, count + 1.0), **tendon)
    plant.Finalize()
    return plant


@pytest.mark.parametrize("contact", [True, False])
def test_a_tendon_pulls_back_what_is_longer_than_its_limit(contact):
    plant = slides(0.01, 2, contact, upper_limit=0.5)
    context = started(plant, j0=(0.1, 1.0), j1=(0.1, 0.5))
    momentum = np.array([1.0 * 1.0, 2.0 * 0.5])
    advance(plant, context, 0.5)
    (q0, v0), (q1, v1) = (of(plant, context, f"j{k}") for k in range(2))
    change = np.array([v0, 2.0 * v1]) - momentum
    assert change[1] == pytest.approx(2.0 * change[0], rel=1e-9)  # along its coefficients
    assert change[0] < -0.1
    assert q0 + 2.0 * q1 < 0.5 + 0.02


@pytest.mark.parametrize("contact", [True, False])
def test_a_tendon_over_more_than_two_trees_is_refused_where_a_problem_would_hold_it(contact):
    with pytest.raises(ModelError, match="tendon constraint .* its joints are in more than two trees"):
        slides(0.01, 3, contact, upper_limit=0.5)
    plant = slides(0.01, 3, contact=False, lower_limit=0.5, upper_limit=0.5)  # an equation, which holds exactly
    context = started(plant, j0=(0.5, 0.1), j1=(0.0, 0.0), j2=(0.0, 0.0))
    advance(plant, context, 0.05)
    assert sum((k + 1.0) * of(plant, context, f"j{k}")[0] for k in range(3)) == pytest.approx(0.5, abs=1e-12)


def test_a_locked_joint_stays_whatever_is_coupled_to_it():
    plant = flywheels(0.01, 2.0)
    context = started(plant, j0=(0.0, 0.0), j1=(0.0, 0.0))
    plant.GetJointByName("j0").Lock(context)
    plant.get_actuation_input_port().FixValue(context, [0.0, 1.0])
    advance(plant, context, 0.2)
    assert of(plant, context, "j0") == (0.0, 0.0)
    assert abs(of(plant, context, "j1")[0]) < 1e-6


def test_equal_constraints_are_equally_soft_wherever_they_stand():
    """Three equal bodies on equal ball constraints, loaded alike, give way alike to the last digits."""
    plant = make_plant(1e-3)
    bodies = [plant.AddRigidBody(f"b{k}", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3)) for k in range(3)]
    for k, body in enumerate(bodies):
        plant.AddBallConstraint(plant.world_body(), [3.0 * k, 0.0, 5.0], body, [0.1, 0.2, 0.3])
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for k, body in enumerate(bodies):
        plant.SetFreeBodyPose(context, body, RigidTransform([3.0 * k - 0.1, -0.2, 4.7 + 1e-4]))
    advance(plant, context, 0.01)
    first, *others = (body.EvalSpatialVelocityInWorld(context).get_coeffs() for body in bodies)
    assert abs(first).max() > 1e-3
    for other in others:
        np.testing.assert_allclose(other, first, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("approximation", DiscreteContactApproximation)
@pytest.mark.parametrize("both", [True, False])
def test_bodies_that_touch_are_held_by_joints_that_are_locked(approximation, both):
    """Where nothing can move, the contact gives way to no impulse; sap scaled its friction by that."""
    plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), 1e-3)
    plant.set_discrete_contact_approximation(approximation)
    joints = []
    for k in range(2):
        body = plant.AddRigidBody(f"ball{k}", SpatialInertia.SolidSphereWithMass(1.0, 0.1))
        frame = plant.AddFrame(FixedOffsetFrame(f"place{k}", plant.world_frame(), RigidTransform([0.0, 0.19 * k, 0.0])))
        joints.append(plant.AddJoint(PrismaticJoint(f"slide{k}", frame, body.body_frame(), [0.0, 1.0, 0.0])))
        plant.RegisterCollisionGeometry(body, RigidTransform(), Sphere(0.1), f"surface{k}", CoulombFriction(0.5, 0.5))
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    for joint in joints[: 2 if both else 1]:
        joint.Lock(context)
    simulator.AdvanceTo(0.01)
    q = plant.GetPositions(context)
    assert q[0] == 0.0 and (q[1] == 0.0 if both else q[1] > 1e-4)
