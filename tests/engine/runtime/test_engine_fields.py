"""The declarations behind the engine: fields, kernel modules, the rules that kernel sources keep."""

import ast
import importlib
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernel_kinds import NOT_SMOOTH, NOT_SMOOTH_PACKAGES, SWITCHES

import mbcli.engine
from mbcli.engine import load_kernels
from mbcli.engine.fields.assembly_fields import ASSEMBLY_FIELDS
from mbcli.engine.fields.model_fields import (
    CONSTRAINT_FIELDS,
    CONSTRAINT_WORK_FIELDS,
    DATA_FIELDS,
    MODEL_FIELDS,
    shape_of,
)
from mbcli.engine.fields.run_fields import (
    ACTUATION_FIELDS,
    BALANCE_FIELDS,
    INTEGRATION_FIELDS,
    RECORDING_FIELDS,
    STEPPING_FIELDS,
    WORLD_FIELDS,
)
from mbcli.engine.runtime.dispatch import WRITTEN
from mbcli.engine.runtime.kernel import KERNEL_MODULES, KINDS
from mbcli.engine.runtime.linking import all_kernels, bodies_of
from mbcli.engine.runtime.model import Data, Model, _zeroed_memory

ENGINE = Path(mbcli.engine.__file__).parent
SIZES = {"nbound": 2, "nbody": 3, "nlink": 5, "nframe": 6, "nq": 8, "nv": 7, "nu": 2}
SIZES |= {"ndriven": 1, "ntransmission": 2, "nactivation": 1, "npath": 3, "nsum": 2, "nelement": 4}
SIZES |= {
    "nspring": 2,
    "nhinge": 1,
    "nbushing": 3,
    "ncut": 2,
    "ncurve": 2,
    "nsegment": 4,
    "nlock": 1,
    "npd": 1,
    "nlimit": 2,
    "nturn": 2,
    "nfriction": 1,
    "nstop": 2,
    "nspeed": 2,
    "nbounded": 4,
}
SIZES |= {"nconstraint": 3, "nrow": 7, "nsupport": 9, "nentry": 20, "npacked": 12, "npair": 4, "nshared": 6}
SIZES |= {"nterm": 2, "nprofile": 11, "nlimit": 2, "nbounded": 4}
SIZES |= {"ny": 15, "nstage": 2, "nrate": 3, "nweight": 3, "nwide": 15, "nsystem": 30, "nkept": 18}
SIZES |= {"nequation": 7, "nwide": 7, "nattempt": 3, "npanel": 80}
SIZES |= {
    "npush": 2,
    "npushed": 4,
    "nefforts": 3,
    "nwrenches": 3,
    "nsolid": 4,
    "nvdot": 5,
    "nload": 5,
    "nchange": 4,
    "nsample": 5,
    "nworld": 3,
    "ninput": 2,
    "nstored": 4,
    "nbalance": 3,
}
RUN_TABLES = (INTEGRATION_FIELDS, STEPPING_FIELDS, ACTUATION_FIELDS, RECORDING_FIELDS, BALANCE_FIELDS, WORLD_FIELDS)
TABLES = (MODEL_FIELDS, DATA_FIELDS, CONSTRAINT_FIELDS, CONSTRAINT_WORK_FIELDS, ASSEMBLY_FIELDS, *RUN_TABLES)
INTEGER_FIELDS = {field.name for table in TABLES for field in table if field.kind == "int"}


def arrays(**changed):
    """A value for each field of Model."""
    return {field.name: np.zeros(shape_of(field, SIZES)) for field in MODEL_FIELDS} | changed


# fields


@pytest.mark.parametrize("field", [field for table in TABLES for field in table], ids=lambda field: field.name)
def test_every_field_says_its_shape_kind_unit_and_meaning(field):
    assert all(isinstance(n, int) or n in SIZES for n in field.shape)
    assert field.kind in ("real", "int")
    assert len(field.doc) >= 8
    if field.kind == "int":
        assert field.unit == ""  # an index or a flag has none
    elif field.name != "qdot":  # its elements have the units of q per second
        assert field.unit


def test_field_names_are_unique():
    names = [field.name for table in TABLES for field in table]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_model_and_data_have_the_declared_shapes_and_kinds(dtype):
    model, data = Model(SIZES, arrays(), dtype), Data(SIZES, dtype)
    for owner, fields in ((model, MODEL_FIELDS), (data, DATA_FIELDS)):
        for field in fields:
            value = getattr(owner, field.name)
            assert value.shape == shape_of(field, SIZES), field.name
            assert value.dtype == (dtype if field.kind == "real" else np.int64), field.name
            assert value.flags.c_contiguous, field.name


def test_model_refuses_a_wrong_shape_an_unknown_field_and_a_missing_one():
    with pytest.raises(ValueError, match=r"screw_lead has shape \(2,\), not \(3,\)"):
        Model(SIZES, arrays(screw_lead=[0.0, 0.0]))
    with pytest.raises(ValueError, match="not fields of Model: .*body_colour"):
        Model(SIZES, arrays(body_colour=[0.0]))
    incomplete = arrays()
    del incomplete["gravity"]
    with pytest.raises(KeyError, match="gravity"):
        Model(SIZES, incomplete)


def test_model_copies_what_it_is_given_and_cannot_be_written():
    mine = np.zeros(3)
    model = Model(SIZES, arrays(screw_lead=mine))
    mine[0] = 1.0
    assert model.screw_lead[0] == 0.0
    for field in MODEL_FIELDS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, field.name)[...] = 0


def test_replace_changes_the_given_fields_only():
    model = Model(SIZES, arrays())
    other = model.replace(dtype=complex, screw_lead=[0.0, 1.0j, 2.0])
    assert other.screw_lead[1] == 1.0j
    assert other.gravity.dtype == complex
    assert model.screw_lead.dtype == float
    assert not model.screw_lead.any()


# sources


def engine_modules():
    """Names, relative to mbcli.engine, and syntax trees of all its modules."""
    for path in sorted(ENGINE.rglob("*.py")):
        parts = path.relative_to(ENGINE).with_suffix("").parts
        yield ".".join(parts), ast.parse(path.read_text(encoding="utf-8"))


MAKERS = {"dispatch", "selects"}  # of kernels, see engine/runtime/dispatch.py


def kernels_of(tree):
    """The functions of a module that are marked as kernels."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            marks = {getattr(getattr(mark, "func", mark), "id", "") for mark in node.decorator_list}
            if marks & {"kernel", "slot", "entry", "called", "unlocked"}:
                node.decorator_list = []
                yield node
        elif isinstance(node, ast.Assign) and getattr(getattr(node.value, "func", None), "id", "") in MAKERS:
            yield ast.parse(WRITTEN[node.targets[0].id]).body[0]


def is_smooth(name):
    if name.startswith(NOT_SMOOTH_PACKAGES) or module_of(name) == TRIGONOMETRY:
        return False
    return short(name) not in NOT_SMOOTH


def short(name):
    return name.rpartition(".")[2]


def module_of(name):
    return name.rpartition(".")[0]


all_kernels()  # their modules are imported: what dispatch() writes is known
KERNELS = {f"{module}.{f.name}": f for module, tree in engine_modules() for f in kernels_of(tree)}


def test_every_module_that_defines_kernels_is_listed_and_only_those():
    defining = {module_of(name) for name in KERNELS}
    assert set(KERNEL_MODULES) == defining
    assert len(set(KERNEL_MODULES)) == len(KERNEL_MODULES)


def test_kernels_have_unique_names_and_are_all_loaded():
    names = [short(name) for name in KERNELS]
    assert len(set(names)) == len(names)
    assert sorted(function.__name__ for function in all_kernels()) == sorted(names)
    assert all(getattr(load_kernels(False), f.__name__) is f for f in all_kernels())


MOST_ARGUMENTS = 10


def test_kernels_take_few_arguments():
    """More of them belong into arrays of one table, and pass as one handle."""
    functions = {f for kind in KINDS for pair in bodies_of({kind}).items() for f in pair}
    counts = {f"{f.__module__}.{f.__name__}": f.__code__.co_argcount for f in functions}
    most = dict(sorted(counts.items(), key=lambda item: -item[1])[:10])
    assert max(most.values()) <= MOST_ARGUMENTS, most


def test_interpreted_kernels_import_no_numba():
    code = (
        "import sys; from mbcli.engine import load_kernels; "
        "load_kernels(False).read_lines; assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


ALLOWED_STATEMENTS = (
    ast.Assign,
    ast.AugAssign,
    ast.Expr,
    ast.For,
    ast.While,
    ast.If,
    ast.Return,
    ast.Break,
    ast.Continue,
)
# the one module that looks at the size of an element, and calls numpy
TRIGONOMETRY = "smooth.trigonometry"
ALLOWED_NUMPY = {TRIGONOMETRY: {"rint", "floor", "sin", "cos", "sqrt", "tanh", "arctan", "arctan2", "copysign"}}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_scalar_loops_that_allocate_nothing(name):
    """No `@`, no numpy but the listed functions of one number, no containers but tuples, nothing that raises."""
    function = KERNELS[name]
    for node in ast.walk(function):
        where = f"{name}, line {getattr(node, 'lineno', '?')}"
        if isinstance(node, ast.stmt) and node is not function:
            assert isinstance(node, ALLOWED_STATEMENTS), f"{where}: {type(node).__name__}"
        assert not isinstance(node, ast.MatMult), where
        containers = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
        assert not isinstance(node, (*containers, ast.JoinedStr, ast.Lambda, ast.Starred)), where
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
            assert node.attr in ALLOWED_NUMPY.get(module_of(name), ()), f"{where}: np.{node.attr}"


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_call_nothing_but_kernels_and_a_few_builtins(name):
    """A call that is no kernel has no place in both kinds of running; handles are resolved by two functions."""
    kinds = (
        "model",
        "data",
        "constraints",
        "work",
        "assembly",
        "points",
        "solver",
        "collision",
        "samples",
        "sleep",
        "integration",
        "stepping",
        "actuation",
        "recording",
        "balance",
        "worlds",
        "lanes",
    )
    handles = {f"{kind}_at" for kind in kinds}
    lanes = {
        "sum_of_lanes",
        "add_product",
        "subtract_product",
        "publish",
        "wait_until",
        "where_positive",
        "any_positive",
        "lanes_of",
        "element",
        "set_element",
    }
    known = {short(n) for n in KERNELS} | {"range", "call_by_address"} | lanes | handles
    not_smooth = {"abs", "max", "min", "int", "float"}
    for node in ast.walk(KERNELS[name]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            allowed = known | (set() if is_smooth(name) else not_smooth)
            assert node.func.id in allowed, f"{name}, line {node.lineno}: {node.func.id}()"


class Integers:
    """Which expressions of a kernel are surely integers or flags of the model.

    These are constants, shapes, elements of the model's integer fields, constants of modules, loop counters,
    parameters declared as switches, and locals that are assigned from nothing else. Whether a body sleeps,
    or moves with the mean of its velocities, is a flag, and how many rows force elements have is a number of the model.
    """

    def __init__(self, function):
        self.names = {a.arg for a in function.args.args if a.arg in SWITCHES}
        self.arrays = set()
        targets = [(n.target, None) for n in ast.walk(function) if isinstance(n, ast.For)]
        self.names |= {t.id for t, _ in targets}
        assigned = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    for name, value in pairs(target, node.value):
                        assigned.setdefault(name, []).append(value)
        for _ in range(len(assigned) + 1):  # locals that depend on others settle in as many rounds
            for name, values in assigned.items():
                if all(v is not None and self.is_array(v) for v in values):
                    self.arrays.add(name)
                elif all(v is not None and self.holds(v) for v in values):
                    self.names.add(name)

    def is_array(self, node):
        if isinstance(node, ast.Name):
            return node.id in self.arrays
        return isinstance(node, ast.Attribute) and node.attr in INTEGER_FIELDS

    def holds(self, node):
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in self.names or node.id.isupper()
        if isinstance(node, ast.Call):
            return getattr(node.func, "id", "") in ("is_asleep", "is_in_middle", "number_of_rows")
        if isinstance(node, ast.Subscript):
            is_shape = isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
            return is_shape or self.is_array(node.value)
        if isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare)):
            return all(self.holds(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
        return False


def pairs(target, value):
    """(name, value) of an assignment, element by element where both sides are tuples; value None where unknown."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple):
        known = isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts)
        for k, element in enumerate(target.elts):
            yield from pairs(element, value.elts[k] if known else None)


def decisions(function):
    """All expressions on whose truth a kernel decides, and all comparisons."""
    for node in ast.walk(function):
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node.test
        elif isinstance(node, (ast.Compare, ast.BoolOp)):
            yield node


def unsmooth_decisions(function):
    integers = Integers(function)
    return [node for node in decisions(function) if not integers.holds(node)]


SMOOTH = [name for name in KERNELS if is_smooth(name)]


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_kernels_decide_on_the_model_only(name):
    """The rule behind derivatives by complex steps: no branch on the value of a real element."""
    found = [f"line {node.lineno}: {ast.unparse(node)}" for node in unsmooth_decisions(KERNELS[name])]
    assert not found, f"{name}: {found}"


@pytest.mark.parametrize(
    "body",
    [
        "if data.q[0] > 0.0: data.v[0] = 1.0",
        "x = data.q[0]\n    if x > 0.0: data.v[0] = 1.0",
        "q, n = data.q, 3\n    while q[n] < 1.0: q[n] += 1.0",
        "data.v[0] = 1.0 if model.gravity[2] else 0.0",
        "i = 0\n    i = data.q[0]\n    if i: data.v[0] = 1.0",
        "m, h = weight(model, data)\n    if m == 0.0: data.v[0] = 1.0",
    ],
)
def test_the_check_for_smooth_kernels_sees_a_branch_on_an_element(body):
    function = ast.parse(f"def f(model, data):\n    {body}\n").body[0]
    assert unsmooth_decisions(function)


def test_the_lists_of_exceptions_name_existing_kernels_and_parameters():
    names = {short(name) for name in KERNELS}
    assert set(NOT_SMOOTH) <= names
    assert TRIGONOMETRY in {module_of(name) for name in KERNELS}
    parameters = {a.arg for f in KERNELS.values() for a in f.args.args}
    assert set(SWITCHES) <= parameters


# the directory in which compiled kernels are kept; the import of numba
BELOW_ENGINE = {
    "mbcli.common",  # kept_files
    "mbcli.common.collection_pause",
    "mbcli.common.file_locks",
    "mbcli.common.left_behind",
    "mbcli.common.numba_start",
    "mbcli.common.turns",
    "mbcli.common.user_cache",
    "mbcli.config.contact_laws",  # names of laws, without imports
}


def test_the_engine_imports_nothing_of_the_layers_above():
    for name, tree in engine_modules():
        for node in ast.walk(tree):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) else []
            for module in modules:
                if module.startswith("mbcli"):
                    assert module.startswith("mbcli.engine") or module in BELOW_ENGINE, f"{name} imports {module}"


def test_importing_a_kernel_module_leaves_its_functions_plain():
    """Loading the compiled kernels does not replace what an import gives: both kinds live in one process."""
    load_kernels(True)
    module = importlib.import_module("mbcli.engine.smooth.spatial")
    assert module.dot is load_kernels(False).dot
    assert module.dot is not load_kernels(True).dot


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory otherwise")
def test_large_arrays_take_no_memory_before_they_are_written():
    def resident():
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    before = resident()
    memory, start = _zeroed_memory(60_000 * 60_000 * 8)
    M = np.ndarray((60_000, 60_000), float, memory, start)
    M[59_999, 0] = 1.0
    assert M[59_999].sum() == 1.0
    assert resident() - before < 1 << 28
