"""Gravity, springs, spring-dampers and users' own force elements: laws, energy, errors, simulation, pydrake.

Numbers of table (c) of the specifications are in the docstrings: tree is spec/tree.md, plant is spec/plant.md.
"""

import numpy as np
import pytest
from force_element_scene import ELEMENTS, elements_of, mbcli, pydrake, random_states, scene

from mbcli.engine.runtime.kernel import compiled_by_default
from mbcli.errors import ModelError, NumericalError
from mbcli.math import RigidTransform, RollPitchYaw
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from mbcli.multibody.stepping.run import Run
from mbcli.multibody.tree import (
    BodyIndex,
    ForceElement,
    ForceElementIndex,
    LinearSpringDamper,
    ModelInstanceIndex,
    MultibodyForces,
    PrismaticJoint,
    PrismaticSpring,
    RevoluteJoint,
    RevoluteSpring,
    RotationalInertia,
    SpatialInertia,
    UniformGravityFieldElement,
    default_model_instance,
    world_model_instance,
)
from mbcli.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

OURS = mbcli()
CONSERVING = tuple(e for e in ELEMENTS if e != "bushing")  # those that have a potential energy
# Rounding of sums of some ten terms of size 1e2.
ROUNDING = 1e-12
# Central differences with step 1e-5 of energies up to 1e2: truncation and rounding.
DIFFERENCES = 1e-6


def contexts_of(plant, count=20):
    """The plant's context in random states, one after another."""
    context = plant.CreateDefaultContext()
    for x in random_states(plant, count):
        plant.SetPositionsAndVelocities(context, x)
        yield context


def power_of(plant, context, forces):
    """tau . v + sum of F . V of a set of forces."""
    bodies = [plant.get_body(BodyIndex(n)) for n in range(plant.num_bodies())]
    on_bodies = sum(
        body.GetForceInWorld(context, forces).dot(plant.EvalBodySpatialVelocityInWorld(context, body))
        for body in bodies
    )
    return on_bodies + forces.generalized_forces() @ plant.GetVelocities(context)


def moved(plant, context, dt):
    """A copy of a context with positions q + dt qdot."""
    other = context.Clone()
    qdot = plant.MapVelocityToQDot(context, plant.GetVelocities(context))
    plant.SetPositions(other, plant.GetPositions(context) + dt * qdot)
    return other


def element_and_plant(kind):
    plant = scene(OURS, () if kind == "gravity" else (kind,))
    return plant.get_force_element(ForceElementIndex(plant.num_force_elements() - 1)), plant


KINDS = ("gravity", *CONSERVING)


# laws that hold for every element


@pytest.mark.parametrize("kind", KINDS)
def test_the_power_of_an_element_is_its_conservative_and_nonconservative_power(kind):
    """tree 1, 13, 22; spec/tree.md 1.10."""
    element, plant = element_and_plant(kind)
    for context in contexts_of(plant):
        forces = MultibodyForces(plant)
        element.CalcAndAddForceContribution(context, forces)
        power = element.CalcConservativePower(context) + element.CalcNonConservativePower(context)
        assert power_of(plant, context, forces) == pytest.approx(power, abs=ROUNDING * 100.0)
        assert abs(power) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_conservative_power_is_what_the_potential_energy_loses(kind):
    """tree 14, 22: by differences along the motion."""
    element, plant = element_and_plant(kind)
    for context in contexts_of(plant):
        ahead, behind = (element.CalcPotentialEnergy(moved(plant, context, dt)) for dt in (1e-5, -1e-5))
        assert element.CalcConservativePower(context) == pytest.approx(-(ahead - behind) / 2e-5, abs=DIFFERENCES)


def test_forces_energy_and_power_of_the_plant_are_the_sums_over_its_elements():
    plant = scene(OURS, CONSERVING)
    elements = elements_of(OURS, plant)
    assert len(elements) == 1 + len(CONSERVING)
    for context in contexts_of(plant):
        forces, expected = MultibodyForces(plant), MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        for element in elements:
            element.CalcAndAddForceContribution(context, expected)
        for joint in plant.GetJointIndices():
            plant.get_joint(joint).AddInDamping(context, expected)
        np.testing.assert_allclose(forces.generalized_forces(), expected.generalized_forces(), atol=ROUNDING)
        np.testing.assert_allclose(forces.F_Bo_W, expected.F_Bo_W, atol=ROUNDING)
        for method in ("CalcPotentialEnergy", "CalcConservativePower", "CalcNonConservativePower"):
            total = sum(getattr(element, method)(context) for element in elements)
            assert getattr(plant, method)(context) == pytest.approx(total, abs=ROUNDING * 100.0)


@pytest.mark.parametrize("elements", [(e,) for e in ELEMENTS] + [ELEMENTS])
def test_forward_dynamics_is_that_under_the_forces_of_the_elements(elements):
    """plant 3: inverse dynamics with the forces of CalcForceElementsContribution vanishes."""
    plant = scene(OURS, elements)
    for context in contexts_of(plant, 5):
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        vdot = plant.CalcForwardDynamics(context)
        np.testing.assert_allclose(plant.CalcInverseDynamics(context, vdot, forces), np.zeros(8), atol=1e-11)
        np.testing.assert_allclose(plant.CalcRequiredForces(context, vdot), np.zeros(8), atol=1e-11)
        np.testing.assert_allclose(plant.CalcAccelerations(context), vdot, atol=1e-11)
        without = plant.CalcRequiredForces(context, vdot, springs=False)
        undamped = plant.CalcRequiredForces(context, vdot, damping=False)
        own = MultibodyForces(plant)
        for element in elements_of(OURS, plant)[1:]:
            element.CalcAndAddForceContribution(context, own)
        np.testing.assert_allclose(without, plant.CalcGeneralizedForces(context, own), atol=1e-11)
        damping = MultibodyForces(plant)
        for joint in plant.GetJointIndices():
            plant.get_joint(joint).AddInDamping(context, damping)
        np.testing.assert_allclose(undamped, damping.generalized_forces(), atol=1e-11)


def test_springs_restore_and_dampers_dissipate_in_ten_thousand_states():
    """tree 1: the sign of every term."""
    plant = scene(OURS, CONSERVING)
    rng = np.random.default_rng(4)
    context = plant.CreateDefaultContext()
    dissipating = [e for e in elements_of(OURS, plant) if not isinstance(e, (RevoluteSpring, PrismaticSpring))]
    dissipating = [e for e in dissipating if not isinstance(e, UniformGravityFieldElement)]
    q = plant.GetPositions(context)
    for _ in range(10_000 // len(dissipating)):
        plant.SetPositions(context, q + np.concatenate([rng.uniform(-3.0, 3.0, 2), np.zeros(4), rng.normal(size=3)]))
        plant.SetVelocities(context, rng.normal(size=8))
        for element in dissipating:
            assert element.CalcNonConservativePower(context) < 0.0
    spring = elements_of(OURS, plant)[1]
    forces = MultibodyForces(plant)
    plant.SetPositions(context, np.concatenate([[0.4 + 1e-3], q[1:]]))
    spring.CalcAndAddForceContribution(context, forces)
    assert forces.generalized_forces()[0] == pytest.approx(-7.0e-3)


# energy along simulations


def energies_of_run(plant, until, accuracy, sample_period):
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, next(random_states(plant, 1)))
    config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=accuracy, max_step_size=0.05)
    run = Run(plant, context, until, config=config, sample_period=sample_period)
    blocks = list(run.blocks())
    rows = [np.concatenate([getattr(b, name) for b in blocks]) for name in ("q", "v", "energy")]
    return context, *rows


def test_springs_and_gravity_without_damping_keep_the_energy():
    """tree 23: the scene's spring-dampers dissipate, so here are the same without damping."""

    def undamped(lib, plant):
        drawer, ball = plant.GetBodyByName("drawer"), plant.GetBodyByName("ball")
        plant.AddForceElement(lib.LinearSpringDamper(drawer, [0.1, 0.2, 0.0], ball, [0.0, 0.1, 0.0], 0.7, 30.0, 0.0))
        world = plant.world_body()
        plant.AddForceElement(lib.LinearSpringDamper(world, [0.0, 0.0, 2.0], ball, [0.0, 0.0, 0.1], 0.5, 20.0, 0.0))

    plant = scene(OURS, ("revolute_spring", "prismatic_spring"), damping=0.0, more=undamped)
    until = 10.0 if compiled_by_default() else 1.0  # interpreted kernels take half a minute for ten seconds
    _, _, _, energy = energies_of_run(plant, until, 1e-12, 0.1 * until)
    total = energy.sum(axis=1)
    assert np.ptp(energy[:, 1]) > 1.0
    assert np.ptp(total) < 1e-9 * abs(energy).max()


def test_energy_changes_by_what_elements_and_joints_dissipate():
    """tree 23 and plant 32: the power of dampers, integrated along a run."""
    plant = scene(OURS, CONSERVING)
    context, q, v, energy = energies_of_run(plant, 1.0, 1e-11, 0.0025)
    power = []
    for row in zip(q, v, strict=True):
        plant.SetPositionsAndVelocities(context, np.concatenate(row))
        damping = MultibodyForces(plant)
        for joint in plant.GetJointIndices():
            plant.get_joint(joint).AddInDamping(context, damping)
        power.append(plant.CalcNonConservativePower(context) + power_of(plant, context, damping))
    weights = np.full(len(power), 2.0)
    weights[1::2], weights[0], weights[-1] = 4.0, 1.0, 1.0
    work = 0.0025 / 3.0 * weights @ power  # Simpson's rule
    total = energy.sum(axis=1)
    assert total[-1] - total[0] < -1.0
    assert total[-1] - total[0] == pytest.approx(work, rel=1e-7)


def test_the_rate_of_the_kinetic_energy_is_the_power_of_all_forces():
    """plant 32: springs, dampers, actuation and applied forces, by differences of a small step."""

    def motor(lib, plant):
        plant.AddJointActuator("motor", plant.GetJointByName("swing"))

    plant = scene(OURS, more=motor)
    for context in contexts_of(plant, 5):
        plant.get_actuation_input_port().FixValue(context, [2.5])
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        forces.mutable_generalized_forces()[:] += plant.MakeActuationMatrix() @ [2.5]
        vdot = plant.CalcForwardDynamics(context)

        def kinetic(dt, context=context, vdot=vdot):
            other = moved(plant, context, dt)
            plant.SetVelocities(other, plant.GetVelocities(context) + dt * vdot)
            return plant.CalcKineticEnergy(other)

        rate = (kinetic(1e-5) - kinetic(-1e-5)) / 2e-5
        assert rate == pytest.approx(power_of(plant, context, forces), abs=DIFFERENCES * 10.0)


# gravity


def test_gravity_forces_are_the_gradient_of_the_potential_energy():
    """tree 22: v . tau_g is the power, and -(dPE/dq) N for a moving direction."""
    plant = scene(OURS, ())
    gravity = plant.gravity_field()
    for context in contexts_of(plant, 5):
        tau_g = gravity.CalcGravityGeneralizedForces(context)
        np.testing.assert_array_equal(tau_g, plant.CalcGravityGeneralizedForces(context))
        v = plant.GetVelocities(context)
        assert tau_g @ v == pytest.approx(gravity.CalcConservativePower(context), abs=1e-11)
        for k in range(8):
            plant.SetVelocities(context, np.eye(8)[k])
            ahead, behind = (gravity.CalcPotentialEnergy(moved(plant, context, dt)) for dt in (1e-5, -1e-5))
            assert tau_g[k] == pytest.approx(-(ahead - behind) / 2e-5, abs=DIFFERENCES)


def test_an_instance_without_gravity_floats_and_the_others_fall_with_g():
    """tree 22 and plant 26."""
    plant = scene(
        OURS, (), damping=0.0, more=lambda lib, p: p.set_gravity_enabled(p.GetModelInstanceByName("toys"), False)
    )
    assert not plant.is_gravity_enabled(plant.GetModelInstanceByName("toys"))
    assert plant.gravity_field().is_enabled(plant.GetModelInstanceByName("house"))
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, next(random_states(plant, 1))[:9])
    vdot, tau_g = plant.CalcForwardDynamics(context), plant.CalcGravityGeneralizedForces(context)
    ball = slice(plant.GetBodyByName("ball").floating_velocities_start_in_v(), None)
    np.testing.assert_array_equal(vdot[ball], np.zeros(6))
    np.testing.assert_array_equal(tau_g[ball], np.zeros(6))
    assert abs(tau_g[:2]).min() > 0.1
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    ball_force = plant.GetBodyByName("ball").GetForceInWorld(context, forces)
    np.testing.assert_array_equal(ball_force.get_coeffs(), np.zeros(6))
    falling = scene(OURS, (), more=lambda lib, p: p.set_gravity_enabled(p.GetModelInstanceByName("house"), False))
    context = falling.CreateDefaultContext()
    ball = falling.GetBodyByName("ball")
    A_WB = falling.EvalBodySpatialAccelerationInWorld(context, ball)
    np.testing.assert_allclose(A_WB.get_coeffs(), [0.0, 0.0, 0.0, 0.3, -0.2, -9.0], atol=1e-14)


def test_gravity_is_one_and_its_switches_close_at_finalize():
    """multibody_tree (c) 17"""
    plant = MultibodyPlant(0.0)
    assert plant.gravity_field().index() == ForceElementIndex(0)
    assert plant.gravity_field().model_instance() == world_model_instance()
    np.testing.assert_array_equal(plant.gravity_field().gravity_vector(), [0.0, 0.0, -9.81])
    with pytest.raises(RuntimeError, match="a gravity field already"):
        plant.AddForceElement(UniformGravityFieldElement([0.0, 0.0, -1.0]))
    field = plant.mutable_gravity_field()
    for call in (
        lambda: field.is_enabled(ModelInstanceIndex(7)),
        lambda: field.set_enabled(ModelInstanceIndex(7), True),
    ):
        with pytest.raises(RuntimeError, match="no model instance 7"):
            call()
    with pytest.raises(RuntimeError, match="three finite numbers"):
        field.set_gravity_vector([0.0, np.nan, 0.0])
    alone = UniformGravityFieldElement([1.0, 2.0, 3.0], {default_model_instance()})
    for call in (
        lambda: alone.is_enabled(default_model_instance()),
        lambda: alone.set_enabled(default_model_instance(), True),
        alone.GetParentPlant,
        alone.index,
    ):
        with pytest.raises(RuntimeError, match="not been added to a plant"):
            call()
    plant.Finalize()
    with pytest.raises(RuntimeError, match="before Finalize"):
        field.set_enabled(default_model_instance(), False)
    with pytest.raises(RuntimeError, match="set_gravity_enabled"):
        plant.set_gravity_enabled(default_model_instance(), False)
    with pytest.raises(RuntimeError, match="after Finalize"):
        field.set_gravity_vector([0.0, 0.0, 0.0])
    assert UniformGravityFieldElement.kDefaultStrength == 9.81


# springs on joints


def joint_plant(joint_type, spring):
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.MakeFromCentralInertia(2.0, [0.1, 0.0, 0.0], RotationalInertia(0.1, 0.2, 0.3))
    body = plant.AddRigidBody("body", inertia)
    joint = plant.AddJoint(joint_type("joint", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    element = plant.AddForceElement(spring(joint, 0.3, 5.0))
    plant.Finalize()
    return plant, joint, element


@pytest.mark.parametrize(
    ("joint_type", "spring", "nominal"),
    [(RevoluteJoint, RevoluteSpring, "NominalAngle"), (PrismaticJoint, PrismaticSpring, "NominalPosition")],
)
def test_stiffness_and_rest_position_are_parameters_of_a_context(joint_type, spring, nominal):
    """spec/tree.md 1.10: another context and the defaults stay as they are."""
    plant, joint, element = joint_plant(joint_type, spring)
    snake = {"NominalAngle": "nominal_angle", "NominalPosition": "nominal_position"}[nominal]
    first, second = plant.CreateDefaultContext(), plant.CreateDefaultContext()
    element.SetStiffness(first, 11.0)
    getattr(element, f"Set{nominal}")(first, -0.2)
    assert (element.GetStiffness(first), getattr(element, f"Get{nominal}")(first)) == (11.0, -0.2)
    assert (element.GetStiffness(second), getattr(element, f"Get{nominal}")(second)) == (5.0, 0.3)
    assert (element.default_stiffness(), element.stiffness()) == (5.0, 5.0)
    assert getattr(element, f"default_{snake}")() == getattr(element, snake)() == 0.3
    for context, k, rest in ((first, 11.0, -0.2), (second, 5.0, 0.3)):
        plant.SetPositions(context, [0.7])
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        assert forces.generalized_forces()[0] == pytest.approx(-k * (0.7 - rest))
        assert plant.CalcRequiredForces(context, gravity=False)[0] == pytest.approx(k * (0.7 - rest))
        assert element.CalcPotentialEnergy(context) == pytest.approx(0.5 * k * (0.7 - rest) ** 2)
    clone = first.Clone()
    assert element.GetStiffness(clone) == 11.0
    for value in (-1.0, np.nan, np.inf):
        with pytest.raises(RuntimeError, match=f"'joint'.*stiffness.*{value}"):
            element.SetStiffness(first, value)
    with pytest.raises(RuntimeError, match="'joint'.*rest.*nan"):
        getattr(element, f"Set{nominal}")(first, np.nan)
    assert element.GetStiffness(first) == 11.0
    assert element.joint() is joint


@pytest.mark.parametrize(("joint_type", "spring"), [(RevoluteJoint, RevoluteSpring), (PrismaticJoint, PrismaticSpring)])
def test_springs_refuse_what_does_not_fit(joint_type, spring):
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body")
    joint = plant.AddJoint(joint_type("joint", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    for value in (-1.0, np.nan):
        with pytest.raises(RuntimeError, match=f"'joint'.*stiffness.*{value}"):
            spring(joint, 0.0, value)
    other_type = PrismaticJoint if joint_type is RevoluteJoint else RevoluteJoint
    with pytest.raises(TypeError, match=joint_type.__name__):
        spring(other_type("other", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]), 0.0, 1.0)
    loose = spring(joint, 0.0, 1.0)
    with pytest.raises(RuntimeError, match="not been added"):
        loose.joint()
    with pytest.raises(RuntimeError, match="not part of this plant"):
        MultibodyPlant(0.0).AddForceElement(loose)
    plant.AddForceElement(loose)
    assert loose.model_instance() == default_model_instance()
    assert repr(loose) == f"<{spring.__name__} index=1 model_instance=1>"
    with pytest.raises(RuntimeError, match="part of a plant already"):
        plant.AddForceElement(loose)
    plant.Finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        plant.AddForceElement(spring(joint, 0.0, 1.0))
    with pytest.raises(RuntimeError):
        loose.GetStiffness(MultibodyPlant(0.0))


# spring-dampers


def test_a_spring_damper_pulls_along_its_line_at_its_points():
    """tree 1 and 13: equal and opposite, along PQ, with the moments of P and Q."""
    element, plant = element_and_plant("spring_damper")
    A, B = element.bodyA(), element.bodyB()
    assert (A.name(), B.name()) == ("shelf", "ball")
    assert element.model_instance() == A.model_instance()
    assert (element.free_length(), element.stiffness(), element.damping()) == (0.7, 30.0, 2.0)
    for context in contexts_of(plant):
        forces = MultibodyForces(plant)
        element.CalcAndAddForceContribution(context, forces)
        X_WA, X_WB = A.EvalPoseInWorld(context), B.EvalPoseInWorld(context)
        p_A, p_B = X_WA.rotation() @ element.p_AP(), X_WB.rotation() @ element.p_BQ()
        r = X_WB.translation() + p_B - X_WA.translation() - p_A
        length = np.linalg.norm(r)
        v_P = A.EvalSpatialVelocityInWorld(context).Shift(p_A).translational()
        v_Q = B.EvalSpatialVelocityInWorld(context).Shift(p_B).translational()
        f = (30.0 * (length - 0.7) + 2.0 * r @ (v_Q - v_P) / length) * r / length
        F_A, F_B = A.GetForceInWorld(context, forces), B.GetForceInWorld(context, forces)
        np.testing.assert_allclose(F_A.translational(), f, atol=ROUNDING * 10.0)
        np.testing.assert_array_equal(F_B.translational(), -F_A.translational())
        np.testing.assert_allclose(F_A.rotational(), np.cross(p_A, f), atol=ROUNDING * 10.0)
        np.testing.assert_allclose(F_B.rotational(), np.cross(p_B, -f), atol=ROUNDING * 10.0)


def hanging(stiffness, damping, time_step=0.0):
    """A mass of 2 kg that hangs on a spring-damper from World and moves up and down only."""
    plant = MultibodyPlant(time_step)
    inertia = SpatialInertia.MakeFromCentralInertia(2.0, np.zeros(3), RotationalInertia(0.1, 0.1, 0.1))
    body = plant.AddRigidBody("mass", inertia)
    plant.AddJoint(PrismaticJoint("rail", plant.world_frame(), body.body_frame(), [0.0, 0.0, 1.0]))
    world = plant.world_body()
    spring = LinearSpringDamper(world, [0.0, 0.0, 1.0], body, [0.0, 0.0, 0.0], 0.5, stiffness, damping)
    plant.AddForceElement(spring)
    plant.Finalize()
    return plant, spring


def test_a_mass_on_a_spring_damper_rests_swings_and_dies_down_as_it_should():
    """plant 15, the spring's part: stretch mg/k, frequency sqrt(k/m), damping ratio c / (2 sqrt(km))."""
    k, c, m, g = 50.0, 1.5, 2.0, 9.81
    plant, spring = hanging(k, c)
    context = plant.CreateDefaultContext()
    rest = 0.5 - m * g / k  # position at equilibrium
    plant.SetPositions(context, [rest])
    assert abs(plant.CalcForwardDynamics(context)[0]) < 1e-13
    plant.SetPositions(context, [0.5])
    assert plant.CalcForwardDynamics(context)[0] == -g  # at the free length: no force
    plant.SetPositions(context, [rest + 0.1])
    simulator = Simulator(plant, context)
    ApplySimulatorConfig(SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-10), simulator)
    wn, zeta = np.sqrt(k / m), c / (2.0 * np.sqrt(k * m))
    wd = wn * np.sqrt(1.0 - zeta**2)
    for t in (0.3, 1.0, 2.7):
        simulator.AdvanceTo(t)
        shape = np.cos(wd * t) + zeta * wn / wd * np.sin(wd * t)
        assert plant.GetPositions(context)[0] - rest == pytest.approx(0.1 * np.exp(-zeta * wn * t) * shape, abs=1e-8)


@pytest.mark.parametrize("scheme", ["runge_kutta3", "semi_explicit_euler", "radau3", "discrete"])
def test_a_spring_damper_without_length_raises_and_leaves_the_last_good_state(scheme):
    """tree 13."""
    plant, spring = hanging(50.0, 1.0, 0.01 if scheme == "discrete" else 0.0)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, [1.0])  # P and Q meet
    forces = MultibodyForces(plant)
    for call in (
        lambda: plant.CalcForceElementsContribution(context, forces),
        lambda: plant.CalcForwardDynamics(context),
        lambda: plant.CalcPotentialEnergy(context),
        lambda: plant.CalcConservativePower(context),
        lambda: plant.CalcNonConservativePower(context),
        lambda: plant.CalcRequiredForces(context),
        lambda: spring.CalcPotentialEnergy(context),
        lambda: spring.CalcAndAddForceContribution(context, forces),
    ):
        with pytest.raises(NumericalError, match="'world' and 'mass'.*nearly no length"):
            call()
    assert not forces.generalized_forces().any()
    assert not forces.F_Bo_W.any()
    assert np.isfinite(plant.CalcMassMatrix(context)).all()
    config = SimulatorConfig(integration_scheme="runge_kutta3" if scheme == "discrete" else scheme)
    with pytest.raises(NumericalError, match="nearly no length.*in step 1 from t = 0 s"):
        list(Run(plant, context, 1.0, config=config).blocks())
    assert context.get_time() == 0.0
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(context), [1.0, 0.0])


def test_spring_dampers_refuse_what_does_not_fit():
    """tree 13: free length 0, negative constants, what is not finite; nothing is added."""
    plant = MultibodyPlant(0.0)
    a, b = plant.AddRigidBody("a"), plant.AddRigidBody("b")
    good = {"free_length": 1.0, "stiffness": 2.0, "damping": 3.0}
    for name, value in (
        ("free_length", 0.0),
        ("free_length", -1.0),
        ("free_length", np.inf),
        ("stiffness", -1.0),
        ("stiffness", np.nan),
        ("damping", -0.5),
        ("damping", np.nan),
    ):
        with pytest.raises(RuntimeError, match=f"'a' and 'b'.*{name.replace('_', ' ')}.*{value}"):
            LinearSpringDamper(a, np.zeros(3), b, np.zeros(3), **(good | {name: value}))
    with pytest.raises(RuntimeError, match="'a' and 'b'.*p_BQ"):
        LinearSpringDamper(a, np.zeros(3), b, [0.0, np.nan, 0.0], **good)
    with pytest.raises(RuntimeError, match="p_AP"):
        LinearSpringDamper(a, np.zeros(2), b, np.zeros(3), **good)
    with pytest.raises(RuntimeError, match="not part of this plant"):
        MultibodyPlant(0.0).AddForceElement(LinearSpringDamper(a, np.zeros(3), b, np.zeros(3), **good))
    assert plant.num_force_elements() == 1


def test_a_spring_damper_between_points_of_one_body_has_no_effect():
    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.MakeFromCentralInertia(2.0, [0.1, 0.0, 0.0], RotationalInertia(0.1, 0.2, 0.3))
    body = plant.AddRigidBody("body", inertia)
    plant.AddForceElement(LinearSpringDamper(body, np.zeros(3), body, [1.0, 2.0, 3.0], 1.0, 10.0, 1.0))
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    np.testing.assert_allclose(plant.CalcForwardDynamics(context), np.zeros(6), atol=1e-13)


def test_lengths_within_a_tree_are_exact_far_from_the_origin_of_the_world():
    """A million metres away they lose no digit."""
    near, far = (np.zeros(3), np.array([2.0**20, -(2.0**19), 2.0**18]))
    lengths = []
    for offset in (near, far):
        plant = MultibodyPlant(0.0)
        inertia = SpatialInertia.MakeFromCentralInertia(2.0, [0.1, 0.0, 0.0], RotationalInertia(0.1, 0.2, 0.3))
        a, b = plant.AddRigidBody("a", inertia), plant.AddRigidBody("b", inertia)
        plant.AddJoint(RevoluteJoint("joint", a.body_frame(), b.body_frame(), [0.0, 0.6, 0.8]))
        spring = plant.AddForceElement(LinearSpringDamper(a, [0.1, 0.2, 0.3], b, [0.3, -0.1, 0.5], 0.2, 100.0, 1.0))
        plant.Finalize()
        context = plant.CreateDefaultContext()
        plant.SetPositions(context, [*RollPitchYaw(0.1, 0.2, 0.3).ToQuaternion().wxyz(), *offset, 0.7])
        lengths.append(spring._state(context)[1])
    assert lengths[0] == pytest.approx(lengths[1], rel=4.0 * np.finfo(float).eps)


# elements of a user


class Drag(ForceElement):
    """A force -c v on the origin of a body, which grows with time at a rate."""

    def __init__(self, body, c, rate=0.0):
        super().__init__(body.model_instance())
        self.body, self.c, self.rate = body, c, rate

    def CalcAndAddForceContribution(self, context, forces):
        v = self.body.EvalSpatialVelocityInWorld(context).translational()
        F = SpatialForce(np.zeros(3), -self._coefficient(context) * v)
        self.body.AddInForceInWorld(context, F, forces)

    def _coefficient(self, context):
        return self.c * (1.0 + self.rate * context.get_time())

    def CalcPotentialEnergy(self, context):
        return 0.0

    def CalcConservativePower(self, context):
        return 0.0

    def CalcNonConservativePower(self, context):
        v = self.body.EvalSpatialVelocityInWorld(context).translational()
        return -self._coefficient(context) * v @ v


class PythonSpring(RevoluteSpring):
    """The spring of the library through Python: it redefines the method, so the engine leaves it alone."""

    def CalcAndAddForceContribution(self, context, forces):
        super().CalcAndAddForceContribution(context, forces)


def python_spring(lib, plant):
    plant.AddForceElement(PythonSpring(plant.GetJointByName("swing"), 0.4, 7.0))


WITHOUT_SPRING = tuple(e for e in ELEMENTS if e != "revolute_spring")


def test_an_element_of_a_user_acts_in_every_calculation():
    compiled = scene(OURS, CONSERVING)
    user = scene(OURS, [e for e in CONSERVING if e != "revolute_spring"], more=python_spring)
    assert not compiled.user_force_elements
    assert len(user.user_force_elements) == 1
    for ours, theirs in zip(contexts_of(user, 5), contexts_of(compiled, 5), strict=True):
        forces, expected = MultibodyForces(user), MultibodyForces(compiled)
        user.CalcForceElementsContribution(ours, forces)
        compiled.CalcForceElementsContribution(theirs, expected)
        np.testing.assert_allclose(forces.generalized_forces(), expected.generalized_forces(), atol=ROUNDING)
        np.testing.assert_allclose(forces.F_Bo_W, expected.F_Bo_W, atol=ROUNDING)
        for method in (
            "CalcForwardDynamics",
            "CalcAccelerations",
            "CalcRequiredForces",
            "CalcPotentialEnergy",
            "CalcConservativePower",
            "CalcNonConservativePower",
        ):
            values = getattr(user, method)(ours), getattr(compiled, method)(theirs)
            np.testing.assert_allclose(*values, rtol=1e-11, atol=1e-11, err_msg=method)
        np.testing.assert_allclose(
            user.CalcRequiredForces(ours, springs=False), compiled.CalcRequiredForces(theirs, springs=False), atol=1e-11
        )


@pytest.mark.parametrize(
    "scheme",
    ["explicit_euler", "runge_kutta2", "runge_kutta3", "runge_kutta5", "semi_explicit_euler", "kSap", "kTamsi"],
)
def test_a_run_with_an_element_of_a_user_is_the_run_with_the_compiled_one(scheme):
    ends = []
    discrete = scheme.startswith("k")
    for elements, more in ((ELEMENTS, None), (WITHOUT_SPRING, python_spring)):

        def finish(lib, plant, more=more):
            if more:
                more(lib, plant)
            if discrete:
                plant.set_step_scheme("drake")  # in the other one the engine's own are implicit
                plant.set_discrete_contact_approximation(DiscreteContactApproximation[scheme])

        plant = scene(OURS, elements, time_step=0.01 if discrete else 0.0, more=finish)
        context = plant.CreateDefaultContext()
        plant.SetPositionsAndVelocities(context, next(random_states(plant, 1)))
        config = SimulatorConfig(integration_scheme="runge_kutta3" if discrete else scheme, max_step_size=0.01)
        run = Run(plant, context, 0.2, config=config, sample_period=0.05)
        blocks = list(run.blocks())
        x = np.concatenate([np.hstack([b.time[:, None], b.q, b.v]) for b in blocks])
        ends.append((run.steps, run.refused_steps, x, np.concatenate([b.energy for b in blocks])))
    assert ends[0][:2] == ends[1][:2]
    np.testing.assert_allclose(ends[0][2], ends[1][2], rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(ends[0][3][:, 0], ends[1][3][:, 0], rtol=1e-11)
    assert np.isnan(ends[0][3][:, 1]).all()  # a bushing has no energy
    assert np.isnan(ends[1][3][:, 1]).all()


def test_a_force_of_time_and_velocity_gives_the_closed_form():
    """m v' = -c (1 + r t) v: v = v0 exp(-(c/m) (t + r t^2/2))."""

    plant = MultibodyPlant(0.0)
    inertia = SpatialInertia.MakeFromCentralInertia(1.2, np.zeros(3), RotationalInertia(0.1, 0.1, 0.1))
    drag = plant.AddForceElement(Drag(plant.AddRigidBody("ball", inertia), 1.7, 0.8))
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    plant.Finalize()
    assert drag.model_instance() == default_model_instance()
    context = plant.CreateDefaultContext()
    v = np.array([0.0, 0.0, 0.0, 1.0, -2.0, 0.5])
    plant.SetVelocities(context, v)
    simulator = Simulator(plant, context)
    config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=1e-11, max_step_size=0.02)
    ApplySimulatorConfig(config, simulator)
    simulator.AdvanceTo(1.3)
    expected = v * np.exp(-1.7 / 1.2 * (1.3 + 0.4 * 1.3**2))
    np.testing.assert_allclose(plant.GetVelocities(context), expected, atol=1e-10)


def test_energy_of_elements_of_a_user_counts_in_the_samples():
    plant = scene(OURS, ("prismatic_spring",), damping=0.0, more=python_spring)
    _, q, v, energy = energies_of_run(plant, 1.0, 1e-11, 0.25)
    context = plant.CreateDefaultContext()
    for row in zip(q, v, energy, strict=True):
        plant.SetPositionsAndVelocities(context, np.concatenate(row[:2]))
        values = plant.CalcKineticEnergy(context), plant.CalcPotentialEnergy(context)
        np.testing.assert_allclose(values, row[2], rtol=1e-12)
    assert np.ptp(energy.sum(axis=1)) < 1e-8


def test_what_an_element_of_a_user_does_not_define_is_said():
    class Nothing(ForceElement):
        pass

    class Push(ForceElement):
        def CalcAndAddForceContribution(self, context, forces):
            forces.mutable_generalized_forces()[0] += 3.0

    plant = scene(OURS, (), more=lambda lib, p: p.AddForceElement(Nothing()))
    context = plant.CreateDefaultContext()
    assert plant.get_force_element(ForceElementIndex(1)).model_instance() == world_model_instance()
    for method in ("CalcForwardDynamics", "CalcPotentialEnergy", "CalcConservativePower", "CalcNonConservativePower"):
        defined = "CalcAndAddForceContribution" if method == "CalcForwardDynamics" else method
        with pytest.raises(RuntimeError, match=rf"<Nothing index=1 model_instance=0> does not define {defined}\(\)"):
            getattr(plant, method)(context)
    plant = scene(OURS, (), more=lambda lib, p: p.AddForceElement(Push()))
    context = plant.CreateDefaultContext()
    rows = next(Run(plant, context, 0.1).blocks())
    assert np.isfinite(rows.energy[:, 0]).all()
    assert np.isnan(rows.energy[:, 1]).all()


def test_an_error_in_an_element_of_a_user_leaves_the_last_good_state():
    class Fuse(Drag):
        def CalcAndAddForceContribution(self, context, forces):
            if context.get_time() > 0.5:
                raise ValueError("blown")
            super().CalcAndAddForceContribution(context, forces)

    for time_step in (0.0, 0.01):
        plant = scene(
            OURS, (), time_step=time_step, more=lambda lib, p: p.AddForceElement(Fuse(p.GetBodyByName("ball"), 1.0))
        )
        context = plant.CreateDefaultContext()
        with pytest.raises(ValueError, match="blown"):
            list(Run(plant, context, 1.0, config=SimulatorConfig(max_step_size=0.01)).blocks())
        assert 0.45 < context.get_time() < 0.52
        assert np.isfinite(plant.GetPositionsAndVelocities(context)).all()
        other = plant.CreateDefaultContext()
        list(Run(plant, other, 0.45, config=SimulatorConfig(max_step_size=0.01)).blocks())
        Q = [plant.GetPositions(c)[:2] for c in (context, other)]
        assert abs(Q[0] - Q[1]).max() < 0.5


def test_implicit_schemes_refuse_elements_of_a_user():
    plant = scene(OURS, (), more=python_spring)
    context = plant.CreateDefaultContext()
    with pytest.raises(ModelError, match="'implicit_euler' cannot run with force elements of a user"):
        list(Run(plant, context, 1.0, config=SimulatorConfig(integration_scheme="implicit_euler")).blocks())
    assert context.get_time() == 0.0


# pydrake


def both(elements, **options):
    """The scene of both libraries, with contexts."""
    for lib in (OURS, pydrake()):
        plant = scene(lib, elements, **options)
        yield lib, plant, plant.CreateDefaultContext()


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("elements", [(e,) for e in ELEMENTS] + [ELEMENTS])
def test_forces_energy_and_accelerations_agree_with_pydrake(elements):
    sides = list(both(elements))
    for x in random_states(sides[0][1], 30):
        values = []
        for lib, plant, context in sides:
            plant.SetPositionsAndVelocities(context, x)
            forces = lib.MultibodyForces(plant)
            plant.CalcForceElementsContribution(context, forces)
            bodies = [plant.get_body(lib.BodyIndex(n)) for n in range(plant.num_bodies())]
            rows = [body.GetForceInWorld(context, forces).get_coeffs() for body in bodies]
            energy = [] if "bushing" in elements else [plant.EvalPotentialEnergy(context)]
            xdot = plant.EvalTimeDerivatives(context).CopyToVector()
            values.append(np.concatenate([*rows, forces.generalized_forces(), energy, xdot]))
        np.testing.assert_allclose(*values, rtol=1e-10, atol=1e-10)


@pytest.mark.peers("pydrake")
@pytest.mark.parametrize("approximation", ["kTamsi", "kSap", "kLagged"])
@pytest.mark.parametrize("elements", [(e,) for e in ELEMENTS] + [ELEMENTS])
def test_steps_of_discrete_plants_agree_with_pydrake(elements, approximation):
    """pydrake takes force elements, their damping too, at the start of a step, whatever it does with joint damping."""
    from pydrake.systems.analysis import Simulator as DrakeSimulator

    def choose(lib, plant):
        plant.set_discrete_contact_approximation(getattr(lib.DiscreteContactApproximation, approximation))
        if lib is OURS:
            plant.set_step_scheme("drake")

    states = []
    for (_, plant, context), simulate in zip(
        both(elements, time_step=0.005, more=choose), (Simulator, DrakeSimulator), strict=True
    ):
        plant.SetPositionsAndVelocities(context, next(random_states(plant, 1, seed=3)))
        simulator = simulate(plant, context)
        rows = []
        for step in range(1, 41):
            simulator.AdvanceTo(0.005 * step)
            rows.append(np.array(plant.GetPositionsAndVelocities(simulator.get_context())))
            for index in plant.GetFloatingBaseBodies():
                start = plant.get_body(index).floating_positions_start()
                rows[-1][start : start + 4] /= np.linalg.norm(rows[-1][start : start + 4])  # pydrake lets it grow
        states.append(rows)
    np.testing.assert_allclose(*states, rtol=0.0, atol=1e-11)


@pytest.mark.peers("pydrake")
def test_parameters_of_springs_agree_with_pydrake():
    forces = []
    for lib, plant, context in both(("revolute_spring",)):
        plant.SetPositionsAndVelocities(context, next(random_states(plant, 1)))
        spring = plant.get_force_element(lib.ForceElementIndex(1))
        spring.SetStiffness(context, 3.0)
        spring.SetNominalAngle(context, -1.0)
        forces.append(plant.EvalTimeDerivatives(context).CopyToVector())
        assert (spring.GetStiffness(context), spring.GetNominalAngle(context)) == (3.0, -1.0)
        assert (spring.default_stiffness(), spring.default_nominal_angle()) == (7.0, 0.4)
    np.testing.assert_allclose(*forces, rtol=1e-10)


def test_poses_of_frames_in_a_context_move_what_is_fixed_to_them():
    """A bushing between frames that a context has elsewhere: the force is that of a plant built so."""
    plants = []
    X = RigidTransform(RollPitchYaw(0.4, 0.2, -0.1), [0.05, -0.1, 0.2])
    for built in (False, True):

        def bushing(lib, plant, built=built):
            shelf, ball = plant.GetBodyByName("shelf"), plant.GetBodyByName("ball")
            A = plant.AddFrame(lib.FixedOffsetFrame("A", shelf.body_frame(), X if built else RigidTransform()))
            constants = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [10.0, 20.0, 30.0], [1.0, 2.0, 3.0]
            plant.AddForceElement(lib.LinearBushingRollPitchYaw(A, ball.body_frame(), *constants))

        plant = scene(OURS, (), more=bushing)
        context = plant.CreateDefaultContext()
        plant.SetPositionsAndVelocities(context, next(random_states(plant, 1)))
        if not built:
            before = plant.CalcForwardDynamics(context)
            plant.GetFrameByName("A").SetPoseInParentFrame(context, X)
        plants.append(plant.CalcForwardDynamics(context))
    np.testing.assert_allclose(plants[0], plants[1], rtol=1e-12, atol=1e-12)
    assert abs(plants[0] - before).max() > 0.1
