"""The names of pydrake as names of mbcli: which are here, and which are out of scope."""

from __future__ import annotations

from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from mbcli.pydrake_equations import give_methods

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
}
DRAKES_EXAMPLES = (
    *("AcrobotGeometry", "AcrobotSpongController", "AcrobotWEncoder", "CompassGait", "CompassGaitGeometry"),
    *("CompassGaitParams", "QuadrotorGeometry", "RimlessWheel", "RimlessWheelGeometry", "RimlessWheelParams"),
    "SpongControllerParams",
)
OUT_OF_SCOPE_NAMES = {
    **dict.fromkeys(DRAKES_EXAMPLES, "examples of Drake's own"),
    **dict.fromkeys(("RgbdSensor", "CameraInfo", "CameraConfig", "ApplyCameraConfig"), "cameras"),
    **dict.fromkeys(("RenderCameraCore", "DepthRenderCamera", "ColorRenderCamera", "MakeRenderEngineVtk"), "cameras"),
    **dict.fromkeys(("HPolyhedron", "VPolytope", "Hyperellipsoid", "GraphOfConvexSets", "Iris"), "convex sets"),
    **dict.fromkeys(("PointCloud", "DepthImageToPointCloud"), "point clouds"),
    **dict.fromkeys(("LightParameter", "EnvironmentMap", "EquirectangularMap", "NullTexture"), "rendering"),
    **dict.fromkeys(("ClippingRange", "DepthRange", "RenderLabel", "RenderEngineVtkParams"), "rendering"),
    **dict.fromkeys(("RenderEngineGlParams", "MakeRenderEngineGl", "VideoWriter"), "rendering"),
    **dict.fromkeys(("ColorizeDepthImage", "ColorizeLabelImage"), "cameras"),
    **dict.fromkeys(("MeshcatPointCloudVisualizer", "BaseField", "Fields"), "point clouds"),
    **dict.fromkeys(("DrakeVisualizer", "DrakeVisualizerParams"), "messages"),
    "ConnectContactResultsToDrakeVisualizer": "messages",
    "MakeSemidefiniteRelaxation": "semidefinite programs",
    **dict.fromkeys(("DrakeLcm", "DrakeLcmParams", "LcmSubscriberSystem", "LcmPublisherSystem"), "messages"),
    **dict.fromkeys(("Hyperrectangle", "MinkowskiSum", "CartesianProduct", "ConvexSet"), "convex sets"),
}
NOT_YET = (  # modules of pydrake without a counterpart, beside those that are out of scope
    *("common.all", "common.compatibility", "common.cpp_template", "common.jupyter", "geometry.all", "multibody.cenic"),
    *("multibody.contact_solvers", "multibody.fix_inertia", "multibody.jupyter_widgets", "multibody.mesh_to_model"),
    *("multibody.optimization", "multibody.rational", "systems.all", "systems.estimators", "systems.jupyter_widgets"),
    *("systems.perception", "tutorials", "visualization.meldis", "multibody.benchmarks.all"),
)
OTHER_PLACES = {"pydrake.common.cpp_param": "pydrake.common"}

ALSO_IN = {"pydrake.geometry": "mbcli.visualization"}  # views, which need rooms above that of geometry


class AliasModule(ModuleType):
    """A module of pydrake's name that has what one of mbcli has."""

    def __getattr__(self, name: str) -> Any:
        target = self.__dict__.get("__target__")
        if name.startswith("__"):
            raise AttributeError(name)
        if hasattr(target, name):
            return getattr(target, name)
        also = import_module(ALSO_IN[self.__name__]) if self.__name__ in ALSO_IN else None
        if hasattr(also, name):
            return getattr(also, name)
        if _is_module(f"{self.__name__}.{name}"):
            return import_module(f"{self.__name__}.{name}")
        return Missing(f"{self.__name__}.{name}", (), {})


class Missing(type):
    """What stands for a name of pydrake that is not here: scripts may import it, and derive classes from it.

    Whatever else they do with it is an ImportError that says why it is not here.
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
        if name.startswith("_"):
            raise AttributeError(name)
        raise missing(cls._path())


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
        rest = fullname.removeprefix("pydrake").removeprefix(".")
        known = (*OUT_OF_SCOPE, *NOT_YET)
        if not _is_module(fullname) and not any(f"{rest}.".startswith(f"{name}.") for name in known):
            return None  # pydrake has no such module either
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return AliasModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        if not _is_module(module.__name__):
            return  # all of its names are Missing
        target = import_module(_own_name(module.__name__))
        give_methods()
        module.__dict__["__target__"], module.__doc__ = target, target.__doc__
        if hasattr(target, "__all__"):
            module.__dict__["__all__"] = list(target.__all__)
        elif not hasattr(target, "__path__"):
            module.__dict__["__all__"] = [key for key in vars(target) if not key.startswith("_")]


def _own_name(name: str) -> str:
    """The name here of a module of pydrake."""
    return "mbcli" + OTHER_PLACES.get(name, name).removeprefix("pydrake")


def _is_module(name: str) -> bool:
    """Whether a module of pydrake is here."""
    try:
        return find_spec(_own_name(name)) is not None
    except ModuleNotFoundError:
        return False
