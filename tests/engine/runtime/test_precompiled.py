"""Kernels in libraries: which there are, that they equal those compiled here, and when they are not used."""

import ast
import copy
import pickle
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from random_trees import random_plant, random_state

import mbcli
from benchmarks import own
from mbcli.engine import precompile
from mbcli.engine.runtime import precompiled
from mbcli.engine.runtime.bound_kernels import BoundKernels
from mbcli.engine.runtime.kernel import CALLED, ENTRIES, KERNELS, Handle, Int, Vector, argument_types
from mbcli.engine.runtime.linking import all_kernels, compiled_kernels, load_kernels
from mbcli.engine.runtime.model import Data
from mbcli.models import load_model
from mbcli.simulation import Worlds

PACKAGE = Path(mbcli.__file__).parent
ARM = PACKAGE.parent / "sample_models" / "arm7.urdf"
WORLDS = ("advance_worlds", "advance_worlds_in_lanes")
CHOSEN = ("query_qdot", "query_pose", "add_damping", "query_mass", "full_inverse_dynamics", "full_mass_matrix")
LEVELS = precompiled.levels_of_processor()


def build(folder, chosen, called, kinds):
    """A library of some kernels, made for this processor; the folder."""
    if precompile.why_not():
        pytest.skip(precompile.why_not())
    from mbcli.engine.runtime import native_programs  # not before numba

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native_programs, "ENTRIES", [f for f in all_kernels() if f.__name__ in chosen])
        patch.setattr(native_programs, "CALLED", [f for f in CALLED if f.__name__ in called])
        patch.setattr(precompile, "combinations_of_kinds", lambda: kinds)
        index = precompile.build_level(folder, LEVELS[-1])
    index = {"sources": precompiled.hash_of_sources(), "levels": LEVELS[-1:], **index}
    precompiled.write_index(folder, index)
    return folder


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return build(tmp_path_factory.mktemp("precompiled"), CHOSEN, (), ["", "plain"])


@pytest.fixture(scope="module")
def library_of_worlds(tmp_path_factory):
    return build(tmp_path_factory.mktemp("of_worlds"), (), WORLDS, ["plain", "lanes"])


@pytest.fixture
def in_place(monkeypatch):
    """library -> the same, in the place where a wheel has its own."""

    def put(folder):
        monkeypatch.setattr(precompiled, "FOLDER", folder)
        monkeypatch.delenv("MBCLI_PRECOMPILED", raising=False)
        precompiled.precompiled_library.cache_clear()
        return folder

    yield put
    precompiled.precompiled_library.cache_clear()


@pytest.fixture
def used(library, in_place):
    return in_place(library)


@pytest.fixture
def scene(used):
    """Precompiled kernels, those compiled here, and a model with data for each."""
    plant = random_plant(3, num_bodies=5)
    q, v = random_state(plant, np.random.default_rng(3))
    found = []
    compiled = compiled_kernels("plain")
    for kernels in (precompiled.precompiled_kernels("plain", lambda: compiled), compiled):
        data = Data(plant.model.sizes)
        data.q[:], data.v[:] = q, v
        calls = BoundKernels(kernels, plant.model.handle(True), data.handle(True))
        found.append((calls, data))
    yield found  # the plant lives on


def numbers_of(data):
    return {field.name: getattr(data, field.name).copy() for field in data.fields}


def test_results_equal_those_of_kernels_compiled_here_to_rounding(scene):
    answers = []
    for calls, data in scene:
        tau = np.zeros(len(data.v))
        calls.query_pose(2, 1)
        calls.add_damping(np.full(3, 0.1), 1, tau)
        calls.query_qdot(data.v)
        answers.append(numbers_of(data) | {"tau": tau})
    assert np.any(answers[0]["tau"])
    for name, value in answers[0].items():
        np.testing.assert_allclose(value, answers[1][name], rtol=1e-13, atol=1e-13, err_msg=name)


@pytest.mark.parametrize(
    "arguments",
    [
        (np.zeros(3), 1),
        (np.zeros(3, dtype=np.float32), 1, np.zeros(6)),
        (np.zeros(3, dtype=np.int64), 1, np.zeros(6)),
        (np.zeros(6)[::2], 1, np.zeros(6)),
        (np.zeros((3, 1)), 1, np.zeros(6)),
        (np.zeros(3), 1.5, np.zeros(6)),
        ([0.0], 1, np.zeros(6)),
    ],
    ids=["too few", "short floats", "integers", "strided", "two axes", "no integer", "a list"],
)
def test_arguments_of_other_types_are_refused(scene, arguments):
    calls, _ = scene[0]
    with pytest.raises(TypeError):
        calls.add_damping(*arguments)


def test_other_kernels_are_compiled_here(scene):
    calls, data = scene[0]
    calls.set_rotation(0, np.diag([1.0, -1.0, -1.0]))
    assert np.array_equal(data.q[:4], [0.0, 1.0, 0.0, 0.0])


def test_handles_may_be_given_at_each_call(used):
    model = random_plant(3, num_bodies=2).model
    kernels = precompiled.precompiled_kernels("plain", None)
    assert kernels.query_mass(model.handle(True), np.ones(3)) == pytest.approx(model.link_inertia[:, 0].sum())


def test_worlds_take_their_steps_by_them(library_of_worlds, in_place, monkeypatch):
    """Kernels that are called by address, one state at a time and in lanes."""
    in_place(library_of_worlds)

    def samples():
        load_kernels.cache_clear()
        worlds = Worlds(load_model(ARM, dt=0.002), 11)
        worlds.v += np.random.default_rng(0).normal(size=worlds.v.shape)
        return worlds.rollout(20)

    made = []

    class Counted(precompiled.PrecompiledAddress):
        def __init__(self, address):
            super().__init__(address)
            made.append(self)

    monkeypatch.setattr(precompiled, "PrecompiledAddress", Counted)
    from_library = samples()
    assert len(made) == 2
    monkeypatch.setenv("MBCLI_PRECOMPILED", "0")
    precompiled.precompiled_library.cache_clear()
    compiled_here = samples()
    load_kernels.cache_clear()
    assert len(made) == 2
    np.testing.assert_allclose(from_library, compiled_here, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("suffix", [".json", ".so"])
@pytest.mark.parametrize("damage", ["a bit", "cut", "empty", "others may write"])
def test_a_library_that_is_not_as_it_was_built_is_not_loaded(used, tmp_path, monkeypatch, suffix, damage):
    told = []
    monkeypatch.setattr(precompiled.kept_files, "tell", told.append)
    shutil.copytree(used, tmp_path / "copy")
    monkeypatch.setattr(precompiled, "FOLDER", tmp_path / "copy")
    assert precompiled.precompiled_library() is not None
    (path,) = (tmp_path / "copy").glob(f"*{suffix}")
    content = bytearray(path.read_bytes())
    if damage == "others may write":
        path.chmod(0o666)
    elif damage == "a bit":
        content[len(content) // 2] ^= 4
    else:
        content = content[: len(content) // 2 if damage == "cut" else 0]
    mode = path.stat().st_mode
    path.unlink()  # this process still has it in memory
    path.write_bytes(content)
    path.chmod(mode)
    precompiled.precompiled_library.cache_clear()
    assert precompiled.precompiled_library() is None
    assert len(told) == (damage == "others may write")


def test_the_benchmarks_of_the_engine_compile_what_is_called_in_a_compiled_loop(used):
    """A precompiled kernel is a function of Python, which numba does not take."""
    load_kernels.cache_clear()
    case = own.Case(ARM)
    assert type(load_kernels(True).full_mass_matrix) is type(len)
    by_call, in_loop = own.engine_call(case, "crba").run(), own.repeated_engine_call(case, "crba", 2).run()
    load_kernels.cache_clear()
    np.testing.assert_allclose(by_call, in_loop, rtol=1e-13)


def test_of_other_sources_none_are_used(used, monkeypatch):
    assert precompiled.precompiled_library() is not None
    precompiled.precompiled_library.cache_clear()
    monkeypatch.setattr(precompiled, "hash_of_sources", lambda: "other")
    assert precompiled.precompiled_library() is None


def test_on_other_processors_none_are_used(used, monkeypatch):
    monkeypatch.setattr(precompiled, "levels_of_processor", list)
    assert precompiled.precompiled_library() is None


def test_the_environment_turns_them_off(used, monkeypatch):
    monkeypatch.setenv("MBCLI_PRECOMPILED", "0")
    assert precompiled.precompiled_library() is None


def test_an_edit_of_a_source_changes_the_hash(tmp_path, monkeypatch):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "module.py").write_text("a = 1\n")
    monkeypatch.setattr(precompiled, "ENGINE", tmp_path)
    before = precompiled.hash_of_sources()
    (tmp_path / "room" / "module.py").write_text("a = 2\n")
    assert precompiled.hash_of_sources() != before


def test_all_combinations_of_kinds_are_precompiled():
    found = set(precompile.combinations_of_kinds())
    assert {"", "plain", "constrained-contact-plain", "lanes"} <= found
    assert not any(kind in name for name in found for kind in ("numbers", "python"))


def test_an_entry_needs_a_type_for_each_argument_and_has_its_handles_first():
    def untyped(model: Handle, q): ...
    def mixed(q: Vector, model: Handle): ...
    def whole(model: Handle, data: Handle, q: Vector): ...

    with pytest.raises(TypeError, match="untyped: q has no type"):
        argument_types(untyped)
    with pytest.raises(TypeError, match="mixed: handles come before the other arguments"):
        argument_types(mixed)
    assert argument_types(whole) == ([Int, Int, Vector], 2)


# their kernels are: with other scalars
INTERPRETED = ("python_forces.py", "motion_derivatives.py", "ball_spring.py", "model_functions.py")
RECORDED = PACKAGE / "codegen"  # whose kernels know numbers that write down what is done with them


def test_every_kernel_that_is_called_on_handles_is_an_entry():
    """Names of kernels after `calls.` and `kernels.` outside of the engine."""
    all_kernels()
    known, ready = {f.__name__ for f in KERNELS}, {f.__name__ for f in (*ENTRIES, *CALLED)}
    asked = set()
    for path in PACKAGE.rglob("*.py"):
        if any(map(path.is_relative_to, (PACKAGE / "engine", RECORDED))) or path.name in INTERPRETED:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith(("calls", "kernels")):
                asked.add(node.attr)
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "run" and node.args:
                asked.add(getattr(node.args[0], "value", None))  # constrained.run("name")
    asked &= known
    assert len(asked) > 50
    assert asked - ready == set()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))])
def test_a_copy_of_arrays_has_a_handle_of_its_own(copied):
    """An address of the original would be read after it has gone, or in another process."""
    data = Data(random_plant(3, num_bodies=2).model.sizes)
    address = data.handle(True)
    other = copied(data)
    assert other.handle(True) != address
    assert data.handle(True) == address


def test_entries_have_handles_first():
    all_kernels()
    for function in ENTRIES:
        types, handles = argument_types(function)
        assert 0 <= handles <= len(types) > 0, function  # argument_types() refuses handles that come later
    assert all(f.__code__.co_argcount == 5 for f in CALLED)
    names = sorted(f.__name__ for f in (*ENTRIES, *CALLED))
    assert all(a != b for a, b in pairwise(names))
