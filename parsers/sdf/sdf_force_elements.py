"""Drake's force elements and constraints in SDFormat files."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from mbcli.parsers.frame_names import WORLD
from mbcli.parsers.spec import (
    BallConstraintSpec,
    BushingSpec,
    DistanceConstraintSpec,
    ForceElementSpec,
    SpringDamperSpec,
    TendonConstraintSpec,
    WeldConstraintSpec,
)
from mbcli.parsers.xml_node import quoted

from mbcli.common.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeVar

    from mbcli.parsers.sdf.sdf_scopes import Element
    from mbcli.parsers.spec import ConstraintSpec
    from mbcli.parsers.xml_node import Node

    Value = TypeVar("Value")


def read_force_elements(elements: Iterable[Element]) -> tuple[tuple[ForceElementSpec, ...], tuple[ConstraintSpec, ...]]:
    """(force elements, constraints) of the `Element`s of a model, tuples; faulty ones are reported and left out."""
    specs = []
    for element in elements:
        make = _READERS[element.tag]
        children = _Children(element)
        values = make(children)
        if children.complete:
            specs.append(_SPECS[element.tag](**values, place=element.node.place))
    forces = tuple(spec for spec in specs if isinstance(spec, ForceElementSpec))
    return forces, tuple(spec for spec in specs if not isinstance(spec, ForceElementSpec))


class _Children:
    """The children of an element, <drake:PREFIX_name>, which must be there unless they have a default.

    complete: all of them were there and good so far.
    """

    def __init__(self, element: Element) -> None:
        self.node = element.node
        self.frames = element.frames
        self.prefix = _PREFIXES.get(element.tag, element.tag + "_")
        self.complete = True

    def checked(self, value: Value) -> Value:
        if value is None:
            self.complete = False
        return value

    def child(self, name: str, *, required: bool = True) -> Node | None:
        child = self.node.child(self.prefix + name, required=required)
        if required:
            self.checked(child)
        return child

    def vector(self, name: str, *, unsigned: bool = False) -> Any:
        child: Any = self.child(name)
        value = self.checked(child.text_vector(3, required=True)) if child is not None else None
        if unsigned and value is not None and min(value) < 0:
            self._refuse(child, value, "not be negative")
        return value

    def number(
        self,
        name: str,
        default: float | None = None,
        *,
        positive: bool = False,
        unsigned: bool = False,
        allow_inf: bool = False,
    ) -> Any:
        child = self.child(name, required=default is None)
        if child is None:
            return default
        value = self.checked(child.text_number(required=True, allow_inf=allow_inf))
        if value is not None and ((positive and value <= 0) or (unsigned and value < 0)):
            self._refuse(child, value, "be positive" if positive else "not be negative")
        return value

    def _refuse(self, child: Node, value: object, rule: str) -> None:
        child.diagnostics.error("ELEMENT_INVALID", f"<{child.tag}> must {rule}, found {value!r}", child)

    def name_in(self, child: Node | None, *kinds: str) -> Any:
        """The name in a child of something of these kinds in the model; without kinds of any frame."""
        return self.name_of(child, child.text(required=True), *kinds) if child is not None else None

    def name_of(self, node: Node, name: str | None, *kinds: str) -> Any:
        if name is not None:
            kind = self.frames.graph.kind_of(self.frames.full(name))
            if kind is None or (kinds and kind not in kinds):
                kind = kinds[0] if kinds else "frame"
                message = f"<{node.tag}> names the {kind} {quoted(name)}, which is not in the model"
                hint = did_you_mean(name, self.frames.names)
                node.diagnostics.error("ELEMENT_INVALID", message, node, value=name, hint=hint)
                name = None
        return self.checked(name)

    def points(self) -> dict[str, Any]:
        """Link A and point P on it, link B and point Q on it."""
        return {
            "link_A": self.name_in(self.child("body_A"), "link", "world"),
            "p_AP": self.vector("p_AP"),
            "link_B": self.name_in(self.child("body_B"), "link", "world"),
            "p_BQ": self.vector("p_BQ"),
        }


# ------------------------------------------------------------------------------------- one of each kind


def _bushing(children: _Children) -> dict[str, Any]:
    names = ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping")
    return {
        "frame_A": children.name_in(children.child("frameA")),
        "frame_C": children.name_in(children.child("frameC")),
        **{name: children.vector(name, unsigned=True) for name in names},
    }


def _spring_damper(children: _Children) -> dict[str, Any]:
    return {
        **children.points(),
        "free_length": children.number("free_length", positive=True),
        "stiffness": children.number("stiffness", unsigned=True),
        "damping": children.number("damping", unsigned=True),
    }


def _distance(children: _Children) -> dict[str, Any]:
    return {
        **children.points(),
        "distance": children.number("distance", positive=True),
        "stiffness": children.number("stiffness", inf, positive=True, allow_inf=True),
        "damping": children.number("damping", 0.0, unsigned=True),
    }


def _weld(children: _Children) -> dict[str, Any]:
    """Two frames, named as the parent and the child of a joint are."""
    values: dict[str, Any] = {}
    for tag, end, X in (("parent", "link_A", "X_AP"), ("child", "link_B", "X_BQ")):
        frame = children.name_in(children.child(tag))
        if frame is not None:
            link = children.checked(children.frames.link_of(frame))
            values[end] = link
            values[X] = children.frames.X_AB(link or WORLD, frame)
    return values


def _tendon(children: _Children) -> dict[str, Any]:
    nodes = children.node.children("drake:tendon_constraint_joint")
    if not nodes:
        message = "<drake:tendon_constraint> must have a <drake:tendon_constraint_joint>"
        children.node.diagnostics.error("ELEMENT_MISSING", message, children.node)
        children.complete = False
    return {
        "joints": tuple(children.name_of(node, node.attribute("name", required=True), "joint") for node in nodes),
        "a": tuple(children.checked(node.number("a", required=True)) for node in nodes),
        "offset": children.number("offset"),
        "lower": children.number("lower_limit", allow_inf=True),
        "upper": children.number("upper_limit", allow_inf=True),
        "stiffness": children.number("stiffness", positive=True, allow_inf=True),
        "damping": children.number("damping", unsigned=True),
    }


_READERS = {
    "drake:linear_bushing_rpy": _bushing,
    "drake:linear_spring_damper": _spring_damper,
    "drake:ball_constraint": _Children.points,
    **dict.fromkeys(("drake:distance_constraint", "mbcli:distance_constraint"), _distance),
    **dict.fromkeys(("drake:weld_constraint", "mbcli:weld_constraint"), _weld),
    "drake:tendon_constraint": _tendon,
}
_SPECS = {
    "drake:linear_bushing_rpy": BushingSpec,
    "drake:linear_spring_damper": SpringDamperSpec,
    "drake:ball_constraint": BallConstraintSpec,
    **dict.fromkeys(("drake:distance_constraint", "mbcli:distance_constraint"), DistanceConstraintSpec),
    **dict.fromkeys(("drake:weld_constraint", "mbcli:weld_constraint"), WeldConstraintSpec),
    "drake:tendon_constraint": TendonConstraintSpec,
}
# the start of the tags of children, if it is not the element's own tag
_PREFIXES = {
    "drake:linear_bushing_rpy": "drake:bushing_",
    **dict.fromkeys(("drake:weld_constraint", "mbcli:weld_constraint"), ""),
}
