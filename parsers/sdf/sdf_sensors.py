"""Sensors of the links and joints of SDFormat files, and what of the world they measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.gazebo_sensors import LEFT_OUT, Mounting, WorldOfSensors, read_sensor
from mbcli.parsers.poses import compose
from mbcli.parsers.sdf.sdf_values import claim_name, read_name, read_pose
from mbcli.parsers.xml_node import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from mbcli.parsers.sdf.sdf_scopes import Element, Model
    from mbcli.parsers.spec import SensorSpec
    from mbcli.parsers.xml_node import Node

_EARTH = ("latitude_deg", "longitude_deg", "elevation", "heading_deg")
_ASSUMED = {"surface_model": "EARTH_WGS84", "world_frame_orientation": "ENU"}


def sensor_reader(top: Model) -> Callable[[Iterable[Element], Collection[str]], tuple[SensorSpec, ...]]:
    """read_sensors() of the elements of a model and the names of its joints, in a top-level model or world."""
    world = read_world(top.node) if top.is_world else WorldOfSensors()
    return lambda elements, joints: read_sensors(elements, joints, world)


def read_sensors(elements: Iterable[Element], joints: Collection[str], world: WorldOfSensors) -> tuple[SensorSpec, ...]:
    """The `SensorSpec`s in the links and joints among the elements of a model.

    joints: the names of its joints that a plant has. world: `WorldOfSensors`.
    """
    specs = []
    for element in elements:
        if element.tag not in ("link", "joint") or "sensor" not in element.node.child_tags:
            continue
        if element.tag == "joint" and element.name not in joints:
            continue
        named: dict[str, Any] = {}
        for node in element.node.children("sensor"):
            with node.diagnostics.leaving_out(node, LEFT_OUT) as faults:
                name = read_name(node, element.file.minor)
                fresh = name is not None and claim_name(named, name, node)
                mounting = _mounting(element, node) if fresh else None
            if name is None or mounting is None or faults:
                node.ignore("settled")
                continue
            named[name] = node
            specs.append(read_sensor(node, name, mounting, world))
    return tuple(spec for spec in specs if spec is not None)


def _mounting(element: Element, node: Node) -> Mounting | None:
    """Where a sensor of an element is; None after a finding."""
    frames = element.frames
    X, relative_to = read_pose(node, element.file.minor)
    if relative_to is not None and relative_to not in frames:
        message = f"the pose of a sensor is relative to {quoted(relative_to)}, which is not in the model"
        node.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, node.child("pose"), value=relative_to)
        return None
    link = frames.link_of(element.name) or WORLD
    X_LS = compose(frames.X_AB(link, relative_to or element.name), X)
    fields: dict[str, Any] = {"mount": (link, X_LS)}
    if element.tag == "joint":
        fields["joints"] = ((element.name, 1.0),)
    collisions = [child.raw("name") or "" for child in element.node.child_nodes if child.tag == "collision"]
    return Mounting(element.tag, fields, tuple(collisions))


def read_world(node: Node) -> WorldOfSensors:
    """The `WorldOfSensors` of the node of a <world>."""
    found = {}
    with node.diagnostics.leaving_out(None, "it is not used"):
        field = node.child("magnetic_field")
        if field is not None:
            found["magnetic_field"] = field.text_vector(3, WorldOfSensors().magnetic_field)
        wind = node.child("wind")
        velocity = wind.child("linear_velocity") if wind is not None else None
        if velocity is not None:
            found["wind"] = velocity.text_vector(3, WorldOfSensors().wind)
        earth = node.child("spherical_coordinates")
        if earth is not None:
            found["earth"] = _read_earth(earth)
    return WorldOfSensors(**found)


def _read_earth(node: Node) -> dict[str, float]:
    for tag, assumed in _ASSUMED.items():
        child = node.child(tag)
        if child is not None and child.text(assumed) != assumed:
            child.unsupported(f"it is taken as {assumed}")
    children = {tag: node.child(tag) for tag in _EARTH}
    return {tag: 0.0 if child is None else child.text_number(0.0) for tag, child in children.items()}
