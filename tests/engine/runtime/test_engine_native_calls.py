"""Compiled kernels called from Python without numba's wrapper give the same, and refuse what they cannot read."""

import gc
import os
import shutil
import subprocess
import sys
import weakref

import numpy as np
import pytest
from random_trees import random_plant, random_state
from repository import SUPPORT

from mbcli.engine import load_kernels
from mbcli.engine.runtime.bound_kernels import BoundKernels
from mbcli.engine.runtime.linking import compiled_kernels
from mbcli.engine.runtime.model import Data
from mbcli.engine.runtime.native_functions import layout_is_known
from mbcli.multibody.tree import BodyIndex

pytestmark = pytest.mark.usefixtures("compiled_here")

LINKS = 5
KERNELS = {
    "no argument": ("motion_stage", ()),
    "integers": ("query_pose", (3, 1)),
    "a float": ("calc_inverse_dynamics", (np.ones((LINKS, 6)), 1.0)),
    "an integer for a float": ("calc_inverse_dynamics", (np.ones((LINKS, 6)), 1)),
    "a number": ("calc_energy", ()),
    "vectors, numbers and a matrix": ("query_force_at", (2, np.ones(3), np.arange(6.0), 1, np.zeros((4, 6)))),
    "three dimensions": ("query_link_poses", (np.zeros((LINKS, 3, 3)), np.zeros((LINKS, 3)))),
}


@pytest.fixture(scope="module")
def scene():
    """Kernels and the handles of a model and data in some state."""
    plant = random_plant(3, num_bodies=LINKS - 1)
    data = Data(plant.model.sizes)
    data.q[:], data.v[:] = random_state(plant, np.random.default_rng(3))
    handles = plant.model.handle(True), data.handle(True)
    kernels = load_kernels(True)
    kernels.motion_stage(*handles)
    return kernels, handles, (plant, data)


def by_native_call(scene, name):
    kernels, handles, _ = scene
    return kernels.bound(name, handles)


def numbers_of(data):
    return {field.name: getattr(data, field.name).copy() for field in data.fields}


def test_arrays_lie_in_memory_as_assumed():
    assert layout_is_known()


@pytest.mark.parametrize("case", KERNELS)
def test_a_native_call_does_what_the_kernel_does(scene, case):
    (name, arguments), (_, handles, (_, data)) = KERNELS[case], scene
    copies = [[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    function = by_native_call(scene, name)
    returned, written = [], []
    by_numba = getattr(compiled_kernels(""), name)
    for call, own in zip((lambda *a: by_numba(*handles, *a), function), copies, strict=True):
        returned.append(call(*own))
        written.append(numbers_of(data))
    assert returned[0] == returned[1]
    for field, value in written[0].items():
        np.testing.assert_array_equal(value, written[1][field], err_msg=field)
    for ours, theirs in zip(*copies, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("case", "arguments"),
    [
        ("no argument", (1,)),
        ("integers", (3,)),
        ("integers", (3, "1")),
        ("integers", (3, None)),
        ("a float", ("1.0",)),
        ("three dimensions", (np.zeros((LINKS, 9)), np.zeros((LINKS, 3)))),
        ("three dimensions", (np.zeros((LINKS, 3, 3)), [[0.0] * 3] * LINKS)),
        ("three dimensions", (np.zeros((LINKS, 3, 3)), np.zeros((3, LINKS)).T)),
    ],
)
def test_a_native_call_refuses_other_arguments(scene, case, arguments):
    function = by_native_call(scene, KERNELS[case][0])
    with pytest.raises(TypeError):
        function(*arguments)


def test_minus_one_is_a_number_as_any_other(scene):
    """The interface of Python returns it for a fault too."""
    _, _, (_, data) = scene
    forces = np.zeros((LINKS, 6))
    function = by_native_call(scene, "calc_inverse_dynamics")
    function(forces, 1.0)
    with_weight = data.tau.copy()
    function(forces, 0.0)
    without = data.tau.copy()
    function(forces, -1.0)
    assert abs(with_weight - without).max() > 0.1
    np.testing.assert_allclose(data.tau, 2.0 * without - with_weight, rtol=0.0, atol=1e-10)


def test_native_calls_outlive_what_bound_them(scene):
    kernels, handles, (_, data) = scene
    bound = BoundKernels(kernels, *handles)
    bound.query_pose(3, 1)
    function, expected = bound.query_pose, data.answer_pose.copy()
    assert type(function) is type(len)
    assert function.__name__ == "query_pose"
    del bound
    gc.collect()
    data.answer_pose[:] = 0.0
    function(3, 1)
    np.testing.assert_array_equal(data.answer_pose, expected)


@pytest.mark.parametrize("made", [load_kernels, lambda _: compiled_kernels("")], ids=["native", "by numba"])
@pytest.mark.parametrize("calls", [0, 1])
def test_arrays_live_as_long_as_a_kernel_that_is_bound_to_them(scene, calls, made):
    """Another thread may give a context other ones during a call; its interpreter crashed."""
    _, _, (plant, _) = scene
    model, data = plant.model.replace(), Data(plant.model.sizes)
    bound = BoundKernels(made(True), model.handle(True), data.handle(True), owners=(model, data))
    for _ in range(calls):
        bound.motion_stage()
    function, owned = bound.motion_stage, weakref.ref(data)
    del model, data, bound
    gc.collect()
    assert owned() is not None
    del function
    gc.collect()
    assert owned() is None


def test_interpreted_kernels_and_other_scalars_keep_their_way(scene):
    _, _, (plant, _) = scene
    model = plant.model.replace(dtype=complex)
    data = Data(model.sizes, complex)
    for bound in (
        BoundKernels(load_kernels(False), model.handle(False), data.handle(False)),
        BoundKernels(compiled_kernels(""), model.handle(True), data.handle(True)),
    ):
        data.q[:] = 1.0
        for _ in range(2):
            bound.query_qdot(data.v)
        assert type(bound.query_qdot) is not type(len)


def test_an_address_of_nothing_is_not_called():
    """Constraints whose arrays were made anew, before something asked for their motion: the interpreter crashed."""
    plant = random_plant(5, num_bodies=LINKS - 1, finalize=False)
    bodies = [plant.get_body(BodyIndex(n)) for n in (1, plant.num_bodies() - 1)]
    plant.AddDistanceConstraint(bodies[0], np.zeros(3), bodies[1], 0.1 * np.ones(3), 1.0)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    assert np.isnan(context.state.calls.calc_constraint_error())
    error = context.state.constraint_error()
    assert error > 0.0
    bodies[1].SetMass(context, 2.0)
    assert context.state.constraint_error() == error
    assert context.state.calls.calc_constraint_error() == error


def sequences(command=(), environment=(), count=3):
    """Runs random sequences of calls in a process of their own; returns what it wrote."""
    program = SUPPORT / "native_call_sequences.py"
    seed = os.environ.get("MBCLI_NATIVE_SEED", "1")
    done = subprocess.run(
        [*command, sys.executable, "-X", "faulthandler", program, seed, str(count), "30"],
        env=os.environ | dict(environment),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == f"done {count}\n"
    return done.stderr


def test_random_sequences_of_native_calls_end():
    """MBCLI_NATIVE_SEQUENCES=n for more of them."""
    sequences(count=int(os.environ.get("MBCLI_NATIVE_SEQUENCES", "3")))


@pytest.mark.skipif(
    shutil.which("valgrind") is None or "MBCLI_NATIVE_SEQUENCES" not in os.environ,
    reason="takes valgrind and minutes: set MBCLI_NATIVE_SEQUENCES",
)
def test_native_calls_touch_only_live_memory(tmp_path):
    """Every access of compiled code too: valgrind runs machine code of any origin, but not that for AVX-512."""
    environment = {
        "NUMBA_CPU_NAME": "x86-64",
        "NUMBA_CPU_FEATURES": "",
        "MBCLI_CACHE_DIR": os.environ["MBCLI_CACHE_DIR"] + "-x86-64",
    }
    count = int(os.environ["MBCLI_NATIVE_SEQUENCES"])
    sequences(environment=environment, count=count)  # compiles
    log = tmp_path / "valgrind.log"
    valgrind = ["valgrind", "--undef-value-errors=no", "--error-limit=no", f"--log-file={log}"]
    sequences(valgrind, environment | {"PYTHONMALLOC": "malloc"}, count)
    faults = [block for block in log.read_text().split("== \n") if "Invalid" in block and "_dl_" not in block]
    assert not faults, faults[0]
