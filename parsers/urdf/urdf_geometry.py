"""Visuals and collisions of URDF links: shapes, mesh files, materials, contact properties.

A shape, color or contact property that cannot be read is left out with a warning: the mechanism does not depend on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.colors import color_in_range
from mbcli.parsers.duplicate_names import UniqueNames
from mbcli.parsers.poses import compose, half_space_pose, unit_vector
from mbcli.parsers.proximity_properties import read_proximity_properties, set_friction
from mbcli.parsers.spec import IDENTITY, Box, Capsule, Cylinder, Ellipsoid, GeometrySpec, HalfSpace, Mesh, Sphere
from mbcli.parsers.urdf.urdf_values import read_name, read_origin, read_unsigned

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from typing import TypeAlias

    from mbcli.parsers.mesh_files import MeshFiles
    from mbcli.parsers.proximity_properties import Properties
    from mbcli.parsers.spec import Shape
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

    Color: TypeAlias = tuple[float, float, float, float]  # RGBA


def read_geometries(
    link: Node, tag: str, materials: dict[str, Color | None], meshes: MeshFiles
) -> tuple[GeometrySpec, ...]:
    """The visuals or collisions of a link that have a shape, with names made unique as Drake does: Box, Box_1."""
    nodes = link.children(tag)
    if not nodes:
        return ()
    stated_names = [node.attribute("name") for node in nodes]
    names = UniqueNames(stated_names)
    is_seen = tag == "visual"
    geometries = []
    for node, stated in zip(nodes, stated_names, strict=True):
        shape, X_GS = _read_shape(node, link, meshes)
        color = None
        if is_seen:
            color = _read_color(node.child("material"), materials)
        else:
            for material in node.children("material"):
                material.ignore("meaningless", "a collision is not seen")
        X_LG = read_origin(node)
        if shape is None:
            node.ignore("settled")
            continue
        geometry = GeometrySpec(
            name=names.of(stated, "Convex" if getattr(shape, "convex", False) else type(shape).__name__),
            shape=shape,
            X_LG=compose(X_LG, X_GS),
            place=node.place,
            color=color,
            properties={} if is_seen else _read_proximity(node, shape),
        )
        if stated and geometry.name != stated:
            node.diagnostics.note(
                "DUPLICATE_NAME", f'the {tag} name "{stated}" is taken: renamed to "{geometry.name}"', node
            )
        geometries.append(geometry)
    return tuple(geometries)


def _read_shape(node: Node, link: Node, meshes: MeshFiles) -> tuple[Shape | None, Matrix4]:
    """(shape, its pose in the frame of the visual or collision); (None, identity) without one, which is reported."""
    with node.diagnostics.leaving_out(link, f"the {node.tag} is left out") as faults:
        geometry = node.child("geometry", required=True)
        element = _shape_element(geometry) if geometry is not None else None
        shape: Any = _SHAPES[element.tag](element, node.tag, meshes) if element is not None else None
    if faults or element is None or shape is None:
        return None, IDENTITY
    return shape, _read_plane_pose(element) if element.tag == "plane" else IDENTITY


def _shape_element(geometry: Node) -> Node | None:
    """The child of a <geometry> that is its shape, or None with an error."""
    children = geometry.child_nodes
    if len(children) == 1 and children[0].tag in _SHAPES:
        children[0].used = True
        return children[0]
    shapes = geometry.children(*_SHAPES)
    for other in shapes[1:]:
        other.ignore("settled")
        geometry.diagnostics.warning(
            "ELEMENT_DUPLICATE", "<geometry> has more than one shape: only the first is used", other
        )
    if shapes:
        return shapes[0]
    others = geometry.children()
    if others:
        geometry.diagnostics.error(
            "ELEMENT_INVALID",
            f"<{others[0].tag}> is not a shape of URDF",
            others[0],
            hint=did_you_mean(others[0].tag, _SHAPES),
        )
    else:
        geometry.diagnostics.error("ELEMENT_MISSING", "<geometry> must have a shape", geometry)
    return None


def _read_box(node: Node, role: str, meshes: MeshFiles) -> Box:
    size = node.vector("size", 3, (1.0, 1.0, 1.0), required=True)
    if min(size) <= 0:
        node.refuse("size", f"the size of a <box> must be positive, found {size}")
    return Box(size)


def _read_sphere(node: Node, role: str, meshes: MeshFiles) -> Sphere:
    return Sphere(read_unsigned(node, "radius", 0.0, required=True))


def _read_cylinder(node: Node, role: str, meshes: MeshFiles) -> Cylinder:
    return Cylinder(*_radius_and_length(node))


def _read_capsule(node: Node, role: str, meshes: MeshFiles) -> Capsule:
    return Capsule(*_radius_and_length(node))


def _radius_and_length(node: Node) -> tuple[float, float]:
    radius, length = (read_unsigned(node, name, 1.0, required=True, positive=True) for name in ("radius", "length"))
    return radius, length


def _read_ellipsoid(node: Node, role: str, meshes: MeshFiles) -> Ellipsoid:
    a, b, c = (read_unsigned(node, name, 1.0, required=True, positive=True) for name in ("a", "b", "c"))
    return Ellipsoid((a, b, c))


def _read_plane(node: Node, role: str, meshes: MeshFiles) -> HalfSpace:
    """The half space under a plane, an element of PyBullet."""
    if unit_vector(node.vector("normal", 3, (0.0, 0.0, 1.0))) is None:
        node.refuse("normal", "the normal of a <plane> must not be zero")
    return HalfSpace()


def _read_plane_pose(node: Node) -> Matrix4:
    normal = unit_vector(node.vector("normal", 3, (0.0, 0.0, 1.0)))
    return IDENTITY if normal is None else half_space_pose(normal)


def _read_mesh(node: Node, role: str, meshes: MeshFiles) -> Mesh | None:
    """A mesh with its URI resolved if that is possible; the file is not opened."""
    uri = node.attribute("filename", required=True)
    if uri == "":
        node.refuse("filename", "the <mesh> names no file")
    scale = _read_scale(node)
    if not uri or scale is None:
        return None
    convex = node.child("drake:declare_convex") is not None
    return Mesh(uri=uri, scale=scale, convex=convex, path=meshes.find(uri, node, role))


def _read_scale(node: Node) -> tuple[float, float, float] | None:
    """Three factors, or one for all; None after an error."""
    text = node.attribute("scale")
    if text is None:
        return (1.0, 1.0, 1.0)
    scale: Any = (node.number("scale"),) * 3 if len(text.split()) == 1 else node.vector("scale", 3)
    if scale is None or None in scale:
        return None
    if 0.0 in scale:
        node.refuse("scale", "the scale of a <mesh> must not be 0", value=text)
        return None
    return scale


_SHAPES = {
    "box": _read_box,
    "sphere": _read_sphere,
    "cylinder": _read_cylinder,
    "capsule": _read_capsule,
    "drake:capsule": _read_capsule,
    "drake:ellipsoid": _read_ellipsoid,
    "mesh": _read_mesh,
    "plane": _read_plane,
}


# ------------------------------------------------------------------------- materials, contact properties


def read_materials(root: Node) -> dict[str, Color | None]:
    """{name: RGBA or None} of the robot's own materials."""
    materials: dict[str, Any] = {}
    nodes: dict[str, Node] = {}
    for node in root.children("material"):
        with node.diagnostics.leaving_out(node, "the material is left out"):
            name = read_name(node)
        if not name:
            node.ignore("settled")
            continue
        rgba = _read_rgba(node)
        first = nodes.setdefault(name, node)
        if materials.setdefault(name, rgba) != rgba:
            node.diagnostics.warning(
                "DUPLICATE_NAME",
                f'the material name "{name}" is taken already, at {first.place}: the first color is used',
                node,
                attribute="name",
                value=name,
                related=(first.place,),
            )
    return materials


def _read_rgba(material: Node) -> Color | None:
    """The RGBA that a material states, or None; a texture is not used."""
    texture = material.child("texture")
    if texture is not None:
        texture.ignore("foreign")
    color = material.child("color")
    if color is None:
        return None
    with color.diagnostics.leaving_out(color, "the color is left out") as faults:
        rgba = color.vector("rgba", 4, required=True)
        rgba = None if rgba is None else color_in_range(rgba, color, "rgba")
    return None if faults else rgba


def _read_color(material: Node | None, materials: dict[str, Color | None]) -> Color | None:
    """RGBA of a visual's material, by value or by the name of a material read before; None without one."""
    if material is None:
        return None
    name = material.attribute("name", "")
    rgba = _read_rgba(material)
    if rgba is None:
        if name and name not in materials and material.child("texture") is None and material.child("color") is None:
            material.diagnostics.note(
                "MATERIAL_UNDEFINED",
                f'material "{name}" has no color and is not defined before',
                material,
                hint=did_you_mean(name, materials),
            )
        return materials.get(name)
    if name and materials.setdefault(name, rgba) != rgba:
        material.diagnostics.note(
            "DUPLICATE_NAME", f'material "{name}" has another color elsewhere: each visual keeps its own', material
        )
    return rgba


def _read_proximity(collision: Node, shape: Shape) -> Properties:
    """{(group, name): value} of <drake:proximity_properties>, or the friction of the old <drake_compliance>."""
    properties: dict[tuple[str, str], Any] = {}
    if collision.peek("drake_compliance") is None and collision.peek("drake:proximity_properties") is None:
        return properties
    with collision.diagnostics.leaving_out(collision, "it is left out"):
        legacy = collision.child("drake_compliance")
        if legacy is not None:
            elements = (legacy.child("static_friction"), legacy.child("dynamic_friction"))
            coefficients = [element.text_number() if element is not None else None for element in elements]
            set_friction(properties, coefficients, elements, collision)
        return properties | read_proximity_properties(collision, _read_value, shape)


def _read_value(element: Node) -> Any:
    return element.number("value", required=True)
