"""Kernels as programs: arrays are read and written as Python reads them, and none is returned."""

import operator
import re

import numpy as np
import pytest
from random_trees import random_plant

from mbcli.common.numba_start import import_numba
from mbcli.engine.contact.arrays import ContactSolver
from mbcli.engine.runtime.handles import data_at, model_at, solver_at
from mbcli.engine.runtime.linking import compiled_kernels, link_compiled
from mbcli.engine.runtime.model import Data

import_numba()
compiled_kernels("")  # numba learns of handles, also where kernels are those of a library

from numba import TypingError, types  # noqa: E402
from numba.core.compiler import DefaultPassBuilder  # noqa: E402
from numba.extending import overload  # noqa: E402

from mbcli.engine.runtime.whole_programs import WHOLE, KernelCompiler, inner_kernel, program  # noqa: E402


@pytest.fixture
def plant():
    return random_plant(5, num_bodies=4)


@pytest.fixture
def data(plant):
    data = Data(plant.model.sizes)
    rng = np.random.default_rng(2)
    for field in ("q", "v", "X_WB", "jacobian"):
        getattr(data, field)[...] = rng.normal(size=getattr(data, field).shape)
    return data


def read(data, i, j, found):
    d = data_at(data)
    found[0], found[1], found[2] = d.q[i], d.X_WB[i, j], d.X_WB[-1, 2]
    found[3], found[4] = d.X_WB[i, -1], d.q[-2]
    found[5], found[6], found[7] = d.X_WB.shape[0], d.X_WB.shape[1], len(d.q)
    part = d.q[1:]
    found[8], found[9] = part[i], part.shape[0]
    found[10] = d.X_WB[i][j]


@pytest.mark.parametrize(("i", "j"), [(0, 0), (1, 3), (-1, -2), (-3, 11)])
def test_elements_are_those_that_python_reads(data, i, j):
    """At indices from the start and from the end, constant and not, of arrays, parts and rows."""
    expected, found = np.zeros(11), np.zeros(11)
    read(data, i, j, expected)
    program(read)(data.handle(True), i, j, found)
    np.testing.assert_array_equal(found, expected)


def write(data, i, j, x):
    d = data_at(data)
    d.q[i] = x
    d.X_WB[i, j] = 2.0 * x
    d.X_WB[-1, 4] = 3.0
    d.v[1:] = x
    d.X_WB[i, 5] += 7


@pytest.mark.parametrize(("i", "j"), [(0, 0), (2, 3), (-2, -3)])
def test_elements_are_written_where_python_writes_them(plant, data, i, j):
    expected = Data(plant.model.sizes)
    for name in ("q", "v", "X_WB"):
        getattr(expected, name)[...] = getattr(data, name)
    write(expected, i, j, 0.5)
    program(write)(data.handle(True), i, j, 0.5)
    for name in ("q", "v", "X_WB"):
        np.testing.assert_array_equal(getattr(data, name), getattr(expected, name))


def solver_numbers(solver, i, k, found):
    s = solver_at(solver)
    s.vectors[k, i] = 4.0
    found[0], found[1], found[2] = s.vectors[k, i], s.counts[i], s.vectors.shape[1]


def test_arrays_of_contact_are_read_and_written_too(plant):
    """Their indices are not negative: nobody looks."""
    answers = []
    for compiled in (False, True):
        solver = ContactSolver(plant.model, 8, 0, blocks_per_tree=2)
        solver.counts[:] = np.arange(len(solver.counts))
        found = np.zeros(3)
        (program(solver_numbers) if compiled else solver_numbers)(solver.handle(compiled), 1, 1, found)
        answers.append((found, solver.vectors.copy()))
    np.testing.assert_array_equal(answers[0][0], answers[1][0])
    np.testing.assert_array_equal(answers[0][1], answers[1][1])


def test_nothing_compiled_looks_for_the_end_of_an_array_of_contact():
    """The instructions of an access: of an ordinary array they choose between two places."""

    def ordinary(data, i):
        return data_at(data).q[i]

    def counted(solver, i):
        return solver_at(solver).vectors[0, i]

    choices = []
    for function in (ordinary, counted):
        kernel = inner_kernel(function)
        kernel.compile("(int64, int64)")
        (compiled,) = kernel.overloads.values()
        choices.append(str(compiled.library.module).count("select"))
    assert choices[0] - choices[1] == 1


def first_row(data):
    return data_at(data).X_WB[0]


def name_and_row(data):
    return 1.0, data_at(data).X_WB


def given(array):
    return array


@pytest.mark.parametrize("function", [name_and_row, given, first_row])
def test_a_program_that_returns_an_array_is_refused(data, function):
    """Nobody counts the owners of arrays in kernels, so Python would free what it does not own."""
    argument = np.zeros(3) if function is given else data.handle(True)
    with pytest.raises((TypeError, TypingError), match="returns .* to Python|returning of array"):
        program(function)(argument)


def twice(x):
    return 2.0 * x


def test_a_program_has_what_it_calls_under_no_name_of_its_own():
    inner = inner_kernel(twice)

    def four_times(x):
        return inner(inner(x))

    kernel = program(four_times)
    assert kernel(3.0) == 12.0
    (compiled,) = kernel.overloads.values()
    names = compiled.library.get_llvm_str()
    assert "four_times" in names
    assert "twice" not in names


def test_models_that_are_read_only_cannot_be_written(plant):
    def pull(model):
        model_at(model).gravity[2] = 1.0

    with pytest.raises(TypingError, match="readonly array"):
        program(pull)(plant.model.handle(True))


def test_the_type_of_an_operator_is_found_once_for_its_operands(monkeypatch):
    asked, find = [], types.Function.get_call_type
    monkeypatch.setattr(types.Function, "get_call_type", lambda *args: asked.append(args) or find(*args))
    kinds = [(types.int16, types.float32), (types.float32, types.int16), (types.int16, types.int16)]
    first = [WHOLE.typing_context.resolve_function_type(operator.add, kind, {}) for kind in kinds]
    again = [WHOLE.typing_context.resolve_function_type(operator.add, kind, {}) for kind in kinds]
    assert [each.return_type for each in first] == [types.float32, types.float32, types.int64]
    assert len(asked) == len(kinds)
    assert all(a is b for a, b in zip(first, again, strict=True))


def test_an_operator_learns_from_extensions_of_numba():
    """After operators were used."""
    typing = WHOLE.typing_context
    typing.resolve_function_type(operator.sub, (types.float64, types.float64), {})
    with pytest.raises(TypingError):
        typing.resolve_function_type(operator.sub, (types.none, types.none), {})
    overload(operator.sub)(lambda a, b: (lambda a, b: 5.0) if a is b is types.none else None)
    typing.refresh()
    found = typing.resolve_function_type(operator.sub, (types.none, types.none), {})
    assert found.return_type == types.float64


def machine_language(function, types_):
    """LLVM's text of a program after it was optimized, without the numbers by which numba tells functions apart."""
    compiled = program(function)
    compiled.compile(types_)
    text = str(compiled.overloads[types_].library._final_module)
    return re.sub(r"B\d+v\d+|v\d+B|0x[0-9a-f]+|i64 \d{9,}|\[\d+ x i8\]", "", text)  # sizes are of texts with such names


def test_the_passes_that_kernels_go_without_change_nothing(monkeypatch):
    """The program of a kernel with loops, branches, tuples and calls, by these passes and by all of numba's."""

    def result():
        twin, _ = link_compiled({"contact", "plain"}).source("place_solids_at")
        return machine_language(twin, (types.int64,) * 3)

    by_these = result()
    monkeypatch.setattr(
        KernelCompiler, "define_pipelines", lambda self: [DefaultPassBuilder.define_nopython_pipeline(self.state)]
    )
    assert len(by_these) > 10_000
    assert by_these == result()
