"""Runs scripts that were written for pydrake, without an edit: python -m mbcli.pydrake script.py [arguments].

In a notebook `import mbcli.pydrake` before other imports does the same: from then on `pydrake.X` is `mbcli.X`. Plants
have pydrake's contact defaults, steps and joints without dry friction then. What is not here is an ImportError that
says whether it is out of scope.
"""

from __future__ import annotations

import runpy
import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mbcli.multibody.plant.settings import OTHER_DEFAULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULTS = {"contact_defaults": "drake", "step_scheme": "drake", "joint_dry_friction": False}
OUT_OF_SCOPE = {
    "geometry.optimization": "convex sets and their graphs",
    "planning": "motion planning",
    "perception": "point clouds",
    "systems.sensors": "cameras",
    "manipulation": "drivers of robots of Drake's own",
    "lcm": "messages",
    "systems.lcm": "messages",
    "gym": "learning environments",
    "geometry.render": "rendering",
    "examples": "examples of Drake's own",
}
OUT_OF_SCOPE_NAMES = {
    **dict.fromkeys(("SnoptSolver", "MosekSolver", "GurobiSolver"), "commercial solvers"),
    **dict.fromkeys(("RgbdSensor", "CameraInfo", "CameraConfig", "ApplyCameraConfig"), "cameras"),
    **dict.fromkeys(("RenderCameraCore", "DepthRenderCamera", "ColorRenderCamera", "MakeRenderEngineVtk"), "cameras"),
    **dict.fromkeys(("HPolyhedron", "VPolytope", "Hyperellipsoid", "GraphOfConvexSets", "Iris"), "convex sets"),
    **dict.fromkeys(("PointCloud", "DepthImageToPointCloud"), "point clouds"),
    **dict.fromkeys(("DrakeLcm", "LcmSubscriberSystem", "LcmPublisherSystem"), "messages"),
}
OTHER_PLACES = {"pydrake.common.cpp_param": "pydrake.common"}


class AliasModule(ModuleType):
    """A module of pydrake's name that has what one of mbcli has."""

    def __getattr__(self, name: str) -> Any:
        target = self.__dict__.get("__target__")
        if target is None or name in ("__path__", "__spec__"):
            raise AttributeError(name)
        try:
            return getattr(target, name)
        except AttributeError:
            if name.startswith("__"):
                raise
            raise missing(f"{self.__name__}.{name}") from None


def missing(name: str) -> ImportError:
    """The error for a module or a name of pydrake that is not here."""
    path, _, last = name.removeprefix("pydrake.").rpartition(".")
    reason = OUT_OF_SCOPE_NAMES.get(last)
    for module, what in OUT_OF_SCOPE.items():
        if f"{path}.{last}".strip(".").startswith(module):
            reason = what
    if reason is None:
        return ImportError(f"{name} is not in mbcli (docs/coming_from_pydrake.md lists what is)", name=name)
    return ImportError(f"{name} is out of mbcli's scope: {reason}", name=name)


class PydrakeFinder(MetaPathFinder, Loader):
    """Finds the module of mbcli for one of pydrake."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != "pydrake" and not fullname.startswith("pydrake."):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return AliasModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        name = OTHER_PLACES.get(module.__name__, module.__name__)
        ours = "mbcli" + name.removeprefix("pydrake")
        try:
            found = find_spec(ours) is not None
        except ModuleNotFoundError:
            found = False
        if not found:
            raise missing(module.__name__)
        target = import_module(ours)
        module.__dict__["__target__"], module.__doc__ = target, target.__doc__
        if hasattr(target, "__all__"):
            module.__dict__["__all__"] = list(target.__all__)
        elif not hasattr(target, "__path__"):
            module.__dict__["__all__"] = [key for key in vars(target) if not key.startswith("_")]


def use_mbcli_for_pydrake() -> None:
    """From now on imports of pydrake are of mbcli, and plants have pydrake's defaults.

    RuntimeError if pydrake itself is imported already.
    """
    if isinstance(sys.modules.get("pydrake", None), ModuleType) and not isinstance(sys.modules["pydrake"], AliasModule):
        raise RuntimeError("pydrake is imported already: import mbcli.pydrake comes first")
    if not any(isinstance(finder, PydrakeFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, PydrakeFinder())
    OTHER_DEFAULTS.update(DEFAULTS)


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
        runpy.run_path(arguments[0], run_name="__main__")
    except FileNotFoundError as error:
        if error.filename != arguments[0]:
            raise
        print(f"error: {arguments[0]}: there is no such file", file=sys.stderr)
        sys.exit(4)


if __name__ == "__main__":
    main(sys.argv[1:])
else:
    use_mbcli_for_pydrake()
