"""A flat `ModelSpec` as an SDFormat document.

The model must be one that `arranged_for_sdf` made: its joints are at the poses of its links.
"""

from __future__ import annotations

from dataclasses import fields, replace
from math import inf
from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.joint_kinds import stated_by
from mbcli.parsers.proximity_properties import proximity_elements
from mbcli.parsers.sdf.sdf_actuators import NO_ACTUATOR
from mbcli.parsers.sdf.sdf_deformables import MATERIAL, NUMBERS, PROPERTIES, WALL
from mbcli.parsers.sdf.sdf_joints import AXES, DYNAMICS, FIELDS, LIMIT, OWN_POSITION
from mbcli.parsers.spec import (
    AxisSpec,
    Box,
    Capsule,
    Cone,
    Cylinder,
    DistanceConstraintSpec,
    Ellipsoid,
    HalfSpace,
    Mesh,
    Polyline,
    Sphere,
    WeldConstraintSpec,
)
from mbcli.parsers.writing.directed_friction import add_direction, friction_of_gazebo
from mbcli.parsers.writing.gazebo_sensors_text import add_sensor, sensors_of
from mbcli.parsers.writing.write_xml import add, add_physics, start, xyz_rpy

from mbcli.multibody.fem.body_config import MATERIAL_NAMES

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from mbcli.parsers.spec import (
        ActuatorSpec,
        CollisionFilterGroupSpec,
        DeformableSpec,
        GeometrySpec,
        JointSpec,
        LinkSpec,
        ModelSpec,
        Shape,
    )
    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix4

VERSION = "1.11"
_FORMS = stated_by("sdf")  # Drake passes over <mbcli:joint>, and bodies float then

_MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_DEFAULTS = {field.name: field.default for field in fields(AxisSpec)}


def write_sdf(spec: ModelSpec) -> XmlElement:
    """The root element of the document."""
    root = start("sdf", {"version": VERSION})
    model = add(root, "model", name=spec.name)
    if spec.X_LinkModel is not None and spec.links and spec.X_LinkModel[0] not in (WORLD, spec.links[0].name):
        model.set("canonical_link", spec.X_LinkModel[0])
    _add_pose(model, spec.X_WModel)
    for link in spec.links:
        _add_link(model, link)
    for body in spec.deformables:
        _add_deformable(model, body)
    for frame in spec.frames:
        _add_pose(add(model, "frame", name=frame.name, attached_to=frame.link), frame.X_LF)
    actuators = {actuator.joint: actuator for actuator in spec.actuators}
    for joint in spec.joints:
        if _FORMS[joint.type].tag == "joint":
            _add_joint(model, joint, actuators.get(joint.name))
        else:
            _add_joint_between_frames(model, joint)
    for element in (*spec.force_elements, *spec.constraints):
        if isinstance(element, WeldConstraintSpec):
            weld = add(model, "mbcli:weld_constraint")
            add(weld, "parent", element.link_A)
            add(weld, "child", element.link_B)
        else:
            add_physics(model, element, add, own=isinstance(element, DistanceConstraintSpec))
    for group in spec.filter_groups:
        _add_filter_group(model, group)
    _add_sensors(model, spec)
    return root


def _add_sensors(model: XmlElement, spec: ModelSpec) -> None:
    """In the elements of their links and joints."""
    for tag in ("link", "joint") if spec.sensors else ():
        for node in model.findall(tag):
            for sensor in sensors_of(spec, node.get("name", ""), tag):
                assert sensor.mount is not None  # sensors_of has no others
                link, X_LS = sensor.mount
                add_sensor(node, sensor, X_LS, link if tag == "joint" else None)


def _add_pose(parent: XmlElement, X: Matrix4) -> None:
    p, rpy = xyz_rpy(X)
    if any((*p, *rpy)):
        add(parent, "pose", (*p, *rpy))


# ----------------------------------------------------------------------------------------------- links


def _add_link(model: XmlElement, link: LinkSpec) -> None:
    node = add(model, "link", name=link.name)
    _add_pose(node, link.X_ModelL)
    if not link.gravity:
        add(node, "gravity", "false")
    inertial = add(node, "inertial")
    if link.inertial is not None:
        _add_pose(inertial, link.inertial.X_LI)
    add(inertial, "mass", 0.0 if link.inertial is None else link.inertial.mass)
    inertia = add(inertial, "inertia")
    values = (0.0,) * 6 if link.inertial is None else link.inertial.inertia
    for tag, value in zip(_MOMENTS, values, strict=True):
        add(inertia, tag, value)
    for tag, geometries in (("visual", link.visuals), ("collision", link.collisions)):
        for geometry in geometries:
            _add_geometry(node, tag, geometry)


def _add_deformable(model: XmlElement, body: DeformableSpec) -> None:
    node = add(model, "link", name=body.name)
    _add_pose(node, body.X_ModelD)
    if not body.gravity:
        add(node, "gravity", "false")
    if body.color is not None:
        _add_geometry(node, "visual", replace(body.geometry, color=body.color, properties={}))
    _add_geometry(node, "collision", body.geometry)
    properties, config = add(node, PROPERTIES), body.config
    for tag, setter in NUMBERS.items():
        add(properties, tag, getattr(config, setter.removeprefix("set_"))())
    add(properties, MATERIAL, next(name for name, m in MATERIAL_NAMES.items() if m == config.material_model()))
    for wall in body.walls:
        element = add(node, WALL)
        add(element, "drake:point_on_plane", wall.point)
        add(element, "drake:outward_normal", wall.normal)


def _add_geometry(link: XmlElement, tag: str, geometry: GeometrySpec) -> None:
    node = add(link, tag, name=geometry.name)
    _add_pose(node, geometry.X_LG)
    _add_shape(add(node, "geometry"), geometry.shape)
    if geometry.color is not None:
        material = add(node, "material")
        add(material, "ambient", geometry.color)  # what Gazebo shows in the shade
        add(material, "diffuse", geometry.color)
    friction = geometry.properties.get(("material", "coulomb_friction"))
    restitution = geometry.properties.get(("material", "restitution"))
    surface = None if friction is None and restitution is None else add(node, "surface")
    if restitution is not None:
        bounce = add(surface, "bounce")
        add(bounce, "restitution_coefficient", restitution)
        if ("material", "bounce_threshold") in geometry.properties:
            add(bounce, "threshold", geometry.properties["material", "bounce_threshold"])
    if friction is not None:
        ode = add(add(surface, "friction"), "ode")  # as Gazebo has it
        for child, coefficient in zip(("mu", "mu2"), friction_of_gazebo(geometry.properties), strict=True):
            add(ode, child, coefficient)
        add_direction(ode, geometry.properties)
    elements = proximity_elements(geometry.properties)
    if elements:
        properties = add(node, "drake:proximity_properties")
        for child, value in elements.items():
            add(properties, child, value)


def _add_shape(geometry: XmlElement, shape: Shape) -> None:
    if isinstance(shape, Polyline):
        for outline in shape.outlines:
            node = add(geometry, "polyline")
            for point in outline:
                add(node, "point", point)
            add(node, "height", shape.height)
        return
    tag, values = SHAPES[type(shape)](shape)
    node = add(geometry, tag)
    for child, value in values.items():
        add(node, child, value)
    if isinstance(shape, Mesh) and shape.submesh is not None:
        submesh = add(node, "submesh")
        add(submesh, "name", shape.submesh)
        add(submesh, "center", str(shape.center).lower())


def _mesh(mesh: Mesh) -> tuple[str, dict[str, Any]]:
    convex = {"drake:declare_convex": None} if mesh.convex else {}
    return "mesh", {"uri": mesh.uri, "scale": mesh.scale, **convex}


SHAPES = {
    Box: lambda shape: ("box", {"size": shape.size}),
    Sphere: lambda shape: ("sphere", {"radius": shape.radius}),
    Cylinder: lambda shape: ("cylinder", {"radius": shape.radius, "length": shape.length}),
    Capsule: lambda shape: ("capsule", {"radius": shape.radius, "length": shape.length}),
    Ellipsoid: lambda shape: ("ellipsoid", {"radii": shape.radii}),
    HalfSpace: lambda shape: ("plane", {"normal": (0.0, 0.0, 1.0), "size": (1.0, 1.0)}),
    Mesh: _mesh,
    Cone: lambda shape: ("cone", {"radius": shape.radius, "length": shape.length}),
}


# ---------------------------------------------------------------------------------------------- joints


def _add_joint(model: XmlElement, joint: JointSpec, actuator: ActuatorSpec | None) -> None:
    if joint.kind.endless and (joint.axes[0].lower, joint.axes[0].upper) != (-inf, inf):
        joint = replace(joint, type="revolute")  # a continuous joint has no limits in SDFormat
    node = add(model, "joint", name=joint.name, type=_FORMS[joint.type].word)
    _add_pose(node, joint.X_CM)
    add(node, "parent", joint.parent)
    add(node, "child", joint.child)
    for tag, axis in zip(AXES, joint.axes, strict=False):
        _add_axis(node, tag, axis, FIELDS[joint.type])
    if joint.kind.is_ball and any(joint.damping):
        add(add(add(node, "axis"), "dynamics"), "damping", joint.damping[0])
    if joint.kind.has_pitch:
        add(node, "screw_thread_pitch", joint.screw_pitch)
    if actuator is not None:
        _add_actuator(node, actuator)
    elif joint.kind.has_one_coordinate and joint.axes[0].effort != 0:
        add(node, NO_ACTUATOR)
    mimic = joint.axes[0].mimic if joint.axes else None
    if mimic is not None and mimic.leader_axis == 0:  # beside the element of the format, which Drake does not read
        add(node, "drake:mimic", joint=mimic.leader, multiplier=mimic.multiplier, offset=mimic.offset)


def _add_axis(joint: XmlElement, tag: str, axis: AxisSpec, stated: Collection[str]) -> None:
    node = add(joint, tag)
    add(node, "xyz", axis.xyz)
    if axis.default_position:
        add(node, OWN_POSITION, axis.default_position)
    for group, tags in (("limit", LIMIT), ("dynamics", DYNAMICS)):
        values = {tag: getattr(axis, field) for tag, field in tags.items() if field in stated}
        values = {tag: value for tag, value in values.items() if value != _DEFAULTS[tags[tag]]}
        owner = add(node, group) if values else None
        for tag_of_value, value in values.items():
            add(owner, tag_of_value, value)
    if axis.mimic is not None:
        of_second = {"axis": "axis2"} if axis.mimic.leader_axis == 1 else {}
        mimic = add(node, "mimic", joint=axis.mimic.leader, **of_second)
        for name in ("multiplier", "offset"):
            add(mimic, name, getattr(axis.mimic, name))
        add(mimic, "reference", 0.0)


def _add_actuator(joint: XmlElement, actuator: ActuatorSpec) -> None:
    if actuator.rotor_inertia:
        add(joint, "drake:rotor_inertia", actuator.rotor_inertia)
    if actuator.gear_ratio != 1:
        add(joint, "drake:gear_ratio", actuator.gear_ratio)
    if actuator.controller_gains is not None:
        p, d = actuator.controller_gains
        add(joint, "drake:controller_gains", p=p, d=d)


def _add_joint_between_frames(model: XmlElement, joint: JointSpec) -> None:
    form = _FORMS[joint.type]
    prefix = form.tag.removesuffix(":joint")
    node = add(model, form.tag, name=joint.name, type=form.word)
    add(node, f"{prefix}:parent", joint.parent)
    add(node, f"{prefix}:child", joint.child)
    if not joint.kind.is_floating or any(joint.damping):
        add(node, f"{prefix}:damping", joint.damping or (0.0, 0.0, 0.0))


def _add_filter_group(model: XmlElement, group: CollisionFilterGroupSpec) -> None:
    node = add(model, "drake:collision_filter_group", name=group.name)
    for member in group.members:
        add(node, "drake:member", member)
    for ignored in group.ignores:
        add(node, "drake:ignored_collision_filter_group", ignored)
