"""What is public: the names in the `__all__` of a module. They exist, are annotated and documented, wheels say so."""

import ast
import dataclasses
import importlib.util
import inspect
import tomllib
from pathlib import Path

import pytest
from repository import ROOT

import mbcli.math
from mbcli.lazy_exports import lazy_exports, public_names


def says_what_is_public(path):
    return late_block(path) is not None or any(
        isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
        for node in ast.parse(path.read_text()).body
    )


def late_block(path):
    """The block of a file whose names are imported when they are asked for (mbcli/lazy_exports.py), or None."""
    blocks = (node for node in ast.parse(path.read_text()).body if isinstance(node, ast.With))
    return next((node for node in blocks if ast.unparse(node.items[0]).startswith("lazy_exports(")), None)


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_path(name):
    return Path(importlib.util.find_spec(name).origin)


PUBLIC = sorted(module_name(path) for path in (ROOT / "mbcli").rglob("*.py") if says_what_is_public(path))


def ours(function):
    """The function, without what wraps it, if the program has it in its source; else None."""
    function = inspect.unwrap(function)
    return (
        function if function.__module__.startswith("mbcli") and "__create_fn__" not in function.__qualname__ else None
    )


def functions_of(kind):
    """(name, function) of the public methods and properties of a class, inherited ones among them, and __init__."""
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        if name.startswith("_") and not (name == "__init__" and "__init__" in vars(kind)):
            continue
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        elif isinstance(member, property):
            member = member.fget
        elif hasattr(member, "func") and not inspect.isfunction(member):  # a property that is computed once
            member = member.func
        if inspect.isfunction(member) and ours(member):
            if name == "__init__" and dataclasses.is_dataclass(kind) and "__init__" not in source_names(kind):
                continue
            yield name, ours(member)


def source_names(kind):
    tree = ast.parse(Path(inspect.getfile(kind)).read_text())
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == kind.__name__)
    return {n.name for c in classes for n in c.body if isinstance(n, ast.FunctionDef)}


def public_functions(module):
    """{name: function} of all functions and methods that `__all__` of a module makes public."""
    found = {}
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) and value.__module__.startswith("mbcli"):
            found |= {f"{name}.{method}": function for method, function in functions_of(value)}
        elif inspect.isfunction(value) and ours(value):
            found[name] = ours(value)
    return found


def is_annotated(function):
    signature = inspect.signature(function)
    parameters = [p for p in signature.parameters.values() if p.name not in ("self", "cls", "kind")]
    missing = [p for p in parameters if p.annotation is inspect.Parameter.empty]
    return not missing and signature.return_annotation is not inspect.Signature.empty


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_exists_and_once(name):
    module = importlib.import_module(name)
    assert [n for n in module.__all__ if not hasattr(module, n)] == []
    assert len(set(module.__all__)) == len(module.__all__)


@pytest.mark.parametrize(
    "name",
    ["math", "geometry", "multibody.math", "multibody.tree", "multibody.plant", "multibody.parsing"]
    + ["multibody.constraints", "simulation", "systems.analysis", "systems.framework", "log.reader", "log.writer"],
)
def test_what_users_import_says_what_is_public(name):
    assert f"mbcli.{name}" in PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_public_functions_have_annotated_parameters_and_results(name):
    functions = public_functions(importlib.import_module(name))
    missing = [what for what, function in functions.items() if not is_annotated(function)]
    print(f"{name}: {len(functions)} public functions, {len(missing)} not annotated")
    assert not missing


@pytest.mark.parametrize("name", PUBLIC)
def test_public_classes_and_functions_have_docstrings(name):
    module = importlib.import_module(name)
    classes = [n for n in module.__all__ if inspect.isclass(getattr(module, n))]
    functions = {n: f for n, f in public_functions(module).items() if not n.endswith(".__init__")}
    missing = [n for n in classes if not (vars(getattr(module, n)).get("__doc__") or "").strip()]
    missing += [n for n, function in functions.items() if not inspect.getdoc(function)]
    assert not missing


def test_wheels_tell_type_checkers_that_the_package_has_types():
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "py.typed" in setup["tool"]["setuptools"]["package-data"]["mbcli"]
    assert (ROOT / "mbcli" / "py.typed").exists()


def test_a_function_without_annotations_is_found():
    def bare(self, x, y: int = 0): ...

    def full(self, x: float, *rest: int) -> None: ...

    assert not is_annotated(bare)
    assert is_annotated(full)


@pytest.mark.parametrize("name", [name for name in PUBLIC if late_block(module_path(name))])
def test_names_that_come_late_are_public_to_editors_and_type_checkers_too(name):
    module = importlib.import_module(name)
    imports = [node for node in ast.walk(late_block(module_path(name))) if isinstance(node, ast.ImportFrom)]
    aliases = [alias for node in imports for alias in node.names if alias.name != "*"]
    assert [alias.name for alias in aliases if alias.asname != alias.name] == []
    assert {alias.name for alias in aliases} <= set(module.__all__) <= set(dir(module))
    absent = "nothing"
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute '{absent}'"):
        getattr(module, absent)


@pytest.mark.parametrize("name", PUBLIC)
def test_names_that_are_read_are_those_that_a_module_has(name):
    assert list(public_names(name)) == list(importlib.import_module(name).__all__)


def test_during_a_block_other_modules_import_as_ever():
    block = lazy_exports(__name__)
    block.known = {}
    with block:
        exec("from mbcli.math.quaternion import Quaternion as Turn", block.known)
        from fractions import Fraction
    assert Fraction.__module__ == "fractions" and block.known["__all__"] == ["Turn"]
    assert "Turn" not in block.known
    assert block.known["__getattr__"]("Turn") is block.known["Turn"] is mbcli.math.Quaternion
