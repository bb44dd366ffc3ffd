"""Derivatives by complex steps, dual numbers, differences and Pinocchio's formulas (tree (c) 31, plant (c) 33)."""

import json

import numpy as np
import pytest
from command_line import cli, succeed
from random_trees import bodies_of, joints_of, random_context, random_plant
from repository import SAMPLES

from mbcli.autodiffutils import AutoDiffXd, ExtractGradient, ExtractValue, InitializeAutoDiff
from mbcli.math import RigidTransform
from mbcli.multibody.core.derivatives import CALCULATIONS, VARIABLES
from mbcli.multibody.math import SpatialForce
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant, MultibodyPlant_, StateFunctions
from mbcli.multibody.tree import (
    FixedOffsetFrame,
    JacobianWrtVariable,
    LinearBushingRollPitchYaw,
    LinearSpringDamper,
    MultibodyForces,
    RevoluteJoint,
    RevoluteSpring,
    SpatialInertia,
    UnitInertia,
)
from mbcli.multibody.tree.joint_spring import JointSpring

SEED = 22
NO_ENERGY = ("potential_energy",)  # bushings have none


@pytest.fixture(scope="module")
def plant():
    """Every joint type, springs, a hinge, spring-dampers and a bushing."""
    return random_plant(SEED, num_bodies=12, elements=True)


@pytest.fixture(scope="module")
def bare_plant():
    return random_plant(SEED + 1, num_bodies=11)


@pytest.fixture
def context(plant):
    return random_context(plant, np.random.default_rng(SEED))


def inputs_of(plant, seed=3):
    rng = np.random.default_rng(seed)
    nv, nu = plant.num_velocities(), plant.num_actuators()
    return {"vdot": rng.normal(size=nv), "tau": rng.normal(size=nv), "u": rng.normal(size=nu)}


def assert_close(value, expected, tolerance):
    """Equal up to `tolerance` of the largest element, and not all zero."""
    scale = abs(expected).max()
    assert scale > 1e-6
    assert value.shape == expected.shape
    assert abs(value - expected).max() <= tolerance * scale


def differences(function, x, h=1e-4):
    """d function / d x by central differences of fourth order."""
    columns = []
    for e in np.eye(x.size):
        f = [np.asarray(function(x + k * h * e)) for k in (-2, -1, 1, 2)]
        columns.append((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h))
    return np.stack(columns, axis=-1)


# CalcDerivatives


@pytest.mark.parametrize("calculation", CALCULATIONS)
def test_derivatives_by_state_and_inputs_are_those_of_differences(plant, bare_plant, calculation):
    """Tree (c) 31, through the forward dynamics too; multibody_tree (c) 21 for inverse dynamics and energy."""
    chosen = bare_plant if calculation in NO_ENERGY else plant
    context = random_context(chosen, np.random.default_rng(SEED))
    inputs, other = inputs_of(chosen), context.Clone()
    before = chosen.GetPositionsAndVelocities(context).copy()
    D = chosen.CalcDerivatives(context, calculation, **inputs)
    assert tuple(D) == VARIABLES[calculation]
    np.testing.assert_array_equal(chosen.GetPositionsAndVelocities(context), before)

    def at(name, value):
        chosen.SetPositionsAndVelocities(other, before)
        if name in ("q", "v"):
            (chosen.SetPositions if name == "q" else chosen.SetVelocities)(other, value)
            return CALCULATIONS[calculation](chosen, other, inputs)
        return CALCULATIONS[calculation](chosen, other, {**inputs, name: value})

    start = {"q": chosen.GetPositions(context), "v": chosen.GetVelocities(context), **inputs}
    for name, value in D.items():
        assert_close(value, differences(lambda x, name=name: at(name, x), start[name]), 1e-7)


@pytest.mark.parametrize("calculation", [c for c in CALCULATIONS if c not in NO_ENERGY])
def test_derivatives_by_complex_steps_are_those_of_dual_numbers(plant, context, calculation):
    D = plant.CalcDerivatives(context, calculation, ("q", "v"))
    dual = plant.ToAutoDiffXd()
    other = dual.CreateDefaultContext()
    dual.SetPositionsAndVelocities(other, InitializeAutoDiff(plant.GetPositionsAndVelocities(context)))
    given = {name: np.zeros_like(value) for name, value in inputs_of(plant).items()}
    result = np.asarray(CALCULATIONS[calculation](dual, other, given))
    gradient = ExtractGradient(result.T).reshape(*result.shape, -1)
    expected = np.concatenate([D["q"], D["v"]], axis=-1)
    assert_close(gradient, expected, 1e-11)
    assert_close(
        ExtractValue(result).reshape(np.shape(result)),
        np.asarray(CALCULATIONS[calculation](plant, context, given)),
        1e-12,
    )


def test_compiled_complex_steps_are_the_interpreted_ones(plant, context):
    inputs = inputs_of(plant)
    interpreted, compiled = (
        plant.CalcDerivatives(context, "mass_matrix", ("q",), **inputs, compiled=compiled) for compiled in (False, True)
    )
    assert_close(compiled["q"], interpreted["q"], 1e-12)


def test_derivatives_along_the_tangent_are_those_by_q_times_N(plant, context):
    D = plant.CalcDerivatives(context, "inverse_dynamics", ("q", "tangent"))
    N = plant.MakeVelocityToQDotMap(context).toarray()
    assert D["tangent"].shape == (plant.num_velocities(), plant.num_velocities())
    assert_close(D["tangent"], D["q"] @ N, 1e-12)


def parameters_of(plant):
    """Every kind of parameter: (element, name) -> (get, set) through the public interface, or the engine's arrays."""
    body = bodies_of(plant)[5]
    joint = next(j for j in joints_of(plant) if j.num_velocities() == 3)
    actuator = plant.get_joint_actuator(plant.GetJointActuatorIndices()[0])
    elements = plant.elements.force_elements
    spring = next(e for e in elements if isinstance(e, JointSpring))
    bushing = next(e for e in elements if isinstance(e, LinearBushingRollPitchYaw))
    return body, joint, actuator, spring, bushing


def test_derivatives_by_parameters_are_those_of_differences(plant, context):
    """Tree (c) 31 and plant (c) 33: mass, centre of mass, inertia, damping, rotors, gears, springs, bushings."""
    body, joint, actuator, spring, bushing = parameters_of(plant)
    M = body.CalcSpatialInertiaInBodyFrame(context)
    G = M.get_unit_inertia().CopyToFullMatrix3()
    six = np.array([G[0, 0], G[1, 1], G[2, 2], G[0, 1], G[0, 2], G[1, 2]]) * M.get_mass()

    def set_inertia(c, x):
        unit = UnitInertia(*(x / M.get_mass()))
        body.SetSpatialInertiaInBodyFrame(c, SpatialInertia(M.get_mass(), M.get_com(), unit, True))

    k = bushing.GetTorqueStiffnessConstants(context)
    cases = {
        (body, "mass"): (np.array([M.get_mass()]), lambda c, x: body.SetMass(c, x[0])),
        (body, "com"): (M.get_com(), lambda c, x: body.SetCenterOfMassInBodyFrame(c, x)),
        (body, "inertia"): (six, set_inertia),
        (joint, "damping"): (joint.GetDampingVector(context), lambda c, x: joint.SetDampingVector(c, x)),
        (actuator, "rotor_inertia"): (
            np.array([actuator.default_rotor_inertia()]),
            lambda c, x: actuator.SetRotorInertia(c, x[0]),
        ),
        (actuator, "gear_ratio"): (
            np.array([actuator.default_gear_ratio()]),
            lambda c, x: actuator.SetGearRatio(c, x[0]),
        ),
        (spring, "stiffness"): (
            np.array([spring._stiffness]),
            lambda c, x: c.state.set_parameter(spring, "stiffness", x[0]),
        ),
        (bushing, "torque_stiffness_constants"): (k, lambda c, x: bushing.SetTorqueStiffnessConstants(c, x)),
    }
    D = plant.CalcDerivatives(context, "forward_dynamics", tuple(cases))
    for variable, (start, change) in cases.items():

        def at(x, change=change):
            other = context.Clone()
            change(other, x)
            return plant.CalcAccelerations(other)

        expected = differences(at, start)
        assert D[variable].shape == expected.shape
        # accelerations are smooth in parameters; rounding of differences is what is left
        assert abs(D[variable] - expected).max() <= 1e-7 * max(1.0, abs(expected).max()), variable
        assert abs(expected).max() > 0.0, variable


def test_forces_of_spring_dampers_and_gravity_are_linear_in_their_constants(plant, context):
    spring = next(e for e in plant.elements.force_elements if isinstance(e, LinearSpringDamper))
    D = plant.CalcDerivatives(context, "inverse_dynamics", ((spring, "stiffness"), (spring, "damping"), "gravity"))
    model = plant.model
    column = model.spring_damper_constants[spring.row]
    # -tau is linear: twice the spring minus once, through an element of a context's own arrays
    for k, name in ((1, "stiffness"), (2, "damping")):
        constants = model.spring_damper_constants.copy()
        constants[spring.row, k] = 2.0 * column[k]
        other = context.Clone()
        other.state.use_model(model.replace(spring_damper_constants=constants))
        change = plant.CalcRequiredForces(other) - plant.CalcRequiredForces(context)
        assert_close(D[spring, name][:, 0] * column[k], change, 1e-9)
    g = plant.gravity_field().gravity_vector()
    assert_close(-D["gravity"] @ g, plant.CalcGravityGeneralizedForces(context), 1e-12)


def test_derivatives_of_a_function_of_frames_are_its_jacobians(plant, context):
    frame, world = bodies_of(plant)[-1].body_frame(), plant.world_frame()
    D = plant.CalcDerivatives(
        context, lambda c: plant.CalcPointsPositions(c, frame, [0.1, 0.2, 0.3], world)[:, 0], "tangent"
    )
    J = plant.CalcJacobianTranslationalVelocity(context, JacobianWrtVariable.kV, frame, [0.1, 0.2, 0.3], world, world)
    assert_close(D["tangent"], J, 1e-12)
    pose = plant.CalcDerivatives(context, lambda c: plant.CalcRelativeTransform(c, world, frame))
    assert pose["q"].shape == (3, 4, plant.num_positions())
    assert not pose["v"].any()


@pytest.mark.parametrize(
    ("calculation", "variables", "message"),
    [
        ("energy", None, "no calculation 'energy'"),
        ("bias", ("q", "w"), "'w' is not a variable"),
        ("bias", (("body", "mass"),), "has no parameter 'mass'"),
    ],
)
def test_what_cannot_be_differentiated_is_named(plant, context, calculation, variables, message):
    with pytest.raises(RuntimeError, match=message):
        plant.CalcDerivatives(context, calculation, variables)


def test_elements_of_other_plants_and_plants_of_dual_numbers_are_refused(plant, bare_plant, context):
    with pytest.raises(RuntimeError, match="not part of this plant"):
        plant.CalcDerivatives(context, "bias", (bodies_of(bare_plant)[2], "mass"))
    dual = bare_plant.ToAutoDiffXd()
    with pytest.raises(RuntimeError, match="plant of floats"):
        dual.CalcDerivatives(dual.CreateDefaultContext(), "bias")


# MultibodyPlant_[AutoDiffXd]


def test_a_conversion_keeps_the_topology_and_shares_no_element(plant):
    """Multibody_tree (c) 20 and 21: same elements under the same indices."""
    dual = plant.ToAutoDiffXd()
    assert type(dual) is MultibodyPlant_[AutoDiffXd] is MultibodyPlant_["AutoDiffXd"]
    assert MultibodyPlant_[float] is MultibodyPlant
    assert dual.GetPositionNames() == plant.GetPositionNames()
    assert dual.GetVelocityNames() == plant.GetVelocityNames()
    for ours, theirs in zip(bodies_of(dual) + joints_of(dual), bodies_of(plant) + joints_of(plant), strict=True):
        assert ours is not theirs
        assert (ours.name(), ours.index()) == (theirs.name(), theirs.index())
        assert ours.GetParentPlant() is dual
    back = dual.ToScalarType[float]()
    assert type(back) is MultibodyPlant
    np.testing.assert_array_equal(back.CalcMassMatrix(back.CreateDefaultContext()).shape, (plant.num_velocities(),) * 2)
    with pytest.raises(TypeError, match="not 'int'"):
        MultibodyPlant_["int"]
    with pytest.raises(RuntimeError, match=r"Finalize\(\)"):
        MultibodyPlant(0.0).ToAutoDiffXd()


def test_output_ports_of_a_converted_plant_give_its_numbers_even_where_those_of_floats_were_asked_for_first(plant):
    asked = [plant.get_state_output_port(), plant.get_body_poses_output_port()]
    dual = plant.ToAutoDiffXd()
    context = dual.CreateDefaultContext()
    x = dual.get_state_output_port().Eval(context)
    (X_WB, *_) = dual.get_body_poses_output_port().Eval(context)
    assert {type(number) for number in (*x, *X_WB.translation())} == {AutoDiffXd}
    floats = plant.CreateDefaultContext()
    assert [port.get_name() for port in asked] == ["state", "body_poses"]
    assert asked[0].Eval(floats).dtype == float
    np.testing.assert_array_equal(ExtractValue(x).ravel(), asked[0].Eval(floats))


def test_the_mass_matrix_knows_its_derivative_by_a_mass(plant, context):
    """The example of the plant's documentation: a mass of a context is a variable."""
    dual = plant.ToAutoDiffXd()
    other = dual.CreateDefaultContext()
    other.SetTimeStateAndParametersFrom(context)
    body = dual.get_body(bodies_of(plant)[5].index())
    body.SetMass(other, AutoDiffXd(body.default_mass(), [1.0]))
    M = dual.CalcMassMatrix(other)
    expected = plant.CalcDerivatives(context, "mass_matrix", (bodies_of(plant)[5], "mass"))
    (value,) = expected.values()
    assert_close(ExtractGradient(M).reshape(M.shape), value[..., 0], 1e-12)
    assert_close(ExtractValue(M), plant.CalcMassMatrix(context), 1e-12)


def test_results_that_depend_on_no_variable_are_dual_numbers_too(bare_plant):
    """Whoever asks an element for its derivatives() gets an answer, an empty one."""
    dual = bare_plant.ToAutoDiffXd()
    context, forces = dual.CreateDefaultContext(), MultibodyForces(dual)
    body, world, kV = bodies_of(dual)[3], dual.world_frame(), JacobianWrtVariable.kV
    vdot = np.zeros(dual.num_velocities())
    M_BBo_F = dual.CalcSpatialInertia(context, world, [body.index()])
    results = [
        dual.CalcMassMatrix(context),
        dual.CalcBiasTerm(context),
        dual.CalcInverseDynamics(context, vdot, forces),
        dual.CalcGeneralizedForces(context, forces),
        dual.EvalTimeDerivatives(context).CopyToVector(),
        dual.MapVelocityToQDot(context, vdot),
        dual.GetPositions(context),
        dual.CalcPointsPositions(context, body.body_frame(), np.zeros(3), world),
        dual.CalcJacobianSpatialVelocity(context, kV, body.body_frame(), np.zeros(3), world, world),
        dual.CalcBiasSpatialAcceleration(context, kV, body.body_frame(), np.zeros(3), world, world).get_coeffs(),
        dual.CalcRelativeRotationMatrix(context, world, body.body_frame()).matrix(),
        body.EvalPoseInWorld(context).translation(),
        body.EvalSpatialVelocityInWorld(context).get_coeffs(),
        body.EvalSpatialAccelerationInWorld(context).rotational(),
        dual.CalcSpatialAccelerationsFromVdot(context, vdot)[3].get_coeffs(),
        M_BBo_F.get_com(),
        dual.MakeVelocityToQDotMap(context),
        np.array(
            [dual.CalcKineticEnergy(context), dual.CalcPotentialEnergy(context), M_BBo_F.get_mass()], dtype=object
        ),
    ]
    for result in results:
        assert result.size
        assert {x.derivatives().size for x in result.flat} == {0}


def test_poses_and_velocities_of_dual_numbers_carry_gradients(plant, context):
    dual = plant.ToAutoDiffXd()
    other = dual.CreateDefaultContext()
    dual.SetPositions(other, InitializeAutoDiff(plant.GetPositions(context)))
    frame = bodies_of(plant)[-1].body_frame()
    X = dual.CalcRelativeTransform(other, dual.world_frame(), bodies_of(dual)[-1].body_frame())
    D = plant.CalcDerivatives(context, lambda c: plant.CalcRelativeTransform(c, plant.world_frame(), frame), "q")["q"]
    assert_close(ExtractGradient(X.translation()), D[:, 3], 1e-12)
    assert_close(ExtractGradient(X.rotation().matrix().T).reshape(3, 3, -1), D[:, :3], 1e-12)


def test_actuation_through_ports_is_a_variable(plant, context):
    """Plant (c) 33: A and B of xdot = f(x, u) from one evaluation."""
    dual = plant.ToAutoDiffXd()
    other = dual.CreateDefaultContext()
    x, u = plant.GetPositionsAndVelocities(context), inputs_of(plant)["u"]
    variables = InitializeAutoDiff(np.concatenate([x, u])).ravel()
    other.SetContinuousState(variables[: x.size])
    dual.get_actuation_input_port().FixValue(other, variables[x.size :])
    xdot = dual.EvalTimeDerivatives(other).CopyToVector()
    nq, nv = plant.num_positions(), plant.num_velocities()
    D = plant.CalcDerivatives(context, "forward_dynamics", ("q", "v", "u"), u=u)
    assert_close(ExtractGradient(xdot[nq:]), np.hstack([D["q"], D["v"], D["u"]]), 1e-11)
    assert_close(ExtractGradient(xdot[:nq])[:, nq : nq + nv], plant.MakeVelocityToQDotMap(context).toarray(), 1e-12)


def test_joints_take_and_give_dual_numbers(plant):
    dual = plant.ToAutoDiffXd()
    context = dual.CreateDefaultContext()
    joint = next(j for j in joints_of(dual) if j.type_name() == "revolute")
    joint.set_angle(context, AutoDiffXd(0.3, [2.0]))
    assert joint.get_angle(context).derivatives().tolist() == [2.0]
    assert dual.GetPositions(context)[joint.position_start()].value() == 0.3


def test_dual_numbers_pass_through_the_setters_of_every_parameter(plant, context):
    """Tree (c) 31: damping, springs, bushings, rotors and gears, against complex steps."""
    _, joint, actuator, spring, bushing = parameters_of(plant)
    dual = plant.ToAutoDiffXd()
    elements = {
        joint: dual.get_joint(joint.index()),
        actuator: dual.get_joint_actuator(actuator.index()),
        spring: dual.get_force_element(spring.index()),
        bushing: dual.get_force_element(bushing.index()),
    }
    revolute = isinstance(spring, RevoluteSpring)
    settings = {
        (joint, "damping"): lambda e, c, x: e.SetDampingVector(c, x),
        (actuator, "rotor_inertia"): lambda e, c, x: e.SetRotorInertia(c, x[0]),
        (actuator, "gear_ratio"): lambda e, c, x: e.SetGearRatio(c, x[0]),
        (spring, "stiffness"): lambda e, c, x: e.SetStiffness(c, x[0]),
        (spring, "nominal"): lambda e, c, x: (e.SetNominalAngle if revolute else e.SetNominalPosition)(c, x[0]),
        (bushing, "torque_stiffness_constants"): lambda e, c, x: e.SetTorqueStiffnessConstants(c, x),
        (bushing, "force_damping_constants"): lambda e, c, x: e.SetForceDampingConstants(c, x),
    }
    D = plant.CalcDerivatives(context, "forward_dynamics", tuple(settings))
    for (element, name), change in settings.items():
        other = dual.CreateDefaultContext()
        other.SetTimeStateAndParametersFrom(context)
        change(
            elements[element], other, InitializeAutoDiff(np.ravel(context.state.parameters.get(element, name))).ravel()
        )
        vdot = dual.CalcAccelerations(other)
        assert_close(ExtractGradient(vdot), D[element, name], 1e-11)
        assert_close(ExtractValue(vdot).ravel(), plant.CalcAccelerations(context), 1e-12)


def test_the_pose_of_a_frame_may_carry_derivatives():
    """Tree (c) 31: by the place of a joint's frame, through poses, the mass matrix and forward dynamics."""

    def build():
        plant = MultibodyPlant(0.0)
        mount = plant.AddFrame(FixedOffsetFrame("mount", plant.world_frame(), RigidTransform([0.1, 0.2, 0.3])))
        inertia = SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3).Shift([-0.3, 0.1, 0.2])
        upper, lower = plant.AddRigidBody("upper", inertia), plant.AddRigidBody("lower", inertia)
        knee = plant.AddFrame(FixedOffsetFrame("knee", upper.body_frame(), RigidTransform([0.5, 0.0, 0.1])))
        plant.AddJoint(RevoluteJoint("hip", mount, upper.body_frame(), [0.0, 1.0, 0.0]))
        plant.AddJoint(RevoluteJoint("knee", knee, lower.body_frame(), [1.0, 1.0, 0.0]))
        plant.Finalize()
        return plant

    plant = build()
    dual = plant.ToAutoDiffXd()
    q, v, start = [0.4, -0.7], [1.1, 0.6], np.array([0.5, 0.0, 0.1])

    def at(p, x):
        context = p.CreateDefaultContext()
        p.SetPositionsAndVelocities(context, [*q, *v])
        p.GetFrameByName("knee").SetPoseInParentFrame(context, RigidTransform(x))
        lower = p.GetBodyByName("lower")
        parts = (
            p.CalcMassMatrix(context).ravel(),
            p.CalcForwardDynamics(context),
            lower.EvalPoseInWorld(context).translation(),
            lower.EvalSpatialVelocityInWorld(context).get_coeffs(),
        )
        return np.concatenate(parts)

    expected = differences(lambda x: at(plant, x), start)
    result = at(dual, InitializeAutoDiff(start).ravel())
    assert_close(ExtractGradient(result), expected, 1e-8)
    assert_close(ExtractValue(result).ravel(), at(plant, start), 1e-13)


@pytest.mark.parametrize("number", [1.0 + 1e-20j, AutoDiffXd(1.0, [1.0])], ids=["complex", "dual"])
def test_a_plant_of_floats_refuses_other_numbers_by_name_and_keeps_what_it_has(plant, context, number):
    """Complex numbers would lose their imaginary parts with no more than a warning."""
    body, joint, actuator, spring, bushing = parameters_of(plant)
    context = context.Clone()
    nq, nv, world = plant.num_positions(), plant.num_velocities(), plant.world_frame()
    q, v, point = np.full(nq, number), np.full(nv, number), np.full(3, number)
    frame, kV = bodies_of(plant)[-1].body_frame(), JacobianWrtVariable.kV
    forces = MultibodyForces(plant)
    before = plant.GetPositionsAndVelocities(context), plant.CalcAccelerations(context)
    calls = {
        "q": lambda: plant.SetPositions(context, q),
        "v": lambda: plant.SetVelocities(context, v),
        r"\[q; v\]": lambda: plant.SetPositionsAndVelocities(context, np.concatenate([q, v])),
        "joint '.*'": lambda: joint.SetPositions(context, q[: joint.num_positions()]),
        "joint '.*': damping": lambda: joint.SetDampingVector(context, v[: joint.num_velocities()]),
        "q(?=:)": lambda: plant.SetDefaultPositions(q),
        "known_vdot": lambda: plant.CalcInverseDynamics(context, v, forces),
        "known_vdot(?=:)": lambda: plant.CalcSpatialAccelerationsFromVdot(context, v),
        "v(?=:)": lambda: plant.MapVelocityToQDot(context, v),
        "qdot": lambda: plant.MapQDotToVelocity(context, q),
        "p_BQi": lambda: plant.CalcPointsPositions(context, frame, point, world),
        "p_BoBi_B": lambda: plant.CalcJacobianTranslationalVelocity(context, kV, frame, point, world, world),
        "p_BoBp_B": lambda: plant.CalcBiasSpatialAcceleration(context, kV, frame, point, world, world),
        "p_WoP_W": lambda: plant.CalcSpatialMomentumInWorldAboutPoint(context, point),
        "input 'applied_generalized_force'": lambda: plant.get_applied_generalized_force_input_port().FixValue(
            context, v
        ),
        "body '.*': its mass": lambda: body.SetMass(context, number),
        "actuator '.*': gear ratio": lambda: actuator.SetGearRatio(context, number),
        "actuator '.*': rotor inertia": lambda: actuator.SetRotorInertia(context, number),
        "spring of joint '.*': its stiffness": lambda: spring.SetStiffness(context, number),
        "bushing .*: force_stiffness_constants": lambda: bushing.SetForceStiffnessConstants(context, point),
        "joint '.*': joint_tau": lambda: spring.joint().AddInOneForce(context, 0, number, forces),
        "body '.*': F_Bo_W": lambda: body.AddInForceInWorld(context, SpatialForce(np.full(6, number)), forces),
    }
    for name, call in calls.items():
        with pytest.raises(TypeError, match=f"^{name}: .* do not fit into a plant of float"):
            call()
    np.testing.assert_array_equal(plant.GetPositionsAndVelocities(context), before[0])
    np.testing.assert_array_equal(plant.CalcAccelerations(context), before[1])


# AutoDiffXd


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x * y + x / y - 2.0 / y + (3.0 - x) * 2.0 - y / 4.0,
        lambda x, y: x**3 + x**y + 2.0**x + x**-0.5 + (-x) + (+y),
        lambda x, y: np.sin(x) * np.cos(y) + np.tan(x) + np.exp(y) * np.log(x) + np.sqrt(y),
        lambda x, y: np.arcsin(x / 3.0) + np.arccos(y / 3.0) + np.arctan(x) + np.tanh(x) + np.sinh(x) * np.cosh(y),
    ],
)
def test_dual_numbers_differentiate_as_complex_steps(function):
    x, y = InitializeAutoDiff([0.7, 1.9]).ravel()
    result = function(*np.array([[x], [y]], dtype=object))[0]
    steps = [function(np.array([0.7 + a]), np.array([1.9 + b]))[0].imag for a, b in ((1e-30j, 0.0), (0.0, 1e-30j))]
    np.testing.assert_allclose(result.derivatives(), np.array(steps) / 1e-30, rtol=1e-14)
    assert result.value() == pytest.approx(function(np.array([0.7]), np.array([1.9]))[0], rel=1e-15)


def test_dual_numbers_know_quadrants_orders_and_sizes():
    y, x = InitializeAutoDiff([1.0, -2.0]).ravel()
    angle = y.arctan2(x)
    assert angle.value() == np.arctan2(1.0, -2.0)
    np.testing.assert_allclose(angle.derivatives(), [-2.0 / 5.0, -1.0 / 5.0], rtol=1e-15)
    assert x < y and x <= y and y > x and y >= 1.0 and x != y and y == 1.0 and abs(x) == 2.0
    assert AutoDiffXd(1.0, 3, 2).derivatives().tolist() == [0.0, 0.0, 1.0]
    with pytest.raises(RuntimeError, match="do not mix"):
        AutoDiffXd(1.0, [1.0]) + AutoDiffXd(1.0, [1.0, 0.0])
    with pytest.raises(RuntimeError, match="variable 3 among 3"):
        AutoDiffXd(1.0, 3, 3)
    with pytest.raises(TypeError):
        float(x)


def test_arrays_of_dual_numbers_are_made_and_taken_apart_by_columns():
    matrix = np.arange(6.0).reshape(2, 3)
    dual = InitializeAutoDiff(matrix, num_derivatives=8, deriv_num_start=1)
    np.testing.assert_array_equal(ExtractValue(dual), matrix)
    np.testing.assert_array_equal(ExtractGradient(dual), np.eye(6, 8, 1))
    assert ExtractGradient(np.array([1.0, 2.0]), 3).shape == (2, 3)
    with pytest.raises(RuntimeError, match="more than 5"):
        InitializeAutoDiff(matrix, num_derivatives=5)
    with pytest.raises(RuntimeError, match="different sizes"):
        ExtractGradient(dual, 3)


# command line


def test_derivatives_on_the_command_line_are_those_of_the_library():
    path, state = SAMPLES / "double_pendulum.urdf", ("--q", "0.3 -0.7", "--v", "1.5 0.4")
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, [0.3, -0.7, 1.5, 0.4])
    for command, calculation, key, inputs in (
        ("inverse-dynamics", "inverse_dynamics", "tau", {"vdot": np.array([1.0, 2.0])}),
        ("forward-dynamics", "forward_dynamics", "vdot", {"tau": np.array([1.0, 2.0])}),
        ("mass-matrix", "mass_matrix", "M", {}),
        ("bias", "bias", "Cv", {}),
        ("gravity", "gravity", "tau_g", {}),
    ):
        options = [word for name in inputs for word in (f"--{name}", "1 2")]
        answer = succeed(command, path, *state, *options, "--derivatives", "--json").json()
        for name, value in plant.CalcDerivatives(context, calculation, **inputs).items():
            np.testing.assert_allclose(answer[f"d{key}_d{name}"], value, rtol=1e-12, atol=1e-14)
        text = succeed(command, path, *state, *options, "--derivatives").out
        assert f"d{key}_d" in text and f"d{key}_d" not in succeed(command, path, *state, *options).out
    assert cli("mass-matrix", path, "--inverse", "--derivatives").code == 2


def test_rows_of_a_batch_carry_derivatives(tmp_path):
    path = SAMPLES / "double_pendulum.urdf"
    one = succeed("bias", path, "--q", "0.3 -0.7", "--v", "1.5 0.4", "--derivatives", "--json").json()
    states = '{"q": [0.3, -0.7], "v": [1.5, 0.4]}\n'
    rows = succeed("bias", path, "--states", "-", "--states-format", "jsonl", "--derivatives", stdin=states)
    row = rows.json()
    np.testing.assert_allclose(row["dCv_dq"], one["dCv_dq"], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("options", [(), ("--no-gravity",)], ids=["closed form", "complex steps"])
def test_derivatives_of_inverse_dynamics_at_many_states_are_those_of_each(options):
    assert_rows_are_those_of_each("inverse-dynamics", "vdot", ("dtau_dq", "dtau_dv", "dtau_dvdot"), *options)


@pytest.mark.parametrize("options", [(), ("--force-on", "trunk=0,0,0,1,2,3")], ids=["closed form", "complex steps"])
def test_derivatives_of_forward_dynamics_at_many_states_are_those_of_each(options):
    assert_rows_are_those_of_each("forward-dynamics", "tau", ("dvdot_dq", "dvdot_dv", "dvdot_dtau"), *options)


def assert_rows_are_those_of_each(command, given, keys, *options):
    """Of a floating robot, whose positions are more than its velocities."""
    path, rng = SAMPLES / "quadruped.urdf", np.random.default_rng(5)
    states = []
    for _ in range(3):
        q, (v, x) = rng.normal(size=19), rng.normal(size=(2, 18))
        q[:4] /= np.linalg.norm(q[:4])
        states.append({"q": q.tolist(), "v": v.tolist(), given: x.tolist()})
    rows = succeed(
        *(command, path, "--states", "-", "--states-format", "jsonl", "--derivatives", *options),
        stdin="".join(json.dumps(state) + "\n" for state in states),
    ).out.splitlines()
    assert len(rows) == 3
    for state, row in zip(states, map(json.loads, rows), strict=True):
        texts = [part for key, value in state.items() for part in (f"--{key}", " ".join(map(repr, value)))]
        one = succeed(command, path, *texts, "--derivatives", "--json", *options).json()
        for key in keys:
            value, expected = np.array(row[key]), np.array(one[key])
            assert value.shape == (18, 19 if key.endswith("dq") else 18)
            np.testing.assert_allclose(value, expected, rtol=0.0, atol=1e-11 * abs(expected).max())


# Pinocchio


def undamped(path):
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    for joint in joints_of(plant):
        joint.set_default_damping_vector(np.zeros(joint.num_velocities()))
    plant.Finalize()
    return plant


def symmetric(upper):
    """A symmetric matrix of which Pinocchio fills the upper triangle."""
    return np.triu(upper) + np.triu(upper, 1).T


@pytest.mark.peers("pinocchio")
def test_derivatives_of_an_arm_are_those_of_pinocchio():
    import pinocchio as pin

    path = SAMPLES / "arm7.urdf"
    plant, model = undamped(path), pin.buildModelFromUrdf(str(path))
    for index in plant.GetJointActuatorIndices():  # rotors are no part of its URDF
        actuator = plant.get_joint_actuator(index)
        model.armature[actuator.joint().velocity_start()] = actuator.default_reflected_inertia()
    data = model.createData()
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, model.nv))
    names = [n.removesuffix("_q") for n in plant.GetPositionNames(add_model_instance_prefix=False)]
    assert names == list(model.names)[1:]
    context = plant.CreateDefaultContext()
    plant.SetPositionsAndVelocities(context, np.concatenate([q, v]))
    D = plant.CalcDerivatives(context, "inverse_dynamics", vdot=a)
    by_q, by_v, M = pin.computeRNEADerivatives(model, data, q, v, a)
    for value, expected in zip(D.values(), (by_q, by_v, symmetric(M)), strict=True):
        assert_close(value, expected, 1e-9)
    F = plant.CalcDerivatives(context, "forward_dynamics", ("q", "v", "tau"), tau=a)
    pin.computeABADerivatives(model, data, q, v, a)
    for value, expected in zip(F.values(), (data.ddq_dq, data.ddq_dv, symmetric(data.Minv)), strict=True):
        assert_close(value, expected, 1e-9)


@pytest.mark.peers("pinocchio")
def test_derivatives_of_a_floating_robot_are_those_of_pinocchio():
    """Its base moves by velocities in its own axes, linear first: v = T(q) v_P with T = [0 R; R 0]."""
    import pinocchio as pin

    path = SAMPLES / "quadruped.urdf"
    plant, model = undamped(path), pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = model.createData()
    rng = np.random.default_rng(4)
    wxyz = rng.normal(size=4)
    wxyz /= np.linalg.norm(wxyz)
    p, angles, v_P, a_P = rng.normal(size=3), rng.normal(size=model.nv - 6), *rng.normal(size=(2, model.nv))
    names = [n.removesuffix("_q") for n in plant.GetPositionNames(add_model_instance_prefix=False)[7:]]
    order = [names.index(n) for n in list(model.names)[2:]]  # Pinocchio's place -> ours
    S = np.zeros((len(names), len(names)))
    S[order, range(len(names))] = 1.0
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, np.concatenate([wxyz, p, S @ angles]))
    base = plant.get_body(plant.GetFloatingBaseBodies().pop())

    def turning(c):
        R = plant.CalcRelativeTransform(c, plant.world_frame(), base.body_frame()).rotation().matrix()
        T = np.zeros((model.nv, model.nv), R.dtype)
        T[:3, 3:6], T[3:6, :3], T[6:, 6:] = R, R, S
        return T

    def tau_P(c):
        T = turning(c)
        a = a_P.copy()
        a[:3] += np.cross(v_P[3:6], v_P[:3])  # the rate of R v_P in the axes of the base
        plant.SetVelocities(c, T @ v_P)
        return T.T @ plant.CalcRequiredForces(c, T @ a)

    q_P = np.concatenate([p, wxyz[1:], wxyz[:1], angles])
    assert_close(tau_P(context), pin.rnea(model, data, q_P, v_P, a_P), 1e-11)
    by_tangent = plant.CalcDerivatives(context, tau_P, "tangent")["tangent"]
    expected = [X.copy() for X in pin.computeRNEADerivatives(model, data, q_P, v_P, a_P)]
    assert_close(by_tangent @ turning(context), expected[0], 1e-9)
    # the closed form, whose base has other velocities: tau_P = T^T tau(q, T v_P, T a + T_dot v_P)
    T = turning(context)
    linear_and_turning = np.zeros((model.nv, model.nv))
    linear_and_turning[:3, :3], linear_and_turning[:3, 3:6] = pin.skew(v_P[3:6]), -pin.skew(v_P[:3])
    v, vdot = T @ v_P, T @ (a_P + np.concatenate([np.cross(v_P[3:6], v_P[:3]), np.zeros(model.nv - 3)]))
    _, by_v, M = StateFunctions(plant).inverse_dynamics_derivatives(plant.GetPositions(context), v, vdot)
    assert_close(T.T @ M @ T, symmetric(expected[2]), 1e-9)
    assert_close(T.T @ (by_v @ T + M @ T @ linear_and_turning), expected[1], 1e-9)
