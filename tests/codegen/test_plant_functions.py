"""Functions made for a plant: regressors, steps, motion under constraints and sensors, as code in Python."""

import json
from dataclasses import replace

import numpy as np
import pytest
from command_line import cli
from repository import SAMPLES

from mbcli.codegen import Settings, generate
from mbcli.codegen.generation import expected_operations
from mbcli.codegen.plant_functions import PLANT_FUNCTIONS
from mbcli.models.loading import load_model
from mbcli.models.states import set_random_state
from mbcli.multibody.core.dynamics import accelerations
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant
from mbcli.multibody.sensing.evaluation import sensor_values
from mbcli.multibody.tree import PdControllerGains, RevoluteSpring
from mbcli.systems.analysis import Simulator
from mbcli.tracing import record_function

CONSTRAINED = "constrained_dynamics"
ARM = SAMPLES / "double_pendulum.urdf"
SENSED = """<mujoco><option timestep="0.002"/><worldbody><body name="a" pos="0 0 1">
<joint name="j1" type="hinge" axis="0 1 0" damping="0.3"/>
<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03"/><site name="s" pos="0.1 0 -.3" euler="0 30 10"/>
<body name="b" pos="0 0 -.4"><joint name="j2" type="hinge" axis="1 0 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/><site name="t" pos="0 0.02 -.1"/></body></body></worldbody>
<sensor><gyro name="g" site="s"/><accelerometer name="acc" site="t"/><velocimeter name="ve" site="t"/>
<jointpos name="p1" joint="j1"/><jointvel name="v1" joint="j1"/><force name="f" site="t"/><torque name="to" site="t"/>
<framepos name="fp" objtype="site" objname="t"/><subtreecom name="sc" body="a"/><subtreeangmom name="sa" body="a"/>
%s</sensor></mujoco>"""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def code_of(plant, functions, folder, **settings):
    """The functions of a module that was proved, and its table."""
    context = plant.CreateDefaultContext()
    generate(context, functions, str(folder), Settings(target="python", states=5, **settings))
    names = {}
    exec((folder / "model.py").read_text(), names)
    table = json.loads((folder / "model.json").read_text())
    return names, {each["name"]: each for each in table["functions"]}


def test_the_regressor_times_its_parameters_is_inverse_dynamics(tmp_path):
    plant = load_model(SAMPLES / "quadruped.urdf", dt=0.0).plant
    code, table = code_of(plant, ["regressor", "bias", "gravity", "mass_matrix"], tmp_path)
    random = np.random.default_rng(0)
    scratch = plant.CreateDefaultContext()
    set_random_state(plant, scratch, random)
    q, (v, vdot) = scratch.state.q, random.normal(size=(2, plant.num_velocities()))
    parameters = table["regressor"]["parameters"]
    assert parameters[0]["name"] == "trunk.m" and parameters[3]["name"] == "trunk.mcz"
    without_armature = code["mass_matrix"](q) - np.diag(scratch.state.model.dof_armature)
    wanted = without_armature @ vdot + code["bias"](q, v) - code["gravity"](q)
    found = code["regressor"](q, v, vdot) @ [each["value"] for each in parameters]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def test_factors_of_mass_matrices_have_no_elements_between_branches(tmp_path):
    plant = load_model(SAMPLES / "quadruped.urdf", dt=0.0).plant
    code, _ = code_of(plant, ["mass_matrix_factor", "mass_matrix"], tmp_path)
    q = plant.GetDefaultPositions() + np.r_[np.zeros(7), np.linspace(-0.5, 0.5, 12)]
    L, D = code["mass_matrix_factor"](q)
    np.testing.assert_allclose(L.T @ np.diag(D) @ L, code["mass_matrix"](q), atol=1e-13)
    assert np.count_nonzero(L) == 6 * 7 // 2 + 12 * 6 + 4 * 6 and (np.diag(L) == 1.0).all()


def limited_plant(tmp_path, scheme="midpoint", more="", joints=""):
    """The double pendulum with limits, damping and, on the elbow, a spring."""
    urdf = tmp_path / "limited.urdf"
    text = ARM.read_text().replace('"continuous"', '"revolute"').replace('<limit effort="10" velocity="20"/>', "")
    limits = f'<limit lower="-2" upper="2" effort="30" velocity="100"/><dynamics damping="0.4" {joints}/>'
    urdf.write_text(text.replace('<axis xyz="0 1 0"/>', f'<axis xyz="0 1 0"/>{limits}'))
    plant = MultibodyPlant(0.01)
    plant.set_step_scheme(scheme)
    Parser(plant).AddModels(str(urdf))
    if more:
        elbow = plant.GetJointActuatorByName("elbow")
        elbow.set_controller_gains(PdControllerGains(p=30.0, d=2.0))
        plant.AddForceElement(RevoluteSpring(plant.GetJointByName("shoulder"), 0.2, 5.0))
    plant.Finalize()
    return plant


@pytest.mark.parametrize("scheme", ["midpoint", "drake"])
@pytest.mark.parametrize("more", ["", "with a spring and a controller"])
def test_steps_between_limits_are_those_of_a_run(scheme, more, tmp_path):
    plant = limited_plant(tmp_path, scheme, more)
    code, table = code_of(plant, ["step"], tmp_path)
    assert table["step"]["time_step"] == 0.01 and table["step"]["scheme"] == scheme
    assert [each["name"] for each in table["step"]["outputs"]] == ["q_next", "v_next", "limited"]
    random, told = np.random.default_rng(1), []
    for _ in range(30):
        simulator = Simulator(plant)
        context = simulator.get_mutable_context()
        q, v = random.uniform(-2.0, 2.0, size=2), 8.0 * random.normal(size=2)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        aims = [random.normal(size=1), random.normal(size=1)] if more else []
        if more:
            plant.get_desired_state_input_port(plant.GetModelInstanceByName("double_pendulum")).FixValue(
                context, np.concatenate(aims)
            )
        simulator.AdvanceTo(0.01)
        q_next, v_next, limited = code["step"](q, v, np.zeros(2), *aims)
        told.append(limited[0])
        near = np.allclose(np.r_[q_next, v_next], plant.GetPositionsAndVelocities(context), rtol=1e-12, atol=1e-12)
        assert near or limited[0] == 1.0
    assert 0.0 in told and 1.0 in told and set(told) == {0.0, 1.0}


def test_motion_under_constraints_is_that_of_the_plant(tmp_path):
    plant = load_model(SAMPLES / "closed_chains" / "four_bar.urdf", dt=0.0).plant
    code, table = code_of(plant, ["constrained_dynamics"], tmp_path, derivatives=True)
    assert (table["constrained_dynamics"]["rank"], len(table["constrained_dynamics"]["rows"])) == (2, 5)
    context, random = plant.CreateDefaultContext(), np.random.default_rng(2)
    for _ in range(3):
        set_random_state(plant, context, random)
        wanted = accelerations(plant, context)
        q, v = context.state.q, context.state.v
        vdot, multipliers = code["constrained_dynamics"](q, v, np.zeros(len(v)))
        np.testing.assert_allclose(vdot, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())
        assert np.count_nonzero(multipliers) == 2
    partials = code["constrained_dynamics_partials"](q, v, np.zeros(len(v)))
    inverse = np.asarray(partials[2])
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-12)
    assert np.linalg.matrix_rank(inverse) == len(v) - 2


@pytest.mark.parametrize(
    ("path", "name"), [("quadruped.urdf", "step"), ("arm7.urdf", "step"), ("closed_chains/four_bar.urdf", CONSTRAINED)]
)
def test_frames_of_bodies_save_operations_of_steps_and_motions_under_constraints(path, name):
    context = load_model(SAMPLES / path, dt=0.001 if name == "step" else 0.0).plant.CreateDefaultContext()
    function = PLANT_FUNCTIONS[name](context)
    by_kernels = record_function(replace(function, ways=()), context.state.model).num_operations
    assert record_function(function, context.state.model).num_operations < 0.86 * by_kernels


def test_sensors_give_what_they_measure_without_noise(tmp_path):
    (tmp_path / "sensed.xml").write_text(SENSED % "")
    plant = load_model(tmp_path / "sensed.xml", dt=0.0).plant
    code, table = code_of(plant, ["sensors"], tmp_path)
    context = plant.CreateDefaultContext()
    set_random_state(plant, context, np.random.default_rng(3))
    wanted = sensor_values(plant, context)
    found = code["sensors"](context.state.q, context.state.v, accelerations(plant, context))
    assert len(found) == len(wanted) == 10
    for values, (name, exact) in zip(found, wanted.items(), strict=True):
        np.testing.assert_allclose(values, exact, atol=1e-12, err_msg=name)
    assert table["sensors"]["outputs"][1]["words"].startswith("x [m s-2]")


def test_orientations_are_selected_as_they_are_chosen(tmp_path):
    (tmp_path / "sensed.xml").write_text(SENSED % '<framequat name="fq" objtype="site" objname="t"/>')
    plant = load_model(tmp_path / "sensed.xml", dt=0.0).plant
    code, _ = code_of(plant, ["sensors:fq"], tmp_path, derivatives=True)
    context, chosen = plant.CreateDefaultContext(), set()
    for angle in np.linspace(-3.1, 3.1, 9):
        plant.SetPositions(context, [angle, 1.2 * angle])
        wanted = sensor_values(plant, context, ["fq"])["fq"]
        rest = np.zeros(2)
        np.testing.assert_allclose(code["sensors_fq"](context.state.q, rest, rest), wanted, atol=1e-14)
        chosen.add(int(np.abs(wanted).argmax()))
    assert len(chosen) >= 3 and wanted[0] >= 0.0


def test_sensors_named_like_variables_of_code_get_other_names(tmp_path):
    model = SENSED % ""
    for old, new in (("acc", "t3"), ("g", "v"), ("ve", "work"), ("p1", "a-b"), ("v1", "a+b")):
        model = model.replace(f'name="{old}"', f'name="{new}"')
    (tmp_path / "named.xml").write_text(model)
    plant = load_model(tmp_path / "named.xml").plant
    made = generate(
        plant.CreateDefaultContext(), ["sensors"], str(tmp_path), Settings(states=3)
    )  # C, if a compiler is here
    names = [each["name"] for each in made.functions[0]["outputs"]]
    assert {"m_t3", "m_v", "m_work"} <= set(names) and len(set(names)) == len(names) == 10


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('<clock name="now"/>', "sensor 'now' (clock): code has no time"),
        ('<touch name="to2" site="t"/>', "sensor 'to2' (touch): code cannot hold what follows from contact"),
        ('<gyro name="g2" site="t" cutoff="3"/>', "sensor 'g2' (gyro): it is cut off at 3"),
    ],
)
def test_sensors_that_code_cannot_hold_are_named(more, says, tmp_path):
    (tmp_path / "sensed.xml").write_text(SENSED % more)
    result = cli("codegen", tmp_path / "sensed.xml", "--functions", "sensors", "-o", tmp_path / "code")
    assert result.code == 3 and says in result.err and len(result.err.splitlines()) == 1
    assert not (tmp_path / "code").exists()
    words = ["codegen", tmp_path / "sensed.xml", "--functions", "sensors:acc", "--to", "python", "--proof-states", "3"]
    assert cli(*words, "-o", tmp_path / "code").code == 0


def test_steps_and_motions_that_code_cannot_hold_are_refused(tmp_path):
    limited_plant(tmp_path, joints='friction="0.1"')
    rubbing = tmp_path / "limited.urdf"
    loop = SAMPLES / "closed_chains" / "four_bar.urdf"
    for model, function, says in (
        (rubbing, "step", "step: dry friction of joints is found by a search"),
        (loop, "step", "step: the model has constraints"),
        (ARM, "constrained_dynamics", "the model has no constraints"),
        (ARM, "sensors", "sensors: the model has none"),
    ):
        result = cli("-q", "codegen", model, "--functions", function, "-o", tmp_path / "code")
        assert result.code == 3 and says in result.err and len(result.err.splitlines()) == 1, result.err


def test_their_growth_is_told_before_it_starts():
    for path in (ARM, SAMPLES / "quadruped.urdf", SAMPLES / "arm7.urdf"):
        context = load_model(path, dt=0.001).plant.CreateDefaultContext()
        model = context.state.model
        for name in ("regressor", "step", "mass_matrix_factor"):
            function = PLANT_FUNCTIONS[name](context) if name in PLANT_FUNCTIONS else name
            assert record_function(function, model).num_operations <= expected_operations(model, name, False), name
