"""Runs scripts that were written for pydrake, without an edit: python -m mbcli.pydrake script.py [arguments].

In a notebook `import mbcli.pydrake` before other imports does the same: from then on `pydrake.X` is `mbcli.X`. Plants
have pydrake's contact defaults, steps, ball joints and joints without dry friction then, and `==` of expressions in the
script, in cells of the notebook and in modules that these import makes a formula. What is not here can be imported;
whatever else is done with it is an ImportError that says whether it is out of scope.
"""

from __future__ import annotations

import ast
import builtins
import os
import runpy
import sys
import sysconfig
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from mbcli.multibody.core.plant_settings import OTHER_DEFAULTS
from mbcli.pydrake_equations import EQUAL, equal, give_methods, with_equations
from mbcli.pydrake_names import AliasModule, PydrakeFinder, name_what_is_used

if TYPE_CHECKING:
    from collections.abc import Sequence

PYTHONS_OWN = os.path.join(sysconfig.get_path("stdlib"), "")

DEFAULTS = {
    "contact_defaults": "drake",
    "step_scheme": "drake",
    "joint_dry_friction": False,
    "ball_joints": "drake",
    "drakes_actuators": True,
    "continuous_joint_limits": True,
    "single_contact_points": True,
}


def use_mbcli_for_pydrake() -> None:
    """From now on imports of pydrake are of mbcli, and plants have pydrake's defaults.

    RuntimeError if pydrake itself is imported already.
    """
    if isinstance(sys.modules.get("pydrake", None), ModuleType) and not isinstance(sys.modules["pydrake"], AliasModule):
        raise RuntimeError("pydrake is imported already: import mbcli.pydrake comes first")
    if not any(isinstance(finder, PydrakeFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, PydrakeFinder())
    OTHER_DEFAULTS.update(DEFAULTS)
    if not any(isinstance(finder, _EquationFinder) for finder in sys.meta_path):
        sys.meta_path.insert(sys.meta_path.index(PathFinder), _EquationFinder())
    give_methods()
    setattr(builtins, EQUAL, equal)
    notebook = getattr(builtins, "get_ipython", lambda: None)()
    if notebook is not None:
        notebook.ast_transformers.append(_Cells())


class _Cells(ast.NodeTransformer):
    """Cells of a notebook, as IPython transforms them."""

    def visit(self, node: ast.AST) -> ast.AST:
        return with_equations(node) if isinstance(node, ast.Module) else node


def run_script(path: str) -> None:
    """Runs a file as Python does: as the module __main__, with its folder on the path of modules."""
    loader = _Script("__main__", path)
    module = ModuleType("__main__")
    module.__file__ = os.path.abspath(path)
    sys.modules["__main__"] = module
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    loader.exec_module(module)


class _Script(SourceFileLoader):
    """Loads a script with its equations; nothing is kept beside it."""

    def get_code(self, fullname: str) -> CodeType:
        tree = with_equations(ast.parse(self.get_data(self.path), self.path))
        if fullname == "__main__":
            name_what_is_used(tree)
        return self.source_to_code(tree, self.path)


class _Symbols(SourceFileLoader):
    """Loads mbcli.symbolic, and gives its expressions the methods that scripts call."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        give_methods()


class _EquationFinder(MetaPathFinder):
    """Finds the modules that scripts import beside installed ones, and installed ones that name pydrake."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target)
        loader = None if spec is None or fullname.startswith("mbcli.") else spec.loader
        if spec is not None and type(loader) is SourceFileLoader and _may_have_equations(fullname, loader.path):
            spec.loader = _Script(fullname, loader.path)
        if spec is not None and fullname == "mbcli.symbolic" and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Symbols(fullname, spec.loader.path)
        return spec


@cache
def _holds_installed_packages(folder: str) -> bool:
    """Whether packages were installed into a folder: each leaves an account of its files there."""
    return os.path.basename(folder) in ("site-packages", "dist-packages") or any(Path(folder).glob("*.dist-info"))


def _may_have_equations(name: str, path: str) -> bool:
    """Whether `==` in a module is to make equations: not in Python's, nor in packages that know nothing of pydrake."""
    depth = name.count(".") + (2 if os.path.basename(path) == "__init__.py" else 1)
    installed = _holds_installed_packages(path.rsplit(os.sep, depth)[0])
    if path.startswith(PYTHONS_OWN) and not installed:
        return False
    with open(path, "rb") as file:
        text = file.read()
    return b"==" in text and (b"pydrake" in text or not installed)


def main(arguments: Sequence[str]) -> None:
    """Runs a script, or a module after -m, with its arguments."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: python -m mbcli.pydrake SCRIPT.py [ARGUMENTS...]")
        sys.exit(0 if arguments else 2)
    use_mbcli_for_pydrake()
    if arguments[0] == "-m" and len(arguments) > 1:
        sys.argv = list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = list(arguments)
    try:
        run_script(arguments[0])
    except OSError as error:
        if error.filename != arguments[0]:
            raise
        print(f"error: {arguments[0]}: cannot be read: {error.strerror}", file=sys.stderr)
        sys.exit(4)


if __name__ == "__main__":
    main(sys.argv[1:])
else:
    use_mbcli_for_pydrake()
