"""Compiled kernels called from Python without numba's wrapper give the same, and refuse what they cannot read."""

import gc

import numpy as np
import pytest
from random_trees import random_plant, random_state

from mbcli.engine import load_kernels
from mbcli.engine.bound_kernels import FEW_CALLS, BoundKernels
from mbcli.engine.model import Data
from mbcli.engine.native_calls import layout_is_known, native_call

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
    data = Data(plant._model.sizes)
    data.q[:], data.v[:] = random_state(plant, np.random.default_rng(3))
    handles = plant._model.handle(True), data.handle(True)
    kernels = load_kernels(True)
    kernels.motion_stage(*handles)
    return kernels, handles, (plant, data)


def by_native_call(scene, name, arguments):
    kernels, handles, _ = scene
    kernel = getattr(kernels, name)
    kernel(*handles, *arguments)
    signature = tuple(kernel.typeof_pyval(argument) for argument in (*handles, *arguments))
    return native_call(kernel, signature, handles)


def numbers_of(data):
    return {field.name: getattr(data, field.name).copy() for field in data.fields}


def test_arrays_lie_in_memory_as_assumed():
    assert layout_is_known()


@pytest.mark.parametrize("case", KERNELS)
def test_a_native_call_does_what_the_kernel_does(scene, case):
    (name, arguments), (kernels, handles, (_, data)) = KERNELS[case], scene
    copies = [[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    function = by_native_call(scene, name, arguments)
    returned, written = [], []
    for call, own in zip((lambda *a: getattr(kernels, name)(*handles, *a), function), copies, strict=True):
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
    function = by_native_call(scene, *KERNELS[case])
    with pytest.raises(TypeError):
        function(*arguments)


def test_minus_one_is_a_number_as_any_other(scene):
    """The interface of Python returns it for a fault too."""
    _, _, (_, data) = scene
    forces = np.zeros((LINKS, 6))
    function = by_native_call(scene, "calc_inverse_dynamics", (forces, 1.0))
    function(forces, 1.0)
    with_weight = data.tau.copy()
    function(forces, 0.0)
    without = data.tau.copy()
    function(forces, -1.0)
    assert abs(with_weight - without).max() > 0.1
    np.testing.assert_allclose(data.tau, 2.0 * without - with_weight, rtol=0.0, atol=1e-10)


def test_kernels_become_native_after_some_calls_and_outlive_what_bound_them(scene):
    kernels, handles, (_, data) = scene
    bound = BoundKernels(kernels, *handles)
    for _ in range(FEW_CALLS + 1):
        bound.query_pose(3, 1)
    function, expected = bound.query_pose, data.answer_pose.copy()
    assert type(function) is type(len)
    assert function.__name__ == "query_pose"
    del bound
    gc.collect()
    data.answer_pose[:] = 0.0
    function(3, 1)
    np.testing.assert_array_equal(data.answer_pose, expected)


def test_interpreted_kernels_and_other_scalars_keep_their_way(scene):
    kernels, _, (plant, _) = scene
    model = plant._model.replace(dtype=complex)
    data = Data(model.sizes, complex)
    for bound in (
        BoundKernels(load_kernels(False), model.handle(False), data.handle(False)),
        BoundKernels(kernels, model.handle(True), data.handle(True)),
    ):
        data.q[:] = 1.0
        for _ in range(FEW_CALLS + 1):
            bound.query_qdot(data.v)
        assert type(bound.query_qdot) is not type(len)
