"""The common parts of writers of model files: elements, numbers that round-trip, poses, Drake's own elements."""

from __future__ import annotations

from collections import Counter
from math import pi
from typing import TYPE_CHECKING

import numpy as np
from lxml import etree
from mbcli.parsers.spec import (
    BallConstraintSpec,
    BushingSpec,
    DistanceConstraintSpec,
    SpringDamperSpec,
    TendonConstraintSpec,
)

from mbcli.math import RollPitchYaw, RotationMatrix

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from mbcli.parsers.xml_document import XmlElement

    from mbcli.math.array_types import Matrix, Vector

DRAKE = "http://drake.mit.edu"
NAMESPACES = {"drake": DRAKE, "mbcli": "mbcli", "gz": "http://gazebosim.org/schema"}
DRAKE_ONLY = "only programs that know Drake's elements read it"
OURS_ONLY = "no other program reads it"
EIGHTH = pi / 4  # [rad]
SAME_ROTATION = 8e-16  # elements of two rotation matrices, apart by no more than their computation explains


def start(tag: str, attributes: Mapping[str, str]) -> XmlElement:
    """The root element of a document that may have elements of Drake and of this program."""
    root = etree.Element(tag, nsmap=NAMESPACES)
    for name, value in attributes.items():
        root.set(name, value)
    return root


def add(parent: XmlElement, tag: str, text: Any = None, **attributes: Any) -> XmlElement:
    """A child element; numbers and sequences of numbers are written by `numbers`, attributes that are None left out."""
    child = etree.SubElement(parent, _qualified(tag))
    if text is not None:
        child.text = _text(text)
    for name, value in attributes.items():
        if value is not None:
            child.set(_qualified(name), _text(value))
    return child


def finish(root: XmlElement) -> bytes:
    """The document as bytes of UTF-8."""
    etree.cleanup_namespaces(root)
    etree.indent(root)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)


def numbers_of_elements(root: XmlElement, others: Collection[str] = ()) -> Counter:
    """{tag: how often it is there} of the elements that only Drake and this program have, and of the tags in others.

    What is within one of them is not counted.
    """
    prefixes = {uri: prefix for prefix, uri in NAMESPACES.items()}
    outer = [node for node in root.iter("*") if node is root or not etree.QName(node.getparent()).namespace]
    names = [etree.QName(node) for node in outer]
    return Counter(
        f"{prefixes[name.namespace]}:{name.localname}" if name.namespace else name.localname
        for name in names
        if name.namespace or name.localname in others
    )


def _qualified(name: str) -> str:
    prefix, colon, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}" if colon else name


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return numbers(*value) if isinstance(value, (tuple, list)) else numbers(value)


def numbers(*values: float) -> str:
    """The shortest texts that read back as the same floats."""
    return " ".join(repr(float(value) + 0.0).removesuffix(".0") for value in values)  # no minus zero


def tidy(values: Vector | Sequence[float]) -> tuple[float, ...]:
    """Computed numbers as a tuple of floats, without the last digits of rounding: of 16, the last."""
    largest = max(map(abs, map(float, values)), default=0.0)
    rounded = (float(f"{value:.15g}") for value in values)
    return tuple(0.0 if abs(value) < 1e-15 * largest else value for value in rounded)


def xyz_rpy(X: Matrix) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """(translation [m], roll-pitch-yaw [rad]) of a pose, tuples of floats."""
    R = X[:3, :3]
    turned = not np.array_equal(R, np.eye(3))
    return tuple(X[:3, 3].tolist()), _plain_angles(R) if turned else (0.0,) * 3


def _plain_angles(R: Matrix) -> tuple[float, float, float]:
    """Roll, pitch, yaw of a rotation, without the last digits of rounding if it is the same rotation."""
    angles = RollPitchYaw(RotationMatrix.MakeUnchecked(R)).vector().tolist()
    for k, angle in enumerate(angles):
        for plain in (float(f"{angle:.15g}"), round(angle / EIGHTH) * EIGHTH):
            tried = [*angles[:k], plain, *angles[k + 1 :]]
            if plain != angle and np.abs(RollPitchYaw(tried).ToRotationMatrix().matrix() - R).max() <= SAME_ROTATION:
                angles = tried
                break
    return tuple(angles)


# ----------------------------------------------------------- force elements and constraints, as in both formats

_ENDS = (("body_A", "link_A"), ("p_AP", "p_AP"), ("body_B", "link_B"), ("p_BQ", "p_BQ"))


def _same(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, name) for name in names)


# spec: (element, the start of its children, (end of the child's tag, field) for each)
PHYSICS = {
    BushingSpec: (
        "drake:linear_bushing_rpy",
        "drake:bushing_",
        (
            ("frameA", "frame_A"),
            ("frameC", "frame_C"),
            *_same("torque_stiffness", "torque_damping", "force_stiffness", "force_damping"),
        ),
    ),
    SpringDamperSpec: (
        "drake:linear_spring_damper",
        "drake:linear_spring_damper_",
        (*_ENDS, *_same("free_length", "stiffness", "damping")),
    ),
    BallConstraintSpec: ("drake:ball_constraint", "drake:ball_constraint_", _ENDS),
    DistanceConstraintSpec: (
        "drake:distance_constraint",
        "drake:distance_constraint_",
        (*_ENDS, *_same("distance", "stiffness", "damping")),
    ),
    TendonConstraintSpec: (
        "drake:tendon_constraint",
        "drake:tendon_constraint_",
        (*_same("offset"), ("lower_limit", "lower"), ("upper_limit", "upper"), *_same("stiffness", "damping")),
    ),
}


def of_tendons(spec: Any) -> str | None:
    """What only MJCF has of the tendons of its files: lengths between which they are slack, dampers; or None."""
    if isinstance(spec, DistanceConstraintSpec) and spec.least is not None:
        return f"the limits of the distance between '{spec.link_A}' and '{spec.link_B}'"
    if isinstance(spec, TendonConstraintSpec) and spec.stiffness == 0.0:
        return f"the damper of the tendon over {', '.join(spec.joints)}"
    return None


def add_physics(parent: XmlElement, spec: Any, add_value: Callable[..., Any], *, own: bool = False) -> None:
    """The element of a force element or constraint in PHYSICS.

    add_value(element, tag, value): adds a child with a name or numbers, as the format has them. own: whether the
    element has this program's prefix.
    """
    tag, prefix, children = PHYSICS[type(spec)]
    if own:
        tag, prefix = (name.replace("drake:", "mbcli:", 1) for name in (tag, prefix))
    element = add(parent, tag)
    if isinstance(spec, TendonConstraintSpec):
        for name, a in zip(spec.joints, spec.a, strict=True):
            add(element, "drake:tendon_constraint_joint", name=name, a=a)
    for end, field in children:
        add_value(element, prefix + end, getattr(spec, field))
