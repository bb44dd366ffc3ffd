"""Names for completion: elements of the models on a line, paths of parameters, fields of logs.

A user waits for them at every press of a key: models are not loaded, their files are looked through, without meshes and
without the libraries that loading needs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from mbcli.parsers.formats import FORMATS, OF_SUFFIX

XML_SUFFIXES = (*(s for s, name in OF_SUFFIX.items() if not FORMATS[name].IS_SCENE), ".xml", ".srdf")
SCENE_SUFFIXES = tuple(suffix for suffix, name in OF_SUFFIX.items() if FORMATS[name].IS_SCENE)
LOG_SUFFIXES = (".h5", ".hdf5", ".partial")
LARGEST_FILE = 1 << 24  # [bytes]: no names are read of a larger one while a user waits for them
MOST_SCENE_FILES = 20

FRAMES = ("link", "body", "frame")
JOINTS = ("joint",)
BODIES = ("link", "body")
POSTURES = ("group_state", "key")

# The elements of files that have the parameters of --set, and these: `mbcli.models.element_parameters` has the table, a
# test compares both. Which of them a joint has depends on its type: offered are those of all.
ELEMENTS_OF_KIND = {
    "body": BODIES,
    "joint": JOINTS,
    "actuator": ("actuator", "motor", "position", "velocity", "general", "transmission"),
    "geometry": ("collision", "geom"),
    "field": (),
}
PARAMETERS_OF_KIND = {
    "body": ("mass", "com", "inertia"),
    "joint": (
        "damping", "friction", "armature", "stiffness", "rest_position", "default_position", "lower_limit",
        "upper_limit", "velocity_limit", "acceleration_limit",
    ),
    "actuator": ("gear_ratio", "rotor_inertia", "effort_limit", "kp", "kd"),
    "geometry": (
        "friction", "static_friction", "dynamic_friction", "friction_across", "stiffness", "dissipation",
        "relaxation_time", "torsional_friction", "rolling_friction", "restitution", "bounce_threshold", "place",
    ),
    "field": ("vector",),
}  # fmt: skip


def names_in_files(words: list[str], elements: tuple[str, ...]) -> list[str]:
    """The names of elements in the model files among the words of a line, once each."""
    return list(dict.fromkeys(name for path in _model_files(words) for name in names_in(path, elements)))


def _model_files(words: list[str]) -> Iterator[str]:
    for word in words:
        if not os.path.isfile(word):
            continue
        if word.lower().endswith(XML_SUFFIXES):
            yield word
        elif word.lower().endswith(SCENE_SUFFIXES):
            yield from _files_of_scene(word)


def _files_of_scene(path: str) -> Iterator[str]:
    """The model files beside it that directives or a scenario name."""
    if os.path.getsize(path) > LARGEST_FILE:
        return
    with open(path, encoding="utf-8", errors="replace") as file:
        named = re.findall(r"\bfile:\s*[\"']?([^\s\"',}]+)", file.read())
    for name in list(dict.fromkeys(named))[:MOST_SCENE_FILES]:
        found = _found_beside(path, name)
        if found.lower().endswith(XML_SUFFIXES) and os.path.isfile(found):
            yield found


def _found_beside(path: str, name: str) -> str:
    """The path of a file that another one names; that of a package only if this one is in the folder of the package."""
    folder = os.path.dirname(os.path.abspath(path))
    if name.startswith("package://"):
        package, _, name = name.removeprefix("package://").partition("/")
        while os.path.basename(folder) != package and folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
    return os.path.join(folder, name)


def names_in(path: str, elements: tuple[str, ...]) -> list[str]:
    """The names of elements of a model file in XML, as far as it can be read."""
    from lxml import etree

    if os.path.getsize(path) > LARGEST_FILE:
        return []
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False)
    try:
        root = etree.parse(path, parser).getroot()
    except (OSError, etree.XMLSyntaxError):
        return []
    nodes = [] if root is None else root.iter(*elements)
    named = (_name(node) for node in nodes if _moves(node))
    return [name for name in named if name]


def _name(node: Any) -> str | None:
    """Its name; of a geometry without one that of its body, which stands for it."""
    if node.get("name") or node.tag not in ELEMENTS_OF_KIND["geometry"] or node.getparent() is None:
        return node.get("name")
    return node.getparent().get("name")


def _moves(node: Any) -> bool:
    """Whether a joint has a position; other elements count too."""
    return node.tag != "joint" or node.get("type") not in ("fixed",)


def parameter_paths(words: list[str], incomplete: str) -> list[str]:
    """What a path of --set goes on with: kinds and settings, names of elements, parameters with `=`."""
    kind, dot, rest = incomplete.partition(".")
    if not dot:
        return [*(f"{kind}." for kind in PARAMETERS_OF_KIND), "plant_config.", "simulator_config."]
    if kind in ("plant_config", "simulator_config"):
        return [f"{kind}.{setting}=" for setting in _settings(kind)]
    if kind not in PARAMETERS_OF_KIND:
        return []
    names = [*names_in_files(words, ELEMENTS_OF_KIND[kind]), "*"]
    whole = [name for name in names if rest.startswith(f"{name}.")]
    if whole:
        name = max(whole, key=len)
        return [f"{kind}.{name}.{parameter}=" for parameter in PARAMETERS_OF_KIND[kind]]
    return [f"{kind}.{name}." for name in names]


def varied_paths(words: list[str], incomplete: str) -> list[str]:
    """As parameter_paths(), and starts and actuation, which `sweep --vary` takes."""
    if incomplete.startswith("state."):
        return [f"state.{name}=" for name in names_in_files(words, JOINTS)]
    if incomplete.startswith("u."):
        return [f"u.{name}=" for name in names_in_files(words, ELEMENTS_OF_KIND["actuator"])]
    more = [] if "." in incomplete else ["state.", "state=random", "u."]
    return parameter_paths(words, incomplete) + more


def _settings(name: str) -> list[str]:
    import dataclasses

    from mbcli.config.plant_config import MultibodyPlantConfig
    from mbcli.config.simulator_config import SimulatorConfig

    record = {"plant_config": MultibodyPlantConfig, "simulator_config": SimulatorConfig}[name]
    return [field.name for field in dataclasses.fields(record)]


def fields_of_logs(words: list[str], incomplete: str) -> list[str]:
    """What a list of fields goes on with: those of the logs on the line, and their positions and velocities."""
    from mbcli.errors import MbcliError
    from mbcli.log import Log
    from mbcli.log.column_names import short_name
    from mbcli.log.running import path_of_rows

    before = incomplete[: incomplete.rfind(",") + 1]
    found: list[str] = []
    for word in words:
        if not word.lower().endswith(LOG_SUFFIXES):
            continue
        try:
            with Log(path_of_rows(word)) as log:
                for path in log.fields():
                    found += [short_name(path), path.rpartition("/")[2]]
                found += [*log.position_names, *log.velocity_names]
        except MbcliError:
            continue
    return [before + name for name in dict.fromkeys(found)]


def schemas(words: list[str], incomplete: str) -> list[str]:
    """The names of `mbcli schema`."""
    from importlib import resources

    suffix = ".schema.json"
    files = (file.name for file in resources.files("mbcli.schemas").iterdir())
    return sorted(name.removesuffix(suffix) for name in files if name.endswith(suffix))


def codes(words: list[str], incomplete: str) -> list[str]:
    """The codes of `mbcli explain`."""
    from mbcli.parsers.checks.codes import CODES

    return list(CODES)


def elements(tags: tuple[str, ...], ending: str = "") -> Callable[[list[str], str], list[str]]:
    """(words, incomplete) -> names of elements of the models on the line."""
    return lambda words, incomplete: [name + ending for name in names_in_files(words, tags)]
