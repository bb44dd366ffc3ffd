"""The sample models parse without findings, give their stated answers, and equal their twins in the other format."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import yaml
from repository import SAMPLES

from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.tree import BodyIndex, MultibodyForces
from mbcli.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

FILES = sorted(path.name for path in SAMPLES.glob("*.*") if path.suffix in (".urdf", ".sdf", ".xml"))
TWINS = [(a, b) for a, b in combinations(FILES, 2) if Path(a).stem == Path(b).stem]
ANSWERS = yaml.safe_load((SAMPLES / "answers.yaml").read_text())["answers"]
DEFAULT_TOLERANCE = 1e-11  # as answers.yaml says
TWIN_TOLERANCE = 1e-14  # the same numbers, but for the order in which poses are multiplied


def load(file):
    plant = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.AddModels(str(SAMPLES / file))
    plant.Finalize()
    return plant, parser


def context_of(plant, state):
    context = plant.CreateDefaultContext()
    if "q" in state:
        plant.SetPositions(context, state["q"])
    if "v" in state:
        plant.SetVelocities(context, state["v"])
    if "u" in state:
        plant.get_actuation_input_port().FixValue(context, state["u"])
    return context


# ------------------------------------------------------------------------------------------- quantities


def joint_coordinates(plant, context, answer):
    joints = [plant.get_joint(i) for i in plant.GetJointIndices()]
    return {joint.name(): [joint.num_positions(), joint.num_velocities()] for joint in joints}


def tau(plant, context, answer):
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)  # joint damping among them
    return plant.CalcInverseDynamics(context, answer["state"]["vdot"], forces)


def vdot(plant, context, answer):
    return plant.EvalTimeDerivatives(context).CopyToVector()[plant.num_positions() :]


def state_after(plant, context, answer):
    simulator = Simulator(plant, context)
    ApplySimulatorConfig(SimulatorConfig(accuracy=1e-9), simulator)
    simulator.AdvanceTo(answer["duration"])
    return plant.GetPositionsAndVelocities(context)


QUANTITIES = {
    "nq": lambda plant, context, answer: plant.num_positions(),
    "nv": lambda plant, context, answer: plant.num_velocities(),
    "nu": lambda plant, context, answer: plant.num_actuators(),
    "total_mass": lambda plant, context, answer: plant.CalcTotalMass(context),
    "position_names": lambda plant, context, answer: plant.GetPositionNames(),
    "velocity_names": lambda plant, context, answer: plant.GetVelocityNames(),
    "joint_coordinates": joint_coordinates,
    "M": lambda plant, context, answer: plant.CalcMassMatrix(context),
    "trace_M": lambda plant, context, answer: np.trace(plant.CalcMassMatrix(context)),
    "Cv": lambda plant, context, answer: plant.CalcBiasTerm(context),
    "tau_g": lambda plant, context, answer: plant.CalcGravityGeneralizedForces(context),
    "tau": tau,
    "vdot": vdot,
    "kinetic": lambda plant, context, answer: plant.CalcKineticEnergy(context),
    "potential": lambda plant, context, answer: plant.CalcPotentialEnergy(context),
    "p_W": lambda plant, context, answer: plant.GetFrameByName(answer["frame"]).CalcPoseInWorld(context).translation(),
    "p_WCom": lambda plant, context, answer: plant.CalcCenterOfMassPositionInWorld(context),
    "state_after": state_after,
}


def answers():
    counts = {}
    for answer in ANSWERS:
        for file in answer["files"]:
            label = f"{file} {answer['quantity']}"
            counts[label] = counts.get(label, 0) + 1
            yield pytest.param(file, answer, id=f"{label} {counts[label]}")


@pytest.mark.parametrize(("file", "answer"), list(answers()))
def test_answer(file, answer):
    plant, _ = load(file)
    context = context_of(plant, answer.get("state", {}))
    found, expected = QUANTITIES[answer["quantity"]](plant, context, answer), answer["value"]
    if isinstance(expected, (str, dict)) or (isinstance(expected, list) and isinstance(expected[0], str)):
        assert found == expected
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    bound = float(answer.get("tolerance", DEFAULT_TOLERANCE)) * max(1.0, np.abs(expected).max())
    assert np.abs(found - expected).max() <= bound


def test_every_sample_model_has_answers():
    assert {file for answer in ANSWERS for file in answer["files"]} == set(FILES)


# ------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("file", FILES)
def test_parses_without_findings(file):
    _, parser = load(file)
    assert parser.diagnostics.findings == []


@pytest.mark.parametrize("twins", TWINS, ids=" ".join)
def test_twins_give_the_same_plant(twins):
    (a, _), (b, _) = map(load, twins)
    for ask in ("GetPositionNames", "GetVelocityNames", "GetActuatorNames", "num_bodies", "num_joints"):
        assert getattr(a, ask)() == getattr(b, ask)(), ask
    mjcf = any(file.endswith(".xml") for file in twins)  # which has no limits of velocity and acceleration
    for limits in ("Position", "Effort", *([] if mjcf else ["Velocity", "Acceleration"])):
        for end in ("Lower", "Upper"):
            ask = f"Get{limits}{end}Limits"
            np.testing.assert_array_equal(getattr(a, ask)(), getattr(b, ask)())
    for n in range(a.num_bodies()):
        mine, other = a.get_body(BodyIndex(n)), b.get_body(BodyIndex(n))
        assert mine.name() == other.name()
        np.testing.assert_allclose(
            mine.default_spatial_inertia().CopyToFullMatrix6(),
            other.default_spatial_inertia().CopyToFullMatrix6(),
            rtol=0.0,
            atol=TWIN_TOLERANCE,
        )


@pytest.mark.parametrize("twins", TWINS, ids=" ".join)
def test_twins_move_alike(twins):
    rng = np.random.default_rng(8)
    (a, _), (b, _) = map(load, twins)
    for _ in range(10):
        state = {
            "q": rng.normal(size=a.num_positions()),
            "v": rng.normal(size=a.num_velocities()),
            "u": rng.normal(size=a.num_actuators()),
        }
        ours, theirs = context_of(a, state), context_of(b, state)
        np.testing.assert_allclose(vdot(a, ours, {}), vdot(b, theirs, {}), rtol=1e-12)
        np.testing.assert_allclose(a.CalcPotentialEnergy(ours), b.CalcPotentialEnergy(theirs), rtol=1e-12)
        for n in range(a.num_bodies()):
            X, Y = (p.get_body(BodyIndex(n)).EvalPoseInWorld(c) for p, c in ((a, ours), (b, theirs)))
            np.testing.assert_allclose(X.GetAsMatrix4(), Y.GetAsMatrix4(), rtol=0.0, atol=1e-13)
