"""Visuals and collisions of URDF links: shapes, mesh files, materials, contact properties."""

from mbcli.parsers.proximity_properties import read_proximity_properties, set_friction
from mbcli.parsers.spec import Box, Capsule, Cylinder, Ellipsoid, GeometrySpec, Mesh, Sphere
from mbcli.parsers.urdf.urdf_values import nodes_by_name, read_origin, read_unsigned

from mbcli.common.suggestions import did_you_mean


def read_geometries(link, tag, materials, meshes):
    """The visuals or collisions of a link, with names made unique as Drake does: Box, Box_1."""
    geometries = []
    taken = {}
    for node in link.children(tag):
        stated = node.attribute("name")
        shape, default_name = _read_shape(node, meshes)
        color = _read_color(node.child("material"), materials) if tag == "visual" else None
        geometry = GeometrySpec(
            name=_unique(stated or default_name, taken),
            shape=shape,
            X_LG=read_origin(node),
            place=node.place,
            color=color,
            properties=_read_proximity(node) if tag == "collision" else {},
        )
        if stated and geometry.name != stated:
            node.diagnostics.warning(
                "DUPLICATE_NAME", f'the {tag} name "{stated}" is taken: renamed to "{geometry.name}"', node
            )
        geometries.append(geometry)
    return tuple(geometries)


def _unique(name, taken):
    """The name, or name_1 and so on; taken: {name: the last number tried for it}."""
    unique = name
    while unique in taken:
        taken[name] += 1
        unique = f"{name}_{taken[name]}"
    taken[unique] = 0
    return unique


def _read_shape(node, meshes):
    """(shape, default name) of the <geometry> in a visual or collision; (None, "") after an error."""
    geometry = node.child("geometry", required=True)
    if geometry is None:
        return None, ""
    shapes = [child for child in geometry.children() if child.tag in _SHAPES]
    for other in geometry.children():
        if other.tag not in _SHAPES:
            other.ignore("settled")
            node.diagnostics.error(
                "ELEMENT_INVALID",
                f"<{other.tag}> is not a shape of URDF",
                other,
                hint=did_you_mean(other.tag, _SHAPES),
            )
        elif other is not shapes[0]:
            other.ignore("settled")
            node.diagnostics.warning(
                "ELEMENT_DUPLICATE", "<geometry> has more than one shape: only the first is used", other
            )
    if not shapes:
        if not geometry.child_tags:
            node.diagnostics.error("ELEMENT_MISSING", "<geometry> must have a shape", geometry)
        return None, ""
    shape = _SHAPES[shapes[0].tag](shapes[0], node.tag, meshes)
    return shape, "Convex" if getattr(shape, "convex", False) else type(shape).__name__


def _read_box(node, role, meshes):
    size = node.vector("size", 3, (1.0, 1.0, 1.0), required=True)
    if min(size) <= 0:
        node.diagnostics.error(
            "ATTRIBUTE_INVALID", f"the size of a <box> must be positive, found {size}", node, attribute="size"
        )
    return Box(size)


def _read_sphere(node, role, meshes):
    return Sphere(read_unsigned(node, "radius", 0.0, required=True))


def _read_cylinder(node, role, meshes):
    return Cylinder(*_radius_and_length(node))


def _read_capsule(node, role, meshes):
    return Capsule(*_radius_and_length(node))


def _radius_and_length(node):
    return tuple(read_unsigned(node, name, 1.0, required=True, positive=True) for name in ("radius", "length"))


def _read_ellipsoid(node, role, meshes):
    return Ellipsoid(tuple(read_unsigned(node, name, 1.0, required=True, positive=True) for name in ("a", "b", "c")))


def _read_mesh(node, role, meshes):
    """A mesh with its URI resolved if that is possible; the file is not opened."""
    uri = node.attribute("filename", required=True)
    if uri is None:
        return None
    convex = node.child("drake:declare_convex") is not None
    return Mesh(uri=uri, scale=_read_scale(node), convex=convex, path=meshes.find(uri, node, role))


def _read_scale(node):
    """Three factors, or one for all."""
    text = node.attribute("scale", "1 1 1")
    scale = (node.number("scale", 1.0),) * 3 if len(text.split()) == 1 else node.vector("scale", 3, (1.0,) * 3)
    if 0.0 in scale:
        node.diagnostics.error(
            "ATTRIBUTE_INVALID", "the scale of a <mesh> must not be 0", node, attribute="scale", value=text
        )
    return scale


_SHAPES = {
    "box": _read_box,
    "sphere": _read_sphere,
    "cylinder": _read_cylinder,
    "capsule": _read_capsule,
    "drake:capsule": _read_capsule,
    "drake:ellipsoid": _read_ellipsoid,
    "mesh": _read_mesh,
}


# ------------------------------------------------------------------------- materials, contact properties


def read_materials(root):
    """{name: RGBA or None} of the robot's own materials."""
    materials = {}
    for name, node in nodes_by_name(root.children("material"), "material").items():
        materials[name] = _read_rgba(node)
    return materials


def _read_rgba(material):
    """The RGBA that a material states, or None; a texture is not used."""
    texture = material.child("texture")
    if texture is not None:
        texture.unsupported()
    color = material.child("color")
    rgba = color.vector("rgba", 4, required=True) if color is not None else None
    if rgba is not None and not all(0 <= c <= 1 for c in rgba):
        color.diagnostics.error(
            "ATTRIBUTE_INVALID", f"the values of rgba must be in [0, 1], found {rgba}", color, attribute="rgba"
        )
    return rgba


def _read_color(material, materials):
    """RGBA of a visual's material, by value or by the name of a material read before; None without one."""
    if material is None:
        return None
    name = material.attribute("name", "")
    rgba = _read_rgba(material)
    if rgba is None:
        if name and name not in materials and material.child("texture") is None:
            material.diagnostics.warning(
                "MATERIAL_UNDEFINED",
                f'material "{name}" has no color and is not defined before',
                material,
                hint=did_you_mean(name, materials),
            )
        return materials.get(name)
    if name and materials.setdefault(name, rgba) != rgba:
        material.diagnostics.warning(
            "DUPLICATE_NAME", f'material "{name}" has another color elsewhere: each visual keeps its own', material
        )
    return rgba


def _read_proximity(collision):
    """{(group, name): value} of <drake:proximity_properties>, or the friction of the old <drake_compliance>."""
    properties = {}
    legacy = collision.child("drake_compliance")
    if legacy is not None:
        elements = (legacy.child("static_friction"), legacy.child("dynamic_friction"))
        coefficients = [element.text_number() if element is not None else None for element in elements]
        set_friction(properties, coefficients, elements, collision)
    return properties | read_proximity_properties(collision, _read_value)


def _read_value(element):
    return element.number("value", required=True)
