"""Links of SDFormat files that are deformable bodies: Drake's <drake:deformable_properties> and walls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import MODEL
from mbcli.parsers.sdf.sdf_geometry import read_geometries
from mbcli.parsers.sdf.sdf_values import child_boolean
from mbcli.parsers.spec import DeformableSpec, WallSpec
from mbcli.parsers.xml_node import quoted

from mbcli.errors import ModelError
from mbcli.multibody.fem.body_config import MATERIAL_NAMES, DeformableBodyConfig

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from mbcli.parsers.sdf.sdf_frames import FrameScope
    from mbcli.parsers.sdf.sdf_scopes import Element
    from mbcli.parsers.spec import ModelSpec, SourceLocation
    from mbcli.parsers.xml_node import Node

PROPERTIES = "drake:deformable_properties"
WALL = "drake:wall_boundary_condition"
NUMBERS = {  # element: setter of DeformableBodyConfig
    "drake:youngs_modulus": "set_youngs_modulus",
    "drake:poissons_ratio": "set_poissons_ratio",
    "drake:mass_damping": "set_mass_damping_coefficient",
    "drake:stiffness_damping": "set_stiffness_damping_coefficient",
    "drake:mass_density": "set_mass_density",
}
MATERIAL = "drake:material_model"
SHORTEST_NORMAL = 1e-10
HOLD = "it is no rigid body: hold it by <drake:wall_boundary_condition>, or in Python by a fixed constraint"


def is_deformable(element: Element) -> bool:
    """Whether an element is a link that is a deformable body."""
    return element.tag == "link" and element.node.peek(PROPERTIES) is not None


def read_deformable(element: Element, frames: FrameScope, static: bool) -> DeformableSpec | None:
    """The `DeformableSpec` of a deformable link, None with an error. static: whether its model is."""
    node = element.node
    nodes = node.children("collision")
    if len(nodes) != 1:
        message = f"deformable link {quoted(element.name)} has {len(nodes)} <collision>: one gives its shape"
        node.diagnostics.error("DEFORMABLE_INVALID", message, nodes[1] if nodes else node)
        node.ignore("settled")
        return None
    geometries = read_geometries(element, "collision")
    visuals = read_geometries(element, "visual")
    for visual in node.children("visual"):
        visual.ignore("meaningless", "a deformable body is drawn by its own surface")
    inertial = node.child("inertial")
    if inertial is not None:
        inertial.ignore("meaningless", "the mass of a deformable body follows from its volume and density")
    if static:
        message = f"the model is static, its deformable link {quoted(element.name)} moves: only walls hold it"
        node.diagnostics.warning("DEFORMABLE_STATIC", message, node)
    config = _read_config(node.child(PROPERTIES))
    walls = tuple(wall for wall in map(_read_wall, node.children(WALL)) if wall is not None)
    if not geometries:
        message = f"the shape of deformable link {quoted(element.name)} cannot be read"
        node.diagnostics.error("DEFORMABLE_INVALID", message, nodes[0])
        return None
    return DeformableSpec(
        name=element.name,
        place=node.place,
        geometry=geometries[0],
        config=config,
        X_ModelD=frames.X_AB(MODEL, element.name) @ geometries[0].X_LG,
        walls=walls,
        color=next((visual.color for visual in visuals if visual.color is not None), None),
        gravity=child_boolean(node, "gravity", True),
    )


def _read_config(node: Any) -> DeformableBodyConfig:
    config = DeformableBodyConfig()
    for tag, setter in NUMBERS.items():
        child = node.child(tag)
        value = child.text_number(required=True) if child is not None else None
        if value is not None:
            try:
                getattr(config, setter)(value)
            except ModelError as error:
                node.diagnostics.error("DEFORMABLE_INVALID", f"<{tag}>: {error}", child, value=child.text())
    child = node.child(MATERIAL)
    if child is not None:
        name = child.text(required=True)
        if name in MATERIAL_NAMES:
            config.set_material_model(MATERIAL_NAMES[name])
        elif name is not None:
            message = f"<{MATERIAL}> must be one of {', '.join(MATERIAL_NAMES)}, found {quoted(name)}"
            node.diagnostics.error("DEFORMABLE_INVALID", message, child, value=name)
    return config


def _read_wall(node: Node) -> WallSpec | None:
    vectors = []
    for tag in ("drake:point_on_plane", "drake:outward_normal"):
        child = node.child(tag, required=True)
        vectors.append(child.text_vector(3, required=True) if child is not None else None)
    point, normal = vectors
    if point is None or normal is None:
        return None
    if not sum(x * x for x in normal) ** 0.5 > SHORTEST_NORMAL:
        child = node.child("drake:outward_normal")
        node.diagnostics.error("DEFORMABLE_INVALID", "the <drake:outward_normal> of a wall must not be zero", child)
        return None
    return WallSpec(tuple(point), tuple(normal), node.place)


def references_to_deformables(models: Sequence[tuple[str, ModelSpec]]) -> Iterator[tuple[SourceLocation, str]]:
    """(place, message) of each joint, frame, constraint and filter group that names a deformable link.

    models: [(prefix, ModelSpec)] of all models of a file.
    """
    soft = {prefix + body.name for prefix, model in models for body in model.deformables}
    if not soft:
        return
    for prefix, model in models:
        for element, names in _references(model):
            for name in names:
                if prefix + name in soft:
                    yield element.place, f"{_described(element)} refers to deformable link {quoted(name)}"


def _references(model: ModelSpec) -> Iterator[tuple[Any, Iterable[str]]]:
    for joint in model.joints:
        yield joint, (joint.parent, joint.child)
    for frame in model.frames:
        yield frame, (frame.link,)
    for element in (*model.force_elements, *model.constraints):
        fields = ("link_A", "link_B", "frame_A", "frame_C")
        yield element, [getattr(element, field) for field in fields if hasattr(element, field)]
    for group in model.filter_groups:
        yield group, group.members


def _described(element: Any) -> str:
    kind = type(element).__name__.removesuffix("Spec")
    name = getattr(element, "name", None)
    return kind if name is None else f"{kind.lower()} {quoted(name)}"
