"""URDF files to `ModelSpec`: versions 1.0, 1.1 and 1.2 and Drake's extensions.

If the format leaves a choice this reader follows Drake: a joint without limits is unlimited, a link
without inertial has no mass, a transmission makes an actuator unless the joint's effort limit is 0, "world" is
the world. A link may be the child of two joints, which closes a loop. Elements that nothing here uses are
reported.

Format: https://wiki.ros.org/urdf/XML
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from mbcli.parsers.checks import check_model
from mbcli.parsers.duplicate_names import UniqueNames, report_duplicate
from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.link_tree import check_tree
from mbcli.parsers.mesh_files import MeshFiles
from mbcli.parsers.package_map import PackageMap
from mbcli.parsers.spec import (
    ActuatorSpec,
    CollisionFilterGroupSpec,
    CommandSpec,
    FrameSpec,
    InertialSpec,
    LinkSpec,
    ModelSpec,
)
from mbcli.parsers.urdf.urdf_constraints import read_constraints, read_force_elements
from mbcli.parsers.urdf.urdf_geometry import read_geometries, read_materials
from mbcli.parsers.urdf.urdf_joints import check_followers, read_joints
from mbcli.parsers.urdf.urdf_known import FOREIGN, KNOWN
from mbcli.parsers.urdf.urdf_values import (
    nodes_by_name,
    read_link_name,
    read_name,
    read_origin,
    read_pose,
    read_unsigned,
)
from mbcli.parsers.urdf.xacro_files import read_expanded
from mbcli.parsers.version_features import check_version
from mbcli.parsers.xml_node import quoted
from mbcli.parsers.xml_source import read_xml, report_unread

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from mbcli.parsers.diagnostics import Diagnostics
    from mbcli.parsers.spec import JointSpec, PluginSpec, SensorSpec
    from mbcli.parsers.urdf.urdf_geometry import Color
    from mbcli.parsers.xml_node import Node

VERSIONS = ("1.0", "1.1", "1.2")

_LOWER_PRODUCTS = ("iyx", "izx", "izy")


def read_urdf(
    source: str | os.PathLike[str] | bytes,
    diagnostics: Diagnostics,
    *,
    packages: PackageMap | None = None,
    name: str | None = None,
) -> ModelSpec | None:
    """The model in a URDF file, or None if it has errors, all of which are in `diagnostics`.

    source: a path, or the bytes of a document (whose relative URIs start at the working directory).
    packages: `PackageMap` for mesh URIs, and whether xacro is expanded. name: that of the file in places; default: the
    path as given.
    """
    errors_before = diagnostics.counts()["error"]
    packages = packages or PackageMap()
    root = read_xml(source, diagnostics, name=name)
    if root is not None and root.tag == "robot":
        root = read_expanded(root, source, diagnostics, packages, name)
    if root is None:
        return None
    if root.tag != "robot":
        diagnostics.error("ELEMENT_INVALID", f"a URDF file starts with <robot>, not <{root.tag}>", root)
        return None
    base_dir = os.curdir if isinstance(source, bytes) else os.path.dirname(source)
    model = _read_robot(root, MeshFiles(packages, base_dir))
    if diagnostics.thorough:
        check_version(root)
    return model if diagnostics.counts()["error"] == errors_before else None


def _read_robot(root: Node, meshes: MeshFiles) -> ModelSpec:
    """The model, not to be used if it has errors."""
    materials = read_materials(root)
    links = _read_links(root, materials, meshes)
    joint_nodes = nodes_by_name(root.children("joint", "drake:joint", "loop_joint"), "joint")
    joints = read_joints(joint_nodes, links)
    check_followers(joints, joint_nodes)
    check_tree(links, joints, joint_nodes, root)
    _follow_by_plugins(root, joints)
    of_gazebo = _read_gazebo(root, links, joints)
    frames = _read_frames(root, links)
    model = ModelSpec(
        name=_read_robot_name(root),
        format="urdf",
        version=_read_version(root),
        place=root.place,
        links=tuple(link for link in links.values() if link.name != WORLD or link.visuals or link.collisions),
        joints=tuple(joints.values()),
        frames=frames,
        actuators=_read_actuators(root, joints, joint_nodes),
        commanded=_read_commands(root, joints),
        force_elements=read_force_elements(root, links),
        constraints=read_constraints(root, links, joints),
        filter_groups=(*_read_filter_groups(root, links), *of_gazebo),
        sensors=_read_sensors(root, links, joints),
        plugins=_read_plugins(root, links, joints),
        sources=(root.document,),
    )
    _ignore_the_rest(root)
    report_unread(root, root.diagnostics, KNOWN, FOREIGN)
    meshes.report_missing(root.diagnostics)
    check_model(model, root.diagnostics)
    return model


def _read_gazebo(
    root: Node, links: dict[str, LinkSpec], joints: Mapping[str, JointSpec]
) -> tuple[CollisionFilterGroupSpec, ...]:
    """What <gazebo> elements say of links, which it changes."""
    if not any(node.tag == "gazebo" for node in root.child_nodes):
        return ()
    from mbcli.parsers.urdf.urdf_gazebo import read_gazebo  # late: few models have some

    return read_gazebo(root, links, joints)


def _follow_by_plugins(root: Node, joints: dict[str, JointSpec]) -> None:
    if any(node.tag == "gazebo" and "plugin" in node.child_tags for node in root.child_nodes):
        from mbcli.parsers.urdf.urdf_mimic_plugins import follow_by_plugins  # late: few models have some

        follow_by_plugins(root, joints)


def _read_plugins(root: Node, links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec]) -> tuple[PluginSpec, ...]:
    """Those of Gazebo in <gazebo> elements."""
    owners = [node for node in root.child_nodes if node.tag == "gazebo" and "plugin" in node.child_tags]
    if not owners:
        return ()
    from mbcli.parsers.gazebo_plugins import plugins_that_act, read_plugins  # late: few models have some

    found = []
    for owner in owners:
        found += plugins_that_act(owner)
        if any(child.tag == "plugin" and not _is_foreign(child) for child in owner.child_nodes):
            owner.used = True  # its parts have findings of their own
            owner.attribute("reference")
    return read_plugins(found, {name: joint.type for name, joint in joints.items()}, links)


def _is_foreign(node: Node) -> bool:
    return node.ignored is not None and node.ignored[0] == "foreign"


def _read_sensors(root: Node, links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec]) -> tuple[SensorSpec, ...]:
    if not any(node.tag == "gazebo" and "sensor" in node.child_tags for node in root.child_nodes):
        return ()
    from mbcli.parsers.urdf.urdf_sensors import read_sensors  # late: few models have some

    return read_sensors(root, links, joints)


def _read_robot_name(root: Node) -> Any:
    """The stated name, or that of the file."""
    with root.diagnostics.leaving_out(None, "the model is named after its file") as faults:
        name = read_name(root)
    if not faults:
        return name
    stem = os.path.splitext(os.path.basename(root.place.file))[0]
    return re.sub(r"\W+", "_", stem).strip("_") or "robot"


def _read_version(root: Node) -> str:
    version = root.attribute("version", "1.0")
    if version not in VERSIONS:
        root.diagnostics.warning(
            "VERSION_UNSUPPORTED",
            f"URDF version {quoted(version)} is ignored, it is read as {VERSIONS[-1]}",
            root,
            attribute="version",
            value=version,
        )
    return version


def _ignore_the_rest(root: Node) -> None:
    for node in root.children("force_element"):
        node.unsupported("the model moves as if it were not there")


# --------------------------------------------------------------------------------------- links, frames


def _read_links(root: Node, materials: dict[str, Color | None], meshes: MeshFiles) -> dict[str, LinkSpec]:
    """{name: LinkSpec} in file order; "world" may be among them, for elements that are fixed to the world."""
    links = {}
    for name, node in nodes_by_name(root.children("link"), "link").items():
        _ignore_origin(node)
        inertial = node.child("inertial")
        if inertial is not None and name == WORLD:
            inertial.ignore("meaningless", "the world has no mass")
            inertial = None
        links[name] = LinkSpec(
            name=name,
            place=node.place,
            inertial=_read_inertial(inertial) if inertial is not None else None,
            visuals=read_geometries(node, "visual", materials, meshes),
            collisions=read_geometries(node, "collision", materials, meshes),
        )
    if not links:
        root.diagnostics.warning("MODEL_WITHOUT_LINK", "the robot has no link", root)
    return links


def _ignore_origin(link: Node) -> None:
    """A link is where its joint puts it: an origin of its own that is zero does no harm."""
    origin = link.peek("origin")
    if origin is not None and all(not (origin.raw(name) or "").strip(" \t0.") for name in ("xyz", "rpy")):
        origin.ignore("meaningless", "a link is where its joint puts it")


def _read_inertial(node: Node) -> InertialSpec | None:
    mass_node, inertia_node = node.child("mass"), node.child("inertia")
    if mass_node is None or inertia_node is None:
        for tag, child in (("mass", mass_node), ("inertia", inertia_node)):
            if child is None:
                node.diagnostics.warning("ELEMENT_MISSING", f"<inertial> has no <{tag}>: taken as 0", node)
    mass = mass_node.number("value", 0.0, required=True) if mass_node is not None else 0.0
    inertia = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if inertia_node is not None:
        products = ixy, ixz, iyz = [inertia_node.number(name, 0.0) for name in ("ixy", "ixz", "iyz")]
        if not inertia_node.attribute_names.isdisjoint(_LOWER_PRODUCTS):
            for name, product in zip(_LOWER_PRODUCTS, products, strict=True):
                if inertia_node.number(name, product) != product:
                    message = f"<inertia> has another {name}, which is not used"
                    node.diagnostics.warning("ATTRIBUTE_INVALID", message, inertia_node, attribute=name)
        ixx, iyy, izz = (inertia_node.number(name, 0.0, required=True) for name in ("ixx", "iyy", "izz"))
        inertia = (ixx, iyy, izz, ixy, ixz, iyz)
    return InertialSpec(mass=mass, X_LI=read_origin(node), inertia=inertia, place=node.place)


def _read_frames(root: Node, links: Mapping[str, LinkSpec]) -> tuple[FrameSpec, ...]:
    """Drake's <frame>: a named pose in a link."""
    frames = []
    taken = {name: link.place for name, link in links.items()}
    for node in root.children("frame"):
        name = read_name(node)
        link = read_link_name(node, "link", links, "FRAME_ATTACHED_TO_INVALID")
        X_LF = read_pose(node)
        if name is None or link is None:
            continue
        if name in taken:
            report_duplicate(node, "frame", name, taken[name])
        taken[name] = node.place
        frames.append(FrameSpec(name=name, link=link, X_LF=X_LF, place=node.place))
    return tuple(frames)


# ------------------------------------------------------------------------------------------ actuators


def _read_actuators(
    root: Node, joints: Mapping[str, JointSpec], joint_nodes: Mapping[str, Node]
) -> tuple[ActuatorSpec, ...]:
    actuators: dict[str, ActuatorSpec] = {}
    nodes = root.children("transmission")
    drives = [node.peek("actuator") for node in nodes]
    names = UniqueNames(drive.raw("name") for drive in drives if drive is not None)
    for node in nodes:
        actuator = _read_transmission(node, joints, joint_nodes, actuators, names)
        if actuator is not None:
            actuators[actuator.name] = actuator
    return tuple(actuators.values())


def _read_transmission(
    node: Node,
    joints: Mapping[str, JointSpec],
    joint_nodes: Mapping[str, Node],
    actuators: Mapping[str, ActuatorSpec],
    names: UniqueNames,
) -> ActuatorSpec | None:
    """The actuator of one simple transmission; None if there is none, which is reported.

    actuators: those before it, {name: ActuatorSpec}; names: the `UniqueNames` of all in the file.
    """
    with node.diagnostics.leaving_out(node, "the transmission is left out") as faults:
        parts = _drive_of(node)
        if parts is not None:
            joint_node, actuator_node = parts
            name: Any = read_name(actuator_node)
            joint_name = joint_node.attribute("name", required=True)
            if name in actuators and actuators[name].joint == joint_name:
                report_duplicate(actuator_node, "actuator", name, actuators[name].place)
    if parts is None or faults or not _can_drive(node, joint_node, joint_name, joints, joint_nodes):
        if faults:
            node.ignore("settled")
        return None
    _skip_ros_control(node)
    _skip_ros_control(joint_node)
    _skip_ros_control(actuator_node)
    _report_rotor(actuator_node)
    unique = names.of(name, name)
    if unique != name:
        message = f'the actuator name "{name}" is that of another joint\'s: it is called "{unique}"'
        node.diagnostics.warning("DUPLICATE_NAME", message, actuator_node, attribute="name", value=name)
    return _read_actuator(actuator_node, unique, joint_name, joints[joint_name].axes[0].effort)


def _read_commands(root: Node, joints: Mapping[str, JointSpec]) -> tuple[CommandSpec, ...]:
    """The command interfaces in <ros2_control>, a joint once, unless the file has a <transmission>."""
    controls = [node for node in root.child_nodes if node.tag == "ros2_control"]
    if not controls or "transmission" in root.child_tags:
        return ()
    found: dict[str, CommandSpec] = {}
    for node in (node for control in controls for node in control.child_nodes if node.tag == "joint"):
        name = node.raw("name")
        interfaces = [child.raw("name") for child in node.child_nodes if child.tag == "command_interface"]
        if name in joints and any(interfaces):
            known = found[name].interfaces if name in found else ()
            names = dict.fromkeys((*known, *filter(None, interfaces)))
            found[name] = CommandSpec(name, tuple(names), found[name].place if known else node.place)
    for control in controls if found else ():
        control.ignore("foreign", "commands and load_model() use its command interfaces alone")
    return tuple(found.values())


def _drive_of(node: Node) -> tuple[Node, Node] | None:
    """(<joint>, <actuator>) of a simple transmission, or None, which is reported."""
    node.attribute("name")
    type_node = node.child("type")
    kind = type_node.text() if type_node is not None else node.attribute("type")
    if not kind:
        node.diagnostics.error("ELEMENT_MISSING", "<transmission> must have a <type>", node)
        return None
    if "SimpleTransmission" not in kind:
        node.unsupported("only a SimpleTransmission is")
        return None
    parts = node.child("joint", required=True), node.child("actuator", required=True)
    return None if None in parts else parts


def _skip_ros_control(node: Node) -> None:
    """ROS's own wiring; a reduction acts on nothing that the plant has, whose actuators drive joints directly."""
    for child in node.children("hardwareInterface", "robotNamespace"):
        child.ignore("foreign")
    for child in node.children("mechanicalReduction"):
        with child.diagnostics.leaving_out(child, "the ratio is taken as 1"):
            ratio = child.text_number(1.0)
        if ratio != 1:
            child.ignore("foreign")


def _report_rotor(node: Node) -> None:
    """The rotor's inertia of PR2's files, which its motion depends on, and how it is stated so that it acts."""
    for child in node.children("motorInertia"):
        with child.diagnostics.leaving_out(child, "it is taken as 0"):
            inertia = child.text_number(0.0)
        if inertia and node.peek("drake:rotor_inertia") is None:
            child.unsupported(
                f'<drake:rotor_inertia value="{inertia:g}"/> in <actuator> acts, by the square of <drake:gear_ratio>'
            )
        else:
            child.ignore("settled")


def _read_actuator(node: Node, name: str, joint_name: str, effort_limit: float) -> ActuatorSpec:
    inertia, ratio = node.child("drake:rotor_inertia"), node.child("drake:gear_ratio")
    gains = node.child("drake:controller_gains")
    return ActuatorSpec(
        name=name,
        joint=joint_name,
        place=node.place,
        effort_limit=effort_limit,
        rotor_inertia=read_unsigned(inertia, "value", 0.0, required=True) if inertia is not None else 0.0,
        gear_ratio=ratio.number("value", 1.0, required=True) if ratio is not None else 1.0,
        controller_gains=None
        if gains is None
        else (read_unsigned(gains, "p", 0.0, required=True), read_unsigned(gains, "d", 0.0, required=True)),
    )


def _can_drive(
    transmission: Node, node: Node, name: str, joints: Mapping[str, JointSpec], joint_nodes: Mapping[str, Node]
) -> bool:
    """Whether there is a joint of that name, which has one coordinate to drive; node: <joint> of the transmission."""
    with node.diagnostics.leaving_out(node, "the transmission is left out"):
        if name not in joint_nodes:
            node.refuse(
                "name",
                f'there is no joint "{name}" for the transmission',
                value=name,
                hint=did_you_mean(name, joint_nodes),
            )
            transmission.ignore("settled")
    joint = joints.get(name)
    if joint is None:  # it has errors of its own
        transmission.ignore("settled")
        return False
    count = joint.kind.num_velocities
    if count == 1 and joint.axes[0].effort != 0:
        return True
    reason = "has the effort limit 0" if count == 1 else f"has {count} coordinates" if count else "is fixed"
    node.diagnostics.warning("TRANSMISSION_IGNORED", f'joint "{joint.name}" {reason}: no actuator', node)
    transmission.ignore("settled")
    return False


# -------------------------------------------------------------------------------------- filter groups


def _read_filter_groups(root: Node, links: Mapping[str, LinkSpec]) -> tuple[CollisionFilterGroupSpec, ...]:
    """Collision filter groups, their member groups replaced by those groups' links."""
    nodes = []
    for node in root.children("drake:collision_filter_group"):
        if node.boolean("ignore", False):
            node.ignore("settled")
        else:
            nodes.append(node)
    with root.diagnostics.leaving_out(None, "it is left out"):
        return _groups_of(nodes, links)


def _groups_of(nodes: Sequence[Node], links: Mapping[str, LinkSpec]) -> tuple[CollisionFilterGroupSpec, ...]:
    named = nodes_by_name(nodes, "collision filter group")
    own_links = {name: _own_members(node, links) for name, node in named.items()}
    inner = {name: _group_names(node, "drake:member_group", named) for name, node in named.items()}
    groups = []
    for name, node in named.items():
        if not own_links[name] and not inner[name]:
            node.diagnostics.error(
                "ELEMENT_MISSING", f'collision filter group "{name}" must have a <drake:member>', node
            )
        reached = _reachable(name, inner)
        members = tuple(dict.fromkeys(link for group in reached for link in own_links[group]))
        ignores = _group_names(node, "drake:ignored_collision_filter_group", named)
        groups.append(CollisionFilterGroupSpec(name, members, ignores, node.place))
    return tuple(groups)


def _own_members(node: Node, links: Mapping[str, LinkSpec]) -> list[str]:
    names = [read_link_name(member, "link", links, "ATTRIBUTE_INVALID") for member in node.children("drake:member")]
    return [name for name in names if name is not None]


def _group_names(node: Node, tag: str, groups: Collection[str]) -> tuple[str, ...]:
    """The groups that children of a tag name; an error for each that does not exist."""
    names = []
    for child in node.children(tag):
        name = read_name(child)
        if name is None:
            continue
        if name in groups:
            names.append(name)
        else:
            child.refuse(
                "name", f'there is no collision filter group "{name}"', value=name, hint=did_you_mean(name, groups)
            )
    return tuple(names)


def _reachable(start: str, successors: Mapping[str, Sequence[str]]) -> list[str]:
    """`start` and everything reached from it, each once, in order."""
    reached = {start: None}
    pending = [start]
    while pending:
        for name in successors[pending.pop()]:
            if name not in reached:
                reached[name] = None
                pending.append(name)
    return list(reached)
