"""Sensors as elements of SDFormat, which URDF has in <gazebo>: settings and noise at the paths of their kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import SEPARATOR, WORLD
from mbcli.parsers.gazebo_sensors import NOISE_NUMBERS, WorldOfSensors
from mbcli.parsers.writing.write_xml import add, xyz_rpy

from mbcli.common.file_settings import Number, Triple
from mbcli.sensors import SENSORS
from mbcli.sensors.settings import Noise

if TYPE_CHECKING:
    from mbcli.parsers.spec import ModelSpec, SensorSpec
    from mbcli.parsers.writing.losses import Losses
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix

_OF_WORLD = WorldOfSensors()
_ASSUMED = {"magnetic_field": _OF_WORLD.magnetic_field, "magnetic_unit": "T", "wind": _OF_WORLD.wind}


def with_gazebo_sensors(model: ModelSpec, losses: Losses) -> ModelSpec:
    """A flat ModelSpec with the sensors that SDFormat has; what is left out goes to `losses`."""
    found = []
    ends = {joint.name: joint.child for joint in model.joints}
    for sensor in model.sensors:
        problem = _missing(sensor, ends)
        if problem is not None:
            losses.add("lost", "SENSOR", f"the sensor '{sensor.name}': {problem}", sensor.place)
            continue
        for what, value in (("delay", sensor.delay), ("cutoff", sensor.cutoff)):
            if value:
                losses.add("lost", "SENSOR", f"the {what} of sensor '{sensor.name}'", sensor.place)
        name = sensor.name.replace(SEPARATOR, "__")
        if name != sensor.name:
            losses.add("changed", "NAME", f"sensor '{sensor.name}' is called '{name}'", sensor.place)
        found.append(replace(sensor, name=name, type=_type(sensor), delay=0.0, cutoff=0.0))
    return replace(model, sensors=tuple(found))


def _type(sensor: SensorSpec) -> str:
    words = SENSORS[sensor.kind].SDF
    return sensor.type if sensor.type in words else next(iter(words))


def _missing(sensor: SensorSpec, ends: dict[str, str]) -> str | None:
    """Why SDFormat has no such sensor in a model; None if it has."""
    kind = SENSORS[sensor.kind]
    if not kind.SDF:
        return f"SDFormat has none that measures {kind.TITLE}"
    if sensor.mount is None or sensor.mount[0] == WORLD or sensor.reference is not None:
        return "it stands on no link"
    if "joint" in kind.SDF_MOUNTS and ends.get(_joint(sensor) or "") != sensor.mount[0]:
        return "it does not stand on the child of its joint"
    for name in set(kind.SURROUNDINGS) - {"collisions"}:
        if name not in _ASSUMED or tuple(sensor.settings[name]) != tuple(_ASSUMED[name]):
            return f"what it measures depends on {name.replace('_', ' ')} of the world, which is not written"
    if sensor.settings.get("magnetic_unit", "T") != "T":
        return "its field has no unit"
    return None


def _joint(sensor: SensorSpec) -> str | None:
    return sensor.joints[0][0] if sensor.joints else None


def sensors_of(spec: ModelSpec, owner: str, tag: str) -> list[SensorSpec]:
    """The sensors in a "link" or "joint"."""

    def place(sensor: SensorSpec) -> tuple[str, str | None]:
        if "joint" in SENSORS[sensor.kind].SDF_MOUNTS:
            return "joint", _joint(sensor)
        return "link", None if sensor.mount is None else sensor.mount[0]

    return [sensor for sensor in spec.sensors if place(sensor) == (tag, owner)]


def add_sensor(parent: XmlElement, sensor: SensorSpec, X: Matrix, relative_to: str | None = None) -> None:
    """Adds <sensor> at a pose in its parent's frame, or in that of a link."""
    node = add(parent, "sensor", name=sensor.name, type=sensor.type)
    p, rpy = xyz_rpy(X)
    if any((*p, *rpy)) or relative_to is not None:
        add(node, "pose", (*p, *rpy), relative_to=relative_to)
    add(node, "always_on", "true")
    if sensor.rate:
        add(node, "update_rate", sensor.rate)
    kind = SENSORS[sensor.kind]
    container = add(node, kind.SDF[sensor.type][0])
    for name in sensor.settings.get("collisions", ()):
        add(container, "collision", name)
    for path, rule in kind.SDF_SETTINGS.items():
        if isinstance(rule, Noise):
            for noise in sensor.noise:
                if noise.columns == rule.columns:
                    _add_noise(_at(container, path), noise)
        else:
            value = sensor.settings[rule.setting]
            if value != _default(rule):
                above, _, tag = path.rpartition("/")
                add(_at(container, above), tag, value)
    if len(container) == 0:
        node.remove(container)


def _default(rule: Any) -> Any:
    return rule.default if isinstance(rule, (Number, Triple)) else rule.words[0]


def _at(container: XmlElement, path: str) -> XmlElement:
    """The element at a path, made where it is missing."""
    node = container
    for tag in filter(None, path.split("/")):
        found = node.find(tag)
        node = add(node, tag) if found is None else found
    return node


def _add_noise(parent: XmlElement, noise: Any) -> None:
    kind = "gaussian_quantized" if noise.precision else "gaussian"
    if parent.tag in ("lidar", "ray"):  # whose noise has its type as an element
        node = add(parent, "noise")
        add(node, "type", kind)
    else:
        node = add(parent, "noise", type=kind)
    for tag, name in NOISE_NUMBERS.items():
        value = getattr(noise, name)
        if value:
            add(node, tag, value)
