"""Constants of the engine: a name stands for one number, whatever table it is a column of."""

import ast
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import mbcli.engine

ENGINE = Path(mbcli.engine.__file__).parent
# each file of a joint type says the same things about its joint
OF_EACH_JOINT = {"NUM_POSITIONS", "NUM_VELOCITIES"}


def engine_modules():
    """Names of the modules of the engine, which hold kernels or their tables, and their syntax trees."""
    for path in sorted(ENGINE.rglob("*.py")):
        name = ".".join(("mbcli.engine", *path.relative_to(ENGINE).with_suffix("").parts))
        if path.name not in ("__init__.py", "__main__.py"):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def constants_of(tree):
    """Names in capitals that a module assigns at its top level."""
    for node in tree.body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name) and name.id.isupper():
                    yield name.id


def integer_constants():
    """{name: {module that assigns it: value}} of all whole numbers."""
    found = defaultdict(dict)
    for module, tree in engine_modules():
        for name in constants_of(tree):
            value = getattr(import_module(module), name)
            if type(value) is int:
                found[name][module] = value
    return found


def test_a_name_of_a_column_or_a_status_stands_for_one_number():
    found = {name: places for name, places in integer_constants().items() if name not in OF_EACH_JOINT}
    assert len(found) > 150
    ambiguous = {name: places for name, places in found.items() if len(set(places.values())) > 1}
    assert ambiguous == {}


def test_a_name_of_a_column_is_declared_in_one_module():
    """An equal name of an equal number in another module would be a second declaration of one column."""
    found = {name: places for name, places in integer_constants().items() if name not in OF_EACH_JOINT}
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def indices(tree):
    """Names in capitals that are an index of a subscript."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
                if isinstance(part, ast.Name) and part.id.isupper():
                    yield part.id


def test_columns_are_declared_with_the_fields():
    """A kernel indexes arrays with constants of the module that declares the fields, not of its own or another's."""
    for module, tree in engine_modules():
        if not module.startswith(("mbcli.engine.fields.", "mbcli.engine.runtime.")):
            imported = {
                alias.asname or alias.name
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and not node.module.startswith("mbcli.engine.fields.")
                for alias in node.names
            }
            own = set(constants_of(tree))
            strays = set(indices(tree)) & (imported | own)
            assert strays == set(), module
