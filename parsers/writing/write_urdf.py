"""A flat `ModelSpec` as a URDF document.

The model must be one that `arranged_for_urdf` made: each joint is in the frame of its child, but those of loops.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from lxml import etree
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import stated_by
from mbcli.parsers.poses import compose, inverse
from mbcli.parsers.proximity_properties import FRICTION_DIRECTION, proximity_elements
from mbcli.parsers.spec import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from mbcli.parsers.writing.directed_friction import add_direction, friction_of_gazebo
from mbcli.parsers.writing.gazebo_sensors_text import add_sensor, sensors_of
from mbcli.parsers.writing.write_xml import add, add_physics, numbers, start, xyz_rpy

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from typing import Any

    from mbcli.parsers.joint_kinds import Form
    from mbcli.parsers.spec import (
        ActuatorSpec,
        AxisSpec,
        CollisionFilterGroupSpec,
        GeometrySpec,
        JointSpec,
        LinkSpec,
        ModelSpec,
    )
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix4

_FORMS = stated_by("urdf")
_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
NO_LIMIT = 1e101  # of attributes that others require: more than LARGEST_NUMBER, which is read as infinity
# by urdfdom, which ROS and Pinocchio read with; it takes a missing position limit for 0
_REQUIRED_LIMITS = ("lower", "upper", "effort", "velocity")
_REQUIRED_OF_ENDLESS = ("effort", "velocity")  # if there is a <limit>
LIMITS = {  # attribute: field of AxisSpec; infinite values are left out
    "lower": "lower",
    "upper": "upper",
    "effort": "effort",
    "velocity": "velocity",
    "drake:acceleration": "acceleration",
    "deceleration": "deceleration",
    "jerk": "jerk",
}
_VERSIONS = (("1.2", {"deceleration", "jerk"}), ("1.1", {"capsule"}))  # additions of each version


def write_urdf(spec: ModelSpec, loops: Container[str] = ()) -> XmlElement:
    """The root element of the document. loops: names of the joints that close loops."""
    root = start("robot", {"name": spec.name})
    materials = _add_materials(root, spec.links)
    named = {end for joint in spec.joints for end in (joint.parent, joint.child)}
    if WORLD in named and all(link.name != WORLD for link in spec.links):
        add(root, "link", name=WORLD)
    for link in spec.links:
        _add_link(root, link, materials)
    for frame in spec.frames:
        _set_pose(add(root, "frame", name=frame.name, link=frame.link), frame.X_LF)
    for joint in spec.joints:
        _add_joint(root, joint, joint.name in loops)
    for actuator in spec.actuators:
        _add_transmission(root, actuator)
    for element in (*spec.force_elements, *spec.constraints):
        add_physics(root, element, _add_value)
    for group in spec.filter_groups:
        _add_filter_group(root, group)
    for link in spec.links:
        _add_friction(root, link)
    _add_sensors(root, spec)
    _drop_idle_world(root)
    version = next((version for version, needs in _VERSIONS if needs & _features(root)), None)
    if version is not None:
        root.set("version", version)
    return root


def _add_friction(root: XmlElement, link: LinkSpec) -> None:
    """Friction that depends on the direction, which all collisions of a link have in common."""
    properties = link.collisions[0].properties if link.collisions else {}
    if FRICTION_DIRECTION in properties:
        node = add(root, "gazebo", reference=link.name)
        for tag, value in zip(("mu1", "mu2"), friction_of_gazebo(properties), strict=True):
            add(node, tag, value)
        add_direction(node, properties)


def _add_sensors(root: XmlElement, spec: ModelSpec) -> None:
    """In <gazebo> elements that name their link or joint."""
    for tag, items in (("link", spec.links), ("joint", spec.joints)) if spec.sensors else ():
        for item in items:
            for sensor in sensors_of(spec, item.name, tag):
                assert sensor.mount is not None  # sensors_of has no others
                X_LS = sensor.mount[1]
                add_sensor(add(root, "gazebo", reference=item.name), sensor, X_LS)


def _features(root: XmlElement) -> set[Any]:
    return {feature for node in root.iter() for feature in (node.tag, *node.attrib)}


def _add_value(parent: XmlElement, tag: str, value: Any) -> None:
    if isinstance(value, float):
        value = min(max(value, -NO_LIMIT), NO_LIMIT)
    add(parent, tag, **{"name" if isinstance(value, str) else "value": value})


def _set_pose(node: XmlElement, X: Matrix4) -> None:
    xyz, rpy = xyz_rpy(X)
    for name, values in (("xyz", xyz), ("rpy", rpy)):
        if any(values):
            node.set(name, numbers(*values))


def _add_origin(parent: XmlElement, X: Matrix4) -> None:
    if any(map(any, xyz_rpy(X))):
        _set_pose(add(parent, "origin"), X)


# ----------------------------------------------------------------------------------------------- links


def _add_materials(root: XmlElement, links: Iterable[LinkSpec]) -> dict[Any, str]:
    """The colors of all visuals as materials of the robot; {RGBA: name}."""
    names: dict[tuple[float, ...], str] = {}
    for color in dict.fromkeys(visual.color for link in links for visual in link.visuals):
        if color is not None:
            names[color] = f"color_{len(names) + 1}"
            add(add(root, "material", name=names[color]), "color", rgba=color)
    return names


def _add_link(root: XmlElement, link: LinkSpec, materials: Mapping[Any, str]) -> None:
    node = add(root, "link", name=link.name)
    if link.inertial is not None:
        inertial = add(node, "inertial")
        _add_origin(inertial, link.inertial.X_LI)
        add(inertial, "mass", value=link.inertial.mass)
        moments: dict[str, Any] = dict(zip(_MOMENTS, link.inertial.inertia, strict=True))
        add(inertial, "inertia", **moments)
    for tag, geometries in (("visual", link.visuals), ("collision", link.collisions)):
        for geometry in geometries:
            _add_geometry(node, tag, geometry, materials)


def _add_geometry(link: XmlElement, tag: str, geometry: GeometrySpec, materials: Mapping[Any, str]) -> None:
    node = add(link, tag, name=geometry.name)
    _add_origin(node, geometry.X_LG)
    shape, attributes = SHAPES[type(geometry.shape)](geometry.shape)
    shape = add(add(node, "geometry"), shape, **attributes)
    if getattr(geometry.shape, "convex", False):
        add(shape, "drake:declare_convex")
    if tag == "visual" and geometry.color is not None:
        add(node, "material", name=materials[geometry.color])
    elements = proximity_elements(geometry.properties)
    if elements:
        properties = add(node, "drake:proximity_properties")
        for child, value in elements.items():
            add(properties, child, value=value)


SHAPES = {  # HalfSpace is none of URDF
    Box: lambda shape: ("box", {"size": shape.size}),
    Sphere: lambda shape: ("sphere", {"radius": shape.radius}),
    Cylinder: lambda shape: ("cylinder", {"radius": shape.radius, "length": shape.length}),
    Capsule: lambda shape: ("capsule", {"radius": shape.radius, "length": shape.length}),
    Ellipsoid: lambda shape: ("drake:ellipsoid", dict(zip("abc", shape.radii, strict=True))),
    Mesh: lambda shape: ("mesh", {"filename": shape.uri, "scale": shape.scale}),
}


def _drop_idle_world(root: XmlElement) -> None:
    """A world link with nothing on it that nothing names would be a second root, which urdfdom refuses."""
    world = next((link for link in root.findall("link") if link.get("name") == WORLD), None)
    if world is None or len(world):
        return
    if not any(WORLD in element.attrib.values() for element in root.iter(etree.Element) if element is not world):
        root.remove(world)


# ---------------------------------------------------------------------------------------------- joints


def _add_joint(root: XmlElement, joint: JointSpec, closes_loop: bool) -> None:
    axis = joint.axes[0] if joint.axes else None
    if joint.kind.turns and axis is not None:
        joint = replace(joint, type="continuous" if (axis.lower, axis.upper) == (-inf, inf) else "revolute")
    kind, form = joint.kind, _FORMS[joint.type]
    direction = axis.xyz if axis is not None else None
    if closes_loop and form.loops:
        node = add(root, "loop_joint", name=joint.name, type=form.word)
        for tag, link, X in (("link1", joint.parent, joint.X_PF), ("link2", joint.child, joint.X_CM)):
            _set_pose(add(node, tag, link=link), X)
    else:
        node = add(root, form.tag, name=joint.name, type=form.word)
        X_PF = joint.X_PF
        if kind.axis_is_normal:  # stated by the normal; the reader turns it to z
            direction = tuple(joint.X_CM[:3, 2].tolist())
            X_PF = compose(X_PF, inverse(joint.X_CM))
        _add_origin(node, X_PF)
        add(node, "parent", link=joint.parent)
        add(node, "child", link=joint.child)
    if kind.num_axes == 1:
        add(node, "axis", xyz=direction)
    if "lower" in form.fields:
        _add_limits(node, joint.axes[0], kind.endless)
    _add_dynamics(node, joint, form)
    if kind.has_pitch:
        add(node, "drake:screw_thread_pitch", value=joint.screw_pitch)
    if axis is not None and axis.mimic is not None:
        mimic = axis.mimic
        add(node, "mimic", joint=mimic.leader, multiplier=mimic.multiplier, offset=mimic.offset)


def _add_limits(node: XmlElement, axis: AxisSpec, endless: bool) -> None:
    limits = {name: getattr(axis, field) for name, field in LIMITS.items()}
    finite = {name for name, value in limits.items() if abs(value) != inf}
    if finite or not endless:
        finite.update(_REQUIRED_OF_ENDLESS if endless else _REQUIRED_LIMITS)
        said = {name: min(max(value, -NO_LIMIT), NO_LIMIT) for name, value in limits.items() if name in finite}
        add(node, "limit", **said)


def _add_dynamics(node: XmlElement, joint: JointSpec, form: Form) -> None:
    if form.dampings and any(joint.damping):
        add(node, "dynamics", damping=joint.damping)
    elif form.fields:
        axis = joint.axes[0]
        friction = axis.friction if "friction" in form.fields else 0.0
        if axis.damping or friction:
            add(node, "dynamics", damping=axis.damping, friction=friction or None)


def _add_transmission(root: XmlElement, actuator: ActuatorSpec) -> None:
    node = add(root, "transmission", name=f"{actuator.name}_transmission")
    add(node, "type", "transmission_interface/SimpleTransmission")
    add(node, "joint", name=actuator.joint)
    driver = add(node, "actuator", name=actuator.name)
    if actuator.rotor_inertia:
        add(driver, "drake:rotor_inertia", value=actuator.rotor_inertia)
    if actuator.gear_ratio != 1:
        add(driver, "drake:gear_ratio", value=actuator.gear_ratio)
    if actuator.controller_gains is not None:
        p, d = actuator.controller_gains
        add(driver, "drake:controller_gains", p=p, d=d)


def _add_filter_group(root: XmlElement, group: CollisionFilterGroupSpec) -> None:
    node = add(root, "drake:collision_filter_group", name=group.name)
    for member in group.members:
        add(node, "drake:member", link=member)
    for ignored in group.ignores:
        add(node, "drake:ignored_collision_filter_group", name=ignored)
