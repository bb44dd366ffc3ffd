"""Writes mbcli/pydrake_names.txt: the public names of every module of the installed pydrake, in lines `module: names`.

    python tests/support/list_pydrake_names.py

Behind ` | ` stand names that a module of pydrake has from elsewhere, as `np`. Modules that need IPython are read, not
imported.
"""

import ast
import pkgutil
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from repository import ROOT

PATH = ROOT / "mbcli" / "pydrake_names.txt"


def modules() -> dict[str, ModuleType | None]:
    """The public modules of pydrake by name; None for one that cannot be imported here."""
    import pydrake.all

    found: dict[str, ModuleType | None] = {"pydrake": sys.modules["pydrake"]}
    for module in pkgutil.walk_packages(pydrake.__path__, "pydrake."):
        parts = module.name.split(".")
        if "test" not in parts and not any(part.startswith("_") for part in parts):
            try:
                found[module.name] = import_module(module.name)
            except ImportError:
                found[module.name] = None
    for name, module in list(sys.modules.items()):  # those that C++ makes
        if name.startswith("pydrake.") and not any(part.startswith("_") or part == "test" for part in name.split(".")):
            found.setdefault(name, module)
    return found


def is_foreign(value: object) -> bool:
    """Whether what a module has is not of pydrake."""
    place = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(place, str) and place.partition(".")[0] not in ("pydrake", "pybind11_builtins")


def is_module_of_pydrake(value: object) -> bool:
    """Whether a module has its own line, or is of no use to others."""
    return isinstance(value, ModuleType) and value.__name__.startswith("pydrake")


def line(name: str, module: ModuleType | None) -> str:
    """The names of a module."""
    if module is None:
        source = Path(find_spec(name).origin).read_text(encoding="utf-8")
        kinds = (ast.FunctionDef, ast.ClassDef)
        return f"{name}: {' '.join(sorted(node.name for node in ast.parse(source).body if isinstance(node, kinds)))}"
    names = [each for each in sorted(vars(module)) if not each.startswith("_") and each.isascii()]
    names = [each for each in names if not is_module_of_pydrake(getattr(module, each))]
    foreign = [each for each in names if is_foreign(getattr(module, each))]
    text = f"{name}: {' '.join(each for each in names if each not in foreign)}"
    return f"{text} | {' '.join(foreign)}" if foreign else text


def text() -> str:
    """All lines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return "".join(f"{line(name, module)}\n" for name, module in sorted(modules().items()))


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
