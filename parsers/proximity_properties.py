"""Contact properties of collision geometries: Drake's <drake:proximity_properties> of URDF and SDFormat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbcli.parsers.spec import Capsule, Cylinder, Ellipsoid, HalfSpace, Sphere

from mbcli.plugins import NO_SLIP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from mbcli.parsers.spec import Shape
    from mbcli.parsers.xml_node import Node

    Properties: TypeAlias = dict[tuple[str, str], Any]  # {(group, name): number, pair or text}

_NUMBERS = {  # element: (group, name, must be positive)
    "drake:hunt_crossley_dissipation": ("material", "hunt_crossley_dissipation", False),
    "drake:relaxation_time": ("material", "relaxation_time", False),
    "drake:point_contact_stiffness": ("material", "point_contact_stiffness", True),
    "drake:hydroelastic_modulus": ("hydroelastic", "hydroelastic_modulus", True),
    "drake:hydroelastic_margin": ("hydroelastic", "margin", False),
    "drake:mesh_resolution_hint": ("hydroelastic", "resolution_hint", True),
    "drake:slab_thickness": ("hydroelastic", "slab_thickness", True),
}
# of friction that depends on the direction: along which "coulomb_friction" holds, across it, the link it is given in
SOFTNESS = "mujoco", "softness"  # solref (2,) and solimp (5,) of MuJoCo
FRICTION_DIRECTION = "material", "friction_direction"
FRICTION_ACROSS = "material", "friction_across"
FRICTION_BODY = "material", "friction_direction_body"
EXPRESSED_IN = ("gz:expressed_in", "ignition:expressed_in")  # attributes of Gazebo's <fdir1>: the frame that it is in
_FRICTION = ("drake:mu_static", "drake:mu_dynamic")
_COMPLIANCE = {"drake:rigid_hydroelastic": "rigid", "drake:compliant_hydroelastic": "compliant"}
_EARLIER = "drake:soft_hydroelastic"  # name of drake:compliant_hydroelastic
_ROUND = (Sphere, Ellipsoid, Cylinder, Capsule)
ELEMENTS = (*_NUMBERS, *_FRICTION, *_COMPLIANCE, _EARLIER)


def read_proximity_properties(collision: Node, read_number: Callable[[Node], float], shape: Shape | None) -> Properties:
    """{(group, name): value} of a collision's <drake:proximity_properties>; only those that the file gives.

    read_number(element): the number in an element of the format, None after an error. shape: of the collision.
    """
    properties: dict[tuple[str, str], Any] = {}
    node = collision.child("drake:proximity_properties")
    if node is None:
        return properties
    for tag, (group, name, positive) in _NUMBERS.items():
        value = _read_child(node, tag, read_number)
        if value is None:
            continue
        if value < 0 or (positive and value == 0):
            rule = "be positive" if positive else "not be negative"
            node.diagnostics.error("ELEMENT_INVALID", f"<{tag}> must {rule}, found {value!r}", node.child(tag))
            continue
        properties[group, name] = value
    coefficients = [_read_child(node, tag, read_number) for tag in _FRICTION]
    set_friction(properties, coefficients, map(node.child, _FRICTION), collision)
    _read_compliance(node, properties, shape)
    return properties


def _read_compliance(node: Node, properties: Properties, shape: Shape | None) -> None:
    """Whether the geometry is rigid or compliant, which it only is with all that this kind needs."""
    earlier = node.child(_EARLIER)
    if earlier is not None:
        message = f"<{_EARLIER}> is an earlier name of <drake:compliant_hydroelastic>"
        node.diagnostics.warning("ELEMENT_DEPRECATED", message, earlier)
    kinds = [child for child in (*map(node.child, _COMPLIANCE), earlier) if child is not None]
    if len({_COMPLIANCE.get(kind.tag, "compliant") for kind in kinds}) > 1:
        message = "a geometry is either rigid or compliant, not both"
        node.diagnostics.error("ELEMENT_INVALID", message, kinds[1], related=(kinds[0].place,))
        return
    if not kinds:
        return
    compliance = _COMPLIANCE.get(kinds[0].tag, "compliant")
    for tag in ("drake:hydroelastic_modulus", "drake:hydroelastic_margin"):
        if compliance == "rigid" and (idle := node.child(tag)) is not None:
            idle.ignore("meaningless", "the geometry is rigid")
            properties.pop(_NUMBERS[tag][:2], None)
    needs = {
        "drake:mesh_resolution_hint": isinstance(shape, _ROUND),
        "drake:slab_thickness": compliance == "compliant" and isinstance(shape, HalfSpace),
        "drake:hydroelastic_modulus": compliance == "compliant",
    }
    missing = [f"<{tag}>" for tag, needed in needs.items() if needed and _NUMBERS[tag][:2] not in properties]
    if missing:
        name = "half space" if isinstance(shape, HalfSpace) else type(shape).__name__.lower()
        node.diagnostics.warning(
            "HYDROELASTIC_INCOMPLETE",
            f"a {compliance} {name} needs {' and '.join(missing)}: without, it touches at points",
            kinds[0],
        )
        return
    properties["hydroelastic", "compliance_type"] = compliance


def set_friction(
    properties: Properties, coefficients: Sequence[float | None], elements: Iterable[Node | None], collision: Node
) -> None:
    """Set the static and the dynamic coefficient of friction, of which one alone stands for both; None: not given.

    A negative one is reported at its element, the wrong order at the collision.
    """
    given = [coefficient for coefficient in coefficients if coefficient is not None]
    if not given:
        return
    static, dynamic = given[0], given[-1]
    if not 0 <= dynamic <= static:
        message = f"friction must be 0 <= dynamic <= static, found static {static!r}, dynamic {dynamic!r}"
        negative = [element for value, element in zip(coefficients, elements, strict=True) if (value or 0) < 0]
        collision.diagnostics.error("ELEMENT_INVALID", message, *(negative[:1] or [collision]))
        return
    properties["material", "coulomb_friction"] = (static, dynamic)


def set_directed_friction(
    properties: Properties,
    coefficients: tuple[float, float],
    direction: Sequence[float],
    body: str | None,
    elements: Sequence[Node | None],
    collision: Node,
) -> None:
    """Friction along a direction and across it, as Gazebo has it.

    coefficients: along, across, of these elements, None where the file has none. direction: in the frame of the
    shape, or in the link named `body`.
    """
    for value, element in zip(coefficients, elements, strict=True):
        if value < 0.0:
            message = f"friction must not be negative, found {value!r}"
            collision.diagnostics.error("ELEMENT_INVALID", message, element or collision)
            return
    properties["material", "coulomb_friction"] = coefficients[:1] * 2
    properties[FRICTION_ACROSS] = coefficients[1]
    properties[FRICTION_DIRECTION] = tuple(map(float, direction))
    if body is not None:
        properties[FRICTION_BODY] = body


def tell_slips(ode: Node, slips: Sequence[Node]) -> None:
    """Warns of slip of Gazebo: velocities by which a surface slides under a force, as tyres do."""
    for slip in slips:
        if any(_numbers_of(slip)):
            message = f"<{slip.tag}> does not act: {NO_SLIP}"
            ode.diagnostics.warning("ELEMENT_UNSUPPORTED", message, slip)


def _numbers_of(element: Node) -> list[float]:
    """Those of its text; what is no number is a finding of its own."""
    try:
        return [float(word) for word in element.text("").split()]
    except ValueError:
        return []


def _read_child(node: Node, tag: str, read_number: Callable[[Node], float]) -> float | None:
    child = node.child(tag)
    return read_number(child) if child is not None else None


def proximity_elements(properties: Mapping[tuple[str, str], Any]) -> dict[str, float | None]:
    """{element: number, or None for one without} that `read_proximity_properties` reads these properties from."""
    elements = {}
    for tag, (group, name, _) in _NUMBERS.items():
        if (group, name) in properties:
            elements[tag] = properties[group, name]
    if FRICTION_DIRECTION not in properties:  # which Drake's elements do not have
        elements |= dict(zip(_FRICTION, properties.get(("material", "coulomb_friction"), ()), strict=False))
    kind = properties.get(("hydroelastic", "compliance_type"))
    return elements | {tag: None for tag, named in _COMPLIANCE.items() if named == kind}
