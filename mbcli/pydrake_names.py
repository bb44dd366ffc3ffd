"""The names of pydrake as names of mbcli: which are here, which are out of scope, and which of them a script has."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from mbcli.math.scalar_template import ScalarTemplate

OUT_OF_SCOPE = {
    "geometry.optimization": "graphs of convex sets, regions of configurations",
    "planning": "motion planning",
    "perception": "point clouds",
    "systems.perception": "point clouds",
    "systems.sensors": "cameras",
    "manipulation": "drivers of robots of Drake's own",
    "lcm": "messages",
    "systems.lcm": "messages",
    "gym": "learning environments",
    "geometry.render": "rendering",
}
OUT_OF_SCOPE_NAMES = {
    **dict.fromkeys(("RgbdSensor", "CameraInfo", "CameraConfig", "ApplyCameraConfig"), "cameras"),
    **dict.fromkeys(("RenderCameraCore", "DepthRenderCamera", "ColorRenderCamera", "MakeRenderEngineVtk"), "cameras"),
    **dict.fromkeys(("PointCloud", "DepthImageToPointCloud"), "point clouds"),
    **dict.fromkeys(("LightParameter", "EnvironmentMap", "EquirectangularMap", "NullTexture"), "rendering"),
    **dict.fromkeys(("ClippingRange", "DepthRange", "RenderLabel", "RenderEngineVtkParams"), "rendering"),
    **dict.fromkeys(("RenderEngineGlParams", "MakeRenderEngineGl", "VideoWriter"), "rendering"),
    **dict.fromkeys(("ColorizeDepthImage", "ColorizeLabelImage"), "cameras"),
    **dict.fromkeys(("MeshcatPointCloudVisualizer", "BaseField", "Fields"), "point clouds"),
    **dict.fromkeys(("DrakeVisualizer", "DrakeVisualizerParams"), "messages"),
    **dict.fromkeys(("ConnectContactResultsToDrakeVisualizer", "ContactResultsToLcmSystem"), "messages"),
    **dict.fromkeys(("RenderEngine", "RenderEngineGltfClientParams", "GltfExtension", "SsaoParameter"), "rendering"),
    **dict.fromkeys(("MakeRenderEngineGltfClient", "ConcatenateImages"), "rendering"),
    "MakeSemidefiniteRelaxation": "semidefinite programs",
    **dict.fromkeys(("DrakeLcm", "LcmSubscriberSystem", "LcmPublisherSystem"), "messages"),
}
NOT_YET = ("ZmpPlanner",)  # though what else is in their module is out of scope
OTHER_PLACES = {
    **dict.fromkeys(("pydrake.lcm", "pydrake.systems.lcm"), "mbcli.config.lcm_params"),
    "pydrake.common.cpp_param": "mbcli.common",
    **dict.fromkeys(("pydrake.common.all", "pydrake.geometry.all", "pydrake.systems.all"), "mbcli.all"),
}

OF_A_TYPE = re.compile(r"(\w+_)(?:\[|𝓣)(\w+?)(?:\]|𝓤)")  # the class of a scalar type

ALSO_IN = {  # views and programs, which need rooms above those of geometry and systems
    "pydrake.geometry": "mbcli.visualization",
    "pydrake.systems.analysis": "mbcli.planning",
}


class Names(NamedTuple):
    """The public names of a module of pydrake: its own, and those that it has from elsewhere."""

    own: frozenset[str]
    foreign: frozenset[str]


@cache
def names_of_pydrake() -> dict[str, Names]:
    """{module: names} of pydrake 1.51, as tests/support/list_pydrake_names.py writes them."""
    found = {}
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        module, _, names = line.partition(":")
        own, _, foreign = names.partition("|")
        found[module] = Names(frozenset(own.split()), frozenset(foreign.split()))
    return found


class AliasModule(ModuleType):
    """A module of pydrake's name: of pydrake's names it has those of mbcli, and a stand-in for what is not here."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            names = names_of_pydrake()[self.__name__]
            if name in names.own or name in names.foreign or name.startswith("_"):
                for place in (self.__dict__.get("__target__"), ALSO_IN.get(self.__name__)):
                    found = import_module(place) if isinstance(place, str) else place
                    if hasattr(found, name):
                        return getattr(found, name)
            template = OF_A_TYPE.fullmatch(name)
            if template is not None:  # as pickles have it
                return getattr(self, template[1])[template[2]]
            kind = getattr(self.__dict__.get("__target__"), name[:-1], None) if name.endswith("_") else None
            if name in names.own and isinstance(kind, type):  # its objects hold numbers of all types
                self.__dict__[name] = ScalarTemplate(kind)
                return self.__dict__[name]
            if f"{self.__name__}.{name}" in names_of_pydrake():
                return import_module(f"{self.__name__}.{name}")
            if name in names.own:
                self.__dict__[name] = Missing(f"{self.__name__}.{name}", (), {})
                return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


class Missing(type):
    """What stands for a name of pydrake that is not here: scripts may import it, and derive classes from it.

    Whatever else they do with it is an ImportError that says why it is not here; of its members an AttributeError.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Missing:
        made = super().__new__(cls, name.rpartition(".")[2], bases, members)
        if not bases:
            made.__module__ = name  # all of it
        return made

    def __init__(cls, *unused: Any) -> None:
        pass

    def _path(cls) -> str:
        return str(cls.__mro__[-2].__module__)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        raise missing(cls._path())

    def __getitem__(cls, scalar: Any) -> Any:
        raise missing(cls._path())

    def __getattr__(cls, name: str) -> Any:
        if name == "__fields__":  # of what is read from YAML
            raise missing(cls._path())
        raise AttributeError(name if name.startswith("_") else str(missing(cls._path())))


def missing(name: str) -> ImportError:
    """The error for a module or a name of pydrake that is not here."""
    path, _, last = name.removeprefix("pydrake.").rpartition(".")
    reason = OUT_OF_SCOPE_NAMES.get(last)
    places = [path, *(m.removeprefix("pydrake.") for m, names in names_of_pydrake().items() if last in names.own)]
    for module, what in OUT_OF_SCOPE.items():
        if last not in NOT_YET and any(f"{place}.{last}".strip(".").startswith(module) for place in places):
            reason = what
    if reason is None:
        return ImportError(f"{name} is not in mbcli (docs/how-to/coming_from_pydrake.md lists what is)", name=name)
    return ImportError(f"{name} is out of mbcli's scope: {reason}", name=name)


class PydrakeFinder(MetaPathFinder, Loader):
    """Finds the module of mbcli for one of pydrake."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        known = fullname.partition(".")[0] == "pydrake" and fullname in names_of_pydrake()
        return ModuleSpec(fullname, self, is_package=True) if known else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return AliasModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        names, here = names_of_pydrake()[module.__name__], module.__dict__
        try:
            target = import_module(_own_name(module.__name__))
        except ModuleNotFoundError as error:
            if not f"{_own_name(module.__name__)}.".startswith(f"{error.name}."):
                raise
            here["__all__"] = sorted(names.own)  # all of them Missing
            return
        here["__target__"], module.__doc__ = target, target.__doc__
        here["__all__"] = sorted(names.own | {name for name in names.foreign if hasattr(target, name)})


def _own_name(name: str) -> str:
    """The name here of a module of pydrake."""
    return OTHER_PLACES.get(name) or "mbcli" + name.removeprefix("pydrake")


def name_what_is_used(tree: ast.Module) -> None:
    """Changes each `from pydrake.X import *` of a script to an import of the names that its text has: others cost time.

    A script that reads its names as texts is left as it is.
    """
    nodes = list(ast.walk(tree))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    hints = [
        hint for node in nodes for hint in (getattr(node, "annotation", None), getattr(node, "returns", None)) if hint
    ]
    texts = [part.value for hint in hints for part in ast.walk(hint) if isinstance(part, ast.Constant)]
    used |= {word for text in texts for word in re.findall(r"\w+", str(text))}  # of types in quotes
    if used & {"eval", "exec", "globals", "locals", "vars", "dir", "compile", "__import__"}:
        return
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and node.module in names_of_pydrake():
            names = import_module(node.module).__all__
            node.names = [ast.copy_location(ast.alias(name), node) for name in names if name in used] or node.names
