"""What of pydrake is here, by introspection: names, members of classes, names of arguments.

Differences are paths below pydrake: `geometry.Obb` for a name, `geometry.Shape.Clone` for a member that its class
defines, `symbolic.if_then_else(cond, expr_then, expr_else)` for arguments that do not fit.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

from mbcli.pydrake_names import Missing, PydrakeFinder

MODULES = (
    "autodiffutils",
    "multibody.plant",
    "multibody.tree",
    "multibody.math",
    "multibody.parsing",
    "multibody.inverse_kinematics",
    "multibody.meshcat",
    "multibody.optimization",
    "multibody.benchmarks",
    "systems.framework",
    "systems.primitives",
    "systems.analysis",
    "systems.controllers",
    "systems.rendering",
    "systems.scalar_conversion",
    "systems.drawing",
    "systems.pyplot_visualizer",
    "systems.planar_scenegraph_visualizer",
    "geometry",
    "geometry.optimization",
    "math",
    "common",
    "common.value",
    "common.containers",
    "common.cpp_template",
    "common.eigen_geometry",
    "common.yaml",
    "symbolic",
    "trajectories",
    "visualization",
    "solvers",
    "polynomial",
    "forwarddiff",
    "planning",
)
MANGLED = "𝓣"  # in names of pydrake that stand for templates


def own_module(name: str) -> Any:
    """The module of mbcli under the name of one of pydrake."""
    finder = PydrakeFinder()
    module = finder.create_module(finder.find_spec(f"pydrake.{name}"))
    finder.exec_module(module)
    return module


def is_public(name: str) -> bool:
    return not name.startswith("_") and MANGLED not in name


def pairs() -> Iterator[tuple[str, Any, Any]]:
    """(path, pydrake's, ours or None) of all classes, functions and templates that modules define."""
    seen = set()
    for module in MODULES:
        theirs, ours = importlib.import_module(f"pydrake.{module}"), own_module(module)
        for name in filter(is_public, dir(theirs)):
            thing = getattr(theirs, name)
            home = str(getattr(thing, "__module__", "pydrake"))
            if inspect.ismodule(thing) or not (callable(thing) or type(thing).__name__ == "TemplateClass"):
                continue
            if not home.startswith("pydrake") or id(thing) in seen:  # of another library, or told where it is defined
                continue
            seen.add(id(thing))
            own = getattr(ours, name, None)
            yield f"{module}.{name}", thing, None if isinstance(own, Missing) else own


def is_there(own: Any, member: str) -> bool:
    """Whether a class, or its objects, have a member."""
    of_objects = isinstance(own, type) and issubclass(own, enum.Enum) and member in ("name", "value")
    return hasattr(own, member) or of_objects or member in getattr(own, "__dataclass_fields__", ())


def absent() -> list[str]:
    """Paths of what pydrake has and mbcli has not."""
    found = []
    for path, theirs, own in pairs():
        if own is None:
            found.append(path)
        elif inspect.isclass(theirs):
            found += [f"{path}.{k}" for k in vars(theirs) if is_public(k) and not is_there(own, k)]
    return found


def overloads(function: Any, name: str) -> Iterator[list[tuple[str, bool]]]:
    """(argument, whether it has a default) of each signature in the docstring of a function of pydrake."""
    for line in (getattr(function, "__doc__", "") or "").splitlines():
        match = re.match(rf"(?:\d+\. )?{re.escape(name)}\((.*)\)(?: -> .*)?$", line.strip())
        if match and "*args" not in match[1]:
            parts, depth, start = [], 0, 0
            for k, c in enumerate(match[1] + ","):
                depth += (c in "[(<{") - (c in "])>}")
                if c == "," and depth == 0:
                    parts.append(match[1][start:k].strip())
                    start = k + 1
            names = [(p.split(":")[0].split("=")[0].strip(), "=" in p) for p in parts if p not in ("", "*", "/")]
            yield [argument for argument in names if argument[0] != "self"]


def takes(own: Any, is_method: bool, arguments: list[tuple[str, bool]]) -> bool:
    """Whether a function can be called with all arguments by name, and with those that have no default."""
    signature = inspect.signature(own)
    others = getattr(own.__init__ if inspect.isclass(own) else own, "other_names", {})
    arguments = [(others.get(name, name), has_default) for name, has_default in arguments]
    if is_method:
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    try:
        signature.bind(**dict.fromkeys(name for name, _ in arguments))
        signature.bind(**{name: None for name, has_default in arguments if not has_default})
    except TypeError:
        return False
    return True


def other_arguments() -> tuple[int, list[str]]:
    """How many signatures were compared, and `path(arguments)` of those that cannot be called here."""
    count, found = 0, []
    for path, theirs, own in pairs():
        members = [(path, theirs, own, False)]
        if inspect.isclass(theirs) and own is not None:
            members = [
                (f"{path}.{k}", getattr(theirs, k), getattr(own, k, None), _is_method(own, k))
                for k in vars(theirs)
                if is_public(k)
            ]
            members.append((path, theirs.__init__, own, False))
        for place, function, ours, is_method in members:
            name = "__init__" if place == path and inspect.isclass(theirs) else place.rpartition(".")[2]
            if ours is None or not callable(ours):
                continue
            for arguments in overloads(function, name):
                if any(re.match(r"arg\d|\*", argument) for argument, _ in arguments):  # pydrake has no names for them
                    continue
                try:
                    inspect.signature(ours)
                except (TypeError, ValueError):
                    continue
                count += 1
                if not takes(ours, is_method, arguments):
                    found.append(f"{place}({', '.join(name for name, _ in arguments)})")
    return count, found


def _is_method(own: Any, name: str) -> bool:
    static = inspect.getattr_static(own, name, None)
    return (
        isinstance(own, type) and inspect.isfunction(getattr(own, name, None)) and not isinstance(static, staticmethod)
    )
