"""Analyses of batches: compiled rows against single states, chunks, inputs by row and by option, errors."""

import json
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import numpy as np
import pytest
from click.testing import CliRunner
from repository import SAMPLES

from mbcli.batch import state_reader
from mbcli.cli import analysis
from mbcli.cli.bias import bias
from mbcli.cli.com import com
from mbcli.cli.energy import energy
from mbcli.cli.forward_dynamics import forward_dynamics
from mbcli.cli.gravity import gravity
from mbcli.cli.inverse_dynamics import inverse_dynamics
from mbcli.cli.jacobian import jacobian
from mbcli.cli.kinematics import kinematics
from mbcli.cli.mass_matrix import mass_matrix
from mbcli.cli.momentum import momentum
from mbcli.engine.queries import state_batch
from mbcli.engine.queries.lane_data import load_lane_kernels
from mbcli.errors import NumericalError
from mbcli.multibody.parsing import Parser
from mbcli.multibody.plant import MultibodyPlant

MODEL = str(SAMPLES / "quadruped.urdf")
ARM = str(SAMPLES / "double_pendulum.urdf")
MANY_ROWS = 1024  # of five numbers, which a second thread writes
COUNT = 21
# Compiled and interpreted differ by fused multiply-adds, in sums of a few hundred terms.
ROUNDING = 1e-12

COMMANDS = {
    "mass-matrix": (mass_matrix, []),
    "inverse of the mass matrix": (mass_matrix, ["--inverse"]),
    "inverse-dynamics": (inverse_dynamics, []),
    "inverse-dynamics of one force": (inverse_dynamics, ["--force-on", "trunk=1,2,3,4,5,6"]),
    "inverse-dynamics without gravity": (inverse_dynamics, ["--no-gravity", "--no-springs", "--no-damping"]),
    "forward-dynamics": (forward_dynamics, []),
    "forward-dynamics under one force": (forward_dynamics, ["--force-on", "trunk=1,2,3,4,5,6"]),
    "bias": (bias, []),
    "gravity": (gravity, []),
    "energy": (energy, []),
    "kinematics": (kinematics, []),
    "kinematics of two frames in one": (
        kinematics,
        ["--frame", "front_left_shank", "--frame", "front_right_hip", "--relative-to", "trunk"],
    ),
    "com": (com, []),
    "momentum about a point": (momentum, ["--point", "0.1,0.2,0.3"]),
    "momentum about the centre of mass": (momentum, ["--point", "com"]),
    "jacobian": (jacobian, ["--frame", "front_left_shank", "--point", "0,0,-0.2", "--expressed-in", "trunk"]),
    "angular jacobian": (jacobian, ["--frame", "front_left_shank", "--kind", "angular", "--measured-in", "trunk"]),
    "translational jacobian": (jacobian, ["--frame", "front_left_shank", "--kind", "translational"]),
    "jacobian of the centre of mass": (jacobian, ["--kind", "com", "--measured-in", "trunk"]),
}


@pytest.fixture(autouse=True)
def compiled_from_the_first_row(monkeypatch):
    monkeypatch.setattr(analysis, "FEW_ROWS", 0)


@pytest.fixture(scope="module")
def plant():
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(MODEL)
    plant.Finalize()
    return plant


@pytest.fixture(scope="module")
def states(plant, tmp_path_factory):
    """An NPZ file of random states with vdot, tau and u."""
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, (COUNT, plant.num_positions()))
    q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    v, vdot, tau = rng.normal(size=(3, COUNT, plant.num_velocities()))
    u = rng.normal(size=(COUNT, plant.num_actuators()))
    path = tmp_path_factory.mktemp("states") / "states.npz"
    np.savez(path, q=q, v=v, vdot=vdot, tau=tau, u=u, time=np.arange(COUNT) * 0.1)
    return path


def run(command, states, *options, model=MODEL):
    result = CliRunner().invoke(command, [str(model), "--states", str(states), *map(str, options)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def columns(command, states, options, path):
    run(command, states, *options, "-o", path, "--force")
    with np.load(path) as archive:
        return {name: archive[name] for name in archive.files if name != "metadata"}


@pytest.mark.parametrize("name", COMMANDS)
def test_compiled_rows_equal_interpreted_states(name, states, tmp_path, monkeypatch):
    command, options = COMMANDS[name]
    results = {}
    for jit in "01":
        monkeypatch.setenv("MBCLI_JIT", jit)
        results[jit] = columns(command, states, options, tmp_path / "result.npz")
    assert list(results["0"]) == list(results["1"])
    for column, expected in results["0"].items():
        assert results["1"][column].shape == expected.shape
        np.testing.assert_allclose(results["1"][column], expected, rtol=0.0, atol=ROUNDING * np.abs(expected).max())


@pytest.mark.parametrize("name", COMMANDS)
def test_bits_do_not_depend_on_the_size_of_chunks(name, states, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")
    command, options = COMMANDS[name]
    together = columns(command, states, options, tmp_path / "together.npz")
    whole = state_reader.open_states
    for size in (1, 5, 8):
        monkeypatch.setattr(state_reader, "open_states", lambda *a, size=size, **k: whole(*a, **k, rows_per_chunk=size))
        parts = columns(command, states, options, tmp_path / "parts.npz")
        for column, expected in together.items():
            assert parts[column].tobytes() == expected.tobytes()


def test_inputs_of_options_hold_for_every_row(plant, states, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")
    with np.load(states) as archive:
        q, v, tau, u, vdot = (archive[name] for name in ("q", "v", "tau", "u", "vdot"))
    one, many = tmp_path / "one.npz", tmp_path / "many.npz"
    np.savez(one, q=q, v=v)
    np.savez(many, q=q, v=v, tau=np.tile(tau[0], (COUNT, 1)), u=np.tile(u[0], (COUNT, 1)))
    options = ["--tau", " ".join(map(repr, tau[0].tolist())), "--u", " ".join(map(repr, u[0].tolist()))]
    by_option = columns(forward_dynamics, one, options, tmp_path / "a.npz")["vdot"]
    by_row = columns(forward_dynamics, many, [], tmp_path / "b.npz")["vdot"]
    assert by_option.tobytes() == by_row.tobytes()
    option = " ".join(map(repr, vdot[0].tolist()))
    by_option = columns(inverse_dynamics, one, ["--vdot", option], tmp_path / "a.npz")["tau"]
    np.savez(many, q=q, v=v, vdot=np.tile(vdot[0], (COUNT, 1)))
    assert by_option.tobytes() == columns(inverse_dynamics, many, [], tmp_path / "b.npz")["tau"].tobytes()


def test_forward_dynamics_undoes_inverse_dynamics(states, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")
    with np.load(states) as archive:
        q, v, vdot = archive["q"], archive["v"], archive["vdot"]
    tau = columns(inverse_dynamics, states, [], tmp_path / "tau.npz")["tau"]
    np.savez(tmp_path / "forces.npz", q=q, v=v, tau=tau)
    result = columns(forward_dynamics, tmp_path / "forces.npz", [], tmp_path / "vdot.npz")["vdot"]
    np.testing.assert_allclose(result, vdot, atol=1e-9 * np.abs(vdot).max())


def test_rows_in_json_lines_have_their_time(states, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")
    lines = [json.loads(line) for line in run(energy, states).stdout.splitlines()]
    assert len(lines) == COUNT
    powers = ["conservative_power", "nonconservative_power", "joint_damping_power"]
    assert list(lines[3]) == ["time", "kinetic", "potential", *powers]
    assert lines[3]["time"] == pytest.approx(0.3)


def test_what_nothing_resists_is_an_error_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")
    model = tmp_path / "massless.urdf"
    model.write_text(
        '<robot name="r"><link name="base"/><link name="tip"/>'
        '<joint name="free" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>'
    )
    states = tmp_path / "states.csv"
    states.write_text("r_free_q\n0.1\n0.2\n")
    with pytest.raises(NumericalError, match="free"):
        run(forward_dynamics, states, "--weld", "base", "--fill", "default", model=model)


def test_compiling_is_announced_once_where_nothing_is_cached(plant, monkeypatch):
    on_disk, announced = [], []
    kernels = load_lane_kernels()
    monkeypatch.setattr(
        state_batch, "is_compiled", lambda kernel: any(kernel is getattr(kernels, name) for name in on_disk)
    )
    batch = state_batch.StateBatch(plant.model, announce=lambda: announced.append(1) or nullcontext())
    q = np.tile(plant.GetPositions(plant.CreateDefaultContext()), (3, 1))
    batch.gravity(q)
    batch.gravity(q)
    assert announced == [1]
    on_disk.append("mass_matrices")
    batch.mass_matrix(q)
    assert announced == [1]


def test_few_rows_never_wait_for_a_compiler(states, tmp_path, monkeypatch):
    monkeypatch.setenv("MBCLI_JIT", "1")
    expected = columns(inverse_dynamics, states, (), tmp_path / "compiled.npz")["tau"]
    monkeypatch.setattr(state_batch, "is_compiled", lambda kernel: False)
    calls, run_batch = [], state_batch.StateBatch.evaluate

    def counted(self, name, inputs, *rest, **named):
        calls.append((self._compiled, len(inputs[0])))
        return run_batch(self, name, inputs, *rest, **named)

    monkeypatch.setattr(state_batch.StateBatch, "evaluate", counted)
    whole = state_reader.open_states
    monkeypatch.setattr(state_reader, "open_states", lambda *a, **k: whole(*a, **k, rows_per_chunk=8))
    for few, announced in ((COUNT, 0), (10, 1)):
        monkeypatch.setattr(analysis, "FEW_ROWS", few)
        calls.clear()
        found = run(inverse_dynamics, states, "-o", tmp_path / f"{few}.npz")
        assert found.stderr.count("compiling") == announced
        interpreted = sum(rows for compiled, rows in calls if not compiled)
        assert interpreted == (COUNT if few == COUNT else 8)  # whole chunks
        with np.load(tmp_path / f"{few}.npz") as archive:
            np.testing.assert_allclose(archive["tau"], expected, rtol=0.0, atol=ROUNDING * np.abs(expected).max())


def start_batch(tmp_path, num_rows):
    """A process that has written many rows of the potential energy of an arm and waits for more."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "mbcli",
            "energy",
            ARM,
            "--states",
            "-",
            "--fill",
            "default",
            "-o",
            tmp_path / "energy.csv",
        ],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"shoulder_q\n" + b"0.5\n" * num_rows)
    process.stdin.flush()
    deadline = time.monotonic() + 120.0
    while not any(partial.stat().st_size > 10 * num_rows for partial in tmp_path.glob(".energy.csv.*")):
        assert time.monotonic() < deadline and process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    return process


def end_of(process, rows=b""):
    """(exit code, lines of stderr but that of a compiler) of a batch that gets its last rows."""
    _, errors = process.communicate(rows, timeout=20)
    lines = errors.decode().splitlines()
    return process.returncode, [line for line in lines if line and not line.startswith("mbcli: compiling")]


@pytest.mark.parametrize("sent, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_batch_that_is_stopped_by_a_signal_leaves_nothing(sent, code, tmp_path):
    process = start_batch(tmp_path, 2 * MANY_ROWS)
    process.send_signal(sent)
    assert end_of(process) == (code, [])
    assert list(tmp_path.iterdir()) == []


def test_an_error_behind_many_rows_names_its_line_and_leaves_nothing(tmp_path):
    num_rows = 2 * MANY_ROWS
    process = start_batch(tmp_path, num_rows)
    fault = f"<stdin>:{num_rows + 3}: error: column 'shoulder_q': 'x' is not a number"
    assert end_of(process, b"1.5\nx\n2.5\n") == (3, [fault])
    assert list(tmp_path.iterdir()) == []


def test_rows_of_many_chunks_are_those_of_single_rows(tmp_path):
    num_rows = 3 * MANY_ROWS + 5
    process = start_batch(tmp_path, 2 * MANY_ROWS)
    rest = num_rows - 2 * MANY_ROWS
    assert end_of(process, b"".join(b"%.4f\n" % (0.001 * k) for k in range(rest))) == (0, [])
    table = np.loadtxt(tmp_path / "energy.csv", delimiter=",", skiprows=1)
    assert len(table) == num_rows
    potential = table[:, 1]
    assert (potential[: num_rows - rest] == potential[0]).all()
    changes = np.diff(potential[num_rows - rest :])
    assert (changes > 0.0).all() or (changes < 0.0).all()
