"""Links of SDFormat files: mass properties, stated or from the collisions, visual and collision geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import MODEL
from mbcli.parsers.sdf.sdf_geometry import read_geometries
from mbcli.parsers.sdf.sdf_values import child_boolean, child_number, read_pose
from mbcli.parsers.spec import IDENTITY, InertialSpec, LinkSpec, PluginSpec, pose
from mbcli.parsers.xml_node import quoted

from mbcli.errors import ModelError, ResourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mbcli.parsers.geometry_inertia import MassProperties
    from mbcli.parsers.sdf.sdf_frames import FrameScope
    from mbcli.parsers.sdf.sdf_scopes import Element
    from mbcli.parsers.spec import GeometrySpec, Shape
    from mbcli.parsers.xml_node import Node

DEFAULT_DENSITY = 1000.0  # [kg/m^3], of water

# the elements of <inertia> with their values if the file leaves them out [kg m^2]
_INERTIA = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}


def read_link(element: Element, model: FrameScope) -> LinkSpec:
    """The `LinkSpec` of an element; model: the `FrameScope` of the model that it is a part of."""
    node = element.node
    collisions = read_geometries(element, "collision")
    return LinkSpec(
        name=element.name,
        place=node.place,
        inertial=_read_inertial(element, collisions),
        X_ModelL=model.X_AB(MODEL, element.name),
        visuals=read_geometries(element, "visual"),
        collisions=collisions,
        gravity=child_boolean(node, "gravity", True),
        kinematic=child_boolean(node, "kinematic", False),
    )


def read_velocity_decays(elements: Iterable[Element]) -> tuple[PluginSpec, ...]:
    """The <velocity_decay> of links, as plugins that act on them."""
    found = []
    for element in elements:
        decay = element.node.child("velocity_decay")
        if decay is None:
            continue
        with decay.diagnostics.leaving_out(None, "it is not used") as faults:
            parts = {name: child_number(decay, name, 0.0) for name in ("linear", "angular")}
            for name, part in parts.items():
                if not 0.0 <= part <= 1.0:
                    message = f"<{name}> of <velocity_decay> must be between 0 and 1, found {part!r}"
                    decay.diagnostics.error("ELEMENT_INVALID", message, decay.child(name))
        if any(parts.values()) and not faults:
            links = (("link", (element.name,)),)
            settings = parts | {"per_second": False}
            found.append(PluginSpec("velocity_decay", decay.place, links=links, settings=settings))
    return tuple(found)


def _read_inertial(element: Element, collisions: Sequence[GeometrySpec]) -> InertialSpec | None:
    link = element.node
    node = link.child("inertial")
    if node is None:
        return InertialSpec(1.0, IDENTITY, _six(_INERTIA.values()), link.place)
    if node.boolean("auto", False):
        return _read_automatic(element, node, collisions)
    X_LI, relative_to = read_pose(node, element.file.minor)
    if relative_to is not None:
        message = "the pose of <inertial> is in its link and cannot be relative to another frame"
        node.diagnostics.error("POSE_RELATIVE_TO_INVALID", message, node.child("pose"), value=relative_to)
    mass = child_number(node, "mass", 1.0)
    matrix = node.child("inertia")
    inertia = _six(
        default if matrix is None else child_number(matrix, tag, default) for tag, default in _INERTIA.items()
    )
    return InertialSpec(mass, X_LI, inertia, node.place)


def _six(moments: Iterable[float]) -> tuple[float, float, float, float, float, float]:
    xx, yy, zz, xy, xz, yz = moments
    return xx, yy, zz, xy, xz, yz


# ------------------------------------------------------------------------- mass properties of collisions


def _read_automatic(element: Element, node: Node, collisions: Sequence[GeometrySpec]) -> InertialSpec | None:
    """<inertial auto="true">: of the collisions, each of its own density, or else of the link's; None with an error.

    A <mass> scales the result, the densities then being relative.
    """
    from mbcli.parsers.geometry_inertia import combined, scaled_to_mass

    for tag in ("pose", "inertia"):
        child = node.child(tag)
        if child is not None:
            message = f'<{tag}> contradicts <inertial auto="true">, which computes it'
            node.diagnostics.error("LINK_INERTIA_INVALID", message, child)
            child.ignore("settled")
    densities = _read_densities(element.node, child_number(node, "density", DEFAULT_DENSITY))
    specs = {collision.place: collision for collision in collisions}
    if not densities:
        message = f'<inertial auto="true"> of link {quoted(element.name)}, which has no <collision>'
        node.diagnostics.error("ELEMENT_MISSING", message, node)
        return None
    parts = []
    for density, collision in densities:
        spec = specs.get(collision.place)
        if spec is None:
            message = f"<collision> {quoted(collision.raw('name') or '')} has no shape that mass properties follow from"
            collision.diagnostics.error("LINK_INERTIA_INVALID", message, collision)
            return None
        properties = _properties_of(spec.shape, density, collision)
        if properties is None:
            return None
        parts.append((spec.X_LG, properties))
    whole = combined(parts)
    mass = child_number(node, "mass", None)
    if mass is not None:
        whole = scaled_to_mass(whole, mass)
    return InertialSpec(float(whole.mass), pose(None, whole.p_SScm), whole.inertia, node.place)


def _read_densities(link: Node, default: float) -> list[tuple[float, Node]]:
    """[(density [kg/m^3], node)] of the link's collisions."""
    densities = []
    for node in link.children("collision"):
        density = child_number(node, "density", default)
        if not density > 0:
            message = f"<density> must be positive, found {density!r}"
            node.diagnostics.error("ELEMENT_INVALID", message, node.child("density") or link.child("inertial"))
            density = DEFAULT_DENSITY
        densities.append((density, node))
    return densities


def _properties_of(shape: Shape, density: float, node: Node) -> MassProperties | None:
    from mbcli.parsers.geometry_inertia import mass_properties

    try:
        return mass_properties(shape, density)
    except (ModelError, ResourceError) as error:
        node.diagnostics.error("LINK_INERTIA_INVALID", str(error), node)
        return None
