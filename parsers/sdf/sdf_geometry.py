"""Visuals and collisions of SDFormat links: shapes, mesh files, colors, contact properties."""

from functools import partial

from mbcli.parsers.poses import compose, half_space_pose, unit_vector
from mbcli.parsers.proximity_properties import read_proximity_properties, set_friction
from mbcli.parsers.sdf.sdf_values import by_name, child_number, child_vector, descendant, read_pose
from mbcli.parsers.spec import IDENTITY, Box, Capsule, Cylinder, Ellipsoid, GeometrySpec, HalfSpace, Mesh, Sphere
from mbcli.parsers.xml_source import quoted

from mbcli.common.suggestions import did_you_mean


def read_geometries(element, tag):
    """The visuals or the collisions of a link that have a shape."""
    found = []
    for name, node in by_name(element.node.children(tag), element.file.minor).items():
        X = _read_pose_in(element, node)
        geometry = node.child("geometry")
        shape = _read_shape(geometry, element.file.meshes) if geometry is not None else None
        color = _read_color(node) if tag == "visual" else None
        properties = _read_proximity(node) if tag == "collision" else {}
        if geometry is None:
            message = f"<{tag}> {quoted(name)} has no <geometry> and is not used"
            node.diagnostics.warning("ELEMENT_MISSING", message, node)
        if shape is not None:
            shape, X_GS = shape
            found.append(GeometrySpec(name, shape, compose(X, X_GS), node.place, color, properties))
    return tuple(found)


def _read_pose_in(link, owner):
    """Pose of a visual or collision in the link's frame."""
    X, relative_to = read_pose(owner, link.file.minor)
    if relative_to is None:
        return X
    if relative_to not in link.frames:
        message = f"the pose of <{owner.tag}> is relative to {quoted(relative_to)}, which is not in the model"
        hint = did_you_mean(relative_to, link.frames.names)
        owner.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, owner.child("pose"), hint=hint)
    return compose(link.frames.X_AB(link.name, relative_to), X)


def _read_shape(geometry, meshes):
    """(shape, its pose in the frame of the visual or collision), or None."""
    geometry.children("empty")
    shapes = geometry.children(*SHAPES)
    for extra in shapes[1:]:
        extra.unsupported("a geometry has one shape, the first")
    return SHAPES[shapes[0].tag](shapes[0], meshes) if shapes else None


def _read_plane(node, meshes):
    """The half space under a plane: its z axis is the normal."""
    z = unit_vector(child_vector(node, "normal", 3, (0.0, 0.0, 1.0)))
    if z is None:
        node.diagnostics.error("ELEMENT_INVALID", "the <normal> of <plane> must not be zero", node)
        return None
    return HalfSpace(), half_space_pose(z)


def _read_mesh(node, meshes):
    uri_node = node.child("uri", required=True)
    uri = uri_node.text(required=True) if uri_node is not None else None
    scale = child_vector(node, "scale", 3, (1.0, 1.0, 1.0))
    if 0 in scale:
        node.diagnostics.error("ELEMENT_INVALID", "the <scale> of a mesh must not be zero", node.child("scale"))
    convex = node.child("drake:declare_convex") is not None
    if uri is None:
        return None
    path = meshes.find(uri, uri_node, node.parent.parent.tag)
    return Mesh(uri, scale, convex, path), IDENTITY


def _read_solid(shape, dimensions, node, meshes):
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
SHAPES = {
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


def _read_proximity(collision):
    """{(group, name): value} of a collision's contact properties. Drake's own elements for friction win."""
    properties = read_proximity_properties(collision, _read_number)
    ode = descendant(collision, "surface", "friction", "ode")
    if ode is None:
        return properties
    if ("material", "coulomb_friction") in properties:
        ode.unsupported("<drake:proximity_properties> gives the friction")
    elif ode.child("mu") is not None or ode.child("mu2") is not None:
        coefficients = [child_number(ode, tag, 1.0) for tag in ("mu", "mu2")]
        set_friction(properties, coefficients, map(ode.child, ("mu", "mu2")), collision)
    return properties


def _read_number(element):
    return element.text_number(required=True)
