"""SDFormat files to `ModelSpec`: versions 1.4 to 1.12, with Drake's extensions.

Where the format leaves a choice, or Drake differs from it, this reader does what Drake does: a link without
inertial has mass 1 and unit inertia, a joint has an actuator unless its effort limit is 0, the `drake:joint`
elements come after all `joint` elements. What a file says and nothing here uses is reported.

Format: http://sdformat.org/spec
"""

import os
from dataclasses import dataclass

from mbcli.checks import check_model
from mbcli.suggestions import did_you_mean

from .mesh_files import MeshFiles
from .package_map import PackageMap
from .sdf_frames import MODEL, WORLD, FrameGraph
from .sdf_geometry import read_geometries
from .sdf_joints import read_joint_ends, read_joints
from .sdf_known import KNOWN
from .sdf_values import by_name, child_boolean, child_number, read_pose
from .spec import IDENTITY, CollisionFilterGroupSpec, FrameSpec, InertialSpec, LinkSpec, ModelSpec
from .xml_source import Node, quoted, read_xml, report_unread

OLDEST_MINOR, NEWEST_MINOR = 4, 12
_VERSIONS = {f"1.{minor}": minor for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1)}


def read_sdf(source, diagnostics, *, packages=None, name=None):
    """The models of an SDFormat file, a tuple of `ModelSpec` in the order of the file.

    source: a path, or the bytes of a document (whose relative URIs start at the working directory).
    packages: `PackageMap` for mesh URIs. name: what places call the file; default: the path as given.

    Nothing is raised for what is wrong in the file: the findings are in `diagnostics`, and if there is an
    error among them, the tuple is empty.
    """
    errors_before = len(diagnostics.errors)
    root = read_xml(source, diagnostics, name=name)
    if root is None:
        return ()
    minor = _read_version(root)
    if minor is None:
        return ()
    base_dir = os.curdir if isinstance(source, bytes) else os.path.dirname(source)
    meshes = MeshFiles(packages or PackageMap(), base_dir)
    models = _read_root(root, _File(minor, meshes))
    meshes.report_missing(diagnostics)
    report_unread(root, diagnostics, KNOWN)
    for model in models:
        check_model(model, diagnostics)
    return () if len(diagnostics.errors) > errors_before else models


@dataclass(frozen=True, slots=True)
class _File:
    minor: int  # of the format's version, 1.minor
    meshes: MeshFiles


@dataclass(frozen=True, slots=True)
class _Scope:
    """A model while it is read."""

    node: Node
    file: _File
    named: dict  # name: node, of everything that shares the model's names
    graph: FrameGraph
    joint_ends: dict  # joint name: (parent frame, child frame), None where the file lacks it

    def of_tag(self, tag):
        """(name, node) of the model's elements of that tag."""
        return [(name, node) for name, node in self.named.items() if node.tag == tag]


def _read_version(root):
    """The minor version, or None with an error."""
    if root.tag != "sdf":
        message = f"the root element of an SDFormat file must be <sdf>, found <{root.tag}>"
        root.diagnostics.error("ELEMENT_INVALID", message, root)
        return None
    version = root.attribute("version", required=True)
    if version is None:
        return None
    minor = _VERSIONS.get(version.strip())
    if minor is None:
        message = f"SDFormat version {quoted(version)} is not supported"
        hint = f"versions 1.{OLDEST_MINOR} to 1.{NEWEST_MINOR} are"
        root.diagnostics.error("ATTRIBUTE_INVALID", message, root, attribute="version", value=version, hint=hint)
    return minor


# ------------------------------------------------------------------------------------- files and worlds


def _read_root(root, file):
    _refuse(root.children("include"), "an include")
    worlds = root.children("world")
    nodes = root.children("model")
    if worlds and (nodes or len(worlds) > 1):
        message = "a file must have either models or one world"
        related = [node.place for node in (*worlds, *nodes)]
        root.diagnostics.error("ELEMENT_INVALID", message, worlds[-1], related=related)
        root.ignore("settled")
        return ()
    for world in worlds:
        world.attribute("name")
        _refuse(world.children("include"), "an include")
        _refuse(world.children("joint"), "a joint of the world")
        nodes = world.children("model")
    if not nodes and not worlds:
        root.diagnostics.error("ELEMENT_MISSING", "the file has no <model> and no <world>", root)
    models = [_read_model(node, name, file) for name, node in by_name(nodes, file.minor).items()]
    return tuple(models)


def _refuse(nodes, what):
    """Say of elements whose absence would change the mechanism that they cannot be read."""
    for node in nodes:
        node.diagnostics.error("ELEMENT_UNSUPPORTED", f"<{node.tag}>: {what} is not supported yet", node)
        node.ignore("settled")


# -------------------------------------------------------------------------------------------- the model

_SHARE_NAMES = ("link", "joint", "frame", "drake:joint", "drake:collision_filter_group")


def _read_model(node, name, file):
    _refuse(node.children("include"), "an include")
    _refuse(node.children("model"), "a nested model")
    for plugin in node.children("plugin"):
        plugin.ignore("foreign", "plugins are code of a simulator")
    static = child_boolean(node, "static", False)
    scope = _read_scope(node, file)
    if not static and "link" not in _tags(scope):
        node.diagnostics.error("MODEL_WITHOUT_LINK", f"model {quoted(name)} must have a link", node)
    joints, actuators = read_joints(scope)
    if static:
        _refuse_motion(joints, scope)
    links = {link: _read_link(n, link, scope) for link, n in scope.of_tag("link")}
    graph = scope.graph
    canonical_link = graph.canonical_link or WORLD
    return ModelSpec(
        name=name,
        format="sdf",
        version=f"1.{file.minor}",
        place=node.place,
        links=tuple(links.values()),
        joints=joints,
        frames=tuple(_read_frame(n, frame, graph) for frame, n in scope.of_tag("frame")),
        actuators=actuators,
        filter_groups=_read_filter_groups(scope),
        static=static,
        X_WModel=graph.X_WModel,
        X_LinkModel=(canonical_link, graph.X_AB(canonical_link, MODEL)),
        sources=(node.document,),
    )


def _tags(scope):
    return {node.tag for node in scope.named.values()}


def _refuse_motion(joints, scope):
    for joint in joints:
        if joint.type != "fixed":
            message = f"joint {quoted(joint.name)} of a static model must be fixed, not {joint.type}"
            scope.node.diagnostics.error("ELEMENT_INVALID", message, scope.named[joint.name])


def _read_scope(node, file):
    """The named elements of a model and their frames, resolved; the faults of the frames are reported."""
    named = by_name(node.children(*_SHARE_NAMES), file.minor)
    X, relative_to = read_pose(node, file.minor)
    if relative_to is not None and not (relative_to == WORLD and node.parent.tag == "world"):
        message = f"the pose of a model in a file cannot be relative to {quoted(relative_to)}"
        node.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, node.child("pose"))
    graph = FrameGraph(
        canonical_link=node.attribute("canonical_link") or None,
        placement_frame=node.attribute("placement_frame") or None,
        X_WPlacement=X,
    )
    joint_ends = {}
    for name, element in named.items():
        posed = element.tag in ("link", "joint", "frame")
        X, relative_to = read_pose(element, file.minor) if posed else (IDENTITY, None)
        if element.tag == "link":
            graph.add_link(name, relative_to=relative_to, X=X)
        elif element.tag == "frame":
            attached_to = element.attribute("attached_to") or None
            graph.add_frame(name, attached_to=attached_to, relative_to=relative_to, X=X)
        elif element.tag in ("joint", "drake:joint"):
            joint_ends[name] = read_joint_ends(element)
            graph.add_joint(name, joint_ends[name][1] or MODEL, relative_to=relative_to, X=X)
    _report_faults(graph, node, named)
    return _Scope(node, file, named, graph, joint_ends)


def _report_faults(graph, model, named):
    for fault in graph.resolve():
        node = named.get(fault.frame, model)
        if fault.code.startswith("POSE"):
            node = node.child("pose") or node
        hint = did_you_mean(fault.unknown, graph.names) if fault.unknown else None
        node.diagnostics.error(fault.code, fault.message, node, value=fault.unknown, hint=hint)


def _read_frame(node, name, graph):
    link = graph.link_of(name) or WORLD
    return FrameSpec(name, link, graph.X_AB(link, name), node.place)


# ------------------------------------------------------------------------------------------------ links


def _read_link(node, name, scope):
    kinematic = node.child("kinematic")
    if kinematic is not None and kinematic.text_boolean(False):
        kinematic.unsupported("the link moves by its dynamics")
    return LinkSpec(
        name=name,
        place=node.place,
        inertial=_read_inertial(node, scope.file),
        X_ModelL=scope.graph.X_AB(MODEL, name),
        visuals=read_geometries(node, name, "visual", scope),
        collisions=read_geometries(node, name, "collision", scope),
        gravity=child_boolean(node, "gravity", True),
    )


# the elements of <inertia> with what they are where the file leaves them out [kg m^2]
_INERTIA = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}


def _read_inertial(link, file):
    node = link.child("inertial")
    if node is None:
        return InertialSpec(1.0, IDENTITY, tuple(_INERTIA.values()), link.place)
    if node.boolean("auto", False):
        message = '<inertial auto="true">: mass properties from geometry are not supported yet'
        node.diagnostics.error("ATTRIBUTE_UNSUPPORTED", message, node, attribute="auto")
    X_LI, relative_to = read_pose(node, file.minor)
    if relative_to is not None:
        message = "the pose of <inertial> is in its link and cannot be relative to another frame"
        node.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, node.child("pose"), value=relative_to)
    mass = child_number(node, "mass", 1.0)
    matrix = node.child("inertia")
    inertia = tuple(
        default if matrix is None else child_number(matrix, tag, default) for tag, default in _INERTIA.items()
    )
    return InertialSpec(mass, X_LI, inertia, node.place)


# ------------------------------------------------------------------------------------ collision filters


def _read_filter_groups(scope):
    nodes = {}
    for name, node in scope.of_tag("drake:collision_filter_group"):
        if node.boolean("ignore", False):
            node.ignore("settled")  # the file itself takes it out
        else:
            nodes[name] = node
    links = dict(scope.of_tag("link"))
    members, inner = {}, {}
    for name, node in nodes.items():
        members[name] = _read_references(node, "drake:member", links, "link")
        inner[name] = _read_references(node, "drake:member_group", nodes, "collision filter group")
        if not members[name] and not inner[name]:
            message = f"collision filter group {quoted(name)} has no members"
            node.diagnostics.error("ELEMENT_MISSING", message, node)
    return tuple(
        CollisionFilterGroupSpec(
            name=name,
            members=_flatten(name, members, inner),
            ignores=_read_references(node, "drake:ignored_collision_filter_group", nodes, "collision filter group"),
            place=node.place,
        )
        for name, node in nodes.items()
    )


def _read_references(owner, tag, names, what):
    """The texts of the children of that tag, each of them one of the names."""
    found = []
    for node in owner.children(tag):
        name = node.text(required=True)
        if name is not None and name not in names:
            message = f"<{tag}> names the {what} {quoted(name)}, which is not in the model"
            node.diagnostics.error("ELEMENT_INVALID", message, node, value=name, hint=did_you_mean(name, names))
        elif name is not None:
            found.append(name)
    return tuple(found)


def _flatten(group, members, inner):
    """Links of a group and of the groups in it, each once."""
    links, seen, waiting = {}, set(), [group]
    while waiting:
        name = waiting.pop(0)
        if name not in seen:
            seen.add(name)
            links.update(dict.fromkeys(members[name]))
            waiting += inner[name]
    return tuple(links)
