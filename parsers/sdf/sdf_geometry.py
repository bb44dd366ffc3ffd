"""Visuals and collisions of SDFormat links: shapes, mesh files, colors, contact properties.

What of these cannot be read is left out with a warning: the mechanism does not depend on it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mbcli.parsers.duplicate_names import UniqueNames
from mbcli.parsers.poses import compose, half_space_pose, unit_vector
from mbcli.parsers.proximity_properties import (
    EXPRESSED_IN,
    read_proximity_properties,
    set_directed_friction,
    set_friction,
    tell_slips,
)
from mbcli.parsers.sdf.sdf_contact import read_contact
from mbcli.parsers.sdf.sdf_values import child_number, child_vector, descendant, name_problem, read_pose
from mbcli.parsers.spec import (
    IDENTITY,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    GeometrySpec,
    HalfSpace,
    HeightField,
    Mesh,
    Polyline,
    Sphere,
    pose,
)
from mbcli.parsers.xml_node import quoted

from mbcli.common.suggestions import did_you_mean
from mbcli.errors import ModelError, ResourceError
from mbcli.meshes.height_grids import read_grey_image

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mbcli.parsers.mesh_files import MeshFiles
    from mbcli.parsers.proximity_properties import Properties
    from mbcli.parsers.sdf.sdf_scopes import Element
    from mbcli.parsers.spec import Shape
    from mbcli.parsers.xml_node import Node

    from mbcli.math.array_types import Matrix4

HEIGHTMAP_BASE = 1.0  # [m]


class _Place(NamedTuple):
    """A <collision> of a link, and the pose of its shape there."""

    link: Element
    collision: Node
    X_CG: Matrix4


def read_geometries(element: Element, tag: str) -> tuple[GeometrySpec, ...]:
    """The visuals or the collisions of a link that have a shape."""
    found = []
    nodes = element.node.children(tag)
    names = UniqueNames(node.raw("name") for node in nodes)
    for node in nodes:
        name = _read_name(node, names, element.file.minor)
        X = _read_pose_in(element, node)
        with node.diagnostics.leaving_out(element.node, f"the {tag} is left out") as faults:
            geometry = node.child("geometry", required=True)
            posed = _read_shape(geometry, element.file.meshes) if geometry is not None else None
        color = _read_color(node) if tag == "visual" else None
        place = _Place(element, node, IDENTITY if posed is None else posed[1])
        properties = _read_proximity(place, posed and posed[0]) if tag == "collision" else {}
        if faults:
            node.ignore("settled")
        elif posed is not None:
            shape, X_GS = posed
            found.append(GeometrySpec(name, shape, compose(X, X_GS), node.place, color, properties))
    return tuple(found)


def _read_name(node: Node, names: UniqueNames, minor: int) -> str:
    """The name of a visual or collision, made up if the file gives it no good one."""
    stated = node.attribute("name")
    name = names.of(stated, node.tag)
    problem = name_problem(stated, minor) if stated is not None else ("ATTRIBUTE_MISSING", "it has no name")
    if stated is not None and name != stated and problem is None:
        problem = "DUPLICATE_NAME", f"the name {quoted(stated)} is taken already"
    if problem is not None:
        code, message = problem
        renamed = f": it is called {quoted(name)}" if name != stated else ""
        node.diagnostics.warning(code, f"<{node.tag}>: {message}{renamed}", node, attribute="name")
    return name


def _read_pose_in(link: Element, owner: Node) -> Matrix4:
    """Pose of a visual or collision in the link's frame."""
    X, relative_to = read_pose(owner, link.file.minor)
    if relative_to is None:
        return X
    if relative_to not in link.frames:
        message = f"the pose of <{owner.tag}> is relative to {quoted(relative_to)}, which is not in the model"
        hint = did_you_mean(relative_to, link.frames.names)
        owner.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, owner.child("pose"), hint=hint)
    return compose(link.frames.X_AB(link.name, relative_to), X)


def _read_shape(geometry: Node, meshes: MeshFiles) -> tuple[Shape, Matrix4] | None:
    """(shape, its pose in the frame of the visual or collision), or None."""
    geometry.children("empty")
    if not geometry.child_tags:
        geometry.diagnostics.error("ELEMENT_MISSING", "<geometry> must have a shape", geometry)
    shapes = geometry.children(*SHAPES)
    if shapes and shapes[0].tag == "polyline":
        outlines = [shape for shape in shapes if shape.tag == "polyline"]
        shapes = [shape for shape in shapes if shape.tag != "polyline"]
        shape = _read_polylines(outlines)
    elif shapes:
        shape, shapes = SHAPES[shapes[0].tag](shapes[0], meshes), shapes[1:]
    else:
        return None
    for extra in shapes:
        extra.unsupported("a geometry has one shape, the first")
    return shape


def _read_plane(node: Node, meshes: MeshFiles) -> tuple[HalfSpace, Matrix4] | None:
    """The half space under a plane: its z axis is the normal."""
    z = unit_vector(child_vector(node, "normal", 3, (0.0, 0.0, 1.0)))
    if z is None:
        node.diagnostics.error("ELEMENT_INVALID", "the <normal> of <plane> must not be zero", node)
        return None
    return HalfSpace(), half_space_pose(z)


def _read_mesh(node: Node, meshes: MeshFiles) -> tuple[Mesh, Matrix4] | None:
    uri_node = node.child("uri", required=True)
    uri = uri_node.text(required=True) if uri_node is not None else None
    scale = child_vector(node, "scale", 3, (1.0, 1.0, 1.0))
    if 0 in scale:
        node.diagnostics.error("ELEMENT_INVALID", "the <scale> of a mesh must not be zero", node.child("scale"))
    convex = node.child("drake:declare_convex") is not None
    if uri is None or 0 in scale:
        return None
    geometry: Any = node.parent
    path = meshes.find(uri, uri_node, geometry.parent.tag)
    part = node.child("submesh")
    name_node = part.child("name", required=True) if part is not None else None
    center = part.child("center") if part is not None else None
    submesh = name_node.text(required=True) if name_node is not None else None
    is_centered = submesh is not None and center is not None and bool(center.text_boolean(False))
    return Mesh(uri, scale, convex, path, submesh, is_centered), IDENTITY


def _read_heightmap(node: Node, meshes: MeshFiles) -> tuple[HeightField, Matrix4] | None:
    """Black is z = 0, the brightest grey of the image the height of <size>; its first row is at +y, the first column at
    -x. Below z = 0 it is solid for HEIGHTMAP_BASE, as the format says nothing of that.
    """
    uri_node = node.child("uri", required=True)
    uri = uri_node.text(required=True) if uri_node is not None else None
    size, origin = child_vector(node, "size", 3, (1.0, 1.0, 1.0)), child_vector(node, "pos", 3, (0.0, 0.0, 0.0))
    if min(size) <= 0.0:
        node.diagnostics.error("ELEMENT_INVALID", "the <size> of <heightmap> must be positive", node.child("size"))
        return None
    for tag in ("texture", "blend", "use_terrain_paging"):
        for shown in node.children(tag):
            shown.ignore("settled")
    sampling = node.child("sampling")
    if sampling is not None and sampling.text_number(1.0) != 1.0:
        sampling.ignore("unsupported", "the surface has a vertex for each pixel")
    if uri is None:
        return None
    geometry: Any = node.parent
    path = meshes.find(uri, uri_node, geometry.parent.tag)
    if path is None:
        return None
    try:
        levels = read_grey_image(path)
    except (ModelError, ResourceError) as error:
        node.diagnostics.error("ELEMENT_INVALID", str(error), uri_node)
        return None
    brightest = float(levels.max())
    heights = levels * (size[2] / brightest if brightest > 0.0 else 0.0)
    lowest = float(heights.min())
    heights -= lowest
    heights.flags.writeable = False
    field = HeightField(heights, size[0] / 2.0, size[1] / 2.0, HEIGHTMAP_BASE + lowest)
    return field, pose(translation=(origin[0], origin[1], origin[2] + lowest))


def _read_polylines(nodes: Sequence[Node]) -> tuple[Shape, Matrix4] | None:
    """The prism over the outlines of all <polyline> of a geometry, which has the height of the first."""
    outlines = []
    for node in nodes:
        points = [point.text_vector(2, (0.0, 0.0), required=True) for point in node.children("point")]
        if len(points) > 1 and points[0] == points[-1]:
            points.pop()
        if len(set(points)) < 3:
            node.diagnostics.error("ELEMENT_INVALID", "a <polyline> needs three points or more", node)
            return None
        outlines.append(tuple(points))
    heights = [_read_size(node, "height", 1, may_be_0=False)[0] for node in nodes]
    for node, height in zip(nodes, heights, strict=True):
        if height != heights[0]:
            message = f"the <polyline> is {height!r} m high: {heights[0]!r} m of the first is taken"
            node.diagnostics.warning("ELEMENT_UNSUPPORTED", message, node.child("height"))
    return Polyline(tuple(outlines), heights[0]), IDENTITY


def _read_solid(
    shape: Callable[..., Shape], dimensions: Sequence[tuple[str, int]], node: Node, meshes: MeshFiles
) -> tuple[Shape, Matrix4]:
    """A shape whose arguments are numbers in child elements; dimensions: (tag, count of numbers)."""
    values = [_read_size(node, tag, count, may_be_0=shape is Sphere) for tag, count in dimensions]
    return shape(*[value if len(value) > 1 else value[0] for value in values]), IDENTITY


def _read_size(node: Node, tag: str, count: int, may_be_0: bool) -> tuple[float, ...]:
    child = node.child(tag)
    default = (1.0,) * count
    if child is None:
        message = f"<{node.tag}> has no <{tag}>: {' '.join(['1'] * count)} is taken"
        node.diagnostics.warning("ELEMENT_MISSING", message, node)
        return default
    size = child.text_vector(count, default, required=True)
    if min(size) < 0 or (min(size) == 0 and not may_be_0):
        rule = "not be negative" if may_be_0 else "be positive"
        message = f"<{tag}> of <{node.tag}> must {rule}, found {quoted(child.text(''))}"
        node.diagnostics.error("ELEMENT_INVALID", message, child, value=child.text())
    return size


def _ellipsoid(a: float, b: float, c: float) -> Ellipsoid:
    return Ellipsoid((a, b, c))


_CAPSULE = partial(_read_solid, Capsule, (("radius", 1), ("length", 1)))
SHAPES: dict[str, Callable[..., Any]] = {
    "box": partial(_read_solid, Box, (("size", 3),)),
    "sphere": partial(_read_solid, Sphere, (("radius", 1),)),
    "cylinder": partial(_read_solid, Cylinder, (("radius", 1), ("length", 1))),
    "capsule": _CAPSULE,
    "drake:capsule": _CAPSULE,
    "ellipsoid": partial(_read_solid, Ellipsoid, (("radii", 3),)),
    "drake:ellipsoid": partial(_read_solid, _ellipsoid, (("a", 1), ("b", 1), ("c", 1))),
    "plane": _read_plane,
    "mesh": _read_mesh,
    "cone": partial(_read_solid, Cone, (("radius", 1), ("length", 1))),
    "polyline": _read_polylines,
    "heightmap": _read_heightmap,
}


def _read_color(visual: Node) -> tuple[float, float, float, float] | None:
    """RGBA of the diffuse material, or None."""
    material = visual.child("material")
    node = material.child("diffuse") if material is not None else None
    text = node.text() if node is not None else None
    if node is None or text is None:
        return None
    with node.diagnostics.leaving_out(node, "the color is left out") as faults:
        color = node.text_vector(3 if len(text.split()) == 3 else 4)
        if color is not None and not all(0 <= value <= 1 for value in color):
            message = f"the color values of <diffuse> must be between 0 and 1, found {quoted(text)}"
            node.diagnostics.error("ELEMENT_INVALID", message, node, value=text)
    return None if faults else (*color, 1.0)[:4]


def _read_proximity(place: _Place, shape: Shape | None) -> Properties:
    """{(group, name): value} of a collision's contact properties. Drake's own elements for friction win."""
    collision = place.collision
    with collision.diagnostics.leaving_out(collision, "it is left out"):
        properties = read_proximity_properties(collision, _read_number, shape)
        read_contact(collision, properties)
        bounce = descendant(collision, "surface", "bounce")
        if bounce is not None:
            _read_bounce(bounce, properties)
        ode = descendant(collision, "surface", "friction", "ode")
        if ode is None:
            return properties
        if ("material", "coulomb_friction") in properties:
            ode.ignore("foreign", "<drake:proximity_properties> gives the friction")
        else:
            _read_ode_friction(ode, properties, place)
    return properties


def _read_bounce(bounce: Node, properties: Properties) -> None:
    """Restitution, and the speed of approach below which there is none, if the file states it."""
    restitution = child_number(bounce, "restitution_coefficient", 0.0)
    threshold = child_number(bounce, "threshold", 0.0)
    if not 0.0 <= restitution <= 1.0:
        message = f"<restitution_coefficient> must be between 0 and 1, found {restitution!r}"
        bounce.diagnostics.error("ELEMENT_INVALID", message, bounce.child("restitution_coefficient"))
    elif threshold < 0.0:
        message = f"<threshold> must not be negative, found {threshold!r}"
        bounce.diagnostics.error("ELEMENT_INVALID", message, bounce.child("threshold"))
    else:
        properties["material", "restitution"] = restitution
        if bounce.child("threshold") is not None:
            properties["material", "bounce_threshold"] = threshold


def _read_ode_friction(ode: Node, properties: Properties, place: _Place) -> None:
    """As Drake has it mu is the static coefficient and mu2 the dynamic one; above mu it is a second direction's.

    With a direction they are those along and across it.
    """
    slips = [slip for slip in (ode.child("slip1"), ode.child("slip2")) if slip is not None]
    tell_slips(ode, slips)
    mu, mu2, fdir1 = ode.child("mu"), ode.child("mu2"), ode.child("fdir1")
    direction = fdir1.text_vector(3, (0.0, 0.0, 0.0)) if fdir1 is not None else (0.0, 0.0, 0.0)
    first = child_number(ode, "mu", 1.0)
    if fdir1 is not None and any(direction) and first != (across := child_number(ode, "mu2", 1.0)):
        d, body = _turned_direction(fdir1, direction, place)
        set_directed_friction(properties, (first, across), d, body, (mu, mu2), place.collision)
        return
    if fdir1 is not None:
        fdir1.ignore("meaningless", "friction is the same in all directions")
    if mu is None and mu2 is None:
        return
    second = child_number(ode, "mu2", min(first, 1.0))
    if 0 <= first < second:
        message = f"friction is {second!r} along the second direction: {first!r} of the first is taken for both"
        ode.diagnostics.warning("ELEMENT_UNSUPPORTED", message, mu2)
        second = first
    set_friction(properties, (first, second), (mu, mu2), place.collision)


def _turned_direction(fdir1: Node, direction: Sequence[float], place: _Place) -> tuple[Sequence[float], str | None]:
    """(direction in the frame of the shape, None), or (direction in a link, the name of that link)."""
    stated = next((name for name in EXPRESSED_IN if fdir1.attribute(name)), None)
    frame = fdir1.attribute(stated) if stated is not None else None
    link = place.link
    if frame is None:
        return (place.X_CG[:3, :3].T @ direction).tolist(), None
    body = link.frames.link_of(frame) if frame in link.frames else None
    if body is None:
        message = f"<fdir1> is expressed in {quoted(frame)}, which is not in the model: the collision is taken"
        hint = did_you_mean(frame, link.frames.names)
        fdir1.diagnostics.warning("ATTRIBUTE_INVALID", message, fdir1, attribute=stated, value=frame, hint=hint)
        return (place.X_CG[:3, :3].T @ direction).tolist(), None
    turned = link.frames.X_AB(body, frame)[:3, :3] @ direction
    return turned.tolist(), body


def _read_number(element: Node) -> float:
    return element.text_number(required=True)
