"""<sensor> as SDFormat has it, in SDFormat files and in the <gazebo> elements of URDF.

The kinds are files of mbcli/sensors, which say what of the element they read. A fault in a sensor leaves it out and is
a warning: no motion depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from mbcli.parsers.spec import SensorSpec
from mbcli.parsers.xml_node import quoted

from mbcli.common.file_settings import Number, Triple
from mbcli.sensors import SENSORS, kind_of
from mbcli.sensors.settings import Noise, NoiseSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from mbcli.parsers.xml_node import Node

    from mbcli.common.file_settings import Word
    from mbcli.sensors import SensorKind

LEFT_OUT = "the sensor is left out"
CAMERAS = frozenset(
    ("camera", "multicamera", "depth", "depth_camera", "rgbd", "rgbd_camera", "thermal", "thermal_camera")
    + ("wideanglecamera", "boundingbox_camera", "boundingbox", "segmentation_camera", "segmentation", "logical_camera")
)
OTHERS = frozenset(("custom", "dvl", "rfid", "rfidtag", "sonar", "wireless_receiver", "wireless_transmitter"))
_NOISE_TYPES = ("none", "gaussian", "gaussian_quantized")
NOISE_NUMBERS = {
    "mean": "mean",
    "stddev": "stddev",
    "bias_mean": "bias_mean",
    "bias_stddev": "bias_stddev",
    "precision": "precision",
    "dynamic_bias_stddev": "drift_stddev",
    "dynamic_bias_correlation_time": "drift_time",
}
_NOT_NEGATIVE = ("stddev", "bias_stddev", "precision", "drift_stddev", "drift_time")


@dataclass(frozen=True, slots=True)
class WorldOfSensors:
    """What of a world sensors measure; of a file without one, what Gazebo takes."""

    magnetic_field: tuple[float, float, float] = (5.5645e-6, 22.8758e-6, -42.3884e-6)  # [T]
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m/s]
    earth: dict[str, float] | None = None  # latitude_deg, longitude_deg, elevation [m], heading_deg; None: not stated


@dataclass(frozen=True, slots=True)
class Mounting:
    """Where a <sensor> stands: in a "link" or "joint"; fields: those of a SensorSpec that say so."""

    tag: str
    fields: dict[str, Any] = field(default_factory=dict)
    collisions: tuple[str, ...] = ()  # of the link


def read_sensor(node: Node, name: Any, mounting: Mounting, world: WorldOfSensors) -> SensorSpec | None:
    """The `SensorSpec` of a <sensor>; None if it gives nothing, which is reported."""
    with node.diagnostics.leaving_out(node, LEFT_OUT) as faults:
        spec = _read_sensor(node, name, mounting, world)
    if faults:
        node.ignore("settled")
        return None
    return spec


def _read_sensor(node: Node, name: Any, mounting: Mounting, world: WorldOfSensors) -> SensorSpec | None:
    word = node.attribute("type", required=True)
    if word is None:
        return None
    kind = kind_of("SDF", word)
    if kind is None or mounting.tag not in SENSORS[kind].SDF_MOUNTS:
        _report_none(node, word, kind, mounting)
        return None
    file = SENSORS[kind]
    for tag in ("topic", "visualize", "always_on", "enable_metrics", "plugin", "frame_id", "gz_frame_id"):
        for child in node.children(tag):
            child.ignore("foreign")
    rate = _number(node, Number("update_rate", 0.0, 0.0), node.child("update_rate"))
    container = next(filter(None, (node.child(tag) for tag in file.SDF[word])), None)
    settings, noise = _read_settings(node, container, file)
    problem = file.problem(settings)
    if problem:
        node.diagnostics.error("ELEMENT_INVALID", f"sensor {quoted(name)} of type {quoted(word)}: {problem}", node)
        return None
    for surrounding in file.SURROUNDINGS:
        found = SURROUNDINGS[surrounding](node, container, mounting, world)
        if found is None:
            return None
        settings |= found
    return SensorSpec(name, kind, word, node.place, settings=settings, rate=rate, noise=noise, **mounting.fields)


def _report_none(node: Node, word: str, kind: str | None, mounting: Mounting) -> None:
    if word in CAMERAS:
        node.ignore("foreign", "a camera gives no images here")
    elif word in OTHERS:
        node.unsupported(f"a sensor of type {quoted(word)} gives nothing here")
    elif kind is None:
        message = f"<sensor> has the unknown type {quoted(word)}"
        node.refuse("type", message, value=word)
    else:
        where = " or ".join(SENSORS[kind].SDF_MOUNTS)
        message = f"a sensor of type {quoted(word)} stands in a <{where}>, not in a <{mounting.tag}>"
        node.diagnostics.error("ELEMENT_INVALID", message, node)


def _read_settings(
    node: Node, container: Node | None, file: SensorKind
) -> tuple[dict[str, Any], tuple[NoiseSettings, ...]]:
    """(settings, noise) of the element of a kind, which may be missing."""
    settings: dict[str, Any] = {}
    noises = []
    for path, rule in file.SDF_SETTINGS.items():
        found = container
        for tag in filter(None, path.split("/")):
            found = found.child(tag) if found is not None else None
        if isinstance(rule, Noise):
            noise = found.child("noise") if found is not None else None
            if noise is not None:
                noises.append(_read_noise(noise, rule))
        elif isinstance(rule, Number):
            settings[rule.setting] = _number(node, rule, found)
        elif isinstance(rule, Triple):
            settings[rule.setting] = rule.default if found is None else found.text_vector(3, rule.default)
        else:
            settings[rule.setting] = _word(rule, found)
    return settings, tuple(noise for noise in noises if noise.acts())


def _number(node: Node, rule: Number, found: Node | None) -> float:
    default: Any = rule.default  # those of sensors are numbers
    value = default if found is None else found.text_number(default, required=True, allow_inf=default == inf)
    problem = "" if value is None or found is None else rule.problem(value)
    if problem:
        assert found is not None
        message = f"<{found.tag}> of a sensor {problem}, found {value!r}"
        node.diagnostics.error("ELEMENT_INVALID", message, found)
        return default
    return value


def _word(rule: Word, found: Node | None) -> str:
    word = rule.words[0] if found is None else found.text(rule.words[0])
    if word in rule.words:
        return word
    assert found is not None
    message = f"<{found.tag}> must be one of {', '.join(rule.words)}, found {quoted(word)}"
    found.diagnostics.error("ELEMENT_INVALID", message, found, value=word)
    return rule.words[0]


def _read_noise(node: Node, rule: Noise) -> NoiseSettings:
    old = node.child("type")  # of lidars, and of all sensors before SDFormat 1.5
    kind: Any = node.attribute("type") or (old.text("none") if old is not None else "none")
    if kind not in _NOISE_TYPES:
        message = f"<noise> must have one of the types {', '.join(_NOISE_TYPES)}, found {quoted(kind)}"
        node.refuse("type", message, value=kind)
    numbers: dict[str, float] = {}
    for tag, name in NOISE_NUMBERS.items():
        child = node.child(tag)
        value = 0.0 if child is None else child.text_number(0.0, required=True)
        if name in _NOT_NEGATIVE and value < 0.0:
            node.diagnostics.error(
                "ELEMENT_INVALID", f"<{tag}> of <noise> must not be negative, found {value!r}", child
            )
        numbers[name] = value
    if kind == "none":
        return NoiseSettings()
    if kind == "gaussian":
        numbers["precision"] = 0.0
    return NoiseSettings(rule.columns, **numbers)


def _read_collisions(node: Node, container: Node | None, mounting: Mounting) -> tuple[str, ...]:
    """The names of the collisions that a contact sensor watches."""
    names = []
    for child in container.children("collision") if container is not None else ():
        name = child.text(required=True)
        if name is not None and name.rpartition("::")[2] not in mounting.collisions:
            message = f"there is no collision {quoted(name)} in the link of the contact sensor"
            child.diagnostics.error("ELEMENT_INVALID", message, child, value=name)
        names.append(name)
    if container is not None:
        for child in container.children("topic"):
            child.ignore("foreign")
    if not names:
        node.diagnostics.error("ELEMENT_MISSING", "a contact sensor must name a <collision>", node)
    return tuple(name.rpartition("::")[2] for name in names if name is not None)


def _earth(node: Node, container: Node | None, mounting: Mounting, world: WorldOfSensors) -> dict[str, Any] | None:
    if world.earth is not None:
        return {"earth": world.earth}
    name: Any = node.attribute("name")  # which it has, and a type
    word: Any = node.attribute("type")
    sensor = f"sensor {quoted(name)} of type {quoted(word)}"
    node.diagnostics.error("ELEMENT_MISSING", f"{sensor} needs <spherical_coordinates> of the world", node)
    return None


# settings that stand elsewhere than in the element of a sensor; None after a finding
SURROUNDINGS: dict[str, Callable[[Node, Node | None, Mounting, WorldOfSensors], dict[str, Any] | None]] = {
    "magnetic_field": lambda node, container, mounting, world: {
        "magnetic_field": world.magnetic_field,
        "magnetic_unit": "T",
    },
    "wind": lambda node, container, mounting, world: {"wind": world.wind},
    "earth": _earth,
    "collisions": lambda node, container, mounting, world: {"collisions": _read_collisions(node, container, mounting)},
}
