"""How much of what scripts use of pydrake is here: counts over folders of Python files and notebooks.

    python -m benchmarks.pydrake_use FOLDER... [--missing 30]

Counted are uses of names imported from pydrake and of members of objects whose class follows from the file: from a
constructor, an annotation, the base of a class, or a function of pydrake's that returns one. pydrake must be
installed: it says which names are its own. What is out of scope (OUT_OF_SCOPE of mbcli/pydrake_names.py) is left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from mbcli.pydrake_names import ALSO_IN, OUT_OF_SCOPE, OUT_OF_SCOPE_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

RETURNS = {  # classes of what functions and methods return
    "AddMultibodyPlantSceneGraph": ("MultibodyPlant", "SceneGraph"),
    "AddMultibodyPlant": ("MultibodyPlant", "SceneGraph"),
    "StartMeshcat": "Meshcat",
    "LogVectorOutput": "VectorLogSink",
    "Solve": "MathematicalProgramResult",
    "Build": "Diagram",
    "CreateDefaultContext": "Context",
    "GetMyContextFromRoot": "Context",
    "GetMyMutableContextFromRoot": "Context",
    "GetSubsystemContext": "Context",
    "GetMutableSubsystemContext": "Context",
    "get_context": "Context",
    "get_mutable_context": "Context",
    "get_input_port": "InputPort",
    "GetInputPort": "InputPort",
    "get_output_port": "OutputPort",
    "GetOutputPort": "OutputPort",
    "get_mutable_continuous_state_vector": "BasicVector",
    "FindLog": "VectorLog",
    "GetBodyByName": "RigidBody",
    "GetFrameByName": "Frame",
    "GetJointByName": "Joint",
    "get_mutable_integrator": "IntegratorBase",
    "model_inspector": "SceneGraphInspector",
    "prog": "MathematicalProgram",
    "package_map": "PackageMap",
}
MAKERS = {"FirstOrderHold", "ZeroOrderHold", "CubicShapePreserving", "CubicHermite", "MakeLinear", "Make", "Identity"}


def program(path: Path) -> str | None:
    """The text of a Python file, or the code of a notebook; None for another file."""
    if path.suffix == ".py":
        return path.read_text(encoding="utf-8", errors="replace")
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError):
        return None
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    lines = "\n".join(text for text in code if not text.startswith("%%")).splitlines()
    return "\n".join(_MAGIC.sub(r"\1pass", line) for line in lines)


_MAGIC = re.compile(r"^(\s*)[%!].*")  # what is IPython's


def programs(folder: Path) -> Iterator[tuple[Path, str]]:
    """(path, text) of Python files and of the code of notebooks below a folder."""
    for path in sorted(folder.rglob("*")):
        text = program(path) if path.suffix in (".py", ".ipynb") and path.is_file() else None  # not a dangling link
        if text is not None:
            yield path, text


class Library:
    """The names of pydrake or of mbcli."""

    def __init__(self, root: str) -> None:
        self._root = root

    def get(self, path: str):
        """What pydrake.PATH is here; None if it is not."""
        module, _, name = path.rpartition(".")
        try:
            return getattr(import_module(f"{self._root}.{module}" if module else self._root), name)
        except (ImportError, AttributeError):
            pass
        try:
            return import_module(f"{self._root}.{path}")
        except ImportError:
            return None


PYDRAKE, MBCLI = Library("pydrake"), Library("mbcli")


class Reader(ast.NodeVisitor):
    """Collects the uses of a file, (path, member or None), each as often as it stands there."""

    def __init__(self) -> None:
        self.uses: list[tuple[str, str | None]] = []
        self._names: dict[str, str] = {}  # in the file: path below pydrake
        self._objects: dict[str, str] = {}  # expressions as text: path of their class
        self._stars: list[str] = []
        self._class: str | None = None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if (node.module or "").split(".")[0] != "pydrake":
            return
        module = (node.module or "").partition(".")[2]
        for alias in node.names:
            if alias.name == "*":
                self._stars.append(module)
                continue
            path = f"{module}.{alias.name}".strip(".")
            self._names[alias.asname or alias.name] = path
            self.uses.append((path, None))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name.split(".")[0] == "pydrake":
                self._names[alias.asname or "pydrake"] = alias.name.partition(".")[2] if alias.asname else ""

    def _path(self, node: ast.AST) -> str | None:
        """The path of an expression that is a name of pydrake."""
        if isinstance(node, ast.Name):
            if node.id in self._names:
                return self._names[node.id]
            for star in self._stars:
                if PYDRAKE.get(f"{star}.{node.id}") is not None:
                    return f"{star}.{node.id}"
        elif isinstance(node, ast.Attribute):
            above = self._path(node.value)
            if above is not None:
                path = f"{above}.{node.attr}".strip(".")
                return path if PYDRAKE.get(path) is not None else None
        elif isinstance(node, ast.Subscript):  # a template
            path = self._path(node.value)
            return None if path is None else path.removesuffix("_")
        return None

    def _class_of(self, node: ast.AST | None):
        """The path of the class of an expression, or several."""
        if isinstance(node, ast.Call):
            made = self._path(node.func)
            last = node.func.attr if isinstance(node.func, ast.Attribute) else None
            name = last or (made or "").rpartition(".")[2]
            if name in ("AddSystem", "AddNamedSystem") and node.args:
                return self._class_of(node.args[-1])
            if name in RETURNS and (made is not None or last is not None):
                found = RETURNS[name]
                return tuple(f"all.{x}" for x in found) if isinstance(found, tuple) else f"all.{found}"
            if last in MAKERS and isinstance(node.func, ast.Attribute):
                return self._path(node.func.value)
            return made if made and isinstance(PYDRAKE.get(made), type) else None
        if node is not None:
            return self._objects.get(ast.unparse(node))
        return None

    def _take(self, target: ast.AST, kind) -> None:
        if isinstance(kind, tuple):
            if isinstance(target, ast.Tuple) and len(target.elts) == len(kind):
                for part, each in zip(target.elts, kind, strict=True):
                    self._take(part, each)
        elif kind:
            self._objects[ast.unparse(target)] = kind
        else:
            self._objects.pop(ast.unparse(target), None)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._take(target, self._class_of(node.value))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for argument in node.args.args:
            kind = None if argument.annotation is None else self._path(argument.annotation)
            if kind is not None:
                self._objects[argument.arg] = kind
            elif argument.arg == "context":
                self._objects[argument.arg] = "all.Context"
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        bases = [path for base in node.bases if (path := self._path(base))]
        own = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
        before = self._class, getattr(self, "_own", set())
        self._class, self._own = (bases[0] if bases else None), own
        self.generic_visit(node)
        self._class, self._own = before

    def visit_Name(self, node: ast.Name) -> None:
        path = self._path(node)
        if path is not None and path:
            self.uses.append((path, None))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = self._path(node)
        if path is not None:
            self.uses.append((path, None))
            return
        owner = self._path(node.value)
        kind = owner if owner is not None else self._class_of(node.value)
        if isinstance(node.value, ast.Name) and node.value.id == "self" and self._class and node.attr not in self._own:
            kind = self._class
        if isinstance(kind, str) and hasattr(PYDRAKE.get(kind), node.attr):
            self.uses.append((kind, node.attr))
        self.visit(node.value)


def is_out_of_scope(path: str) -> bool:
    """Whether a name is none that mbcli is to have."""
    found = PYDRAKE.get(path)
    home = (getattr(found, "__module__", None) or path).removeprefix("pydrake.")
    name = path.rpartition(".")[2]
    places = (path, home)
    return name in OUT_OF_SCOPE_NAMES or any(
        place == module or place.startswith(f"{module}.") for place in places for module in OUT_OF_SCOPE
    )


def is_here(path: str, member: str | None) -> bool:
    """Whether mbcli has the name, and the member."""
    module, _, name = path.rpartition(".")
    also = ALSO_IN.get(f"pydrake.{module}", "mbcli").removeprefix("mbcli").lstrip(".")
    found = MBCLI.get(path) or MBCLI.get(f"{also}.{name}".lstrip("."))
    if found is None and path.startswith("all."):  # classes of what functions return
        theirs = PYDRAKE.get(path)
        home = (getattr(theirs, "__module__", "") or "").removeprefix("pydrake").lstrip(".")
        found = MBCLI.get(f"{home}.{path[4:]}".lstrip("."))
    return found is not None and (member is None or hasattr(found, member))


def count(folders: list[Path]):
    """(uses here, uses, files complete, files, {missing: uses})"""
    here = total = complete = files = 0
    missing: Counter[str] = Counter()
    known: dict[tuple[str, str | None], tuple[bool, bool]] = {}
    for folder in folders:
        for _, text in programs(folder):
            if "pydrake" not in text:
                continue
            reader = Reader()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    reader.visit(ast.parse(text))
            except SyntaxError:
                continue
            uses = []
            for use in reader.uses:
                if use not in known:
                    counts = PYDRAKE.get(use[0]) is not None and not is_out_of_scope(use[0])
                    known[use] = counts, counts and is_here(*use)
                if known[use][0]:
                    uses.append(use)
            if not uses:
                continue
            files += 1
            lacking = [use for use in uses if not known[use][1]]
            here, total, complete = here + len(uses) - len(lacking), total + len(uses), complete + (not lacking)
            missing.update(f"{path}.{member}" if member else path for path, member in lacking)
    return here, total, complete, files, missing


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--missing", type=int, default=20, help="how many missing names are printed")
    arguments = parser.parse_args()
    here, total, complete, files, missing = count(arguments.folder)
    print(f"{here} of {total} uses ({100.0 * here / max(total, 1):.1f} %), {complete} of {files} files complete")
    for name, uses in missing.most_common(arguments.missing):
        print(f"{uses:6d} {name}")


if __name__ == "__main__":
    main()
