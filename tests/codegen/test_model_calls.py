"""StateFunctions that are compiled for one model: the same numbers, the same faults, compiled once."""

import numpy as np
import pytest
from repository import SAMPLES

from mbcli.codegen import c_compiler, model_calls, model_state_functions
from mbcli.errors import ArgumentError, ModelError, ResourceError
from mbcli.models.loading import load_model
from mbcli.multibody.plant.state_functions import StateFunctions

pytestmark = pytest.mark.skipif(c_compiler.find_compiler() is None, reason="there is no C compiler")
ARM = SAMPLES / "double_pendulum.urdf"


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, tmp_path):
    monkeypatch.setenv("MBCLI_JIT", "0")
    monkeypatch.setenv("MBCLI_CACHE_DIR", str(tmp_path / "cache"))


def test_functions_of_a_model_are_those_of_its_plant():
    plant = load_model(SAMPLES / "arm7.urdf", dt=0.0).plant
    compiled, general = model_state_functions(plant), StateFunctions(plant)
    random = np.random.default_rng(0)
    q = np.array(plant.GetDefaultPositions()) + 0.1
    v, vdot = random.normal(size=(2, plant.num_velocities()))
    for name, inputs in (("inverse_dynamics", (q, v, vdot)), ("mass_matrix", (q,)), ("gravity_forces", (q,))):
        wanted = getattr(general, name)(*inputs)
        found = getattr(compiled, name)(*inputs)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    frame = plant.GetBodyByName(plant.elements.bodies[3].name()).body_frame()
    np.testing.assert_array_equal(compiled.jacobian(frame)(q), general.jacobian(frame)(q))


def test_arguments_are_taken_as_kernels_take_them():
    plant = load_model(ARM, dt=0.0).plant
    functions = model_state_functions(plant)
    q, v, tau = np.array([0.4, -0.9]), np.array([1.1, -0.6]), np.zeros(2)
    vdot = functions.forward_dynamics(q, v, tau)
    np.testing.assert_array_equal(functions.forward_dynamics([0.4, -0.9], (1.1, -0.6), [0, 0]), vdot)
    np.testing.assert_array_equal(functions.forward_dynamics(q, v, tau, out=tau), vdot)  # an input is written over
    assert functions.forward_dynamics(np.stack([q, q], axis=1)[:, 0], v, np.zeros(2)) is not tau
    for wrong in (np.zeros(3), np.zeros((2, 1)), ["a", "b"]):
        with pytest.raises(ArgumentError):
            functions.forward_dynamics(q, v, wrong)
    read_only = np.zeros(2)
    read_only.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        functions.gravity_forces(q, out=read_only)


def test_code_is_compiled_once_and_anew_for_other_parameters(monkeypatch):
    plant, compilations = load_model(ARM, dt=0.0).plant, []
    real = model_calls.child_processes.run
    monkeypatch.setattr(
        model_calls.child_processes, "run", lambda *words, **more: compilations.append(1) or real(*words, **more)
    )
    q = np.array([0.4, -0.9])
    first = model_state_functions(plant).gravity_forces(q)
    np.testing.assert_array_equal(model_state_functions(plant).gravity_forces(q), first)
    assert len(compilations) == 1
    context = plant.CreateDefaultContext()
    plant.GetBodyByName("lower").SetMass(context, 2.0)
    heavier = model_state_functions(plant, context).gravity_forces(q)
    np.testing.assert_allclose(heavier, StateFunctions(plant, context).gravity_forces(q), rtol=1e-13)
    assert len(compilations) == 2 and abs(heavier[1]) > abs(first[1])


def test_a_kept_file_that_is_damaged_is_made_anew(tmp_path):
    plant, q = load_model(ARM, dt=0.0).plant, np.array([0.4, -0.9])
    first = model_state_functions(plant).gravity_forces(q)
    (kept,) = (tmp_path / "cache" / "model_functions").iterdir()
    content = bytearray(kept.read_bytes())
    content[len(content) // 2] ^= 1
    kept.write_bytes(content)
    np.testing.assert_array_equal(model_state_functions(plant).gravity_forces(q), first)
    assert kept.read_bytes() != content


def test_what_cannot_be_compiled_is_said(monkeypatch):
    plant = load_model(ARM, dt=0.0).plant
    monkeypatch.setattr("mbcli.codegen.generation.TOO_LARGE", 500)
    with pytest.raises(ModelError, match="inverse_dynamics: the code would have about 960 operations, of 500 at most"):
        model_state_functions(plant).inverse_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    monkeypatch.setattr(model_calls, "find_compiler", lambda: None)
    with pytest.raises(ResourceError, match="need a C compiler: CC, cc, gcc, clang, or pip install ziglang"):
        model_state_functions(plant)
