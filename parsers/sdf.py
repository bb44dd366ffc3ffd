"""SDFormat files to `ModelSpec`: versions 1.4 to 1.12, with Drake's extensions.

Where the format leaves a choice, or Drake differs from it, this reader does what Drake does: a link without
inertial has mass 1 and unit inertia, a joint has an actuator unless its effort limit is 0, the `drake:joint`
elements come after all `joint` elements. What a file says and nothing here uses is reported.

Format: http://sdformat.org/spec
"""

import os
from dataclasses import dataclass, replace
from functools import partial
from math import inf, pi, radians

import numpy as np

from mbcli.math import RollPitchYaw
from mbcli.math.rotation_array import matrix_from_quaternion
from mbcli.suggestions import did_you_mean

from .package_map import PackageMap
from .plausibility import check_inertia
from .sdf_frames import (
    MODEL,
    WORLD,
    FrameGraph,
    compose,
    find_cycles,
    is_reserved,
)
from .spec import (
    AXES,
    IDENTITY,
    ActuatorSpec,
    AxisSpec,
    Box,
    Capsule,
    CollisionFilterGroupSpec,
    Cylinder,
    Ellipsoid,
    FrameSpec,
    GeometrySpec,
    HalfSpace,
    InertialSpec,
    JointSpec,
    LinkSpec,
    Mesh,
    MimicSpec,
    ModelSpec,
    Sphere,
    pose,
)
from .urdf_geometry import MeshFiles
from .xml_source import Node, quoted, read_xml, report_unread

OLDEST_MINOR, NEWEST_MINOR = 4, 12
_VERSIONS = {f"1.{minor}": minor for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1)}

ORTHOGONAL_TOLERANCE = 1e-9  # between the unit axes of a universal joint
LARGEST_COORDINATE = 1e100  # [m]; sums of poses stay finite
SMALLEST_THREAD_PITCH = 1e-100  # [rad/m]; its inverse is finite


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
    models = [_read_model(node, name, file) for name, node in _by_name(nodes, file).items()]
    return tuple(models)


def _refuse(nodes, what):
    """Say of elements whose absence would change the mechanism that they cannot be read."""
    for node in nodes:
        node.diagnostics.error("ELEMENT_UNSUPPORTED", f"<{node.tag}>: {what} is not supported yet", node)
        node.ignore("settled")


def _by_name(nodes, file):
    """{name: node} of elements whose names must differ; one without a good name is an error and left out."""
    named = {}
    for node in nodes:
        name = node.attribute("name", required=True)
        problem = _name_problem(name, file) if name is not None else None
        if problem:
            code, message = problem
            node.diagnostics.error(code, f"<{node.tag}>: {message}", node, attribute="name", value=name)
        elif name in named:
            first = named[name]
            message = f"the name {quoted(name)} of <{node.tag}> is already that of a <{first.tag}>"
            node.diagnostics.error(
                "DUPLICATE_NAME", message, node, attribute="name", value=name, related=(first.place,)
            )
        elif name is not None:
            named[name] = node
            continue
        node.ignore("settled")
    return named


def _name_problem(name, file):
    if not name.strip():
        return "ATTRIBUTE_INVALID", "the name must not be empty"
    if is_reserved(name):
        return "RESERVED_NAME", f"the name {quoted(name)} is reserved"
    if "::" in name and file.minor >= 8:
        return "RESERVED_NAME", f'the name {quoted(name)} must not contain "::"'
    return None


# -------------------------------------------------------------------------------------------- the model

_SHARE_NAMES = ("link", "joint", "frame", "drake:joint", "drake:collision_filter_group")


def _read_model(node, name, file):
    _refuse(node.children("include"), "an include")
    _refuse(node.children("model"), "a nested model")
    for plugin in node.children("plugin"):
        plugin.ignore("foreign", "plugins are code of a simulator")
    static = _child_boolean(node, "static", False)
    scope = _read_scope(node, file)
    if not static and "link" not in _tags(scope):
        node.diagnostics.error("MODEL_WITHOUT_LINK", f"model {quoted(name)} must have a link", node)
    joints, actuators = _read_joints(scope)
    if static:
        _refuse_motion(joints, scope)
    graph = scope.graph
    canonical_link = graph.canonical_link or WORLD
    return ModelSpec(
        name=name,
        format="sdf",
        version=f"1.{file.minor}",
        place=node.place,
        links=tuple(_read_link(n, link, scope) for link, n in _of_tag(scope, "link")),
        joints=joints,
        frames=tuple(_read_frame(n, frame, graph) for frame, n in _of_tag(scope, "frame")),
        actuators=actuators,
        filter_groups=_read_filter_groups(scope),
        static=static,
        X_WModel=graph.X_WModel,
        X_LinkModel=(canonical_link, graph.X_AB(canonical_link, MODEL)),
        sources=(node.document,),
    )


def _tags(scope):
    return {node.tag for node in scope.named.values()}


def _of_tag(scope, tag):
    """(name, node) of the model's elements of that tag."""
    return [(name, node) for name, node in scope.named.items() if node.tag == tag]


def _refuse_motion(joints, scope):
    for joint in joints:
        if joint.type != "fixed":
            message = f"joint {quoted(joint.name)} of a static model must be fixed, not {joint.type}"
            scope.node.diagnostics.error("ELEMENT_INVALID", message, scope.named[joint.name])


def _read_scope(node, file):
    """The named elements of a model and their frames, resolved; the faults of the frames are reported."""
    named = _by_name(node.children(*_SHARE_NAMES), file)
    X, relative_to = _read_pose(node, file)
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
        X, relative_to = _read_pose(element, file) if element.tag in ("link", "joint", "frame") else (IDENTITY, None)
        if element.tag == "link":
            graph.add_link(name, relative_to=relative_to, X=X)
        elif element.tag == "frame":
            attached_to = element.attribute("attached_to") or None
            graph.add_frame(name, attached_to=attached_to, relative_to=relative_to, X=X)
        elif element.tag in ("joint", "drake:joint"):
            joint_ends[name] = _read_joint_ends(element)
            graph.add_joint(name, joint_ends[name][1] or MODEL, relative_to=relative_to, X=X)
    _report_faults(graph, node, named)
    return _Scope(node, file, named, graph, joint_ends)


def _read_joint_ends(joint):
    """Names of the parent and the child frame."""
    prefix = joint.tag.removesuffix("joint")
    ends = []
    for tag in ("parent", "child"):
        node = joint.child(prefix + tag, required=True)
        ends.append(node.text(required=True) if node is not None else None)
    return tuple(ends)


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


# ------------------------------------------------------------------------------------------------ poses


def _read_pose(owner, file):
    """(X, name of the frame that X is given in, or None where the file leaves it to the default)."""
    node = owner.child("pose")
    if node is None:
        return IDENTITY, None
    relative_to = node.attribute("relative_to") or None
    if file.minor <= 6:
        relative_to = relative_to or node.attribute("frame") or None
    elif node.attribute("frame") is not None:
        message = 'attribute "frame" of <pose> is called "relative_to" since SDFormat 1.7'
        node.diagnostics.error("ATTRIBUTE_INVALID", message, node, attribute="frame")
    return _read_pose_value(node), relative_to


def _read_pose_value(node):
    X = _read_any_pose(node)
    if abs(X[:3, 3]).max() > LARGEST_COORDINATE:
        node.diagnostics.error("ELEMENT_INVALID", f"<pose> is further away than {LARGEST_COORDINATE:g} m", node)
        return IDENTITY
    return X


def _read_any_pose(node):
    in_degrees = node.boolean("degrees", False)
    rotation_format = node.attribute("rotation_format", "euler_rpy")
    if rotation_format == "euler_rpy":
        *p, roll, pitch, yaw = node.text_vector(6, (0.0,) * 6)
        angles = (roll, pitch, yaw)
        rpy = [radians(angle) for angle in angles] if in_degrees else angles
        return pose(RollPitchYaw(rpy).ToRotationMatrix().matrix(), p)
    if rotation_format != "quat_xyzw":
        message = f'rotation_format must be "euler_rpy" or "quat_xyzw", found {quoted(rotation_format)}'
        node.diagnostics.error("ATTRIBUTE_INVALID", message, node, attribute="rotation_format")
        node.text()
        return IDENTITY
    if in_degrees:
        message = '"degrees" does not apply to a pose with a quaternion'
        node.diagnostics.error("ATTRIBUTE_INVALID", message, node, attribute="degrees")
    *p, x, y, z, w = node.text_vector(7, (0.0,) * 6 + (1.0,))
    if not any((w, x, y, z)):
        node.diagnostics.error("ELEMENT_INVALID", "the quaternion of <pose> must not be zero", node)
        return IDENTITY
    wxyz = np.array([w, x, y, z])
    return pose(matrix_from_quaternion(wxyz / abs(wxyz).max()), p)


def _read_pose_in(link, owner, scope):
    """Pose of a visual or collision in the link's frame."""
    X, relative_to = _read_pose(owner, scope.file)
    if relative_to is None:
        return X
    if relative_to not in scope.graph:
        message = f"the pose of <{owner.tag}> is relative to {quoted(relative_to)}, which is not in the model"
        hint = did_you_mean(relative_to, scope.graph.names)
        owner.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, owner.child("pose"), hint=hint)
    return compose(scope.graph.X_AB(link, relative_to), X)


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
        visuals=_read_geometries(node, name, "visual", scope),
        collisions=_read_geometries(node, name, "collision", scope),
        gravity=_child_boolean(node, "gravity", True),
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
    X_LI, relative_to = _read_pose(node, file)
    if relative_to is not None:
        message = "the pose of <inertial> is in its link and cannot be relative to another frame"
        node.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, node.child("pose"), value=relative_to)
    mass = _child_number(node, "mass", 1.0)
    matrix = node.child("inertia")
    inertia = tuple(
        default if matrix is None else _child_number(matrix, tag, default) for tag, default in _INERTIA.items()
    )
    check_inertia(mass, inertia, node.diagnostics, node)
    return InertialSpec(mass, X_LI, inertia, node.place)


# --------------------------------------------------------------------------------------------- geometry


def _read_geometries(link, link_name, tag, scope):
    """The visuals or the collisions of a link that have a shape."""
    found = []
    for name, node in _by_name(link.children(tag), scope.file).items():
        X = _read_pose_in(link_name, node, scope)
        geometry = node.child("geometry")
        shape = _read_shape(geometry, scope.file) if geometry is not None else None
        color = _read_color(node) if tag == "visual" else None
        properties = _read_proximity(node) if tag == "collision" else {}
        if geometry is None:
            message = f"<{tag}> {quoted(name)} has no <geometry> and is not used"
            node.diagnostics.warning("ELEMENT_MISSING", message, node)
        if shape is not None:
            shape, X_GS = shape
            found.append(GeometrySpec(name, shape, compose(X, X_GS), node.place, color, properties))
    return tuple(found)


def _read_shape(geometry, file):
    """(shape, its pose in the frame of the visual or collision), or None."""
    geometry.children("empty")
    shapes = geometry.children(*_SHAPES)
    for extra in shapes[1:]:
        extra.unsupported("a geometry has one shape, the first")
    return _SHAPES[shapes[0].tag](shapes[0], file) if shapes else None


def _read_plane(node, file):
    """The half space under a plane: its z axis is the normal."""
    z = _unit_vector(_child_vector(node, "normal", 3, (0.0, 0.0, 1.0)))
    if z is None:
        node.diagnostics.error("ELEMENT_INVALID", "the <normal> of <plane> must not be zero", node)
        return None
    if z[2] == 1:
        return HalfSpace(), IDENTITY
    y = np.cross(z, np.eye(3)[np.argmin(abs(z))])
    y /= np.linalg.norm(y)
    return HalfSpace(), pose(np.column_stack([np.cross(y, z), y, z]))


def _read_mesh(node, file):
    uri_node = node.child("uri", required=True)
    uri = uri_node.text(required=True) if uri_node is not None else None
    scale = _child_vector(node, "scale", 3, (1.0, 1.0, 1.0))
    if 0 in scale:
        node.diagnostics.error("ELEMENT_INVALID", "the <scale> of a mesh must not be zero", node.child("scale"))
    convex = node.child("drake:declare_convex") is not None
    if uri is None:
        return None
    path = file.meshes.find(uri, uri_node, node.parent.parent.tag)
    return Mesh(uri, scale, convex, path), IDENTITY


def _read_solid(shape, dimensions, node, file):
    """A shape whose arguments are numbers in child elements; dimensions: (tag, count of numbers)."""
    values = [_read_size(node, tag, count) for tag, count in dimensions]
    return shape(*[value if len(value) > 1 else value[0] for value in values]), IDENTITY


def _read_size(node, tag, count):
    child = node.child(tag)
    default = (1.0,) * count
    if child is None:
        message = f"<{node.tag}> has no <{tag}>: {' '.join(['1'] * count)} is taken"
        node.diagnostics.warning("ELEMENT_MISSING", message, node)
        return default
    size = child.text_vector(count, default, required=True)
    if min(size) <= 0:
        message = f"<{tag}> of <{node.tag}> must be positive, found {quoted(child.text(''))}"
        node.diagnostics.error("ELEMENT_INVALID", message, child, value=child.text())
    return size


def _ellipsoid(a, b, c):
    return Ellipsoid((a, b, c))


_CAPSULE = partial(_read_solid, Capsule, (("radius", 1), ("length", 1)))
_SHAPES = {
    "box": partial(_read_solid, Box, (("size", 3),)),
    "sphere": partial(_read_solid, Sphere, (("radius", 1),)),
    "cylinder": partial(_read_solid, Cylinder, (("radius", 1), ("length", 1))),
    "capsule": _CAPSULE,
    "drake:capsule": _CAPSULE,
    "ellipsoid": partial(_read_solid, Ellipsoid, (("radii", 3),)),
    "drake:ellipsoid": partial(_read_solid, _ellipsoid, (("a", 1), ("b", 1), ("c", 1))),
    "plane": _read_plane,
    "mesh": _read_mesh,
}


def _read_color(visual):
    """RGBA of the diffuse material, or None."""
    material = visual.child("material")
    node = material.child("diffuse") if material is not None else None
    text = node.text() if node is not None else None
    if text is None:
        return None
    color = node.text_vector(3 if len(text.split()) == 3 else 4)
    if color is None:
        return None
    if not all(0 <= value <= 1 for value in color):
        message = f"the color values of <diffuse> must be between 0 and 1, found {quoted(text)}"
        node.diagnostics.error("ELEMENT_INVALID", message, node, value=text)
    return (*color, 1.0)[:4]


# <drake:proximity_properties>: element, (group, name) of the property
_PROXIMITY = {
    "drake:point_contact_stiffness": ("material", "point_contact_stiffness"),
    "drake:hunt_crossley_dissipation": ("material", "hunt_crossley_dissipation"),
    "drake:relaxation_time": ("material", "relaxation_time"),
    "drake:hydroelastic_modulus": ("hydroelastic", "hydroelastic_modulus"),
    "drake:hydroelastic_margin": ("hydroelastic", "margin"),
    "drake:mesh_resolution_hint": ("hydroelastic", "resolution_hint"),
    "drake:slab_thickness": ("hydroelastic", "slab_thickness"),
}


def _read_proximity(collision):
    """{(group, name): value} of a collision's contact properties; only what the file gives."""
    properties = {}
    node = collision.child("drake:proximity_properties")
    if node is not None:
        for tag, key in _PROXIMITY.items():
            value = _child_number(node, tag, None, least=0)
            if value is not None:
                properties[key] = value
        compliance = _read_compliance(node)
        if compliance is not None:
            properties["hydroelastic", "compliance_type"] = compliance
    friction = _read_friction(collision, node)
    if friction is not None:
        properties["material", "coulomb_friction"] = friction
    return properties


def _read_compliance(node):
    rigid, compliant = node.child("drake:rigid_hydroelastic"), node.child("drake:compliant_hydroelastic")
    if rigid is not None and compliant is not None:
        message = "a collision is either <drake:rigid_hydroelastic> or <drake:compliant_hydroelastic>"
        node.diagnostics.error("ELEMENT_INVALID", message, compliant, related=(rigid.place,))
    if rigid is not None:
        return "rigid"
    return "compliant" if compliant is not None else None


def _read_friction(collision, properties):
    """(static, dynamic) coefficients, or None. Drake's own elements win; one of them gives both numbers."""
    static = dynamic = None
    if properties is not None:
        static = _child_number(properties, "drake:mu_static", None, least=0)
        dynamic = _child_number(properties, "drake:mu_dynamic", None, least=0)
    ode = _descendant(collision, "surface", "friction", "ode")
    if static is not None or dynamic is not None:
        if ode is not None:
            ode.unsupported("<drake:proximity_properties> gives the friction")
        static = dynamic if static is None else static
        dynamic = static if dynamic is None else dynamic
    elif ode is not None and (ode.child("mu") is not None or ode.child("mu2") is not None):
        static = _child_number(ode, "mu", 1.0, least=0)
        dynamic = _child_number(ode, "mu2", 1.0, least=0)
    else:
        return None
    if dynamic > static:
        message = f"the dynamic friction {dynamic!r} must not be greater than the static {static!r}"
        collision.diagnostics.error("ELEMENT_INVALID", message, collision)
    return static, dynamic


# ----------------------------------------------------------------------------------------------- joints


@dataclass(frozen=True, slots=True)
class _JointType:
    axes: tuple[str, ...]  # elements that the joint must have
    reads: frozenset  # fields of AxisSpec that such a joint has
    one_dof: bool = False  # can be actuated and can follow another joint


_LIMIT = {
    "lower": "lower",
    "upper": "upper",
    "effort": "effort",
    "velocity": "velocity",
    "drake:acceleration": "acceleration",
}
_DYNAMICS = {
    "damping": "damping",
    "friction": "friction",
    "spring_reference": "spring_reference",
    "spring_stiffness": "spring_stiffness",
}
_MOTION_LIMITS = ("lower", "upper", "velocity", "acceleration")
_AXIS_FIELDS = frozenset((*_LIMIT.values(), *_DYNAMICS.values()))
_JOINT_TYPES = {
    "fixed": _JointType((), frozenset()),
    "revolute": _JointType(("axis",), _AXIS_FIELDS, one_dof=True),
    "continuous": _JointType(("axis",), _AXIS_FIELDS - {"lower", "upper"}, one_dof=True),
    "prismatic": _JointType(("axis",), _AXIS_FIELDS, one_dof=True),
    "screw": _JointType(("axis",), frozenset({"effort", "damping", "friction"}), one_dof=True),
    "universal": _JointType(("axis", "axis2"), frozenset({"damping", "friction"})),
    "ball": _JointType((), frozenset({"damping"})),
}
_UNSUPPORTED_JOINT_TYPES = ("revolute2", "gearbox")

# types of <drake:joint>: how many numbers <drake:damping> has, and whether it must be there
_DRAKE_JOINT_TYPES = {"planar": (3, True), "quaternion_floating": (2, False), "rpy_floating": (2, False)}


def _read_joints(scope):
    """(joints, actuators) of a model."""
    joints, actuators = [], []
    for name, node in _of_tag(scope, "joint"):
        joint = _read_joint(node, name, scope)
        if joint is not None:
            joints.append(joint)
            actuator = _read_actuator(node, joint)
            actuators += [actuator] if actuator is not None else []
    joints += [_read_drake_joint(node, name, scope) for name, node in _of_tag(scope, "drake:joint")]
    joints = tuple(joint for joint in joints if joint is not None)
    _check_mimics(joints, scope)
    return joints, tuple(actuators)


def _read_joint(node, name, scope):
    kind = node.attribute("type", required=True)
    rule = _JOINT_TYPES.get(kind)
    if rule is None:
        if kind is not None:
            _report_joint_type(node, kind, _JOINT_TYPES)
        return None
    links = _find_joint_links(node, name, scope)
    axes = _read_axes(node, name, kind, rule, scope)
    if links is None or axes is None:
        node.ignore("settled")
        return None
    parent, child = links
    joint = JointSpec(
        name=name,
        type=kind,
        parent=parent,
        child=child,
        X_PF=scope.graph.X_AB(parent, name),
        X_CM=scope.graph.X_AB(child, name),
        place=node.place,
        axes=axes,
        screw_pitch=_read_screw_pitch(node) if kind == "screw" else 0.0,
        damping=_read_ball_damping(node, rule) if kind == "ball" else (),
    )
    return _align_universal(joint, node) if kind == "universal" else joint


def _report_joint_type(node, kind, types):
    message = f"<{node.tag}> has the unknown type {quoted(kind)}"
    code, hint = "ATTRIBUTE_INVALID", did_you_mean(kind, types)
    if kind in _UNSUPPORTED_JOINT_TYPES:
        code, message, hint = "ATTRIBUTE_UNSUPPORTED", f"joints of type {quoted(kind)} are not supported", None
    node.diagnostics.error(code, message, node, attribute="type", value=kind, hint=hint)
    node.ignore("settled")


def _find_joint_links(node, name, scope):
    """(parent link, child link), or None with an error."""
    parent_frame, child_frame = scope.joint_ends[name]
    if parent_frame is None or child_frame is None:
        return None
    graph = scope.graph
    error = partial(_joint_error, node, name)
    if parent_frame not in graph:
        hint = did_you_mean(parent_frame, graph.names)
        return error("JOINT_PARENT_LINK_INVALID", "parent", f"{quoted(parent_frame)} is not in the model", hint)
    parent, child = graph.link_of(parent_frame), graph.link_of(child_frame)
    if parent is None or child is None:
        return None  # a fault of the frames, reported
    if child == WORLD:
        return error("JOINT_CHILD_LINK_INVALID", "child", "must not be fixed to the world")
    if parent == child:
        return error("JOINT_PARENT_SAME_AS_CHILD", "child", f"is fixed to the same link {quoted(child)} as the parent")
    return parent, child


def _joint_error(node, name, code, end, problem, hint=None):
    end_node = node.child(node.tag.removesuffix("joint") + end)
    node.diagnostics.error(code, f"the {end} of joint {quoted(name)} {problem}", end_node, hint=hint)


def _read_axes(joint, name, kind, rule, scope):
    """AxisSpecs of the axes that the type needs, or None with an error."""
    axes = []
    for tag in rule.axes:
        node = joint.child(tag)
        if node is None:
            message = f"joint {quoted(name)} of type {kind} must have an <{tag}>"
            joint.diagnostics.error("ELEMENT_MISSING", message, joint)
            return None
        axes.append(
            AxisSpec(
                xyz=_read_direction(node, name, scope),
                place=node.place,
                mimic=_read_mimic(joint, node, rule),
                **_read_axis_values(node, kind, rule),
            )
        )
    return tuple(axes)


def _read_direction(axis, joint_name, scope):
    """Unit vector of an axis in the joint frame."""
    node = axis.child("xyz")
    xyz = _unit_vector(_child_vector(axis, "xyz", 3, (0.0, 0.0, 1.0)))
    if xyz is None:
        message = f"the axis of joint {quoted(joint_name)} must not be the zero vector"
        axis.diagnostics.error("ELEMENT_INVALID", message, node)
        return (0.0, 0.0, 1.0)
    frame = _read_expressed_in(axis, node, scope)
    if frame is not None:
        if frame not in scope.graph:
            message = (
                f"the axis of joint {quoted(joint_name)} is expressed in {quoted(frame)}, which is not in the model"
            )
            hint = did_you_mean(frame, scope.graph.names)
            axis.diagnostics.error("JOINT_AXIS_EXPRESSED_IN_INVALID", message, node, value=frame, hint=hint)
        xyz = scope.graph.X_AB(joint_name, frame)[:3, :3] @ xyz
    return tuple(xyz.tolist())


def _read_expressed_in(axis, xyz, scope):
    """The frame that an axis is given in, or None for the joint frame."""
    frame = (xyz.attribute("expressed_in") if xyz is not None else None) or None
    old = axis.child("use_parent_model_frame")
    if scope.file.minor > 6:
        if old is not None:
            message = 'since SDFormat 1.7 <use_parent_model_frame> is <xyz expressed_in="__model__">'
            axis.diagnostics.error("ELEMENT_INVALID", message, old)
            old.ignore("settled")
        return frame
    # 1.4 has no such element, and its axes are always in the model frame
    in_model = scope.file.minor == 4 or (old is not None and old.text_boolean(False))
    return frame or (MODEL if in_model else None)


def _read_axis_values(axis, kind, rule):
    """The numbers of <limit> and <dynamics> by the names of AxisSpec."""
    values = {}
    for group, fields in (("limit", _LIMIT), ("dynamics", _DYNAMICS)):
        owner = axis.child(group)
        for tag, field in fields.items():
            node = owner.child(tag) if owner is not None else None
            if node is None:
                continue
            value = node.text_number(allow_inf=group == "limit")
            if field in rule.reads:
                if value is not None:
                    values[field] = _check_axis_value(node, field, value)
            elif kind == "continuous":
                node.ignore("meaningless", "a continuous joint turns without end")
            elif value or field in _MOTION_LIMITS:  # any other 0 says nothing
                node.unsupported(f"of a {kind} joint")
    if values.get("lower", -inf) > values.get("upper", inf):
        message = f"the lower limit {values['lower']!r} is greater than the upper {values['upper']!r}"
        axis.diagnostics.error("ELEMENT_INVALID", message, axis.child("limit"))
    return values


def _check_axis_value(node, field, value):
    if field in ("velocity", "effort"):
        return inf if value < 0 else value  # negative: no limit
    if field in ("acceleration", "damping", "friction", "spring_stiffness") and value < 0:
        message = f"<{node.tag}> must not be negative, found {value!r}"
        node.diagnostics.error("ELEMENT_INVALID", message, node)
    return value


def _read_ball_damping(joint, rule):
    """The one damping of a ball joint stands in an axis whose direction means nothing."""
    axis = joint.child("axis")
    if axis is None:
        return (0.0,)
    for direction in axis.children("xyz"):
        direction.ignore("meaningless", "a ball joint has no direction")
    return (_read_axis_values(axis, "ball", rule).get("damping", 0.0),)


def _read_screw_pitch(joint):
    """[m] per revolution. The older <thread_pitch> is in radians per metre, and left-handed."""
    new, old = joint.child("screw_thread_pitch"), joint.child("thread_pitch")
    if new is not None:
        if old is not None:
            old.unsupported("<screw_thread_pitch> is there, too")
        return new.text_number(1.0)
    if old is None:
        return 1.0
    radians_per_metre = old.text_number(-2 * pi)
    if abs(radians_per_metre) < SMALLEST_THREAD_PITCH:
        old.diagnostics.error("ELEMENT_INVALID", "<thread_pitch> must not be zero", old)
        return 0.0
    return -2 * pi / radians_per_metre


def _align_universal(joint, node):
    """Turn F and M so that the axes are x and y, as the universal joint has them."""
    first, second = joint.axes
    x, y = np.array(first.xyz), np.array(second.xyz)
    if abs(x @ y) > ORTHOGONAL_TOLERANCE:
        message = f"the axes of universal joint {quoted(joint.name)} must be orthogonal"
        node.diagnostics.error("ELEMENT_INVALID", message, node)
        return joint
    if second.damping != first.damping:
        message = (
            f"universal joint {quoted(joint.name)} has one damping: {first.damping!r} of <axis> is used,"
            f" {second.damping!r} of <axis2> is not"
        )
        node.diagnostics.warning("ELEMENT_UNSUPPORTED", message, node.child("axis2"))
    z = np.cross(x, y)
    z /= np.linalg.norm(z)
    X_JI = pose(np.column_stack([x, np.cross(z, x), z]))
    return replace(
        joint,
        X_PF=compose(joint.X_PF, X_JI),
        X_CM=compose(joint.X_CM, X_JI),
        axes=(
            replace(first, xyz=(1.0, 0.0, 0.0)),
            replace(second, xyz=(0.0, 1.0, 0.0), damping=first.damping),
        ),
    )


def _read_drake_joint(node, name, scope):
    """Drake's own joint types: F is the parent frame and M the child frame as they stand."""
    kind = node.attribute("type", required=True)
    if kind not in _DRAKE_JOINT_TYPES:
        if kind is not None:
            _report_joint_type(node, kind, _DRAKE_JOINT_TYPES)
        return None
    for tag in ("pose", "drake:pose"):
        if node.child(tag) is not None:
            node.diagnostics.error("ELEMENT_UNSUPPORTED", f"<drake:joint> has no <{tag}>", node.child(tag))
            node.child(tag).ignore("settled")
    count, required = _DRAKE_JOINT_TYPES[kind]
    damping_node = node.child("drake:damping", required=required)
    damping = damping_node.text_vector(count, required=True) if damping_node is not None else None
    damping = damping or (0.0,) * count
    if min(damping) < 0:
        node.diagnostics.error("ELEMENT_INVALID", "<drake:damping> must not be negative", damping_node)
    links = _find_joint_links(node, name, scope)
    if links is None:
        return None
    parent_frame, child_frame = scope.joint_ends[name]
    parent, child = links
    return JointSpec(
        name=name,
        type=kind,
        parent=parent,
        child=child,
        X_PF=scope.graph.X_AB(parent, parent_frame),
        X_CM=scope.graph.X_AB(child, child_frame),
        place=node.place,
        axes=(AxisSpec((0.0, 0.0, 1.0), node.place),) * AXES[kind],
        damping=damping,
    )


# ------------------------------------------------------------------------------- actuators and followers


def _read_actuator(node, joint):
    """The actuator of a joint, or None: there is one unless the effort limit is 0."""
    if not _JOINT_TYPES[joint.type].one_dof or joint.axes[0].effort == 0:
        for tag in ("drake:rotor_inertia", "drake:gear_ratio", "drake:controller_gains"):
            for child in node.children(tag):
                child.unsupported("the joint has no actuator")
        return None
    gains = node.child("drake:controller_gains")
    return ActuatorSpec(
        name=joint.name,
        joint=joint.name,
        place=node.place,
        effort_limit=joint.axes[0].effort,
        rotor_inertia=_child_number(node, "drake:rotor_inertia", 0.0, least=0),
        gear_ratio=_child_number(node, "drake:gear_ratio", 1.0),
        controller_gains=_read_gains(gains) if gains is not None else None,
    )


def _read_gains(node):
    gains = tuple(node.number(name, 0.0, required=True) for name in ("p", "d"))
    if min(gains) < 0:
        node.diagnostics.error("ATTRIBUTE_INVALID", "<drake:controller_gains> must not be negative", node)
    return gains


def _read_mimic(joint, axis, rule):
    """The MimicSpec of a joint that follows another, whether or not there is such a leader."""
    own, standard = joint.child("drake:mimic"), axis.child("mimic")
    if not rule.one_dof:
        for node in (own, standard):
            if node is not None:
                node.unsupported("only a joint with one degree of freedom can follow another")
        return None
    if own is not None:
        if standard is not None:
            standard.unsupported("<drake:mimic> is there, too")
        multiplier = own.number("multiplier", 1.0, required=True)
        offset = own.number("offset", 0.0, required=True)
        leader = own.attribute("joint", required=True)
        return None if leader is None else MimicSpec(leader, multiplier, offset, own.place)
    return _read_standard_mimic(standard) if standard is not None else None


def _read_standard_mimic(node):
    """<axis><mimic>: q = multiplier (leader - reference) + offset."""
    multiplier = _child_number(node, "multiplier", 1.0)
    offset = _child_number(node, "offset", 0.0) - multiplier * _child_number(node, "reference", 0.0)
    leader = node.attribute("joint", required=True)
    axis = node.attribute("axis", "axis")
    if axis not in ("axis", "axis2"):
        message = f'attribute "axis" of <mimic> must be "axis" or "axis2", found {quoted(axis)}'
        node.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", message, node, attribute="axis", value=axis)
    if leader is None:
        return None
    return MimicSpec(leader, multiplier, offset, node.place, leader_axis=int(axis == "axis2"))


def _check_mimics(joints, scope):
    """Every leader is another joint with that axis, and no joint follows itself over others."""
    by_name = {joint.name: joint for joint in joints}
    leaders = {}
    for joint in joints:
        mimic = joint.axes[0].mimic if joint.axes else None
        leaders[joint.name] = mimic.leader if mimic is not None else None
        problem = _mimic_problem(joint, mimic, by_name, scope.joint_ends) if mimic is not None else None
        if problem is not None:
            message = f"joint {quoted(joint.name)} cannot follow {quoted(mimic.leader)}: {problem}"
            hint = did_you_mean(mimic.leader, by_name) if mimic.leader not in by_name else None
            scope.node.diagnostics.error(
                "JOINT_AXIS_MIMIC_INVALID", message, place=mimic.place, value=mimic.leader, hint=hint
            )
    for cycle in find_cycles(leaders):
        if len(cycle) > 1:
            arrows = " -> ".join(quoted(name) for name in (*cycle, cycle[0]))
            message = f"joints follow each other in a cycle: {arrows}"
            node = scope.named[cycle[0]]
            node.diagnostics.error("JOINT_AXIS_MIMIC_INVALID", message, node)


def _mimic_problem(joint, mimic, by_name, known):
    """known: names of all joints in the file, those with errors included."""
    if mimic.leader not in by_name:
        return None if mimic.leader in known else "there is no such joint"
    if mimic.leader == joint.name:
        return "it is the joint itself"
    leader = by_name[mimic.leader]
    if mimic.leader_axis >= AXES[leader.type] or leader.type == "planar":
        return f"it is {leader.type} and has no such axis"
    return None


# ------------------------------------------------------------------------------------- collision filters


def _read_filter_groups(scope):
    nodes = {}
    for name, node in _of_tag(scope, "drake:collision_filter_group"):
        if node.boolean("ignore", False):
            node.ignore("settled")  # the file itself takes it out
        else:
            nodes[name] = node
    links = dict(_of_tag(scope, "link"))
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


# ---------------------------------------------------------------------------------------- small elements


def _child_number(owner, tag, default, *, least=-inf):
    node = owner.child(tag)
    value = node.text_number(default, required=True) if node is not None else default
    if value is not None and value < least:
        message = f"<{tag}> must be at least {least}, found {value!r}"
        owner.diagnostics.error("ELEMENT_INVALID", message, node)
    return value


def _child_boolean(owner, tag, default):
    node = owner.child(tag)
    return node.text_boolean(default) if node is not None else default


def _child_vector(owner, tag, count, default):
    node = owner.child(tag)
    return node.text_vector(count, default) if node is not None else default


def _unit_vector(values):
    """Array of length 1, or None for the zero vector."""
    largest = max(map(abs, values))
    if largest == 0:
        return None
    vector = np.array(values) / largest  # whose square neither overflows nor vanishes
    return vector / np.linalg.norm(vector)


def _descendant(node, *tags):
    for tag in tags:
        node = node.child(tag) if node is not None else None
    return node


# --------------------------------------------------------------------- what the format has and we do not use

# {element: its children and @attributes}
KNOWN = {
    tag: frozenset(names.split())
    for tag, names in {
        "sdf": "@version world model include light actor",
        "world": "@name model frame include joint audio wind gravity magnetic_field atmosphere gui physics "
        "scene light actor plugin road spherical_coordinates state population",
        "model": "@name @canonical_link @placement_frame @namespace static pose link joint frame include model "
        "plugin gripper self_collide allow_auto_disable enable_wind model_state drake:joint "
        "drake:collision_filter_group drake:linear_bushing_rpy drake:linear_spring_damper "
        "drake:prismatic_spring drake:ball_constraint drake:distance_constraint drake:tendon_constraint "
        "drake:weld_constraint drake:coupler_constraint",
        "link": "@name pose inertial visual collision gravity kinematic enable_wind self_collide "
        "must_be_base_link velocity_decay sensor light projector audio_sink audio_source battery "
        "particle_emitter link_state",
        "inertial": "@auto pose mass inertia density auto_inertia_params fluid_added_mass",
        "inertia": " ".join(_INERTIA),
        "visual": "@name pose geometry material cast_shadows laser_retro transparency visibility_flags meta "
        "plugin drake:accepting_renderer drake:illustration_properties drake:perception_properties",
        "collision": "@name pose geometry surface laser_retro max_contacts density auto_inertia_params "
        "drake:proximity_properties drake:visual",
        "geometry": " ".join(_SHAPES) + " empty heightmap image polyline cone",
        "plane": "normal size",
        "mesh": "@optimization uri scale submesh convex_decomposition drake:declare_convex",
        "material": "diffuse ambient specular emissive shininess script shader lighting pbr render_order "
        "double_sided drake:diffuse_map",
        "surface": "friction contact bounce soft_contact",
        "friction": "ode bullet torsional",
        "ode": "mu mu2 fdir1 slip1 slip2",
        "drake:proximity_properties": " ".join(_PROXIMITY) + " drake:mu_static drake:mu_dynamic "
        "drake:rigid_hydroelastic drake:compliant_hydroelastic",
        "frame": "@name @attached_to pose",
        "pose": "@relative_to @degrees @rotation_format",
        "joint": "@name @type pose parent child axis axis2 thread_pitch screw_thread_pitch gearbox_ratio "
        "gearbox_reference_body physics sensor joint_state drake:rotor_inertia drake:gear_ratio "
        "drake:controller_gains drake:mimic",
        "axis": "xyz limit dynamics mimic initial_position",
        "axis2": "xyz limit dynamics mimic initial_position",
        "xyz": "@expressed_in",
        "limit": " ".join(_LIMIT) + " stiffness dissipation",
        "dynamics": " ".join(_DYNAMICS),
        "mimic": "@joint @axis multiplier offset reference",
        "drake:mimic": "@joint @multiplier @offset",
        "drake:controller_gains": "@p @d",
        "drake:joint": "@name @type drake:parent drake:child drake:damping",
        "drake:collision_filter_group": "@name @ignore drake:member drake:member_group "
        "drake:ignored_collision_filter_group",
    }.items()
}
