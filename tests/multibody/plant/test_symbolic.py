"""Closed forms of small models against numbers and textbooks."""

import sys
import warnings

import numpy as np
import pytest
from command_line import cli, succeed
from random_trees import ALL, bodies_of, random_context, random_plant
from repository import SAMPLES

from mbcli.errors import ModelError
from mbcli.math import RigidTransform
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant, MultibodyPlant_
from mbcli.multibody.tree import (
    FixedOffsetFrame,
    JacobianWrtVariable,
    PdControllerGains,
    RevoluteJoint,
    SpatialInertia,
    UnitInertia,
)

sympy = pytest.importorskip("sympy")
from mbcli.multibody.plant.symbolic import SymbolicModel  # noqa: E402
from mbcli.symbolic import Expression, Variable  # noqa: E402


def sample(name):
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(SAMPLES / name))
    plant.Finalize()
    return plant


def numbers(formula, model, q, v):
    """The value of a matrix of expressions, or of one, as an array."""
    return np.array(sympy.lambdify([*model.q, *model.v], formula, cse=True)(*q, *v), dtype=float)


def formulas_and_functions(plant, model, frame):
    """Pairs of a formula and of the function of a context that gives its value."""
    world = plant.world_frame()
    return (
        (model.mass_matrix(), plant.CalcMassMatrix),
        (model.bias(), lambda c: plant.CalcBiasTerm(c)[:, None]),
        (model.gravity(), lambda c: plant.CalcGravityGeneralizedForces(c)[:, None]),
        (model.pose(frame.name()), lambda c: plant.CalcRelativeTransform(c, world, frame).GetAsMatrix4()),
        (model.velocity(frame.name()), lambda c: frame.CalcSpatialVelocityInWorld(c).get_coeffs()[:, None]),
        (model.kinetic_energy(), plant.CalcKineticEnergy),
        (model.potential_energy(), plant.CalcPotentialEnergy),
    )


def assert_formulas(plant, model, frame, seeds):
    pairs = formulas_and_functions(plant, model, frame)
    for seed in seeds:
        context = random_context(plant, np.random.default_rng(seed))
        q, v = plant.GetPositions(context), plant.GetVelocities(context)
        for formula, function in pairs:
            np.testing.assert_allclose(numbers(formula, model, q, v), function(context), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize(("name", "exact"), [("double_pendulum.urdf", False), ("cart_pole.sdf", True)])
def test_formulas_of_sample_models_have_the_values_of_numbers(name, exact):
    plant = sample(name)
    model = SymbolicModel(plant, exact=exact)
    assert_formulas(plant, model, bodies_of(plant)[-1].body_frame(), range(3))
    if exact:
        assert not any(x.has(sympy.Float) for x in model.mass_matrix())


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in ("weld", "curvilinear")])
def test_every_joint_type_has_a_symbolic_form(kind):
    """Turned and shifted frames, either direction, springs, weight and no simplification."""
    plant = random_plant(5, [kind], num_bodies=1, damped=False)
    model = SymbolicModel(plant, simplify=False)
    assert_formulas(plant, model, bodies_of(plant)[-1].body_frame(), [1])


def test_a_curvilinear_joint_has_none():
    plant = random_plant(5, ["curvilinear"], num_bodies=1)
    with pytest.raises(NotImplementedError, match="curvilinear joints have no symbolic form"):
        SymbolicModel(plant).mass_matrix()


def test_the_double_pendulum_has_the_formulas_of_textbooks():
    """Two point masses m1, m2 at distances L1, L2 below their joints, angles relative; masses are symbols."""
    m1, m2, L2 = (sympy.Symbol(n, positive=True) for n in ("m1", "m2", "L2"))
    L1, g = sympy.Rational(3, 2), sympy.Rational(981, 100)
    plant = MultibodyPlant_["Expression"](0.0)
    upper, lower = plant.AddRigidBody("upper"), plant.AddRigidBody("lower")
    end = plant.AddFrame(FixedOffsetFrame("end", upper, RigidTransform([0.0, 0.0, -1.5])))
    plant.AddJoint(RevoluteJoint("a", plant.world_frame(), upper.body_frame(), [0.0, 1.0, 0.0]))
    plant.AddJoint(RevoluteJoint("b", end, lower.body_frame(), [0.0, 1.0, 0.0]))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    for body, m, L in ((upper, m1, L1), (lower, m2, L2)):
        G = UnitInertia(L**2, L**2, 0)
        point_mass = SpatialInertia(m, np.array([0, 0, -L], dtype=object), G, skip_validity_check=True)
        body.SetSpatialInertiaInBodyFrame(context, point_mass)
    model = SymbolicModel(plant, context, exact=True)
    (q1, q2), (w1, w2) = model.q, model.v
    assert [str(x) for x in (*model.q, *model.v)] == ["a_q", "b_q", "a_w", "b_w"]
    c2, s2 = sympy.cos(q2), sympy.sin(q2)
    M12 = m2 * (L2**2 + L1 * L2 * c2)
    M = sympy.Matrix([[(m1 + m2) * L1**2 + m2 * (L2**2 + 2 * L1 * L2 * c2), M12], [M12, m2 * L2**2]])
    h = m2 * L1 * L2 * s2
    Cv = sympy.Matrix([-h * (2 * w1 * w2 + w2**2), h * w1**2])
    lower_weight = -m2 * g * L2 * sympy.sin(q1 + q2)
    tau_g = sympy.Matrix([-(m1 + m2) * g * L1 * sympy.sin(q1) + lower_weight, lower_weight])
    for formula, textbook in ((model.mass_matrix(), M), (model.bias(), Cv), (model.gravity(), tau_g)):
        assert (formula - textbook).applyfunc(sympy.simplify) == sympy.zeros(*textbook.shape)


def test_the_cart_pole_reads_like_a_textbook():
    model = SymbolicModel(sample("cart_pole.sdf"))
    M = model.mass_matrix()
    angle = model.q[1]
    assert not M[0, 0].free_symbols and not M[1, 1].free_symbols
    assert M[0, 1].atoms(sympy.cos, sympy.sin) == {sympy.cos(angle)}
    assert model.gravity()[0] == 0 and model.bias()[1] == 0


def test_plants_of_expressions_are_reached_by_their_scalar_type():
    plant = sample("pendulum.urdf")
    symbolic = plant.ToSymbolic()
    assert type(symbolic) is MultibodyPlant_[Expression] is MultibodyPlant_["Expression"]
    context = symbolic.CreateDefaultContext()
    symbolic.SetPositions(context, [Variable("x")])
    (tau_g,) = symbolic.CalcGravityGeneralizedForces(context)
    assert tau_g.free_symbols == {Variable("x")}
    assert tau_g.has(sympy.sin(Variable("x")))


# command line


def test_the_command_prints_formulas_that_evaluate_to_the_numbers():
    path = SAMPLES / "double_pendulum.urdf"
    answer = succeed("symbolic", path, "--json").json()
    names = answer["q"] + answer["v"]
    assert names == ["shoulder_q", "elbow_q", "shoulder_w", "elbow_w"]
    at = dict(zip(names, (0.3, -0.7, 1.5, 0.4), strict=True))
    for key, command in (("M", "mass-matrix"), ("Cv", "bias"), ("tau_g", "gravity")):
        numeric = succeed(command, path, "--q", "0.3 -0.7", "--v", "1.5 0.4", "--json").json()[key]
        values = np.vectorize(lambda text: float(sympy.sympify(text).subs(at)))(answer[key])
        np.testing.assert_allclose(values, numeric, rtol=1e-12)


def test_the_command_writes_text_latex_and_poses():
    path = SAMPLES / "double_pendulum.urdf"
    assert "M[1,1] = 0.12806\n" in succeed("symbolic", path).out
    assert "M[1,1] = 6403/50000\n" in succeed("symbolic", path, "--exact").out
    latex = succeed("symbolic", path, "--quantity", "M", "--latex").out
    assert latex.startswith("M(q) = ") and r"\cos" in latex and "tau" not in latex
    pose = succeed("symbolic", path, "--frame", "lower", "--json").json()
    assert pose["X_W_lower"][3] == ["0", "0", "0", "1"]
    assert pose["X_W_lower"][0][0] == "cos(elbow_q + shoulder_q)"
    assert "M" not in pose


def test_what_the_command_cannot_do_is_said_in_one_line(tmp_path, monkeypatch):
    path = SAMPLES / "double_pendulum.urdf"
    for arguments, code, message in (
        (("--quantity", "pose"), 2, "needs --frame"),
        (("--frame", "nowhere"), 2, "there is no frame named 'nowhere'"),
        (("--format", "csv"), 2, "text, json"),
    ):
        result = cli("symbolic", path, *arguments)
        assert result.code == code and message in result.err and result.err.count("\n") == 1
    result = cli("symbolic", SAMPLES / "quadruped.urdf")
    assert result.code == 3 and "velocities" in result.err
    monkeypatch.setitem(sys.modules, "sympy", None)
    monkeypatch.delitem(sys.modules, "mbcli.symbolic")
    result = cli("symbolic", path)
    assert result.code == 4 and "pip install 'mbcli[symbolic]'" in result.err


# what one may do with expressions, and what of a plant is made of them


def test_an_expression_is_made_of_a_number():
    x = Variable("x")
    assert Expression(1.5) + 1 == 2.5
    assert Expression(2) * x == 2 * x
    assert Expression(x) is x
    assert Expression() == 0
    assert isinstance(x + 1, Expression)
    assert not isinstance(1.5, Expression)
    with pytest.raises(TypeError, match="expected a number or an expression, got str"):
        Expression("x + 1")


def test_mass_properties_have_a_mass_that_is_a_symbol():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3))
    plant.AddJoint(RevoluteJoint("joint", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0]))
    plant.AddRigidBody("weightless")
    plant.WeldFrames(body.body_frame(), plant.GetFrameByName("weightless"))
    plant.Finalize()
    symbolic = plant.ToScalarType["Expression"]()
    context, W = symbolic.CreateDefaultContext(), symbolic.world_frame()
    body, m, w = symbolic.GetBodyByName("body"), Variable("m"), Variable("w")
    com = np.array([Variable("a"), 0, 0])
    body.SetMass(context, m)
    body.SetCenterOfMassInBodyFrame(context, com)
    symbolic.SetVelocities(context, [w])
    kV = JacobianWrtVariable.kV
    assert symbolic.CalcTotalMass(context) == m
    assert simplified(symbolic.CalcCenterOfMassPositionInWorld(context) - com) == [0, 0, 0]
    velocity = symbolic.CalcCenterOfMassTranslationalVelocityInWorld(context)
    assert simplified(velocity) == [0, 0, simplified(-com[:1] * w)[0]]
    jacobian = symbolic.CalcJacobianCenterOfMassTranslationalVelocity(context, kV, W, W)
    assert simplified(jacobian[:, 0] * w - velocity) == [0, 0, 0]
    bias = symbolic.CalcBiasCenterOfMassTranslationalAcceleration(context, kV, W, W)
    assert simplified(bias) == [-com[0] * w**2, 0, 0]
    momentum = symbolic.CalcSpatialMomentumInWorldAboutPoint(context, np.zeros(3)).translational()
    assert simplified(momentum - m * velocity) == [0, 0, 0]
    inertia = symbolic.CalcSpatialInertia(context, W, [body.index()])
    assert simplified(inertia.get_com() - com) == [0, 0, 0]
    assert inertia.get_mass() == m
    acceleration = symbolic.CalcCenterOfMassTranslationalAccelerationInWorld(context)
    assert simplified(acceleration[:1] + com[:1] * w**2) == [0]
    energies = symbolic.CalcBodyEnergies(context)["DefaultModelInstance::body"]
    assert simplified([energies["kinetic"] - symbolic.CalcKineticEnergy(context)]) == [0]


def simplified(values):
    return [sympy.nsimplify(sympy.simplify(x), rational=True) for x in values]


def test_bodies_without_mass_have_no_centre_of_mass_in_a_symbolic_plant():
    plant = MultibodyPlant(0.0)
    plant.AddRigidBody("body")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("body"))
    plant.Finalize()
    symbolic = plant.ToScalarType["Expression"]()
    with pytest.raises(RuntimeError, match="no mass"):
        symbolic.CalcCenterOfMassPositionInWorld(symbolic.CreateDefaultContext())


def test_a_discrete_plant_with_controllers_is_converted():
    """The accelerations of a step are those of the plant of floats."""
    plant = MultibodyPlant(0.01)
    plant.SetUseSampledOutputPorts(False)
    body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3))
    joint = plant.AddJoint(RevoluteJoint("joint", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0]))
    plant.AddJointActuator("motor", joint).set_controller_gains(PdControllerGains(p=10.0, d=1.0))
    plant.Finalize()
    results = []
    for kind in ("float", "Expression"):
        converted = plant.ToScalarType[kind]()
        context = converted.CreateDefaultContext()
        converted.get_desired_state_input_port(1).FixValue(context, [0.1, 0.2])
        results.append(converted.get_generalized_acceleration_output_port().Eval(context).astype(float))
    assert results[0].any()
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12)


def test_limited_efforts_of_controllers_are_refused_with_symbols():
    """A limit that cannot be compared with an expression is not passed over; without controller it does not act."""
    for limit, gains, refused in ((5.0, 10.0, True), (5.0, 0.0, False), (np.inf, 10.0, False)):
        plant = MultibodyPlant(0.01)
        plant.SetUseSampledOutputPorts(False)
        body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3))
        joint = plant.AddJoint(RevoluteJoint("joint", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0]))
        motor = plant.AddJointActuator("motor", joint, limit)
        if gains:
            motor.set_controller_gains(PdControllerGains(p=gains, d=1.0))
        plant.Finalize()
        symbolic = plant.ToSymbolic()
        context = symbolic.CreateDefaultContext()
        if gains:
            symbolic.get_desired_state_input_port(1).FixValue(context, [9.0, 0.0])
        for port in (symbolic.get_net_actuation_output_port(), symbolic.get_generalized_acceleration_output_port()):
            if refused:
                with pytest.raises(ModelError, match="actuator 'motor': a PD controller with a finite effort limit"):
                    port.Eval(context)
            else:
                port.Eval(context)


def test_limits_of_joints_are_refused_in_steps_with_symbols():
    """They are no limits of the accelerations at an instant, which a continuous plant gives."""
    for time_step, limits, refused in ((0.01, 1.0, True), (0.01, np.inf, False), (0.0, 1.0, False)):
        plant = MultibodyPlant(time_step)
        plant.SetUseSampledOutputPorts(False)
        body = plant.AddRigidBody("body", SpatialInertia.SolidBoxWithMass(2.0, 0.1, 0.2, 0.3))
        joint = RevoluteJoint("joint", plant.world_frame(), body.body_frame(), [0.0, 1.0, 0.0], -limits, limits)
        plant.AddJoint(joint)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # continuous plants say that limits do not act
            plant.Finalize()
        symbolic = plant.ToSymbolic()
        context = symbolic.CreateDefaultContext()
        port = symbolic.get_generalized_acceleration_output_port()
        if refused:
            with pytest.raises(ModelError, match="joint 'joint': its limits cannot act in a step on numbers of type"):
                port.Eval(context)
        else:
            port.Eval(context)
