"""Where the program reaches into numba and numpy, and that kernels run where these are not as it expects."""

import ast
import importlib
import re
import tomllib
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from random_trees import random_plant

import mbcli
from mbcli.engine.runtime import bound_kernels, kept_kernels
from mbcli.engine.runtime.linking import kernels_made_here
from mbcli.engine.runtime.model import Data

pytestmark = pytest.mark.usefixtures("compiled_here")

PACKAGE = Path(mbcli.__file__).parent
HOMES = {"common/numba_start.py", "engine/runtime/numba_parts.py"}
PRIVATE = ("numba.core", "numba.np", "numba.experimental")
USERS = {
    "common/numba_start.py",
    "engine/precompile.py",
    "engine/runtime/instructions.py",
    "engine/runtime/kernel_cache.py",
    "engine/runtime/kept_kernels.py",
    "engine/runtime/native_programs.py",
    "engine/runtime/native_readers.py",
    "engine/runtime/structs.py",
    "engine/runtime/thread_memory_type.py",
    "engine/runtime/lane_type.py",
    "engine/runtime/numba_parts.py",
    "engine/runtime/view_arrays.py",
    "engine/runtime/whole_programs.py",
    "engine/queries/lanes.py",
    "simulation/control/addresses.py",
}
USED = (*PRIVATE, "llvmlite", "mbcli.engine.runtime.numba_parts")


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def importers(names):
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(name.startswith(names) for name in imported_modules(path))
    }


def test_private_parts_of_numba_are_imported_in_one_module():
    assert importers(PRIVATE) == HOMES


def test_private_parts_of_numba_are_used_in_the_listed_modules():
    assert importers(USED) == USERS


def test_this_numba_has_the_private_parts():
    """Names each that a release has moved, for who raises the upper bound."""
    parts = [
        (node.module, alias.name)
        for home in HOMES
        for node in ast.walk(ast.parse((PACKAGE / home).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PRIVATE)
        for alias in node.names
    ]
    assert len(parts) > 30
    missing = []
    for module, name in parts:
        try:
            if not hasattr(importlib.import_module(module), name):
                importlib.import_module(f"{module}.{name}")
        except ImportError:
            missing.append(f"{module}.{name}")
    assert missing == []


def test_numba_alone_has_an_upper_bound_and_the_installed_one_is_below_it():
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bound = re.compile(r"numba>=([\d.]+),<(\d+)\.(\d+)")
    bounded = {line: bound.fullmatch(line) for line in project["dependencies"] if "<" in line}
    assert len(bounded) == 1 and all(bounded.values()), bounded
    (found,) = bounded.values()
    installed = tuple(map(int, metadata.version("numba").split(".")[:2]))
    assert installed < (int(found[2]), int(found[3]))


def test_the_document_names_these_modules():
    text = (PACKAGE.parent / "docs" / "explanation" / "kernels.md").read_text(encoding="utf-8")
    assert [name for name in USERS if name.removeprefix("engine/") not in text] == []


def test_kernels_keep_numbas_wrapper_where_arrays_lie_otherwise(monkeypatch):
    """The fallback of native calls, where the layout is not the known one, and their results."""
    plant = random_plant(3, num_bodies=4)
    model, data = plant.model, Data(plant.model.sizes)
    monkeypatch.setattr(kept_kernels, "layout_is_known", lambda: False)
    kernels = kernels_made_here("")
    bound = bound_kernels.BoundKernels(kernels, model.handle(True), data.handle(True))
    data.v[:] = 1.0
    bound.query_qdot(data.v)
    assert type(bound.query_qdot) is not type(len)
    expected = data.qdot.copy()
    monkeypatch.undo()
    native = bound_kernels.BoundKernels(kernels_made_here(""), model.handle(True), data.handle(True))
    assert type(native.query_qdot) is type(len)
    data.qdot[:] = np.nan
    native.query_qdot(data.v)
    np.testing.assert_array_equal(data.qdot, expected)
