"""The names of pydrake as names of mbcli: which are here, and which are out of scope."""

from __future__ import annotations

from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

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
        return ImportError(f"{name} is not in mbcli (docs/how-to/coming_from_pydrake.md lists what is)", name=name)
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
