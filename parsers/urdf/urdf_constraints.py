"""Drake's force elements and constraints in URDF files: bushings, spring-dampers, balls, distances, tendons.

Elements: https://drake.mit.edu/doxygen_cxx/group__multibody__parsing.html. Each states its parts in children with the
attribute `name` and its numbers in children with the attribute `value`.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.spec import (
    BallConstraintSpec,
    BushingSpec,
    DistanceConstraintSpec,
    SpringDamperSpec,
    TendonConstraintSpec,
)
from mbcli.parsers.urdf.urdf_values import read_name

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mbcli.parsers.spec import ConstraintSpec, ForceElementSpec, JointSpec, LinkSpec
    from mbcli.parsers.xml_node import Node

_TRIPLES = ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping")


def read_force_elements(root: Node, links: Mapping[str, LinkSpec]) -> tuple[ForceElementSpec, ...]:
    """Bushings, then spring-dampers, of those without errors. links: {name: LinkSpec}."""
    frame_names = [*links, *(node.raw("name") or "" for node in root.children("frame"))]  # a faulty one is reported so
    bushings = [_read_bushing(node, frame_names) for node in root.children("drake:linear_bushing_rpy")]
    springs = [_read_spring_damper(node, links) for node in root.children("drake:linear_spring_damper")]
    return tuple(element for element in (*bushings, *springs) if element is not None)


def read_constraints(
    root: Node, links: Mapping[str, LinkSpec], joints: Mapping[str, JointSpec]
) -> tuple[ConstraintSpec, ...]:
    """The constraints without errors. links, joints: {name: LinkSpec}, {name: JointSpec}."""
    balls = [_read_ball(node, links) for node in root.children("drake:ball_constraint")]
    distances = [_read_distance(node, links) for node in root.children("drake:distance_constraint")]
    tendons = [_read_tendon(node, joints) for node in root.children("drake:tendon_constraint")]
    return tuple(constraint for constraint in (*balls, *distances, *tendons) if constraint is not None)


def _read_bushing(node: Node, frame_names: Collection[str]) -> BushingSpec | None:
    frame_A, frame_C = (_read_part(node, f"drake:bushing_{end}", frame_names, "frame") for end in ("frameA", "frameC"))
    constants = {key: _read_vector(node, f"drake:bushing_{key}", non_negative=True) for key in _TRIPLES}
    if None in (frame_A, frame_C, *constants.values()):
        return None
    return BushingSpec(frame_A, frame_C, **constants, place=node.place)


def _read_spring_damper(node: Node, links: Mapping[str, LinkSpec]) -> SpringDamperSpec | None:
    ends = _read_ends(node, links)
    free_length = _read_number(node, "free_length", positive=True)
    stiffness, damping = _read_number(node, "stiffness"), _read_number(node, "damping")
    if None in (*ends, free_length, stiffness, damping):
        return None
    return SpringDamperSpec(*ends, free_length, stiffness, damping, node.place)


def _read_ball(node: Node, links: Mapping[str, LinkSpec]) -> BallConstraintSpec | None:
    ends = _read_two_ends(node, links)
    return None if ends is None else BallConstraintSpec(*ends, node.place)


def _read_distance(node: Node, links: Mapping[str, LinkSpec]) -> DistanceConstraintSpec | None:
    ends = _read_two_ends(node, links)
    distance = _read_number(node, "distance", positive=True)
    stiffness = _read_number(node, "stiffness", inf, positive=True)
    damping = _read_number(node, "damping", 0.0)
    if ends is None or None in (distance, stiffness, damping):
        return None
    return DistanceConstraintSpec(*ends, distance, node.place, stiffness, damping)


def _read_tendon(node: Node, joints: Mapping[str, JointSpec]) -> TendonConstraintSpec | None:
    names: list[Any] = []
    a: list[Any] = []
    for child in node.children("drake:tendon_constraint_joint"):
        name = read_name(child)
        a.append(child.number("a", required=True))
        names.append(name if _is_one_coordinate(child, name, joints) else None)
        if name in names[:-1]:
            _invalid(child, "name", name, f'joint "{name}" is in this tendon twice')
    if not names:
        node.diagnostics.error("ELEMENT_MISSING", f"<{node.tag}> must have a <drake:tendon_constraint_joint>", node)
    numbers: dict[str, Any] = {
        "offset": _read_number(node, "offset", 0.0, signed=True),
        "lower": _read_number(node, "lower_limit", -inf, signed=True),
        "upper": _read_number(node, "upper_limit", inf, signed=True),
        "stiffness": _read_number(node, "stiffness", inf, positive=True),
        "damping": _read_number(node, "damping", 0.0),
    }
    if not names or None in (*names, *a, *numbers.values()):
        return None
    if numbers["lower"] > numbers["upper"] or (numbers["lower"], numbers["upper"]) == (-inf, inf):
        problem = "has no limit" if numbers["lower"] == -inf else "has its lower limit above its upper one"
        node.diagnostics.error("ELEMENT_INVALID", f"<{node.tag}> {problem}", node)
        return None
    return TendonConstraintSpec(tuple(names), tuple(a), node.place, **numbers)


def _is_one_coordinate(node: Node, name: Any, joints: Mapping[str, JointSpec]) -> bool:
    """Whether there is this joint and it has one coordinate."""
    if name is None:
        return False
    if name not in joints:
        _invalid(node, "name", name, f'there is no joint "{name}" for <{node.tag}>', did_you_mean(name, joints))
        return False
    count = joints[name].kind.num_velocities
    if count != 1:
        _invalid(node, "name", name, f'joint "{name}" has {count} coordinates, a tendon runs over joints with one')
    return count == 1


# ----------------------------------------------------------------------------------------- their children


def _read_two_ends(node: Node, links: Any) -> tuple[Any, Any, Any, Any] | None:
    """As `_read_ends`; None after an error or if both links are the same."""
    ends = _read_ends(node, links)
    if None in ends:
        return None
    if ends[0] == ends[2]:
        node.diagnostics.error("ELEMENT_INVALID", f'<{node.tag}> ties link "{ends[0]}" to itself', node)
        return None
    return ends


def _read_ends(node: Node, links: Any) -> tuple[Any, Any, Any, Any]:
    """(link A, p_AP, link B, p_BQ), None for each that has an error."""
    A, B = (_read_part(node, f"{node.tag}_body_{body}", links, "link") for body in "AB")
    p_AP, p_BQ = (_read_vector(node, f"{node.tag}_{point}") for point in ("p_AP", "p_BQ"))
    return A, p_AP, B, p_BQ


def _read_part(node: Node, tag: str, names: Collection[str], kind: str) -> Any:
    """The name in a child, of a link or frame that there is or of the world; None after an error."""
    child = node.child(tag, required=True)
    name = child.attribute("name", required=True) if child is not None else None
    if name is None or name == WORLD or name in names:
        return name
    _invalid(child, "name", name, f'there is no {kind} "{name}" for <{tag}>', did_you_mean(name, names))
    return None


def _read_vector(node: Node, tag: str, *, non_negative: bool = False) -> Any:
    """The three numbers in a child; None after an error."""
    child = node.child(tag, required=True)
    vector = child.vector("value", 3, required=True) if child is not None else None
    if vector is not None and non_negative and min(vector) < 0:
        _invalid(child, "value", child.attribute("value"), f'attribute "value" of <{tag}> must not be negative')
        return None
    return vector


def _read_number(
    node: Node, quantity: str, default: float | None = None, *, positive: bool = False, signed: bool = False
) -> Any:
    """The number in the child TAG_quantity; the default without one; None after an error or if both are missing."""
    tag = f"{node.tag}_{quantity}"
    child = node.child(tag, required=default is None)
    if child is None:
        return default
    number = child.number("value", required=True, allow_inf=default in (inf, -inf))
    if number is None or signed or number > 0 or (number == 0 and not positive):
        return number
    bound = "be positive" if positive else "not be negative"
    _invalid(child, "value", repr(number), f'attribute "value" of <{tag}> must {bound}, found {number!r}')
    return None


def _invalid(node: Node, attribute: str, value: str | None, message: str, hint: str | None = None) -> None:
    node.refuse(attribute, message, value=value, hint=hint)
