"""FMUs of models: another program finds them valid, and runs them as `simulate` runs the model."""

import json
import os
import subprocess
import zipfile

import h5py
import numpy as np
import pytest
from command_line import cli, succeed
from repository import SAMPLES

from mbcli.codegen import Settings, c_compiler, generate
from mbcli.errors import ArgumentError, NumericalError
from mbcli.models.loading import load_model
from mbcli.systems.simulator import ResetIntegratorFromFlags, Simulator

ARM = SAMPLES / "double_pendulum.urdf"
H = 0.001
FIXED_STEP = ("--max-step", H, "--set", "simulator_config.use_error_control=false", "--no-contact")
SERVOS = """<mujoco><worldbody><body pos="0 0 1"><joint name="j1" axis="0 1 0" damping="0.3"/>
<geom type="capsule" fromto="0 0 0 0 0 -.4" size=".03"/><body pos="0 0 -.4"><joint name="j2" axis="1 0 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/></body></body></worldbody>
<actuator><motor name="turn" joint="j1"/><position name="hold" joint="j2" kp="10" kv="0.5" forcerange="-2 2"/>
</actuator></mujoco>"""
with_compiler = pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "0")


def context_of(path, dt=0.0, **settings):
    plant = load_model(path, dt=dt, **settings).plant
    return plant.CreateDefaultContext()


def unit_of(path, folder, *words):
    """The path of the FMU of a model, and the names of its states."""
    printed = succeed("codegen", path, "--to", "fmi", "--proof-states", 3, "-o", folder, "--json", *words).out
    made = json.loads(printed)
    return made["files"][0], [*made["position_names"], *made["velocity_names"]]


def logged(path, folder, *words):
    """(rows, nq + nv) of a run by the command."""
    succeed("simulate", path, "-o", folder / "run.h5", "--force", *FIXED_STEP, *words)
    with h5py.File(folder / "run.h5") as log:
        return np.hstack([log["state/q"][:], log["state/v"][:]])


def columns(result, names):
    return np.stack([result[name] for name in names], axis=-1)


@with_compiler
@pytest.mark.parametrize(
    ("model", "words", "inputs", "seconds"),
    [
        ("double_pendulum.urdf", "--at elbow=1 --u elbow=12", {"double_pendulum_elbow": 12.0}, 0.1),  # its limit is 10
        ("quadruped.urdf", "--at trunk_wx=0.7 --at trunk_wz=9", {}, 0.02),
        ("all_joints.sdf", "", {}, 0.17),  # one joint meets its stop
        ("closed_chains/four_bar.urdf", "", {}, 0.3),
    ],
)
def test_co_simulation_moves_as_simulate_does(model, words, inputs, seconds, tmp_path):
    validation, fmpy = pytest.importorskip("fmpy.validation"), pytest.importorskip("fmpy")
    path, names = unit_of(SAMPLES / model, tmp_path / "unit")
    assert validation.validate_fmu(path) == []
    wanted = logged(SAMPLES / model, tmp_path, "-t", seconds, "--integrator", "runge_kutta3", *words.split())
    start = inputs | dict(zip(names, wanted[0], strict=True))
    found = fmpy.simulate_fmu(
        path, stop_time=seconds, output_interval=0.01, start_values=start, fmi_type="CoSimulation", output=names
    )
    assert len(found) == len(wanted) == round(100 * seconds) + 1 and np.ptp(wanted, axis=0).max() > 0.1
    np.testing.assert_allclose(columns(found, names), wanted, rtol=0, atol=1e-9)


@with_compiler
def test_controllers_of_actuators_are_in_the_unit_with_aims_and_gains(tmp_path):
    validation, fmpy = pytest.importorskip("fmpy.validation"), pytest.importorskip("fmpy")
    (tmp_path / "servos.xml").write_text(SERVOS)
    path, names = unit_of(tmp_path / "servos.xml", tmp_path / "unit")
    assert validation.validate_fmu(path) == []
    aims = {"servos_turn": 0.3, "servos_hold.q_desired": 0.7, "servos_hold.v_desired": 0.2, "servos_hold.kp": 12.0}
    settings = {"stop_time": 0.5, "output_interval": 0.1, "fmi_type": "CoSimulation", "output": names}
    found = columns(fmpy.simulate_fmu(path, start_values=aims, **settings), names)
    (tmp_path / "servos.xml").write_text(SERVOS.replace('kp="10"', 'kp="12"'))
    plant = context_of(tmp_path / "servos.xml").state.plant
    plant.settings.drakes_actuators = True  # by which controllers act in continuous plants
    simulator = Simulator(plant)
    integrator = ResetIntegratorFromFlags(simulator, "runge_kutta3", H)
    integrator.set_fixed_step_mode(True)
    context = simulator.get_mutable_context()
    plant.get_desired_state_input_port(plant.GetModelInstanceByName("servos")).FixValue(context, [0.0, 0.7, 0.0, 0.2])
    plant.get_actuation_input_port().FixValue(context, [0.3, 0.0])
    for row in found:
        np.testing.assert_allclose(row, plant.GetPositionsAndVelocities(context), rtol=0, atol=1e-9)
        simulator.AdvanceTo(context.get_time() + 0.1)
    assert 0.1 < found[-1][1] < 0.9 and np.ptp(found, axis=0).min() > 0.01


@with_compiler
def test_model_exchange_gives_an_importer_the_rates_of_states(tmp_path):
    fmpy = pytest.importorskip("fmpy")
    path, names = unit_of(ARM, tmp_path / "unit", "--functions", "pose:lower,energy")
    start = {"double_pendulum_elbow_q": 1.0, "double_pendulum_shoulder_w": 0.5}
    wanted_of = (
        "-t",
        0.1,
        "--at",
        "elbow=1",
        "--at",
        "shoulder_w=0.5",
        "--integrator",
        "explicit_euler",
        "--log-rate",
        1000,
    )
    output = [*names, "pose_lower.X_WF", "energy.kinetic"]
    settings = {"stop_time": 0.1, "output_interval": H, "start_values": start, "fmi_type": "ModelExchange"}
    found = fmpy.simulate_fmu(path, solver="Euler", step_size=H, output=output, **settings)
    np.testing.assert_allclose(columns(found, names), logged(ARM, tmp_path, *wanted_of), rtol=0, atol=1e-9)
    context = context_of(ARM)
    plant = context.state.plant
    plant.SetPositionsAndVelocities(context, columns(found, names)[-1])
    X_WF = plant.GetFrameByName("lower").CalcPoseInWorld(context).GetAsMatrix4()
    np.testing.assert_allclose(found["pose_lower.X_WF"][-1], X_WF, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["energy.kinetic"][-1], plant.CalcKineticEnergy(context), rtol=1e-12)


@with_compiler
def test_a_unit_is_the_same_bytes_again_and_its_source_is_strict_c(tmp_path):
    first, _ = unit_of(SAMPLES / "all_joints.sdf", tmp_path / "made", "--name", "many")
    with zipfile.ZipFile(first) as archive:
        archive.extractall(tmp_path / "out")
        names = set(archive.namelist())
    sources = {"many.c", "many.h", "fmi3_many.c", "buildDescription.xml"}
    assert names >= {"modelDescription.xml", *(f"sources/{name}" for name in sources)}
    assert any(name.startswith("binaries/") for name in names)
    flags = [
        "-std=c99",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Werror",
        "-DFMI3_FUNCTION_PREFIX=many_",
    ]
    command = [*c_compiler.find_compiler(), *flags, "-c", "fmi3_many.c", "-o", "unit.o"]
    done = subprocess.run(command, cwd=tmp_path / "out" / "sources", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    context = context_of(ARM)
    for name in ("one", "two"):
        generate(context, [], str(tmp_path / name), Settings("fmi", states=1))
    assert (tmp_path / "one" / "model.fmu").read_bytes() == (tmp_path / "two" / "model.fmu").read_bytes()


@with_compiler
def test_a_unit_that_moves_otherwise_than_the_kernels_is_not_left(tmp_path, monkeypatch):
    monkeypatch.setattr("mbcli.codegen.fmi_source.METHOD", "runge_kutta2")
    with pytest.raises(NumericalError, match=r"the FMU is not left: after 50 steps it is .* off, of 1e-09 at most"):
        generate(context_of(ARM), [], str(tmp_path / "unit"), Settings("fmi", states=1))
    assert not (tmp_path / "unit").exists()


def test_without_a_compiler_a_unit_has_its_source_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("mbcli.codegen.fmi_code.compile_program", lambda *words: None)
    result = succeed("codegen", ARM, "--to", "fmi", "--proof-states", 1, "-o", tmp_path / "unit")
    assert "the code was not compiled, and is not proved" in result.err
    with zipfile.ZipFile(tmp_path / "unit" / "double_pendulum.fmu") as archive:
        assert not any(name.startswith("binaries/") for name in archive.namelist())


def test_names_of_a_unit_are_of_xml_and_differ(tmp_path, monkeypatch):
    validation = pytest.importorskip("fmpy.validation")
    monkeypatch.setattr("mbcli.codegen.fmi_code.compile_program", lambda *words: None)
    urdf = tmp_path / "names.urdf"
    urdf.write_text(ARM.read_text().replace('"double_pendulum"', '"a&lt;b&amp;&quot;"').replace('"elbow"', '"time"'))
    succeed("codegen", urdf, "--to", "fmi", "--proof-states", 1, "--name", "unit", "-o", tmp_path / "unit")
    path = tmp_path / "unit" / "unit.fmu"
    assert validation.validate_fmu(str(path)) == []
    with zipfile.ZipFile(path) as archive:
        text = archive.read("modelDescription.xml").decode()
    assert 'name="time"' in text and "a&lt;b&amp;" in text and "a<b" not in text


def test_what_a_unit_does_not_hold_is_refused_in_one_line(tmp_path):
    folder = tmp_path / "unit"
    for words, code, says in (
        (
            (ARM, "--functions", "inverse_dynamics"),
            2,
            "outputs of an FMU follow from q and v: 'inverse_dynamics' takes",
        ),
        ((ARM, "--derivatives"), 2, "--derivatives"),
        ((ARM, "--real", "float"), 2, "is for C"),
        ((SAMPLES / "deformable" / "sponge.sdf",), 3, "deformable bodies need a discrete plant"),
    ):
        result = cli("-q", "codegen", *words, "--to", "fmi", "-o", folder)
        assert result.code == code and says in result.err and len(result.err.splitlines()) == 1, result.err
    with pytest.raises(ArgumentError, match="of a continuous plant"):
        generate(context_of(ARM, dt=H), [], str(folder), Settings("fmi"))
    assert not os.path.exists(folder)


@with_compiler
def test_a_unit_tells_what_it_cannot_do_and_keeps_its_state(tmp_path):
    fmpy, fmi3 = pytest.importorskip("fmpy"), pytest.importorskip("fmpy.fmi3")
    path, names = unit_of(ARM, tmp_path / "unit")
    described = fmpy.read_model_description(path)
    places = {each.name: each.valueReference for each in described.modelVariables}
    said = []
    unit = fmi3.FMU3Slave(
        guid=described.instantiationToken,
        unzipDirectory=fmpy.extract(path, tmp_path / "open"),
        modelIdentifier=described.coSimulation.modelIdentifier,
        instanceName="unit",
        fmiCallLogger=None,
    )
    unit.instantiate(logMessage=fmi3.fmi3LogMessageCallback(lambda e, status, category, text: said.append(text)))
    unit.enterInitializationMode(startTime=0.0)
    unit.setFloat64([places["internal_step"]], [-1.0])
    with pytest.raises(fmpy.fmi1.FMICallException):
        unit.exitInitializationMode()
    unit.setFloat64([places["internal_step"]], [10.0])
    unit.setFloat64([places[names[0]]], [1.0])
    unit.exitInitializationMode()
    q, v = (places[name] for name in (names[0], names[2]))
    for refused in (
        lambda: unit.setFloat64([q], [0.5]),  # after the start
        lambda: unit.getFloat64([99]),
        lambda: unit.doStep(0.0, -1.0),
        lambda: unit.doStep(0.0, 1e300),
    ):
        with pytest.raises(fmpy.fmi1.FMICallException):
            refused()
    assert [text.decode() for text in said] == [
        "a start value is not finite, or internal_step is not positive",
        "this cannot be set now: inputs and parameters can, the rest at the start",
        "there is no such variable, or there are too few places for its values",
        *["a communication step is negative, or of more than 4e9 internal steps"] * 2,
    ]
    assert unit.getFloat64([q, v]) == [1.0, 0.0]
    time = 0.0
    with pytest.raises(fmpy.fmi1.FMICallException):
        for _ in range(1000):
            unit.doStep(time, 10.0)  # far beyond what the method bears
            time += 10.0
    assert said[-1].decode() == "a number is not finite: internal_step is too long for this motion"
    assert np.isfinite(unit.getFloat64([q, v])).all()
    unit.terminate()
    unit.freeInstance()
