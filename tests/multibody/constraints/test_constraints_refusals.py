"""What is not finite is named by every function of mbcli.multibody.constraints; violated constraints are reported."""

import inspect
import json

import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.multibody import constraints
from mbcli.multibody.assembly.closed_chains import ClosedChains
from mbcli.multibody.constraints import Constraint, ConstraintSet
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

ARM, CHAINS = SAMPLES / "arm7.urdf", SAMPLES / "closed_chains"
LEG, FOUR_BAR = CHAINS / "closed_leg.xml", CHAINS / "four_bar.urdf"
STATE_ARGUMENTS = ("Q", "QInit", "QDot", "QDotMinus", "QDotInit", "Tau", "QDDotDesired", "QDDotControls")
MATRIX_ARGUMENTS = ("H", "G", "c", "gamma")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def bound():
    """An arm whose hand touches two planes, with its set bound and an actuation map."""
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(ARM))
    with pytest.warns(UserWarning, match="does not enforce"):
        plant.Finalize()
    CS = ConstraintSet()
    CS.AddContactConstraint("hand", [0, 0, 0], [0, 0, 1], "a")
    CS.AddContactConstraint("hand", [0.1, 0, 0.1], [1, 0, 0], "b")
    CS.Bind(plant)
    CS.SetActuationMap(plant, np.arange(7) < 5)
    return plant, CS


def arguments(plant, CS):
    """A finite value for each argument of the functions of the package."""
    values = {"model": plant, "CS": CS, "weights": np.ones(7)}
    values |= {name: np.full(7, 0.3) for name in STATE_ARGUMENTS}
    rng = np.random.default_rng(2)
    return values | {"H": np.eye(7), "G": rng.normal(size=(2, 7)), "c": np.ones(7), "gamma": np.ones(2)}


FUNCTIONS = [name for name in constraints.__all__ if inspect.isfunction(getattr(constraints, name))]
CASES = [
    (name, parameter)
    for name in FUNCTIONS
    for parameter in inspect.signature(getattr(constraints, name)).parameters
    if parameter in (*STATE_ARGUMENTS, *MATRIX_ARGUMENTS)
]


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("name, parameter", CASES)
def test_an_argument_that_is_not_finite_is_named(name, parameter, wrong, capfd):
    plant, CS = bound()
    function, values = getattr(constraints, name), arguments(plant, CS)
    if name.endswith("OfStates"):
        values |= {key: values[key][None] for key in STATE_ARGUMENTS}
    given = {key: values[key] for key in inspect.signature(function).parameters if key in values}
    function(**given)
    bad = np.array(given[parameter])
    bad.flat[3 % bad.size] = wrong
    state = parameter.removesuffix("Init").removesuffix("Minus")
    with pytest.raises(ValueError, match=f"^{state} must be finite, ") as caught:
        function(**given | {parameter: bad})
    if parameter in STATE_ARGUMENTS:
        names = plant.GetPositionNames() if parameter in ("Q", "QInit") else plant.GetVelocityNames()
        assert f"'{names[3]}' is {wrong}" in str(caught.value)
    assert capfd.readouterr().err == ""  # LAPACK prints where it meets them


def test_every_function_is_tried():
    assert {name for name, _ in CASES} == set(FUNCTIONS) and len(CASES) > 30


def test_views_and_forces_of_a_set_name_it_too():
    plant, CS = bound()
    q = np.full(7, 0.3)
    constraints.ForwardDynamicsConstraintsDirect(plant, q, q, q, CS)
    bad = np.where(np.arange(7) == 2, np.nan, q)
    for call in (
        lambda: CS.calcPositionError(0, plant, bad),
        lambda: CS.calcVelocityError(0, plant, bad, q),
        lambda: CS.calcForces(0, plant, bad, q),
        lambda: CS.calcForces(0, plant, q, bad),
    ):
        with pytest.raises(ValueError, match=r"^Q(Dot)? must be finite, 'arm7_joint_3_\w' is nan"):
            call()
    CS.v_plus = np.array([np.nan, 0.0])
    with pytest.raises(ValueError, match="v_plus must be finite"):
        constraints.ComputeConstraintImpulsesDirect(plant, q, q, CS)


def test_a_custom_constraint_that_gives_nan_is_named():
    class Wrong(Constraint):
        def __init__(self):
            super().__init__(1, "wrong")

        def jacobian(self, model, time, Q, QDot):
            return np.full((1, 7), np.nan)

        def position_error(self, model, time, Q):
            return np.zeros(1)

    plant, _ = bound()
    CS = ConstraintSet()
    CS.AddCustomConstraint(Wrong())
    CS.Bind(plant)
    with pytest.raises(
        ValueError, match=r"jacobian\(\) of custom constraint 'wrong' gives numbers that are not finite"
    ):
        constraints.CalcConstraintsJacobian(plant, np.zeros(7), CS)


# ------------------------------------------------------------------------- constrained-dynamics at any state


def test_a_state_that_violates_its_constraints_is_reported():
    result = succeed("constrained-dynamics", FOUR_BAR, "--at", "left=0.3", "--v", "1,0,0", "--json")
    document = result.json()
    assert document["position_error"] > 1e-3 and document["velocity_error"] > 1e-3
    errors = f"position error {document['position_error']:.3g}, velocity error {document['velocity_error']:.3g}"
    assert f"warning: the state violates its constraints: {errors}; `mbcli assemble`" in result.err
    plant = MultibodyPlant(0.001)
    Parser(plant).AddModels(str(FOUR_BAR))
    plant.Finalize()
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, document["q"])
    chains = ClosedChains(context)
    assert document["position_error"] == np.linalg.norm(chains.position_errors(context.state.q)[0])
    expected = np.linalg.norm(chains.velocity_errors(context.state.q, np.array(document["v"]))[0])
    assert document["velocity_error"] == pytest.approx(expected, rel=1e-12)


def test_an_assembled_state_is_not(tmp_path):
    state = tmp_path / "state.json"
    state.write_text(succeed("assemble", FOUR_BAR, "--at", "left=0.3", "--v", "1,0,0", "--json").out)
    for command in (("constrained-dynamics",), ("inverse-dynamics", "--exact", "--actuated", "left")):
        result = succeed(*command, FOUR_BAR, "--state", state, "--json")
        assert "violates" not in result.err
        assert result.json()["position_error"] < 1e-10 and result.json()["velocity_error"] < 1e-10


def test_a_batch_has_the_errors_of_each_row_and_one_warning():
    result = succeed(
        "constrained-dynamics", FOUR_BAR, "--states", "-", "--fill", "default", stdin="left\n0\n0.1\n0.2\n"
    )
    errors = [json.loads(line)["position_error"] for line in result.out.splitlines()]
    assert errors[0] < errors[1] < errors[2] and result.err.count("violates its constraints") == 1


def test_advice_names_options_and_not_functions():
    exact = cli("constrained-dynamics", FOUR_BAR, "--exact", "--actuated", "left,left")
    direct = cli("constrained-dynamics", LEG, "--method", "direct")
    free = cli("inverse-dynamics", LEG, "--exact", "--actuated", "front_hip")
    for result in (exact, direct, free):
        assert "InverseDynamics" not in result.err and "LinearSolver" not in result.err
    assert direct.code == 5 and "use --method null-space or range-space" in direct.err
    assert free.code == 5 and "is not fully actuated" in free.err and "use --relaxed" in free.err
